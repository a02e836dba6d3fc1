"""Highest-density regions of Gaussian mixtures."""

import numpy as np
from scipy.optimize import elementwise

from dgme.distributions._arrays import Edges, Indices, Row, Table, Tables, pack, supported, take
from dgme.distributions._crossings import crossings, edges_between
from dgme.distributions._densities import cdf, log_pdf, sf
from dgme.distributions._modality import critical_points

# Standard deviations beyond which a double holds no density (exp(-40**2 / 2) = 1e-348).
_REACH = 40.0

# Intervals with less mass are left out: they are peaks that touch the level within rounding.
NEGLIGIBLE_MASS = 1e-10


def highest_density_region(
    weights: Table, means: Table, scales: Table, *, coverage: float
) -> Edges:
    """Find the level whose region holds the coverage; the region as a table (2 M, B) of ends.

    The density is monotone between critical points, so each such segment holds at most one end
    of the region {y: p(y) >= level} and rising and falling ends alternate.
    """
    components = supported(weights, means, scales)
    _, means, scales = components
    start = (means - _REACH * scales).min(axis=0)
    end = (means + _REACH * scales).max(axis=0)
    edges = edges_between(start, critical_points(components), end)
    heights = np.stack([log_pdf(edge, *components) for edge in edges])
    sign = np.where(heights[1:] > heights[:-1], -1.0, 1.0)

    def ends(log_level: Row, rows: Indices) -> Edges:
        def above(x: Row, column: Indices) -> Row:
            return log_pdf(x, *take(components, rows[column])) - log_level[column]

        return crossings(above, edges[:, rows], heights[:, rows] - log_level)

    def excess(log_level: Row, rows: Indices) -> Row:
        outside = _mass_outside(ends(log_level, rows), sign[:, rows], take(components, rows))
        return np.log(outside) - np.log1p(-coverage)

    # where the density is below the lower bound lies at most half of what is to be left out
    lowest = np.log((1 - coverage) / 2 / (end - start))
    rows = np.arange(start.size)
    level = elementwise.find_root(
        excess, (lowest, heights.max(axis=0)), args=(rows,), tolerances={"fatol": 1e-12}
    ).x
    return _without_slivers(pack(ends(level, rows)), components)


def _mass_outside(ends: Edges, sign: Edges, components: Tables) -> Row:
    """One minus the sum of sign times cdf, without cancellation when it is small.

    Beyond the median the cdf is replaced by one minus the upper tail, and the ones are counted.
    """
    below, above = (np.stack([tail(x, *components) for x in ends]) for tail in (cdf, sf))
    right = above < below
    ones = 1 - np.sum(sign * right, axis=0, where=~np.isnan(ends))
    return ones - np.nansum(sign * np.where(right, -above, below), axis=0)


def _without_slivers(ends: Edges, components: Tables) -> Edges:
    probability = np.stack([cdf(x, *components) for x in ends])
    sliver = probability[1::2] - probability[::2] < NEGLIGIBLE_MASS
    return pack(np.where(np.repeat(sliver, 2, axis=0), np.nan, ends))
