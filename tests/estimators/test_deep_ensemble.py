import numpy as np
import pytest
from scipy import stats

from dgme import DeepEnsembleRegressor

MIN_SCALE, MEMBERS, N = 0.1, 3, 60
SETTINGS = {"hidden_sizes": (8,), "activation": "tanh", "epochs": 30, "validation_fraction": None}


def table(n=N, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal([3, -1], [0.2, 5], size=(n, 2))
    return X, 40 + X[:, 0] * X[:, 1] + rng.normal(size=n)


@pytest.fixture(scope="module")
def ensemble():
    model = DeepEnsembleRegressor(
        **SETTINGS, n_members=MEMBERS, min_scale=MIN_SCALE, random_state=0
    )
    return model.fit(*table())


def by_hand(ensemble, X):
    """Mean and variance of every member in double precision and NumPy, from its layers alone."""
    train_X, train_y = table()
    x = (X - train_X.mean(axis=0)) / train_X.std(axis=0)
    layers = ensemble.ensemble_.experts.network.split(ensemble.ensemble_.params)
    for w1, b1, w2, b2 in zip(*(part.astype(np.float64) for part in layers.values()), strict=True):
        mean, raw = (np.tanh(x @ w1 + b1) @ w2 + b2).T
        variance = np.log1p(np.exp(raw)) + MIN_SCALE**2
        yield train_y.mean() + train_y.std() * mean, train_y.var() * variance


def test_the_law_is_the_mean_of_the_members_laws(ensemble):
    X, y = table(seed=1)
    law = ensemble.predict_dist(X)
    means, variances = np.swapaxes(list(by_hand(ensemble, X)), 0, 1)
    densities = stats.norm.pdf(y, means, np.sqrt(variances))
    # Networks in single precision; a density magnifies their error by the distance in deviations.
    np.testing.assert_allclose(law.pdf(y), densities.mean(axis=0), rtol=1e-4)
    np.testing.assert_allclose(
        law.cdf(y), stats.norm.cdf(y, means, np.sqrt(variances)).mean(axis=0), rtol=1e-4
    )
    np.testing.assert_allclose(law.mean(), means.mean(axis=0), rtol=1e-6)
    # The single Gaussian by which Lakshminarayanan et al. summarise the mixture.
    total = (variances + means**2).mean(axis=0) - means.mean(axis=0) ** 2
    np.testing.assert_allclose(law.var(), total, rtol=1e-4)
    np.testing.assert_allclose(law.to_gaussian().scales[:, 0] ** 2, total, rtol=1e-4)
    np.testing.assert_allclose(law.epistemic_variance(), means.var(axis=0), rtol=1e-3)
    np.testing.assert_allclose(law.aleatoric_variance(), variances.mean(axis=0), rtol=1e-4)


def test_the_first_member_is_the_ensemble_of_one(ensemble):
    """Whose law is its own Gaussian, of which nothing is epistemic."""
    alone = DeepEnsembleRegressor(**SETTINGS, n_members=1, min_scale=MIN_SCALE, random_state=0)
    X, _ = table(seed=1)
    one, law = alone.fit(*table()).predict_dist(X), ensemble.predict_dist(X)
    assert one.n_components == 1
    assert not one.epistemic_variance().any()
    # One lane is another program: 60 steps of 0.01 in single precision, of a std of 15.
    np.testing.assert_allclose(one.means[:, 0], law.means[:, 0], atol=1e-3)
    np.testing.assert_allclose(one.scales[:, 0], law.scales[:, 0], rtol=1e-4)
    assert (np.abs(law.means[:, 1:] - law.means[:, :1]).max(axis=0) > 0.1).all()
