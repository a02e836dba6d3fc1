"""Predicted laws as columns of a table."""

import os
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

# Laws times components that one thread turns into columns at a time.
_ENTRIES = 2**17


@dataclass(frozen=True)
class Columns:
    """What is written about every row."""

    quantiles: tuple[float, ...] = ()
    intervals: tuple[float, ...] = ()
    mixture: bool = False

    def of(self, law) -> dict[str, np.ndarray]:
        """The columns by name, computed by a thread for each core."""
        step = max(1, _ENTRIES // law.n_components)
        parts = [law[start : start + step] for start in range(0, len(law), step)]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            done = list(pool.map(self._of_part, parts))
        return {name: np.concatenate([part[name] for part in done]) for name in done[0]}

    def _of_part(self, law) -> dict[str, np.ndarray]:
        return dict(self._mixture(law) if self.mixture else self._summaries(law))

    def _mixture(self, law) -> Iterator[tuple[str, np.ndarray]]:
        weights = np.broadcast_to(law.weights, law.means.shape)
        for name, part in (("weight", weights), ("mean", law.means), ("scale", law.scales)):
            for k in range(law.n_components):
                yield f"{name}_{k}", part[:, k]

    def _summaries(self, law) -> Iterator[tuple[str, np.ndarray]]:
        at = self._quantiles(law)
        yield "mean", law.mean()
        yield "median", at[0.5]
        yield "std", law.std()
        yield "aleatoric_std", np.sqrt(law.aleatoric_variance())
        yield "epistemic_std", np.sqrt(law.epistemic_variance())
        for level in self.quantiles:
            yield f"quantile_{level}", at[level]
        for coverage in self.intervals:
            lower, upper = _ends(coverage)
            yield f"lower_{coverage}", at[lower]
            yield f"upper_{coverage}", at[upper]

    def _quantiles(self, law) -> Mapping[float, np.ndarray]:
        ends = [end for coverage in self.intervals for end in _ends(coverage)]
        levels = sorted({0.5, *self.quantiles, *ends})
        return dict(zip(levels, law.ppf(np.array(levels)[:, None]), strict=True))


def _ends(coverage: float) -> tuple[float, float]:
    """Levels of the ends of the interval with equal tails outside."""
    return (1 - coverage) / 2, (1 + coverage) / 2
