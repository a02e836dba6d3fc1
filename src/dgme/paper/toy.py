"""The toy regression of the paper: what each method makes of three kinds of noise."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from operator import methodcaller
from typing import Any

from dgme.paper import toy_figures
from dgme.paper.experiment import Figure, Result, Task
from dgme.paper.settings import Toy
from dgme.paper.tables import Cell, ResultTable
from dgme.paper.toy_methods import CASES, Methods, Problem


@dataclass(frozen=True)
class ToyExperiment:
    settings: Toy
    seed: int
    name: str = "toy"

    def tasks(self) -> Sequence[Task]:
        return [
            Task(
                {"case": case, "method": method},
                partial(self._run, case, method, make),
                cost=self.settings.runs * (0.7 if method.startswith("DGME") else 0.2),
            )
            for case in CASES
            for method, make in self._methods().items()
        ]

    def figures(self) -> Sequence[Figure]:
        s = self.settings
        return [
            Figure(
                f"toy-{picture.__name__.replace('_', '-')}",
                caption,
                partial(toy_figures.drawn, picture, s, self.seed),
                cost=3.0,
            )
            for picture, caption in {
                toy_figures.gaussian: "Gaussian noise: mean and 99 % interval of each method after "
                f"{s.n_epochs} epochs, the training rows, and the true mean (dashed).",
                toy_figures.heavy_tailed: f"Heavy-tailed noise: {s.histogram_samples} samples of "
                "the predictive law at an input in the training range and at one beyond it, less "
                "x³, with their excess kurtosis κ. The line is the true noise, whose kurtosis is "
                "infinite.",
                toy_figures.bimodal: "Bimodal noise: mean and 99 % interval of each of two "
                "components, with their weights (true: 0.7 and 0.3; those of MDN depend on x, and "
                f"are averaged over the training range). DGME is the best of {s.bimodal_restarts} "
                f"starts, with rounds of {s.our_epochs} epochs.",
            }.items()
        ]

    def tables(self, results: Sequence[Result]) -> Sequence[ResultTable]:
        s = self.settings
        found: dict[tuple[str, str], list[Mapping[str, float]]] = {}
        for result in results:
            key = str(result.of["case"]), str(result.of["method"])
            found.setdefault(key, []).append(result.scores)

        def cells(case: str, row: str, score: str) -> dict[tuple[str, str], Cell]:
            return {
                (row, method): Cell.of([of[score] for of in scores], standard_error=True)
                for (of_case, method), scores in found.items()
                if of_case == case
            }

        def table(title: str, rows: Mapping[str, tuple[str, str]], **more) -> ResultTable:
            filled = {
                key: cell
                for row, (case, score) in rows.items()
                for key, cell in cells(case, row, score).items()
            }
            title = f"{title}, mean ± standard error over runs"
            return ResultTable(title, list(rows), list(self._methods()), filled, **more)

        note = (
            f"Dropout of {s.dropout} and K = {s.n_components} ({s.n_components_bimodal} for "
            "bimodal noise), as in the paper, which has no such table. Ours: no dropout, "
            f"K = {s.n_components}, {s.our_n_rounds} × {s.our_epochs} epochs, the best of "
            f"{s.our_restarts} starts by the training likelihood, epistemic = {s.our_epistemic}."
        )
        scores = {
            "regret": "Regret in the training range, in nats against the true law",
            "regret_outside": "Regret beyond the training range, 4 ≤ |x| ≤ 5",
            "train_nll": "NLL of the training rows",
        }
        by_case = [
            table(title, {CASES[case]: (case, score) for case in CASES}, note=note, decimals=3)
            for score, title in scores.items()
        ]
        kurtosis = table(
            "Excess kurtosis of the law under heavy-tailed noise, median over inputs",
            {
                "in the training range": ("heavy_tailed", "kurtosis"),
                "beyond it": ("heavy_tailed", "kurtosis_outside"),
            },
            note="That of the true noise is infinite.",
            better=0,
        )
        return [*by_case, kurtosis]

    def _methods(self) -> dict[str, Callable[[Methods], Any]]:
        s = self.settings
        alone = {
            f"{name}, {epochs} epochs": methodcaller(name.lower(), epochs)
            for name in ("MDN", "MCD", "DE")
            for epochs in s.epochs_alone
        }
        return alone | {
            f"DGME, {s.n_rounds} × {s.epochs} epochs": methodcaller("dgme"),
            "DGME, ours": methodcaller("ours"),
        }

    def _run(self, case: str, method: str, make: Callable[[Methods], Any]) -> Iterator[Result]:
        for run in range(self.settings.runs):
            problem = Problem.draw(case, self.settings, self.seed, run)
            model = problem.fit(make(Methods.of(self.settings, case)))
            of = {"case": case, "method": method, "run": run}
            yield Result(of, problem.scores(model.predict_dist))
