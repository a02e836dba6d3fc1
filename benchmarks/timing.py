"""Clocks, and processes of their own for what must not be disturbed."""

import multiprocessing
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from statistics import median
from typing import Generic, NamedTuple, ParamSpec, TypeVar

from rich.console import Console

P = ParamSpec("P")
T = TypeVar("T")


class Timing(NamedTuple, Generic[T]):
    """Seconds on the wall, seconds of all cores together, and what the work returned."""

    wall: float
    cpu: float
    result: T


def best_of(repetitions: int, work: Callable[[], T]) -> Timing[T]:
    """The smallest time on the wall after a first call that is not counted.

    Of core time it is the median: when other processes interrupt, its clock errs to both sides.
    """
    work()
    walls, cpus, results = zip(*(_clocked(work) for _ in range(repetitions)), strict=True)
    return Timing(min(walls), median(cpus), results[-1])


def _clocked(work: Callable[[], T]) -> Timing[T]:
    wall, cpu = time.perf_counter(), time.process_time()
    result = work()
    return Timing(time.perf_counter() - wall, time.process_time() - cpu, result)


def isolated(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Call the function in a fresh process."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        return pool.submit(function, *args, **kwargs).result()


def progress(message: str) -> None:
    Console(stderr=True, highlight=False).print(message, style="dim")
