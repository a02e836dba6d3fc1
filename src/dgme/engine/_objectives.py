"""What a lane computes from its rows, written once for all heads."""

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from dgme.nn import BatchModule, Head


class NegativeLogLikelihood(eqx.Module):
    """Minus the log density of each row. With a key, every row loses units of its own."""

    head: Head

    def __call__(
        self, module: BatchModule, x, y, key: PRNGKeyArray | None = None
    ) -> Float[Array, " n"]:
        keys = None if key is None else jax.random.split(key, len(x))
        return -self.head.log_prob(module(x, keys), y)


class Adversarial(eqx.Module):
    """The mean of an objective at a row and at the worst of its neighbours.

    The neighbour is a step away in the direction of the sign of the gradient, as in deep ensembles.
    """

    objective: Callable[..., Float[Array, " n"]]
    step: Float[Array | np.ndarray, "*shape"]
    """How far each entry of a row moves."""

    def __call__(
        self, module: BatchModule, x, y, key: PRNGKeyArray | None = None
    ) -> Float[Array, " n"]:
        fixed = jax.lax.stop_gradient(module)
        slope = jax.grad(lambda x: self.objective(fixed, x, y, key).sum())(x)
        neighbours = x + self.step[None] * jnp.sign(slope)
        return 0.5 * (
            self.objective(module, x, y, key) + self.objective(module, neighbours, y, key)
        )


class Prediction(eqx.Module):
    """What the head reads from the network: the mixture of each row.

    With a key, all rows pass the same thinned network.
    """

    head: Head

    def __call__(
        self, module: BatchModule, x, key: PRNGKeyArray | None = None
    ) -> tuple[jax.Array, ...]:
        return self.head(module(x, key))
