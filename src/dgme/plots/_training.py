"""The course of a training."""

from collections.abc import Mapping
from itertools import cycle

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from dgme.plots._style import PALETTE, SHADE, axes_of, finish, next_color


def training_history(
    history: Mapping[str, np.ndarray],
    *,
    ax: Axes | None = None,
    color: str | None = None,
    label: str | None = None,
    legend: bool = True,
) -> Axes:
    """Likelihoods of the training rows and of held-out rows after every round, or epoch.

    The one that predicts is marked: that with the best held-out score. Without held-out rows it is
    the last.

    Parameters
    ----------
    history : dict of arrays
        The ``history_`` of a fitted estimator.
    ax : matplotlib axes, optional
        Without it, the present ones.
    color : str, optional
        Without it, the next that the axes do not have.
    label : str, optional
        What was trained, if there are several.
    legend : bool
        Whether to draw a legend.
    """
    clock, number = _clock(history)
    ax, before = axes_of(ax), f"{label}: " if label else ""
    color = color or next_color(ax)
    training = history["log_likelihood"] if "log_likelihood" in history else -history["loss"]
    held_out = history["held_out_score"]
    chosen = len(number) - 1
    ax.plot(number, training, color=color, lw=1.2, ls=(0, (4, 2)), label=f"{before}training rows")
    if scored := bool(np.isfinite(held_out).any()):
        ax.plot(number, held_out, color=color, lw=1.8, label=f"{before}held-out rows")
        chosen = int(np.nanargmax(held_out))
    ax.plot(
        number[chosen],
        (held_out if scored else training)[chosen],
        "o",
        color=color,
        ms=7,
        label=f"{before}{clock} {number[chosen]} predicts",
    )
    _label(ax, clock, "mean log-likelihood [nats]")
    finish(ax, legend=legend)
    return ax


def training_weights(
    history: Mapping[str, np.ndarray], *, ax: Axes | None = None, legend: bool = True
) -> Axes:
    """The mixture weights after every round, as shares of one.

    Parameters
    ----------
    history : dict of arrays
        The ``history_`` of an estimator fitted by EM.
    ax : matplotlib axes, optional
        Without it, the present ones.
    legend : bool
        Whether to draw a legend.
    """
    clock, number = _clock(history)
    weights = [column for name, column in history.items() if name.startswith("weight_")]
    if not weights:
        raise ValueError(
            "history holds no weights, which only methods that are trained by EM learn, such as "
            f"DGMERegressor; it has the columns {list(history)}"
        )
    ax, upper = axes_of(ax), np.cumsum(weights, axis=0)
    for k, color in zip(range(len(weights)), cycle(PALETTE), strict=False):
        lower = upper[k] - weights[k]
        ax.fill_between(number, lower, upper[k], color=color, alpha=2 * SHADE, lw=0)
        ax.plot(number, upper[k], color=color, lw=1.4, label=f"component {k}")
    _label(ax, clock, "mixture weight")
    ax.set_yticks(np.linspace(0, 1, 6))
    finish(ax, legend=legend, bottom=0.0)
    return ax


def _clock(history: Mapping[str, np.ndarray]) -> tuple[str, np.ndarray]:
    for clock in ("round", "epoch"):
        if clock in history:
            return clock, np.asarray(history[clock])
    raise ValueError(
        "history must be the history_ of a fitted estimator, with a column 'round' or 'epoch', but "
        f"has the columns {list(history)}"
    )


def _label(ax: Axes, clock: str, quantity: str) -> None:
    ax.set(xlabel=clock, ylabel=quantity)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
