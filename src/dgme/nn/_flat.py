import math
from collections.abc import Callable
from functools import cached_property

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray


class FlatNetwork:
    """A kind of network whose parameters are one vector.

    The optimiser then works on one array instead of on one per layer, which halves the cost of a
    step for small networks. `factory` maps a key to an Equinox module. It must be hashable: two
    flat networks are equal, and share compiled programs, when their factories are equal.
    """

    def __init__(self, factory: Callable[[PRNGKeyArray], eqx.Module]):
        self.factory = factory

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FlatNetwork) and self.factory == other.factory

    def __hash__(self) -> int:
        return hash(self.factory)

    def __reduce__(self):
        return FlatNetwork, (self.factory,)

    @cached_property
    def _parts(self):
        module = eqx.filter_eval_shape(self.factory, jax.eval_shape(lambda: jax.random.key(0)))
        return eqx.partition(module, lambda leaf: isinstance(leaf, jax.ShapeDtypeStruct))

    @cached_property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Name and shape of every parameter, in the order in which the vector holds them."""
        leaves, _ = jax.tree_util.tree_flatten_with_path(self._parts[0])
        return {jax.tree_util.keystr(path).lstrip("."): leaf.shape for path, leaf in leaves}

    @property
    def size(self) -> int:
        return sum(math.prod(shape) for shape in self.shapes.values())

    def initialise(self, key: PRNGKeyArray) -> Float[Array, " size"]:
        return self.vector(self.factory(key))

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

    def module(self, vector: Float[Array, " size"]) -> eqx.Module:
        structure, static = jax.tree.structure(self._parts[0]), self._parts[1]
        parameters = jax.tree.unflatten(structure, list(self.split(vector).values()))
        return eqx.combine(parameters, static)
