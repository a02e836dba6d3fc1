from collections.abc import Mapping

import numpy as np


def take(arrays: Mapping[str, np.ndarray], name: str, shape: tuple[int, ...]) -> np.ndarray:
    """An array of a model file, which must be there, have this shape and hold finite numbers."""
    if name not in arrays:
        raise ValueError(f"array {name!r} is missing")
    if arrays[name].shape != shape:
        raise ValueError(f"array {name!r} has shape {arrays[name].shape} instead of {shape}")
    if not np.isfinite(arrays[name]).all():
        raise ValueError(f"array {name!r} holds numbers that are not finite")
    return arrays[name]
