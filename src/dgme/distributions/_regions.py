"""Highest-density regions of Gaussian mixtures."""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import elementwise
from scipy.special import ndtri_exp

from dgme.distributions._arrays import Edges, Indices, Row, Table, Tables, pack, supported, take
from dgme.distributions._crossings import crossings, edges_between
from dgme.distributions._densities import cdf, log_pdf, sf
from dgme.distributions._modality import critical_points

# Standard deviations beyond which a double holds no density (exp(-40**2 / 2) = 1e-348).
_REACH = 40.0

# Scores from which on the mass outside is no normal double.
FURTHEST_SCORE = 37.0

# Intervals with less mass are left out: they are peaks that touch the level within rounding.
NEGLIGIBLE_MASS = 1e-10


@dataclass(frozen=True)
class _Landscape:
    """Laws cut at their critical points.

    The density is monotone between them, so each such segment holds at most one end of the region
    {y: p(y) >= level} and rising and falling ends alternate.
    """

    components: Tables
    edges: Edges
    heights: Edges

    @classmethod
    def of(cls, weights: Table, means: Table, scales: Table) -> "_Landscape":
        components = supported(weights, means, scales)
        _, means, scales = components
        start = (means - _REACH * scales).min(axis=0)
        end = (means + _REACH * scales).max(axis=0)
        edges = edges_between(start, critical_points(components), end)
        return cls(components, edges, np.stack([log_pdf(edge, *components) for edge in edges]))

    def take(self, rows: Indices) -> "_Landscape":
        components = take(self.components, rows)
        return _Landscape(components, self.edges[:, rows], self.heights[:, rows])

    def ends(self, log_level: Row) -> Edges:
        """Ends of the region above the level, one row for each segment, NaN where it has none."""

        def above(x: Row, column: Indices) -> Row:
            return log_pdf(x, *take(self.components, column)) - log_level[column]

        return crossings(above, self.edges, self.heights - log_level)

    def mass_below(self, log_level: Row) -> Row:
        """The mass outside of the region, without cancellation when it is small.

        It is one minus the sum of sign times cdf over the ends. Beyond the median the cdf is
        replaced by one minus the upper tail, and the ones are counted.
        """
        ends = self.ends(log_level)
        sign = np.where(self.heights[1:] > self.heights[:-1], -1.0, 1.0)
        below, above = (np.stack([tail(x, *self.components) for x in ends]) for tail in (cdf, sf))
        right = above < below
        ones = 1 - np.sum(sign * right, axis=0, where=~np.isnan(ends))
        return ones - np.nansum(sign * np.where(right, -above, below), axis=0)


def highest_density_region(
    weights: Table, means: Table, scales: Table, *, log_outside: float
) -> Edges:
    """Find the level whose region leaves out so much; the region as a table (2 M, B) of ends."""
    land = _Landscape.of(weights, means, scales)

    def excess(log_level: Row, rows: Indices) -> Row:
        return np.log(land.take(rows).mass_below(log_level)) - log_outside

    # where the density is below the lower bound lies at most half of what is to be left out
    lowest = log_outside - np.log(2 * (land.edges[-1] - land.edges[0]))
    rows = np.arange(lowest.size)
    level = elementwise.find_root(
        excess, (lowest, land.heights.max(axis=0)), args=(rows,), tolerances={"fatol": 1e-12}
    ).x
    return _without_slivers(pack(land.ends(level)), land.components)


def score(y: Row, weights: Table, means: Table, scales: Table) -> Row:
    """The standard normal deviate that leaves as much outside on both sides as is less dense."""
    land = _Landscape.of(weights, means, scales)
    if land.edges.shape[1] == 1:  # one law, and many outcomes
        land = land.take(np.zeros(y.size, dtype=np.intp))
    level = log_pdf(y, weights, means, scales)
    below = land.mass_below(level).clip(0, 1)
    # further out than all edges there are no ends to be found, and no mass
    below = np.where(level > land.heights[[0, -1]].max(axis=0), below, 0.0)
    return np.where(np.isnan(y), np.nan, -ndtri_exp(np.log(below / 2)))


def _without_slivers(ends: Edges, components: Tables) -> Edges:
    probability = np.stack([cdf(x, *components) for x in ends])
    sliver = probability[1::2] - probability[::2] < NEGLIGIBLE_MASS
    return pack(np.where(np.repeat(sliver, 2, axis=0), np.nan, ends))
