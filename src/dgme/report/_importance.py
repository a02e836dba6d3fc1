"""Which features the densities rest on: what the log score loses when one is shuffled."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from jaxtyping import Float64

from dgme.report._rows import Rows

# Predictions of rows altogether, shared out between the features.
_PREDICTIONS = 30_000
_ROWS = 500
_REPEATS = 3


class Importance(NamedTuple):
    feature: int
    loss: float
    """Nats per row."""
    error: float
    """Standard error over rows."""


def importance(
    log_score: Callable[[object, np.ndarray], Float64[np.ndarray, " n"]],
    rows: Rows,
    y: np.ndarray,
    rng: np.random.Generator,
) -> tuple[list[Importance], int]:
    """All features, the most important first, and the number of rows that they were shuffled in."""
    repeats = _REPEATS if len(rows.names) * _REPEATS * 100 <= _PREDICTIONS else 1
    n = int(np.clip(_PREDICTIONS // (len(rows.names) * repeats), 100, _ROWS))
    if len(y) > n:
        chosen = np.sort(rng.choice(len(y), n, replace=False))
        rows, y = rows.take(chosen), y[chosen]
    before = log_score(rows.native, y)
    found = []
    for feature in range(len(rows.names)):
        orders = [rng.permutation(len(y)) for _ in range(repeats)]
        lost = np.mean(
            [before - log_score(rows.shuffled(feature, order), y) for order in orders], axis=0
        )
        error = lost.std(ddof=1) / np.sqrt(len(y)) if len(y) > 1 else 0.0
        found.append(Importance(feature, float(lost.mean()), float(error)))
    return sorted(found, key=lambda one: -one.loss), len(y)
