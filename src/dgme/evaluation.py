"""All scores of predictive laws at once, each with a bootstrap interval, for tables of any length.

Every score is a function of means over rows. Rows are added up in at most 4096 groups: a row has a
group of its own until there are that many, and later rows join one at random. Groups are then
resampled instead of rows, so that neither time nor memory of the bootstrap grows with the table,
and for up to 4096 rows it is the usual bootstrap of rows.
"""

import os
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float64, Int
from scipy import stats

from dgme._finite import finite
from dgme.distributions import GaussianMixture, VectorGaussianMixture

COVERAGES = (0.5, 0.8, 0.9, 0.95)
CONFIDENCE = 0.95
_N_GROUPS = 4096
# The probability integral transform is counted between the percentiles.
_LEVELS = np.arange(1, 100) / 100
# Rows times components whose quantiles and CRPS take some seconds.
_COSTLY_BUDGET = 2_000_000
# Rows times components that one thread takes at once.
_THREAD_ENTRIES = 2**18


class Estimate(NamedTuple):
    """A score, and the ends of its 95 % bootstrap interval over rows."""

    value: float
    lower: float
    upper: float

    def __str__(self) -> str:
        return f"{self.value:.4g} ({self.lower:.4g} to {self.upper:.4g})"


@dataclass(frozen=True)
class IntervalScores:
    """Scores of the equal-tailed intervals of one coverage."""

    coverage: float
    """What the intervals promise to hold."""
    covered: Estimate
    """The share of targets that they do hold."""
    width: Estimate
    score: Estimate
    """Width plus 2 / (1 - coverage) times the distance to a target outside; less is better."""


@dataclass(frozen=True)
class Evaluation:
    """Scores of predictive laws on rows whose targets are known."""

    n_rows: int
    n_costly_rows: int
    """Rows, drawn at random, behind MAE, CRPS and interval scores: all unless they are many."""
    rmse: Estimate
    mae: Estimate
    """Mean absolute error of the law's median, which is the best forecast for it."""
    bias: Estimate
    """Mean of the law's mean minus the target."""
    log_score: Estimate
    """Mean log density of the targets, in nats; more is better."""
    gaussian_log_score: Estimate
    """The same of the Gaussians with the laws' means and variances."""
    shape_gain: Estimate
    """What the shapes of the laws add: the former minus the latter, row by row."""
    crps: Estimate
    calibration_error: Estimate
    """Mean distance, over the percentiles, of the share of targets below from its level."""
    calibration_p_value: float
    """Of the Kolmogorov-Smirnov test at the percentiles that the laws are calibrated."""
    intervals: tuple[IntervalScores, ...]
    pit_counts: tuple[int, ...]
    """How many targets lie between successive percentiles of their laws, 100 numbers."""

    @property
    def chance_calibration_error(self) -> float:
        """What the calibration error of the true laws would be on average over as many rows."""
        return float(np.sqrt(np.pi / 32 / self.n_rows))

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, lists and dictionaries, as JSON knows them."""

        def plain(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
            return {
                name: value._asdict()
                if isinstance(value, Estimate)
                else list(value)
                if isinstance(value, tuple)
                else value
                for name, value in pairs
            }

        return asdict(self, dict_factory=plain)

    def __str__(self) -> str:
        scores = {
            name: getattr(self, name)
            for name in ("rmse", "mae", "bias", "log_score", "gaussian_log_score", "crps")
        }
        for interval in self.intervals:
            inside = f"{interval.coverage:.0%} interval"
            scores |= {f"{inside}: covered": interval.covered, f"{inside}: width": interval.width}
        scores["calibration_error"] = self.calibration_error
        lines = [f"{name.replace('_', ' '):<23} {score}" for name, score in scores.items()]
        return "\n".join([f"{self.n_rows} rows, 95 % bootstrap intervals", *lines])


def evaluate(
    law,
    y,
    *,
    coverages: Sequence[float] = COVERAGES,
    n_bootstrap: int = 1000,
    random_state: int = 0,
) -> Evaluation:
    """Score one law per row. `Evaluator` takes rows that come in parts.

    Where laws times components exceed two million, the scores that need quantiles or pairs of
    components come from so many rows drawn at random; `n_costly_rows` tells.

    Examples
    --------
    >>> import numpy as np
    >>> from dgme import GaussianMixture
    >>> law = GaussianMixture([1.0], np.zeros((1000, 1)), np.ones((1000, 1)))
    >>> scores = evaluate(law, law.rvs(random_state=0))
    >>> bool(scores.rmse.lower < 1 < scores.rmse.upper)
    True
    """
    y = _targets(law, y)
    share = costly_share(len(law), law.n_components)
    evaluator = Evaluator(coverages, share=share, random_state=random_state)
    evaluator.add(law, y)
    return evaluator.evaluation(n_bootstrap)


def costly_share(n_rows: int, n_components: int) -> float:
    """The share of rows whose quantiles can be had in seconds."""
    return min(1.0, _COSTLY_BUDGET / max(1, n_rows * n_components))


class Evaluator:
    """Adds up the scores of rows that come in parts, in memory that does not grow with them.

    ``share`` of the rows, drawn at random, are scored by MAE, CRPS, widths and interval scores,
    which cost a hundred times as much as the others.
    """

    def __init__(
        self,
        coverages: Sequence[float] = COVERAGES,
        *,
        share: float = 1.0,
        random_state: int = 0,
    ) -> None:
        if not len(coverages) or not all(0 < coverage < 1 for coverage in coverages):
            raise ValueError(
                f"coverages must lie strictly between 0 and 1, but are {tuple(coverages)}; "
                "90 % is 0.9"
            )
        if not 0 < share <= 1:
            raise ValueError(f"share must be above 0 and at most 1, but it is {share}")
        self._coverages = np.array(sorted(coverages), dtype=np.float64)
        self._share = share
        choices, self._resampling = np.random.SeedSequence(random_state).spawn(2)
        self._rng = np.random.default_rng(choices)
        self._n_rows = 0
        n_cheap, n_costly = 4 + len(self._coverages), 2 + 2 * len(self._coverages)
        self._cheap = np.zeros((_N_GROUPS, 1 + n_cheap))
        self._costly = np.zeros((_N_GROUPS, 1 + n_costly))
        self._pit = np.zeros((_N_GROUPS, len(_LEVELS) + 1))

    def add(self, law, y) -> None:
        """Score the next rows: one law and one target for each."""
        y = _targets(law, y)
        step = max(1, _THREAD_ENTRIES // law.n_components)
        parts = [slice(start, start + step) for start in range(0, len(y), step)]
        chosen = self._rng.random(len(y)) < self._share
        groups = self._groups(len(y))

        def scored(part: slice):
            costly = chosen[part]
            return (
                *_cheap_scores(law[part], y[part], self._coverages),
                _costly_scores(law[part][costly], y[part][costly], self._coverages),
            )

        for part, (cheap, pit, costly) in zip(parts, _in_threads(scored, parts), strict=True):
            group = groups[part]
            _add_up(self._cheap, group, cheap)
            _add_up(self._costly, group[chosen[part]], costly)
            np.add.at(self._pit, (group, np.searchsorted(_LEVELS, pit)), 1)

    def evaluation(self, n_bootstrap: int = 1000) -> Evaluation:
        """The scores of all rows so far."""
        if n_bootstrap < 1:
            raise ValueError(f"n_bootstrap must be at least 1, but it is {n_bootstrap}; 1000 do")
        used = min(self._n_rows, _N_GROUPS)
        if not self._costly[:, 0].any():
            raise ValueError(f"there are too few rows to score: {self._n_rows}; add some")
        rng = np.random.default_rng(self._resampling)
        draws = rng.multinomial(used, np.full(used, 1 / used), size=n_bootstrap)
        counts = np.vstack([np.ones(used), draws])
        cheap, costly, pit = (
            counts @ table[:used] for table in (self._cheap, self._costly, self._pit)
        )
        with np.errstate(invalid="ignore"):  # a resample may hold no row of the random share
            squares, bias, log_score, gaussian, *covered = _means(cheap)
            absolute, crps, *interval_scores = _means(costly)
        below = pit.cumsum(axis=1)[:, :-1] / cheap[:, :1]
        misses = np.abs(below - _LEVELS)
        widths, scores = np.split(np.array(interval_scores), 2)
        return Evaluation(
            n_rows=self._n_rows,
            n_costly_rows=int(self._costly[:, 0].sum()),
            rmse=_estimate(np.sqrt(squares)),
            mae=_estimate(absolute),
            bias=_estimate(bias),
            log_score=_estimate(log_score),
            gaussian_log_score=_estimate(gaussian),
            shape_gain=_estimate(log_score - gaussian),
            crps=_estimate(crps),
            calibration_error=_estimate(misses.mean(axis=1), least=0.0),
            calibration_p_value=float(stats.kstwo.sf(misses[0].max(), self._n_rows)),
            intervals=tuple(
                IntervalScores(float(coverage), *map(_estimate, columns))
                for coverage, *columns in zip(self._coverages, covered, widths, scores, strict=True)
            ),
            pit_counts=tuple(map(int, pit[0])),
        )

    def _groups(self, n: int) -> Int[np.ndarray, " n"]:
        own = np.arange(self._n_rows, self._n_rows + n)
        self._n_rows += n
        return np.where(own < _N_GROUPS, own, self._rng.integers(_N_GROUPS, size=n))


def _targets(law, y) -> Float64[np.ndarray, " n"]:
    if isinstance(law, VectorGaussianMixture):
        raise TypeError(
            f"law must be of one target, but it is of {law.n_targets}; pass one at a time, "
            "law.marginal(j) with y[:, j]"
        )
    if not isinstance(law, GaussianMixture):
        raise TypeError(
            f"law must be a GaussianMixture, but it is a {type(law).__name__}; for classes there "
            "are dgme.metrics.nll, brier and calibration_error"
        )
    y = np.asarray(y, dtype=np.float64)
    if y.shape != (len(law),):
        raise ValueError(
            f"y must have shape ({len(law)},), one target per law, but has shape {y.shape}"
            + ("; pass y.ravel()" if y.size == len(law) else "")
        )
    return finite(y)


def _cheap_scores(law: GaussianMixture, y, coverages):
    """A row of scores for each law, and its probability integral transform."""
    mean, pit = law.mean(), law.cdf(y)
    errors, densities = mean - y, (law.logpdf(y), law.to_gaussian().logpdf(y))
    covered = np.abs(2 * pit - 1) <= coverages[:, None]
    return np.stack([errors**2, errors, *densities, *covered]), pit


def _costly_scores(law: GaussianMixture, y, coverages):
    """Error of the median, CRPS, the widths of all intervals, and their interval scores."""
    if not len(y):
        return np.empty((2 + 2 * len(coverages), 0))
    lower, upper = law.interval(coverages[:, None])
    outside = np.maximum(lower - y, 0) + np.maximum(y - upper, 0)
    width = upper - lower
    scores = width + 2 / (1 - coverages[:, None]) * outside
    return np.vstack([np.abs(law.median() - y), law.crps(y), width, scores])


def _in_threads(work, parts: list[slice]) -> Iterable[Any]:
    """The scores of all parts in order; NumPy computes in several threads at once."""
    if len(parts) == 1:
        return map(work, parts)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(work, parts))


def _add_up(table: np.ndarray, groups: np.ndarray, columns: np.ndarray) -> None:
    """Add rows to the sums of their groups; the first column counts them."""
    for j, column in enumerate([np.ones(len(groups)), *columns]):
        table[:, j] += np.bincount(groups, column, minlength=_N_GROUPS)


def _means(sums: Float64[np.ndarray, "B columns"]) -> Float64[np.ndarray, "scores B"]:
    return (sums[:, 1:] / sums[:, :1]).T


def _estimate(replicates: Float64[np.ndarray, " B"], least: float = -np.inf) -> Estimate:
    """The first is the estimate; the others are moved so that their mean is, which unbiases them.

    A distance that is small by chance grows with the noise that resampling adds.
    """
    value, others = replicates[0], replicates[1:]
    tails = np.nanquantile(others, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    lower, upper = value + tails - np.nanmean(others)
    return Estimate(float(value), max(float(lower), least), float(upper))
