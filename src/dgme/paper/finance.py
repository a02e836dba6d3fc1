"""The forecasts of closes of the paper, beside simple laws and a DGME of returns.

Scores are those of the test period in dollars, mean ± standard error over runs. What has no chance
in it is run once.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib.util import find_spec
from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np
from scipy import stats

from dgme import metrics, plots
from dgme.datasets.finance import Windows
from dgme.paper._closes import METHODS, Forecaster, periods, predict, tuned
from dgme.paper._returns import ReturnsDGME, garch_nll, log_returns, student_nll
from dgme.paper.experiment import Figure, Result, Task
from dgme.paper.settings import Finance
from dgme.paper.tables import Cell, ResultTable, published

WALK, STUDENT, GARCH, RETURNS = "random walk", "Student t", "GARCH-t", "DGME of returns"
# Seconds on two cores.
_COSTS = {"MDN": 45.0, "MCD": 25.0, "DE": 80.0, "MultiSWAG": 50.0, "DGME": 50.0}


class Score(NamedTuple):
    title: str
    published: str
    note: str


SCORES: Mapping[str, Score] = {
    "rmse": Score(
        "RMSE of the next close in the test period",
        "finance_rmse",
        f"{WALK}: tomorrow's close is today's.",
    ),
    "nll": Score(
        "NLL of the next close in the test period",
        "finance_nll",
        f"{WALK}: a Gaussian around today's close. {STUDENT}: log returns of one law. {GARCH}: "
        "GARCH(1,1) of log returns. All have their parameters from the training period.",
    ),
}


@dataclass(frozen=True)
class FinanceExperiment:
    settings: Finance
    seed: int
    name: str = "finance"

    def tasks(self) -> Sequence[Task]:
        s = self.settings

        def task(ticker: str, method: str, run: Callable[[], Iterator[Result]], cost: float):
            return Task({"ticker": ticker, "method": method}, run, cost=cost, data=ticker)

        return [
            task(ticker, method, run, cost)
            for ticker in s.tickers
            for method, run, cost in (
                *((m, partial(self._closes, ticker, m), _COSTS[m]) for m in METHODS),
                ("simple laws", partial(self._simple, ticker), 1.0),
                *([(GARCH, partial(self._garch, ticker), 1.0)] if find_spec("arch") else []),
                (RETURNS, partial(self._returns, ticker), 1.0 * s.runs),
                *([("prior", partial(self._prior, ticker), 3.0 * s.runs)] if self._others else []),
            )
        ]

    def figures(self) -> Sequence[Figure]:
        return [
            Figure(
                f"finance-{ticker.lower()}",
                f"{ticker}: closes of the test period, with the 50 % and 90 % intervals that were "
                "forecast the day before. Above the DGME of returns, below the DGME of closes with "
                "the paper's protocol.",
                partial(self._draw, ticker),
                cost=10.0,
            )
            for ticker in self.settings.tickers
        ]

    def tables(self, results: Sequence[Result]) -> Sequence[ResultTable]:
        by_method: dict[tuple[str, str], list[Mapping[str, float]]] = {}
        by_prior: dict[tuple[str, str], list[float]] = {}
        for result in results:
            ticker = str(result.of["ticker"])
            if "prior" in result.of:
                key = ticker, str(result.of["prior"])
                by_prior.setdefault(key, []).append(result.scores["nll"])
            else:
                by_method.setdefault((ticker, str(result.of["method"])), []).append(result.scores)
        tables = [self._table(name, by_method) for name in SCORES]
        return [*tables, self._prior_table(by_prior)] if self._others else tables

    def _table(
        self, name: str, found: Mapping[tuple[str, str], Sequence[Mapping[str, float]]]
    ) -> ResultTable:
        score = SCORES[name]
        cells = {
            (ticker, method): Cell.of(
                [of[name] for of in scores],
                published(score.published)[ticker].get(method),
                standard_error=True,
            )
            for (ticker, method), scores in found.items()
            if name in scores[0]
        }
        columns = [
            m
            for m in (*METHODS, WALK, STUDENT, GARCH, RETURNS)
            if any(method == m for _, method in cells)
        ]
        note = score.note
        if name == "nll" and not find_spec("arch"):
            note += f" {GARCH} needs the package arch: pip install 'dgme[paper]'."
        title = f"{score.title}, mean ± standard error over runs"
        return ResultTable(title, self.settings.tickers, columns, cells, note)

    def _prior_table(self, found: Mapping[tuple[str, str], Sequence[float]]) -> ResultTable:
        cells = {key: Cell.of(scores, standard_error=True) for key, scores in found.items()}
        return ResultTable(
            f"{RETURNS}: NLL within the training period, by rows of the prior for every day",
            self.settings.tickers,
            [str(n) for n in self._priors()],
            cells,
            "Trained on a first part, scored on the next one. The tables above are made with "
            f"{self.settings.returns.prior_rows}.",
            decimals=3,
        )

    @property
    def _others(self) -> tuple[int, ...]:
        return self.settings.returns.other_prior_rows

    def _priors(self) -> tuple[int, ...]:
        return tuple(sorted({*self._others, self.settings.returns.prior_rows}))

    def _closes(self, ticker: str, method: str) -> Iterator[Result]:
        train, test = periods(ticker, self.settings.window)
        forecaster = Forecaster(method, self.settings)
        choice = tuned(forecaster, ticker, self.seed)
        for run in range(self.settings.runs):
            law = predict(forecaster.fit(choice, train, self._seed_of(run)), test)
            yield self._result(ticker, method, law, test, run=run, choice=str(choice))

    def _returns(self, ticker: str) -> Iterator[Result]:
        train, test = periods(ticker, self.settings.window)
        for run in range(self.settings.runs):
            model = ReturnsDGME.fit(train, self.settings.returns, self._seed_of(run))
            yield self._result(ticker, RETURNS, model.predict_dist(test), test, run=run)

    def _prior(self, ticker: str) -> Iterator[Result]:
        train, _ = periods(ticker, self.settings.window)
        for prior in self._priors():
            recipe = replace(self.settings.returns, prior_rows=prior)
            for run in range(self.settings.runs):
                scores = []
                for first, last in recipe.folds:
                    start, stop = (round(share * len(train.y)) for share in (first, last))
                    early = Windows(*(part[:start] for part in train))
                    late = Windows(*(part[start:stop] for part in train))
                    model = ReturnsDGME.fit(early, recipe, self._seed_of(run))
                    scores.append(metrics.nll(model.predict_dist(late), late.y))
                of = {"ticker": ticker, "prior": prior, "run": run}
                yield Result(of, {"nll": float(np.mean(scores))})

    def _simple(self, ticker: str) -> Iterator[Result]:
        train, test = periods(ticker, self.settings.window)
        spread = np.sqrt(np.mean((train.y - train.X[:, -1]) ** 2))
        walk = test.y - test.X[:, -1]
        scores = {
            "rmse": float(np.sqrt(np.mean(walk**2))),
            "nll": float(-np.mean(stats.norm.logpdf(walk, scale=spread))),
        }
        yield Result({"ticker": ticker, "method": WALK}, scores)
        # The expected close is infinite, so that there is no RMSE.
        student = student_nll(test, *stats.t.fit(log_returns(train)[1]))
        yield Result({"ticker": ticker, "method": STUDENT}, {"nll": student})

    def _garch(self, ticker: str) -> Iterator[Result]:
        nll = garch_nll(*periods(ticker, self.settings.window))
        yield Result({"ticker": ticker, "method": GARCH}, {"nll": nll})

    def _result(self, ticker: str, method: str, law, test: Windows, **more) -> Result:
        return Result(
            {"ticker": ticker, "method": method, **more},
            {"rmse": metrics.rmse(law, test.y), "nll": metrics.nll(law, test.y)},
        )

    def _seed_of(self, run: int) -> int:
        return int(np.random.SeedSequence((self.seed, run)).generate_state(1)[0] >> 1)

    def _draw(self, ticker: str):
        train, test = periods(ticker, self.settings.window)
        forecaster = Forecaster("DGME", self.settings)
        seed = self._seed_of(0)
        closes = forecaster.fit(tuned(forecaster, ticker, self.seed), train, seed)
        returns = ReturnsDGME.fit(train, self.settings.returns, seed)
        laws = {
            RETURNS: returns.predict_dist(test),
            "DGME of closes (the paper's protocol)": predict(closes, test),
        }
        figure, axes = plt.subplots(2, figsize=(11, 6), sharex=True, layout="constrained")
        shown = np.quantile([law.ppf([[0.05], [0.95]]) for law in laws.values()], [0.002, 0.998])
        for ax, (title, law) in zip(axes, laws.items(), strict=True):
            plots.fan_chart(law, test.dates, test.y, ax=ax, legend=False)
            ax.set_title(f"{ticker}: {title}", loc="left")
            ax.set_ylabel("close, $")
            ax.set_ylim(min(shown[0], test.y.min()), max(shown[1], test.y.max()))
        axes[0].legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=4, frameon=False)
        return figure
