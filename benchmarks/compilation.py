"""What is compiled by a first fit of five members, and by a second of the same shapes."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import jax

from benchmarks import workload
from benchmarks.engine import Training
from benchmarks.rows import Bar, Row
from benchmarks.timing import isolated, progress

N_MEMBERS = 5
REPETITIONS = 3

Durations = list[float]


class Compilations(NamedTuple):
    """Seconds of each compilation."""

    initialising: Durations
    first_fit: Durations
    second_fit: Durations


def measure() -> Iterator[Row]:
    progress("  the trainer and what it starts from")
    runs = isolated(_repeat)

    def row(what: str, durations: list[Durations]) -> Row:
        how = f"compilations: {len(durations[0])}; best of {REPETITIONS} with empty caches"
        return Row(f"compiling {what}, K = {N_MEMBERS}", 1e3 * min(map(sum, durations)), "ms", how)

    yield row("the initial parameters", [run.initialising for run in runs])
    yield row("the trainer", [run.first_fit for run in runs])
    yield Row(
        "compilations in a second fit",
        max(len(run.second_fit) for run in runs),
        "",
        "same shapes, other seed and learning rate",
        Bar(0),
    )


def _repeat() -> list[Compilations]:
    durations: Durations = []

    def listen(event: str, duration_secs: float, **kwargs: str | int) -> None:
        if event.endswith("backend_compile_duration"):
            durations.append(duration_secs)

    def compiled_by(work: Callable[[], object]) -> Durations:
        durations.clear()
        work()
        return durations.copy()

    def compile_all() -> Compilations:
        jax.clear_caches()
        return Compilations(
            compiled_by(lambda: Training.of(N_MEMBERS)),
            compiled_by(lambda: Training.of(N_MEMBERS).run()),
            compiled_by(lambda: Training.of(N_MEMBERS, seed=1).run(workload.LEARNING_RATE / 2)),
        )

    jax.config.update("jax_enable_compilation_cache", False)
    jax.monitoring.register_event_duration_secs_listener(listen)
    return [compile_all() for _ in range(REPETITIONS)]
