"""Whether laws hold what they promise, beside what chance does to a calibrated law.

The bands are simultaneous: if rows are independent, a calibrated law stays inside them everywhere
in 95 % of samples. One excursion is evidence.
"""

import numpy as np
from matplotlib.axes import Axes

from dgme.plots._arguments import rows_of, targets
from dgme.plots._consistency import CONFIDENCE, simultaneous_band
from dgme.plots._style import (
    REFERENCE,
    SHADE,
    axes_of,
    finish,
    legend_inside,
    next_color,
    outline,
    percent,
    shows,
)


def pit_histogram(
    law,
    y,
    *,
    ax: Axes | None = None,
    n_bins: int | None = None,
    color: str | None = None,
    label: str = "predicted",
    legend: bool = True,
) -> Axes:
    """Histogram of the probability integral transform, which is flat for a calibrated law.

    A valley says that laws are too narrow, a hill that they are too wide, a slope that they are
    biased. A calibrated law keeps all its bars in the shaded band in 95 % of samples.

    Parameters
    ----------
    law : array of n laws
        With a ``cdf``, so what `metrics.from_samples` gives will do.
    y : n numbers
        The targets.
    ax : matplotlib axes, optional
        Without it, the present ones.
    n_bins : int, optional
        Without it, 20, or fewer where that leaves less than ten rows for each.
    color : str, optional
        Without it, the next that the axes do not have.
    label : str
    legend : bool
        Whether to draw a legend.
    """
    u, ax = _transforms(law, y), axes_of(ax)
    if n_bins is None:
        n_bins = int(np.clip(len(u) // 10, 4, 20))
    if n_bins < 2:
        raise ValueError(f"n_bins must be at least 2, but it is {n_bins}; 20 is usual")
    counts, edges = np.histogram(u, n_bins, (0.0, 1.0))
    if not shows(ax, band := _name(len(u))):
        low, high = n_bins * simultaneous_band(len(u), n_bins, cumulative=False)
        ends = np.repeat(edges, 2)[1:-1]
        low, high = np.repeat(low, 2), np.repeat(high, 2)
        ax.fill_between(ends, low, high, color=REFERENCE, alpha=SHADE, lw=0, label=band)
        ax.axhline(1.0, color=REFERENCE, lw=1, ls="--")
    outline(ax, counts * n_bins / len(u), edges, color or next_color(ax), label)
    ax.set(xlabel="probability integral transform", ylabel="density", xlim=(0, 1))
    finish(ax, legend=legend, bottom=0.0)
    return ax


def reliability(
    law,
    y,
    *,
    ax: Axes | None = None,
    n_levels: int = 19,
    color: str | None = None,
    label: str = "predicted",
    legend: bool = True,
) -> Axes:
    """The share of targets below the quantile of each level, which is the level if calibrated.

    Parameters
    ----------
    law : array of n laws
        With a ``cdf``, so what `metrics.from_samples` gives will do.
    y : n numbers
        The targets.
    ax : matplotlib axes, optional
        Without it, the present ones.
    n_levels : int
        They divide the unit interval evenly.
    color : str, optional
        Without it, the next that the axes do not have.
    label : str
    legend : bool
        Whether to draw a legend.
    """
    ax = _shares_below(_transforms(law, y), axes_of(ax), n_levels, color, label, legend)
    ax.set(xlabel="level of the quantile", ylabel="share of targets below")
    return ax


def interval_reliability(
    law,
    y,
    *,
    ax: Axes | None = None,
    n_levels: int = 19,
    color: str | None = None,
    label: str = "predicted",
    legend: bool = True,
) -> Axes:
    """The share of targets in the equal-tailed interval of each coverage.

    Below the diagonal intervals are too narrow, above it too wide.

    Parameters
    ----------
    law : array of n laws
        With a ``cdf``, so what `metrics.from_samples` gives will do.
    y : n numbers
        The targets.
    ax : matplotlib axes, optional
        Without it, the present ones.
    n_levels : int
        Of coverage; they divide the unit interval evenly.
    color : str, optional
        Without it, the next that the axes do not have.
    label : str
    legend : bool
        Whether to draw a legend.
    """
    depth = np.abs(2 * _transforms(law, y) - 1)
    ax = _shares_below(depth, axes_of(ax), n_levels, color, label, legend)
    ax.set(xlabel="coverage of the interval", ylabel="share of targets inside")
    return ax


def _transforms(law, y) -> np.ndarray:
    """One number per row; uniform, all together, for a calibrated law."""
    u = rows_of(law).cdf(targets(law, y))
    if not len(u):
        raise ValueError("law and y must have at least one row, but have none")
    return u


def _shares_below(
    u: np.ndarray, ax: Axes, n_levels: int, color: str | None, label: str, legend: bool
) -> Axes:
    if n_levels < 1:
        raise ValueError(f"n_levels must be at least 1, but it is {n_levels}; 19 is usual")
    ends = np.linspace(0, 1, n_levels + 2)
    if not shows(ax, band := _name(len(u))):
        inner = simultaneous_band(len(u), n_levels + 1, cumulative=True)
        low, high = np.pad(inner, ((0, 0), (1, 1)), constant_values=((0, 0), (0, 1)))
        ax.fill_between(ends, low, high, color=REFERENCE, alpha=SHADE, lw=0, label=band)
        ax.plot(ends, ends, color=REFERENCE, lw=1, ls="--")
    shares = np.searchsorted(np.sort(u), ends[1:-1], side="right") / len(u)
    color = color or next_color(ax)
    ax.plot(ends[1:-1], shares, ".-", color=color, lw=1.8, ms=6, label=label)
    ax.set(xlim=(0, 1), ylim=(0, 1))
    if legend:
        legend_inside(ax)
    return ax


def _name(n: int) -> str:
    return f"calibrated, n = {n} ({percent(CONFIDENCE)})"
