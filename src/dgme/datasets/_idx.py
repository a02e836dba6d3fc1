"""The format of MNIST: a few numbers that give a shape, and bytes."""

import gzip
import math
import struct
import zlib
from pathlib import Path

import numpy as np
from jaxtyping import UInt8


def read_idx(path: Path, n_axes: int) -> UInt8[np.ndarray, "..."]:
    """Read an array of bytes with a given number of axes from a gzip file."""
    length = 4 + 4 * n_axes
    try:
        with gzip.open(path, "rb") as file:
            header = file.read(length)
            if header[:4] != bytes((0, 0, 8, n_axes)):
                raise ValueError(
                    f"{path} is no IDX file of bytes with {n_axes} axes: it starts with "
                    f"{header[:4].hex(' ') or 'nothing'}."
                )
            if len(header) < length:
                raise EOFError
            shape = struct.unpack(f">{n_axes}I", header[4:])
            size = math.prod(shape)
            # In pieces, so that a wrong shape cannot ask for more memory than the file fills.
            content = bytearray()
            while len(content) <= size and (piece := file.read(min(1 << 20, size + 1))):
                content += piece
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ValueError(
            f"{path} is truncated or damaged. Delete it and fetch it again."
        ) from error
    if len(content) != size:
        raise ValueError(
            f"{path} should hold {size} bytes, of shape {shape}, but holds "
            f"{'more' if len(content) > size else len(content)}. Delete it and fetch it again."
        )
    return np.frombuffer(content, np.uint8).reshape(shape)
