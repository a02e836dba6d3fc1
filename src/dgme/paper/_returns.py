"""Laws of the next close that come from laws of its log return."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float64
from scipy import optimize, stats

from dgme.datasets.finance import Windows
from dgme.distributions import GaussianMixture
from dgme.estimators import DGMERegressor
from dgme.paper.settings import Returns

Column = Float64[np.ndarray, " n"]
Past = Float64[np.ndarray, "n days"]


def log_returns(windows: Windows) -> tuple[Past, Column]:
    """Those between the closes of a window, and the one that follows."""
    return np.diff(np.log(windows.X), axis=1), np.log(windows.y / windows.X[:, -1])


@dataclass(frozen=True)
class CloseLaw:
    """Laws of closes whose log returns are Gaussian mixtures: shifted log-normal mixtures."""

    last: Column
    """The closes before."""
    returns: GaussianMixture

    def __len__(self) -> int:
        return len(self.last)

    def logpdf(self, y: Column) -> Column:
        return np.asarray(self.returns.logpdf(np.log(y / self.last))) - np.log(y)

    def mean(self) -> Column:
        growth = np.exp(self.returns.means + 0.5 * self.returns.scales**2)
        return self.last * np.sum(self.returns.weights * growth, axis=1)

    def ppf(self, q) -> np.ndarray:
        return self.last * np.exp(self.returns.ppf(q))


@dataclass(frozen=True)
class Volatility:
    """GARCH(1,1) of a window: a floor, and weights of past squares that fall exponentially."""

    floor: float
    gain: float
    decay: float

    def __call__(self, past: Past) -> Column:
        return np.sqrt(self.floor + self.gain * _smooth_squares(past, self.decay))

    @classmethod
    def fit(cls, past: Past, returns: Column, tail: float) -> "Volatility":
        """Under which the returns are most likely, if they follow a Student t of this scale."""
        typical = float(np.median(past**2))

        def volatility(of: np.ndarray) -> Volatility:
            return cls(typical * np.exp(of[0]), np.exp(of[1]), 1 / (1 + np.exp(-of[2])))

        def loss(of: np.ndarray) -> float:
            scale = volatility(of)(past)
            return float(np.mean(np.log(scale) - stats.t.logpdf(returns / scale, tail)))

        # A seventh of recent squares, half of all: where daily returns usually are.
        start = np.log([0.2, 0.8, 6.0])
        return volatility(optimize.minimize(loss, start, method="Nelder-Mead").x)


def _smooth_squares(past: Past, decay: float) -> Column:
    weights = decay ** np.arange(past.shape[1])[::-1]
    return past**2 @ (weights / weights.sum())


@dataclass(frozen=True)
class ReturnsDGME:
    """A DGME that corrects the law that a volatility gives to the next return.

    Returns are learned in units of the volatility. Among the rows to learn from are some with the
    same features, whose targets are drawn from a Student t: so many rows of a prior.
    """

    settings: Returns
    volatility: Volatility
    networks: DGMERegressor

    @classmethod
    def fit(cls, windows: Windows, settings: Returns, seed: int) -> "ReturnsDGME":
        s, (past, returns) = settings, log_returns(windows)
        volatility = Volatility.fit(past, returns, s.tail)
        networks = DGMERegressor(
            n_components=s.n_components,
            hidden_sizes=s.hidden_sizes,
            activation="tanh",
            n_rounds=s.n_rounds,
            epochs_per_round=s.epochs_per_round,
            learning_rate=s.learning_rate,
            weight_decay=s.weight_decay,
            min_scale=s.min_scale,
            validation_fraction=None,
            random_state=seed,
        )
        scale = volatility(past)
        features = _features(past, scale, s)
        prior = student_rows(len(features) * s.prior_rows, s.tail, seed)
        networks.fit(
            np.concatenate([features] * (1 + s.prior_rows)),
            np.concatenate([returns / scale, prior]),
        )
        return cls(s, volatility, networks)

    def predict_dist(self, windows: Windows) -> CloseLaw:
        past, _ = log_returns(windows)
        scale = self.volatility(past)[:, None]
        law = self.networks.predict_dist(_features(past, scale[:, 0], self.settings))
        return CloseLaw(
            windows.X[:, -1], GaussianMixture(law.weights, law.means * scale, law.scales * scale)
        )


def _features(past: Past, scale: Column, settings: Returns) -> Float64[np.ndarray, "n features"]:
    """Other volatilities, and the last return, beside the volatility."""
    # A price that stood still for a while has no logarithm of its volatility.
    others = [0.5 * np.log(_smooth_squares(past, d) / scale**2 + 1e-4) for d in settings.decays]
    return np.stack([*others, np.tanh(0.5 * past[:, -1] / scale)], axis=1)


def student_rows(n: int, tail: float, seed: int) -> Column:
    """All quantiles of a Student t, each once and with both signs, in an order by chance."""
    upper = stats.t.ppf(0.5 + (np.arange(n // 2) + 0.5) / (2 * max(1, n // 2)), tail)
    rows = np.concatenate([-upper, np.zeros(n % 2), upper])
    return np.random.default_rng(seed).permutation(rows)


def student_nll(windows: Windows, tail: float, center: float, scale: float | Column) -> float:
    """Mean negative log density of the closes, whose log returns follow a Student t."""
    _, returns = log_returns(windows)
    return float(np.mean(np.log(windows.y) - stats.t.logpdf(returns, tail, center, scale)))


def garch_nll(train: Windows, test: Windows) -> float:
    """GARCH(1,1) with Student noise, fitted to the training period, one step ahead in the test."""
    from arch import arch_model

    past, following = log_returns(train)
    # In percent, as the optimiser of the package expects it.
    early = 100 * np.concatenate([past[0], following])
    both = np.concatenate([early, 100 * log_returns(test)[1]])

    def model(returns: np.ndarray):
        return arch_model(returns, mean="Constant", vol="GARCH", p=1, q=1, dist="t", rescale=False)

    found: Any = model(early).fit(disp="off").params
    scale = np.asarray(model(both).fix(found).conditional_volatility)[len(early) :]
    # The package scales its Student t to the variance.
    tail, center = found["nu"], found["mu"] / 100
    return student_nll(test, tail, center, scale * np.sqrt((tail - 2) / tail) / 100)
