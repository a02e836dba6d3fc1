"""Tables of results: ours beside the paper's."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import NamedTuple

import numpy as np


class Published(NamedTuple):
    """A number of the paper."""

    mean: float
    spread: float


@cache
def published(table: str) -> Mapping[str, Mapping[str, Published]]:
    """A table of the paper, by row and column."""
    found = json.loads(files("dgme.paper").joinpath("published.json").read_text())[table]
    return {
        row: {column: Published(*cell) for column, cell in cells.items()}
        for row, cells in found.items()
    }


class Cell(NamedTuple):
    """Ours, and the paper's where it has one."""

    mean: float
    spread: float
    paper: Published | None = None
    tolerance: float = 0.0
    """How far beyond the paper's number still counts as reached."""

    @classmethod
    def of(
        cls,
        scores: Sequence[float],
        paper: Published | None = None,
        *,
        n_paper: int = 1,
        standard_error: bool = False,
        decimals: int = 2,
    ) -> "Cell":
        """From single scores: mean and standard deviation, or standard error.

        A number counts as reached within the paper's standard error, or half of its last digit. The
        paper's spread is a standard deviation over `n_paper` scores, or with `n_paper=1` a
        standard error.
        """
        values = np.asarray(scores, dtype=np.float64)
        spread = float(values.std(ddof=0))
        if standard_error:
            spread /= np.sqrt(len(values))
        tolerance = 0.5 * 10.0**-decimals
        if paper is not None:
            tolerance = max(tolerance, paper.spread / np.sqrt(n_paper))
        return cls(float(values.mean()), spread, paper, tolerance)


@dataclass(frozen=True)
class ResultTable:
    """Cells by row and column; a missing one stays empty."""

    title: str
    rows: Sequence[str]
    columns: Sequence[str]
    cells: Mapping[tuple[str, str], Cell]
    note: str = ""
    better: int = -1
    """-1 where less is better, 1 where more is, 0 where neither is: then nothing is marked."""
    decimals: int = 2
    """Digits of ours; the paper's have two, or as many as `paper_decimals`."""
    paper_decimals: int = 2
    marked: bool = True
    """Whether cells say if they reach the paper's."""

    def reached(self, row: str, column: str) -> bool | None:
        """Whether ours is at least as good as the paper's; None if there is nothing to compare."""
        cell = self.cells.get((row, column))
        if cell is None or cell.paper is None or not self.better or not self.marked:
            return None
        return bool(self.better * (cell.mean - cell.paper.mean) >= -cell.tolerance)

    def best(self, row: str) -> set[str]:
        """The columns with the best of our numbers in a row, as they are shown."""
        shown = {
            column: self.better * round(self.cells[row, column].mean, self.decimals)
            for column in self.columns
            if (row, column) in self.cells
        }
        if not self.better or len(shown) < 2:
            return set()
        return {column for column, value in shown.items() if value == max(shown.values())}

    def texts(self, row: str, column: str) -> tuple[str, ...]:
        """A cell as plain text: ours, and the paper's with a mark, where there is any."""
        cell = self.cells.get((row, column))
        if cell is None:
            return ()
        ours = _shown(cell.mean, cell.spread, self.decimals)
        if cell.paper is None:
            return (ours,)
        mark = {True: " ✓", False: " ✗", None: ""}[self.reached(row, column)]
        return ours, f"{_shown(*cell.paper, self.paper_decimals)}{mark}"

    def counts(self) -> tuple[int, int]:
        """How many cells reach the paper's, and how many have something to compare."""
        marks = [self.reached(row, column) for row, column in self.cells]
        return sum(mark is True for mark in marks), sum(mark is not None for mark in marks)


def _shown(mean: float, spread: float, decimals: int) -> str:
    return f"{mean:.{decimals}f} ± {spread:.{decimals}f}"
