"""The networks of `dgme.nn` as graphs of ONNX.

Parameters have axes of draws and of members in front. Where all draws have something in common, its
axis of draws has length one, and it is computed once for all of them.
"""

from collections.abc import Callable, Mapping
from functools import partial, reduce
from types import MappingProxyType

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Float32, UInt32

from dgme.engine import wrapped
from dgme.export._onnx_graph import Graph
from dgme.nn import BatchModule, LSTMModule, MLPModule, fold_in, inverted_dropout

Words = UInt32[np.ndarray, "draws K 2"]
Factors = Float32[np.ndarray, "draws K 1 width"]
Gates = Float[np.ndarray, "*rows columns"]


def outputs(graph: Graph, network: BatchModule, x: str, words: Words | None) -> str:
    """What the networks make of rows in single precision, of shape (draws, K, n, outputs)."""
    if isinstance(network, MLPModule):
        return _mlp(graph, network, x, words)
    if isinstance(network, LSTMModule):
        return _lstm(graph, network, x, words)
    raise TypeError(
        "ONNX export knows the networks dgme.nn.MLP and dgme.nn.LSTM, but this model has one of "
        "another kind. Use dgme.export.to_stablehlo, which takes any network."
    )


def softplus(graph: Graph, x: str, one: np.floating) -> str:
    """log(1 + exp(x)), with a one of the precision of x: ONNX's own knows single precision only."""
    tail = graph("Exp", graph("Neg", graph("Abs", x)))
    return graph("Add", graph("Relu", x), graph("Log", graph("Add", tail, graph.constant(one))))


def _gelu(graph: Graph, x: str) -> str:
    """The approximation by tanh, which is what JAX computes."""

    def times(value: str, factor: float) -> str:
        return graph("Mul", value, graph.constant(np.float32(factor)))

    cube = graph("Mul", x, graph("Mul", x, x))
    argument = times(graph("Add", x, times(cube, 0.044715)), np.sqrt(2 / np.pi))
    half = times(x, 0.5)
    return graph("Add", half, graph("Mul", half, graph("Tanh", argument)))


_ACTIVATIONS: Mapping[str, Callable[[Graph, str], str]] = MappingProxyType(
    {
        "relu": lambda graph, x: graph("Relu", x),
        "silu": lambda graph, x: graph("Mul", x, graph("Sigmoid", x)),
        "gelu": _gelu,
        "elu": lambda graph, x: graph("Elu", x),
        "tanh": lambda graph, x: graph("Tanh", x),
        "softplus": lambda graph, x: softplus(graph, x, np.float32(1)),
        "identity": lambda graph, x: x,
    }
)


def _mlp(
    graph: Graph, network: MLPModule, x: str, words: Words | None, folds: tuple[int, ...] = ()
) -> str:
    for depth, layer in enumerate(network.layers):
        if depth > 0:
            x = _ACTIVATIONS[network.activation](graph, x)
        weight, bias = np.asarray(layer.weight), np.asarray(layer.bias)
        if words is not None and network.dropout > 0 and (depth > 0 or network.drop_inputs):
            kept = _kept(words, (*folds, depth), network.dropout, weight.shape[-2])
            x = graph("Mul", x, graph.constant(kept))
        x = graph("MatMul", x, graph.constant(weight))
        x = graph("Add", x, graph.constant(bias[:, :, None]))
    return x


def _lstm(graph: Graph, network: LSTMModule, x: str, words: Words | None) -> str:
    # An LSTM of ONNX is a single network, so each of ours has a node of its own.
    sequences = np.array([[graph("Transpose", x, perm=[1, 0, 2])]], object)
    for depth, layer in enumerate(network.layers):
        weight, bias = np.asarray(layer.weight), np.asarray(layer.bias)
        if words is not None and network.dropout > 0 and depth > 0:
            kept = _kept(words, (depth,), network.dropout, weight.shape[-1] // 4)
            sequences = _each(partial(_times, graph), sequences, kept[:, :, None])
        every_step = depth < len(network.layers) - 1
        sequences = _each(partial(_lstm_layer, graph, every_step), sequences, weight, bias)
    first = graph.constant([0])
    draws = [graph("Unsqueeze", graph("Concat", *lanes, axis=0), first) for lanes in sequences]
    return _mlp(graph, network.dense, graph("Concat", *draws, axis=0), words, folds=(0,))


def _lstm_layer(
    graph: Graph,
    every_step: bool,
    x: str,
    weight: Float32[np.ndarray, "rows columns"],
    bias: Float32[np.ndarray, " columns"],
) -> str:
    """Hidden states of every step, (steps, n, hidden), or those of the last, (1, n, hidden)."""
    hidden = len(bias) // 4
    rows, bias = _reordered(weight).T[None], _reordered(bias)[None]
    biases = np.concatenate([bias, np.zeros_like(bias)], axis=1)
    parts = map(graph.constant, (rows[..., hidden:], rows[..., :hidden], biases))
    if not every_step:
        return graph("LSTM", x, *parts, hidden_size=hidden, result=1)
    return graph("Squeeze", graph("LSTM", x, *parts, hidden_size=hidden), graph.constant([1]))


def _reordered(gates: Gates) -> Gates:
    """Columns of the gates i, f, g and o in the order of ONNX, which is i, o, f and g."""
    i, f, g, o = np.split(gates, 4, axis=-1)
    return np.concatenate([i, o, f, g], axis=-1)


def _times(graph: Graph, x: str, factors: np.ndarray) -> str:
    return graph("Mul", x, graph.constant(factors))


def _each(function: Callable[..., str], values: np.ndarray, *arrays: np.ndarray) -> np.ndarray:
    """The results of a function for every draw and member."""
    lanes = np.broadcast_shapes(values.shape, *(array.shape[:2] for array in arrays))
    parts = [np.broadcast_to(part, lanes + part.shape[2:]) for part in (values, *arrays)]
    found = np.empty(lanes, object)
    for lane in np.ndindex(lanes):
        found[lane] = function(*(part[lane] for part in parts))
    return found


def _kept(words: Words, folds: tuple[int, ...], rate: float, width: int) -> Factors:
    """What the units that feed a layer are multiplied by: zero for those that a draw drops."""
    return np.asarray(_kept_by_lane(words, folds, rate, width))


@partial(jax.jit, static_argnums=(1, 2, 3))
def _kept_by_lane(words, folds: tuple[int, ...], rate: float, width: int) -> jax.Array:
    def of_lane(words):
        key = reduce(fold_in, folds, wrapped(words))
        return inverted_dropout(jnp.ones((1, width), jnp.float32), rate, key)

    return jax.vmap(jax.vmap(of_lane))(words)
