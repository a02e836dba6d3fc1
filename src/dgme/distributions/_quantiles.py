"""Quantiles of Gaussian mixtures by bracketed root finding, and draws."""

import numpy as np
from scipy.optimize import elementwise
from scipy.special import ndtri_exp

from dgme.distributions._arrays import Indices, Row, Table, choose, supported, take
from dgme.distributions._densities import log_lower_tail

# In standard deviations of the normal score. The smallest positive double has the score -38.5,
# where an error of 1e-13 changes a probability by 4e-12 of its value; around the median it is
# 4e-14 in absolute terms. Rounding of the score itself is some 1e-15.
_SCORE_TOLERANCE = 1e-13

# By how much, in standard deviations, brackets are wider than theory asks: enough for rounding,
# too little to cost an iteration.
_SCORE_SLACK = 1e-6


def quantile(q: Row, weights: Table, means: Table, scales: Table) -> Row:
    """Solve cdf(x) = q; above the median the upper tail is solved for 1 - q, as exactly."""
    upper = q > 0.5
    score = ndtri_exp(np.log(np.where(upper, 1 - q, q)))
    return at_normal_score(np.where(upper, -score, score), weights, means, scales)


def normal_score(y: Row, weights: Table, means: Table, scales: Table) -> Row:
    """The standard normal quantile of cdf(y), from whichever tail is smaller."""
    lower = log_lower_tail(y, weights, means, scales)
    upper = log_lower_tail(-y, weights, -means, scales)
    return np.where(lower < upper, ndtri_exp(lower), -ndtri_exp(upper))


def at_normal_score(z: Row, weights: Table, means: Table, scales: Table) -> Row:
    """Solve normal_score(x) = z, which for one component is a straight line.

    Above the median the mirrored law is solved for -z, so that both tails keep their relative
    accuracy. Infinities and NaN stand for themselves.
    """
    inside = np.flatnonzero(np.isfinite(z))
    weights, means, scales = take(supported(weights, means, scales), inside)
    side = np.where(z[inside] > 0, -1.0, 1.0)
    out = np.array(z)
    out[inside] = side * _in_lower_tail(-np.abs(z[inside]), weights, side * means, scales)
    return out


def _in_lower_tail(target: Row, weights: Table, means: Table, scales: Table) -> Row:
    # every component has less than that below the least of their quantiles, so the mixture has too
    lower = (means + scales * (target - _SCORE_SLACK)).min(axis=0)
    upper = (means + scales * (target + _SCORE_SLACK)).max(axis=0)
    lower -= 2 * np.spacing(np.abs(lower))
    upper += 2 * np.spacing(np.abs(upper))
    components = (weights, means, scales)

    def excess(x: Row, rows: Indices) -> Row:
        # infinite where the cdf rounds to 0 or 1; its sign is then all the search needs
        return ndtri_exp(log_lower_tail(x, *take(components, rows))) - target[rows]

    tolerances = {"fatol": _SCORE_TOLERANCE, "xatol": 0.0}
    rows = np.arange(target.size)
    return elementwise.find_root(excess, (lower, upper), args=(rows,), tolerances=tolerances).x


def draw(uniform: Row, normal: Row, weights: Table, means: Table, scales: Table) -> Row:
    """Turn a uniform and a standard normal number into a draw of the mixture."""
    component = choose(uniform, weights)[None]
    mean, scale = (np.take_along_axis(a, component, axis=0)[0] for a in (means, scales))
    return mean + scale * normal
