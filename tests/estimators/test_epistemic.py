"""What estimators hand to the posteriors: rows, weights and units."""

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import expit

from dgme import DGMERegressor

MIN_SCALE = 0.1


def table(n=80, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal([3, -1], [0.2, 5], size=(n, 2))
    sign = np.where(rng.uniform(size=n) < 0.7, 1, -1)
    return X, 40 + sign * (6 + X[:, 1]) + rng.normal(size=n)


def best_precision(curvature, theta):
    """Of the prior, where the slope of the Laplace evidence in its logarithm is zero."""
    values, norm = np.linalg.eigvalsh(curvature), theta @ theta

    def slope(log_tau):
        tau = np.exp(log_tau)
        return len(values) - tau * norm - (tau / (values + tau)).sum()

    return np.exp(brentq(slope, -13, 13, xtol=1e-12))


@pytest.mark.parametrize("n_components", [1, 2])
def test_laplace_of_linear_components_is_the_bayesian_linear_model(n_components):
    """Means and raw variances are linear, and the Fisher information has no cross terms. So the
    mean of a component has the covariance of a linear regression on the rows that it is
    responsible for, with their noise. 4,000 samples; the variance of a Gaussian has a standard
    error of sqrt(2 / n), and 4.5 of them are passed in one of ten rows once in 15,000 seeds.
    """
    n, (X, y) = 4000, table()
    weight = np.random.default_rng(1).uniform(0.5, 1.5, size=len(X))
    model = DGMERegressor(
        n_components=n_components,
        hidden_sizes=(),
        min_scale=MIN_SCALE,
        n_rounds=5,
        validation_fraction=None,
        epistemic="laplace",
        random_state=0,
    ).fit(X, y, sample_weight=weight)
    law = model.predict_dist(X[:10], n_posterior_samples=n)
    means = law.means.reshape(10, n, n_components)
    gamma = model.responsibilities(X, y) * (weight / weight.mean())[:, None]

    scaling = model.ensemble_.x_scaling, model.ensemble_.y_scaling
    x1 = np.column_stack([scaling[0].forward(X), np.ones(len(X))])
    for k, theta in enumerate(model.ensemble_.params.astype(np.float64)):
        raw = x1 @ theta.reshape(3, 2)[:, 1]
        variance = np.log1p(np.exp(raw)) + MIN_SCALE**2
        of_means = (x1.T * gamma[:, k] / variance) @ x1
        of_raw = (x1.T * gamma[:, k] * 0.5 * (expit(raw) / variance) ** 2) @ x1
        both = np.block([[of_means, np.zeros((3, 3))], [np.zeros((3, 3)), of_raw]])
        covariance = np.linalg.inv(of_means + best_precision(both, theta) * np.eye(3))
        expected = np.einsum("np,pq,nq->n", x1[:10], covariance, x1[:10])
        found = means[..., k].var(axis=1) / scaling[1].scale ** 2
        assert (np.abs(found / expected - 1) < 4.5 * np.sqrt(2 / n)).all()


def test_swag_goes_on_with_the_rows_of_each_component():
    """Two levels, 12 apart. On all rows alike, either component would leave for their mean."""
    rng = np.random.default_rng(0)
    X, sign = rng.normal(size=(200, 1)), np.where(rng.uniform(size=200) < 0.7, 1, -1)
    y = 6 * sign + rng.normal(size=200)
    settings = {"n_components": 2, "hidden_sizes": (), "n_init": 4, "random_state": 0}
    certain = DGMERegressor(**settings).fit(X, y).predict_dist(X)
    model = DGMERegressor(**settings, epistemic="swag").fit(X, y)
    sampled = model.predict_dist(X).means.reshape(200, 30, 2)
    np.testing.assert_allclose(np.sort(np.abs(certain.means.mean(axis=0))), 6, atol=0.5)
    np.testing.assert_allclose(sampled.mean(axis=(0, 1)), certain.means.mean(axis=0), atol=0.5)
    # Iterates of a constant step size scatter, but by less than the noise.
    assert (sampled.std(axis=1) < 1).all()
    assert (sampled.std(axis=1) > 0).all()
