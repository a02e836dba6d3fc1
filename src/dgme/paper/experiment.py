"""What an experiment is: tasks to run, and tables and figures of what they found."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Protocol, runtime_checkable

from dgme.paper.tables import ResultTable

Facts = Mapping[str, str | int | float]


class Result(NamedTuple):
    """Scores, and what they are scores of."""

    of: Facts
    """What tells it apart within its experiment: table, method, split, run, ..."""
    scores: Mapping[str, float]


@dataclass(frozen=True)
class Task:
    """A part of an experiment that is run as a whole: what is lost when a run is killed."""

    name: Facts
    """What tells it apart within its experiment."""
    run: Callable[[], Iterable[Result]]
    cost: float = 1.0
    """Expected seconds, by which the time left is told."""
    data: str = ""
    """The dataset that it reads, whose checksum is kept with the results."""


@dataclass(frozen=True)
class Figure:
    """A picture that is drawn by a task of its own, from its own fits."""

    name: str
    """The name of its file, without an ending."""
    caption: str
    draw: Callable[[], Any] = field(compare=False)
    """Makes a matplotlib figure."""
    cost: float = 1.0


@runtime_checkable
class Experiment(Protocol):
    """An experiment of the paper, made from its settings and a seed."""

    @property
    def name(self) -> str: ...

    @property
    def settings(self) -> Any:
        """A frozen dataclass; results of other settings are not taken up again."""

    def tasks(self) -> Sequence[Task]: ...

    def figures(self) -> Sequence[Figure]: ...

    def tables(self, results: Sequence[Result]) -> Sequence[ResultTable]: ...


class Output(NamedTuple):
    """What an experiment ends with."""

    experiment: Experiment
    tables: Sequence[ResultTable]
    figures: Sequence[tuple[Figure, Path]]
