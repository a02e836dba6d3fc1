import jax
import numpy as np
import pytest
from scipy import stats

from dgme.nn import INITIALISERS

N_IN, N_OUT = 40, 60


def draw(name):
    weight, bias = INITIALISERS[name](jax.random.key(0), N_IN, N_OUT)
    assert weight.shape == (N_IN, N_OUT)
    assert bias.shape == (N_OUT,)
    return np.asarray(weight, np.float64).ravel(), np.asarray(bias, np.float64)


@pytest.mark.parametrize(
    ("name", "law"),
    [
        ("torch", stats.uniform(-(N_IN**-0.5), 2 * N_IN**-0.5)),
        ("uniform", stats.uniform(-0.01, 0.02)),
        ("normal", stats.norm(0, 1e-6)),
        ("xavier_uniform", stats.uniform(-(0.06**0.5), 2 * 0.06**0.5)),
        ("xavier_normal", stats.norm(0, 0.02**0.5)),
    ],
)
def test_weights_follow_their_law(name, law):
    """Kolmogorov-Smirnov over 2,400 weights; p < 1e-4 would be a fault."""
    weight, bias = draw(name)
    assert stats.kstest(weight, law.cdf).pvalue > 1e-4
    if name.startswith("xavier"):
        assert (bias == 0).all()
    else:
        assert stats.kstest(bias, law.cdf).pvalue > 1e-4


def test_all_initialisers_are_tested():
    assert set(INITIALISERS) == {"torch", "uniform", "normal", "xavier_uniform", "xavier_normal"}
