from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float32, UInt32


class Draws(NamedTuple):
    """Parameters of all members, several times over, and what thins their networks, if anything."""

    params: Float32[np.ndarray, "draws K size"]
    keys: UInt32[np.ndarray, "draws K 2"] | None = None


@runtime_checkable
class Posterior(Protocol):
    """A dataclass of arrays with an axis of members in front, which a model file can hold."""

    def draw(
        self, params: Float32[np.ndarray, "K size"], n: int, rng: np.random.Generator
    ) -> Draws:
        """`n` draws; those of several calls are the same as of one call for all of them."""
        ...
