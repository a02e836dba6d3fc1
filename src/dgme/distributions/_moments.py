"""Moments of Gaussian mixtures, from central differences so that nothing cancels."""

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np
from jaxtyping import Bool, Float64

from dgme.distributions._arrays import Labels, Row, Table

Offsets: TypeAlias = Float64[np.ndarray, "*d k #b"]  # of one target, or of each of several
Means: TypeAlias = Float64[np.ndarray, "*d #b"]
Members: TypeAlias = Bool[np.ndarray, " k"]


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


def middles(
    weights: Table, offsets: Offsets, groups: Labels
) -> Iterator[tuple[Members, Row, Means]]:
    """Which components each group has, its weight, and its mean relative to that of the law."""
    labels = np.unique(groups)
    for label in labels:
        members = groups == label
        weight = weights[members]
        total = weight.sum(axis=0)
        # a group without weight has no mean; any finite stand-in contributes nothing
        middle = (weight * offsets[..., members, :]).sum(axis=-2) / np.where(total > 0, total, 1.0)
        # the only group has the mean of the law, which rounding is not to pull apart
        yield members, total, middle if len(labels) > 1 else np.zeros_like(middle)


def variance_split(
    weights: Table, means: Table, scales: Table, *, groups: Labels
) -> tuple[Row, Row]:
    """The variance within groups of components and between them; see the class for formulas."""
    offsets = centred(weights, means)
    within = np.zeros(offsets.shape[1])
    between = np.zeros(offsets.shape[1])
    for members, total, middle in middles(weights, offsets, groups):
        inside = scales[members] ** 2 + (offsets[members] - middle) ** 2
        within += (weights[members] * inside).sum(axis=0)
        between += total * middle**2
    return within, between


def aleatoric_variance(weights: Table, means: Table, scales: Table, *, groups: Labels) -> Row:
    return variance_split(weights, means, scales, groups=groups)[0]


def epistemic_variance(weights: Table, means: Table, scales: Table, *, groups: Labels) -> Row:
    return variance_split(weights, means, scales, groups=groups)[1]
