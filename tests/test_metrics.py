import numpy as np
import pytest
from scipy import stats

from dgme import GaussianMixture, metrics

RNG = np.random.default_rng(0)
LAW = GaussianMixture(
    RNG.dirichlet(np.ones(3), 50), RNG.normal(size=(50, 3)), np.full((50, 3), 0.4)
)
Y = LAW.rvs(random_state=1)


def test_scores_against_their_definitions():
    mean, std = LAW.mean(), LAW.std()
    assert metrics.rmse(LAW, Y) == pytest.approx(np.sqrt(np.mean((mean - Y) ** 2)))
    density = (LAW.weights * stats.norm.pdf(Y[:, None], LAW.means, LAW.scales)).sum(axis=1)
    assert metrics.nll(LAW, Y) == pytest.approx(-np.log(density).mean())
    assert metrics.gaussian_nll(LAW, Y) == pytest.approx(-stats.norm.logpdf(Y, mean, std).mean())
    assert metrics.crps(LAW, Y) == pytest.approx(LAW.crps(Y).mean())


def test_coverage_of_true_laws_is_nominal():
    """20,000 rows: the standard error is 0.002, and four of them are allowed."""
    law = GaussianMixture([0.3, 0.7], np.zeros((20_000, 2)), np.full((20_000, 2), [1.0, 3.0]))
    y = law.rvs(random_state=0)
    assert metrics.coverage(law, y, 0.9) == pytest.approx(0.9, abs=0.0085)
    assert metrics.coverage(law, y, 0.5) == pytest.approx(0.5, abs=0.0142)


@pytest.mark.parametrize(
    "score", [metrics.rmse, metrics.nll, metrics.gaussian_nll, metrics.crps, metrics.coverage]
)
def test_a_column_is_not_scored_against_every_law(score):
    with pytest.raises(ValueError, match=r"y must have shape \(50,\), .* but has shape \(50, 1\)"):
        score(LAW, Y[:, None])
    with pytest.raises(ValueError, match=r"but has shape \(49,\)"):
        score(LAW, Y[1:])
