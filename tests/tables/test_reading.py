import bz2
import gzip
import io
import lzma
import os
import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import feather, ipc, parquet

from dgme import TableError, tables
from dgme.tables import _csv

TEXT = b'a,b\n1.5,x\n,"y\nz"\n'
ROWS = [{"a": 1.5, "b": "x"}, {"a": None, "b": "y\nz"}]
ARROW = pa.Table.from_pylist(ROWS)


def binary(write):
    sink = io.BytesIO()
    write(sink)
    return sink.getvalue()


def stream(sink):
    with ipc.new_stream(sink, ARROW.schema) as out:
        out.write(ARROW)


FILES = {
    "t.csv": TEXT,
    "windows.csv": b'a,b\r\n1.5,x\r\n,"y\nz"\r\n',
    "mark.csv": b"\xef\xbb\xbf" + TEXT,
    "spaces.csv": b'\n a , b\n1.5,x\n,"y\nz"\n',
    "missing.csv": b'a,b\n1.5,x\nN/A,"y\nz"\n',
    "t.tsv": TEXT.replace(b",", b"\t"),
    "t.txt": TEXT.replace(b",", b";"),
    "comma.csv": b'a;b\n1,5;x\n;"y\nz"\n',
    "bar.csv": TEXT.replace(b",", b"|"),
    "t.csv.gz": gzip.compress(TEXT),
    "t.csv.bz2": bz2.compress(TEXT),
    "t.csv.xz": lzma.compress(TEXT),
    "t.csv.zst": pa.compress(TEXT, "zstd", asbytes=True),
    "no ending": TEXT,
    "t.parquet": binary(lambda sink: parquet.write_table(ARROW, sink)),
    "t.feather": binary(lambda sink: feather.write_feather(ARROW, sink)),
    "t.arrows": binary(stream),
}


@pytest.mark.parametrize("name", FILES)
def test_every_format_gives_the_same_table(name, tmp_path):
    path = tmp_path / name
    path.write_bytes(FILES[name])
    assert tables.read(path).to_pylist() == ROWS
    batches = list(tables.read_batches(path, {"a": pa.float64()}))
    assert pa.Table.from_batches(batches).to_pylist() == ROWS


HEX = os.urandom(50_000).hex().encode()
PARQUET = binary(lambda sink: parquet.write_table(pa.table({"a": range(10_000)}), sink))
EMPTY = binary(lambda sink: parquet.write_table(pa.table({"a": pa.array([], "int8")}), sink))
TWICE = binary(lambda sink: ipc.new_stream(sink, pa.schema([("a", "int8")] * 2)).close())
BAD = {
    "empty": (b"", "is empty. A table begins with a line of column names"),
    "nothing in gzip": (gzip.compress(b""), "is empty"),
    "blank": (b"\n\r\n \n", "is empty"),
    "header": (b"a,b", "but no rows. Add rows"),
    "header and line": (b"a,b\n", "but no rows. Add rows"),
    "no rows in Parquet": (EMPTY, "has 'a', but no rows. Add rows"),
    "long row": (b"a,b\n1,2\n1,2,3\n", r"row 3 .*3 fields for 2 column names.*holds ','"),
    "short row": (b"a;b\n1;2\n1\n", "row 3 .*1 fields for 2 column names. Complete the row"),
    "late row": (b"a,b\n" + b"1,2\n" * 3000 + b"1\n", "row 3002 "),
    "two names": (b"a,b, a\n1,2,3\n", "columns 1 and 3 both 'a'. Rename"),
    "two names in Arrow": (TWICE, "has two columns 'a'"),
    "no header": (b"1.5,2\n3,4\n", r"begins with numbers \(1.5, 2\). Put a line of column names"),
    "Latin 1": (b"a,b\n1,caf\xe9\n", "line 2 holds the byte 0xe9. Save it as UTF-8"),
    "Latin 1 in a name": (b"a,caf\xe9\n1,2\n", "line 1 holds the byte 0xe9"),
    "late Latin 1": (b"a,b\n" + b"1,cafe\n" * 3000 + b"1,caf\xe9", "line 3002 holds"),
    "UTF-16": ("a,b\n1,2\n".encode("utf-16"), "is in UTF-16. Save it as UTF-8"),
    "open quote": (b'a,b\n1,"x\n2,y\n3,z\n', "a quote that is never closed, before 'x'. Close"),
    "open quote in the header": (b'"a,b\n' + b"1,2\n" * 50_000, "A quote may be open"),
    "endless row": (b'a\n"' + b"x\n" * 10_000, "A quote may be open: close it"),
    "spreadsheet": (b"PK\x03\x04" + bytes(99), "is a spreadsheet or a zip archive. Save the sheet"),
    "zeros": (bytes(99), "is no table of text. Give CSV"),
    "truncated gzip": (gzip.compress(b"a\n" + HEX)[:-9999], "is truncated or damaged"),
    "truncated bz2": (bz2.compress(b"a\n" + HEX)[:-9999], "is truncated or damaged"),
    "truncated xz": (lzma.compress(b"a\n" + HEX)[:-9999], "is truncated or damaged"),
    "damaged gzip": (gzip.compress(b"a\n1\n")[:-5] + b"12345", "is truncated or damaged"),
    "truncated Parquet": (PARQUET[:5000], "is truncated or damaged: Parquet magic bytes"),
    "damaged Parquet": (PARQUET[:100] + b"\xff" * 200 + PARQUET[300:], "is truncated or damaged"),
    "compressed Parquet": (gzip.compress(PARQUET), "compressed Parquet file. Decompress it first"),
    "truncated Arrow": (FILES["t.feather"][:200], "is truncated or damaged: Not an Arrow file"),
    "truncated stream": (FILES["t.arrows"][:200], "is truncated or damaged"),
}


@pytest.fixture
def small_blocks(monkeypatch):
    """Short files take several blocks."""
    monkeypatch.setattr(_csv, "_BLOCK", 1 << 12)


@pytest.mark.parametrize("case", BAD)
def test_what_is_wrong_with_a_file_is_told_in_a_line(case, tmp_path, small_blocks):
    content, words = BAD[case]
    path = tmp_path / "table"
    path.write_bytes(content)
    for reading in (tables.read, lambda path: list(tables.read_batches(path))):
        with pytest.raises(TableError, match=words) as caught:
            reading(path)
        assert "\n" not in str(caught.value)
        assert str(path) in str(caught.value)


def test_what_is_no_file_is_told(tmp_path):
    with pytest.raises(TableError, match=r"is a folder\. Give the name"):
        tables.read(tmp_path)
    with pytest.raises(TableError, match=r"There is no file .*nowhere"):
        tables.read(tmp_path / "nowhere")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(TableError, match="is a pipe or a device"):
        tables.read(tmp_path / "pipe")


def test_types_suit_all_rows_of_a_table(tmp_path, small_blocks):
    # The first blocks hold numbers alone.
    path = tmp_path / "t.csv"
    path.write_bytes(b"a\n" + b"1\n" * 10_000 + b"x\n")
    assert tables.read(path).schema.types == [pa.string()]


def test_types_of_a_table_can_be_given(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(b" a ,b\n007,1\n")
    assert tables.read(path, {"a": pa.string(), "z": pa.string()}).to_pylist() == [
        {"a": "007", "b": 1}
    ]


def test_types_of_a_stream_are_given_and_stay(tmp_path, small_blocks):
    path = tmp_path / "t.csv"
    n = 10_000
    path.write_bytes(b"a,b,c\n" + b"1,007,2020-01-01\n" * n + b"1.5,A1,never\nno,,\n")
    reading = tables.read_batches(path, {"a": pa.float64()})
    first = next(reading)
    assert first.schema.types == [pa.float64(), pa.string(), pa.string()]
    assert first.slice(0, 1).to_pylist() == [{"a": 1, "b": "007", "c": "2020-01-01"}]
    assert first.num_rows < n
    with pytest.raises(TableError, match=rf"row {n + 3} .*'a' holds 'no', which is no number"):
        list(reading)


def test_a_quote_within_a_value_is_none(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(b'a,b\n1,5" pipe\n2,"two\nlines"\n')
    assert tables.read(path)["b"].to_pylist() == ['5" pipe', "two\nlines"]


def test_an_index_of_pandas_is_no_column(tmp_path):
    pd.DataFrame({"a": [1, 2]}, index=[7, 9]).to_parquet(tmp_path / "t.parquet")
    assert tables.read(tmp_path / "t.parquet").column_names == ["a"]
    assert next(tables.read_batches(tmp_path / "t.parquet")).schema.names == ["a"]


def test_views_are_read_as_text(tmp_path):
    pl.DataFrame({"a": ["x", None, "y"]}).write_ipc(tmp_path / "t.arrow")
    table = tables.read(tmp_path / "t.arrow")
    assert table.take([2, 1])["a"].to_pylist() == ["y", None]
    assert next(tables.read_batches(tmp_path / "t.arrow")).schema == table.schema


def test_columns_without_a_name_get_one(tmp_path):
    (tmp_path / "t.csv").write_bytes(b",a,\n0,1,\n")
    assert tables.read(tmp_path / "t.csv").column_names == ["column_1", "a", "column_3"]


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.csv.gz", "t.csv.bz2", "t.tsv.xz"])
def test_text_is_written_as_it_is_read(name, tmp_path):
    table = pa.table({"a,b": [1.0, 0.1, None], 'say "c"': ['x,"y"', "z\nw\tv", ""]})
    tables.write(tmp_path / name, table)
    again = tables.read(tmp_path / name)
    assert again.column_names == table.column_names
    assert again.to_pydict() == {"a,b": [1.0, 0.1, None], 'say "c"': ['x,"y"', "z\nw\tv", None]}
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("name", ["t.parquet", "t.pq", "t.arrow", "t.feather", "t.arrows"])
def test_types_are_written_where_the_format_has_them(name, tmp_path):
    when = np.array(["2024-02-29T12:00"], "M8[us]")
    table = pa.table({"a": pa.array([1], "int8"), "b": ["x"], "c": when, "d": [[1]]})
    tables.write(tmp_path / name, table)
    assert tables.read(tmp_path / name) == table


def test_a_file_is_written_batch_by_batch_and_appears_whole_or_not_at_all(tmp_path):
    table = pa.table({"a": [1, 2]})
    path = tmp_path / "t.csv"
    with tables.writer(path, table.schema) as append:
        append(table)
        append(table.to_batches()[0])
        assert not path.exists()
    assert path.read_bytes() == b"a\n1\n2\n1\n2\n"
    with (
        pytest.raises(ValueError, match="field names"),
        tables.writer(path, table.schema) as append,
    ):
        append(pa.table({"another": ["x"]}))
    assert path.read_bytes() == b"a\n1\n2\n1\n2\n"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("name", ["t", "t.xls", "t.gz", "t.parquet.gz"])
def test_a_name_without_a_known_ending_is_refused(name):
    with pytest.raises(TableError, match=rf"{re.escape(name)} ends in none of .csv, .tsv"):
        tables.check_writable(name)
    tables.check_writable("t.csv.gz")
