"""The methods that the paper compares on its toy problems, and the data of one run."""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from dgme import metrics
from dgme.datasets import toy
from dgme.distributions import GaussianMixture
from dgme.estimators import (
    DeepEnsembleRegressor,
    DGMERegressor,
    MCDropoutRegressor,
    MDNRegressor,
)
from dgme.nn import MLP
from dgme.paper.settings import Toy

# The paper's names.
CASES: Mapping[str, str] = MappingProxyType(
    {
        "gaussian": "Normal - Unimodal",
        "heavy_tailed": "Heavy-Tailed - Unimodal",
        "bimodal": "Normal - Bimodal",
    }
)
Laws = Callable[[np.ndarray], GaussianMixture]


class Problem(NamedTuple):
    """The data of one run, and the seed of its networks."""

    train: toy.Toy
    inside: toy.Toy
    """New rows in the training range, |x| ≤ 4."""
    outside: toy.Toy
    """New rows beyond it, 4 ≤ |x| ≤ 5."""
    seed: int

    @classmethod
    def draw(cls, case: str, settings: Toy, seed: int, run: int = 0) -> "Problem":
        first, second, third, seed = map(int, np.random.SeedSequence((seed, run)).generate_state(4))
        return cls(
            toy.load(case, settings.n_rows, random_state=first),
            toy.load(case, settings.n_test, random_state=second),
            toy.load(case, settings.n_test, random_state=third, outside=True),
            seed,
        )

    def fit(self, model: Any) -> Any:
        # A component without rows is nothing to warn of here: it is in the scores.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            return model.set_params(random_state=self.seed).fit(self.train.X, self.train.y)

    def scores(self, laws: Laws) -> dict[str, float]:
        inside, outside = laws(self.inside.X), laws(self.outside.X)
        return {
            "train_nll": metrics.nll(laws(self.train.X), self.train.y),
            "regret": regret(inside, self.inside),
            "regret_outside": regret(outside, self.outside),
            "outside_nll": metrics.nll(outside, self.outside.y),
            "kurtosis": float(np.median(inside.kurtosis())),
            "kurtosis_outside": float(np.median(outside.kurtosis())),
        }


def regret(law: GaussianMixture, data: toy.Toy) -> float:
    """Nats per row that are lost against the true law."""
    return float(np.mean(data.law.logpdf(data.y) - law.logpdf(data.y)))


@dataclass(frozen=True)
class Methods:
    """The paper's methods at its settings, before they are trained."""

    settings: Toy
    n_components: int

    @classmethod
    def of(cls, settings: Toy, case: str) -> "Methods":
        bimodal = case == "bimodal"
        return cls(settings, settings.n_components_bimodal if bimodal else settings.n_components)

    def mdn(self, epochs: int) -> MDNRegressor:
        return MDNRegressor(
            epochs=epochs, n_components=self.n_components, spread_means=True, **self._common()
        )

    def mcd(self, epochs: int) -> MCDropoutRegressor:
        s = self.settings
        return MCDropoutRegressor(
            epochs=epochs,
            network=MLP(s.hidden_sizes, dropout=s.dropout),
            weight_decay=s.mcd_weight_decay,
            **self._common(),
        )

    def de(self, epochs: int) -> DeepEnsembleRegressor:
        return DeepEnsembleRegressor(epochs=epochs, n_members=self.n_components, **self._common())

    def dgme(self, **changes) -> DGMERegressor:
        s = self.settings
        own: dict[str, Any] = {
            "n_components": self.n_components,
            "n_rounds": s.n_rounds,
            "epochs_per_round": s.epochs,
        }
        return DGMERegressor(**self._common() | own | changes)

    def ours(self) -> DGMERegressor:
        """DGME at settings that do not know the kind of noise."""
        s = self.settings
        return self.dgme(
            n_components=s.n_components,
            epochs_per_round=s.our_epochs,
            n_rounds=s.our_n_rounds,
            n_init=s.our_restarts,
            epistemic=s.our_epistemic,
            dropout=0.0,
        )

    def _common(self) -> dict[str, Any]:
        s = self.settings
        return {
            "hidden_sizes": s.hidden_sizes,
            "dropout": s.dropout,
            "learning_rate": s.learning_rate,
            "batch_size": s.batch_size,
            "min_scale": s.min_scale,
            "n_posterior_samples": s.n_posterior_samples,
            "validation_fraction": None,
        }
