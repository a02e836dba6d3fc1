"""Handwritten digits, and the clothes that are not digits."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float32, Int64

from dgme.datasets._home import find
from dgme.datasets._idx import read_idx
from dgme.datasets._sources import DATASETS


class Images(NamedTuple):
    """Grey images of 28 × 28 pixels from 0 to 1, row by row, and the classes they belong to."""

    X: Float32[np.ndarray, "images 784"]
    y: Int64[np.ndarray, " images"]


def load(train: bool = True) -> Images:
    """MNIST: 60,000 digits to train with, or the 10,000 to test with.

    Downloaded if DGME_DATA does not name a folder with them.
    """
    return _load("mnist", "train" if train else "t10k")


def load_fashion() -> Images:
    """Fashion-MNIST: the 10,000 images to test with, of ten kinds of clothes.

    Downloaded if DGME_DATA does not name a folder with them.
    """
    return _load("fashion", "t10k")


def _load(name: str, part: str) -> Images:
    prefix = f"{name}/{part}"
    folder = find([source for source in DATASETS[name] if source.path.startswith(prefix)])
    pixels = read_idx(folder / f"{prefix}-images-idx3-ubyte.gz", 3)
    classes = read_idx(folder / f"{prefix}-labels-idx1-ubyte.gz", 1)
    if pixels.shape != (len(classes), 28, 28):
        raise ValueError(
            f"{folder / prefix}… must hold a class for every image of 28 × 28 pixels, but images "
            f"have shape {pixels.shape} and classes {classes.shape}."
        )
    X = pixels.reshape(len(classes), -1).astype(np.float32) / np.float32(255)
    return Images(X, classes.astype(np.int64))
