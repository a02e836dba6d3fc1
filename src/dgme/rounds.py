"""What training reports: the history of a fit, the best round so far, what went wrong."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float32, Float64, Int
from scipy.special import entr


class Mixture(NamedTuple):
    """theta of the paper: parameters and weights of the K components, for each of R runs."""

    params: Float32[np.ndarray, "R K size"]
    weights: Float64[np.ndarray, "R K"]

    def take(self, runs: np.ndarray) -> "Mixture":
        return Mixture(self.params[runs], self.weights[runs])


class Round(NamedTuple):
    """The state after one round, for every run. Likelihoods are means over rows, in nats."""

    number: int
    weights: Float64[np.ndarray, "R K"]
    log_likelihood: Float64[np.ndarray, " R"]
    q: Float64[np.ndarray, " R"]
    """Q(theta, theta'), the expected log-likelihood of the complete data, of the new theta."""
    held_out_score: Float64[np.ndarray, " R"] | None
    failed: Bool[np.ndarray, "R K"]
    """Components whose training met a number that is not finite."""

    @property
    def effective_components(self) -> Float64[np.ndarray, " R"]:
        """Exponential of the entropy of the mixture weights: K when they are equal."""
        return np.exp(entr(self.weights).sum(axis=1))

    @property
    def score(self) -> Float64[np.ndarray, " R"]:
        """What rounds and restarts are compared by."""
        return self.log_likelihood if self.held_out_score is None else self.held_out_score


class Check(NamedTuple):
    """The state of members that train on their own, after some epochs, for every run."""

    number: int
    loss: Float64[np.ndarray, " R"]
    """Mean loss of the members in the last epoch, while they were trained."""
    held_out_score: Float64[np.ndarray, " R"] | None

    @property
    def score(self) -> Float64[np.ndarray, " R"]:
        return -self.loss if self.held_out_score is None else self.held_out_score


@dataclass(frozen=True)
class BestRounds:
    """For every run the round (or check) that is to predict.

    That is the last one, unless there is a held-out score: then it is the one that scored best
    before `patience` rounds went by without an improvement.
    """

    mixture: Mixture
    number: Int[np.ndarray, " R"]
    score: Float64[np.ndarray, " R"]
    last_round: Int[np.ndarray, " R"]
    finished: Bool[np.ndarray, " R"]

    @classmethod
    def before(cls, start: Mixture, number: int, score: Float64[np.ndarray, " R"]) -> "BestRounds":
        """Where runs stand before their first round; `number` rounds may have gone before."""
        numbers = np.full(len(score), number)
        return cls(start, numbers, score, numbers, finished=np.zeros(len(score), bool))

    def after(self, done: Round | Check, theta: Mixture, patience: int | None) -> "BestRounds":
        running = ~self.finished
        better = running.copy()
        if done.held_out_score is not None:
            # Without a finite score so far there is nothing to improve on.
            better &= (done.score > self.score) | ~np.isfinite(self.score)
        chosen = [
            np.where(better.reshape(-1, *[1] * (new.ndim - 1)), new, old)
            for new, old in zip(theta, self.mixture, strict=True)
        ]
        number = np.where(better, done.number, self.number)
        last_round = np.where(running, done.number, self.last_round)
        score = np.where(better, done.score, self.score)
        finished = self.finished if patience is None else last_round - number >= patience
        return BestRounds(Mixture(*chosen), number, score, last_round, finished)


class Status(Enum):
    COMPLETED = "Ran all that was asked for."
    CONVERGED = "Stopped because the held-out score no longer improved."
    INTERRUPTED = "Stopped early by a callback."


class Trouble(Enum):
    """What can go wrong with a component, and what helps."""

    DIVERGED = (
        "Their loss was not finite, and they kept their last good parameters. "
        "Lower the learning rate or look for extreme values in X and y."
    )
    STARVED = (
        "They explain less than one row each. "
        "Use fewer components, another start (n_init, random_state) or more training rows."
    )
    COLLAPSED = (
        "They sit at the smallest allowed scale for most of their rows, as happens on repeated "
        "targets. Raise min_scale if such a narrow density is not what you mean."
    )


class Finding(NamedTuple):
    trouble: Trouble
    components: tuple[int, ...]

    def __str__(self) -> str:
        numbers = ", ".join(map(str, self.components))
        return f"{self.trouble.name.capitalize()} components: {numbers}. {self.trouble.value}"


def findings(troubled: Mapping[Trouble, Bool[np.ndarray, "R K"]]) -> list[list[Finding]]:
    """For every run, what is wrong and with which components."""
    n_runs = len(next(iter(troubled.values())))
    return [
        [
            Finding(trouble, tuple(map(int, np.flatnonzero(components[run]))))
            for trouble, components in troubled.items()
            if components[run].any()
        ]
        for run in range(n_runs)
    ]
