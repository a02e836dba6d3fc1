import math
from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

Column = Float[Array, " n"]


class GaussianHead(eqx.Module):
    """Reads two outputs of a network as mean and standard deviation of a Gaussian.

    The variance is softplus of the second output plus the square of `min_scale`: no expert can
    become narrower, which bounds the likelihood of the mixture.
    """

    n_outputs: ClassVar[int] = 2
    min_scale: float

    def __call__(self, outputs: Float[Array, "n 2"]) -> tuple[Column, Column]:
        mean, variance = self._moments(outputs)
        return mean, jnp.sqrt(variance)

    def log_prob(self, outputs: Float[Array, "n 2"], y: Column) -> Column:
        mean, variance = self._moments(outputs)
        return -0.5 * (math.log(2 * math.pi) + jnp.log(variance) + (y - mean) ** 2 / variance)

    def _moments(self, outputs: Float[Array, "n 2"]) -> tuple[Column, Column]:
        return outputs[:, 0], jax.nn.softplus(outputs[:, 1]) + self.min_scale**2
