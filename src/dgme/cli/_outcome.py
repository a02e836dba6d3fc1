"""What came out of a fit, for people and for programs."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from rich.filesize import decimal
from rich.table import Table

from dgme.cli._app import results_console
from dgme.cli._tables import Known
from dgme.evaluation import Evaluation, evaluate

if TYPE_CHECKING:
    from dgme.tables import TableRegressor

# Scores of more rows would take long, and tell no more.
_MOST_SCORED = 50_000


@dataclass(frozen=True)
class Outcome:
    model: str
    size: int
    method: str
    target: str
    rows: int
    rows_without_target: int
    rows_held_out: int
    columns: list[dict[str, Any]]
    seconds: float
    stopped_by: str | None
    """What ended the training before its time, if anything."""
    scores: dict[str, float]
    weights: list[float] | None
    warnings: list[str]

    @classmethod
    def of(
        cls, model: "TableRegressor", training: Known, found: Evaluation, *, path: Path, **more
    ) -> "Outcome":
        regressor: Any = model.regressor_
        weights = getattr(regressor, "weights_", None)
        return cls(
            model=str(path),
            size=path.stat().st_size,
            method=type(regressor).__name__,
            rows=len(training.y),
            rows_without_target=training.without_target,
            rows_held_out=len(regressor.held_out_rows_),
            columns=[describe(column) for column in model.encoder_.columns_],
            scores={
                "log_score": found.log_score.value,
                "rmse": found.rmse.value,
                "crps": found.crps.value,
                "coverage_0.9": found.intervals[0].covered.value,
            },
            weights=None if weights is None else weights.tolist(),
            **more,
        )

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def score(model: "TableRegressor", training: Known) -> Evaluation:
    """Of rows that were held out, or of the training rows if none were; at most of 50,000."""
    regressor: Any = model.regressor_
    held_out = regressor.held_out_rows_
    rows = held_out if len(held_out) else np.arange(len(training.y))
    rows = rows[:: -(-len(rows) // _MOST_SCORED)]
    law = model.predict_dist(training.rows.take(pa.array(rows)))
    return evaluate(law, training.y[rows], coverages=(0.9,), n_bootstrap=1)


def describe(column) -> dict[str, Any]:
    """A column of a table, and what became of it."""
    return {
        "name": column.name,
        "kind": column.kind,
        "missing": column.n_missing,
        "features": list(column.features),
        "note": column.note,
    }


def columns_table(columns: list[dict[str, Any]]) -> Table:
    table = Table(title="Columns")
    table.add_column("column", overflow="fold")
    table.add_column("kind", no_wrap=True)
    table.add_column("missing", justify="right", no_wrap=True)
    table.add_column("features", justify="right", no_wrap=True)
    table.add_column("note", overflow="fold")
    for column in columns:
        missing, n_features = column["missing"], len(column["features"])
        table.add_row(
            column["name"],
            column["kind"],
            f"{missing:,}" if missing else "",
            str(n_features) if n_features else "dropped",
            column["note"],
        )
    return table


def show(outcome: Outcome) -> None:
    console = results_console()
    console.print(columns_table(outcome.columns))
    held_out = outcome.rows_held_out
    table = Table(title=f"{outcome.method} of {outcome.target}", show_header=False)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    rows = f"{outcome.rows:,}"
    if outcome.rows_without_target:
        rows += f" ({outcome.rows_without_target:,} without a target left out)"
    ended = f" (ended early: {outcome.stopped_by})" if outcome.stopped_by else ""
    whose = f"of {held_out:,} held-out rows" if held_out else "of the training rows"
    scores = outcome.scores
    table.add_row("rows", rows)
    table.add_row("training", f"{outcome.seconds:.1f} s{ended}")
    table.add_row(f"log score {whose}", f"{scores['log_score']:.4g}")
    table.add_row("root mean squared error", f"{scores['rmse']:.4g}")
    table.add_row("CRPS", f"{scores['crps']:.4g}")
    table.add_row("inside the 90 % interval", f"{scores['coverage_0.9']:.1%}")
    if outcome.weights:
        table.add_row("weights", ", ".join(f"{weight:.2f}" for weight in outcome.weights))
    table.add_row("model", f"{outcome.model} ({decimal(outcome.size)})")
    console.print(table)
    for warning in outcome.warnings:
        console.print(f"Note: {warning}", soft_wrap=True)
