"""Members that train on their own: deep ensembles, and networks that stand alone.

Without an E-step every member sees all rows with their full weight, for a number of epochs that is
given, or chosen on held-out rows. R is the number of runs, K of members, N of rows.
"""

from collections.abc import Callable
from dataclasses import dataclass

import jax
import numpy as np
from jaxtyping import Float32, Int

from dgme import experts as on_data
from dgme.em import log_likelihood
from dgme.engine import Callback, Optimiser, TrainState
from dgme.experts import Data, Experts, Params
from dgme.rounds import BestRounds, Check, Finding, Mixture, Status, Trouble, findings


@dataclass(frozen=True)
class Plan:
    """How members are trained."""

    epochs: int
    batch_size: int
    optimiser: Optimiser
    patience: int | None = None
    """Epochs that may go by without a better held-out score."""
    epochs_per_check: int = 10


@dataclass(frozen=True)
class Fit:
    """The outcome for every dataset."""

    params: Float32[np.ndarray, "R K size"]
    best_epoch: Int[np.ndarray, " R"]
    last_epoch: Int[np.ndarray, " R"]
    history: list[Check]
    status: list[Status]
    findings: list[list[Finding]]


def fit(
    experts: Experts,
    data: Data,
    n_members: int,
    plan: Plan,
    *,
    seed: int,
    start: Params | None = None,
    held_out: Data | None = None,
    on_check: Callable[[Check], None] | None = None,
    on_epochs: Callback | None = None,
    device: jax.Device | None = None,
) -> Fit:
    """Minimise every member's negative log-likelihood; with held-out rows keep the best epoch.

    Epochs are compared by the likelihood of the members' mixture with equal weights. `on_check` is
    called where this is done. `on_epochs` is called more often, as the engine gets on, and ends the
    training by returning True.
    """
    runs = np.arange(len(data.x), dtype=np.int32)
    params = on_data.initialise(experts, len(runs), n_members, seed) if start is None else start
    weights = np.full(params.shape[:2], 1 / n_members)
    best = BestRounds.before(Mixture(params, weights), 0, np.full(len(runs), -np.inf))
    history: list[Check] = []

    def check(epoch: int, loss: np.ndarray, theta: Mixture, score: np.ndarray | None) -> None:
        nonlocal best
        loss = loss.reshape(weights.shape).mean(axis=1).astype(np.float64)
        history.append(Check(epoch, loss, score))
        best = best.after(history[-1], theta, plan.patience)
        if on_check is not None:
            on_check(history[-1])

    def between_chunks(state: TrainState) -> bool:
        stop = on_epochs is not None and bool(on_epochs(state))
        due = state.epoch == plan.epochs or state.epoch % plan.epochs_per_check == 0
        if held_out is not None and (due or stop):
            now = state.params.reshape(params.shape)
            density = on_data.log_densities(experts, now, held_out, runs, device)
            likelihood = log_likelihood(weights, density, held_out.weight)
            check(state.epoch, state.losses[:, -1], Mixture(now, weights), likelihood)
        return stop or bool(best.finished.all())

    in_chunks = not (held_out is None and on_epochs is None)
    trained = on_data.improve(
        experts,
        params,
        data,
        runs,
        np.repeat(data.weight[:, None], n_members, axis=1),
        epochs=plan.epochs,
        batch_size=plan.batch_size,
        optimiser=plan.optimiser,
        seed=seed,
        chunk_epochs=min(plan.epochs_per_check, plan.epochs) if in_chunks else None,
        callbacks=[between_chunks] if in_chunks else [],
        device=device,
    )
    if held_out is None:
        # Nothing was to be decided on the way: the history is that of the losses.
        n_epochs, theta = trained.losses.shape[2], Mixture(trained.params, weights)
        epochs = range(plan.epochs_per_check, n_epochs, plan.epochs_per_check)
        for epoch in (*epochs, n_epochs):
            check(epoch, trained.losses[..., epoch - 1], theta, None)
    mixture = best.mixture
    ended = Status.COMPLETED if history[-1].number == plan.epochs else Status.INTERRUPTED
    floor = on_data.at_floor(experts, mixture.params, data, runs, device)
    return Fit(
        mixture.params,
        best.number,
        best.last_round,
        history,
        [Status.CONVERGED if done else ended for done in best.finished],
        findings({Trouble.DIVERGED: trained.failed, Trouble.COLLAPSED: floor.mean(axis=2) > 0.5}),
    )
