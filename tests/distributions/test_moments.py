"""Moments, the split of the variance and the moment-matched Gaussian."""

from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from dgme.distributions import GaussianMixture

laws = settings.get_profile("laws")


def exact_moments(law):
    """Mean, variance, skewness, excess kurtosis from raw moments in exact arithmetic."""
    parts = [
        tuple(map(Fraction, map(float, part)))
        for part in zip(law.weights, law.means, law.scales, strict=True)
    ]
    total = sum(w for w, _, _ in parts)
    first = sum(w * m for w, m, _ in parts) / total
    second = sum(w * (m**2 + s**2) for w, m, s in parts) / total
    third = sum(w * (m**3 + 3 * m * s**2) for w, m, s in parts) / total
    fourth = sum(w * (m**4 + 6 * m**2 * s**2 + 3 * s**4) for w, m, s in parts) / total
    variance = second - first**2
    skewed = third - 3 * first * second + 2 * first**3
    tailed = fourth - 4 * first * third + 6 * first**2 * second - 3 * first**4
    return (
        float(first),
        float(variance),
        float(skewed) / float(variance) ** 1.5,
        float(tailed / variance**2 - 3),
    )


def assert_moments_match(law):
    mean, variance, skewness, kurtosis = exact_moments(law)
    # a few roundings of sums in which nothing cancels but the terms of the mean
    assert_allclose(law.mean(), mean, rtol=4e-16, atol=4e-15)
    assert_allclose(law.var(), variance, rtol=1e-14)
    assert_allclose(law.std(), np.sqrt(variance), rtol=1e-14)
    # standardised offsets carry the rounding of the mean relative to the deviation
    rounding = 1e-13 * (1 + (np.abs(law.means) / law.std()).max() * 1e-3)
    assert_allclose(law.skewness(), skewness, rtol=1e-12, atol=rounding)
    assert_allclose(law.kurtosis(), kurtosis, rtol=1e-12, atol=rounding)


@laws
@given(st.from_type(GaussianMixture))
def test_moments_match_exact_arithmetic(law):
    for row in law:
        assert_moments_match(row)


def test_moments_of_hard_laws(hard_law):
    assert_moments_match(hard_law)


def test_variance_survives_a_large_offset():
    shifted = GaussianMixture([0.5, 0.5], [1e8, 1e8], [1.0, 1.0])
    assert shifted.var() == 1.0
    apart = GaussianMixture([0.5, 0.5], [1e8 - 1, 1e8 + 1], [1.0, 1.0])
    assert (apart.mean(), apart.var()) == (1e8, 2.0)
    # three equal means whose weights do not sum to one in binary
    thirds = GaussianMixture([0.1, 0.2, 0.7], [1e8] * 3, [1e-9] * 3)
    assert_allclose(thirds.var(), 1e-18, rtol=1e-14)


@laws
@given(st.from_type(GaussianMixture))
def test_law_of_total_variance(law):
    aleatoric, epistemic = law.aleatoric_variance(), law.epistemic_variance()
    assert_allclose(aleatoric + epistemic, law.var(), rtol=1e-14)
    assert (aleatoric >= 0).all()
    assert (epistemic >= 0).all()


def test_variance_split_of_uneven_groups(batch):
    """Each group as a law of its own, put together by the definition."""
    weights, means, variances = [], [], []
    for group in np.unique(batch.groups):
        members = batch.groups == group
        weight = batch.weights[:, members].sum(axis=1)
        part = GaussianMixture(
            batch.weights[:, members] / weight[:, None],
            batch.means[:, members],
            batch.scales[:, members],
        )
        weights.append(weight)
        means.append(part.mean())
        variances.append(part.var())
    aleatoric = np.sum(np.multiply(weights, variances), axis=0)
    epistemic = np.sum(weights * (means - np.sum(np.multiply(weights, means), axis=0)) ** 2, axis=0)
    assert_allclose(batch.aleatoric_variance(), aleatoric, rtol=1e-13)
    assert_allclose(batch.epistemic_variance(), epistemic, rtol=1e-12)


def test_groups_at_their_extremes(batch):
    parts = (batch.weights, batch.means, batch.scales)
    single, each = GaussianMixture(*parts), GaussianMixture(*parts, groups=np.arange(9))
    # a model that was asked once contradicts itself nowhere, not even by rounding
    assert_array_equal(single.epistemic_variance(), np.zeros(len(batch)))
    assert_allclose(each.epistemic_variance(), each.between_component_variance(), rtol=1e-14)
    assert_array_equal(single.between_component_variance(), each.between_component_variance())
    empty = GaussianMixture([0.5, 0.5, 0.0], [0.0, 1.0, 9.0], [1.0] * 3, groups=[0, 1, 2])
    assert (empty.aleatoric_variance(), empty.epistemic_variance()) == (1.0, 0.25)


def test_moment_matched_gaussian(batch):
    gaussian = batch.to_gaussian()
    assert (gaussian.n_components, gaussian.shape) == (1, batch.shape)
    assert_array_equal(gaussian.mean(), batch.mean())
    assert_allclose(gaussian.var(), batch.var(), rtol=1e-15)
    assert batch[0].to_gaussian().shape == ()
