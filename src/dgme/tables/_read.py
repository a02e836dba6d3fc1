"""Table files as Arrow tables: the whole of them, or batch by batch in bounded memory."""

import re
from collections.abc import Iterator, Mapping
from os import PathLike
from pathlib import Path

import pyarrow as pa
from pyarrow import ipc, parquet

from dgme.tables._csv import read_csv, stream_csv
from dgme.tables._errors import TableError, name_some
from dgme.tables._sources import Source, identify, troubles_told

_ROWS_AT_ONCE = 1 << 16
# Arrow cannot take rows of a view.
_PLAIN = {pa.string_view(): pa.string(), pa.binary_view(): pa.binary()}


def read(path: str | PathLike, types: Mapping[str, pa.DataType] | None = None) -> pa.Table:
    """The table that a CSV, TSV, Parquet or Arrow file holds.

    The file's first bytes tell the format; text may be compressed. In a text file, columns that
    `types` names have these types, as `TableEncoder.types_` gives them for a trained model; all
    others have types that suit all of their rows. A file that cannot be read raises a
    `TableError`, which says in one line where it is wrong and what helps.
    """
    source = identify(Path(path))
    if source.kind == "text":
        return read_csv(source, types or {})
    with troubles_told(source.path):
        schema = _schema(source)
        table = pa.Table.from_batches(_batches(source), schema)
    if table.num_rows == 0:
        raise _no_rows(source, schema)
    return _usual(table)


def read_batches(
    path: str | PathLike, types: Mapping[str, pa.DataType] | None = None
) -> Iterator[pa.RecordBatch]:
    """The rows of a table file, a batch at a time.

    In a text file, columns that `types` names have these types, as for `read`, and all others are
    text; so a type never changes halfway. The types of a Parquet or an Arrow file are its own.
    """
    source = identify(Path(path))
    if source.kind == "text":
        yield from stream_csv(source, types or {})
        return
    with troubles_told(source.path):
        schema, is_empty = _schema(source), True
        for batch in _batches(source):
            is_empty = False
            yield _usual(batch)
    if is_empty:
        raise _no_rows(source, schema)


def _schema(source: Source) -> pa.Schema:
    if source.kind == "parquet":
        schema = parquet.read_schema(source.path)
    else:
        with pa.memory_map(str(source.path)) as mapped:
            schema = _reader(source, mapped).schema
    repeated = next((name for name in schema.names if schema.names.count(name) > 1), None)
    if repeated is not None:
        raise TableError(f"{source.path} has two columns {repeated!r}. Rename one of them.")
    return schema


def _batches(source: Source) -> Iterator[pa.RecordBatch]:
    if source.kind == "parquet":
        with parquet.ParquetFile(source.path) as file:
            yield from (batch for batch in file.iter_batches(_ROWS_AT_ONCE) if batch.num_rows)
        return
    with pa.memory_map(str(source.path)) as mapped:
        reader = _reader(source, mapped)
        count = reader.num_record_batches if source.kind == "arrow file" else None
        batches = reader if count is None else map(reader.get_batch, range(count))
        for batch in batches:
            for start in range(0, batch.num_rows, _ROWS_AT_ONCE):
                yield batch.slice(start, _ROWS_AT_ONCE)


def _reader(source: Source, mapped: pa.NativeFile):
    return (ipc.open_file if source.kind == "arrow file" else ipc.open_stream)(mapped)


def _no_rows(source: Source, schema: pa.Schema) -> TableError:
    return TableError(f"{source.path} has {name_some(schema.names)}, but no rows. Add rows.")


def _usual(rows):
    """Pandas writes an index that has no name of its own as a column, and polars writes views."""
    names = rows.schema.names
    kept = [name for name in names if not re.fullmatch(r"__index_level_\d+__", name)]
    rows = rows if len(kept) == len(names) else rows.select(kept)
    for place, field in enumerate(rows.schema):
        if plain := _PLAIN.get(field.type):
            rows = rows.set_column(place, field.name, rows.column(place).cast(plain))
    return rows
