"""Experts on data: what EM and the training of independent members have in common.

Runs are trained side by side; each reads one of the datasets. R is the number of runs, K of experts
in each, N of rows.
"""

from collections.abc import Sequence
from typing import NamedTuple

import jax
import numpy as np
from jaxtyping import Bool, Float32, Float64, Int

from dgme.engine import (
    Adversarial,
    Callback,
    NegativeLogLikelihood,
    Optimiser,
    Prediction,
    Rows,
    ShuffledOrders,
    Trained,
    apply_lanes,
    initialise_lanes,
    train,
)
from dgme.nn import FlatNetwork, Head

Params = Float32[np.ndarray, "R K size"]
Runs = Int[np.ndarray, " R"]
RowWeights = Float64[np.ndarray, "R K N"]


class Experts(NamedTuple):
    """What a component is: a kind of network, and how its outputs are read as a law."""

    network: FlatNetwork
    head: Head
    adversarial_step: Float32[np.ndarray, "*shape"] | None = None
    """How far each entry of a row moves in adversarial training, if that is wanted."""

    @property
    def objective(self) -> NegativeLogLikelihood | Adversarial:
        likelihood = NegativeLogLikelihood(self.head)
        if self.adversarial_step is None:
            return likelihood
        return Adversarial(likelihood, self.adversarial_step)


class Data(NamedTuple):
    """The rows of one or several datasets of equal size; row weights have mean one."""

    x: Float32[np.ndarray, "datasets N *shape"]
    y: Float32[np.ndarray, "datasets N d"]
    weight: Float64[np.ndarray, "datasets N"]

    @classmethod
    def of(cls, x: np.ndarray, y: np.ndarray, weight: np.ndarray | None = None) -> "Data":
        y = y[..., None] if y.ndim == 2 else y
        weights = np.ones(x.shape[:2]) if weight is None else weight
        weights = weights / weights.mean(axis=1, keepdims=True)
        return cls(x.astype(np.float32), y.astype(np.float32), weights)


def initialise(experts: Experts, n_runs: int, n_members: int, seed: int) -> Params:
    """Independent networks."""
    params = initialise_lanes(experts.network, n_runs * n_members, seed)
    return params.reshape(n_runs, n_members, -1)


def improve(
    experts: Experts,
    params: Params,
    data: Data,
    runs: Runs,
    row_weights: RowWeights,
    *,
    epochs: int,
    batch_size: int,
    optimiser: Optimiser,
    seed: int,
    stage: int = 1,
    chunk_epochs: int | None = None,
    callbacks: Sequence[Callback] = (),
    record: bool = False,
    device: jax.Device | None = None,
) -> Trained:
    """Train every expert on its own weighted likelihood, from where it is, with a fresh Adam.

    Every `stage` of a training has minibatches and dropout of its own.
    """
    lanes = params.shape[:2]
    n_rows = row_weights.shape[2]
    trained = train(
        experts.objective,
        experts.network,
        params.reshape(-1, params.shape[2]),
        Rows(data.x, data.y),
        row_weights.reshape(-1, n_rows).astype(np.float32),
        ShuffledOrders(n_rows, (seed, stage)),
        epochs=epochs,
        batch_size=batch_size,
        optimiser=optimiser,
        seed=int(np.random.SeedSequence((seed, stage)).generate_state(1)[0] >> 1),
        dataset=np.repeat(runs, lanes[1]),
        chunk_epochs=chunk_epochs,
        callbacks=callbacks,
        record=record,
        device=device,
    )
    return Trained(
        trained.params.reshape(params.shape),
        trained.losses.reshape(*lanes, -1),
        trained.failed.reshape(lanes),
    )


def log_densities(
    experts: Experts, params: Params, rows: Data, runs: Runs, device: jax.Device | None = None
) -> Float64[np.ndarray, "R K N"]:
    """log p_k(y_n | x_n, theta_k)"""
    losses = apply_lanes(
        NegativeLogLikelihood(experts.head),
        experts.network,
        params.reshape(-1, params.shape[2]),
        rows.x,
        rows.y,
        dataset=np.repeat(runs, params.shape[1]),
        device=device,
    )
    return -losses.reshape(*params.shape[:2], -1).astype(np.float64)


def at_floor(
    experts: Experts, params: Params, rows: Data, runs: Runs, device: jax.Device | None = None
) -> Bool[np.ndarray, "R K N"]:
    """Where most of the law of an expert is as narrow as it may be."""
    smallest = getattr(experts.head, "min_scale", 0.0)
    weights, *_, scales = apply_lanes(
        Prediction(experts.head),
        experts.network,
        params.reshape(-1, params.shape[2]),
        rows.x,
        dataset=np.repeat(runs, params.shape[1]),
        device=device,
    )
    narrow = (scales < 1.05 * smallest).any(axis=-1)
    return ((weights * narrow).sum(axis=-1) > 0.5).reshape(*params.shape[:2], -1)
