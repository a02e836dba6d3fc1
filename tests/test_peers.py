import numpy as np
import pytest
from sklearn.base import clone
from sklearn.gaussian_process import GaussianProcessRegressor

from dgme import peers
from dgme.peers import PEERS, GaussianProcessPeer, LightGBMPeer

NOISE = 0.3


def rows(n, seed):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, (n, 3))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] + NOISE * rng.normal(size=n)


TRAIN, TEST = rows(150, 0), rows(500, 1)


@pytest.mark.parametrize(
    ("name", "quicker"),
    [
        ("ngboost", {"n_estimators": 50, "learning_rate": 0.2}),
        ("lightgbm", {}),
        ("gaussian-process", {}),
    ],
)
def test_laws_are_close_to_the_truth(name, quicker):
    model = PEERS[name](random_state=0, **quicker)
    law = clone(model).fit(*TRAIN).predict_dist(TEST[0])
    assert law.n_components == 1
    # The targets' standard deviation is 1.4; of few rows, trees leave half of it.
    assert NOISE < np.sqrt(np.mean((law.mean() - TEST[1]) ** 2)) < 0.7
    lower, upper = law.interval(0.9)
    assert 0.75 < np.mean((lower <= TEST[1]) & (TEST[1] <= upper)) < 0.99


def test_the_constant_scale_is_out_of_fold():
    model = LightGBMPeer(random_state=0).fit(*TRAIN)
    law = model.predict_dist(TRAIN[0])
    np.testing.assert_array_equal(law.std(), model.scale_)
    in_sample = np.sqrt(np.mean((law.mean() - TRAIN[1]) ** 2))
    assert in_sample < model.scale_


def test_a_gaussian_process_takes_some_of_many_rows(monkeypatch):
    seen = []
    fit = GaussianProcessRegressor.fit
    monkeypatch.setattr(
        GaussianProcessRegressor, "fit", lambda self, X, y: seen.append(len(y)) or fit(self, X, y)
    )
    GaussianProcessPeer(max_rows=40, random_state=0).fit(*TRAIN)
    assert seen == [40]


def test_a_missing_library_is_told(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "lightgbm", None)
    with pytest.raises(ImportError, match=r"pip install 'dgme\[peers\]'"):
        LightGBMPeer().fit(*TRAIN)


def test_weights_are_refused():
    with pytest.raises(ValueError, match="takes no sample_weight"):
        GaussianProcessPeer().fit(*TRAIN, sample_weight=np.ones(150))


def test_what_needs_no_library_is_there():
    assert peers.installed("gaussian-process")
