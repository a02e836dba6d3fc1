"""Density, distribution function and their logarithms."""

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import ndtr

from dgme.distributions import GaussianMixture

laws = settings.get_profile("laws")
places = st.floats(-8, 8)


@laws
@given(st.from_type(GaussianMixture))
def test_density_integrates_to_one(integrate, law):
    # the rounding of some thousand positive terms
    assert_allclose([integrate(row.pdf, row) for row in law], 1.0, rtol=1e-12)


@laws
@given(st.from_type(GaussianMixture), places)
def test_cdf_is_the_integral_of_the_density(integrate, law, y):
    assert_allclose(law.cdf(y), [integrate(row.pdf, row, upto=y) for row in law], atol=1e-12)


@laws
@given(st.from_type(GaussianMixture), places)
def test_cdf_and_sf_are_complements(law, y):
    assert_allclose(law.cdf(y) + law.sf(y), 1.0, rtol=1e-15)
    assert_array_equal(law.pit(y), law.cdf(y))


@laws
@given(st.from_type(GaussianMixture), places)
def test_logarithms_agree_with_what_they_are_logarithms_of(law, y):
    # An exponential amplifies the rounding of a logarithm by its size, at most 745; what is
    # denormal has fewer digits.
    for plain, log in (("pdf", "logpdf"), ("cdf", "logcdf"), ("sf", "logsf")):
        assert_allclose(
            np.exp(getattr(law, log)(y)), getattr(law, plain)(y), rtol=1e-12, atol=1e-300
        )


@pytest.mark.parametrize("z", [-1000.0, -30.0, -1.0, 0.5, 9.0, 30.0, 1000.0])
def test_logarithms_are_right_in_both_tails(z):
    law = GaussianMixture([0.25, 0.75], [0.0, 1.0], [1.0, 2.0])
    with mpmath.workdps(120):
        terms = [(mpmath.mpf(w), (mpmath.mpf(z) - m) / s, s) for w, m, s in _triples(law)]
        density = mpmath.log(sum(w * mpmath.npdf(x) / s for w, x, s in terms))
        below, above = (
            float(mpmath.log(sum(w * mpmath.erfc(x * side) / 2 for w, x, _ in terms)))
            for side in (-1 / mpmath.sqrt(2), 1 / mpmath.sqrt(2))
        )
    # a few roundings of the special functions
    assert_allclose(law.logpdf(z), float(density), rtol=1e-14)
    assert_allclose(law.logcdf(z), below, rtol=1e-13)
    assert_allclose(law.logsf(z), above, rtol=1e-13)


def _triples(law):
    return zip(*(a.tolist() for a in (law.weights, law.means, law.scales)), strict=True)


def test_log_density_is_finite_a_thousand_sigmas_away(hard_law):
    y = hard_law.means.max() + 1000 * hard_law.scales.max()
    assert np.isfinite(hard_law.logpdf(y))
    assert np.isfinite(hard_law.logsf(y))


def test_infinite_and_missing_outcomes_pass_silently(batch):
    for law in (batch, batch[0]):
        for verb, below, above in (
            ("pdf", 0.0, 0.0),
            ("logpdf", -np.inf, -np.inf),
            ("cdf", 0.0, 1.0),
            ("sf", 1.0, 0.0),
            ("logcdf", -np.inf, 0.0),
            ("logsf", 0.0, -np.inf),
            ("crps", np.inf, np.inf),
        ):
            method = getattr(law, verb)
            # the weights sum to one only to rounding
            assert_allclose(method(-np.inf), np.full(law.shape, below), atol=1e-15)
            assert_allclose(method(np.inf), np.full(law.shape, above), atol=1e-15)
            assert_array_equal(method(np.nan), np.full(law.shape, np.nan))


def test_plain_formula(batch):
    y = np.linspace(-3, 3, 7)[:, None, None]
    assert_allclose(
        batch.cdf(y[..., 0]),
        (batch.weights * ndtr((y - batch.means) / batch.scales)).sum(axis=-1),
        rtol=1e-14,
    )


@laws
@given(st.from_type(GaussianMixture), places)
def test_responsibilities_share_the_density_out(law, y):
    """Bayes' rule: a component's part of the density, of which there is enough to divide by."""
    density = law.pdf(y)
    if (density > 1e-200).all():
        for k in range(law.n_components):
            alone = GaussianMixture([1.0], law.means[:, [k]], law.scales[:, [k]]).pdf(y)
            part = law.weights[:, k] * alone / density
            # exponentials amplify the rounding of logarithms by their size, here at most 460
            assert_allclose(law.responsibilities(y)[:, k], part, rtol=1e-12, atol=1e-100)


def test_responsibilities_far_from_all_components():
    law = GaussianMixture([0.25, 0.75], [[0.0, 1.0]] * 2, [[1.0, 2.0]] * 2)
    far = law.responsibilities([1e5, -1e5])
    assert_array_equal(far, [[0.0, 1.0], [0.0, 1.0]])
    # beyond what doubles can square
    assert_array_equal(law.responsibilities([1e200, -np.inf]), far)
    assert np.isnan(law.responsibilities(np.nan)).all()
    assert law.responsibilities(np.zeros((5, 1))).shape == (5, 2, 2)
    assert law[0].responsibilities(0.0).shape == (2,)
