"""The predictive law of raw rows as a model of ONNX."""

from importlib.metadata import version

import numpy as np
from onnx import TensorProto, helper

from dgme.estimators import LARGEST, Scaling
from dgme.export import _onnx_networks as networks
from dgme.export._frozen import Frozen
from dgme.export._onnx_graph import Graph
from dgme.nn import GaussianHead, HomoscedasticHead, MixtureHead

# Protocol buffers cannot be larger.
_MOST_BYTES = 2**31 - 1


def onnx_law(frozen: Frozen) -> bytes:
    """The content of a file."""
    graph = Graph()
    spoilt, parts = _spoilt(graph, frozen), {}
    for (name, shape), value in zip(frozen.outputs.items(), _law(graph, frozen), strict=True):
        column = graph.reshape(spoilt, -1, *[1] * len(shape))
        parts[name] = graph("Add", value, column), shape
    if graph.n_bytes > _MOST_BYTES:
        raise ValueError(
            f"the law of n_posterior_samples={frozen.n_draws} takes {graph.n_bytes} bytes, but an "
            f"ONNX file holds at most {_MOST_BYTES}. Draw fewer samples, or use "
            "dgme.export.to_stablehlo."
        )
    model = graph.model(frozen.ensemble.experts.network.input_shape, parts)
    model.producer_name, model.producer_version = "dgme", version("dgme")
    helper.set_model_props(model, {"dgme": frozen.metadata})
    return model.SerializeToString()


def _law(graph: Graph, frozen: Frozen) -> tuple[str, ...]:
    """The values of `frozen.outputs`."""
    ensemble, shapes = frozen.ensemble, list(frozen.outputs.values())
    head, y_scaling = ensemble.experts.head, ensemble.y_scaling
    x = _standardised(graph, ensemble.x_scaling)
    found = networks.outputs(graph, frozen.networks, x, frozen.keys)
    found = graph("Transpose", graph("Cast", found, to=TensorProto.DOUBLE), perm=[2, 0, 1, 3])
    n_logits = getattr(head, "n_components", 0)
    if n_logits:
        logits = graph.columns(found, 0, n_logits)
        shares = graph.constant(frozen.shares[:, None])
        weights = graph("Mul", graph("Softmax", logits, axis=-1), shares)
        weights = graph.reshape(weights, 0, *shapes[0])
    else:
        weights = _for_every_row(graph, np.tile(frozen.shares, frozen.n_draws))
    width = frozen.n_own * head.n_targets

    def part(number: int) -> str:
        start = n_logits + number * width
        return graph.reshape(graph.columns(found, start, start + width), 0, *shapes[1])

    if "probabilities" in frozen.outputs:
        return weights, graph("Softmax", part(0), axis=-1)
    unit = graph.constant(y_scaling.scale)
    means = graph("Add", graph("Mul", part(0), unit), graph.constant(y_scaling.center))
    if isinstance(head, HomoscedasticHead):
        noise = np.asarray(head.scale, np.float64) * y_scaling.scale
        return weights, means, _for_every_row(graph, np.resize(noise, shapes[1]))
    assert isinstance(head, GaussianHead | MixtureHead)
    floor = graph.constant(np.float64(head.min_scale) ** 2)
    variance = graph("Add", networks.softplus(graph, part(1), np.float64(1)), floor)
    return weights, means, graph("Mul", graph("Sqrt", variance), unit)


def _standardised(graph: Graph, scaling: Scaling) -> str:
    x = graph("Sub", "X", graph.constant(scaling.center))
    x = graph("Div", x, graph.constant(scaling.scale))
    x = graph("Clip", x, graph.constant(-LARGEST), graph.constant(LARGEST))
    return graph("Cast", x, to=TensorProto.FLOAT)


def _spoilt(graph: Graph, frozen: Frozen) -> str:
    """NaN for rows that hold numbers that are not finite, else zero: runtimes may lose a NaN."""
    axes = range(1, 1 + len(frozen.ensemble.experts.network.input_shape))
    return graph(
        "ReduceSum", graph("Mul", "X", graph.constant(0.0)), graph.constant(axes), keepdims=0
    )


def _for_every_row(graph: Graph, value: np.ndarray) -> str:
    n = graph("Shape", "X", start=0, end=1)
    shape = graph("Concat", n, graph.constant(value.shape), axis=0)
    return graph("Expand", graph.constant(value), shape)
