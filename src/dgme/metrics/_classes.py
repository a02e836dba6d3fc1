"""Scores of laws over classes; ``nll`` is one of them too."""

import numpy as np

from dgme.metrics._forecasts import as_weights, of_classes, weighted_mean


def brier(law, y, *, sample_weight=None) -> float:
    """Mean Brier score of the classes, from 0 to 2."""
    law, y = of_classes(law, y, "brier")
    return weighted_mean(law.brier(y), sample_weight)


def calibration_error(law, y, n_bins: int = 15, *, sample_weight=None) -> float:
    """Expected calibration error of the most probable class (Guo et al., 2017).

    Rows are put into ``n_bins`` bins by the probability of that class. The bins have equal width,
    and their upper ends belong to them. The result is the mean over rows of the distance, in the
    row's bin, between the mean probability and the share of rows that have the class.
    """
    if n_bins < 1:
        raise ValueError(f"n_bins must be at least 1, but it is {n_bins}; the paper's is 15")
    law, y = of_classes(law, y, "calibration_error")
    confidence = law.mean().max(axis=1)
    surplus = confidence - (law.mode() == y)
    bins = np.searchsorted(np.arange(1, n_bins) / n_bins, confidence)
    weight = as_weights(sample_weight, len(y))
    return float(np.abs(np.bincount(bins, weight * surplus)).sum())
