"""What a lane computes from its rows, written once for all heads."""

from typing import Any

import equinox as eqx
import jax
from jaxtyping import Array, Float, PRNGKeyArray


class NegativeLogLikelihood(eqx.Module):
    """Minus the log density of each row. With a key, the network drops units."""

    head: Any

    def __call__(self, module, x, y, key: PRNGKeyArray | None = None) -> Float[Array, " n"]:
        return -self.head.log_prob(module(x, key), y)


class Prediction(eqx.Module):
    """What the head reads from the network: the parameters of each row's law."""

    head: Any

    def __call__(self, module, x) -> tuple[jax.Array, ...]:
        return self.head(module(x))
