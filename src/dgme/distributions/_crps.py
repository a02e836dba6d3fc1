"""The continuous ranked probability score of Gaussian mixtures in closed form.

CRPS(F, y) = E|X - y| - E|X - X'| / 2 with X, X' independent draws of F; every expectation is a
sum of absolute moments of Gaussians (Grimit et al., 2006).
"""

import numpy as np
from scipy.special import erf

from dgme.distributions._arrays import Array, Row, Table


def _absolute_moment(offset: Array, scale: Array) -> Array:
    """E|Z| for Z normal with mean ``offset`` and standard deviation ``scale``."""
    z = offset / (np.sqrt(2) * scale)
    return offset * erf(z) + np.sqrt(2 / np.pi) * scale * np.exp(-z * z)


def mean_absolute_difference(weights: Table, means: Table, scales: Table) -> Row:
    """E|X - X'|"""
    variances = scales**2
    half = (weights**2 * scales).sum(axis=0) / np.sqrt(np.pi)
    for i in range(len(means) - 1):
        rest = slice(i + 1, None)
        moments = _absolute_moment(means[i] - means[rest], np.sqrt(variances[i] + variances[rest]))
        half = half + weights[i] * (weights[rest] * moments).sum(axis=0)
    return 2 * half


def crps(y: Row, weights: Table, means: Table, scales: Table) -> Row:
    distance = (weights * _absolute_moment(y - means, scales)).sum(axis=0)
    return distance - mean_absolute_difference(weights, means, scales) / 2
