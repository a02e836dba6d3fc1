"""Files that appear whole or not at all."""

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


def write_atomically(path: Path, content: bytes) -> None:
    with replacing(path) as file:
        file.write(content)


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A new file that is written beside `path` and renamed at the end.

    An old file stays whole until the new one is, and whatever goes wrong leaves nothing behind.
    """
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder. Give the name of a file.")
    # A file would take the place of the device for all programs.
    if path.exists() and not path.is_file():
        raise OSError(f"{path} is a pipe or a device. Give the name of a file.")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"There is no folder {path.parent}. Create it first.")
    beside = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    # A new file gets the usual permissions from the system; one that is replaced keeps its own.
    handle = os.open(beside, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if path.exists():
            shutil.copymode(path, beside)
        os.replace(beside, path)
    except BaseException:
        # It is gone already if Ctrl-C came right after the renaming.
        beside.unlink(missing_ok=True)
        raise
