"""How lanes are spread over cores and devices."""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from threading import Lock
from typing import TypeVar

import jax
import numpy as np
from jaxtyping import Array, Float

from dgme.engine._random import random_key
from dgme.nn import FlatNetwork

T = TypeVar("T")
_compiling = Lock()


@dataclass(frozen=True)
class Group:
    """Lanes that one program runs together, and the device it runs on."""

    lanes: np.ndarray
    device: jax.Device


def groups(n_lanes: int, device: jax.Device | None = None) -> list[Group]:
    """Split lanes evenly over the workers.

    All groups have the same size, so that one program serves them all; the last is filled up with
    repetitions of the last lane.
    """
    workers = _workers(device)
    size = -(-n_lanes // len(workers))
    starts = range(0, n_lanes, size)
    return [
        Group(np.minimum(np.arange(start, start + size, dtype=np.int32), n_lanes - 1), worker)
        for start, worker in zip(starts, workers, strict=False)
    ]


def run_groups(work: Callable[..., T], *per_group: Sequence) -> list[T]:
    """Run the groups side by side: JAX lets go of the interpreter while a program runs."""
    if len(per_group[0]) == 1:
        return list(map(work, *per_group))
    with ThreadPoolExecutor(len(per_group[0])) as pool:
        return list(pool.map(work, *per_group))


def compile_once(program: jax.stages.Wrapped, *args, **kwargs) -> None:
    """Let one of the threads that are about to call a jitted program compile it for all."""
    with _compiling:
        program.lower(*args, **kwargs).compile()


def gather(per_group: Sequence[np.ndarray], n_lanes: int) -> np.ndarray:
    """One array over lanes from one per group, less the lanes that filled up the last."""
    return np.concatenate(per_group)[:n_lanes]


def initialise_lanes(
    network: FlatNetwork, n_lanes: int, seed: int
) -> Float[np.ndarray, "lanes size"]:
    """Independent initial parameters for every lane."""
    return np.asarray(_initialise(network, n_lanes, seed))


# Runs once, so it is made to compile fast: this takes a quarter of what vmap at full effort takes.
@partial(jax.jit, static_argnums=(0, 1), compiler_options={"xla_backend_optimization_level": 0})
def _initialise(network: FlatNetwork, n_lanes: int, seed) -> Float[Array, "lanes size"]:
    return jax.lax.map(network.initialise, jax.random.split(random_key(seed), n_lanes))


def find_device(name: str | None) -> jax.Device | None:
    """The device called "cpu", "gpu" or, say, "gpu:1"; None means all of JAX's default kind."""
    if name is None:
        return None
    platform, _, index = name.partition(":")
    try:
        return jax.local_devices(backend=platform)[int(index or 0)]
    except (RuntimeError, ValueError, IndexError):
        present = ", ".join(f"{d.platform}:{d.id}" for d in jax.local_devices())
        raise ValueError(f"device={name!r} was not found. Devices here: {present}.") from None


def _workers(device: jax.Device | None) -> list[jax.Device]:
    if device is not None and device.platform != "cpu":
        return [device]
    if device is None:
        devices = jax.local_devices()
        if devices[0].platform != "cpu" or len(devices) > 1:
            return devices
        device = devices[0]
    # XLA runs a small program on one core, so each core gets a thread that calls it.
    return [device] * _available_cores()


def _available_cores() -> int:
    """Cores this process may use; joblib tells its workers their share through OMP_NUM_THREADS."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    share = os.environ.get("OMP_NUM_THREADS", "")
    return max(1, min(cores or 1, int(share))) if share.isdigit() else max(1, cores or 1)
