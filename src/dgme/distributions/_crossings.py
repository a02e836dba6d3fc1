"""Roots of many functions at once, each known to cross zero at most once between its edges."""

from collections.abc import Callable

import numpy as np
from jaxtyping import Float64
from scipy.optimize import elementwise

from dgme.distributions._arrays import Edges, Indices, Row

# Position within a bracket: a search that goes on below rounding follows noise.
_TOLERANCES = {"xatol": 4 * np.finfo(float).eps, "xrtol": 0.0}


def edges_between(start: Row, points: Edges, end: Row) -> Edges:
    """Ascending edges from start to end; NaN among the points becomes the end once more."""
    return np.vstack([start[None], np.where(np.isnan(points), end, points), end[None]])


def crossings(
    function: Callable[[Row, Indices], Row],
    edges: Float64[np.ndarray, "s b"],
    values: Float64[np.ndarray, "s b"],
) -> Float64[np.ndarray, "s-1 b"]:
    """Where ``function(x, column)`` changes sign between successive edges.

    ``edges`` is a table (S, B), ascending in each column, and ``values`` the function there. The
    answer has shape (S - 1, B), NaN where there is no change. Zero counts as positive, so that
    the signs of successive changes always alternate.
    """
    positive = values >= 0
    segment, column = np.nonzero(positive[1:] != positive[:-1])
    left, right = edges[segment, column], edges[segment + 1, column]

    def at(position: Row, left: Row, right: Row, column: Indices) -> Row:
        return function(left * (1 - position) + right * position, column)

    found = elementwise.find_root(
        at,
        (np.zeros_like(left), np.ones_like(left)),
        args=(left, right, column),
        tolerances=_TOLERANCES,
    )
    # At an end where the function vanishes, rounding may give it the sign of the other end when it
    # is evaluated once more in another block; such an end is the root.
    nearest = np.abs(found.f_bracket[1]) < np.abs(found.f_bracket[0])
    position = np.where(found.success, found.x, nearest)
    out = np.full_like(edges[1:], np.nan)
    out[segment, column] = left * (1 - position) + right * position
    return out
