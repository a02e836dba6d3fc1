"""Figures of predictive laws.

Every function draws into the axes that it is given, ``ax``, or else into the present ones, and
returns them; it leaves matplotlib's settings alone. A second call on the same axes takes the next
colour of ``PALETTE``, so that models can be compared. ``density_map``, ``components``, ``band`` and
``conditional_density`` are layers, over which one draws more: they label what they draw and leave
the legend to ``ax.legend()``.
"""

from dgme.plots._calibration import interval_reliability, pit_histogram, reliability
from dgme.plots._densities import conditional_density, predictive_density
from dgme.plots._displays import (
    IntervalReliabilityDisplay,
    PITDisplay,
    PredictiveDensityDisplay,
    ReliabilityDisplay,
    SharpnessDisplay,
    TrainingHistoryDisplay,
    UncertaintySplitDisplay,
)
from dgme.plots._histograms import entropy_histograms, kurtosis_histograms
from dgme.plots._planes import band, components, density_map, fan_chart
from dgme.plots._spread import sharpness, uncertainty_split
from dgme.plots._style import PALETTE
from dgme.plots._training import training_history, training_weights

__all__ = [
    "PALETTE",
    "IntervalReliabilityDisplay",
    "PITDisplay",
    "PredictiveDensityDisplay",
    "ReliabilityDisplay",
    "SharpnessDisplay",
    "TrainingHistoryDisplay",
    "UncertaintySplitDisplay",
    "band",
    "components",
    "conditional_density",
    "density_map",
    "entropy_histograms",
    "fan_chart",
    "interval_reliability",
    "kurtosis_histograms",
    "pit_histogram",
    "predictive_density",
    "reliability",
    "sharpness",
    "training_history",
    "training_weights",
    "uncertainty_split",
]
