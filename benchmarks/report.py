"""The results, for a reader on a terminal and for a program."""

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.machine import Machine
from benchmarks.rows import Row

Results = Mapping[str, Sequence[Row]]

_WIDTH = 140
_VERDICTS = {True: "[green]met[/]", False: "[red]missed[/]", None: ""}


def show(results: Results, machine: Machine) -> None:
    table = Table(
        caption="{cpu}, {cores} cores, {memory_gib} GiB; {system}; Python {python}; "
        "load {load_average} at the start; {date}".format(**machine)
    )
    table.add_column("what")
    table.add_column("measured", justify="right", no_wrap=True)
    table.add_column("bar", no_wrap=True)
    table.add_column("", no_wrap=True)
    table.add_column("how")
    for rows in results.values():
        table.add_section()
        for row in rows:
            bar = "" if row.bar is None else str(row.bar)
            table.add_row(row.what, _measured(row), bar, _VERDICTS[row.met], row.how)
    # A file or a pipe has no width of its own.
    Console(width=None if sys.stdout.isatty() else _WIDTH).print(table)


def write(results: Results, machine: Machine, folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / f"{str(machine['date']).partition('+')[0].replace(':', '-')}.json"
    content = {
        "machine": machine,
        "results": {
            name: [asdict(row) | {"met": row.met} for row in rows] for name, rows in results.items()
        },
    }
    path.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return path


def _measured(row: Row) -> str:
    if row.value is None:
        return "–"
    digits = 0 if row.value >= 100 or row.value == 0 else 2
    return f"{row.value:.{digits}f} {row.unit}"
