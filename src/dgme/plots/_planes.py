"""Laws over one input: layers for one pair of axes, and the fan chart, which is whole."""

from collections.abc import Sequence
from itertools import cycle

import numpy as np
from matplotlib.axes import Axes
from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

from dgme.plots._arguments import along, are_dates, inputs, rows_of, targets
from dgme.plots._style import (
    PALETTE,
    SHADE,
    TRUTH,
    axes_of,
    finish,
    next_color,
    percent,
)

_OUTERMOST = np.array([[0.001], [0.999]])


def density_map(
    law, x, y_range: tuple[float, float] | None = None, *, ax: Axes | None = None
) -> Axes:
    """Shade the predictive density over the plane of one input and the target.

    Densities are compared within a column: what is dark is likely there.

    Parameters
    ----------
    law : array of n laws
    x : n numbers
        The input of every law.
    y_range : (low, high), optional
        The targets that are shown; without it, all but a thousandth at either end of every law.
    ax : matplotlib axes, optional
        Without it, the present ones.
    """
    ax, (law, x) = axes_of(ax), along(law, x)
    if y_range is None:
        outermost = law.ppf(_OUTERMOST)
        y_range = outermost.min(), outermost.max()
    y = np.linspace(*y_range, 400)
    density = law.logpdf(y[:, None])
    relative = np.exp(density - density.max(axis=0))
    ax.pcolormesh(
        x, y, relative, cmap="Greys", vmin=0, vmax=1.6, shading="gouraud", rasterized=True
    )
    return ax


def components(law, x, *, ax: Axes | None = None, n_scales: float = 2.0) -> Axes:
    """Each component's mean, with a band of `n_scales` standard deviations, over one input.

    Its label tells a component's mean weight over the laws.

    Parameters
    ----------
    law : array of n laws
        Of the trained parameters alone, ``predict_dist(X, n_posterior_samples=0)``; otherwise every
        posterior sample of a component is one more.
    x : n numbers or dates
        The input of every law.
    ax : matplotlib axes, optional
        Without it, the present ones.
    n_scales : float
    """
    ax, (law, x) = axes_of(ax), along(law, x)
    for k, color in zip(range(law.n_components), cycle(PALETTE), strict=False):
        mean, reach = law.means[:, k], n_scales * law.scales[:, k]
        ax.fill_between(x, mean - reach, mean + reach, color=color, alpha=SHADE, lw=0)
        label = f"component {k}, weight {law.weights[:, k].mean():.2f}"
        ax.plot(x, mean, color=color, lw=1.8, label=label)
    return ax


def band(
    law,
    x,
    *,
    ax: Axes | None = None,
    coverage: float = 0.9,
    color: str | None = None,
    label: str = "predicted",
) -> Axes:
    """The mean, and the equal-tailed interval that holds `coverage`, over one input.

    Parameters
    ----------
    law : array of n laws
    x : n numbers or dates
        The input of every law.
    ax : matplotlib axes, optional
        Without it, the present ones.
    coverage : float
    color : str, optional
        Without it, the next that the axes do not have.
    label : str
    """
    ax, (law, x) = axes_of(ax), along(law, x)
    color = color or next_color(ax)
    ax.fill_between(x, *law.interval(coverage), color=color, alpha=SHADE, lw=0)
    ax.plot(x, law.mean(), color=color, lw=1.8, label=label)
    return ax


def fan_chart(
    law,
    x,
    y=None,
    *,
    ax: Axes | None = None,
    coverages: Sequence[float] = (0.5, 0.9),
    color: str | None = None,
    legend: bool = True,
) -> Axes:
    """Medians, and equal-tailed intervals of each coverage, over one input or over dates.

    Parameters
    ----------
    law : array of n laws
        Quantiles are all that it must have, so what `metrics.from_quantiles` gives will do.
    x : n numbers or dates
        The input of every law.
    y : n numbers, optional
        The targets, with NaN where they are not known yet. Over dates they are joined.
    ax : matplotlib axes, optional
        Without it, the present ones.
    coverages : numbers between 0 and 1
    color : str, optional
        Without it, the next that the axes do not have.
    legend : bool
        Whether to draw a legend.
    """
    ax, x = axes_of(ax), inputs(rows_of(law), x)
    color, order = color or next_color(ax), np.argsort(x, kind="stable")
    x = x[order]
    for coverage in sorted(coverages, reverse=True):
        levels = np.array([[0.5 - coverage / 2], [0.5 + coverage / 2]])
        ax.fill_between(
            x,
            *law.ppf(levels)[:, order],
            color=color,
            alpha=0.45 - 0.3 * coverage,
            lw=0,
            label=f"{percent(coverage)} interval",
        )
    ax.plot(x, law.ppf(0.5)[order], color=color, lw=1.4, label="median")
    if y is not None:
        joined = "-" if are_dates(x) else "."
        y = targets(law, y, missing=True)[order]
        ax.plot(x, y, joined, color=TRUTH, lw=1.0, ms=3, label="observed")
    if are_dates(x):
        locator = AutoDateLocator(maxticks=8)
        ax.xaxis.set_major_locator(locator)
        ax.xaxis.set_major_formatter(ConciseDateFormatter(locator))
    finish(ax, legend=legend)
    return ax
