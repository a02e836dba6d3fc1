"""Downloads that are checked before they are kept."""

import hashlib
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPException
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.request import urlopen

from dgme._files import write_atomically
from dgme.datasets._sources import Source

TIMEOUT = 30.0
# Seconds to wait before every attempt.
PAUSES = (0.0, 0.5, 1.0, 2.0)
# Answers that may be another one in a moment.
_PASSING = frozenset({408, 425, 429, 500, 502, 503, 504})
# Far above any of our files. What sends more is not their home.
_LIMIT = 1 << 26
_TOGETHER = 8


class DownloadError(FileNotFoundError):
    """A data file is not here, and its homes did not send it."""


def download_all(
    sources: Sequence[Source], folder: Path, on_file: Callable[[Source], object] = lambda _: None
) -> None:
    """Download several files at a time. The first that fails ends it; the others stay."""

    def one(source: Source) -> None:
        download(source, folder)
        on_file(source)

    with ThreadPoolExecutor(_TOGETHER) as pool:
        try:
            for _ in pool.map(one, sources):
                pass
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def download(source: Source, folder: Path) -> Path:
    """Download a file below a folder. It appears there whole and with its checksum, or not at all.

    Its homes are asked in turn, again after a while where the trouble may pass. Processes that
    download the same file do not disturb each other.
    """
    target = folder / source.path
    homes, troubles = list(source.urls), {}
    for pause in PAUSES:
        if not homes:
            break
        time.sleep(pause)
        for url in tuple(homes):
            try:
                content = _obtain(source, url)
            except _Trouble as trouble:
                troubles[url] = trouble
                if not trouble.passes:
                    homes.remove(url)
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(target, content)
            return target
    raise DownloadError(
        f"{source.path} could not be downloaded. "
        + " ".join(f"{url}: {trouble}." for url, trouble in troubles.items())
        + f" Try again with a connection, or put the file at {target}, or set the environment "
        f"variable DGME_DATA to a folder that holds {source.path}. {source.otherwise}".rstrip()
    )


class _Trouble(Exception):
    def __init__(self, words: str, *, passes: bool):
        super().__init__(words)
        self.passes = passes


def _obtain(source: Source, url: str) -> bytes:
    """The file as we keep it, checked."""
    try:
        content = _get(url)
    except HTTPError as error:
        error.close()
        words = f"the answer was {error.code} {error.reason}"
        raise _Trouble(words, passes=error.code in _PASSING) from error
    except (OSError, HTTPException) as error:
        reason = error.reason if isinstance(error, URLError) else error
        raise _Trouble(str(reason) or type(reason).__name__, passes=True) from error
    if source.convert is not None:
        try:
            content = source.convert(content)
        except (LookupError, TypeError, ValueError) as error:
            raise _Trouble(f"what it sent cannot be read ({error!r})", passes=False) from error
    if not source.is_original(content):
        raise _Trouble(
            f"it sent {len(content)} bytes with sha256 {hashlib.sha256(content).hexdigest()} "
            f"instead of {source.size} bytes with {source.sha256}, and nothing was kept",
            passes=False,
        )
    return content


def _get(url: str) -> bytes:
    with urlopen(url, timeout=TIMEOUT) as answer:
        content = answer.read(_LIMIT)
        # Reading a given number of bytes tells nothing of a connection that was cut.
        if len(content) < int(answer.headers.get("Content-Length") or 0) < _LIMIT:
            raise ConnectionError(f"the connection was cut after {len(content)} bytes")
    return content
