"""What may be scored: laws, (mean, std), quantiles and samples, all made laws in one place."""

from typing import Any

import numpy as np

from dgme._finite import finite
from dgme.distributions import CategoricalMixture, GaussianMixture, VectorGaussianMixture
from dgme.metrics._quantiles import Quantiles
from dgme.metrics._samples import Samples


def from_std(mean, std) -> GaussianMixture | VectorGaussianMixture:
    """Gaussian laws of these means and standard deviations, arrays (n,), or (n, d) for vectors."""
    mean, std = np.asarray(mean, dtype=np.float64), np.asarray(std, dtype=np.float64)
    if mean.ndim not in (1, 2) or mean.shape != std.shape:
        raise ValueError(
            "mean and std must have the same shape, (n,) or (n, d), but have the shapes "
            f"{mean.shape} and {std.shape}. Use numpy.broadcast_to if the std is shared."
        )
    if not (std > 0).all():
        raise ValueError(
            f"std must be positive, but its smallest is {std.min()}. Rows without any "
            "spread have no density: add the noise, or score the means alone."
        )
    kind = GaussianMixture if mean.ndim == 1 else VectorGaussianMixture
    return kind([1.0], mean[:, None], std[:, None])


def from_quantiles(levels, values) -> Quantiles:
    """Laws that are known by their quantiles alone.

    Parameters
    ----------
    levels : array (m,)
        Ascending, strictly between 0 and 1.
    values : array (n, m)
        For every row the quantile at each level, ascending. An interval is two quantiles: ends
        that should hold 90 % have the levels 0.05 and 0.95.

    Notes
    -----
    The distribution function is linear between quantiles. Of the tails beyond them nothing is
    known, so levels there are refused. ``crps`` is twice the pinball loss, averaged over the levels
    with the share of (0, 1) that is nearest to each: it is proper for quantiles, as the score of
    an interpolated law would not be, and goes to the CRPS as levels get dense. ``mean`` and ``var``
    average over the levels in the same way.

    Examples
    --------
    >>> from dgme import metrics
    >>> forecast = metrics.from_quantiles([0.1, 0.5, 0.9], [[-1.0, 0.0, 1.0], [0.0, 2.0, 3.0]])
    >>> metrics.coverage(forecast, [0.5, 4.0], 0.8)
    0.5
    """
    return Quantiles(levels, values)


def from_samples(samples, *, fair: bool = True) -> Samples:
    """Laws that are known by draws alone.

    Parameters
    ----------
    samples : array (n, m), or (n, m, d) for vectors
        m draws for every row.
    fair : bool
        Whether the draws stand for the law that they came from. Then ``crps`` and ``energy_score``
        estimate those of that law without a bias, whatever m is. Otherwise the draws themselves,
        with equal weights, are the forecast, whose score is larger; that of one draw is its
        absolute error.

    Notes
    -----
    ``ppf`` puts the i-th of m ascending draws at the level i / (m + 1) and ``pit`` is (r + 1/2) /
    (m + 1) if r draws are smaller, so that intervals and PITs of draws from the true law are
    calibrated for every m; levels beyond those of the extreme draws give these.

    Examples
    --------
    >>> import numpy as np
    >>> from dgme import metrics
    >>> draws = np.random.default_rng(0).normal(size=(3, 1000))
    >>> round(metrics.crps(metrics.from_samples(draws), [0.0, 0.0, 0.0]), 2)
    0.24
    """
    return Samples(samples, fair)


def as_law(forecast) -> Any:
    """The forecast as a law, if it is one of those that this room scores."""
    if isinstance(forecast, tuple) and len(forecast) == 2:
        return from_std(*forecast)
    if hasattr(forecast, "predict_dist"):
        raise TypeError(
            f"forecast is the estimator {type(forecast).__name__}; pass the laws that it predicts, "
            "predict_dist(X)"
        )
    if not any(hasattr(forecast, verb) for verb in ("cdf", "logpdf", "logpmf")):
        raise TypeError(
            f"forecast must be a law, as predict_dist(X) returns it, or a tuple (mean, std), but "
            f"it is a {type(forecast).__name__}; of arrays say what they hold by "
            "metrics.from_quantiles(levels, values) or metrics.from_samples(samples)"
        )
    return forecast


def as_targets(y, law) -> np.ndarray:
    """The targets, one per law: a column would be scored against every law."""
    of_classes = isinstance(law, CategoricalMixture)
    try:
        y = np.asarray(y, dtype=np.float64)
    except ValueError as error:
        hint = " Classes are told by number: numpy.searchsorted(model.classes_, y)."
        raise ValueError(f"y must hold numbers, but {error}.{hint if of_classes else ''}") from None
    shape = law.shape if of_classes else np.shape(law.mean())
    if y.shape == shape:
        return finite(y)
    every, hint = "one target per law", ""
    if len(shape) == 2:
        every = f"the {shape[1]} targets of a law in a row"
        hint = " Pass y.T." if y.T.shape == shape else ""
    elif y.size == np.prod(shape):
        hint = " Pass y.ravel()."
    if isinstance(law, Samples) and y.shape[:1] == law.samples.shape[1:2]:
        hint = f" samples has shape {law.samples.shape}: is it the transposed of (n, m)?"
    raise ValueError(f"y must have shape {shape}, {every}, but has shape {y.shape}.{hint}")


def matched(forecast, y) -> tuple[Any, np.ndarray]:
    """The forecast as a law, and one target for each."""
    law = as_law(forecast)
    return law, as_targets(y, law)


def of_numbers(forecast, y, score: str) -> tuple[Any, np.ndarray]:
    """The same for a score that makes no sense for classes."""
    if isinstance(forecast, CategoricalMixture):
        raise TypeError(f"{score} is no score of classes, whose numbers have no size; use brier")
    return matched(forecast, y)


def of_classes(law, y, score: str) -> tuple[CategoricalMixture, np.ndarray]:
    """The same for a score that makes sense for classes alone."""
    if not isinstance(law, CategoricalMixture):
        raise TypeError(
            f"{score} is a score of classes, a CategoricalMixture, but law is a "
            f"{type(law).__name__}; use crps"
        )
    return law, as_targets(y, law)


def weighted_mean(of_rows, sample_weight) -> float:
    """The mean over rows, and over targets if there are several."""
    of_rows = np.asarray(of_rows)
    if sample_weight is None and of_rows.size:
        return float(of_rows.mean())
    weight = as_weights(sample_weight, len(of_rows))
    return float(weight @ of_rows.reshape(len(weight), -1).mean(axis=1))


def as_weights(sample_weight, n: int) -> np.ndarray:
    """Weights of n rows that sum to one; equal ones without any given."""
    if not n:
        raise ValueError("there are no rows to score; pass at least one law and its target")
    if sample_weight is None:
        return np.full(n, 1 / n)
    weight = np.asarray(sample_weight, dtype=np.float64)
    if weight.shape != (n,) or not (weight >= 0).all() or not 0 < weight.sum() < np.inf:
        raise ValueError(
            f"sample_weight must hold {n} numbers, one per row, that are finite, not negative and "
            f"not all zero, but has shape {weight.shape} and sums to {weight.sum()}."
        )
    return weight / weight.sum()
