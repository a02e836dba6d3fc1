"""Tables written batch by batch, to files that appear whole or not at all."""

import bz2
import gzip
import lzma
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from io import BufferedIOBase
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO, Literal

import pyarrow as pa
from pyarrow import csv, ipc, parquet

from dgme._files import replacing
from dgme.tables._errors import TableError


def _gzip(file: BinaryIO, mode: Literal["wb"]) -> gzip.GzipFile:
    # The same rows give the same bytes, so the time does not go into the file.
    return gzip.GzipFile(fileobj=file, mode=mode, compresslevel=6, mtime=0)


_COMPRESSIONS: dict[str, Callable] = {".gz": _gzip, ".bz2": bz2.BZ2File, ".xz": lzma.LZMAFile}


def _text(separator: str) -> Callable:
    def make(sink, schema: pa.Schema) -> csv.CSVWriter:
        special = re.search(f'[{separator}"\r\n]', "".join(schema.names))
        options = csv.WriteOptions(
            delimiter=separator, quoting_header="needed" if special else "none"
        )
        try:
            return csv.CSVWriter(sink, schema, write_options=options)
        except pa.ArrowInvalid as error:
            raise _unwritable(schema, options, error) from error

    return make


def _unwritable(schema: pa.Schema, options: csv.WriteOptions, error: Exception) -> TableError:
    """Which column text cannot hold."""
    for field in schema:
        try:
            csv.CSVWriter(pa.BufferOutputStream(), pa.schema([field]), write_options=options)
        except pa.ArrowInvalid:
            return TableError(
                f"Text cannot hold column {field.name!r}, of type {field.type}. "
                "Leave it out, or write Parquet or Arrow."
            )
    raise error


_TEXT = {".csv": _text(","), ".tsv": _text("\t"), ".txt": _text("\t")}
_BINARY = {
    ".parquet": parquet.ParquetWriter,
    ".pq": parquet.ParquetWriter,
    ".arrow": ipc.new_file,
    ".feather": ipc.new_file,
    ".arrows": ipc.new_stream,
}


def check_writable(path: str | PathLike) -> None:
    """Refuse names whose ending tells no format that can be written, before any work is done."""
    _format(Path(path))


def write(path: str | PathLike, rows: pa.Table | Iterable[pa.RecordBatch | pa.Table]) -> None:
    """Write a table, or batches of one schema, of which there must be one at least.

    The name's ending tells the format: .csv, .tsv (also with .gz, .bz2 or .xz behind it),
    .parquet, .arrow or .feather. The file appears whole or, if anything fails, not at all.
    """
    batches = iter([rows] if isinstance(rows, pa.Table) else rows)
    first: Any = next(batches)
    with writer(path, first.schema) as append:
        append(first)
        for batch in batches:
            append(batch)


@contextmanager
def writer(
    to: str | PathLike | BinaryIO | BufferedIOBase, schema: pa.Schema
) -> Iterator[Callable[[pa.RecordBatch | pa.Table], None]]:
    """A function that appends rows of this schema; the file appears when the block ends well.

    An open file gets CSV, as the rows come.
    """
    if not isinstance(to, str | PathLike):
        with _TEXT[".csv"](to, schema) as rows_out:
            yield lambda rows: rows_out.write(rows.cast(schema))
        return
    path = Path(to)
    make, compress = _format(path)
    with replacing(path) as file, ExitStack() as stack:
        sink = stack.enter_context(compress(file, "wb")) if compress else file
        rows_out = stack.enter_context(make(sink, schema))
        # Arrow's own writer of text would take rows of any schema.
        yield lambda rows: rows_out.write(rows.cast(schema))


def _format(path: Path) -> tuple[Callable, Callable | None]:
    compress = _COMPRESSIONS.get(path.suffix.lower())
    inner = (path.with_suffix("") if compress else path).suffix.lower()
    make = _TEXT.get(inner) or (None if compress else _BINARY.get(inner))
    if make is None:
        raise TableError(
            f"{path} ends in none of {', '.join([*_TEXT, *_BINARY])}, or one of the first three "
            f"with {', '.join(_COMPRESSIONS)} behind it. Give it such a name."
        )
    return make, compress
