"""Whether laws hold as many targets as they promise, and how wide they are for it."""

import numpy as np

from dgme.metrics._forecasts import as_law, as_weights, of_numbers, weighted_mean
from dgme.metrics._quantiles import Quantiles


def pit(forecast, y) -> np.ndarray:
    """Probability integral transform of every target: uniform if the laws are calibrated.

    It is the distribution function at the target, of samples the target's rank.
    """
    law, y = of_numbers(forecast, y, "pit")
    return getattr(law, "pit", law.cdf)(y)


def coverage(forecast, y, confidence: float = 0.9, *, sample_weight=None) -> float:
    """Share of targets inside the equal-tailed interval."""
    law, y = of_numbers(forecast, y, "coverage")
    lower, upper = law.interval(confidence)
    return weighted_mean((lower <= y) & (y <= upper), sample_weight)


def mean_width(forecast, confidence: float = 0.9, *, sample_weight=None) -> float:
    """Mean width of the equal-tailed interval: of two forecasts that cover, the narrower wins."""
    lower, upper = as_law(forecast).interval(confidence)
    return weighted_mean(upper - lower, sample_weight)


def sharpness(forecast, *, sample_weight=None) -> float:
    """Root mean predicted variance; of calibrated forecasts it is the RMSE to expect."""
    return float(np.sqrt(weighted_mean(as_law(forecast).var(), sample_weight)))


def quantile_calibration_error(forecast, y, n_levels: int = 99, *, sample_weight=None) -> float:
    """Mean distance between a level and the share of targets below that quantile.

    The levels divide the unit interval evenly; quantiles that are given as such are judged at their
    own. For a calibrated law and n targets chance alone gives about 0.3 / √n.
    """
    law, y = of_numbers(forecast, y, "quantile_calibration_error")
    levels = law.levels if isinstance(law, Quantiles) else _evenly(n_levels)
    return _distance(pit(law, y), levels, sample_weight)


def interval_calibration_error(forecast, y, n_levels: int = 99, *, sample_weight=None) -> float:
    """Mean distance between a level and the share of targets in that equal-tailed interval.

    Unlike the error of quantiles it does not see on which side of the interval targets lie. The
    levels are as there.
    """
    law, y = of_numbers(forecast, y, "interval_calibration_error")
    levels = _evenly(n_levels)
    if isinstance(law, Quantiles):
        outer = 1 - 2 * max(law.levels[0], 1 - law.levels[-1])
        widths = np.unique(np.abs(1 - 2 * law.levels).round(9))
        levels = widths[(widths > 0) & (widths <= outer + 1e-9)]
        if not len(levels):
            raise ValueError(
                f"quantiles at {law.levels.tolist()} enclose no interval with equal tails. "
                "Forecast them on both sides of the median, or use quantile_calibration_error."
            )
    # the level of the narrowest interval that holds the target, where rounding is to decide nothing
    return _distance(np.abs(2 * pit(law, y) - 1).round(12), levels.round(12), sample_weight)


def _evenly(n_levels: int) -> np.ndarray:
    if n_levels < 1:
        raise ValueError(f"n_levels must be at least 1, but it is {n_levels}")
    return np.arange(1, n_levels + 1) / (n_levels + 1)


def _distance(values: np.ndarray, levels: np.ndarray, sample_weight) -> float:
    """Mean distance between levels and the shares of values up to them, column by column."""
    weight = as_weights(sample_weight, len(values))
    distances = []
    for column in values.reshape(len(values), -1).T:
        order = np.argsort(column)
        shares = np.append(0.0, np.cumsum(weight[order]))
        up_to = shares[np.searchsorted(column[order], levels, side="right")]
        distances.append(np.abs(up_to - levels).mean())
    return float(np.mean(distances))
