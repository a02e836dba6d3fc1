"""Histograms of several methods in one picture."""

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from scipy.stats import kurtosis

from dgme.plots._style import TRUTH, axes_of, finish, next_color, outline


def kurtosis_histograms(
    samples: Mapping[str, np.ndarray],
    *,
    ax: Axes | None = None,
    bins: int | np.ndarray = 60,
    truth=None,
    legend: bool = True,
) -> Axes:
    """Densities of draws on a log scale, which shows the tails, with their excess kurtosis.

    Parameters
    ----------
    samples : dict of arrays
        Draws of every method, such as ``model.sample_y(X[:1], 10_000)[0]``.
    ax : matplotlib axes, optional
        Without it, the present ones.
    bins : int or array
        Their number, over all but the outermost thousandth of the draws, or their edges.
    truth : single law, optional
        The law that the draws should have.
    legend : bool
        Whether to draw a legend.
    """
    ax, values = axes_of(ax), _values("samples", samples)
    ends = np.quantile(np.concatenate(list(values.values())), [0.0005, 0.9995])
    edges = np.histogram_bin_edges(ends, bins)
    for name, drawn in values.items():
        counts, _ = np.histogram(drawn, edges)
        heights = counts / len(drawn) / np.diff(edges)
        outline(ax, heights, edges, next_color(ax), f"{name}, κ = {kurtosis(drawn):.1f}")
    if truth is not None:
        ax.plot(edges, truth.pdf(edges), color=TRUTH, lw=1, label="truth")
    ax.set_yscale("log")
    ax.set_ylabel("density")
    finish(ax, legend=legend)
    return ax


def entropy_histograms(
    entropies: Mapping[str, np.ndarray],
    *,
    ax: Axes | None = None,
    bins: int | np.ndarray = 33,
    legend: bool = True,
) -> Axes:
    """Shares of rows by predictive entropy, and triangles at the means.

    What is not like the training rows should have more of it.

    Parameters
    ----------
    entropies : dict of arrays
        Of every set of rows, ``law.entropy()``, or of classes also ``law.component_entropy()``.
    ax : matplotlib axes, optional
        Without it, the present ones.
    bins : int or array
        Their number, over all entropies, or their edges.
    legend : bool
        Whether to draw a legend.
    """
    ax, values = axes_of(ax), _values("entropies", entropies)
    edges = np.histogram_bin_edges(np.concatenate(list(values.values())), bins)
    for name, found in values.items():
        color = next_color(ax)
        outline(ax, np.histogram(found, edges)[0] / len(found), edges, color, name)
        on_axis = {"transform": ax.get_xaxis_transform(), "clip_on": False, "zorder": 3}
        ax.plot(found.mean(), 0, "^", color=color, ms=9, mec="white", **on_axis)
    ax.set(xlabel="predictive entropy [nats]", ylabel="share of rows")
    finish(ax, legend=legend, bottom=0.0)
    return ax


def _values(argument: str, given: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    if not given:
        raise ValueError(f"{argument} must hold an array for at least one name, but is empty")
    values = {name: np.asarray(array, dtype=np.float64) for name, array in given.items()}
    for name, array in values.items():
        if array.ndim != 1 or not array.size or not np.isfinite(array).all():
            raise ValueError(
                f"{argument}[{name!r}] must be an array (n,) of finite numbers, but has shape "
                f"{array.shape} and {(~np.isfinite(array)).sum()} that are not finite"
            )
    return values
