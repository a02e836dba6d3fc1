"""Microseconds per member and optimiser step of every method, by `fit`, next to PyTorch."""

import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import torch

from benchmarks import torch_methods as peers
from benchmarks import workload
from benchmarks.rows import Bar, Row
from benchmarks.timing import best_of, progress
from dgme import (
    DeepEnsembleClassifier,
    DeepEnsembleRegressor,
    DGMERegressor,
    MCDropoutRegressor,
    MDNRegressor,
    MultiSWAGRegressor,
)
from dgme.nn import LSTM

OURS, TORCHS = 5, 3  # repetitions
UNIT = "µs"
# The default of the estimators. PyTorch runs fewer, which cost the same each.
EPOCHS, TORCH_EPOCHS = 400, 10
SEQUENCE_EPOCHS, IMAGE_EPOCHS = 4, 8
SHARED: dict[str, Any] = {"validation_fraction": None, "random_state": 0}


class Method(NamedTuple):
    name: str
    model: Any
    """Ours, as a user would write it."""
    peer: Callable[[int], None]
    """The same training in PyTorch, for a number of epochs."""
    bar: Bar | None
    data: Callable[[], tuple[np.ndarray, np.ndarray]] = workload.table
    epochs: int = EPOCHS
    torch_epochs: int = TORCH_EPOCHS
    peer_members: int = 1
    """How many members the peer trains; one stands for all in a loop over members."""

    @property
    def members(self) -> int:
        """Networks that are trained; an MDN is one, whatever the number of its components."""
        if isinstance(self.model, DGMERegressor):
            return self.model.n_components
        return getattr(self.model, "n_members", 1)


METHODS = (
    Method(
        "DGME",
        DGMERegressor(n_rounds=EPOCHS // 40, epochs_per_round=40, **SHARED),
        peers.gaussian,
        Bar(40, at_least=True),
    ),
    Method("MDN", MDNRegressor(epochs=EPOCHS, **SHARED), peers.mdn, Bar(40, at_least=True)),
    Method(
        "MC dropout",
        MCDropoutRegressor(epochs=EPOCHS, **SHARED),
        peers.dropout,
        Bar(40, at_least=True),
    ),
    Method(
        "deep ensemble",
        DeepEnsembleRegressor(epochs=EPOCHS, **SHARED),
        peers.gaussian,
        Bar(40, at_least=True),
    ),
    Method(
        "deep ensemble, adversarial",
        DeepEnsembleRegressor(epochs=EPOCHS, adversarial_eps=0.01, **SHARED),
        peers.adversarial,
        Bar(40, at_least=True),
    ),
    Method(
        "MultiSWAG",
        MultiSWAGRegressor(epochs=EPOCHS // 2, swag_epochs=EPOCHS // 2, **SHARED),
        peers.swag,
        Bar(30, at_least=True),
    ),
    Method(
        "LSTMs, 30 steps, 32 units",
        DeepEnsembleRegressor(network=LSTM(32), epochs=SEQUENCE_EPOCHS, **SHARED),
        peers.lstm,
        Bar(2.5, at_least=True),
        workload.sequences,
        SEQUENCE_EPOCHS,
        2,
    ),
    Method(
        "784-200-200-200-9, batch 128",
        DeepEnsembleClassifier(
            hidden_sizes=workload.IMAGE_HIDDEN,
            batch_size=workload.IMAGE_BATCH,
            learning_rate=1e-3,
            epochs=IMAGE_EPOCHS,
            **SHARED,
        ),
        peers.images_batched,
        Bar(1, at_least=True),
        workload.images,
        IMAGE_EPOCHS,
        TORCH_EPOCHS,
        peers.IMAGE_MEMBERS,
    ),
)


def measure() -> Iterator[Row]:
    for method in METHODS:
        progress(f"  {method.name}")
        yield from _rows(method)


def _rows(method: Method) -> Iterator[Row]:
    x, y = method.data()
    fit = best_of(OURS, lambda: method.model.fit(x, y)).wall
    ours = _per_step(fit, method, method.members, method.epochs)
    peer = best_of(TORCHS, lambda: method.peer(method.torch_epochs)).wall
    theirs = _per_step(peer, method, method.peer_members, method.torch_epochs)
    how = f"fit, K = {method.members}, {method.epochs} epochs; best of {OURS}, warm"
    yield Row(method.name, ours, UNIT, how)
    loop = "batched by bmm" if method.peer_members > 1 else "plain loop, any K"
    how = f"{loop}; best of {TORCHS}, {torch.get_num_threads()} threads"
    yield Row(f"{method.name}: PyTorch", theirs, UNIT, how)
    yield Row(f"{method.name}: PyTorch / ours", theirs / ours, "×", "wall clock", method.bar)


def _per_step(seconds: float, method: Method, members: int, epochs: int) -> float:
    steps = math.ceil(len(method.data()[0]) / method.model.batch_size)
    return 1e6 * seconds / (members * epochs * steps)
