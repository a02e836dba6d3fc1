"""Data frames of every library as Arrow tables."""

from typing import Any

import narwhals as nw
import pyarrow as pa

from dgme.tables._errors import TableError


def frame_of(X: Any) -> nw.DataFrame | None:
    """The frame that pandas, polars, Arrow or another library made; None for anything else."""
    if isinstance(X, pa.RecordBatch):
        X = pa.Table.from_batches([X])
    try:
        found = nw.from_native(X, pass_through=True)
        if isinstance(found, nw.LazyFrame):
            raise TypeError("The frame is lazy. Collect it first.")
        if not isinstance(found, nw.DataFrame):
            return None
        names: list[Any] = found.columns  # in pandas they may be anything
        renamed = {name: str(name) for name in names if not isinstance(name, str)}
        return found.rename(renamed) if renamed else found
    except nw.exceptions.DuplicateError as error:
        words = " ".join(str(error).split())
        raise TableError(f"The frame has columns of equal names: {words}.") from error


def column_of(frame: nw.DataFrame, name: str) -> pa.ChunkedArray:
    """A column as Arrow holds it. An index of pandas is no column."""
    try:
        column = frame.get_column(name).to_arrow()
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError) as error:
        raise TableError(
            f"Column {name!r} mixes values of several types. Make them one type first."
        ) from error
    return column if isinstance(column, pa.ChunkedArray) else pa.chunked_array([column])
