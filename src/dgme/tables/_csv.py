"""Text tables: what separates their fields, and what is wrong with them."""

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import NamedTuple

import pyarrow as pa
from pyarrow import csv as arrow_csv

from dgme.tables._errors import TableError, shown
from dgme.tables._sources import Source, troubles_told
from dgme.tables._text import MISSING

_SEPARATORS = ",;\t|"
_SAMPLE = 1 << 20
# What is read at a time, and hence the longest line.
_BLOCK = 1 << 23


class Dialect(NamedTuple):
    """How a file writes its fields, and the names in its first line."""

    separator: str
    decimal: str
    raw_names: list[str]
    names: list[str]

    @property
    def pairs(self) -> Iterator[tuple[str, str]]:
        return zip(self.raw_names, self.names, strict=True)


def read_csv(source: Source, types: Mapping[str, pa.DataType]) -> pa.Table:
    """The table; columns of other names get types that suit all of their rows."""
    dialect = _sniff(source)
    given = {raw: types[name] for raw, name in dialect.pairs if name in types}
    try:
        table = _read_whole(source, dialect, given, use_threads=True)
    except TableError:
        # With one thread the trouble comes with the number of its row.
        table = _read_whole(source, dialect, given, use_threads=False)
    if table.num_rows == 0:
        raise _no_rows(source)
    if any(pa.types.is_binary(kind) for kind in table.schema.types):
        raise _not_utf8(source)
    _refuse_open_quote(source, table.slice(table.num_rows - 1))
    return table.rename_columns(dialect.names)


def stream_csv(source: Source, types: Mapping[str, pa.DataType]) -> Iterator[pa.RecordBatch]:
    """The rows in batches; columns of other names are text, so that no type can change halfway."""
    dialect = _sniff(source)
    given = {raw: types.get(name, pa.string()) for raw, name in dialect.pairs}
    last = None
    with troubles_told(source.path), source.open() as stream, _explained(source, dialect) as bad:
        for batch in arrow_csv.open_csv(stream, **_options(dialect, bad, given, False)):
            if batch.num_rows:
                last = batch.slice(batch.num_rows - 1)
                yield batch.rename_columns(dialect.names)
    if last is None:
        raise _no_rows(source)
    _refuse_open_quote(source, last)


def _read_whole(
    source: Source, dialect: Dialect, types: dict[str, pa.DataType], *, use_threads: bool
) -> pa.Table:
    with troubles_told(source.path), source.open() as stream, _explained(source, dialect) as bad:
        return arrow_csv.read_csv(stream, **_options(dialect, bad, types, use_threads))


def _options(
    dialect: Dialect,
    bad_rows: list[arrow_csv.InvalidRow],
    types: dict[str, pa.DataType],
    use_threads: bool,
) -> dict:
    def refuse(row: arrow_csv.InvalidRow) -> str:
        bad_rows.append(row)
        return "error"

    return {
        "read_options": arrow_csv.ReadOptions(block_size=_BLOCK, use_threads=use_threads),
        "parse_options": arrow_csv.ParseOptions(
            delimiter=dialect.separator, newlines_in_values=True, invalid_row_handler=refuse
        ),
        "convert_options": arrow_csv.ConvertOptions(
            column_types=types,
            null_values=MISSING,
            strings_can_be_null=True,
            decimal_point=dialect.decimal,
        ),
    }


@contextmanager
def _explained(source: Source, dialect: Dialect) -> Iterator[list[arrow_csv.InvalidRow]]:
    """Say in our words which row Arrow stumbled over."""
    bad_rows: list[arrow_csv.InvalidRow] = []
    try:
        yield bad_rows
    except pa.ArrowInvalid as error:
        if explanation := _explanation(source, dialect, bad_rows, str(error)):
            raise explanation from error
        raise


def _explanation(
    source: Source, dialect: Dialect, bad_rows: list[arrow_csv.InvalidRow], message: str
) -> TableError | None:
    path = source.path
    if bad_rows:
        expected, found, number, _ = bad_rows[0]
        return TableError(
            f"{path}, row {number} (the first line is row 1): there are {found} fields for "
            f"{expected} column names. Complete the row, or put quotes around text that holds "
            f"{dialect.separator!r}."
        )
    if "UTF8" in message:
        return _not_utf8(source)
    if "Empty CSV file" in message:
        return _no_rows(source)
    if "straddling" in message:
        return TableError(
            f"{path} has a row of more than {_BLOCK >> 20} MB. A quote may be open: close it."
        )
    unread = re.search(
        r"column #(\d+): (?:Row #(\d+): )?.*? to \w+: invalid value '(.*)'", message, re.DOTALL
    )
    if unread is None:
        return None
    column, row, value = unread.groups()
    return TableError(
        f"{path}, row {row} (the first line is row 1): column {dialect.names[int(column)]!r} "
        f"holds {shown(value)}, which is no number. Write a plain number, or leave the field empty."
    )


def _sniff(source: Source) -> Dialect:
    with troubles_told(source.path), source.open() as stream:
        sample = stream.read(_SAMPLE)
    try:
        text = codecs.getincrementaldecoder("utf-8-sig")().decode(sample)
    except UnicodeDecodeError as error:
        raise _not_utf8(source) from error
    if "\0" in text:
        raise TableError(f"{source.path} is no table of text. Give CSV, TSV, Parquet or Arrow.")
    text = text.lstrip("\r\n")
    if not text.strip():
        raise TableError(f"{source.path} is empty. A table begins with a line of column names.")
    header = re.split(r"[\r\n]", re.sub(r'"[^"]*"', "", text), maxsplit=1)[0]
    usual = "\t" if source.suffix in (".tsv", ".tab") else ","
    separator = max(usual + _SEPARATORS, key=header.count)
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    try:
        raw_names = next(rows)
    except csv.Error as error:
        raise TableError(
            f"{source.path} has no readable line of column names: {error}. A quote may be open: "
            "close it."
        ) from error
    decimal = "." if separator == "," else _decimal_mark(rows)
    return Dialect(separator, decimal, raw_names, _names(source, raw_names))


def _decimal_mark(rows: Iterator[list[str]]) -> str:
    """A comma where numbers have one and none has a point."""
    marks = set()
    with suppress(csv.Error):  # at the end of the sample, or for what Arrow will tell
        for row in rows:
            found = (re.fullmatch(r"\s*[+-]?\d+([.,])\d+\s*", field) for field in row)
            marks |= {match[1] for match in found if match}
    return "," if marks == {","} else "."


def _names(source: Source, raw_names: list[str]) -> list[str]:
    names = [name.strip() or f"column_{i}" for i, name in enumerate(raw_names, start=1)]
    repeated = next((name for name, count in Counter(names).items() if count > 1), None)
    if repeated is not None:
        places = [i for i, name in enumerate(names, start=1) if name == repeated]
        raise TableError(
            f"{source.path} names columns {places[0]} and {places[1]} both {repeated!r}. "
            "Rename one of them in the first line."
        )
    # Whole numbers may be names, as of years; with fractions they are a row.
    if all(map(_is_number, names)) and not all(name.isdecimal() for name in names):
        raise TableError(
            f"{source.path} begins with numbers ({', '.join(raw_names[:3])}). "
            "Put a line of column names first."
        )
    return names


def _is_number(text: str) -> bool:
    return re.fullmatch(r"[+-]?\d+([.,]\d+)?([eE][+-]?\d+)?", text) is not None


def _no_rows(source: Source) -> TableError:
    return TableError(f"{source.path} has a line of column names, but no rows. Add rows.")


def _not_utf8(source: Source) -> TableError:
    with source.open() as stream:
        for number, line in enumerate(io.BufferedReader(stream, 1 << 20), start=1):
            try:
                line.decode()
            except UnicodeDecodeError as error:
                return TableError(
                    f"{source.path} is not UTF-8: line {number} holds the byte "
                    f"0x{line[error.start]:02x}. Save it as UTF-8 (spreadsheets call it "
                    "'CSV UTF-8')."
                )
    raise AssertionError("every line is UTF-8")


def _refuse_open_quote(source: Source, last: pa.Table | pa.RecordBatch) -> None:
    """A quote that nobody closed takes all that follows into the last field of the last row."""
    *_, field = last.to_pylist()[0].values()
    if not isinstance(field, str) or len(lines := field.splitlines()) < 2:
        return
    end = b""
    with source.open() as stream:
        while block := stream.read(_BLOCK):
            end = (end + block).rstrip()[-1:]
    if end != b'"':
        raise TableError(
            f"{source.path} has a quote that is never closed, before {lines[0][:40]!r}. Close it."
        )
