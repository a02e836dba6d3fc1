import json
from pathlib import Path
from typing import TYPE_CHECKING

from dgme.cli._app import Json, check_output, fail, failing_in_words, say

if TYPE_CHECKING:
    from dgme.cli._tables import Known
    from dgme.evaluation import Evaluation
    from dgme.tables import TableRegressor

_ROWS_AT_ONCE = 2**16


def evaluate(
    model: Path, table: Path, *, report: Path | None = None, as_json: Json = False
) -> None:
    """Score a model on rows whose targets are known.

    Every score comes with its 95 % bootstrap interval over rows. Rows without a target are left
    out.

    `dgme evaluate houses.dgme test.csv --report houses.html`

    Parameters
    ----------
    model
        A file that `dgme fit` wrote.
    table
        CSV, TSV, Parquet or Arrow, with the columns of the training and the target.
    report
        A page to write that shows and explains the scores; it needs nothing but itself.
    as_json
        Print a JSON object.
    """
    with failing_in_words():
        if report is not None:
            check_output(report, model, table, option="--report")
        from dgme import tables
        from dgme.cli._models import load_table_model
        from dgme.cli._tables import known_targets

        fitted = load_table_model(model)
        if fitted.target_name_ is None:
            fail(f"{model} does not tell the name of its target. Make it by dgme fit.")
        rows = tables.read(table, fitted.encoder_.types_)
        test = known_targets(rows, fitted.target_name_)
        if report is None:
            scores = _scores(fitted, test)
        else:
            from dgme.report import write

            scores = write(report, fitted, test.rows, test.y)
    if test.without_target:
        say(f"{test.without_target:,} rows without a target are left out.")
    print(json.dumps(scores.to_dict(), indent=2) if as_json else scores)
    if report is not None:
        say(f"wrote {report}")


def _scores(fitted: "TableRegressor", test: "Known") -> "Evaluation":
    from dgme.evaluation import Evaluator, costly_share

    n_components = fitted.predict_dist(test.rows[:1]).n_components
    evaluator = Evaluator(share=costly_share(len(test.y), n_components))
    for start in range(0, len(test.y), _ROWS_AT_ONCE):
        part = slice(start, start + _ROWS_AT_ONCE)
        evaluator.add(fitted.predict_dist(test.rows[part]), test.y[part])
    return evaluator.evaluation()
