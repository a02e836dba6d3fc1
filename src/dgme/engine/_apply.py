from collections.abc import Callable
from functools import partial

import jax
import numpy as np
from jaxtyping import UInt32

from dgme.engine._lanes import Group, compile_once, gather, groups, run_groups
from dgme.engine._random import wrapped
from dgme.nn import FlatNetwork

# Every call of the compiled program sees this many rows, whatever the caller asked for: then the
# result of a row does not depend on its batch, to the last bit, and one compilation serves all.
CHUNK_ROWS = 1024


def apply_lanes(
    function: Callable,
    network: FlatNetwork,
    params: np.ndarray,
    *rows: np.ndarray,
    dataset: np.ndarray | None = None,
    keys: UInt32[np.ndarray, "lanes 2"] | None = None,
    device: jax.Device | None = None,
):
    """`function(module, *rows)` for every lane, or `function(module, *rows, key)` with `keys`.

    `rows` are arrays of shape (datasets, n, ...), and lane i reads those of `dataset[i]`. The
    function returns an array with one entry per row, or a tuple of such; so does this, with an
    axis of lanes in front.
    """
    n_lanes, n_rows = len(params), rows[0].shape[1]
    dataset = np.zeros(n_lanes, np.int32) if dataset is None else dataset

    def work(group: Group):
        own = jax.tree.map(lambda lanes: lanes[group.lanes], (params, dataset, keys))
        own = jax.device_put(own, group.device)
        chunks = []
        for start in range(0, max(n_rows, 1), CHUNK_ROWS):
            chunk = [_padded(part[:, start : start + CHUNK_ROWS]) for part in rows]
            if start == 0:
                compile_once(_apply, network, function, own, *chunk)
            chunks.append(_apply(network, function, own, *chunk))
        return jax.tree.map(lambda *c: np.concatenate(c, axis=1)[:, :n_rows], *chunks)

    results = run_groups(work, groups(n_lanes, device))
    return jax.tree.map(lambda *parts: gather(parts, n_lanes), *results)


@partial(jax.jit, static_argnums=0)
def _apply(network: FlatNetwork, function, lanes, *rows):
    def one_lane(vector, own, words):
        key = () if words is None else (wrapped(words),)
        # of their own accord GPUs multiply with the ten bits of TF32, and laws would show it
        with jax.default_matmul_precision("float32"):
            return function(network.module(vector), *(part[own] for part in rows), *key)

    return jax.vmap(one_lane)(*lanes)


def _padded(rows: np.ndarray) -> np.ndarray:
    missing = CHUNK_ROWS - rows.shape[1]
    if missing == 0:
        return rows
    return np.pad(rows, [(0, 0), (0, missing)] + [(0, 0)] * (rows.ndim - 2))
