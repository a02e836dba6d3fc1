import math
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Float32, Int32

from dgme.engine._lanes import Group, compile_once, gather, groups, run_groups
from dgme.engine._optimiser import Optimiser
from dgme.engine._orders import Orders
from dgme.engine._random import random_key
from dgme.nn import FlatNetwork

# Orders of rows, and recorded iterates, that a device holds at a time; longer training is cut into
# chunks of epochs.
_ORDER_ENTRIES = 2**22
_ITERATE_ENTRIES = 2**25


class Rows(NamedTuple):
    """The rows that lanes train on: one or several datasets of the same size."""

    x: Float32[np.ndarray, "datasets n ..."]
    y: Float32[np.ndarray, "datasets n ..."]


class TrainState(NamedTuple):
    """All that is needed to go on training, to the last bit as if never interrupted."""

    epoch: int
    params: np.ndarray
    optimiser: Any
    alive: np.ndarray
    losses: np.ndarray
    iterates: np.ndarray | None = None
    """The parameters after each epoch of the last chunk, (lanes, epochs, size), if recorded."""


class Trained(NamedTuple):
    params: Float32[np.ndarray, "lanes size"]
    losses: Float32[np.ndarray, "lanes epochs"]
    failed: np.ndarray
    """Lanes that met a loss or a parameter that is not finite, and kept the epoch before."""


Callback = Callable[[TrainState], bool | None]


def train(
    objective: Callable,
    network: FlatNetwork,
    params: Float32[np.ndarray, "lanes size"],
    rows: Rows,
    weights: Float32[np.ndarray, "lanes n"],
    orders: Orders,
    *,
    epochs: int,
    batch_size: int,
    optimiser: Optimiser,
    seed: int = 0,
    dataset: Int32[np.ndarray, " lanes"] | None = None,
    chunk_epochs: int | None = None,
    callbacks: Sequence[Callback] = (),
    record: bool = False,
    resume: TrainState | None = None,
    device: jax.Device | None = None,
) -> Trained:
    """Minimise the weighted mean of `objective(module, x, y, key)` in every lane.

    The objective gives one loss per row. Lane i reads the rows of `dataset[i]` with `weights[i]`,
    in the order of `orders(i, ...)`, by minibatches of which the last may be smaller. Between
    chunks of epochs each callback gets the `TrainState`, with the iterates of the chunk if they are
    to be recorded; training ends when one returns True. Chunks end at all multiples of
    `chunk_epochs`, and between them where there is much to do.
    """
    n_lanes, n_rows = len(params), rows.x.shape[1]
    batch_size = min(batch_size, n_rows)
    dataset = np.zeros(n_lanes, np.int32) if dataset is None else dataset
    parts = groups(n_lanes, device)
    chunk = max(1, _ORDER_ENTRIES // (len(parts[0].lanes) * n_rows))
    chunk = min(chunk, chunk_epochs or chunk)
    if record:
        chunk = min(chunk, max(1, _ITERATE_ENTRIES // params.size))
    chunk = min(chunk, max(1, epochs))
    fixed = (network, batch_size, record, objective, optimiser)
    span = {"epochs": epochs, "seed": seed}
    constants = [
        jax.device_put(
            (Rows(*rows), weights[part.lanes], dataset[part.lanes], part.lanes), part.device
        )
        for part in parts
    ]
    state = begin = resume or _begin(optimiser, params)
    while state.epoch < epochs:
        first, stop = state.epoch, min(state.epoch + chunk, epochs)
        if chunk_epochs is not None:
            stop = min(stop, (first // chunk_epochs + 1) * chunk_epochs)

        def work(part: Group, constant, first=first, stop=stop, state=state):
            order = np.zeros((len(part.lanes), chunk, n_rows), np.int32)
            order[:, : stop - first] = [orders(int(lane), first, stop) for lane in part.lanes]
            own = jax.tree.map(
                lambda leaf: leaf[part.lanes], (state.params, state.optimiser, state.alive)
            )
            arguments = (*fixed, *jax.device_put((own, order), part.device), *constant)
            range_of_epochs = {**span, "first": first, "stop": stop}
            if state is begin:
                compile_once(_train_epochs, *arguments, **range_of_epochs)
            return jax.tree.map(np.asarray, _train_epochs(*arguments, **range_of_epochs))

        results = run_groups(work, parts, constants)
        (params, opt_state, alive), losses, iterates = jax.tree.map(
            lambda *leaves: gather(leaves, n_lanes), *results
        )
        losses = np.concatenate([state.losses, losses[:, : stop - first]], axis=1)
        iterates = None if iterates is None else iterates[:, : stop - first]
        state = TrainState(stop, params, opt_state, alive, losses, iterates)
        stops = [callback(state) for callback in callbacks]
        if any(stops):
            break
    return Trained(state.params, state.losses, ~state.alive)


def _begin(optimiser: Optimiser, params: np.ndarray) -> TrainState:
    n_lanes, size = params.shape
    # Counters and moments all begin at zero; making them here saves a compilation.
    zeros = jax.tree.map(
        lambda leaf: np.zeros((n_lanes, *leaf.shape), leaf.dtype), _state_of_one(optimiser, size)
    )
    losses = np.empty((len(params), 0), np.float32)
    return TrainState(0, params, zeros, np.ones(len(params), bool), losses)


@lru_cache
def _state_of_one(optimiser: Optimiser, size: int):
    """Shapes of the optimiser's state for one lane; tracing them anew would slow short fits."""
    return jax.eval_shape(optimiser.build(1, 1).init, jax.ShapeDtypeStruct((size,), np.float32))


@partial(jax.jit, static_argnums=(0, 1, 2))
def _train_epochs(
    network: FlatNetwork,
    batch_size: int,
    record: bool,
    objective,
    optimiser: Optimiser,
    lanes_state,
    orders: Int32[Array, "lanes chunk n"],
    rows: Rows,
    weights: Float[Array, "lanes n"],
    dataset: Int32[Array, " lanes"],
    lane_numbers: Int32[Array, " lanes"],
    *,
    epochs,
    seed,
    first,
    stop,
):
    """Epochs `first` to `stop` of a group of lanes; `orders` begins with that of epoch `first`."""
    n_rows, n_batches = orders.shape[-1], math.ceil(orders.shape[-1] / batch_size)
    padding = n_batches * batch_size - n_rows
    batch_rows = np.full(n_batches, batch_size, np.float32)
    batch_rows[-1] -= padding
    transform = optimiser.build(epochs * n_batches, n_batches)

    def batched(a):
        return a.reshape(n_batches, batch_size, *a.shape[1:])

    def one_lane(state, orders, weights, dataset, lane):
        lane_key = jax.random.fold_in(random_key(seed), lane)

        def epoch(number, carry):
            before, losses, iterates = carry
            order = jnp.pad(orders[number - first], (0, padding))
            # Rows are gathered once per epoch: a gather inside the step costs as much as the step.
            batches = (
                batched(rows.x[dataset, order]),
                batched(rows.y[dataset, order]),
                batched(weights[order].at[n_rows:].set(0.0)),
                batch_rows,
                number * n_batches + jnp.arange(n_batches),
            )
            params, opt_state, alive = before
            start = (params, opt_state, jnp.zeros((), jnp.float32))
            (params, opt_state, total), _ = jax.lax.scan(partial(step, lane_key), start, batches)
            # A number that is not finite stays, so one look per epoch finds every failure.
            alive = alive & jnp.isfinite(total) & jnp.isfinite(params).all()
            after = jax.tree.map(partial(jnp.where, alive), (params, opt_state), before[:2])
            losses = losses.at[number - first].set(total / n_rows)
            if record:
                iterates = iterates.at[number - first].set(after[0])
            return (*after, alive), losses, iterates

        losses = jnp.zeros(orders.shape[0], jnp.float32)
        iterates = jnp.zeros((orders.shape[0], network.size), jnp.float32) if record else None
        return jax.lax.fori_loop(first, stop, epoch, (state, losses, iterates))

    def step(lane_key, carry, batch):
        params, opt_state, total = carry
        x, y, weight, count, number = batch
        key = jax.random.fold_in(lane_key, number)

        def loss(module):
            return jnp.sum(weight * objective(module, x, y, key)) / count

        # With respect to the layers, and joined once: through the vector, every layer's gradient
        # would be padded to full length and added.
        value, gradient = eqx.filter_value_and_grad(loss)(network.module(params))
        gradient = network.vector(gradient)
        # Optax raises a float to the power of an integer count, which strict promotion forbids.
        with jax.numpy_dtype_promotion("standard"):
            updates, opt_state = transform.update(gradient, opt_state, params)
        return (params + updates, opt_state, total + value * count), None

    return jax.vmap(one_lane)(lanes_state, orders, weights, dataset, lane_numbers)
