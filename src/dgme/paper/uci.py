"""Tables 1, 2 and 9 of the paper: seven UCI tables, with scores that the paper lacks beside them.

All splits of a table train side by side. Scores are in the target's units on the test rows, mean ±
standard deviation over splits.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from jaxtyping import Float64

from dgme import em, independent, metrics
from dgme.datasets import uci
from dgme.distributions import GaussianMixture
from dgme.engine import Optimiser, Prediction, apply_lanes
from dgme.estimators import Scaling, mean_head, most_likely_scale
from dgme.experts import Data, Experts
from dgme.nn import MLP, FlatNetwork, GaussianHead, Head, MixtureHead
from dgme.paper.experiment import Figure, Result, Task
from dgme.paper.settings import UCI
from dgme.paper.tables import Cell, ResultTable, published

Metric = Callable[[GaussianMixture, np.ndarray], float]


class Score(NamedTuple):
    metric: Metric
    title: str
    published: str = ""
    """The paper's table, if it has one."""
    better: int = -1


def _width(law: GaussianMixture, y: np.ndarray) -> float:
    lower, upper = law.interval(0.9)
    return float(np.mean(upper - lower))


SCORES: Mapping[str, Score] = MappingProxyType(
    {
        "rmse": Score(metrics.rmse, "RMSE", "uci_rmse"),
        "gaussian_nll": Score(metrics.gaussian_nll, "NLL of the Gaussian summary", "uci_nll"),
        "nll": Score(metrics.nll, "NLL of the mixture", "uci_nll_mixture"),
        "crps": Score(metrics.crps, "CRPS"),
        "coverage": Score(partial(metrics.coverage, confidence=0.9), "Coverage of 90 %", better=0),
        "width": Score(_width, "Width of the 90 % interval", better=0),
        "calibration": Score(metrics.quantile_calibration_error, "Calibration error of quantiles"),
    }
)


class Splits(NamedTuple):
    """The splits of a table in standardised units, and what they are standardised by."""

    train: Data
    x_test: np.ndarray
    y_test: list[np.ndarray]
    """In the target's units."""
    units: list[Scaling]

    @classmethod
    def load(cls, table: str, n_splits: int) -> "Splits":
        splits = uci.load_splits(table)[:n_splits]
        x_units, y_units = (
            [Scaling.standard(split[part], np.ones(len(split[part]))) for split in splits]
            for part in (0, 1)
        )

        def stack(units: list[Scaling], part: int) -> np.ndarray:
            return np.stack([u.forward(s[part]) for u, s in zip(units, splits, strict=True)])

        return cls(
            Data.of(stack(x_units, 0), stack(y_units, 1)),
            stack(x_units, 2).astype(np.float32),
            [split.y_test for split in splits],
            y_units,
        )

    @property
    def runs(self) -> np.ndarray:
        return np.arange(len(self.y_test), dtype=np.int32)


class Components(NamedTuple):
    """Weights, means and scales of every split's laws, in standardised units."""

    weights: Float64[np.ndarray, "splits n K"]
    means: Float64[np.ndarray, "splits n K"]
    scales: Float64[np.ndarray, "splits n K"]

    def laws(self, units: Sequence[Scaling]) -> Iterator[GaussianMixture]:
        for (weights, means, scales), unit in zip(zip(*self, strict=True), units, strict=True):
            yield GaussianMixture(weights, means * unit.scale + unit.center, scales * unit.scale)


def predict(
    experts: Experts, params: np.ndarray, shares: np.ndarray, x: np.ndarray, keys=None
) -> Components:
    """The mixture of the members of every split, by their shares."""
    n_splits, k = params.shape[:2]
    parts = apply_lanes(
        Prediction(experts.head),
        experts.network,
        params.reshape(n_splits * k, -1),
        x,
        dataset=np.repeat(np.arange(n_splits, dtype=np.int32), k),
        keys=keys,
    )
    # From (members, rows, own components) to all components of a split in the last axis.
    weights, means, scales = (
        np.moveaxis(part.astype(np.float64).reshape(n_splits, k, x.shape[1], -1), 1, 2)
        for part in parts
    )
    weights = shares[:, None, :, None] * weights / weights.sum(axis=3, keepdims=True)
    return Components(*(part.reshape(*part.shape[:2], -1) for part in (weights, means, scales)))


@dataclass(frozen=True)
class UciExperiment:
    settings: UCI
    seed: int
    name: str = "uci"

    def tasks(self) -> Sequence[Task]:
        methods = {"MDN": (self.mdn, 1), "MCD": (self.mcd, 6), "DE": (self.de, 2)}
        methods["DGME"] = (self.dgme, 8)
        return [
            Task(
                {"table": table, "method": method},
                partial(self._run, table, of_splits),
                cost=cost * {"kin8nm": 2.0, "power-plant": 2.0}.get(table, 0.5),
                data=table,
            )
            for table in self.settings.tables
            for method, (of_splits, cost) in methods.items()
        ]

    def figures(self) -> Sequence[Figure]:
        return ()

    def dgme(self, splits: Splits) -> Iterator[tuple[str, Components]]:
        s = self.settings
        experts, runs = self._experts(splits, GaussianHead(s.min_scale)), splits.runs
        plan = em.Plan(max(s.rounds), s.epochs, s.batch_size, self._optimiser())
        task = em.Task(experts, splits.train, runs, plan, self.seed)
        start = em.initialise(experts, len(runs), s.n_components, self.seed)
        for theta, done in em.iterate(task, start):
            if done.number in s.rounds:
                found = predict(experts, theta.params, theta.weights, splits.x_test)
                yield f"DGME_J{done.number}", found

    def mdn(self, splits: Splits) -> Iterator[tuple[str, Components]]:
        s = self.settings
        experts = self._experts(splits, MixtureHead(s.min_scale, s.n_components))
        params = self._train(experts, splits.train, 1, s.mdn_epochs)
        yield "MDN", predict(experts, params, np.ones(params.shape[:2]), splits.x_test)

    def de(self, splits: Splits) -> Iterator[tuple[str, Components]]:
        s = self.settings
        x = splits.train.x
        reach = np.ptp(x, axis=(0, 1)).astype(np.float32)
        experts = self._experts(splits, GaussianHead(s.min_scale))
        experts = experts._replace(adversarial_step=s.adversarial_eps * reach)
        params = self._train(experts, splits.train, s.n_components, s.epochs)
        shares = np.full(params.shape[:2], 1 / s.n_components)
        yield "DE", predict(experts, params, shares, splits.x_test)

    def mcd(self, splits: Splits) -> Iterator[tuple[str, Components]]:
        s, rng = self.settings, np.random.default_rng(self.seed)
        held_out = rng.random(splits.train.weight.shape) < s.mcd_held_out
        data = Data.of(splits.train.x, splits.train.y, np.where(held_out, 0.0, 1.0))
        found = []
        for rate in s.mcd_rates:
            means = self._mcd_means(splits, data, rate, splits.train.x)
            scales, likelihoods = zip(
                *(
                    self._noise(*of_split)
                    for of_split in zip(means, splits.train.y, held_out, strict=True)
                ),
                strict=True,
            )
            found.append((np.mean(likelihoods), rate, np.array(scales)))
        _, rate, scales = max(found, key=lambda tried: tried[0])
        means = self._mcd_means(splits, splits.train, rate, splits.x_test)
        weights = np.full(means.shape, 1 / s.mcd_passes)
        yield "MCD", Components(weights, means, np.broadcast_to(scales[:, None, None], means.shape))

    def _mcd_means(
        self, splits: Splits, data: Data, rate: float, x: np.ndarray
    ) -> Float64[np.ndarray, "splits n passes"]:
        """Train one network for each split, and predict with units of it dropped."""
        s = self.settings
        experts = self._experts(splits, mean_head(1), dropout=rate, drop_inputs=True)
        optimiser = Optimiser(s.learning_rate, s.mcd_weight_decay)
        params = self._train(experts, data, 1, s.mcd_epochs, optimiser)
        params = np.repeat(params, s.mcd_passes, axis=1)
        shares = np.full(params.shape[:2], 1 / s.mcd_passes)
        rng = np.random.default_rng(self.seed)
        keys = rng.integers(2**32, size=(shares.size, 2), dtype=np.uint32)
        return predict(experts, params, shares, x, keys).means

    def _noise(self, means: np.ndarray, y: np.ndarray, rows: np.ndarray) -> tuple[float, float]:
        """The scale that makes some rows of a split most likely, and their mean log density."""
        means, y = means[rows], y[rows, 0].astype(np.float64)
        weights = np.full(means.shape[1], 1 / means.shape[1])
        scale = most_likely_scale(weights, means, y, np.ones(len(y)), self.settings.min_scale)
        law = GaussianMixture(weights, means, np.full(means.shape, scale))
        return scale, float(law.logpdf(y).mean())

    def tables(self, results: Sequence[Result]) -> Sequence[ResultTable]:
        columns = ["MDN", "MCD", "DE", *(f"DGME_J{j}" for j in self.settings.rounds)]
        found: dict[tuple[str, str], list[Mapping[str, float]]] = {}
        for result in results:
            found.setdefault((str(result.of["table"]), str(result.of["method"])), []).append(
                result.scores
            )
        return [
            ResultTable(
                f"{score.title} on test rows, mean ± standard deviation over splits",
                self.settings.tables,
                [column.replace("_J", ", J = ") for column in columns],
                {
                    (table, method.replace("_J", ", J = ")): self._cell(table, method, name, of)
                    for (table, method), of in found.items()
                },
                better=score.better,
                decimals=3,
            )
            for name, score in SCORES.items()
        ]

    def _cell(
        self, table: str, method: str, name: str, scores: Sequence[Mapping[str, float]]
    ) -> Cell:
        source = SCORES[name].published
        paper = published(source)[table].get(method) if source else None
        return Cell.of([of[name] for of in scores], paper, n_paper=uci.N_SPLITS)

    def _run(
        self, table: str, method: Callable[[Splits], Iterator[tuple[str, Components]]]
    ) -> Iterator[Result]:
        splits = Splits.load(table, self.settings.splits)
        for name, components in method(splits):
            laws = components.laws(splits.units)
            for number, (law, y) in enumerate(zip(laws, splits.y_test, strict=True)):
                scores = {score: of.metric(law, y) for score, of in SCORES.items()}
                yield Result({"table": table, "method": name, "split": number}, scores)

    def _experts(self, splits: Splits, head: Head, **more) -> Experts:
        design = MLP(self.settings.hidden_sizes, **more)
        return Experts(FlatNetwork(design, splits.x_test.shape[2:], head.n_outputs), head)

    def _train(
        self,
        experts: Experts,
        data: Data,
        n_members: int,
        epochs: int,
        optimiser: Optimiser | None = None,
    ) -> np.ndarray:
        plan = independent.Plan(epochs, self.settings.batch_size, optimiser or self._optimiser())
        return independent.fit(experts, data, n_members, plan, seed=self.seed).params

    def _optimiser(self) -> Optimiser:
        return Optimiser(self.settings.learning_rate)
