"""What a network is to the rest of the library: a module over batches of rows."""

from abc import abstractmethod
from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Key

AnyKey = Key[Array, "..."]  # a single one, or one for each row
Keys = AnyKey | None


class BatchModule(eqx.Module):
    """A module that maps a batch of rows to a batch of outputs.

    Without a key it is deterministic. With one key for every row, each row loses units of its own,
    as in training; with a single key all rows pass the same thinned network, which is one sample of
    the posterior that dropout approximates.
    """

    @abstractmethod
    def __call__(self, x: Float[Array, "n ..."], key: Keys = None) -> Float[Array, "n n_out"]: ...


class RowWise(BatchModule):
    """A module for one row, such as those of Equinox, made to work on batches."""

    module: Callable

    def __call__(self, x: Float[Array, "n ..."], key: Keys = None) -> Float[Array, "n n_out"]:
        if key is None:
            return jax.vmap(lambda row: self.module(row, key=None))(x)
        in_axes = (0, None) if key.ndim == 0 else (0, 0)
        return jax.vmap(lambda row, key: self.module(row, key=key), in_axes)(x, key)


def fold_in(key: AnyKey, number: int) -> AnyKey:
    """`jax.random.fold_in` for one key, or for each of one per row."""
    return jax.random.fold_in(key, number) if key.ndim == 0 else _fold_in_rows(key, number)


_fold_in_rows = jax.vmap(jax.random.fold_in, in_axes=(0, None))


def inverted_dropout(
    x: Float[Array, " n *shape"], rate: float, key: AnyKey
) -> Float[Array, " n *shape"]:
    """Drop units with probability `rate` and enlarge the others, so that the mean stays."""

    # Comparing words saves their conversion to floats, a quarter of a small network's step.
    smallest_kept = jnp.uint32(min(round(rate * 2**32), 2**32 - 1))

    def mask(key: AnyKey) -> jax.Array:
        # Where double precision is on, words would by default have 64 bits.
        return jax.random.bits(key, x.shape[1:], jnp.uint32) >= smallest_kept

    kept = mask(key)[None] if key.ndim == 0 else jax.vmap(mask)(key)
    return jnp.where(kept, x / (1 - rate), 0.0)
