"""What every kernel of this room shares: array types, blocks of rows, a stable logsumexp, chance.

A *kernel* is a pure function of plain arrays that ends in the components of B laws, for Gaussians
``(weights, means, scales)``, each of shape ``(K, B)``; tables for targets or classes have these in
an axis before. With the laws in the last axis a reduction over components is an addition of long
rows; a trailing axis of length K would cost NumPy several times as much. An axis that holds one
entry where B are expected is shared by all laws.
"""

from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np
from jaxtyping import Float64, Int, Integer
from numpy import typing as npt

Array: TypeAlias = npt.NDArray[np.float64]
Numbers: TypeAlias = npt.ArrayLike | float | int  # the former lists complex but not float
Values: TypeAlias = Array | Any  # what a law returns: np.float64 where the shape is ()

Row: TypeAlias = Float64[np.ndarray, " #b"]
Table: TypeAlias = Float64[np.ndarray, " k #b"]
Edges: TypeAlias = Float64[np.ndarray, " _ #b"]  # ascending places along the line, NaN-padded
Tables: TypeAlias = tuple[Float64[np.ndarray, " *_ k _"], ...]  # the components of any laws
Indices: TypeAlias = Int[np.ndarray, " _"]
Labels: TypeAlias = Integer[np.ndarray, " k"]
Generator: TypeAlias = np.random.Generator | np.random.RandomState
Seed: TypeAlias = int | np.integer | Generator | None

# Entries of one temporary array. Half a megabyte stays in the second-level cache, which is worth
# a factor of two in speed, and the few temporaries of a kernel stay far below 100 MB.
BLOCK_ENTRIES = 2**16


def blocks(size: int, cost: int) -> Iterator[slice]:
    """Cut ``range(size)`` into slices whose length times ``cost`` fits ``BLOCK_ENTRIES``."""
    step = max(1, BLOCK_ENTRIES // max(1, cost))
    return (slice(start, min(start + step, size)) for start in range(0, size, step))


def take(tables: Tables, rows: slice | Indices) -> Tables:
    """The components of some laws; what all laws share stays shared."""
    return tuple(table if table.shape[-1] == 1 else table[..., rows] for table in tables)


def log_sum_exp(terms: Table) -> Row:
    """``log(sum(exp(terms)))`` over the first axis; consumes ``terms``."""
    peak = terms.max(axis=0)
    peak = np.where(np.isfinite(peak), peak, 0.0)
    terms -= peak
    return np.log(np.exp(terms, out=terms).sum(axis=0)) + peak


def posterior(weights: Table, terms: Table) -> Table:
    """Probabilities of the components, given the logs of their weight times their likelihood.

    What no component can have made tells nothing about them, and leaves their weights.
    """
    peak = terms.max(axis=0)
    shares = np.where(np.isneginf(peak), weights, np.exp(terms - peak))
    return shares / shares.sum(axis=0)


def supported(weights: Table, means: Table, scales: Table) -> Tables:
    """Put a copy of the heaviest component, with weight zero, in place of every empty one.

    The law is the same, and grids and brackets made from its components no longer stretch to
    places that hold no mass.
    """
    weights, means, scales = np.broadcast_arrays(weights, means, scales)
    heaviest = weights.argmax(axis=0)[None]
    empty = weights == 0
    means = np.where(empty, np.take_along_axis(means, heaviest, axis=0), means)
    scales = np.where(empty, np.take_along_axis(scales, heaviest, axis=0), scales)
    return weights, means, scales


def pack(table: Edges) -> Edges:
    """Sort each column of a NaN-padded table and drop the rows that hold nothing but padding."""
    table = np.sort(table, axis=0)
    return table[: (~np.isnan(table)).any(axis=1).sum()]


def generator(seed: Seed) -> Generator:
    return seed if isinstance(seed, np.random.RandomState) else np.random.default_rng(seed)


def choose(uniform: Row, probabilities: Table) -> Indices:
    """Turn a uniform number into the index of one of the probabilities."""
    cumulative = probabilities.cumsum(axis=0)
    # divided by the last entry, an empty last choice can never be made by rounding
    return (uniform >= (cumulative / cumulative[-1])[:-1]).sum(axis=0)
