"""Modes and highest-density regions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import brentq, minimize_scalar
from scipy.stats import norm

from dgme.distributions import GaussianMixture

laws = settings.get_profile("laws")
coverages = st.sampled_from([0.01, 0.3, 0.5, 0.9, 0.99, 0.999999])


def found(table):
    """One array of results without its padding."""
    return table[~np.isnan(table.reshape(len(table), -1)).any(axis=1)]


def assert_modes_match_a_grid(law, modes):
    x = np.unique(law.means[:, None] + law.scales[:, None] * np.linspace(-6, 6, 481))
    height = law.logpdf(x)
    # a peak on the grid that stands out of rounding, and a mode of the law no further than its cell
    rise = 1e-12 * np.abs(height[1:-1])
    peaks = np.flatnonzero((height[1:-1] > height[:-2] + rise) & (height[1:-1] > height[2:] + rise))
    for peak in peaks:
        assert ((modes >= x[peak]) & (modes <= x[peak + 2])).any()
    assert len(modes) >= max(1, len(peaks))
    # no neighbour of a mode is higher, but for rounding
    reach = np.minimum(1e-3 * law.scales.min(), np.diff(modes).min(initial=np.inf) / 4)
    around = law.logpdf(modes + reach * np.linspace(-1, 1, 21)[:, None])
    assert (around <= law.logpdf(modes) + 1e-14 * (1 + np.abs(around))).all()
    assert (np.diff(modes) > 0).all()


@laws
@given(st.from_type(GaussianMixture))
def test_modes_match_a_grid_search(law):
    for row, modes in zip(law, law.modes(), strict=True):
        assert_modes_match_a_grid(row, found(modes))


def test_modes_of_hard_laws(hard_law):
    assert_modes_match_a_grid(hard_law, hard_law.modes())


@pytest.mark.parametrize("half", [1.0, 1.0 + 1e-9, 1.001, 1.5, 4.0, 30.0])
def test_twin_peaks_solve_their_equation(half):
    """Equal components at -a and a have modes x = a tanh(a x); they merge at a = 1."""
    law = GaussianMixture([0.5, 0.5], [-half, half], [1.0, 1.0])
    if half == 1.0:
        expected = [0.0]
    else:
        root = brentq(lambda x: half * np.tanh(half * x) - x, 1e-7, half + 1e-12, xtol=1e-15)
        expected = [-root, root]
    # The derivative is flat where the peaks merge: rounding 1e-16 over a slope of 2 (a - 1).
    slope = max(2 * (half - 1), 1e-9)
    assert_allclose(law.modes(), expected, rtol=0, atol=1e-15 * half / min(slope, 1.0) + 1e-15)


def test_a_low_or_distant_mode_counts():
    assert_allclose(GaussianMixture([1.0], [0.3], [2.0]).modes(), [0.3], rtol=1e-15)
    rare = GaussianMixture([1e-200, 1.0], [1e3, 0.0], [1.0, 1.0])
    assert_allclose(rare.modes(), [0.0, 1e3], atol=1e-12)
    assert_allclose(GaussianMixture([0.5] * 2, [3.0] * 2, [0.5] * 2).modes(), [3.0], rtol=1e-15)


def test_modes_are_padded_to_the_largest_number():
    law = GaussianMixture([0.5, 0.5], [[0.0, 0.0], [-3.0, 3.0]], np.ones((2, 2)))
    modes = law.modes()
    assert modes.shape == (2, 2)
    assert_allclose(modes[0], [0.0, np.nan], atol=1e-15)
    assert_allclose(modes[1], law[1].modes(), rtol=1e-14)
    assert law[0].modes().shape == (1,)


def assert_region_is_right(law, region, coverage, rounding):
    mass = law.cdf(region[:, 1]) - law.cdf(region[:, 0])
    slope = 10 / law.scales.min()
    assert abs(mass.sum() - coverage) < 1e-9 + rounding * slope
    assert (mass >= 1e-10).all()
    assert (np.diff(region.ravel()) > 0).all()
    # All ends have the same density, but for the rounding of the ends times its slope.
    height = law.logpdf(region.ravel())
    assert np.ptp(height) < 1e-9 + 100 * rounding * slope
    # and only what is inside is higher
    x = np.unique(law.means[:, None] + law.scales[:, None] * np.linspace(-6, 6, 121))
    inside = (np.searchsorted(region.ravel(), x) % 2).astype(bool)
    margin = law.logpdf(x) - height[0]
    clear = np.abs(margin) > 1e-6
    # a peak with less than 1e-10 of the mass may be left out
    assert (inside == (margin > 0))[clear].mean() > 0.99


@settings(laws, max_examples=30)
@given(st.from_type(GaussianMixture), coverages)
def test_region_holds_its_mass_above_one_level(law, coverage):
    for row, region in zip(law, law.hdr(coverage), strict=True):
        assert_region_is_right(row, found(region), coverage, rounding=1e-14)


@pytest.mark.parametrize("coverage", [0.05, 0.5, 0.95])
def test_region_of_hard_laws(hard_law, coverage):
    span = np.abs(hard_law.means).max() + 40 * hard_law.scales.max()
    assert_region_is_right(hard_law, hard_law.hdr(coverage), coverage, np.spacing(span))


@settings(laws, max_examples=30)
@given(st.from_type(GaussianMixture), coverages)
def test_region_is_no_longer_than_the_interval_with_equal_tails(law, coverage):
    lower, upper = law.interval(coverage)
    # an error of 1e-12 in the mass left out makes the region longer by less than this
    length = np.nansum(np.diff(law.hdr(coverage))[..., 0], axis=-1)
    assert (length <= (upper - lower) * (1 + 1e-8)).all()


@pytest.mark.parametrize("coverage", [0.1, 0.9, 0.999])
def test_region_of_one_peak_is_the_shortest_interval(coverage):
    law = GaussianMixture([0.6, 0.4], [0.0, 1.0], [1.0, 2.0])

    def length(q):
        lower, upper = law.ppf([q, q + coverage])
        return upper - lower

    shortest = minimize_scalar(
        length, bounds=(0, 1 - coverage), method="bounded", options={"xatol": 1e-9}
    )
    # at a minimum, 1e-9 in the argument is rounding in the value
    assert_allclose(np.diff(law.hdr(coverage))[0, 0], shortest.fun, rtol=1e-10)


def test_regions_of_two_peaks():
    law = GaussianMixture([0.5, 0.5], [-4.0, 4.0], [1.0, 1.0])
    region = law.hdr(0.9)
    assert region.shape == (2, 2)
    assert_allclose(region[0], -region[1][::-1], atol=1e-12)
    both = GaussianMixture([0.5, 0.5], [[0.0, 0.0], [-4.0, 4.0]], np.ones((2, 2))).hdr(0.9)
    assert both.shape == (2, 2, 2)
    assert_allclose(both[0, 0], GaussianMixture([1.0], [0.0], [1.0]).interval(0.9), rtol=1e-9)
    assert np.isnan(both[0, 1]).all()
    assert_allclose(both[1], region, rtol=1e-12)


def test_a_peak_that_touches_the_level_is_left_out():
    law = GaussianMixture([0.7, 0.3], [0.0, 6.0], [1.0, 1.0])
    level = law.logpdf(law.modes()[1])
    ends = [brentq(lambda x: law.logpdf(x) - level, *ends) for ends in ((-5, 0), (0, 3))]
    coverage = float(np.diff(law.cdf(ends))[0])
    assert_allclose(law.hdr(coverage), [ends], atol=1e-9)


@pytest.mark.parametrize("coverage", [0.0, 1.0, np.nan])
def test_region_names_a_bad_coverage(batch, coverage):
    with pytest.raises(ValueError, match=f"coverage .* {coverage}"):
        batch.hdr(coverage)


@pytest.mark.parametrize("z", [0.3, 6.0])
def test_a_region_is_where_the_score_is_small(batch, z):
    region = batch.hdr_at_score(z)
    y = np.linspace(-6, 6, 25)[:, None]
    inside = ((region[..., 0] <= y[..., None]) & (y[..., None] <= region[..., 1])).any(axis=-1)
    score = batch.hdr_score(y)
    clear = np.abs(score - z) > 1e-9
    assert (inside == (score < z))[clear].all()
    law, interval = np.nonzero(~np.isnan(region[..., 0]))
    for end in region[law, interval].T:
        assert_allclose(batch[law].hdr_score(end), z, rtol=1e-9)
    if z < 6:
        assert_allclose(region, batch.hdr(2 * norm.cdf(z) - 1), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("z", [0.1, 20.0, 36.9])
def test_the_density_score_of_one_gaussian_is_its_distance_in_scales(z):
    law = GaussianMixture([1.0], [[3.0], [3.0]], [[2.0], [1e-4]])
    ends = 3.0 + np.array([[2.0], [1e-4]]) * [-z, z]
    assert_allclose(law.hdr_score(ends.T), z, rtol=1e-7)
    assert_allclose(law.hdr_at_score(z)[:, 0], ends, rtol=1e-7)


def test_density_scores_at_the_extremes():
    law = GaussianMixture([0.5, 0.5], [-3.0, 4.0], [1e-3, 1.0])
    outcomes = [-3.0, 50.0, -1e300, np.inf, np.nan]
    assert_allclose(law.hdr_score(outcomes), [0, np.inf, np.inf, np.inf, np.nan], atol=1e-7)
    assert_allclose(law.hdr_at_score(40.0), [[-np.inf, np.inf]])
    with pytest.raises(ValueError, match=r"z must be positive, but it is 0"):
        law.hdr_at_score(0.0)
