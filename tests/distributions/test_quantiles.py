"""Quantiles, intervals and draws."""

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from dgme.distributions import GaussianMixture

laws = settings.get_profile("laws")


@laws
@given(st.from_type(GaussianMixture), st.floats(0, 1, exclude_min=True, exclude_max=True))
def test_quantile_inverts_the_cdf(law, q):
    x = law.ppf(q)
    assert_allclose(law.cdf(x), q, rtol=0, atol=1e-10)
    # Relative accuracy in the tail that is smaller. A rounding of x, 1e-15, moves the logarithm
    # of a tail by that times its slope, which is below 40 deviations / 0.003 (the least scale).
    tail, wanted = (law.logcdf(x), np.log(q)) if q <= 0.5 else (law.logsf(x), np.log1p(-q))
    assert_allclose(tail, wanted, rtol=1e-11, atol=1e-10)


@laws
@given(st.from_type(GaussianMixture), st.lists(st.floats(0, 1), min_size=2, max_size=5))
def test_quantiles_are_monotone(law, q):
    x = law.ppf(np.sort(q)[:, None])
    # where the density all but vanishes the same probability has more than one quantile
    assert (law.cdf(x[1:]) - law.cdf(x[:-1]) >= -1e-12).all()
    distinct = np.diff(np.sort(q)) > 1e-12
    assert (x[1:] >= x[:-1])[distinct].all()


@pytest.mark.parametrize("q", [1e-300, 1e-100, 1e-30, 1e-10])
def test_far_tails(hard_law, q):
    x = hard_law.ppf(q)
    with mpmath.workdps(50):
        p = sum(
            w * mpmath.erfc((m - mpmath.mpf(float(x))) / (s * mpmath.sqrt(2))) / 2
            for w, m, s in zip(hard_law.weights, hard_law.means, hard_law.scales, strict=True)
        )
        error = float(p / mpmath.mpf(q) - 1)
    # the next double changes p by its distance times the slope of log p, below 40 / scale
    spacing = 40 * np.spacing(np.abs(x)) / hard_law.scales.min()
    assert abs(error) < 1e-11 + spacing


def test_ends_and_what_is_no_probability(batch):
    q = np.array([0.0, 1.0, -0.1, 1.1, np.nan])[:, None]
    expected = np.array([-np.inf, np.inf, np.nan, np.nan, np.nan])
    assert_array_equal(batch.ppf(q), np.broadcast_to(expected[:, None], (5, len(batch))))


def test_a_gap_as_wide_as_it_gets():
    law = GaussianMixture([1 - 1e-20, 1e-20], [0.0, 1e6], [1e-6, 1e6])
    assert_allclose(law.cdf(law.ppf([1e-25, 0.5, 1 - 1e-16])), [1e-25, 0.5, 1 - 1e-16], atol=1e-10)
    twins = GaussianMixture([0.5, 0.5], [-1e6, 1e6], [1.0, 1.0])
    assert_allclose(twins.cdf(twins.median()), 0.5, atol=1e-15)


def test_quantiles_next_to_the_resolution_of_doubles():
    """A scale below the spacing of doubles: the quantile is the mean or a neighbour of it."""
    law = GaussianMixture([1.0], [1e8], [1e-10])
    assert_allclose(law.ppf([0.01, 0.5, 0.99]), 1e8, rtol=4 * np.finfo(float).eps)


def test_interval_leaves_equal_tails(batch):
    confidence = np.array([0.0, 0.5, 0.9, 1.0])[:, None]
    lower, upper = batch.interval(confidence)
    tail = np.broadcast_to((1 - confidence) / 2, lower.shape)
    assert_allclose(batch.cdf(lower), tail, atol=1e-10)
    assert_allclose(batch.sf(upper), tail, atol=1e-10)
    assert_array_equal(batch.median(), batch.ppf(0.5))


@pytest.mark.parametrize("confidence", [-0.1, 1.5, np.nan])
def test_interval_names_a_bad_confidence(batch, confidence):
    with pytest.raises(ValueError, match=f"confidence .* {confidence}"):
        batch.interval(confidence)


def test_moments_of_draws(hard_law):
    """100,000 draws against the first four moments, each with its Monte Carlo error.

    44 comparisons at 4.5 standard errors: a right sampler fails with probability 3e-4, once and
    for all since the seed is fixed.
    """
    # relative to the component nearest zero, so that a distant law loses no digits
    draws = (hard_law.rvs(100_000, random_state=1) - hard_law.mean()) / hard_law.std()
    expected = (0.0, 1.0, hard_law.skewness(), hard_law.kurtosis() + 3)
    for power, moment in enumerate(expected, start=1):
        sample = draws**power
        assert abs(sample.mean() - moment) < 4.5 * sample.std() / np.sqrt(sample.size)


def test_draws_follow_the_cdf(batch):
    """One Kolmogorov-Smirnov test on 40 laws x 2,500 draws; p > 1e-3 fails one seed in 1000."""
    draws = batch.rvs(2500, random_state=3)
    assert stats.kstest(batch.cdf(draws).ravel(), "uniform").pvalue > 1e-3


def test_draws_of_every_shape(batch):
    assert batch.rvs().shape == (40,)
    assert batch.rvs(3).shape == (3, 40)
    assert batch.rvs((2, 3)).shape == (2, 3, 40)
    assert batch[0].rvs((2, 3)).shape == (2, 3)
    assert np.ndim(batch[0].rvs()) == 0


def test_draws_repeat_with_the_seed(batch):
    assert_array_equal(batch.rvs(2, random_state=5), batch.rvs(2, random_state=5))
    generator = np.random.default_rng(5)
    first = batch.rvs(2, random_state=generator)
    assert_array_equal(first, batch.rvs(2, random_state=5))
    assert (batch.rvs(2, random_state=generator) != first).all()
    legacy = [batch.rvs(2, random_state=np.random.RandomState(5)) for _ in range(2)]
    assert_array_equal(*legacy)


def test_an_empty_component_is_never_drawn():
    law = GaussianMixture([0.0, 1.0, 0.0], [-100.0, 0.0, 100.0], [1.0, 1.0, 1.0])
    assert np.abs(law.rvs(10_000, random_state=0)).max() < 10


@laws
@given(st.from_type(GaussianMixture), st.floats(-30, 30))
def test_normal_scores_invert_each_other(law, z):
    x = law.at_normal_score(z)
    # a rounding of x moves the score by that times its slope, below 40 / the least scale
    assert_allclose(law.normal_score(x), z, rtol=1e-12, atol=1e-9)
    if abs(z) < 5:
        assert_allclose(law.normal_score(x), stats.norm.ppf(law.cdf(x)), rtol=1e-8, atol=1e-8)
        assert_allclose(law.ppf(stats.norm.cdf(z)), x, rtol=1e-8, atol=1e-8 * law.std().max())


def test_the_normal_score_of_one_gaussian_is_its_standardised_residual():
    law = GaussianMixture([1.0], [3.0], [2.0])
    z = np.array([-1e6, -40.0, -1.5, 0.0, 1e-9, 8.5, 300.0])
    assert_allclose(law.normal_score(3.0 + 2.0 * z), z, rtol=1e-9, atol=1e-15)
    assert_allclose(law.at_normal_score(z), 3.0 + 2.0 * z, rtol=1e-12)
    ends = np.array([-np.inf, np.inf, np.nan])
    assert_array_equal(law.normal_score(ends), ends)
    assert_array_equal(law.at_normal_score(ends), ends)
