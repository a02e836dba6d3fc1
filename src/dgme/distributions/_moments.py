"""Moments of Gaussian mixtures, from central differences so that nothing cancels."""

import numpy as np

from dgme.distributions._arrays import Labels, Row, Table


def _mean(weights: Table, means: Table) -> Row:
    # the second step removes the rounding that a large common offset leaves in the first
    rough = (weights * means).sum(axis=0)
    return rough + (weights * (means - rough)).sum(axis=0)


def centred(weights: Table, means: Table) -> Table:
    """Means of the components relative to the mean of the law, exact beyond its rounding."""
    offsets = means - _mean(weights, means)
    return offsets - (weights * offsets).sum(axis=0)


def mean(weights: Table, means: Table, scales: Table) -> Row:
    return _mean(weights, means)


def var(weights: Table, means: Table, scales: Table) -> Row:
    return (weights * (scales**2 + centred(weights, means) ** 2)).sum(axis=0)


def std(weights: Table, means: Table, scales: Table) -> Row:
    return np.sqrt(var(weights, means, scales))


def between_component_variance(weights: Table, means: Table, scales: Table) -> Row:
    return (weights * centred(weights, means) ** 2).sum(axis=0)


def standardised(weights: Table, means: Table, scales: Table) -> tuple[Table, Table]:
    """Means and scales of the components of the law shifted and scaled to mean 0, variance 1."""
    deviation = std(weights, means, scales)
    return centred(weights, means) / deviation, scales / deviation


def skewness(weights: Table, means: Table, scales: Table) -> Row:
    offsets, spreads = standardised(weights, means, scales)
    return (weights * offsets * (offsets**2 + 3 * spreads**2)).sum(axis=0)


def excess_kurtosis(weights: Table, means: Table, scales: Table) -> Row:
    offsets, spreads = (a**2 for a in standardised(weights, means, scales))
    return (weights * (offsets**2 + 6 * offsets * spreads + 3 * spreads**2)).sum(axis=0) - 3


def variance_split(
    weights: Table, means: Table, scales: Table, *, groups: Labels
) -> tuple[Row, Row]:
    """The variance within groups of components and between them; see the class for formulas."""
    offsets = centred(weights, means)
    within = np.zeros(offsets.shape[1])
    between = np.zeros(offsets.shape[1])
    for group in np.unique(groups):
        members = groups == group
        weight, offset, scale = weights[members], offsets[members], scales[members]
        total = weight.sum(axis=0)
        # a group without weight has no mean; any finite stand-in contributes nothing
        middle = (weight * offset).sum(axis=0) / np.where(total > 0, total, 1.0)
        within += (weight * (scale**2 + (offset - middle) ** 2)).sum(axis=0)
        between += total * middle**2
    return within, between


def aleatoric_variance(weights: Table, means: Table, scales: Table, *, groups: Labels) -> Row:
    return variance_split(weights, means, scales, groups=groups)[0]


def epistemic_variance(weights: Table, means: Table, scales: Table, *, groups: Labels) -> Row:
    return variance_split(weights, means, scales, groups=groups)[1]
