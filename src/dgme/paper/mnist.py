"""The supplement's table of entropies: classifiers on digits, on a digit that they never saw, and
on clothes, with scores that the paper lacks beside it.

Every run trains every method anew. Scores are mean ± standard deviation over runs.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from types import MappingProxyType
from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np
from jaxtyping import Float32, Float64
from matplotlib.figure import Figure as Drawing
from sklearn.metrics import roc_auc_score

from dgme import metrics, plots
from dgme.datasets import mnist
from dgme.datasets.mnist import Images
from dgme.distributions import CategoricalMixture
from dgme.estimators import (
    DeepEnsembleClassifier,
    DGMEClassifier,
    MCDropoutClassifier,
    MDNClassifier,
)
from dgme.nn import MLP
from dgme.paper.experiment import Figure, Result, Task
from dgme.paper.settings import MNIST
from dgme.paper.tables import Cell, ResultTable, published

Classifier = MDNClassifier | MCDropoutClassifier | DeepEnsembleClassifier | DGMEClassifier

UNKNOWN_DIGIT = 4
METHODS = ("MDN", "MCD", "DE", "DGME")
KNOWN, UNKNOWN, CLOTHES = SETS = ("MNIST (Known)", "MNIST (Unknown)", "Fashion-MNIST")

SCORES: Mapping[str, Callable[[CategoricalMixture, np.ndarray], float]] = MappingProxyType(
    {
        "error rate": lambda law, y: float(np.mean(law.mode() != y)),
        "NLL": metrics.nll,
        "Brier score": metrics.brier,
        "calibration error": metrics.calibration_error,
    }
)
# By what a row may be taken for unknown; the first is what the paper averages.
SIGNS: Mapping[str, Callable] = MappingProxyType(
    {
        "average entropy": CategoricalMixture.component_entropy,
        "entropy of the average": CategoricalMixture.entropy,
        "mutual information": CategoricalMixture.mutual_information,
    }
)


class Sets(NamedTuple):
    """Images of digits with the numbers of their classes among those known, and other images."""

    train: Images
    test: Images
    unknown: Float32[np.ndarray, "fours 784"]
    clothes: Float32[np.ndarray, "images 784"]


@cache
def load() -> Sets:
    """All in one unit: pixels of the digits that are trained on have mean zero and variance one."""
    train, test = known_digits(mnist.load()), mnist.load(train=False)
    center, scale = train.X.mean(), train.X.std()

    def units(X: np.ndarray) -> np.ndarray:
        return (X - center) / scale

    known = known_digits(test)
    return Sets(
        train._replace(X=units(train.X)),
        known._replace(X=units(known.X)),
        units(test.X[test.y == UNKNOWN_DIGIT]),
        units(mnist.load_fashion().X),
    )


def known_digits(images: Images) -> Images:
    X, y = (part[images.y != UNKNOWN_DIGIT] for part in images)
    return Images(X, y - (y > UNKNOWN_DIGIT))


def classifier(method: str, s: MNIST, random_state: int) -> Classifier:
    shared = {
        # Given whole, it drops hidden units alone in MC dropout as well: all methods, one network.
        "network": MLP(s.hidden_sizes, dropout=0.0 if method == "DE" else s.dropout),
        "learning_rate": s.learning_rate,
        "batch_size": s.batch_size,
        # With a unit for each, pixels that are hardly ever bright in digits would dwarf all others.
        "standardize": False,
        "validation_fraction": None,
        "random_state": random_state,
    }
    k = s.n_components
    match method:
        case "MDN":
            return MDNClassifier(n_components=k, epochs=s.epochs, **shared)
        case "MCD":
            return MCDropoutClassifier(weight_decay=s.weight_decay, epochs=s.epochs, **shared)
        case "DE":
            return DeepEnsembleClassifier(n_members=k, epochs=s.epochs, **shared)
        case _:
            shared |= {"n_rounds": s.rounds, "epochs_per_round": s.epochs // s.rounds}
            return DGMEClassifier(n_components=k, **shared)


class Outcome(NamedTuple):
    scores: Mapping[str, float]
    entropies: Mapping[str, Float64[np.ndarray, " images"]]


@cache
def outcome(s: MNIST, seed: int, method: str, run: int) -> Outcome:
    """What a method makes of all sets in a run; kept, for the figure shows that of the first."""
    sets, rng = load(), np.random.default_rng((seed, run))
    order = rng.permutation(len(sets.train.y))[: s.train_rows]
    clothes = rng.permutation(len(sets.clothes))[: s.rows]
    train = Images(*(part[order] for part in sets.train))
    model = classifier(method, s, int(rng.integers(2**31))).fit(*train)
    # The paper draws a component and a pass M times. Here every component has its share of the M
    # passes and counts by its weight: the same mean, with less noise.
    passes = max(1, s.passes // (s.n_components if method == "DGME" else 1))
    law = partial(model.predict_dist, n_posterior_samples=passes)
    on_test, on_unknown, on_clothes = map(law, (sets.test.X, sets.unknown, sets.clothes[clothes]))
    entropies = {
        name: of.component_entropy()
        for name, of in zip(SETS, (law(train.X[: s.rows]), on_unknown, on_clothes), strict=True)
    }
    scores = {name: float(entropy.mean()) for name, entropy in entropies.items()}
    scores |= {name: score(on_test, sets.test.y) for name, score in SCORES.items()}
    for name, of in ((UNKNOWN, on_unknown), (CLOTHES, on_clothes)):
        scores |= {f"{name}: {by}": auroc(sign(on_test), sign(of)) for by, sign in SIGNS.items()}
    return Outcome(scores, entropies)


def auroc(known: np.ndarray, unknown: np.ndarray) -> float:
    """Probability that an unknown row scores higher than a known one."""
    is_unknown = np.repeat([0, 1], [len(known), len(unknown)])
    return float(roc_auc_score(is_unknown, np.concatenate([known, unknown])))


@dataclass(frozen=True)
class MnistExperiment:
    settings: MNIST
    seed: int
    name: str = "mnist"

    def tasks(self) -> Sequence[Task]:
        s = self.settings
        member = 7e-6 * s.epochs * (s.train_rows or 54_000)
        passes = 4e-6 * s.passes * (10_000 + 2 * s.rows)
        members = dict(zip(METHODS, (1, 1, s.n_components, s.n_components), strict=True))
        return [
            Task(
                {"method": method, "run": run},
                partial(self._run, method, run),
                cost=1 + members[method] * member + (method != "DE") * passes,
                data="mnist",
            )
            for run in range(s.runs)
            for method in METHODS
        ]

    def figures(self) -> Sequence[Figure]:
        caption = (
            "How certain classifiers are of digits that they were trained on, of a digit that they "
            "never saw, and of clothes: average predictive entropy of every image, first run. "
            "Shares are on a logarithmic scale; triangles mark the means."
        )
        return [Figure("mnist-entropy", caption, self.draw, cost=2.0)]

    def tables(self, results: Sequence[Result]) -> Sequence[ResultTable]:
        ordered = sum(r.scores[KNOWN] < r.scores[UNKNOWN] < r.scores[CLOTHES] for r in results)
        test = "test digits but 4, mean ± standard deviation over runs"
        return [
            self._table(
                "Average predictive entropy, mean ± standard deviation over runs",
                results,
                SETS,
                note=f"In {ordered} of {len(results)} fits, known < unknown < Fashion-MNIST.",
                better=0,
            ),
            self._table(f"Scores on {test}", results, tuple(SCORES)),
            self._table(
                f"Area under the ROC curve against {test}",
                results,
                [f"{name}: {sign}" for name in (UNKNOWN, CLOTHES) for sign in SIGNS],
                note="Unknown digits, or clothes, are told from known digits by their score.",
                better=1,
            ),
        ]

    def draw(self) -> Drawing:
        bins = np.linspace(0, np.log(9), 34)
        # Large enough to be read on a phone.
        with plt.rc_context({"font.size": 13, "axes.titlesize": 14}):
            figure, axes = plt.subplots(
                2, 2, figsize=(11, 6), sharex=True, sharey=True, layout="constrained"
            )
            for method, ax in zip(METHODS, axes.flat, strict=True):
                entropies = outcome(self.settings, self.seed, method, 0).entropies
                plots.entropy_histograms(entropies, ax=ax, bins=bins, legend=False)
                ax.set(xlabel="", ylabel="")
                ax.set_title(method, loc="left", fontweight="bold")
            axes[0, 0].set(yscale="log", xlim=(bins[0], bins[-1]))
            figure.supxlabel("average predictive entropy of an image [nats]", fontsize=13)
            figure.supylabel("share of images", fontsize=13)
            labelled, _ = axes[0, 0].get_legend_handles_labels()
            figure.legend(handles=labelled, loc="outside upper center", ncols=3)
        return figure

    def _run(self, method: str, run: int) -> Iterator[Result]:
        found = outcome(self.settings, self.seed, method, run)
        yield Result({"method": method, "run": run}, found.scores)

    def _table(
        self, title: str, results: Sequence[Result], rows: Sequence[str], **more
    ) -> ResultTable:
        paper = published("mnist_entropy")
        cells = {}
        for method in METHODS:
            scores = [result.scores for result in results if result.of["method"] == method]
            for row in rows if scores else ():
                theirs = paper.get(row, {}).get(method)
                cells[row, method] = Cell.of([of[row] for of in scores], theirs)
        return ResultTable(title, rows, METHODS, cells, decimals=3, paper_decimals=3, **more)
