"""Laws that are known by some of their quantiles."""

import numpy as np

from dgme.metrics._known_in_part import KnownInPart

# Levels that differ by less are the same, like 0.05 and (1 - 0.9) / 2.
_SAME_LEVEL = 1e-9


class Quantiles(KnownInPart):
    """n laws, each known by its quantiles at the same m levels; see `metrics.from_quantiles`."""

    def __init__(self, levels, values) -> None:
        levels = np.asarray(levels, dtype=np.float64)
        values = np.asarray(values, dtype=np.float64)
        inside = (levels > 0) & (levels < 1)
        if levels.ndim != 1 or not levels.size or not inside.all() or (np.diff(levels) <= 0).any():
            raise ValueError(
                "levels must be an ascending list of numbers strictly between 0 and 1, but it is "
                f"{levels.tolist()}."
            )
        if values.ndim != 2 or values.shape[1] != len(levels):
            hint = " Pass values.T." if values.shape[:1] == levels.shape else ""
            raise ValueError(
                f"values must have shape (n, {len(levels)}), a column for each level, but has "
                f"shape {values.shape}.{hint}"
            )
        if not np.isfinite(values).all():
            raise ValueError("values must be finite numbers. Drop the rows that are not.")
        crossed = (np.diff(values, axis=1) < 0).any(axis=1)
        if crossed.any():
            raise ValueError(
                f"values must ascend in every row, but quantiles cross in {crossed.sum()} rows, "
                f"such as row {crossed.argmax()}. Sort them, numpy.sort(values, axis=1): that "
                "never makes them worse."
            )
        self.levels, self.values = levels, values
        middle = (levels[1:] + levels[:-1]) / 2
        self.shares = np.diff(middle, prepend=0.0, append=1.0)
        """The part of (0, 1) that is nearest to each level."""

    def __repr__(self) -> str:
        return f"Quantiles(shape=({len(self.values)},), levels={self.levels.tolist()})"

    def mean(self) -> np.ndarray:
        """Expectation, by the sum over levels."""
        return self.values @ self.shares

    def var(self) -> np.ndarray:
        """Variance, by the sum over levels; it lacks what is beyond the outermost ones."""
        return (self.values - self.mean()[:, None]) ** 2 @ self.shares

    def ppf(self, q) -> np.ndarray:
        """Quantiles, linear between those that are known: (n,) of a number, (k, n) of (k, 1)."""
        q = np.asarray(q, dtype=np.float64)
        if q.ndim and q.shape[1:] != (1,):
            raise ValueError(f"q must be a number or a column of them, but has shape {q.shape}.")
        low, high = self.levels[[0, -1]]
        unknown = ~((q >= low - _SAME_LEVEL) & (q <= high + _SAME_LEVEL))
        if unknown.any():
            raise ValueError(
                f"the quantiles that are known have levels from {low:g} to {high:g}, but level "
                f"{q[unknown][0]:g} is asked for. Ask for less, or forecast quantiles there."
            )
        shares = [np.interp(q, self.levels, one) for one in np.eye(len(self.levels))]
        return np.stack(shares, axis=-1).reshape(*q.shape[:1], -1) @ self.values.T

    def cdf(self, y) -> np.ndarray:
        """Probability of a value up to y, linear between quantiles: 0 below all and 1 above."""
        y = np.asarray(y, dtype=np.float64)[..., None]
        count = (self.values <= y).sum(axis=1, keepdims=True)
        left, right = (count - 1).clip(0), count.clip(max=len(self.levels) - 1)
        start, end = (np.take_along_axis(self.values, i, axis=1) for i in (left, right))
        part = np.where(end > start, y - start, 0) / np.where(end > start, end - start, 1)
        between = self.levels[left] * (1 - part) + self.levels[right] * part
        below, above = count == 0, y > self.values[:, -1:]
        return np.where(below, 0.0, np.where(above, 1.0, between))[:, 0]

    pit = cdf

    def crps(self, y) -> np.ndarray:
        """Twice the mean pinball loss of the quantiles of every row."""
        above = np.asarray(y, dtype=np.float64)[..., None] - self.values
        return 2 * np.maximum(self.levels * above, (self.levels - 1) * above) @ self.shares
