"""The paper's ablations: rounds, dropout and adversarial training, components, initialisation."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from dgme.paper import ablation_figures
from dgme.paper.experiment import Figure, Result, Task
from dgme.paper.settings import Ablations
from dgme.paper.tables import Cell, Published, ResultTable, published
from dgme.paper.toy_figures import drawn
from dgme.paper.toy_methods import CASES, Methods, Problem

# Our names of the initialisations, and the paper's.
_INITS: Mapping[str, str] = MappingProxyType(
    {
        "torch": "torch_default",
        "uniform": "uniform_0.01",
        "normal": "normal_1e-6",
        "xavier_uniform": "xavier_uniform",
        "xavier_normal": "xavier_normal",
    }
)
_STANDARDIZED = {"raw": False, "standardized": True}


class _Row(NamedTuple):
    name: str
    case: str
    score: str
    source: str = ""
    """The paper's table, if it has one."""
    ending: str = ""
    """What follows in the names of its columns."""
    starts: int = 1

    def paper(self, column: str) -> Published | None:
        if not self.source:
            return None
        return published(self.source)[CASES[self.case]].get(column + self.ending)


def _words(column: str) -> str:
    """A column's name as it is shown."""
    if column.startswith("E"):
        return column.replace("E", "E = ").replace("_J", ", J = ")
    return column.replace("p0", "p = 0") if column.startswith("p") else column.replace("_", " ")


@dataclass(frozen=True)
class AblationsExperiment:
    settings: Ablations
    seed: int
    name: str = "ablations"

    def tasks(self) -> Sequence[Task]:
        return [
            Task(
                {"table": table, "case": case, "column": column, "starts": starts},
                partial(self._run, table, case, column, starts, changes),
                cost=(0.15 if starts == 1 else 0.4) * self._n_runs(table),
            )
            for table, columns in self._changes().items()
            for case in CASES
            for column, changes in columns.items()
            for starts in (1, self.settings.restarts)
        ]

    def figures(self) -> Sequence[Figure]:
        s = self.settings
        return [
            Figure(
                f"ablation-{picture.__name__.replace('_', '-')}",
                caption,
                partial(drawn, picture, s, self.seed),
                cost=cost,
            )
            for picture, caption, cost in (
                (
                    ablation_figures.rounds,
                    "Gaussian noise: mean and 99 % interval of DGME after J rounds of "
                    f"{s.toy.epochs} epochs.",
                    3.0,
                ),
                (
                    ablation_figures.dropout,
                    "Gaussian noise: mean and 99 % interval of DGME without and with dropout of "
                    f"{s.dropout_shown} and adversarial training with steps of "
                    f"{s.adversarial_eps} of the range of x.",
                    5.0,
                ),
                (
                    ablation_figures.kurtosis,
                    "Heavy-tailed noise: excess kurtosis of DGME's law with K components, median "
                    "over inputs in the training range; a point for every run, and the runs' "
                    "median. That of the true noise is infinite.",
                    8.0,
                ),
                (
                    ablation_figures.components,
                    "Bimodal noise: mean and 99 % interval of each of K components; the best of "
                    f"{s.toy.bimodal_restarts} starts, with rounds of {s.toy.our_epochs} epochs.",
                    8.0,
                ),
            )
        ]

    def tables(self, results: Sequence[Result]) -> Sequence[ResultTable]:
        found: dict[tuple[Any, ...], list[Mapping[str, float]]] = {}
        for result in results:
            key = tuple(result.of[name] for name in ("table", "case", "column", "starts"))
            found.setdefault(key, []).append(result.scores)

        def table(source: str, title: str, rows: Sequence[_Row], note: str = "") -> ResultTable:
            return ResultTable(
                f"{title}, mean ± standard error over runs",
                [row.name for row in rows],
                [_words(column) for column in self._changes()[source]],
                {
                    (row.name, _words(column)): Cell.of(
                        [of[row.score] for of in found[source, row.case, column, row.starts]],
                        row.paper(column),
                        standard_error=True,
                    )
                    for row in rows
                    for column in self._changes()[source]
                    if (source, row.case, column, row.starts) in found
                },
                note=note,
                decimals=3,
            )

        restarts = self.settings.restarts

        def rows(score: str, paper: str = "", ending: str = "", name: str = "") -> list[_Row]:
            return [
                _Row(f"{words}{name}{best}", case, score, paper, ending, starts)
                for starts, best in ((1, ""), (restarts, f", best of {restarts} starts"))
                for case, words in CASES.items()
            ]

        def truth(source: str) -> str:
            """What the true laws would have scored."""
            scores = {
                words: [
                    of["truth_nll"]
                    for (of_table, of_case, _, starts), scores in found.items()
                    if (of_table, of_case, starts) == (source, case, 1)
                    for of in scores
                ]
                for case, words in CASES.items()
            }
            told = (f"{words} {np.mean(of):.3f}" for words, of in scores.items() if of)
            return f"The true laws score on the same rows: {', '.join(told)}."

        sampled = ", dropout averaged"
        return [
            table(
                "budget",
                "Training NLL for a fixed number of epochs in all",
                rows("train_nll", "toy_budget_train_nll"),
                truth("budget"),
            ),
            table("budget", "The same: regret on new rows in the training range", rows("regret")),
            *(
                table(
                    "dropout",
                    f"{where} NLL with dropout",
                    rows(score, "toy_dropout_nll", ending) + rows(f"sampled_{score}", name=sampled),
                    "The paper's numbers are those of the whole networks. With dropout averaged, "
                    "the law is that of its sampling procedure.",
                )
                for where, score, ending in (
                    ("Training", "train_nll", "_train"),
                    ("Test, 4 ≤ |x| ≤ 5,", "outside_nll", "_test"),
                )
            ),
            *(
                table(
                    f"init_{units}",
                    f"Training NLL by initialisation, {units} data",
                    rows("train_nll", f"toy_init_{units}_train_nll"),
                    truth(f"init_{units}"),
                )
                for units in _STANDARDIZED
            ),
        ]

    def _changes(self) -> dict[str, dict[str, dict[str, Any]]]:
        """For every table and column, by its name in the paper, what is set."""
        s = self.settings
        return {
            "budget": {
                f"E{epochs}_J{rounds}": {"epochs_per_round": epochs, "n_rounds": rounds}
                for epochs, rounds in s.budgets
            },
            "dropout": {f"p{rate:.2f}": {"dropout": rate} for rate in s.dropouts},
        } | {
            f"init_{units}": {
                theirs: {"init": ours, "standardize": standardize}
                for ours, theirs in _INITS.items()
            }
            for units, standardize in _STANDARDIZED.items()
        }

    def _n_runs(self, table: str) -> int:
        return self.settings.runs * (2 if table.startswith("init") else 1)

    def _run(
        self, table: str, case: str, column: str, starts: int, changes: dict[str, Any]
    ) -> Iterator[Result]:
        s = self.settings
        base = {"epochs_per_round": s.epochs, "n_rounds": s.n_rounds, "dropout": 0.0}
        base["n_init"] = starts
        for run in range(self._n_runs(table)):
            problem = Problem.draw(case, s.toy, self.seed, run)
            model = problem.fit(Methods(s.toy, s.toy.n_components).dgme(**base | changes))
            scores = problem.scores(partial(model.predict_dist, n_posterior_samples=0))
            scores["truth_nll"] = float(-np.mean(problem.train.law.logpdf(problem.train.y)))
            if table == "dropout":
                averaged = problem.scores(model.predict_dist)
                scores |= {f"sampled_{name}": score for name, score in averaged.items()}
            of = {"table": table, "case": case, "column": column, "starts": starts, "run": run}
            yield Result(of, scores)
