"""Predicted regions: for every row a union of intervals."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False, repr=False)
class Regions:
    """n regions, each a union of disjoint closed intervals.

    A number as index gives the intervals of one row, an array (m, 2); a slice, a mask or indices
    give regions.

    Examples
    --------
    >>> import numpy as np
    >>> regions = Regions(np.array([[[0.0, 1.0], [4.0, 6.0]], [[2.0, 3.0], [np.nan, np.nan]]]))
    >>> regions.contains([5.0, 5.0]), regions.size(), regions.n_intervals
    (array([ True, False]), array([3., 1.]), array([2, 1]))
    >>> regions[1]
    array([[2., 3.]])
    """

    intervals: np.ndarray
    """Their ends, ascending, (n, M, 2); rows of fewer than M intervals are padded with NaN."""

    def __len__(self) -> int:
        return len(self.intervals)

    def __getitem__(self, index):
        chosen = self.intervals[index]
        if chosen.ndim == 3:
            return Regions(chosen)
        if chosen.ndim == 2:
            return chosen[~np.isnan(chosen[:, 0])]
        raise IndexError("regions have one axis: index them with a number, a slice or a 1-d array")

    def __repr__(self) -> str:
        return f"Regions(n={len(self)}, n_intervals={self.n_intervals.max(initial=0)} at most)"

    @property
    def n_intervals(self) -> np.ndarray:
        """How many intervals the region of each row has, (n,)."""
        return (~np.isnan(self.intervals[..., 0])).sum(axis=1)

    def size(self) -> np.ndarray:
        """Total length of each row's intervals, (n,)."""
        return np.nansum(self.intervals[..., 1] - self.intervals[..., 0], axis=1)

    def contains(self, y) -> np.ndarray:
        """Whether each row's region holds its outcome; y of shape (n,), or (m, n) for several."""
        y = np.asarray(y, dtype=np.float64)
        if y.shape[-1:] != (len(self),):
            raise ValueError(
                f"y must have shape ({len(self)},), one outcome per region, or (m, {len(self)}), "
                f"but has shape {y.shape}."
            )
        lower, upper = np.moveaxis(self.intervals, -1, 0)
        return np.any((lower <= y[..., None]) & (y[..., None] <= upper), axis=-1)
