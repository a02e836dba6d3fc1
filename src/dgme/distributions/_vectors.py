"""Kernels of Gaussian mixtures over vectors: what sees more than one target at a time.

A kernel ends in weights (K, B), and in means and scales (d, K, B).
"""

from typing import TypeAlias

import numpy as np
from jaxtyping import Float64

from dgme.distributions._arrays import Array, Labels, Row, Table, log_sum_exp, posterior
from dgme.distributions._densities import log_terms, squarable
from dgme.distributions._moments import centred, middles

Cube: TypeAlias = Float64[np.ndarray, " d k #b"]  # a table for each target
Matrices: TypeAlias = Float64[np.ndarray, " d d b"]


def log_pdf(*arguments: Array) -> Row:
    """Logarithm of the joint density for one row of outcomes of every target, then the tables."""
    return log_sum_exp(_log_terms(*arguments))


def responsibilities(*arguments: Array) -> Table:
    *y, weights, means, scales = arguments
    return posterior(weights, _log_terms(*map(squarable, y), weights, means, scales))


def _log_terms(*arguments: Array) -> Table:
    """Log weight plus joint log density of every component."""
    *y, weights, means, scales = arguments
    terms, one = np.log(weights), np.ones_like(weights)
    for place, mean, scale in zip(y, means, scales, strict=True):
        terms = terms + log_terms(place, one, mean, scale)
    return terms


def _scatter(weights: Table, offsets: Cube) -> Matrices:
    # offsets are multiplied before the weight, so the matrices are symmetric to the last bit
    return np.einsum("ikb,jkb,kb->ijb", offsets, offsets, weights)


def covariance_split(
    weights: Table, means: Cube, scales: Cube, *, groups: Labels
) -> Float64[np.ndarray, "2 d d b"]:
    """Covariance within groups of components and between them; see the class for formulas."""
    offsets = np.stack([centred(weights, mean) for mean in means])
    d, _, size = offsets.shape
    split = np.zeros((2, d, d, size))
    within, between = split
    within[np.diag_indices(d)] = (weights * scales**2).sum(axis=1)
    for members, total, middle in middles(weights, offsets, groups):
        within += _scatter(weights[members], offsets[:, members] - middle[:, None])
        between += _scatter(total[None], middle[:, None])
    return split
