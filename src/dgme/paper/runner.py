"""Runs experiments: what is not in the journal yet, with the time left."""

import hashlib
import platform
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict
from functools import cache
from importlib.metadata import version
from pathlib import Path

import matplotlib.pyplot as plt
from matplotlib import rc_context
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

import dgme
from dgme.datasets import checksum
from dgme.paper.experiment import Experiment, Figure, Output, Result, Task
from dgme.paper.journal import Journal, key_of

JOURNAL, FIGURES = "results.jsonl", "figures"
_PACKAGES = ("dgme", "jax", "numpy", "scikit-learn", "scipy")


def run(experiments: Sequence[Experiment], folder: Path, *, seed: int) -> list[Output]:
    """Run what is missing in the folder, and return what all of it shows."""
    journal = Journal(folder / JOURNAL)
    missing = [
        (experiment, task)
        for experiment in experiments
        for task in (*experiment.tasks(), *experiment.figures())
        if not _done(journal, folder, experiment, task, seed)
    ]
    with _progress(sum((task.cost for _, task in missing), 0.0)) as advance:
        for experiment, task in missing:
            with advance(task.cost, f"{experiment.name}: {_words(task)}"):
                start = time.perf_counter()
                if isinstance(task, Figure):
                    _draw(task, folder)
                    results = [Result({"figure": task.name}, {})]
                else:
                    results = list(task.run())
                facts = {
                    "experiment": experiment.name,
                    "seed": seed,
                    "seconds": round(time.perf_counter() - start, 3),
                    "settings": asdict(experiment.settings),
                    "data": _checksum(task),
                    "python": platform.python_version(),
                    "versions": _versions(),
                    "code": _code(),
                }
                journal.append(_key(experiment, task, seed), facts, results)
    return [
        Output(
            experiment,
            experiment.tables(
                journal.results(_key(experiment, task, seed) for task in experiment.tasks())
            ),
            [(figure, _file(figure, folder)) for figure in experiment.figures()],
        )
        for experiment in experiments
    ]


def _key(experiment: Experiment, task: Task | Figure, seed: int) -> str:
    """Results are those of the same code, packages, data and settings."""
    return key_of(
        experiment=experiment.name,
        task=task.name if isinstance(task, Figure) else dict(task.name),
        settings=asdict(experiment.settings),
        seed=seed,
        data=_checksum(task),
        versions=_versions(),
        code=_code(),
    )


def _done(
    journal: Journal, folder: Path, experiment: Experiment, task: Task | Figure, seed: int
) -> bool:
    there = not isinstance(task, Figure) or _file(task, folder).exists()
    return there and _key(experiment, task, seed) in journal


def _checksum(task: Task | Figure) -> str:
    return "" if isinstance(task, Figure) or not task.data else _checksum_of(task.data)


_checksum_of = cache(checksum)


@cache
def _versions() -> dict[str, str]:
    return {name: version(name) for name in _PACKAGES}


@cache
def _code() -> str:
    """A checksum of this library, so that results of an earlier state are not taken for its own."""
    source = Path(dgme.__file__).parent
    parts = [path.read_bytes() for path in sorted(source.rglob("*.py"))]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()[:16]


def _words(task: Task | Figure) -> str:
    if isinstance(task, Figure):
        return f"figure {task.name}"
    return ", ".join(str(value) for value in task.name.values())


def _file(figure: Figure, folder: Path) -> Path:
    return folder / FIGURES / f"{figure.name}.svg"


def _draw(figure: Figure, folder: Path) -> None:
    """As SVG for the report, and as PNG to look at."""
    path = _file(figure, folder)
    path.parent.mkdir(parents=True, exist_ok=True)
    with rc_context({"svg.hashsalt": figure.name}):
        drawn = figure.draw()
        drawn.savefig(path.with_suffix(".png"), dpi=150)
        drawn.savefig(path, metadata={"Date": None})
    plt.close(drawn)


@contextmanager
def _progress(total: float) -> Iterator[Callable[[float, str], AbstractContextManager[None]]]:
    """A bar on standard error, if it is a terminal; elsewhere a line for every task."""
    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        whole = bar.add_task("", total=total)

        @contextmanager
        def advance(cost: float, words: str) -> Iterator[None]:
            bar.update(whole, description=words)
            start = time.perf_counter()
            yield
            bar.advance(whole, cost)
            if not console.is_terminal:
                console.print(f"{words} ({time.perf_counter() - start:.1f} s)", highlight=False)

        yield advance
