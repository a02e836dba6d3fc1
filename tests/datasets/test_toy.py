import numpy as np
import pytest

from dgme import metrics
from dgme.datasets import toy

# Entropies of the truth, averaged over inputs, as known in closed form or by quadrature.
ENTROPIES = {"gaussian": 2.518, "heavy_tailed": 2.872, "bimodal": 2.908}


@pytest.mark.parametrize("case", toy.LAWS)
def test_the_truth_scores_its_entropy(case):
    """Over 200,000 rows; five standard errors fail by chance once in a million seeds."""
    data = toy.load(case, 200_000, random_state=0)
    losses = -data.law.logpdf(data.y)
    assert abs(losses.mean() - ENTROPIES[case]) < 5 * losses.std() / np.sqrt(len(losses)) + 5e-4


@pytest.mark.parametrize("case", toy.LAWS)
def test_targets_follow_the_law(case):
    """Probability integral transforms are uniform: Kolmogorov-Smirnov over 20,000 rows."""
    from scipy import stats

    data = toy.load(case, 20_000, random_state=1)
    assert stats.kstest(data.law.cdf(data.y), "uniform").pvalue > 1e-4


def test_inputs_inside_and_outside():
    inside, outside = (
        toy.load("gaussian", 1000, outside=o, random_state=0).X for o in (False, True)
    )
    assert inside.shape == outside.shape == (1000, 1)
    assert np.abs(inside).max() <= 4
    assert (np.abs(outside) >= 4).all()
    assert (np.abs(outside) <= 5).all()
    assert 0.4 < (outside > 0).mean() < 0.6


def test_the_bimodal_truth_has_its_weights():
    data = toy.load("bimodal", random_state=0)
    np.testing.assert_allclose(data.law.weights[0], [0.7, 0.3])
    assert metrics.nll(data.law, data.y) == pytest.approx(2.908, abs=0.1)


def test_seeds():
    a, b, c = (toy.load("bimodal", random_state=seed).y for seed in (0, 0, 1))
    np.testing.assert_array_equal(a, b)
    assert (a != c).any()


def test_an_unknown_case_is_refused():
    with pytest.raises(ValueError, match="case must be one of gaussian, heavy_tailed, bimodal"):
        toy.load("trimodal")
