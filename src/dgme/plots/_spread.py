"""How wide laws are, beside their errors, and what their width is made of."""

from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter
from scipy.stats import gamma

from dgme.distributions import CategoricalMixture
from dgme.plots._arguments import along, rows_of, targets
from dgme.plots._consistency import CONFIDENCE
from dgme.plots._style import (
    PALETTE,
    REFERENCE,
    SHADE,
    axes_of,
    finish,
    next_color,
    percent,
)

_BARS = f"calibrated ({percent(CONFIDENCE)})"


def sharpness(
    law,
    y,
    *,
    ax: Axes | None = None,
    n_bins: int | None = None,
    color: str | None = None,
    label: str = "predicted",
    legend: bool = True,
) -> Axes:
    """Absolute errors of the mean over the predicted standard deviation, both on log scales.

    The line is the root mean squared error in bins of equally many rows; on the diagonal it is as
    large as predicted. All bins of a calibrated law lie on the grey bars in about 95 % of samples;
    these account for the tails of the laws.

    Parameters
    ----------
    law : array of n laws
    y : n numbers
        The targets.
    ax : matplotlib axes, optional
        Without it, the present ones.
    n_bins : int, optional
        Without it, 10, or fewer where that leaves less than 20 rows for each.
    color : str, optional
        Without it, the next that the axes do not have.
    label : str
    legend : bool
        Whether to draw a legend.
    """
    y, ax = targets(rows_of(law), y), axes_of(ax)
    if n_bins is None:
        n_bins = int(np.clip(len(y) // 20, 1, 10))
    if not 1 <= n_bins <= len(y):
        raise ValueError(f"n_bins must be from 1 to the number of rows, {len(y)}, but is {n_bins}")
    std, error, color = law.std(), np.abs(y - law.mean()), color or next_color(ax)
    bins = binned_errors(law, error, n_bins)
    ax.plot(std, error, ".", color=color, ms=5, alpha=0.4, mew=0, rasterized=len(y) > 2000)
    ax.vlines(bins.std, *bins.calibrated, color=REFERENCE, alpha=2 * SHADE, lw=4, label=_BARS)
    ends = np.array([std.min(), std.max()])
    ax.plot(ends, ends, color=REFERENCE, lw=1, ls="--")
    ax.plot(bins.std, bins.rmse, "o-", color=color, lw=1.8, ms=4, label=label)
    ax.set(xlabel="predicted standard deviation", ylabel="absolute error", xscale="log")
    ax.set_yscale("log")
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_locator(LogLocator(subs=(1, 2, 5), numticks=8))
        axis.set_major_formatter(StrMethodFormatter("{x:g}"))
        axis.set_minor_formatter(NullFormatter())
    finish(ax, legend=legend, bottom=min(bins.calibrated.min(), std.min()) / 5)
    return ax


class Bins(NamedTuple):
    """Root mean squares in bins of rows, by ascending standard deviation."""

    std: np.ndarray
    rmse: np.ndarray
    calibrated: np.ndarray
    """Between which the errors of calibrated laws lie, all bins at once."""


def binned_errors(law, error: np.ndarray, n_bins: int) -> Bins:
    variance = law.var()
    scatter = variance**2 * (law.kurtosis() + 2)  # variance of a squared error
    bins = np.array_split(np.argsort(variance, kind="stable"), n_bins)
    expected = np.array([variance[rows].mean() for rows in bins])
    found = np.array([np.mean(error[rows] ** 2) for rows in bins])
    # The gamma law with the mean and the variance that a bin's mean squared error has.
    shape = expected**2 / np.array([scatter[rows].mean() / len(rows) for rows in bins])
    tail = (1 - CONFIDENCE) / 2 / n_bins
    calibrated = gamma.ppf([[tail], [1 - tail]], shape, scale=expected / shape)
    return Bins(np.sqrt(expected), np.sqrt(found), np.sqrt(calibrated))


def uncertainty_split(
    law,
    x=None,
    *,
    ax: Axes | None = None,
    color: str | None = None,
    label: str = "predicted",
    legend: bool = True,
) -> Axes:
    """What the data cannot tell (aleatoric) beside what the model does not know (epistemic).

    Without inputs, a point per law: standard deviations, on the dashed line equal. Over inputs,
    variances as areas, which add up to the variance of the law. For classes both are entropies in
    nats: expected entropy and mutual information.

    Parameters
    ----------
    law : array of n laws
        Of numbers or of classes.
    x : n numbers or dates, optional
        The input of every law.
    ax : matplotlib axes, optional
        Without it, the present ones.
    color, label : str, optional
        Of the points.
    legend : bool
        Whether to draw a legend.
    """
    ax = axes_of(ax)
    if x is None:
        return _points(law, ax, color, label, legend)
    law, x = along(law, x)
    aleatoric, epistemic, unit = _split(law)
    areas = np.stack([np.zeros_like(aleatoric), aleatoric, aleatoric + epistemic])
    names = ("aleatoric: noise", "epistemic: not known")
    for name, shade, lower, upper in zip(names, PALETTE, areas[:-1], areas[1:], strict=False):
        ax.fill_between(x, lower, upper, color=shade, alpha=2 * SHADE, lw=0, label=name)
        ax.plot(x, upper, color=shade, lw=1.4)
    ax.set_ylabel(unit)
    finish(ax, legend=legend, bottom=0.0)
    return ax


def _points(law, ax: Axes, color: str | None, label: str, legend: bool) -> Axes:
    aleatoric, epistemic, unit = _split(law)
    if not isinstance(law, CategoricalMixture):
        aleatoric, epistemic, unit = np.sqrt(aleatoric), np.sqrt(epistemic), "standard deviation"
    color = color or next_color(ax)
    ax.plot(
        aleatoric,
        epistemic,
        ".",
        color=color,
        ms=7,
        alpha=0.5,
        mew=0,
        label=label,
        rasterized=len(law) > 2000,
    )
    reach = [0.0, min(aleatoric.max(), epistemic.max())]
    ax.plot(reach, reach, color=REFERENCE, lw=1, ls="--", label="equal")
    ax.set(xlabel=f"aleatoric {unit}", ylabel=f"epistemic {unit}")
    finish(ax, legend=legend, bottom=0.0)
    return ax


def _split(law) -> tuple[np.ndarray, np.ndarray, str]:
    if isinstance(law, CategoricalMixture):
        return law.expected_entropy(), law.mutual_information(), "entropy [nats]"
    rows_of(law)
    return law.aleatoric_variance(), law.epistemic_variance(), "variance"
