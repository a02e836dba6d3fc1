import math
from dataclasses import dataclass
from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from dgme.nn._initialisers import INITIALISERS
from dgme.nn._mlp import MLPModule, dense_layers
from dgme.nn._modules import BatchModule, Keys, fold_in, inverted_dropout


# A training step with this gradient, written by hand, takes two thirds of what it takes with that
# of `jax.grad`. Much of it comes from keeping the gates in arrays of their own: XLA does not
# vectorise a loop that reads several slices of what was saved for a step, and the whole would take
# a third longer. Unrolling the scans makes them slower.
@partial(jax.custom_vjp, nondiff_argnums=(0,))
def recurrence(
    every_step: bool, x: Float[Array, "steps n n_in"], weight: Float[Array, "rows _"]
) -> jax.Array:
    """Hidden states of a layer, (steps, n, hidden), or only those of the last step, (n, hidden).

    The rows of `weight` belong to the hidden units, the features and a constant; its columns to
    the gates i, f, g and o. So a step is one product, and so is its gradient for the weight.
    """
    return _recurrence_forward(every_step, x, weight)[0]


def _recurrence_forward(every_step, x, weight):
    hidden, n = weight.shape[1] // 4, x.shape[1]
    # sigmoid(z) = (1 + tanh(z / 2)) / 2, so that one tanh, the faster of the two, serves all gates.
    halves = jnp.repeat(jnp.asarray([0.5, 0.5, 1.0, 0.5], weight.dtype), hidden)
    scaled, one = weight * halves[None], jnp.ones((n, 1), x.dtype)

    def step(state, x):
        h, cell = state
        row = jnp.concatenate([h, x, one], axis=1)
        i, f, g, o = jnp.split(jnp.tanh(jnp.matmul(row, scaled)), 4, axis=1)
        i, f, o = 0.5 + 0.5 * i, 0.5 + 0.5 * f, 0.5 + 0.5 * o
        new_cell = f * cell + i * g
        shown = jnp.tanh(new_cell)
        h = o * shown
        return (h, new_cell), (h, (row, i, f, g, o, cell, shown))

    zeros = jnp.zeros((n, hidden), x.dtype)
    (last, _), (states, saved) = jax.lax.scan(step, (zeros, zeros), x)
    return states if every_step else last, (weight, saved)


def _recurrence_backward(every_step, residuals, gradient):
    weight, saved = residuals
    hidden = weight.shape[1] // 4
    to_hidden, to_x = jnp.transpose(weight[:hidden]), jnp.transpose(weight[hidden:-1])

    def step(carry, now):
        dh, dcell, dweight = carry
        (row, i, f, g, o, cell, shown), dstate = now
        dh = dh + dstate if every_step else dh
        dcell = dcell + dh * o * (1 - shown * shown)
        dz = jnp.concatenate(
            [
                dcell * g * i * (1 - i),
                dcell * cell * f * (1 - f),
                dcell * i * (1 - g * g),
                dh * shown * o * (1 - o),
            ],
            axis=1,
        )
        # The barrier is that of `product`. To add up small products is faster than one big product
        # over all steps, for which the gradients of the gates would be stored and transposed.
        transposed = jax.lax.optimization_barrier(jnp.transpose(row))
        dweight = dweight + jnp.matmul(transposed, dz)
        return (jnp.matmul(dz, to_hidden), dcell * f, dweight), jnp.matmul(dz, to_x)

    zeros = jnp.zeros_like(saved[-1][0])
    dh, dstates = (zeros, gradient) if every_step else (gradient, None)
    start = (dh, zeros, jnp.zeros_like(weight))
    (_, _, dweight), dx = jax.lax.scan(step, start, (saved, dstates), reverse=True)
    return dx, dweight


recurrence.defvjp(_recurrence_forward, _recurrence_backward)


class LSTMLayer(eqx.Module):
    """Rows of the weight are the hidden units, then the inputs; columns the gates i, f, g and o."""

    weight: Float[Array, "rows columns"]
    bias: Float[Array, " columns"]

    def __call__(self, x: Float[Array, "steps n n_in"], *, every_step: bool) -> Float[Array, "..."]:
        return recurrence(every_step, x, jnp.concatenate([self.weight, self.bias[None]]))


class LSTMModule(BatchModule):
    """Dense layers read the hidden state that the last LSTM layer has after the last step."""

    layers: tuple[LSTMLayer, ...]
    dense: MLPModule
    dropout: float = eqx.field(static=True)

    def __call__(self, x: Float[Array, "n steps n_in"], key: Keys = None) -> Float[Array, "n _"]:
        h = jnp.swapaxes(x, 0, 1)
        for depth, layer in enumerate(self.layers):
            if key is not None and self.dropout > 0 and depth > 0:
                # With the same key in every step, a unit is dropped in all of them or in none.
                drop = jax.vmap(inverted_dropout, in_axes=(0, None, None))
                h = drop(h, self.dropout, fold_in(key, depth))
            h = layer(h, every_step=depth < len(self.layers) - 1)
        return self.dense(h, None if key is None else fold_in(key, 0))


@dataclass(frozen=True)
class LSTM:
    """A long short-term memory over sequences: rows of shape (steps, features).

    Parameters
    ----------
    hidden_size : int
        Hidden units of every LSTM layer.
    n_layers : int
        LSTM layers, each of which reads the hidden states of the one before.
    dense_sizes : tuple of int
        Widths of fully connected layers between the last hidden state and the outputs.
    activation : str
        That of the fully connected layers: "relu", "silu", "gelu", "elu", "tanh", "softplus" or
        "identity".
    dropout : float
        Probability of dropping a hidden unit, between LSTM layers and before every fully connected
        one. What a row drops between LSTM layers it drops in all steps.
    init : str
        Initialisation: "torch", "uniform", "normal", "xavier_uniform" or "xavier_normal". For the
        last two, each gate counts as a dense layer of its own.
    """

    hidden_size: int = 32
    n_layers: int = 1
    dense_sizes: tuple[int, ...] = ()
    activation: str = "relu"
    dropout: float = 0.0
    init: str = "torch"

    def __call__(
        self, key: PRNGKeyArray, input_shape: tuple[int, ...], n_outputs: int
    ) -> LSTMModule:
        if len(input_shape) != 2:
            found = ", ".join(["n", *map(str, input_shape)])
            raise ValueError(
                f"An LSTM reads X of shape (n, steps, features), but X has shape ({found}). "
                "If each column is a step of one series, pass X[:, :, None]; else reshape X."
            )
        for name in ("hidden_size", "n_layers"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name}={getattr(self, name)} must be at least 1.")
        for_layers, for_dense = jax.random.split(key)
        widths = (input_shape[1], *[self.hidden_size] * (self.n_layers - 1))
        layers = tuple(
            self._layer(key, n_in)
            for key, n_in in zip(jax.random.split(for_layers, self.n_layers), widths, strict=True)
        )
        dense = dense_layers(for_dense, (self.hidden_size, *self.dense_sizes, n_outputs), self.init)
        dense = MLPModule(dense, self.activation, self.dropout, drop_inputs=True)
        return LSTMModule(layers, dense, self.dropout)

    def _layer(self, key: PRNGKeyArray, n_in: int) -> LSTMLayer:
        n_rows, hidden = self.hidden_size + n_in, self.hidden_size
        if self.init == "torch":
            # PyTorch's rule for an LSTM looks at the hidden units alone.
            bound = 1 / math.sqrt(hidden)
            both = jax.random.uniform(key, (n_rows + 1, 4 * hidden), minval=-bound, maxval=bound)
            return LSTMLayer(both[:-1], both[-1])
        gates = [INITIALISERS[self.init](key, n_rows, hidden) for key in jax.random.split(key, 4)]
        weights, biases = zip(*gates, strict=True)
        return LSTMLayer(jnp.concatenate(weights, axis=1), jnp.concatenate(biases))
