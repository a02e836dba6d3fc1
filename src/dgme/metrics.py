"""Scores of predictive laws, in the units of the target.

Laws of vectors are scored target by target, but for ``nll``; a score is the mean over rows and
targets.
"""

import numpy as np

from dgme.distributions import CategoricalMixture, VectorGaussianMixture


def _target(y, law) -> np.ndarray:
    """The targets, one per law: a column would be scored against every law."""
    y = np.asarray(y, dtype=np.float64)
    if isinstance(law, VectorGaussianMixture):
        shape, every = (len(law), law.n_targets), f"the {law.n_targets} targets of a law in a row"
        hint = " Pass y.T." if y.T.shape == shape else ""
    else:
        shape, every = (len(law),), "one target per law"
        hint = " Pass y.ravel()." if y.size == len(law) else ""
    if y.shape != shape:
        raise ValueError(f"y must have shape {shape}, {every}, but has shape {y.shape}.{hint}")
    return y


def rmse(law, y) -> float:
    """Root mean squared error of the law's mean."""
    if isinstance(law, CategoricalMixture):
        raise TypeError("rmse is no score of classes, whose numbers have no size; use brier")
    return float(np.sqrt(np.mean((law.mean() - _target(y, law)) ** 2)))


def nll(law, y) -> float:
    """Mean negative log density of the targets, of classes log probability, in nats.

    The density of a vector of targets is the joint one.
    """
    log_p = law.logpmf if isinstance(law, CategoricalMixture) else law.logpdf
    return float(-np.mean(log_p(_target(y, law))))


def gaussian_nll(law, y) -> float:
    """Mean negative log density under the Gaussian with the law's mean and variance.

    The paper's main tables use it, to compare mixtures with methods that predict one Gaussian.
    """
    return nll(law.to_gaussian(), y)


def crps(law, y) -> float:
    """Mean continuous ranked probability score."""
    return float(np.mean(law.crps(_target(y, law))))


def coverage(law, y, confidence: float = 0.9) -> float:
    """Share of targets inside the equal-tailed interval."""
    y = _target(y, law)
    lower, upper = law.interval(confidence)
    return float(np.mean((lower <= y) & (y <= upper)))


def quantile_calibration_error(law, y, n_levels: int = 99) -> float:
    """Mean distance between a level and the share of targets below that quantile.

    The levels divide the unit interval evenly. For a calibrated law and n targets chance alone
    gives about 0.3 / √n.
    """
    if n_levels < 1:
        raise ValueError(f"n_levels must be at least 1, but it is {n_levels}")
    levels = np.arange(1, n_levels + 1) / (n_levels + 1)
    pit = np.sort(law.cdf(_target(y, law)), axis=0).reshape(len(law), -1)
    below = np.stack([np.searchsorted(column, levels, side="right") for column in pit.T])
    return float(np.abs(below / len(pit) - levels).mean())


def brier(law, y) -> float:
    """Mean Brier score of the classes, from 0 to 2."""
    return float(np.mean(law.brier(_target(y, law))))


def calibration_error(law, y, n_bins: int = 15) -> float:
    """Expected calibration error of the most probable class (Guo et al., 2017).

    Rows are put into ``n_bins`` bins by the probability of that class. The bins have equal width,
    and their upper ends belong to them. The result is the mean over rows of the distance, in the
    row's bin, between the mean probability and the share of rows that have the class.
    """
    if n_bins < 1:
        raise ValueError(f"n_bins must be at least 1, but it is {n_bins}; the paper's is 15")
    y = _target(y, law)
    confidence = law.mean().max(axis=1)
    surplus = confidence - (law.mode() == y)
    bins = np.searchsorted(np.arange(1, n_bins) / n_bins, confidence)
    return float(np.abs(np.bincount(bins, surplus)).sum() / len(y))
