import numpy as np
import pytest

from dgme import MCDropoutRegressor
from dgme.nn import MLP

SETTINGS = {"epochs": 20, "validation_fraction": None, "random_state": 0}


def table(n=60, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal([3, -1, 0], [0.2, 5, 1], size=(n, 3))
    return X, 40 + X @ [4, 1, -2] + rng.normal(size=n)


@pytest.mark.parametrize("rate", [0.1, 0.5])
def test_a_linear_network_has_the_law_of_the_formula(rate):
    """Features are dropped as they are standardised: f(x) = b + sum of w_i x_i m_i, where m_i is
    1 / (1 - rate) with probability 1 - rate, else 0, so that its variance is v = rate / (1 - rate).

    4,000 passes for each of five rows. The fourth power of a mask's deviation has mean v^3 rate +
    rate, and with it the variance of passes has a known error. 4 standard errors of ten numbers
    fail by chance in one of 1,500 seeds.
    """
    n, v, (X, y) = 4000, rate / (1 - rate), table()
    model = MCDropoutRegressor(**SETTINGS, hidden_sizes=(), dropout=rate, noise_scale=0.7)
    law = model.fit(X, y).predict_dist(X[:5], n_posterior_samples=n)
    params = model.ensemble_.params[0].astype(np.float64)
    x = (X[:5] - X.mean(axis=0)) / X.std(axis=0)
    terms = y.std() * x * params[:3]
    mean, variance = y.mean() + y.std() * params[3] + terms.sum(axis=1), v * (terms**2).sum(axis=1)
    assert (np.abs(law.mean() - mean) < 4 * np.sqrt(variance / n)).all()
    cumulant = (v**3 * rate + rate - 3 * v**2) * (terms**4).sum(axis=1)
    error = np.sqrt((2 * variance**2 + cumulant) / n)
    assert (np.abs(law.epistemic_variance() - variance) < 4 * error).all()
    # The noise is kept in single precision.
    np.testing.assert_allclose(law.aleatoric_variance(), 0.49, rtol=1e-6)
    np.testing.assert_allclose(law.var(), law.epistemic_variance() + 0.49, rtol=1e-6)


def test_a_perceptron_of_a_users_own_drops_features_only_if_it_says_so():
    """Without hidden units there is nothing else to drop, and all passes are one."""
    X, y = table()
    for drops in (False, True):
        design = MLP((), dropout=0.5, drop_inputs=drops)
        law = MCDropoutRegressor(**SETTINGS, network=design).fit(X, y).predict_dist(X)
        assert (law.means != law.means[:, :1]).any() == drops
