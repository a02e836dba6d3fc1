"""The report of a run: on the terminal, as Markdown, and as one HTML file."""

import base64
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from rich.console import Console
from rich.table import Table

from dgme._files import write_atomically
from dgme.paper.experiment import Output
from dgme.paper.tables import ResultTable
from dgme.report import render

READING = (
    "Each cell shows ours ± its spread, then the paper's ± its spread. ✓: at least as good as the "
    "paper's, or within its standard error or rounding; ✗: not. The best of ours in a row is bold."
)


def show(outputs: Sequence[Output], console: Console) -> None:
    for output in outputs:
        for table in output.tables:
            shown = Table(title=table.title, caption=table.note or None, show_lines=True)
            shown.add_column("")
            for column in table.columns:
                shown.add_column(column, justify="right", no_wrap=True)
            for row in table.rows:
                best = table.best(row)
                shown.add_row(
                    row, *(_styled(table.texts(row, c), c in best) for c in table.columns)
                )
            console.print(shown)
    console.print(summary(outputs), highlight=False)


def _styled(texts: Sequence[str], best: bool) -> str:
    ours, *paper = texts or ("",)
    return "\n".join([f"[bold]{ours}[/]" if best else ours, *(f"[dim]{p}[/]" for p in paper)])


def summary(outputs: Sequence[Output]) -> str:
    reached, all_marked = map(
        sum, zip(*(table.counts() for o in outputs for table in o.tables), (0, 0), strict=True)
    )
    return f"{reached} of {all_marked} cells reach the paper's number."


def write(outputs: Sequence[Output], folder: Path) -> list[Path]:
    """`report.md` and `report.html` in the folder."""
    contents = {"report.md": markdown(outputs), "report.html": html(outputs)}
    for name, content in contents.items():
        write_atomically(folder / name, content.encode())
    return [folder / name for name in contents]


def markdown(outputs: Sequence[Output]) -> str:
    parts = ["# The paper, reproduced", READING]
    for output in outputs:
        parts.append(f"## {output.experiment.name}")
        for table in output.tables:
            parts += [f"**{table.title}**", _markdown_table(table)]
            parts += [table.note] if table.note else []
        for figure, path in output.figures:
            parts.append(f"![{figure.caption}]({path.parent.name}/{path.name})\n\n{figure.caption}")
    return "\n\n".join([*parts, summary(outputs)]) + "\n"


def _markdown_table(table: ResultTable) -> str:
    def line(cells: Sequence[str]) -> str:
        return f"| {' | '.join(cells)} |"

    def cell(row: str, column: str) -> str:
        ours, *paper = table.texts(row, column) or ("",)
        return r" \| ".join([f"**{ours}**" if column in table.best(row) else ours, *paper])

    return "\n".join(
        [
            line(["", *table.columns]),
            line(["---"] * (1 + len(table.columns))),
            *(line([row, *(cell(row, c) for c in table.columns)]) for row in table.rows),
        ]
    )


def html(outputs: Sequence[Output]) -> str:
    return render(
        "dgme.paper",
        "report.html.jinja",
        outputs=outputs,
        reading=READING,
        summary=summary(outputs),
        asdict=asdict,
        embed=lambda path: base64.b64encode(path.read_bytes()).decode(),
    )
