from typing import NamedTuple

import numpy as np
from jaxtyping import Float64


class Scaling(NamedTuple):
    """A change of units, `standardised = (raw - center) / scale`, in double precision."""

    center: Float64[np.ndarray, "..."]
    scale: Float64[np.ndarray, "..."]

    @classmethod
    def identity(cls, columns: tuple[int, ...] = ()) -> "Scaling":
        return cls(np.zeros(columns), np.ones(columns))

    @classmethod
    def standard(cls, rows: np.ndarray, weight: np.ndarray) -> "Scaling":
        """To mean zero and variance one over the weighted rows; constants only move to zero."""
        center = np.average(rows, axis=0, weights=weight)
        scale = np.sqrt(np.average((rows - center) ** 2, axis=0, weights=weight))
        # Rounding leaves a constant column with a tiny spread, which must not be blown up.
        constant = scale <= 10 * np.finfo(float).eps * np.abs(center)
        return cls(np.asarray(center), np.where(constant, 1.0, scale))

    def forward(self, rows: np.ndarray) -> np.ndarray:
        return (rows - self.center) / self.scale
