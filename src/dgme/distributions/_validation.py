"""What a caller may pass as a mixture, and what to say when it is something else."""

import numpy as np

from dgme.distributions._arrays import Array, Components, Labels, Numbers

WEIGHT_TOLERANCE = 1e-6


def _first(bad: np.ndarray, name: str, array: np.ndarray) -> str:
    index = tuple(int(i) for i in np.argwhere(bad)[0])
    place = ", ".join(map(str, index))
    return f"{name}[{place}] is {array[index]}"


def _finite(name: str, value: Numbers) -> Array:
    array = np.asarray(value, dtype=np.float64)
    bad = ~np.isfinite(array)
    if bad.any():
        raise ValueError(
            f"{name} must be finite, but {_first(bad, name, array)} ({bad.sum()} of {bad.size} "
            "are not); drop these rows or look for a model that diverged"
        )
    return array


def _unit_sum(weights: Array) -> Array:
    negative = weights < 0
    if negative.any():
        raise ValueError(
            f"weights must not be negative, but {_first(negative, 'weights', weights)}; "
            "pass probabilities, for example softmax of logits"
        )
    total = weights.sum(axis=-1, keepdims=True)
    off = np.abs(total - 1) > WEIGHT_TOLERANCE
    if off.any():
        row = f" in row {np.argwhere(off)[0, 0]}" if weights.ndim == 2 else ""
        raise ValueError(
            f"weights must sum to one over the components, but they sum to {total[off][0]}{row}; "
            "divide them by their sum"
        )
    return weights / total


def validated(
    weights: Numbers, means: Numbers, scales: Numbers
) -> tuple[Components, tuple[int, ...]]:
    """Own, component-first copies of the arrays and the batch shape."""
    w, m, s = _finite("weights", weights), _finite("means", means), _finite("scales", scales)
    if m.ndim not in (1, 2):
        raise ValueError(
            f"means must have shape (n, K), or (K,) for one law, but it has shape {m.shape}; "
            "for one component pass means[:, None]"
        )
    if m.shape[-1] == 0:
        raise ValueError(
            f"means must have at least one component, but it has shape {m.shape}; "
            "components run along the last axis"
        )
    if s.shape != m.shape:
        raise ValueError(
            f"scales must have the shape of means, {m.shape}, but it has shape {s.shape}; "
            "use numpy.broadcast_to where scales are shared"
        )
    if w.shape not in (m.shape, m.shape[-1:]):
        raise ValueError(
            f"weights must have the shape of means, {m.shape}, or {m.shape[-1:]}, but it has "
            f"shape {w.shape}; give one weight per component"
        )
    too_small = s <= 0
    if too_small.any():
        raise ValueError(
            f"scales must be positive, but {_first(too_small, 'scales', s)}; they are standard "
            "deviations, so take softplus or exp of a raw output and add a floor"
        )
    w, shape = _unit_sum(w), m.shape[:-1]
    w, m, s = (np.array(np.atleast_2d(a).T, order="C") for a in (w, m, s))
    return (w, m, s), shape


def validated_groups(groups: Numbers | None, n_components: int) -> Labels:
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
