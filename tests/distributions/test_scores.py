"""CRPS and entropy."""

import mpmath
import numpy as np
import scoringrules
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.special import entr

from dgme.distributions import GaussianMixture

laws = settings.get_profile("laws")
places = st.floats(-8, 8)


@laws
@given(st.from_type(GaussianMixture), places)
def test_crps_is_the_integral_of_its_definition(integrate, law, y):
    for row in law:
        # quadrature covers the components; beyond them the integrand is 0 or 1
        low = (row.means - 10 * row.scales).min()
        high = (row.means + 10 * row.scales).max()
        inside = np.clip(y, low, high)
        score = (
            abs(y - inside)
            + integrate(lambda x, row=row: row.cdf(x) ** 2, row, upto=inside)
            + (high - inside)
            - integrate(lambda x, row=row: 1 - row.sf(x) ** 2, row)
            + integrate(lambda x, row=row: 1 - row.sf(x) ** 2, row, upto=inside)
        )
        # differences of terms up to the length of the support, 70
        assert_allclose(row.crps(y), score, rtol=1e-12, atol=1e-12)


@laws
@given(st.from_type(GaussianMixture), places)
def test_crps_agrees_with_an_independent_implementation(law, y):
    expected = scoringrules.crps_mixnorm(np.full(len(law), y), law.means, law.scales, law.weights)
    assert_allclose(law.crps(y), expected, rtol=1e-12, atol=1e-14)


def test_crps_of_hard_laws(hard_law):
    y = hard_law.mean() + hard_law.std() * np.linspace(-3, 3, 7)
    parts = (np.tile(a, (7, 1)) for a in (hard_law.means, hard_law.scales, hard_law.weights))
    # rounding of distances as long as the law is wide
    atol = 1e-14 * np.ptp(hard_law.means)
    assert_allclose(hard_law.crps(y), scoringrules.crps_mixnorm(y, *parts), rtol=1e-12, atol=atol)


@laws
@given(st.from_type(GaussianMixture))
def test_mean_absolute_difference_against_quadrature(integrate, law):
    # E|X - X'| is twice the integral of F (1 - F)
    expected = [integrate(lambda x, row=row: 2 * row.cdf(x) * row.sf(x), row) for row in law]
    assert_allclose(law.mean_absolute_difference(), expected, rtol=1e-12)


@laws
@given(st.from_type(GaussianMixture))
def test_entropy_against_finer_quadrature(integrate, law):
    expected = [integrate(lambda x, row=row: entr(row.pdf(x)), row) for row in law]
    assert_allclose(law.entropy(), expected, rtol=0, atol=1e-10)


def test_entropy_of_hard_laws(hard_law):
    """High-precision quadrature on panels of one standard deviation; 1e-10 is what is promised."""
    with mpmath.workdps(25):
        support = hard_law.weights > 0
        w, m, s = (
            [mpmath.mpf(float(x)) for x in a[support]]
            for a in (hard_law.weights, hard_law.means, hard_law.scales)
        )
        # thirty components cover each other's panels, so coarse ones are short enough
        steps = range(-9, 10) if len(w) < 10 else (-9, 0, 9)
        points = sorted({a + b * t for a, b in zip(m, s, strict=True) for t in steps})

        def integrand(x):
            terms = zip(w, m, s, strict=True)
            p = sum(c * mpmath.npdf(x, mu=a, sigma=b) for c, a, b in terms)
            return -p * mpmath.log(p) if p > 0 else mpmath.mpf(0)

        expected = float(mpmath.quad(integrand, points, method="gauss-legendre", maxdegree=4))
    assert_allclose(hard_law.entropy(), expected, rtol=0, atol=1e-10)


def test_entropy_of_components_that_do_not_meet():
    weights = np.array([0.2, 0.3, 0.5])
    law = GaussianMixture(weights, [-1e6, 0.0, 1e3], [1e-4, 1.0, 10.0])
    parts = np.log(law.scales) + 0.5 * np.log(2 * np.pi * np.e)
    assert_allclose(law.entropy(), entr(weights).sum() + weights @ parts, atol=1e-10)


def test_entropy_of_a_component_narrower_than_doubles_resolve():
    """Halving stops where it can go no further."""
    law = GaussianMixture([0.5, 0.5], [0.0, 1.0], [1.0, 1e-300])
    assert np.isfinite(law.entropy())


def test_entropy_of_many_components_is_that_of_few(batch):
    """Copies of components leave the law as it is, and panels do not multiply with them."""
    copies = 40
    many = GaussianMixture(
        np.tile(batch.weights, copies) / copies,
        np.tile(batch.means, copies),
        np.tile(batch.scales, copies),
    )
    assert_allclose(many.entropy(), batch.entropy(), rtol=0, atol=1e-12)


def test_entropy_shifts_and_scales(batch):
    moved = GaussianMixture(batch.weights, 1e3 * batch.means + 1e6, 1e3 * batch.scales)
    # shifting rounds means to 1e-10, one part in 1e13 of the scales
    assert_allclose(moved.entropy(), batch.entropy() + np.log(1e3), atol=1e-11)
