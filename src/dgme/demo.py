"""The first run: a density with two branches, recovered with its weights."""

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from rich.console import Console
from rich.table import Table

from dgme import metrics, plots
from dgme.datasets import toy
from dgme.estimators import DGMERegressor

# Entropy of the true law, averaged over inputs: no model does better in expectation.
TRUE_ENTROPY = 2.908
SLICES = (-3.5, 1.0, 3.5)


class Spread(NamedTuple):
    """Mean standard deviations over some inputs: of the law, of its noise, of what is not known."""

    std: float
    aleatoric: float
    epistemic: float

    @classmethod
    def of(cls, law) -> "Spread":
        parts = law.var(), law.aleatoric_variance(), law.epistemic_variance()
        return cls(*(float(np.sqrt(part).mean()) for part in parts))


@dataclass(frozen=True)
class Demo:
    data: toy.Toy
    model: DGMERegressor
    weights: np.ndarray
    nll: float
    nll_of_truth: float
    coverage: float
    inside: Spread
    outside: Spread
    """Beyond the inputs that were trained on."""


def run(seed: int = 0, verbose: int = 0) -> Demo:
    """Fit the bimodal toy problem of the paper and measure the fit."""
    data = toy.load("bimodal", random_state=seed)
    # The branches cross at x = 0, where the components often change places, which is a local
    # optimum; restarts are cheap, since they are trained side by side.
    model = DGMERegressor(
        n_components=2,
        n_rounds=40,
        epochs_per_round=10,
        validation_fraction=None,
        n_init=16,
        epistemic="laplace",
        random_state=seed,
        verbose=verbose,
    ).fit(data.X, data.y)
    law = trained_law(model, data.X)
    # A branch is known by its slope: the upper one rises with x³.
    rises = (law.means * data.X**3).mean(axis=0)
    outside = toy.load("bimodal", outside=True, random_state=seed)
    return Demo(
        data=data,
        model=model,
        weights=model.weights_[np.argsort(-rises)],
        nll=metrics.nll(law, data.y),
        nll_of_truth=metrics.nll(data.law, data.y),
        coverage=metrics.coverage(law, data.y, 0.9),
        inside=Spread.of(model.predict_dist(data.X)),
        outside=Spread.of(model.predict_dist(outside.X)),
    )


def trained_law(model: DGMERegressor, X) -> Any:
    """What Algorithm 1 learned, without what Laplace's approximation adds to it."""
    return model.predict_dist(X, n_posterior_samples=0)


def show(demo: Demo, console: Console) -> None:
    true_coverage = metrics.coverage(demo.data.law, demo.data.y, 0.9)
    table = Table(title="Bimodal toy problem: y = ±x³ + noise, 800 rows")
    for name in ("quantity", "learned", "truth"):
        table.add_column(name, justify="left" if name == "quantity" else "right")
    for name, learned, truth in (
        *(
            (f"weight of branch {sign}x³", f"{weight:.3f}", f"{true:.3f}")
            for sign, weight, true in zip("+-", demo.weights, toy.BIMODAL_WEIGHTS, strict=True)
        ),
        ("negative log-likelihood, in sample", f"{demo.nll:.3f}", f"{demo.nll_of_truth:.3f}"),
        ("its expectation (entropy)", "", f"{TRUE_ENTROPY:.3f}"),
        ("share of targets in the 90 % interval", f"{demo.coverage:.1%}", f"{true_coverage:.1%}"),
        *_rows("|x| ≤ 4 (trained)", demo.inside),
        *_rows("4 ≤ |x| ≤ 5 (beyond)", demo.outside),
    ):
        table.add_row(name, learned, truth)
    console.print(table)


def _rows(where: str, spread: Spread) -> Iterator[tuple[str, str, str]]:
    yield f"mean predictive std, {where}", f"{spread.std:.2f}", ""
    yield "  of the noise (aleatoric)", f"{spread.aleatoric:.2f}", ""
    yield "  of what is not known (epistemic)", f"{spread.epistemic:.2f}", ""


def write(demo: Demo, folder: Path) -> list[Path]:
    """A picture, the predictions as CSV and the model, in `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    picture, predictions, model = (
        folder / name for name in ("demo.png", "predictions.csv", "model.dgme")
    )
    figure = draw(demo)
    figure.savefig(picture, dpi=150)
    plt.close(figure)
    _write_predictions(demo, predictions)
    demo.model.save(model)
    return [picture, predictions, model]


def draw(demo: Demo) -> Figure:
    figure = plt.figure(figsize=(11, 5.5), layout="constrained")
    grid = figure.add_gridspec(3, 2, width_ratios=(2, 1))
    main = figure.add_subplot(grid[:, 0])
    x = np.linspace(-5, 5, 401)
    law = trained_law(demo.model, x[:, None])
    y_range = (-150.0, 150.0)
    plots.density_map(law, x, y_range, ax=main)
    plots.components(law, x, ax=main)
    main.plot(
        demo.data.X[:, 0], demo.data.y, ".", color="black", ms=2, alpha=0.5, label="training data"
    )
    for edge in (-4, 4):
        main.axvline(edge, color="black", lw=0.8, ls=":")
    main.set(xlim=(-5, 5), ylim=y_range, xlabel="x", ylabel="y")
    main.set_title("Learned mixture; training inputs lie between the dotted lines", fontsize=11)
    main.legend(loc="upper center", fontsize=9)
    for row, at in enumerate(SLICES):
        ax = figure.add_subplot(grid[row, 1])
        truth = toy.bimodal_law(np.array([at]))[0]
        reach = abs(at) ** 3 + 12
        y = np.linspace(-reach, reach, 600)
        plots.conditional_density(trained_law(demo.model, [[at]])[0], y, ax=ax, truth=truth)
        ax.set_title(f"density of y at x = {at:g}", fontsize=10)
        ax.set_ylabel("")
        ax.tick_params(labelsize=8)
        if row == 0:
            ax.legend(fontsize=8, loc="upper center")
        if row == len(SLICES) - 1:
            ax.set_xlabel("y")
    return figure


def _write_predictions(demo: Demo, path: Path) -> None:
    law = trained_law(demo.model, demo.data.X)
    lower, upper = law.interval(0.9)
    columns = {
        "x": demo.data.X[:, 0],
        "y": demo.data.y,
        "mean": law.mean(),
        "std": law.std(),
        "lower_90": lower,
        "upper_90": upper,
        **{f"mean_{k}": law.means[:, k] for k in range(law.n_components)},
        **{f"std_{k}": law.scales[:, k] for k in range(law.n_components)},
    }
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(np.column_stack(list(columns.values())).round(6).tolist())
