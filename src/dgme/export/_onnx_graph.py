"""A graph of ONNX, written like a formula: an operation is a call that returns its result."""

from collections.abc import Mapping
from hashlib import sha256
from typing import Any

import numpy as np
from onnx import ModelProto, NodeProto, TensorProto, ValueInfoProto, helper, numpy_helper

# Old enough for runtimes of 2022.
_OPSET, _IR_VERSION = 17, 8


class Graph:
    """A value is the name of what a node returns; constants that are equal are stored once."""

    def __init__(self):
        self._nodes: list[NodeProto] = []
        self._constants: dict[bytes, TensorProto] = {}

    def __call__(self, operation: str, *inputs: str, result: int = 0, **attributes: Any) -> str:
        """One of an operation's results, by default its first."""
        value = f"v{len(self._nodes)}"
        outputs = [""] * result + [value]
        self._nodes.append(helper.make_node(operation, inputs, outputs, **attributes))
        return value

    @property
    def n_bytes(self) -> int:
        return sum(len(constant.raw_data) for constant in self._constants.values())

    def constant(self, array) -> str:
        array = np.asarray(array, order="C")
        digest = sha256(f"{array.dtype}{array.shape}".encode() + array.tobytes()).digest()
        if digest not in self._constants:
            name = f"c{len(self._constants)}"
            self._constants[digest] = numpy_helper.from_array(array, name)
        return self._constants[digest].name

    def columns(self, value: str, start: int, stop: int) -> str:
        """A slice of the last axis."""
        return self("Slice", value, *(self.constant([part]) for part in (start, stop, -1)))

    def reshape(self, value: str, *shape: int) -> str:
        """A size of zero keeps that of the same axis."""
        return self("Reshape", value, self.constant(shape))

    def model(
        self, x: tuple[int, ...], outputs: Mapping[str, tuple[str, tuple[int, ...]]]
    ) -> ModelProto:
        """From rows X to named values, all in double precision; shapes are those for one row."""

        def rows_of(name: str, shape: tuple[int, ...]) -> ValueInfoProto:
            return helper.make_tensor_value_info(name, TensorProto.DOUBLE, ["n", *shape])

        named = [
            helper.make_node("Identity", [value], [name]) for name, (value, _) in outputs.items()
        ]
        graph = helper.make_graph(
            [*self._nodes, *named],
            "law",
            [rows_of("X", x)],
            [rows_of(name, shape) for name, (_, shape) in outputs.items()],
            list(self._constants.values()),
        )
        opset = helper.make_opsetid("", _OPSET)
        return helper.make_model(graph, opset_imports=[opset], ir_version=_IR_VERSION)
