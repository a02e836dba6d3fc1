import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from cyclopts.types import NonNegativeInt

from dgme.cli._app import Flag, Out, check_output, fail, failing_in_words, say
from dgme.cli._lists import Names, Shares

if TYPE_CHECKING:
    import pyarrow as pa

    from dgme.cli._columns import Columns
    from dgme.tables import TableRegressor

STDOUT = Path("-")


def predict(
    model: Path,
    table: Path,
    *,
    out: Out = STDOUT,
    quantiles: Shares = (),
    intervals: Shares = (0.9,),
    mixture: Flag = False,
    keep: Names = (),
    samples: NonNegativeInt | None = None,
) -> None:
    """Predict a law for every row of a table, and write a row about each.

    Rows keep their order, and memory does not grow with the table. Columns that the model does not
    know are ignored, and so is the target.

    `dgme predict model.dgme new.csv -o out.parquet`

    `dgme predict model.dgme new.csv --quantiles 0.05,0.5,0.95 --keep id | head`

    Parameters
    ----------
    model
        A file that `dgme fit` wrote.
    table
        CSV, TSV, Parquet or Arrow, with the columns of the training.
    out
        The file to write; its ending tells the format: .csv, .tsv, .parquet or .arrow. By default
        CSV goes to standard output.
    quantiles
        Levels, separated by commas, for columns quantile_0.05 and so on.
    intervals
        Coverages, separated by commas, of intervals with equal tails outside, for columns
        lower_0.9, upper_0.9 and so on.
    mixture
        Write the whole law instead, as the components of its mixture: weight_0, mean_0, scale_0
        and so on.
    keep
        Columns of the table to pass on, separated by commas, or "all".
    samples
        Over how many samples of the model's parameters to average. With 0 they are taken as
        certain, which is faster. By default as many as the model was made with.
    """
    from dgme import tables
    from dgme.cli._columns import Columns
    from dgme.cli._models import load_table_model

    with failing_in_words():
        if out != STDOUT:
            check_output(out, model, table)
            tables.check_writable(out)
        fitted = load_table_model(model)
        if not hasattr(fitted, "feature_names_in_"):
            fail(f"{model} was trained on an array, whose columns have no names. Train on a table.")
        if fitted.profile_.target_quantiles.ndim > 1:
            fail(f"{model} predicts several targets together. Use it in Python, by dgme.load.")
        columns = Columns(quantiles, intervals, mixture)
        batches = tables.read_batches(table, fitted.encoder_.types_)
        unseen = Counter()
        _write(_predicted(fitted, batches, columns, keep, samples, unseen), out)
    for name, n_rows in unseen.items():
        rows = "1 row has" if n_rows == 1 else f"{n_rows:,} rows have"
        say(f"Column {name!r}: {rows} a value that training did not see.")


def _predicted(
    fitted: "TableRegressor",
    batches: "Iterable[pa.RecordBatch]",
    columns: "Columns",
    keep: tuple[str, ...],
    samples: int | None,
    unseen: Counter[str],
) -> "Iterator[pa.Table]":
    import pyarrow as pa

    for batch in batches:
        rows = pa.Table.from_batches([batch])
        kept = rows.column_names if keep == ("all",) else list(keep)
        if unknown := [name for name in kept if name not in rows.column_names]:
            fail(f"--keep: the table has no column {unknown[0]!r}.")
        unseen.update(fitted.encoder_.count_unseen(rows))
        predictions = columns.of(fitted.predict_dist(rows, samples))
        if both := [name for name in kept if name in predictions]:
            fail(f"--keep: column {both[0]!r} has the name of a prediction. Rename it.")
        yield pa.table({name: rows[name] for name in kept} | predictions)


def _write(tables: "Iterator[pa.Table]", out: Path) -> None:
    from dgme.tables import writer

    first = next(tables)
    to = sys.stdout.buffer if out == STDOUT else out
    with writer(to, first.schema) as write, _counter(out) as count:
        write(first)
        count(len(first))
        for table in tables:
            write(table)
            count(len(table))


@contextmanager
def _counter(out: Path) -> Iterator[Callable[[int], None]]:
    """Tells how many rows are done, where somebody watches and rows do not go by themselves."""
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    columns = (SpinnerColumn(), TextColumn("{task.completed:,} rows"), TimeElapsedColumn())
    hidden = not console.is_terminal or (out == STDOUT and sys.stdout.isatty())
    with Progress(*columns, console=console, disable=hidden, transient=True) as bar:
        task = bar.add_task("", total=None)
        yield lambda n_rows: bar.advance(task, n_rows)
