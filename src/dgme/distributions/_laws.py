"""What all arrays of laws are: immutable, indexed like arrays, evaluated block by block."""

import math
from collections.abc import Callable
from typing import Any, ClassVar, TypeVar

import numpy as np

from dgme.distributions._arrays import (
    Array,
    Generator,
    Labels,
    Numbers,
    Seed,
    Tables,
    Values,
    blocks,
    generator,
    take,
)

# typing.Self, which runtime type checks understand only where they see the whole class
_Laws = TypeVar("_Laws", bound="Laws")


class Laws:
    """An immutable array of n mixtures of K components.

    A class of laws names its axes, checks its arguments and passes them to ``_set``. Most of its
    verbs are a kernel for ``_evaluate``.
    """

    # Laws run along the last axis of every table and components along the one before, with one
    # entry in place of n for a single law and for shared weights. The weights are the first table.
    __slots__ = ("_components", "_groups", "_shape")

    _components: Tables
    _groups: Labels
    _shape: tuple[int, ...]

    _axes: ClassVar[str]  # of the arguments after n: components K, then targets d or classes C
    _sizes: ClassVar[tuple[str, ...]] = ("n_components",)  # in the representation

    def _set(self, components: Tables, shape: tuple[int, ...], groups: Labels) -> None:
        for array in (*components, groups):
            array.setflags(write=False)
        self._components, self._shape, self._groups = components, shape, groups

    @classmethod
    def _trusted(
        cls: type[_Laws], components: Tables, shape: tuple[int, ...], groups: Labels
    ) -> _Laws:
        law = cls.__new__(cls)
        law._set(components, shape, groups)
        return law

    def __reduce__(self) -> tuple[Any, ...]:
        return self._trusted, (self._components, self._shape, self._groups)

    @property
    def weights(self) -> Array:
        """Probabilities of the components, (n, K) or (K,); read-only."""
        weights = self._public(self._components[0])
        return np.broadcast_to(weights, (*self._shape, self.n_components))

    @property
    def groups(self) -> Labels:
        """The posterior sample of each component, (K,); read-only."""
        return self._groups

    @property
    def n_components(self) -> int:
        """Number K of components of each law."""
        return len(self._groups)

    @property
    def shape(self) -> tuple[int, ...]:
        """(n,), or () for a single law; neither components nor targets are an axis of it."""
        return self._shape

    def __len__(self) -> int:
        if not self._shape:
            axes = ", ".join(("1", *self._axes))
            raise TypeError(f"a single law has no length; build it from arrays of shape ({axes})")
        return self._shape[0]

    def __getitem__(self: _Laws, index: Any) -> _Laws:
        """A number gives a single law; a slice, a mask or indices give an array of laws."""
        if not self._shape:
            raise TypeError("a single law cannot be indexed")
        last = self._components[-1]
        row = last[(0,) * (last.ndim - 1)]  # one number for each law
        if isinstance(index, tuple) or (chosen := row[index]).ndim > 1:
            raise IndexError("laws have one axis: index them with a number, a slice or a 1-d array")
        # weights that are shared stay so
        components = tuple(
            a[..., index].reshape(*a.shape[:-1], -1) if a.shape[-1] == len(self) else a
            for a in self._components
        )
        return self._trusted(components, chosen.shape, self._groups)

    def __repr__(self) -> str:
        parts = [f"shape={self.shape}", *(f"{size}={getattr(self, size)}" for size in self._sizes)]
        if (n_groups := len(np.unique(self._groups))) > 1:
            parts.append(f"n_groups={n_groups}")
        return f"{type(self).__name__}({', '.join(parts)})"

    def rvs(
        self,
        size: int | np.integer | tuple[int, ...] | None = None,
        random_state: Seed = None,
    ) -> Values:
        """Independent draws of shape ``size`` followed by the shape of the laws.

        Draws of vectors are joint and end in their d targets.
        """
        sizes = np.atleast_1d(() if size is None else size).tolist()
        return self._draw(generator(random_state), (*sizes, *self._shape))

    def _draw(self, rng: Generator, shape: tuple[int, ...]) -> Values:
        raise NotImplementedError

    def _by_component(self, kernel: Callable[..., Array], *arguments: Numbers) -> Array:
        """Run a kernel that gives a number for each component; they come in the last axis."""
        return np.moveaxis(self._evaluate(kernel, *arguments, leading=(self.n_components,)), 0, -1)

    def _public(self, table: Array) -> Array:
        """The laws, when there are several, in the first axis."""
        return table.T if self._shape else table.T[0]

    def _evaluate(
        self,
        kernel: Callable[..., Array],
        *arguments: Numbers,
        tables: Tables | None = None,
        leading: tuple[int, ...] = (),
        dtype: type[np.generic] = np.float64,
        cost: int = 0,
    ) -> Values:
        """Run a kernel over blocks of the laws broadcast with the arguments.

        Its tables are the components unless the caller has others. The result may have leading
        axes before those of the laws. The cost is the size of temporary arrays for each law,
        without a word that of the largest table.
        """
        tables = tables or self._components
        arrays = [np.asarray(a, dtype=np.float64) for a in arguments]
        shape = np.broadcast_shapes(self._shape, *(a.shape for a in arrays))
        flat = [np.broadcast_to(a, shape).reshape(-1) for a in arrays]
        out = np.empty((*leading, math.prod(shape)), dtype=dtype)
        n = math.prod(self._shape)
        cost = cost or max(math.prod(table.shape[:-1]) for table in tables)
        with np.errstate(all="ignore"):
            for block in blocks(out.shape[-1], cost):
                # the laws run along the last axis, so they repeat after every n entries
                rows = block if block.stop <= n else np.arange(block.start, block.stop) % n
                out[..., block] = kernel(*(a[block] for a in flat), *take(tables, rows))
        return out.reshape((*leading, *shape))[()]
