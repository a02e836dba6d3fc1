import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.typing import ArrayLike
from jaxtyping import Array, Float, PRNGKeyArray

from dgme.nn._modules import BatchModule, RowWise

# A kind of network: (key, shape of a row, number of outputs) -> an Equinox module.
Design = Callable[[PRNGKeyArray, tuple[int, ...], int], Callable]


@dataclass(frozen=True)
class FlatNetwork:
    """A kind of network whose parameters are one vector.

    The optimiser then works on one array instead of on one per layer, which halves the cost of a
    step for small networks. The design makes a `BatchModule`, or a module for one row, of shape
    `input_shape`. It must be hashable: two flat networks are equal, and share compiled programs,
    when their designs and sizes are equal.
    """

    design: Design
    input_shape: tuple[int, ...]
    n_outputs: int

    def __reduce__(self):
        return FlatNetwork, (self.design, self.input_shape, self.n_outputs)

    def _make(self, key: PRNGKeyArray) -> BatchModule:
        module = self.design(key, self.input_shape, self.n_outputs)
        return module if isinstance(module, BatchModule) else RowWise(module)

    @cached_property
    def _parts(self):
        module = eqx.filter_eval_shape(self._make, jax.eval_shape(lambda: jax.random.key(0)))
        return eqx.partition(module, lambda leaf: isinstance(leaf, jax.ShapeDtypeStruct))

    @cached_property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Name and shape of every parameter, in the order in which the vector holds them."""
        leaves, _ = jax.tree_util.tree_flatten_with_path(self._parts[0])
        named = {jax.tree_util.keystr(path).lstrip("."): leaf for path, leaf in leaves}
        for name, leaf in named.items():
            if not jnp.issubdtype(leaf.dtype, jnp.floating):
                raise ValueError(
                    f"The network's array {name} has dtype {leaf.dtype}, but what is not trained "
                    "cannot be an array. Make it a static field."
                )
        return {name: leaf.shape for name, leaf in named.items()}

    @property
    def size(self) -> int:
        return sum(math.prod(shape) for shape in self.shapes.values())

    @property
    def last_layer(self) -> int:
        """How many parameters, at the end of the vector, belong to the layer that comes last."""
        layer = list(self.shapes)[-1].rpartition(".")[0]
        of_layer = [shape for name, shape in self.shapes.items() if name.startswith(f"{layer}.")]
        return sum(math.prod(shape) for shape in of_layer)

    def initialise(self, key: PRNGKeyArray) -> Float[Array, " size"]:
        return self.vector(self._make(key))

    def vector(self, module: eqx.Module) -> Float[Array, " size"]:
        """The parameters of a module, or a gradient with respect to them, as one vector."""
        parameters = jax.tree.leaves(eqx.filter(module, eqx.is_inexact_array))
        # Single precision even where the process has made double the default.
        return jnp.concatenate([leaf.ravel().astype(jnp.float32) for leaf in parameters])

    def split(self, vector):
        """The named parameters in a vector, or in an array of vectors along its last axis."""
        if vector.shape[-1] != self.size:
            raise ValueError(f"There are {vector.shape[-1]} parameters instead of {self.size}.")
        start, parts = 0, {}
        for name, shape in self.shapes.items():
            stop = start + math.prod(shape)
            parts[name] = vector[..., start:stop].reshape(*vector.shape[:-1], *shape)
            start = stop
        return parts

    def module(self, vector: Float[Array, " size"]) -> BatchModule:
        return self.assemble(self.split(vector))

    def assemble(self, parameters: Mapping[str, ArrayLike]) -> BatchModule:
        """The module with these named parameters, which `split` gives."""
        structure, static = jax.tree.structure(self._parts[0]), self._parts[1]
        leaves = [parameters[name] for name in self.shapes]
        return eqx.combine(jax.tree.unflatten(structure, leaves), static)
