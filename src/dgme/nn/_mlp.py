from collections.abc import Sequence
from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from dgme.nn._activations import ACTIVATIONS
from dgme.nn._initialisers import INITIALISERS
from dgme.nn._modules import BatchModule, Keys, fold_in, inverted_dropout


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


class MLPModule(BatchModule):
    """All outputs share the trunk, as the mean and the variance of an expert do in the paper."""

    layers: tuple[Linear, ...]
    activation: str = eqx.field(static=True)
    dropout: float = eqx.field(static=True)
    drop_inputs: bool = eqx.field(static=True)

    def __call__(self, x: Float[Array, "n n_in"], key: Keys = None) -> Float[Array, "n n_out"]:
        for depth, layer in enumerate(self.layers):
            if depth > 0:
                x = ACTIVATIONS[self.activation](x)
            if key is not None and self.dropout > 0 and (depth > 0 or self.drop_inputs):
                x = inverted_dropout(x, self.dropout, fold_in(key, depth))
            x = layer(x)
        return x


@dataclass(frozen=True)
class MLP:
    """A multilayer perceptron over the features of a row.

    Parameters
    ----------
    hidden_sizes : tuple of int
        Widths of the hidden layers.
    activation : str
        One of "relu", "silu", "gelu", "elu", "tanh", "softplus", "identity".
    dropout : float
        Probability of dropping a hidden unit.
    drop_inputs : bool
        Whether features are dropped too, so that dropout stands before every layer.
    init : str
        Initialisation: "torch", "uniform", "normal", "xavier_uniform" or "xavier_normal".
    """

    hidden_sizes: tuple[int, ...] = (50,)
    activation: str = "relu"
    dropout: float = 0.0
    drop_inputs: bool = False
    init: str = "torch"

    def __call__(
        self, key: PRNGKeyArray, input_shape: tuple[int, ...], n_outputs: int
    ) -> MLPModule:
        if len(input_shape) != 1:
            raise ValueError(
                f"An MLP reads X of shape (n, features), but its rows have shape {input_shape}. "
                "Flatten them, or choose another network, such as dgme.nn.LSTM for sequences."
            )
        layers = dense_layers(key, (*input_shape, *self.hidden_sizes, n_outputs), self.init)
        return MLPModule(layers, self.activation, self.dropout, self.drop_inputs)


def dense_layers(key: PRNGKeyArray, sizes: Sequence[int], init: str) -> tuple[Linear, ...]:
    keys = jax.random.split(key, len(sizes) - 1)
    return tuple(
        Linear(*INITIALISERS[init](key, n_in, n_out))
        for key, n_in, n_out in zip(keys, sizes[:-1], sizes[1:], strict=True)
    )
