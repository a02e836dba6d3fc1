"""What every estimator does with the rows it is given, before its networks see them."""

from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float64, Int
from sklearn.base import BaseEstimator
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, validate_data

from dgme.estimators._scaling import Scaling

# With fewer held-out rows than this their score is too noisy to choose a round by.
MIN_HELD_OUT = 10


class TrainingRows(NamedTuple):
    X: Float64[np.ndarray, " n *shape"]
    y: Float64[np.ndarray, "n targets"]
    """One column for a scalar target, one-hot rows for classes."""
    weight: Float64[np.ndarray, " n"]
    vector: bool = False
    """Whether the targets came as rows."""
    classes: np.ndarray = np.empty(0)
    """What the columns of y stand for, if they are classes."""
    numbers: np.ndarray = np.empty(0, int)
    """Where the rows stood in what was given."""

    def take(self, rows: Int[np.ndarray, " m"]) -> "TrainingRows":
        return self._replace(
            X=self.X[rows], y=self.y[rows], weight=self.weight[rows], numbers=self.numbers[rows]
        )


def check_regression(
    estimator: BaseEstimator, X, y, sample_weight, *, reset: bool, needed: int, allow_nd: bool
) -> TrainingRows:
    """The rows of positive weight, of which `needed` must be there."""
    rows: Any = validate_data(
        estimator,
        X,
        y,
        reset=reset,
        dtype=np.float64,
        allow_nd=allow_nd,
        multi_output=True,
        y_numeric=True,
        ensure_min_samples=2,
    )
    X, y = rows
    if y.dtype.kind not in "fiub":
        raise ValueError(f"y must hold numbers, but has dtype {y.dtype}. Convert it first.")
    if y.ndim > 2 or y.shape[1:] == (0,):
        raise ValueError(
            f"y must have shape (n,), or (n, d) for d targets, but has shape {y.shape}. Flatten it."
        )
    targets = y.astype(np.float64).reshape(len(y), -1)
    return _weighted(X, targets, sample_weight, needed)._replace(vector=y.ndim == 2)


def check_classification(
    estimator: BaseEstimator, X, y, sample_weight, *, reset: bool, needed: int, allow_nd: bool
) -> TrainingRows:
    """The rows of positive weight, with classes as one-hot rows."""
    rows: Any = validate_data(
        estimator, X, y, reset=reset, dtype=np.float64, allow_nd=allow_nd, ensure_min_samples=2
    )
    X, y = rows
    check_classification_targets(y)
    classes, numbers = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(
            f"y must hold at least two classes, but all its rows are of one class, {classes[0]!r}. "
            "There is nothing to tell apart."
        )
    one_hot = np.eye(len(classes))[numbers]
    return _weighted(X, one_hot, sample_weight, needed)._replace(classes=classes)


def _weighted(X: np.ndarray, y: np.ndarray, sample_weight, needed: int) -> TrainingRows:
    weight = _check_sample_weight(sample_weight, X, dtype=np.float64)
    if (weight < 0).any():
        raise ValueError(f"sample_weight must not be negative, but its smallest is {weight.min()}.")
    used = weight > 0
    if used.sum() < max(2, needed):
        raise ValueError(
            f"n_components={needed} needs as many rows of positive sample_weight (and two at "
            f"least), but there are n_samples = {used.sum()}. Use fewer components or more rows."
        )
    # Relative weights are all that counts, and sums of these do not overflow.
    return TrainingRows(X[used], y[used], weight[used] / weight.max(), numbers=np.flatnonzero(used))


def split(
    n_rows: int, fraction: float | None, seed: int, *, needed: int
) -> tuple[Int[np.ndarray, " n"], Int[np.ndarray, " m"]]:
    """Rows to train on and rows to hold out, which are none where they would be too few."""
    n_held_out = 0 if fraction is None else round(fraction * n_rows)
    if n_held_out < MIN_HELD_OUT:
        return np.arange(n_rows), np.arange(0)
    if n_rows - n_held_out < max(2, needed):
        raise ValueError(
            f"validation_fraction={fraction} leaves {n_rows - n_held_out} of {n_rows} rows to "
            f"train on, too few for n_components={needed}. Hold out less."
        )
    shuffled = np.random.default_rng(seed).permutation(n_rows)
    return np.sort(shuffled[n_held_out:]), np.sort(shuffled[:n_held_out])


def standard_scaling(name: str, part: np.ndarray, weight: Float64[np.ndarray, " n"]) -> Scaling:
    """The units in which the entries of the last axis have mean zero and variance one."""
    flat = part.reshape(-1, part.shape[-1])
    scaling = Scaling.standard(flat, np.repeat(weight, len(flat) // len(part)))
    if not scaling.usable:
        raise ValueError(
            f"{name} spans from {part.min()} to {part.max()}, which double precision "
            "cannot standardise. Look for values that stand for missing ones, or rescale."
        )
    return scaling
