"""Which kind of file this is, by its first bytes, and its content decompressed."""

import bz2
import io
import lzma
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, NamedTuple

import pyarrow as pa

from dgme.tables._errors import TableError

Kind = Literal["text", "parquet", "arrow file", "arrow stream"]

_COMPRESSIONS = {
    b"\x1f\x8b": "gzip",
    b"BZh": "bz2",
    b"\xfd7zXZ\x00": "xz",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"\x04\x22\x4d\x18": "lz4",
}
_KINDS: dict[bytes, Kind] = {
    b"PAR1": "parquet",
    b"ARROW1": "arrow file",
    b"\xff\xff\xff\xff": "arrow stream",
}
_OTHERS = {
    b"PK\x03\x04": "a spreadsheet or a zip archive. Save the sheet as CSV, or unpack the archive",
    b"\xd0\xcf\x11\xe0": "an old spreadsheet. Save the sheet as CSV",
    b"FEA1": "a Feather file of the first version. Write it again as Feather or Parquet",
    b"SQLite": "a database. Export the table as CSV",
    b"\x89HDF": "an HDF5 file. Write the table as Parquet or CSV",
    b"%PDF": "a PDF document. Give a table as CSV or Parquet",
    b"\xff\xfe": "in UTF-16. Save it as UTF-8 (spreadsheets call it 'CSV UTF-8')",
    b"\xfe\xff": "in UTF-16. Save it as UTF-8 (spreadsheets call it 'CSV UTF-8')",
}


class Source(NamedTuple):
    """A file that holds a table."""

    path: Path
    kind: Kind
    compression: str | None

    def open(self) -> pa.NativeFile:
        return _open(self.path, self.compression)

    @property
    def suffix(self) -> str:
        """The one that tells the format, in lower case."""
        path = self.path.with_suffix("") if self.compression else self.path
        return path.suffix.lower()


def identify(path: Path) -> Source:
    if path.is_dir():
        raise TableError(f"{path} is a folder. Give the name of a file in it.")
    if not path.exists():
        raise TableError(f"There is no file {path.absolute()}.")
    if not path.is_file():
        raise TableError(f"{path} is a pipe or a device. Write the table to a file first.")
    with troubles_told(path):
        with path.open("rb") as file:
            head = file.read(16)
        compression = _starting(head, _COMPRESSIONS)
        if compression:
            with _open(path, compression) as stream:
                head = stream.read(16)
    if not head:
        raise TableError(f"{path} is empty. A table begins with a line of column names.")
    kind = _starting(head, _KINDS)
    if kind is None and (other := _starting(head, _OTHERS)):
        raise TableError(f"{path} is {other}.")
    if kind and compression:
        raise TableError(f"{path} is a compressed {kind.title()} file. Decompress it first.")
    return Source(path, kind or "text", compression)


@contextmanager
def troubles_told(path: Path) -> Iterator[None]:
    """Say in one line what keeps a file from being read."""
    try:
        yield
    except TableError:
        raise
    except (pa.ArrowException, OSError, EOFError, lzma.LZMAError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise TableError(f"{path} cannot be read: {error.strerror}.") from error
        first_line = str(error).splitlines()[0].rstrip(".")
        raise TableError(
            f"{path} is truncated or damaged: {first_line}. Write or download it again."
        ) from error


def _open(path: Path, compression: str | None) -> pa.NativeFile:
    if compression is None:
        return pa.OSFile(str(path))
    # Arrow lacks xz, and takes several bz2 streams in one file for an end.
    if compression in ("xz", "bz2"):
        kind: Any = lzma.LZMAFile if compression == "xz" else bz2.BZ2File
        return pa.PythonFile(io.BufferedReader(kind(path), 1 << 20), mode="r")
    return pa.CompressedInputStream(str(path), compression)


def _starting(head: bytes, kinds: dict):
    return next((kind for magic, kind in kinds.items() if head.startswith(magic)), None)
