"""Algorithm 1 of the paper: expectation-maximisation over an ensemble of networks.

Runs go through the algorithm side by side: every dataset in `Data`, times the restarts in `Plan`.
Arrays carry the axis of runs in front. R is the number of runs, K of components, N of rows.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import jax
import numpy as np
from jaxtyping import Bool, Float32, Float64, Int
from scipy.special import logsumexp, softmax

from dgme import experts as on_data
from dgme.engine import Callback, Optimiser
from dgme.experts import Data, Experts
from dgme.rounds import BestRounds, Finding, Mixture, Round, Status, Trouble, findings


@dataclass(frozen=True)
class Plan:
    """How the algorithm is run."""

    n_rounds: int
    epochs_per_round: int
    batch_size: int
    optimiser: Optimiser
    n_init: int = 1
    patience: int | None = None
    weight_floor: float = 0.0
    annealing: float = 1.0
    """Inverse temperature of the first E-step, which rises to one over half of the rounds."""

    def inverse_temperature(self, j: int) -> float:
        progress = min(1.0, 2 * (j - 1) / self.n_rounds)
        return self.annealing + (1 - self.annealing) * progress


@dataclass(frozen=True)
class Fit:
    """The outcome for every dataset: the best of its restarts, and how it came about."""

    mixture: Mixture
    best_round: Int[np.ndarray, " datasets"]
    last_round: Int[np.ndarray, " datasets"]
    """The round at which the chosen run ended; other runs may have gone on longer."""
    chosen_run: Int[np.ndarray, " datasets"]
    history: list[Round]
    status: list[Status]
    findings: list[list[Finding]]


def fit(
    experts: Experts,
    data: Data,
    n_components: int,
    plan: Plan,
    *,
    seed: int,
    start: Mixture | None = None,
    rounds_before: int = 0,
    held_out: Data | None = None,
    on_round: Callable[[Round], bool | None] | None = None,
    on_epochs: Callback | None = None,
    device: jax.Device | None = None,
) -> Fit:
    """Maximise the likelihood of the mixture; of every dataset's restarts keep the best.

    With `start`, training goes on from that mixture as round `rounds_before` + 1. `on_round` is
    called after every round, and ends the training by returning True; `on_epochs` is called within
    rounds, as the engine gets on.
    """
    runs = np.repeat(np.arange(len(data.x), dtype=np.int32), plan.n_init)
    task = Task(experts, data, runs, plan, seed, held_out, on_epochs, device)
    theta = start or initialise(experts, len(runs), n_components, seed)
    # A mixture that was trained before has to be improved on; initial networks do not count.
    score = np.full(len(runs), -np.inf)
    if start is not None and held_out is not None:
        score = held_out_score(task, start, held_out)
    best = BestRounds.before(theta, rounds_before, score)
    history, interrupted = [], False
    for trained, done in iterate(task, theta, rounds_before):
        history.append(done)
        best = best.after(done, trained, plan.patience)
        interrupted = on_round is not None and bool(on_round(done))
        if interrupted or best.finished.all():
            break
    scores = np.where(np.isnan(best.score), -np.inf, best.score).reshape(-1, plan.n_init)
    chosen = np.arange(0, len(runs), plan.n_init) + scores.argmax(axis=1)
    mixture, last_round = best.mixture.take(chosen), best.last_round[chosen]
    ended = Status.INTERRUPTED if interrupted else Status.COMPLETED
    return Fit(
        mixture,
        best.number[chosen],
        last_round,
        chosen,
        history,
        [Status.CONVERGED if finished else ended for finished in best.finished[chosen]],
        find_trouble(task._replace(runs=runs[chosen]), mixture, _failed(history, chosen)),
    )


class Task(NamedTuple):
    """What stays the same over the rounds."""

    experts: Experts
    data: Data
    runs: Int[np.ndarray, " R"]
    """The dataset of each run."""
    plan: Plan
    seed: int
    held_out: Data | None = None
    on_epochs: Callback | None = None
    device: jax.Device | None = None


def iterate(task: Task, theta: Mixture, rounds_before: int = 0) -> Iterator[tuple[Mixture, Round]]:
    """The rounds of Algorithm 1."""
    plan = task.plan
    weight = task.data.weight[task.runs]
    log_density = log_densities(task, theta, task.data)
    for j in range(rounds_before + 1, rounds_before + plan.n_rounds + 1):
        gamma = responsibilities(theta.weights, log_density, plan.inverse_temperature(j))  # E-step
        weights = mixture_weights(gamma, weight, plan.weight_floor)  # M-step, in closed form
        params, failed = maximise(task, theta.params, gamma * weight[:, None], j)  # M-step
        theta = Mixture(params, weights)

        log_density = log_densities(task, theta, task.data)
        held_out = task.held_out
        yield (
            theta,
            Round(
                j,
                weights,
                log_likelihood(weights, log_density, weight),
                expected_log_likelihood(gamma, weights, log_density, weight),
                None if held_out is None else held_out_score(task, theta, held_out),
                failed,
            ),
        )


def initialise(experts: Experts, n_runs: int, n_components: int, seed: int) -> Mixture:
    """Independent networks with equal weights."""
    weights = np.full((n_runs, n_components), 1 / n_components)
    return Mixture(on_data.initialise(experts, n_runs, n_components, seed), weights)


def responsibilities(
    weights: Float64[np.ndarray, "R K"],
    log_density: Float64[np.ndarray, "R K N"],
    inverse_temperature: float = 1.0,
) -> Float64[np.ndarray, "R K N"]:
    """gamma: the probability that a row belongs to a component, given its target."""
    # A row so far away that all densities are zero tells nothing about its component.
    known = np.where(np.isneginf(log_density).all(axis=1, keepdims=True), 0.0, log_density)
    return softmax(inverse_temperature * _log_joint(weights, known), axis=1)


def mixture_weights(
    gamma: Float64[np.ndarray, "R K N"], weight: Float64[np.ndarray, "R N"], floor: float = 0.0
) -> Float64[np.ndarray, "R K"]:
    """pi: the mean responsibility of a component, over rows as they are weighted."""
    pi = np.einsum("rkn,rn->rk", gamma, weight) / weight.sum(axis=1, keepdims=True)
    pi = np.maximum(pi, floor)
    return pi / pi.sum(axis=1, keepdims=True)


def maximise(
    task: Task,
    params: Float32[np.ndarray, "R K size"],
    row_weights: Float64[np.ndarray, "R K N"],
    j: int,
) -> tuple[Float32[np.ndarray, "R K size"], Bool[np.ndarray, "R K"]]:
    """Train every network on its own weighted likelihood, from where it is, with a fresh Adam."""
    plan = task.plan
    trained = on_data.improve(
        task.experts,
        params,
        task.data,
        task.runs,
        row_weights,
        epochs=plan.epochs_per_round,
        batch_size=plan.batch_size,
        optimiser=plan.optimiser,
        seed=task.seed,
        stage=j,
        callbacks=() if task.on_epochs is None else (task.on_epochs,),
        device=task.device,
    )
    return trained.params, trained.failed


def log_densities(task: Task, theta: Mixture, rows: Data) -> Float64[np.ndarray, "R K N"]:
    """log p_k(y_n | x_n, theta_k)"""
    return on_data.log_densities(task.experts, theta.params, rows, task.runs, task.device)


def log_likelihood(weights, log_density, row_weight) -> Float64[np.ndarray, " R"]:
    """Mean log density of the mixture."""
    rows = np.asarray(logsumexp(_log_joint(weights, log_density), axis=1))
    return np.average(rows, axis=1, weights=row_weight)


def expected_log_likelihood(gamma, weights, log_density, row_weight) -> Float64[np.ndarray, " R"]:
    """Q(theta, theta') per row."""
    # A responsibility of zero counts nothing, even where a weight of zero makes the log infinite.
    terms = np.zeros_like(gamma)
    np.multiply(gamma, _log_joint(weights, log_density), out=terms, where=gamma > 0)
    return np.average(terms.sum(axis=1), axis=1, weights=row_weight)


def held_out_score(task: Task, theta: Mixture, held_out: Data) -> Float64[np.ndarray, " R"]:
    log_density = log_densities(task, theta, held_out)
    return log_likelihood(theta.weights, log_density, held_out.weight[task.runs])


def find_trouble(
    task: Task, theta: Mixture, failed: Bool[np.ndarray, "R K"]
) -> list[list[Finding]]:
    """For every run, the components that something is wrong with."""
    gamma = responsibilities(theta.weights, log_densities(task, theta, task.data))
    at_floor = on_data.at_floor(task.experts, theta.params, task.data, task.runs, task.device)
    explained = gamma.sum(axis=2)
    return findings(
        {
            Trouble.DIVERGED: failed,
            Trouble.STARVED: explained < 1,
            Trouble.COLLAPSED: (gamma * at_floor).sum(axis=2) > 0.5 * np.maximum(explained, 1),
        }
    )


def _failed(history: list[Round], runs: np.ndarray) -> Bool[np.ndarray, "runs K"]:
    """The components of some runs that failed in any of the rounds."""
    return np.any([done.failed[runs] for done in history], axis=0)


def _log_joint(weights, log_density) -> Float64[np.ndarray, "R K N"]:
    with np.errstate(divide="ignore"):
        return np.log(weights)[:, :, None] + log_density
