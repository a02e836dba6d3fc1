"""Scores of predictive laws, in the units of the target."""

import numpy as np


def _target(y, law) -> np.ndarray:
    """The targets, one per law: a column would be scored against every law."""
    y = np.asarray(y, dtype=np.float64)
    if y.shape != (len(law),):
        raise ValueError(
            f"y must have shape ({len(law)},), one target per law, but has shape {y.shape}."
            + (" Pass y.ravel()." if y.size == len(law) else "")
        )
    return y


def rmse(law, y) -> float:
    """Root mean squared error of the law's mean."""
    return float(np.sqrt(np.mean((law.mean() - _target(y, law)) ** 2)))


def nll(law, y) -> float:
    """Mean negative log density of the targets, in nats."""
    return float(-np.mean(law.logpdf(_target(y, law))))


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
