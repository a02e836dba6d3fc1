"""Laws that are known by draws."""

import numpy as np

from dgme.metrics._known_in_part import KnownInPart

# Entries of one temporary array: half a megabyte, which stays in the cache.
_BLOCK_ENTRIES = 2**16


class Samples(KnownInPart):
    """n laws, each known by m draws; see `metrics.from_samples`."""

    def __init__(self, samples, fair: bool = True) -> None:
        samples = np.asarray(samples, dtype=np.float64)
        if samples.ndim not in (2, 3) or not samples.shape[1]:
            raise ValueError(
                "samples must have shape (n, m), or (n, m, d) for vectors, with m draws for every "
                f"row, but has shape {samples.shape}."
            )
        if not np.isfinite(samples).all():
            raise ValueError("samples must be finite numbers. Drop the draws that are not.")
        self.samples, self.fair = samples, fair

    def __repr__(self) -> str:
        return f"Samples(shape={self.samples.shape}, fair={self.fair})"

    def mean(self) -> np.ndarray:
        """Mean of the draws."""
        return self.samples.mean(axis=1)

    def var(self) -> np.ndarray:
        """Variance of the draws, unbiased if they are fair."""
        return self.samples.var(axis=1, ddof=int(self._checked_fair()))

    def ppf(self, q) -> np.ndarray:
        """Quantiles: the shape of q, less a last axis of one, followed by that of the laws."""
        q = np.asarray(q, dtype=np.float64)
        if q.ndim and q.shape[1:] != (1,):
            raise ValueError(f"q must be a number or a column of them, but has shape {q.shape}.")
        return np.quantile(self.samples, q.reshape(q.shape[:1]), axis=1, method="weibull")

    def cdf(self, y) -> np.ndarray:
        """Share of draws up to y."""
        return (self.samples <= self._beside(y)).mean(axis=1)

    def pit(self, y) -> np.ndarray:
        """The rank of y among the draws, between 0 and 1; ties count half."""
        y = self._beside(y)
        rank = ((self.samples < y).sum(axis=1) + (self.samples <= y).sum(axis=1)) / 2
        return (rank + 0.5) / (self.samples.shape[1] + 1)

    def crps(self, y) -> np.ndarray:
        """Mean distance of draws to y less half the mean distance between draws, by sorting."""
        m = self.samples.shape[1]
        ascending = np.sort(self.samples, axis=1)
        # the gap above the i-th draw lies between i draws and the m - i others; gaps, unlike the
        # draws themselves, do not cancel far from zero
        steps = np.arange(1, m) * np.arange(m - 1, 0, -1)
        between = np.moveaxis(np.diff(ascending, axis=1), 1, -1) @ steps
        return np.abs(self.samples - self._beside(y)).mean(axis=1) - between / self._pairs()

    def energy_score(self, y) -> np.ndarray:
        """The same with Euclidean distances between vectors, by going through all pairs."""
        n, m, d = self.samples.shape
        between = np.empty(n)
        step = max(1, _BLOCK_ENTRIES // (m * d))
        for row, draws in enumerate(self.samples):
            cuts = range(0, m, step)
            far = [np.linalg.norm(draws[i : i + step, None] - draws, axis=-1).sum() for i in cuts]
            between[row] = sum(far) / 2
        distance = np.linalg.norm(self.samples - self._beside(y), axis=-1).mean(axis=1)
        return distance - between / self._pairs()

    def _pairs(self) -> int:
        """What sums over pairs of draws are divided by."""
        m = self.samples.shape[1]
        return m * (m - 1) if self._checked_fair() else m * m

    def _checked_fair(self) -> bool:
        if self.fair and self.samples.shape[1] < 2:
            raise ValueError(
                "one draw for every row tells nothing of the law's spread. Pass more samples, or "
                "fair=False, by which the draw itself is the forecast."
            )
        return self.fair

    def _beside(self, y) -> np.ndarray:
        return np.expand_dims(np.asarray(y, dtype=np.float64), 1)
