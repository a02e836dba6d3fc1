"""What every regressor does with the rows it is given, before its networks see them."""

from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float64, Int
from sklearn.base import BaseEstimator
from sklearn.utils.validation import _check_sample_weight, validate_data

from dgme.estimators._scaling import Scaling

# With fewer held-out rows than this their score is too noisy to choose a round by.
MIN_HELD_OUT = 10


class TrainingRows(NamedTuple):
    X: Float64[np.ndarray, "n features"]
    y: Float64[np.ndarray, " n"]
    weight: Float64[np.ndarray, " n"]

    def take(self, rows: Int[np.ndarray, " m"]) -> "TrainingRows":
        return TrainingRows(*(part[rows] for part in self))


def check_rows(
    estimator: BaseEstimator, X, y, sample_weight, *, reset: bool, needed: int
) -> TrainingRows:
    """The rows of positive weight, of which `needed` must be there."""
    rows: Any = validate_data(
        estimator, X, y, reset=reset, dtype=np.float64, y_numeric=True, ensure_min_samples=2
    )
    X, y = rows
    if y.dtype.kind not in "fiub":
        raise ValueError(f"y must hold numbers, but has dtype {y.dtype}. Convert it first.")
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
    return TrainingRows(X[used], y[used].astype(np.float64), weight[used] / weight.max())


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


def standard_scalings(rows: TrainingRows) -> tuple[Scaling, Scaling]:
    """The units in which features and target have mean zero and variance one."""
    scalings = []
    for name, part in (("X", rows.X), ("y", rows.y)):
        scaling = Scaling.standard(part, rows.weight)
        if not scaling.usable:
            raise ValueError(
                f"{name} spans from {part.min()} to {part.max()}, which double precision "
                "cannot standardise. Look for values that stand for missing ones, or rescale."
            )
        scalings.append(scaling)
    return scalings[0], scalings[1]
