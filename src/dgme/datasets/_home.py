"""Where data files are: the folder that DGME_DATA names, or the user's cache."""

import hashlib
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from dgme.datasets._download import download_all
from dgme.datasets._sources import DATASETS, Source


def data_folder() -> Path | None:
    """The user's own folder, which the environment variable DGME_DATA names."""
    named = os.environ.get("DGME_DATA")
    if not named:
        return None
    if not Path(named).is_dir():
        raise FileNotFoundError(
            f"DGME_DATA={named} is no folder. Name one that holds data files, or unset it."
        )
    return Path(named)


def cache_folder() -> Path:
    """Where downloads are kept, by the custom of the system."""
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "dgme"


def find(
    sources: Sequence[Source], on_download: Callable[[Source], object] = lambda _: None
) -> Path:
    """The folder below which all of these files lie.

    That is the folder that DGME_DATA names, whose files are the user's and are taken as they are.
    If it has none of them, it is the cache, into which those that are missing are downloaded.
    """
    if (own := data_folder()) is not None:
        missing = _missing(sources, own)
        if not missing:
            return own
        if len(missing) < len(sources):
            # Files of two origins must not be mixed in silence.
            raise FileNotFoundError(
                f"{missing[0].path} was not found in DGME_DATA={own}, which holds other files of "
                "the same dataset. Add it, or take those away to have the dataset downloaded."
            )
    cache = cache_folder()
    download_all(_missing(sources, cache), cache, on_download)
    return cache


def checksum(name: str) -> str:
    """What tells the data of a dataset from others, as found on this machine."""
    sources = DATASETS[name]
    folder, digest = find(sources), hashlib.sha256()
    for source in sources:
        digest.update((folder / source.path).read_bytes())
    return digest.hexdigest()[:16]


class Status(NamedTuple):
    """What is known of a dataset without asking its home."""

    name: str
    sources: tuple[Source, ...]
    folder: Path | None
    """The data folder that has files of it, if any."""
    missing: tuple[Source, ...]
    original: bool | None
    """Whether what is there is what its home sends; None if nothing is there."""

    @property
    def size(self) -> int:
        return sum(source.size for source in self.sources)

    @property
    def place(self) -> Path | None:
        """The file, or the folder of the files."""
        return self.folder and self.folder / _shared([source.path for source in self.sources])

    @property
    def homes(self) -> tuple[str, ...]:
        """The addresses of the file, or of the folder of the files."""
        mirrors = zip(*(source.urls for source in self.sources), strict=True)
        return tuple(_shared(urls) for urls in mirrors)


def status(name: str) -> Status:
    """Where a dataset is, and whether it is what its home sends. Reads every file."""
    sources = DATASETS[name]
    places = [place for place in (data_folder(), cache_folder()) if place is not None]
    for folder in places:
        missing = _missing(sources, folder)
        if len(missing) < len(sources):
            there = [source for source in sources if source not in missing]
            original = all(s.is_original((folder / s.path).read_bytes()) for s in there)
            return Status(name, sources, folder, tuple(missing), original)
    return Status(name, sources, None, sources, None)


def _missing(sources: Sequence[Source], folder: Path) -> list[Source]:
    return [source for source in sources if not (folder / source.path).is_file()]


def _shared(paths: Sequence[str]) -> str:
    """One path as it is, and of several the folder, since a dataset lies in one."""
    return paths[0] if len(paths) == 1 else paths[0].rpartition("/")[0] + "/"
