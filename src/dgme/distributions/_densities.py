"""Density and distribution function of Gaussian mixtures, and their logarithms."""

import numpy as np
from scipy.special import log_ndtr, ndtr

from dgme.distributions._arrays import Row, Table, log_sum_exp, posterior

_LOG_SQRT_TWO_PI = 0.5 * np.log(2 * np.pi)


def log_terms(y: Row, weights: Table, means: Table, scales: Table) -> Table:
    """Log weight plus log density of every component at y."""
    terms = (y - means) / scales
    terms *= -0.5 * terms
    terms += np.log(weights) - np.log(scales) - _LOG_SQRT_TWO_PI
    return terms


def squarable(y: Row) -> Row:
    """Outcomes moved to where doubles can still tell which component is nearest by its scale."""
    return y.clip(-1e150, 1e150)


def log_pdf(y: Row, weights: Table, means: Table, scales: Table) -> Row:
    return log_sum_exp(log_terms(y, weights, means, scales))


def responsibilities(y: Row, weights: Table, means: Table, scales: Table) -> Table:
    return posterior(weights, log_terms(squarable(y), weights, means, scales))


def pdf(y: Row, weights: Table, means: Table, scales: Table) -> Row:
    return np.exp(log_pdf(y, weights, means, scales))


def cdf(y: Row, weights: Table, means: Table, scales: Table) -> Row:
    # weights that sum to one only to rounding must not make a probability above one
    return np.minimum((weights * ndtr((y - means) / scales)).sum(axis=0), 1.0)


def sf(y: Row, weights: Table, means: Table, scales: Table) -> Row:
    return cdf(-y, weights, -means, scales)


def log_lower_tail(y: Row, weights: Table, means: Table, scales: Table) -> Row:
    """Log of the cdf, with full relative accuracy while the cdf is small."""
    return log_sum_exp(np.log(weights) + log_ndtr((y - means) / scales))


def log_cdf(y: Row, weights: Table, means: Table, scales: Table) -> Row:
    """Log of the cdf, with full relative accuracy everywhere: near one it is log1p(-sf)."""
    upper = sf(y, weights, means, scales)
    lower = log_lower_tail(y, weights, means, scales)
    return np.where(upper < 0.5, np.log1p(-upper), lower)


def log_sf(y: Row, weights: Table, means: Table, scales: Table) -> Row:
    return log_cdf(-y, weights, -means, scales)
