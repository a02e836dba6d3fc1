"""Microseconds per member and optimiser step: ours, PyTorch's, and the floor."""

from collections.abc import Iterator

import numpy as np
import torch

from benchmarks import workload
from benchmarks.engine import Training
from benchmarks.floor import Floor, measure_floor
from benchmarks.rows import Bar, Row
from benchmarks.timing import best_of, progress
from benchmarks.torch_peers import train_batched, train_plainly

OURS, TORCHS, FLOORS = 10, 3, 20  # repetitions
UNIT = "µs"
PLAIN_BARS = {5: Bar(60, at_least=True), 100: Bar(100, at_least=True)}
FLOOR_BAR = Bar(2, goal=True)


def measure() -> Iterator[Row]:
    progress("  C++, one member on one core")
    reference = Training.of(workload.MEMBERS[0])
    floor = measure_floor(reference, FLOORS)
    yield _floor_row(floor, reference)

    progress("  PyTorch, a plain loop")
    timing = best_of(TORCHS, train_plainly)
    plain = workload.microseconds_per_step(timing.wall, 1)
    how = f"{_torch(timing.result)}; one member stands for all"
    yield Row("PyTorch, plain DataLoader loop, any K", plain, UNIT, how)

    for n_members in workload.MEMBERS:
        yield from _members(n_members, plain, floor)


def _members(n_members: int, plain: float, floor: Floor | None) -> Iterator[Row]:
    k = f"K = {n_members}"

    progress(f"  PyTorch, {k} batched")
    timing = best_of(TORCHS, lambda: train_batched(n_members))
    batched = workload.microseconds_per_step(timing.wall, n_members)
    yield Row(f"PyTorch, baddbmm and fused Adam, {k}", batched, UNIT, _torch(timing.result))

    progress(f"  dgme, {k}")
    timing = best_of(OURS, Training.of(n_members).losses)
    ours = workload.microseconds_per_step(timing.wall, n_members)
    per_core = workload.microseconds_per_step(timing.cpu, n_members)
    how = f"best of {OURS}, warm; last loss {timing.result[:, -1].mean():.3f}"
    yield Row(f"dgme.engine.train, {k}", ours, UNIT, how)
    yield Row(f"plain PyTorch / ours, {k}", plain / ours, "×", "wall clock", PLAIN_BARS[n_members])
    yield Row(f"batched PyTorch / ours, {k}", batched / ours, "×", "wall clock")
    if floor is not None:
        how = f"median core time of ours, all threads: {per_core:.2f} µs"
        yield Row(f"ours / floor, {k}", per_core / floor.microseconds, "×", how, FLOOR_BAR)


def _torch(last_loss: float) -> str:
    return f"best of {TORCHS}, {torch.get_num_threads()} threads; last loss {last_loss:.3f}"


def _floor_row(floor: Floor | None, reference: Training) -> Row:
    what = "C++, one member on one core: the floor"
    if floor is None:
        return Row(what, None, UNIT, "skipped: there is no g++")
    ours = reference.losses()[0]
    if not np.allclose(floor.losses[0], ours[0], atol=1e-3):
        raise RuntimeError(
            "The C++ program does other arithmetic than the engine: from the same start, "
            f"the losses of the first epoch are {floor.losses[0]} and {ours[0]}."
        )
    how = (
        f"best of {FLOORS}; first and last loss {floor.losses[0]:.3f}, {floor.losses[-1]:.3f} "
        f"(same start in the engine: {ours[0]:.3f}, {ours[-1]:.3f})"
    )
    return Row(what, floor.microseconds, UNIT, how)
