"""Modes and other critical points of Gaussian mixtures.

Between two roots of the derivative of some order the next lower derivative is monotone, so it
has at most one root there. Starting from a grid for the third derivative and going down, no pair
of modes that are about to merge is lost, however close they are: two modes merge where the first
three derivatives vanish together. A grid is needed only near components: one standard deviation
away from all of them the density is convex and has at most one critical point.
"""

from functools import partial

import numpy as np

from dgme.distributions._arrays import Edges, Indices, Row, Table, Tables, pack, supported, take
from dgme.distributions._crossings import crossings, edges_between
from dgme.distributions._densities import log_terms

_GRID = np.linspace(-3.0, 3.0, 13)


def cost(n_components: int) -> int:
    """Entries per law. Searches need components times roots, few in all but contrived laws.

    With roots next to every component a temporary would take some ten megabytes.
    """
    return n_components * (4 + n_components // 8)


def _derivative(x: Row, rows: Indices | slice, *, components: Tables, order: int) -> Row:
    """Derivative of the density, divided by the density so that it never underflows."""
    weights, means, scales = take(components, rows)
    terms = log_terms(x, weights, means, scales)
    terms -= terms.max(axis=0)
    z = (means - x) / scales
    hermite = {1: z, 2: z * z - 1, 3: z * (z * z - 3)}[order]
    return (np.exp(terms) * hermite / scales**order).sum(axis=0)


def critical_points(components: Tables) -> Edges:
    """All local maxima and minima, ascending: maxima in even rows, minima in odd, NaN-padded."""
    _, means, scales = components
    grid = (means[:, None] + scales[:, None] * _GRID[:, None]).reshape(-1, means.shape[1])
    points = np.sort(grid, axis=0)
    start, end = points[0], points[-1]
    for order in (3, 2, 1):
        derivative = partial(_derivative, components=components, order=order)
        edges = edges_between(start, points, end)
        values = np.stack([derivative(edge, slice(None)) for edge in edges])
        points = pack(crossings(derivative, edges, values))
    return points


def modes(weights: Table, means: Table, scales: Table) -> Edges:
    return critical_points(supported(weights, means, scales))[::2]
