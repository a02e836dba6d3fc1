"""Figures of the toy regression, each drawn from fits of its own."""

from collections.abc import Callable, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from dgme import plots
from dgme.datasets import toy
from dgme.distributions import GaussianMixture
from dgme.paper.settings import Toy
from dgme.paper.toy_methods import Methods, Problem

GRID = np.linspace(-5, 5, 201)
# Readable on a phone.
_TYPE: dict[Any, Any] = {"font.size": 13, "axes.titlesize": 14, "legend.fontsize": 11}


def drawn(figure: Callable[..., Any], *arguments) -> Any:
    with plt.rc_context(_TYPE):
        return figure(*arguments)


def gaussian(settings: Toy, seed: int):
    problem, models = _trained("gaussian", settings, seed)
    figure, axes = panels(len(models))
    for ax, (name, model) in zip(axes, models.items(), strict=True):
        show_data(ax, problem.train)
        plots.band(model.predict_dist(GRID[:, None]), GRID, ax=ax, coverage=0.99)
        ax.set_title(name)
    return figure


def heavy_tailed(settings: Toy, seed: int):
    _, models = _trained("heavy_tailed", settings, seed)
    figure, axes = plt.subplots(
        2, len(models), figsize=(11, 5.5), sharex="row", sharey="row", layout="constrained"
    )
    truth: Any = toy.heavy_tailed_law(np.zeros(1))
    inputs = {"inside": settings.train_input, "beyond": settings.test_input}
    for row, (where, x) in zip(axes, inputs.items(), strict=True):
        noises = {
            name: model.sample_y([[x]], settings.histogram_samples, random_state=seed)[0] - x**3
            for name, model in models.items()
        }
        reach = max(np.quantile(np.abs(noise), 0.9995) for noise in noises.values())
        edges = np.linspace(-reach, reach, 61)
        for ax, (name, noise) in zip(row, noises.items(), strict=True):
            plots.kurtosis_histograms({name: noise}, ax=ax, bins=edges, truth=truth, legend=False)
            ax.set(title=ax.lines[0].get_label(), ylabel="")
        row[0].set_ylabel(f"{where}, x = {x:g}")
    for ax in axes[-1]:
        ax.set_xlabel("y − x³")
    return figure


def bimodal(settings: Toy, seed: int):
    s = settings
    rounds = s.n_epochs // s.our_epochs
    problem, models = _trained(
        "bimodal",
        s,
        seed,
        epochs_per_round=s.our_epochs,
        n_rounds=rounds,
        n_init=s.bimodal_restarts,
    )
    del models["MCD"]
    figure, axes = panels(len(models))
    for ax, (name, model) in zip(axes, models.items(), strict=True):
        show_data(ax, problem.train, signs=(1, -1))
        law, k = model.predict_dist(GRID[:, None]), s.n_components_bimodal
        components = sorted((component(law, number, k) for number in range(k)), key=lambda c: -c[0])
        for weight, part in components:
            plots.band(part, GRID, ax=ax, coverage=0.99, label=f"weight {weight:.2f}")
        ax.set_title(name)
        ax.legend(loc="upper center")
    return figure


def _trained(case: str, settings: Toy, seed: int, **changes) -> tuple[Problem, dict[str, Any]]:
    """All methods, after equally many epochs; the changes are DGME's."""
    problem, methods = Problem.draw(case, settings, seed), Methods.of(settings, case)
    models = {
        "MDN": methods.mdn(settings.n_epochs),
        "MCD": methods.mcd(settings.n_epochs),
        "DE": methods.de(settings.n_epochs),
        "DGME": methods.dgme(**changes),
    }
    return problem, {name: problem.fit(model) for name, model in models.items()}


def panels(n: int) -> tuple[Any, Sequence[Axes]]:
    """Axes in a row for the plane of the input and the target."""
    figure, axes = plt.subplots(1, n, figsize=(11, 5), sharey=True, layout="constrained")
    for ax in axes:
        ax.set(xlim=(-5, 5), ylim=(-150, 150), xlabel="x")
        for edge in (-4, 4):
            ax.axvline(edge, color="black", lw=0.8, ls=":")
    axes[0].set_ylabel("y")
    return figure, list(axes)


def show_data(ax: Axes, data: toy.Toy, signs: Sequence[int] = (1,)) -> None:
    """The rows, and the true mean of each branch."""
    ax.plot(data.X[:, 0], data.y, ".", color="black", ms=2, alpha=0.4, rasterized=True)
    for sign in signs:
        ax.plot(GRID, sign * GRID**3, color="black", lw=1, ls="--")


def component(
    law: GaussianMixture, number: int, n_components: int
) -> tuple[float, GaussianMixture]:
    """A component's law over all samples of the posterior, and its mean weight in training range.

    Laws list their components sample by sample.
    """
    weights, means, scales = (
        part[:, number::n_components] for part in (law.weights, law.means, law.scales)
    )
    whole = weights.sum(axis=1, keepdims=True)
    return whole[np.abs(GRID) <= 4].mean(), GaussianMixture(weights / whole, means, scales)
