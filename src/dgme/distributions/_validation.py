"""What a caller may pass as a mixture, and what to say when it is something else.

The state of laws comes back: own tables with the laws in the last axis, their shape, the groups.
"""

from typing import TypeAlias

import numpy as np

from dgme.distributions._arrays import Array, Labels, Numbers, Tables, blocks

State: TypeAlias = tuple[Tables, tuple[int, ...], Labels]

WEIGHT_TOLERANCE = 1e-6
_AXES = {"K": ("component", "components"), "d": ("target", "targets"), "C": ("class", "classes")}


def gaussians(
    weights: Numbers, means: Numbers, scales: Numbers, groups: Numbers | None, axes: str
) -> State:
    """The state of Gaussian mixtures whose means have these axes, K and perhaps d, after n."""
    w, m, s = _finite("weights", weights), _finite("means", means), _finite("scales", scales)
    shape = _laws_shape("means", m, w, axes)
    if s.shape != m.shape:
        raise ValueError(
            f"scales must have the shape of means, {m.shape}, but it has shape {s.shape}; "
            "use numpy.broadcast_to where scales are shared"
        )
    too_small = s <= 0
    if too_small.any():
        raise ValueError(
            f"scales must be positive, but {_first(too_small, 'scales', s)}; they are standard "
            "deviations, so take softplus or exp of a raw output and add a floor"
        )
    tables = _unit_sums("weights", w, "K"), _laws_last(m, axes), _laws_last(s, axes)
    return tables, shape, _labels(groups, len(tables[0]))


def categoricals(
    weights: Numbers, probabilities: Numbers, groups: Numbers | None, axes: str
) -> State:
    """The state of categorical mixtures."""
    w, p = _finite("weights", weights), _finite("probabilities", probabilities)
    shape = _laws_shape("probabilities", p, w, axes)
    tables = _unit_sums("weights", w, "K"), _unit_sums("probabilities", p, axes)
    return tables, shape, _labels(groups, len(tables[0]))


def _labels(groups: Numbers | None, n_components: int) -> Labels:
    """One integer label per component; a single group when there are none."""
    if groups is None:
        return np.zeros(n_components, dtype=np.intp)
    labels = np.array(groups)
    if labels.shape != (n_components,) or labels.dtype.kind not in "iu":
        raise ValueError(
            f"groups must be {n_components} integers, one label per component, but it has dtype "
            f"{labels.dtype} and shape {labels.shape}; number the posterior samples"
        )
    return labels


def _first(bad: np.ndarray, name: str, array: np.ndarray) -> str:
    index = tuple(int(i) for i in np.argwhere(bad)[0])
    place = ", ".join(map(str, index))
    return f"{name}[{place}] is {array[index]}"


def _finite(name: str, value: Numbers) -> Array:
    array = np.asarray(value, dtype=np.float64)
    finite = np.isfinite(array)
    if not finite.all():
        bad = ~finite
        raise ValueError(
            f"{name} must be finite, but {_first(bad, name, array)} ({bad.sum()} of {bad.size} "
            "are not); drop these rows or look for a model that diverged"
        )
    return array


def _laws_shape(name: str, array: Array, weights: Array, axes: str) -> tuple[int, ...]:
    """The shape of the laws of an array that has these axes, if weights fit it too."""
    every, one = f"({', '.join(('n', *axes))})", f"({', '.join(axes)}{',' * (len(axes) == 1)})"
    if array.ndim not in (len(axes), len(axes) + 1):
        raise ValueError(
            f"{name} must have shape {every}, or {one} for one law, but it has shape "
            f"{array.shape}; for one component pass {name}[:, None]"
        )
    shape = array.shape[: -len(axes)]
    if 0 in array.shape[len(shape) :]:
        least = " and ".join(f"one {_AXES[axis][0]}" for axis in axes)
        raise ValueError(
            f"{name} must have at least {least}, but it has shape {array.shape}; "
            f"its axes are {every}"
        )
    n_components = array.shape[len(shape)]
    if weights.shape not in ((*shape, n_components), (n_components,)):
        raise ValueError(
            f"weights must have shape {(*shape, n_components)} or {(n_components,)} beside {name} "
            f"of shape {array.shape}, but it has shape {weights.shape}; "
            "give one weight per component"
        )
    return shape


def _unit_sums(name: str, array: Array, axes: str) -> Array:
    """Probabilities with the laws last, divided by what they sum to over the last of the axes."""
    negative = array < 0
    if negative.any():
        raise ValueError(
            f"{name} must not be negative, but {_first(negative, name, array)}; "
            "pass probabilities, for example softmax of logits"
        )
    table = _laws_last(array, axes)
    total = np.asarray(sum(table))  # one by one: shared weights round as repeated ones do
    off = np.abs(total - 1) > WEIGHT_TOLERANCE
    if off.any():
        row = np.argwhere(off.T.reshape(array.shape[:-1]))[0]
        place = f" in row {', '.join(map(str, row))}" if row.size else ""
        raise ValueError(
            f"{name} must sum to one over the {_AXES[axes[-1]][1]}, but they sum to "
            f"{total.T[off.T][0]}{place}; divide them by their sum"
        )
    table /= total
    return table


def _laws_last(array: Array, axes: str) -> Array:
    """A copy with all axes reversed, and one law where there is no axis of laws."""
    rows = array.reshape(-1, *array.shape[-len(axes) :])
    table = np.empty(rows.T.shape)
    # in blocks that stay in the cache, which is up to three times as fast
    for block in blocks(len(rows), rows[:1].size):
        table[..., block] = rows[block].T
    return table
