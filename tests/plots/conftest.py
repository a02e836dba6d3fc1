import matplotlib.pyplot as plt
import pytest


@pytest.fixture
def ax():
    figure, ax = plt.subplots()
    yield ax
    plt.close(figure)
