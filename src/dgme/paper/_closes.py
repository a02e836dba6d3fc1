"""The paper's forecasts of closes: every method on the same LSTM, tuned on the last part of the
training period."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from typing import NamedTuple

import numpy as np
from scipy import stats

from dgme import metrics
from dgme.datasets import finance
from dgme.datasets.finance import Windows
from dgme.distributions import GaussianMixture
from dgme.estimators import (
    DeepEnsembleRegressor,
    DGMERegressor,
    MCDropoutRegressor,
    MDNRegressor,
    MultiSWAGRegressor,
)
from dgme.nn import LSTM
from dgme.paper.settings import Finance

METHODS = ("MDN", "MCD", "DE", "MultiSWAG", "DGME")
_MEANS_ALONE = ("MCD", "MultiSWAG")


class Choice(NamedTuple):
    """What is tuned."""

    design: LSTM
    steps: int
    learning_rate: float
    weight_decay: float = 0.0
    noise: float = 1.0
    """In units of a usual day's change."""

    def __str__(self) -> str:
        d = self.design
        return (
            f"{d.n_layers} x {d.hidden_size} LSTM, dense {list(d.dense_sizes)}, "
            f"dropout {d.dropout:g}, {self.steps} steps, learning rate {self.learning_rate:g}, "
            f"weight decay {self.weight_decay:g}, noise {self.noise:g}"
        )


@dataclass(frozen=True)
class Forecaster:
    """A method of the paper, and how it is tuned and trained."""

    method: str
    settings: Finance

    def fit(self, choice: Choice, windows: Windows, seed: int):
        """The method, trained on all rows for as long as it was told."""
        s = self.settings
        common = {
            "network": choice.design,
            "learning_rate": choice.learning_rate,
            "weight_decay": choice.weight_decay,
            "batch_size": s.batch_size,
            "min_scale": s.min_scale,
            "validation_fraction": None,
            "random_state": seed,
        }
        noise = {"noise_scale": choice.noise * usual_change(windows)}
        epochs = math.ceil(choice.steps / math.ceil(len(windows.y) / s.batch_size))
        alone = {"epochs": epochs}
        match self.method:
            case "MDN":
                model = MDNRegressor(n_components=s.n_components, **alone, **common)
            case "MCD":
                model = MCDropoutRegressor(**noise, **alone, **common)
            case "DE":
                model = DeepEnsembleRegressor(
                    n_members=s.n_components, adversarial_eps=s.adversarial_eps, **alone, **common
                )
            case "MultiSWAG":
                model = MultiSWAGRegressor(
                    n_members=s.n_components, swag_epochs=s.swag_epochs, **noise, **alone, **common
                )
            case "DGME":
                model = DGMERegressor(
                    n_components=s.n_components,
                    n_rounds=s.n_rounds,
                    epochs_per_round=math.ceil(epochs / s.n_rounds),
                    **common,
                )
            case _:
                model = DeepEnsembleRegressor(n_members=1, **alone, **common)
        return model.fit(windows.X[:, :, None], windows.y)

    def tune(self, ticker: str, seed: int) -> Choice:
        """One hyperparameter after the other, by the likelihood of the last part of the rows."""
        s = self.settings
        early, late = parts(ticker, s)
        design = extractor(ticker, s, seed)
        dropouts = s.mcd_dropouts if self.method == "MCD" else s.dropouts
        noise = s.noises[0] if self.method in _MEANS_ALONE else 1.0
        design = replace(design, dropout=dropouts[0])
        best = Choice(design, s.steps[0], s.learning_rates[0], s.weight_decays[0], noise)
        score = np.inf
        space = s.steps, s.learning_rates, dropouts, s.weight_decays, s.noises
        if all(len(values) == 1 for values in space):
            return best

        def better(candidates: Iterable[Choice]) -> None:
            nonlocal best, score
            for candidate in candidates:
                law = predict(self.fit(candidate, early, seed), late)
                found, noise = self._score(law, late, usual_change(early))
                if found < score:
                    best, score = candidate._replace(noise=noise), found

        better(
            Choice(design, *of) for of in product(s.steps, s.learning_rates, s.weight_decays[:1])
        )
        thinned = [replace(design, dropout=rate) for rate in dropouts[1:]]
        better([best._replace(design=design) for design in thinned])
        better([best._replace(weight_decay=decay) for decay in s.weight_decays[1:]])
        return best

    def _score(self, law: GaussianMixture, late: Windows, unit: float) -> tuple[float, float]:
        """Of the best noise, where it is the same for all rows; a new one needs no new fit."""
        if self.method not in _MEANS_ALONE:
            return metrics.nll(law, late.y), 1.0
        scores = {
            noise: metrics.nll(
                GaussianMixture(law.weights, law.means, np.full(law.means.shape, noise * unit)),
                late.y,
            )
            for noise in self.settings.noises
        }
        noise = min(scores, key=scores.__getitem__)
        return scores[noise], noise


# A figure asks for what a task of the same run may have found.
tuned = cache(Forecaster.tune)


def periods(ticker: str, length: int) -> tuple[Windows, Windows]:
    """Windows of the training period and of the test period."""
    prices, regime = finance.load(ticker), finance.REGIMES[ticker]
    return (
        finance.windows(prices, regime.train, length, reach_back=False),
        finance.windows(prices, regime.test, length),
    )


def usual_change(windows: Windows) -> float:
    """The standard deviation of a Gaussian with the median of the changes from day to day."""
    return float(np.median(np.abs(windows.y - windows.X[:, -1])) / stats.norm.ppf(0.75))


def parts(ticker: str, settings: Finance) -> tuple[Windows, Windows]:
    """The training period without its last part, and that."""
    train, _ = periods(ticker, settings.window)
    cut = round((1 - settings.validation) * len(train.y))
    return Windows(*(part[:cut] for part in train)), Windows(*(part[cut:] for part in train))


@cache
def extractor(ticker: str, settings: Finance, seed: int) -> LSTM:
    """The network under which a single Gaussian does best, for all methods."""
    early, late = parts(ticker, settings)
    single, scores = Forecaster("single", settings), {}
    for hidden_size, n_layers, dense_sizes in settings.extractors:
        design = LSTM(hidden_size, n_layers, dense_sizes)
        if len(settings.extractors) == 1:
            return design
        for of in product(settings.steps, settings.learning_rates):
            law = predict(single.fit(Choice(design, *of), early, seed), late)
            scores[design, of] = metrics.nll(law, late.y)
    return min(scores, key=scores.__getitem__)[0]


def predict(model, windows: Windows) -> GaussianMixture:
    return model.predict_dist(windows.X[:, :, None])
