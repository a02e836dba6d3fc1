"""One look for all figures, put on the axes that are drawn into and never on matplotlib itself."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_hex

# Okabe and Ito's, which the colour-blind can tell apart too.
PALETTE = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
TRUTH = "black"
REFERENCE = "#777777"
"""What a calibrated law would give."""
SHADE = 0.22
"""Opacity of areas, through which one sees what else is there."""


def axes_of(ax: Axes | None) -> Axes:
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt  # with axes at hand there is no need for its state

    return plt.gca()


def next_color(ax: Axes) -> str:
    """The first colour that no line of the axes has; every series has a line."""
    used = {to_hex(line.get_color()) for line in ax.lines}
    return next((color for color in PALETTE if color not in used), PALETTE[0])


def percent(share: float) -> str:
    return f"{100 * share:g}%"


def shows(ax: Axes, label: str) -> bool:
    """Whether something in the axes has this label, so that it need not be drawn again."""
    return label in ax.get_legend_handles_labels()[1]


def outline(ax: Axes, heights: np.ndarray, edges: np.ndarray, color: str, label: str) -> None:
    """A histogram through which others can be seen."""
    x, y = np.repeat(edges, 2)[1:-1], np.repeat(heights, 2)
    ax.fill_between(x, y, color=color, alpha=SHADE, lw=0)
    ax.plot(x, y, color=color, lw=1.8, label=label)


def legend_inside(ax: Axes) -> None:
    """A legend in the emptiest corner; for few points, since all are looked at."""
    ax.legend(*_unique(ax), loc="best", fontsize="small", frameon=False)


def finish(ax: Axes, *, legend: bool, bottom: float | None = None) -> None:
    """Begin the axes at the bottom, and make room for a legend above all that is drawn.

    Neither is done to limits that somebody has set.
    """
    free = ax.get_autoscaley_on()
    if free:
        ax.autoscale(axis="y")  # what an earlier legend took is given back
        if bottom is not None and (bottom > 0 or ax.get_yscale() != "log"):
            ax.set_ylim(bottom=bottom, auto=True)
    if not legend:
        return
    taken = _legend_of_full_width(ax) / ax.bbox.height
    if free:
        scale = ax.yaxis.get_transform()
        low, high = scale.transform(np.array(ax.get_ylim()))
        top = scale.inverted().transform(np.array([low + (high - low) / (1 - min(taken, 0.6))]))
        ax.set_ylim(top=float(top[0]), auto=True)


def _legend_of_full_width(ax: Axes) -> float:
    """The height of a legend of as many columns as there is room for."""
    handles, labels = _unique(ax)
    style: Any = {"loc": "upper center", "fontsize": "small", "frameon": False}
    style |= {"columnspacing": 1.2, "handlelength": 1.6, "handletextpad": 0.5}
    n_columns = len(labels)
    while True:
        extent = ax.legend(handles, labels, ncols=n_columns, **style).get_window_extent()
        if extent.width <= ax.bbox.width or n_columns == 1:
            return extent.height
        n_columns -= 1


def _unique(ax: Axes) -> tuple[list[Any], list[str]]:
    """What has a label, without repetitions."""
    handles, labels = ax.get_legend_handles_labels()
    first = {label: handle for handle, label in zip(handles[::-1], labels[::-1], strict=True)}
    kept = list(dict.fromkeys(labels))
    return [first[label] for label in kept], kept
