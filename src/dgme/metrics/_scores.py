"""Proper scores of laws over numbers, and errors of their means and medians."""

from collections.abc import Sequence

import numpy as np

from dgme.distributions import CategoricalMixture
from dgme.metrics._forecasts import matched, of_numbers, weighted_mean


def rmse(forecast, y, *, sample_weight=None) -> float:
    """Root mean squared error of the law's mean."""
    law, y = of_numbers(forecast, y, "rmse")
    return float(np.sqrt(weighted_mean((law.mean() - y) ** 2, sample_weight)))


def mae(forecast, y, *, sample_weight=None) -> float:
    """Mean absolute error of the law's median, which is the best forecast for it."""
    law, y = of_numbers(forecast, y, "mae")
    return weighted_mean(np.abs(law.median() - y), sample_weight)


def nll(forecast, y, *, sample_weight=None) -> float:
    """Mean negative log density of the targets, of classes log probability, in nats.

    The density of a vector of targets is the joint one.
    """
    law, y = matched(forecast, y)
    log_p = law.logpmf if isinstance(law, CategoricalMixture) else law.logpdf
    return -weighted_mean(log_p(y), sample_weight)


def gaussian_nll(forecast, y, *, sample_weight=None) -> float:
    """Mean negative log density under the Gaussian with the law's mean and variance.

    The paper's main tables use it, to compare mixtures with methods that predict one Gaussian.
    """
    law, y = of_numbers(forecast, y, "gaussian_nll")
    return nll(law.to_gaussian(), y, sample_weight=sample_weight)


def crps(forecast, y, *, sample_weight=None) -> float:
    """Mean continuous ranked probability score."""
    law, y = of_numbers(forecast, y, "crps")
    return weighted_mean(law.crps(y), sample_weight)


def energy_score(forecast, y, *, sample_weight=None) -> float:
    """Mean energy score of vectors, the CRPS's generalisation that sees how targets depend.

    Of a `VectorGaussianMixture` it is a Monte Carlo estimate from 1000 pairs of draws with a fixed
    seed; its own ``energy_score`` has other numbers.
    """
    law, y = matched(forecast, y)
    if y.ndim != 2:
        raise TypeError("energy_score is one of vectors, y of shape (n, d); use crps for numbers")
    return weighted_mean(law.energy_score(y), sample_weight)


def pinball_loss(forecast, y, alpha: float | Sequence[float] = 0.5, *, sample_weight=None) -> float:
    """Mean pinball loss of the quantile at level `alpha`, or its mean over several levels.

    At one half it is half the absolute error.
    """
    law, y = of_numbers(forecast, y, "pinball_loss")
    levels = np.atleast_1d(np.asarray(alpha, dtype=np.float64))
    if levels.ndim != 1 or not levels.size or not ((levels > 0) & (levels < 1)).all():
        raise ValueError(f"alpha must hold levels strictly between 0 and 1, but is {alpha!r}.")
    losses = [np.where(y > x, q, q - 1) * (y - x) for q in levels for x in [law.ppf(q)]]
    return weighted_mean(np.mean(losses, axis=0), sample_weight)


def interval_score(forecast, y, confidence: float = 0.9, *, sample_weight=None) -> float:
    """Mean interval score of the equal-tailed interval (Winkler, 1972).

    It is the width, plus 2 / (1 - confidence) times the distance of the targets that lie outside.
    """
    law, y = of_numbers(forecast, y, "interval_score")
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must lie strictly between 0 and 1, but is {confidence!r}.")
    lower, upper = law.interval(confidence)
    outside = np.maximum(lower - y, 0) + np.maximum(y - upper, 0)
    return weighted_mean(upper - lower + 2 / (1 - confidence) * outside, sample_weight)
