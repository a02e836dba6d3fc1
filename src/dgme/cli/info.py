import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dgme.cli._app import Json, failing_in_words, results_console

if TYPE_CHECKING:
    import numpy as np

    from dgme.tables import TableRegressor


def info(model: Path, *, as_json: Json = False) -> None:
    """Tell what a model file holds.

    `dgme info houses.dgme`

    Parameters
    ----------
    model
        A file that `dgme fit` wrote.
    as_json
        Print a JSON object instead of tables.
    """
    with failing_in_words():
        from dgme.cli._models import load_table_model

        facts = _facts(load_table_model(model), model)
    if as_json:
        print(json.dumps(facts, indent=2))
    else:
        _show(facts)


def _facts(model: "TableRegressor", path: Path) -> dict[str, Any]:
    from dgme.cli._outcome import describe
    from dgme.io import read_header

    regressor: Any = model.regressor_
    weights = getattr(regressor, "weights_", None)
    return {
        "model": str(path),
        "size": path.stat().st_size,
        "dgme_version": read_header(path).get("dgme_version", "of an unknown version"),
        "method": type(regressor).__name__,
        "settings": _chosen_settings(regressor),
        "target": model.target_name_,
        "rows": model.profile_.n_rows,
        "held_out_log_score": _held_out_score(regressor.history_),
        "weights": None if weights is None else weights.tolist(),
        "columns": [describe(column) for column in model.encoder_.columns_],
    }


def _chosen_settings(regressor: Any) -> dict[str, Any]:
    """Parameters that differ from the defaults of the class."""
    usual = type(regressor)().get_params(deep=False)
    mine = regressor.get_params(deep=False)
    return {name: mine[name] for name in mine if name != "verbose" and mine[name] != usual[name]}


def _held_out_score(history: "Mapping[str, np.ndarray]") -> float | None:
    """Of the state that predicts: the best there was, if rows were held out."""
    scores = history["held_out_score"]
    known = scores[scores == scores]
    return float(known.max()) if len(known) else None


def _show(facts: dict[str, Any]) -> None:
    from rich.filesize import decimal
    from rich.table import Table

    from dgme.cli._outcome import columns_table

    table = Table(title=facts["model"], show_header=False)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    settings = ", ".join(f"{name}={value!r}" for name, value in facts["settings"].items())
    table.add_row("method", f"{facts['method']}({settings})")
    table.add_row("target", facts["target"] or "without a name")
    table.add_row("training rows", f"{facts['rows']:,}")
    if facts["held_out_log_score"] is not None:
        table.add_row("log score of held-out rows", f"{facts['held_out_log_score']:.4g}")
    if facts["weights"] is not None:
        table.add_row("weights", ", ".join(f"{weight:.2f}" for weight in facts["weights"]))
    table.add_row("size", decimal(facts["size"]))
    table.add_row("written by", f"dgme {facts['dgme_version']}")
    console = results_console()
    console.print(table)
    console.print(columns_table(facts["columns"]))
