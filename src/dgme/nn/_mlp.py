from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from dgme.nn._activations import ACTIVATIONS
from dgme.nn._initialisers import INITIALISERS


@jax.custom_vjp
def product(x: Float[Array, "n n_in"], weight: Float[Array, "n_in n_out"]):
    """The matrix product, with a gradient for the weight that is fast for narrow layers."""
    return jnp.matmul(x, weight)


def _product_forward(x, weight):
    return jnp.matmul(x, weight), (x, weight)


def _product_backward(saved, gradient):
    x, weight = saved
    # XLA would fold the transpose into the product, for which it has no fast kernel on CPUs. Behind
    # a barrier the small matrix is transposed first: a training step then takes two thirds as long.
    transposed = jax.lax.optimization_barrier(jnp.transpose(x))
    return jnp.matmul(gradient, jnp.transpose(weight)), jnp.matmul(transposed, gradient)


product.defvjp(_product_forward, _product_backward)


class Linear(eqx.Module):
    weight: Float[Array, "n_in n_out"]
    bias: Float[Array, " n_out"]

    def __call__(self, x: Float[Array, "n n_in"]) -> Float[Array, "n n_out"]:
        return product(x, self.weight) + self.bias[None]


class MLP(eqx.Module):
    """A multilayer perceptron over a batch of rows.

    All outputs share the trunk, as the mean and the variance of an expert do in the paper. Without
    a `key` the network is deterministic; with one, hidden units are dropped.
    """

    layers: tuple[Linear, ...]
    activation: str = eqx.field(static=True)
    dropout: float = eqx.field(static=True)

    def __call__(
        self, x: Float[Array, "n n_in"], key: PRNGKeyArray | None = None
    ) -> Float[Array, "n n_out"]:
        *hidden, last = self.layers
        for depth, layer in enumerate(hidden):
            x = ACTIVATIONS[self.activation](layer(x))
            if key is not None and self.dropout > 0:
                x = inverted_dropout(x, self.dropout, jax.random.fold_in(key, depth))
        return last(x)


def inverted_dropout(
    x: Float[Array, "n width"], rate: float, key: PRNGKeyArray
) -> Float[Array, "n width"]:
    """Drop units with probability `rate` and enlarge the others, so that the mean stays."""
    kept = jax.random.bernoulli(key, 1 - rate, x.shape)
    return jnp.where(kept, x / (1 - rate), 0.0)


@dataclass(frozen=True)
class MLPFactory:
    """The recipe of an `MLP`. Equal recipes are equal keys of the compilation cache."""

    n_inputs: int
    n_outputs: int
    hidden_sizes: tuple[int, ...]
    activation: str = "relu"
    dropout: float = 0.0
    init: str = "torch"

    def __call__(self, key: PRNGKeyArray) -> MLP:
        sizes = (self.n_inputs, *self.hidden_sizes, self.n_outputs)
        keys = jax.random.split(key, len(sizes) - 1)
        initialise = INITIALISERS[self.init]
        layers = tuple(
            Linear(*initialise(key, n_in, n_out))
            for key, n_in, n_out in zip(keys, sizes[:-1], sizes[1:], strict=True)
        )
        return MLP(layers, self.activation, self.dropout)
