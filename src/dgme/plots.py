"""Figures of predictive laws. Every function draws into the `ax` it is given and returns it."""

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

COMPONENT_COLORS = ("#0b6e99", "#c4572e", "#5f8d3b", "#8a5aa8", "#b08c1a")


def density_map(law, x: np.ndarray, y_range: tuple[float, float], ax: Axes | None = None) -> Axes:
    """Shade the predictive density over the plane of one input and the target."""
    ax, (law, x) = _axes(ax), _along(law, x)
    y = np.linspace(*y_range, 400)
    # Densities are compared within a column: what is dark is likely there.
    density = law.logpdf(y[:, None])
    relative = np.exp(density - density.max(axis=0))
    ax.pcolormesh(
        x, y, relative, cmap="Greys", vmin=0, vmax=1.6, shading="gouraud", rasterized=True
    )
    return ax


def components(law, x: np.ndarray, ax: Axes | None = None, n_scales: float = 2.0) -> Axes:
    """Each component's mean, with a band of `n_scales` standard deviations, over one input."""
    ax, (law, x) = _axes(ax), _along(law, x)
    for k, color in zip(range(law.n_components), _cycle(law.n_components), strict=True):
        mean, scale, weight = law.means[:, k], law.scales[:, k], law.weights[0, k]
        ax.fill_between(
            x, mean - n_scales * scale, mean + n_scales * scale, color=color, alpha=0.18, lw=0
        )
        ax.plot(x, mean, color=color, lw=1.8, label=f"component {k}, weight {weight:.2f}")
    return ax


def band(
    law,
    x: np.ndarray,
    ax: Axes | None = None,
    coverage: float = 0.9,
    color: str = COMPONENT_COLORS[0],
    label: str = "predicted",
) -> Axes:
    """The mean, and the equal-tailed interval that holds `coverage`, over one input."""
    ax, (law, x) = _axes(ax), _along(law, x)
    ax.fill_between(x, *law.interval(coverage), color=color, alpha=0.18, lw=0)
    ax.plot(x, law.mean(), color=color, lw=1.8, label=label)
    return ax


def conditional_density(
    law, y: np.ndarray, ax: Axes | None = None, truth=None, label: str = "predicted"
) -> Axes:
    """One law's density over the target, beside the true law's if that is known."""
    ax = _axes(ax)
    if truth is not None:
        ax.fill_between(y, truth.pdf(y), color="#bbbbbb", alpha=0.6, lw=0, label="truth")
    ax.plot(y, law.pdf(y), color=COMPONENT_COLORS[0], lw=1.8, label=label)
    ax.set_ylim(bottom=0)
    return ax


def fan(
    law,
    x: np.ndarray,
    y: np.ndarray | None = None,
    ax: Axes | None = None,
    coverages: Sequence[float] = (0.5, 0.9),
) -> Axes:
    """Intervals of each coverage over one input or over dates, with the targets if known."""
    ax, x = _axes(ax), np.asarray(x)
    order = np.argsort(x, kind="stable")
    for coverage in sorted(coverages, reverse=True):
        ends = law.ppf(np.array([[0.5 - coverage / 2], [0.5 + coverage / 2]]))[:, order]
        ax.fill_between(
            x[order],
            *ends,
            color=COMPONENT_COLORS[0],
            alpha=0.45 - 0.3 * coverage,
            lw=0,
            label=f"{coverage:.0%} interval",
        )
    if y is not None:
        ax.plot(x[order], np.asarray(y)[order], color="black", lw=1.0, label="observed")
    return ax


def _along(law, x):
    """The laws in the order of their input."""
    x = np.asarray(x, dtype=np.float64)
    if x.shape not in ((len(law),), (len(law), 1)):
        raise ValueError(f"x must have shape ({len(law)},), one input per law, but has {x.shape}.")
    order = np.argsort(x.ravel(), kind="stable")
    return law[order], x.ravel()[order]


def _axes(ax: Axes | None) -> Axes:
    return plt.gca() if ax is None else ax


def _cycle(n: int) -> Sequence[str]:
    return [COMPONENT_COLORS[k % len(COMPONENT_COLORS)] for k in range(n)]
