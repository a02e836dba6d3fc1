from typing import NamedTuple

import numpy as np
from jaxtyping import Float64

# Networks compute in single precision, where larger numbers would overflow.
LARGEST = 1e12


class Scaling(NamedTuple):
    """A change of units, `standardised = (raw - center) / scale`, in double precision."""

    center: Float64[np.ndarray, "..."]
    scale: Float64[np.ndarray, "..."]

    @classmethod
    def identity(cls, columns: tuple[int, ...] = ()) -> "Scaling":
        return cls(np.zeros(columns), np.ones(columns))

    @classmethod
    @np.errstate(over="ignore", invalid="ignore")  # the result tells whether it is `usable`
    def standard(cls, rows: np.ndarray, weight: np.ndarray) -> "Scaling":
        """To mean zero and variance one over the weighted rows; constants only move to zero."""
        # Relative to the first row and the largest distance from it, nothing cancels, overflows or
        # underflows, and a constant is exactly zero.
        first = rows[0]
        offsets = rows - first
        reach = np.abs(offsets).max(axis=0)
        constant = reach <= 10 * np.finfo(float).eps * np.abs(first)
        unit = np.where(constant, 1.0, reach)
        relative = offsets / unit
        mean = np.average(relative, axis=0, weights=weight)
        spread = np.sqrt(np.average((relative - mean) ** 2, axis=0, weights=weight))
        return cls(first + unit * mean, np.where(constant, 1.0, unit * spread))

    @property
    def usable(self) -> bool:
        return bool(np.isfinite(self.center).all() and (self.scale > 0).all()) and bool(
            np.isfinite(self.scale).all()
        )

    def forward(self, rows: np.ndarray) -> np.ndarray:
        scaled = rows - self.center
        # In place: a large table is copied once, not three times.
        scaled /= self.scale
        return np.clip(scaled, -LARGEST, LARGEST, out=scaled)
