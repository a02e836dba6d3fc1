"""Densities of single laws over the target."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes

from dgme.plots._arguments import of_numbers, targets
from dgme.plots._style import (
    SHADE,
    TRUTH,
    axes_of,
    finish,
    next_color,
    percent,
)

_MOST_RIDGES = 12
_RIDGE = 0.85  # of the distance between two
_LEVELS = np.linspace(0.005, 0.995, 199)


def conditional_density(
    law,
    y,
    *,
    ax: Axes | None = None,
    truth=None,
    color: str | None = None,
    label: str = "predicted",
) -> Axes:
    """One law's density over the target, beside the true law's if that is known.

    Parameters
    ----------
    law : single law
    y : array
        The targets at which the density is drawn.
    ax : matplotlib axes, optional
        Without it, the present ones.
    truth : single law, optional
    color : str, optional
        Without it, the next that the axes do not have.
    label : str
    """
    if of_numbers(law).shape:
        raise ValueError(
            f"law holds {len(law)} laws, but this figure shows one: pass law[0], or use "
            "predictive_density"
        )
    ax, y = axes_of(ax), np.asarray(y, dtype=np.float64)
    if truth is not None:
        ax.fill_between(y, truth.pdf(y), color="#bbbbbb", alpha=0.6, lw=0, label="truth")
    ax.plot(y, law.pdf(y), color=color or next_color(ax), lw=1.8, label=label)
    ax.set_ylim(bottom=0)
    ax.set_ylabel("density")
    return ax


def predictive_density(
    law,
    y=None,
    *,
    ax: Axes | None = None,
    coverage: float = 0.9,
    rows: Sequence[object] | None = None,
    color: str | None = None,
    label: str = "predicted",
    legend: bool = True,
) -> Axes:
    """The densities of one law, or of a handful as ridges, with their highest-density regions.

    Ridges are equally high, to show their shapes; only a single law has an axis of densities.

    Parameters
    ----------
    law : single law, or an array of at most 12
    y : number, or one per law, optional
        The targets, each marked on its law.
    ax : matplotlib axes, optional
        Without it, the present ones.
    coverage : float
        What the shaded regions hold: the smallest sets, perhaps of several parts, that do.
    rows : names of the laws, optional
        Without them, they are numbered.
    color : str, optional
        Without it, the next that the axes do not have.
    label : str
    legend : bool
        Whether to draw a legend.
    """
    if of_numbers(law).shape and not 1 <= len(law) <= _MOST_RIDGES:
        raise ValueError(
            f"law must hold from 1 to {_MOST_RIDGES} laws to be drawn one by one, but holds "
            f"{len(law)}; pass a handful, such as law[:5], or use fan_chart or density_map"
        )
    y = None if y is None else np.atleast_1d(targets(law, y))
    ax = axes_of(ax)
    color = color or next_color(ax)
    laws = list(law) if law.shape else [law]
    if rows is not None and len(rows) != len(laws):
        raise ValueError(f"rows must name {len(laws)} laws, but names {len(rows)}: {list(rows)!r}")
    regions = law.hdr(coverage).reshape(len(laws), -1, 2)
    quantiles = law.ppf(_LEVELS.reshape(-1, *[1] * len(law.shape))).reshape(_LEVELS.size, -1)
    reach = quantiles if y is None else np.concatenate([quantiles, y[None]])
    margin = 0.02 * np.ptp(reach)
    even = np.linspace(reach.min() - margin, reach.max() + margin, 301)
    for number, (one, region) in enumerate(zip(laws, regions, strict=True)):
        floor = float(len(laws) - 1 - number)
        region = region[np.isfinite(region[:, 0])]
        # Quantiles resolve what is narrow.
        at = np.unique(np.concatenate([even, quantiles[:, number], region.ravel()]))
        density = one.pdf(at)
        unit = _RIDGE / density.max() if law.shape else 1.0
        heights = floor + unit * density
        for start, end in region:
            inside = (start <= at) & (at <= end)
            ax.fill_between(
                at[inside],
                floor,
                heights[inside],
                color=color,
                alpha=SHADE,
                lw=0,
                label=f"{percent(coverage)} region",
            )
        ax.plot(at, heights, color=color, lw=1.6, label=label)
        if y is not None:
            top = [floor, floor + (_RIDGE if law.shape else density.max())]
            ax.plot([y[number]] * 2, top, color=TRUTH, lw=1.6, label="truth")
    if law.shape:
        names = range(len(laws)) if rows is None else rows
        ax.set_yticks(np.arange(len(laws))[::-1], [str(name) for name in names])
        ax.tick_params(axis="y", length=0)
    else:
        ax.set_ylabel("density")
    finish(ax, legend=legend, bottom=0.0)
    return ax
