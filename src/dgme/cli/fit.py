import json
import time
import warnings
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from cyclopts.types import NonNegativeInt, PositiveFloat
from cyclopts.validators import Number

from dgme.cli._app import Json, Out, check_output, failing_in_words, say
from dgme.cli._methods import Method, Preset


def fit(
    table: Path,
    *,
    target: str,
    out: Out = Path("model.dgme"),
    method: Method = "auto",
    preset: Preset = "default",
    time_limit: PositiveFloat | None = None,
    validation: Annotated[float, Parameter(validator=Number(gte=0, lt=1))] = 0.1,
    drop: Annotated[list[str] | None, Parameter(consume_multiple=True, negative="")] = None,
    seed: NonNegativeInt = 0,
    as_json: Json = False,
) -> None:
    """Learn to predict a column of a table, and write the model to a file.

    Shows what was found in the columns and what became of them, and how well rows are predicted
    that were held out. Ctrl-C ends the training and keeps the best state so far, with exit code 0;
    a second Ctrl-C gives up.

    `dgme fit houses.csv --target price -o houses.dgme`

    `dgme fit houses.parquet --target price --drop id street --preset best --time-limit 600`

    Parameters
    ----------
    table
        CSV, TSV, Parquet or Arrow, with names of columns. Rows without a target are left out.
    target
        The column to predict.
    out
        The model file to write.
    method
        What to train; "auto" takes dgme.
    preset
        How much work to give to it: "fast", "default", "best", or "paper" for the paper's settings,
        which hold no rows out.
    time_limit
        Seconds of training after which it ends at its best state.
    validation
        Share of the rows that are held out to choose when training has gone far enough. With 0 all
        rows are trained on, to the end.
    drop
        Columns not to learn from.
    seed
        Seed of everything random.
    as_json
        Print a JSON object instead of tables.
    """
    with failing_in_words():
        check_output(out, table)
        import pyarrow as pa

        from dgme import tables
        from dgme._watch import stopping
        from dgme.cli._methods import make
        from dgme.cli._outcome import Outcome, score, show
        from dgme.cli._tables import training_rows
        from dgme.tables import TableRegressor

        training = training_rows(tables.read(table), target, drop or [])
        model = TableRegressor(make(method, preset, validation=validation or None, seed=seed))
        begin = time.monotonic()
        with (
            warnings.catch_warnings(record=True) as caught,
            stopping(time_limit, _tell_of_ctrl_c) as watch,
        ):
            warnings.simplefilter("always")
            model.fit(training.rows, pa.table({target: training.y}))
        seconds = time.monotonic() - begin
        # A model that cannot predict is not written.
        found = score(model, training)
        model.save(out)
        outcome = Outcome.of(
            model,
            training,
            found,
            target=target,
            path=out,
            seconds=seconds,
            stopped_by=("Ctrl-C" if watch.interrupted else "time limit") if watch.stopped else None,
            warnings=[str(warning.message) for warning in caught],
        )
    if as_json:
        print(json.dumps(outcome.to_dict(), indent=2))
    else:
        show(outcome)


def _tell_of_ctrl_c() -> None:
    say("Ctrl-C: training ends at its best state so far. Press it again to give up.")
