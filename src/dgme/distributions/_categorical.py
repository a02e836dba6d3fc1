"""Kernels of categorical mixtures: moments, entropies, scores and draws.

A kernel ends in weights (K, B) and probabilities (C, K, B), or in the mean probabilities (C, B).
"""

from typing import TypeAlias

import numpy as np
from jaxtyping import Bool, Float64, Int
from scipy.special import entr

from dgme.distributions._arrays import (
    Generator,
    Indices,
    Labels,
    Row,
    Table,
    log_sum_exp,
    posterior,
)

Cube: TypeAlias = Float64[np.ndarray, " c k #b"]  # the probabilities of every component
Simplex: TypeAlias = Float64[np.ndarray, " c #b"]  # one probability per class


def mean(weights: Table, probabilities: Cube) -> Simplex:
    """Mean probabilities of components whose weights need not sum to one; zeros without weight.

    Divided by their own sum, none rounds to more than one, and the mean of a part of the components
    agrees to the last bit with that of a law made of this part.
    """
    joint = (weights * probabilities).sum(axis=1)
    total = joint.sum(axis=0)
    return joint / np.where(total > 0, total, 1.0)


def mode(weights: Table, probabilities: Cube) -> Indices:
    return mean(weights, probabilities).argmax(axis=0)


def entropy(weights: Table, probabilities: Cube) -> Row:
    return entr(mean(weights, probabilities)).sum(axis=0)


def expected_entropy(weights: Table, probabilities: Cube, *, groups: Labels) -> Row:
    total = weights.sum(axis=0)
    expected = np.zeros(probabilities.shape[-1])
    for group in np.unique(groups):
        members = groups == group
        weight = weights[members]
        # the share of the only group is exactly one, so that it leaves no mutual information
        expected += weight.sum(axis=0) / total * entropy(weight, probabilities[:, members])
    return expected


def mutual_information(weights: Table, probabilities: Cube, *, groups: Labels) -> Row:
    expected = expected_entropy(weights, probabilities, groups=groups)
    # negative by rounding only: entropy is concave
    return np.maximum(entropy(weights, probabilities) - expected, 0.0)


def component_entropies(weights: Table, probabilities: Cube) -> Table:
    return entr(probabilities).sum(axis=0)


def component_entropy(weights: Table, probabilities: Cube) -> Row:
    return (weights * component_entropies(weights, probabilities)).sum(axis=0)


def log_pmf(y: Row, weights: Table, probabilities: Cube) -> Row:
    terms = _log_terms(y, weights, probabilities)
    log_p = np.minimum(log_sum_exp(terms), 0.0)
    return np.where(_is_class(y, probabilities), log_p, np.where(np.isnan(y), np.nan, -np.inf))


def responsibilities(y: Row, weights: Table, probabilities: Cube) -> Table:
    shares = posterior(weights, _log_terms(y, weights, probabilities))
    return np.where(_is_class(y, probabilities), shares, np.nan)


def _log_terms(y: Row, weights: Table, probabilities: Cube) -> Table:
    """Log weight plus log probability of every component at y, and anything where y is no class."""
    index = np.where(_is_class(y, probabilities), y, 0.0).astype(np.intp)[None, None]
    at_class = np.take_along_axis(probabilities, index, axis=0)[0]
    # the product of a weight and a probability may underflow, and their logarithms do not
    return np.log(weights) + np.log(at_class)


def _is_class(y: Row, probabilities: Cube) -> Bool[np.ndarray, " b"]:
    return (y >= 0) & (y < len(probabilities)) & (y == np.floor(y))


def pmf(y: Row, weights: Table, probabilities: Cube) -> Row:
    return np.exp(log_pmf(y, weights, probabilities))


def brier(y: Row, probabilities: Simplex) -> Row:
    truth = np.arange(len(probabilities))[:, None] == y
    score = ((probabilities - truth) ** 2).sum(axis=0)
    # what is no class counts as one more, to which the law gives no probability
    score += ~truth.any(axis=0)
    return np.where(np.isnan(y), np.nan, score)


def draw_counts(
    n_draws: int, weights: Table, n_laws: int, rng: Generator
) -> Int[np.ndarray, " k b"]:
    """How often each component is drawn by each law: a multinomial count, binomial by binomial."""
    left = np.full(n_laws, n_draws)
    counts = np.empty((len(weights), n_laws), dtype=np.intp)
    # summed from the end, the weight that is left equals the last weight that is not zero when its
    # turn comes: its share is exactly one and nothing remains for empty components after it
    tails = weights[::-1].cumsum(axis=0)[::-1]
    for count, weight, tail in zip(counts, weights, tails, strict=True):
        count[:] = rng.binomial(left, weight / np.where(tail > 0, tail, 1.0))
        left -= count
    return counts
