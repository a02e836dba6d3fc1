"""Figures of the ablations, each drawn from fits of its own."""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np

from dgme import plots
from dgme.estimators import DGMERegressor
from dgme.paper.settings import Ablations
from dgme.paper.toy_figures import GRID, panels, show_data
from dgme.paper.toy_methods import Methods, Problem


def rounds(settings: Ablations, seed: int):
    return _bands(
        settings,
        seed,
        {f"J = {j}": {"n_rounds": j} for j in settings.rounds_shown},
    )


def dropout(settings: Ablations, seed: int):
    dropout = {"dropout": settings.dropout_shown}
    adversarial = {"dropout": 0.0, "adversarial_eps": settings.adversarial_eps}
    return _bands(
        settings,
        seed,
        {
            "neither": {"dropout": 0.0},
            "dropout": dropout,
            "adversarial": adversarial,
            "both": adversarial | dropout,
        },
    )


def kurtosis(settings: Ablations, seed: int):
    s = settings
    found = np.array(
        [
            [
                _median_kurtosis(Problem.draw("heavy_tailed", s.toy, seed, run), s, k)
                for run in range(s.kurtosis_runs)
            ]
            for k in s.kurtosis_components
        ]
    )
    figure, ax = plt.subplots(figsize=(11, 5), layout="constrained")
    color = plots.PALETTE[0]
    ax.plot(s.kurtosis_components, found, "o", color=color, alpha=0.35)
    ax.plot(s.kurtosis_components, np.median(found, axis=1), color=color, lw=2)
    ax.set(xlabel="number of components K", ylabel="excess kurtosis", xticks=s.kurtosis_components)
    ax.set_ylim(bottom=min(0.0, 1.1 * found.min()))
    return figure


def components(settings: Ablations, seed: int):
    s = settings.toy
    problem = Problem.draw("bimodal", s, seed)
    figure, axes = panels(len(settings.components_shown))
    for ax, k in zip(axes, settings.components_shown, strict=True):
        model = Methods(s, k).dgme(
            epochs_per_round=s.our_epochs,
            n_rounds=s.n_epochs // s.our_epochs,
            n_init=s.bimodal_restarts,
        )
        law = _whole(problem.fit(model))
        show_data(ax, problem.train, signs=(1, -1))
        plots.components(law, GRID, ax=ax, n_scales=2.576)
        ax.set_title(f"K = {k}")
    return figure


def _bands(settings: Ablations, seed: int, changes: dict[str, dict[str, Any]]):
    problem = Problem.draw("gaussian", settings.toy, seed)
    methods = Methods.of(settings.toy, "gaussian")
    figure, axes = panels(len(changes))
    for ax, (title, changed) in zip(axes, changes.items(), strict=True):
        model = problem.fit(methods.dgme(**changed))
        show_data(ax, problem.train)
        plots.band(model.predict_dist(GRID[:, None]), GRID, ax=ax, coverage=0.99)
        ax.set_title(title)
    return figure


def _median_kurtosis(problem: Problem, settings: Ablations, k: int) -> float:
    model = problem.fit(Methods(settings.toy, k).dgme())
    law = model.predict_dist(problem.inside.X, n_posterior_samples=0)
    return float(np.median(law.kurtosis()))


def _whole(model: DGMERegressor):
    """The law of the whole networks, whose components can be drawn one by one."""
    return model.predict_dist(GRID[:, None], n_posterior_samples=0)
