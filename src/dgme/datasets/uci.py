"""The seven UCI tables of the paper, with the 20 train-test splits that the field shares."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from jaxtyping import Float64

from dgme.datasets._home import find
from dgme.datasets._sources import DATASETS

N_SPLITS = 20

# Our names, and the folders of the collection that the splits come from.
FOLDERS: Mapping[str, str] = MappingProxyType(
    {
        "boston": "bostonHousing",
        "concrete": "concrete",
        "energy": "energy",
        "kin8nm": "kin8nm",
        "power-plant": "power-plant",
        "wine": "wine-quality-red",
        "yacht": "yacht",
    }
)


class Split(NamedTuple):
    """Rows to train on, and rows to test on."""

    X_train: Float64[np.ndarray, "n features"]
    y_train: Float64[np.ndarray, " n"]
    X_test: Float64[np.ndarray, "m features"]
    y_test: Float64[np.ndarray, " m"]


def load_splits(name: str) -> list[Split]:
    """The 20 splits of a table, which is downloaded if DGME_DATA does not name a folder with it."""
    if name not in FOLDERS:
        raise ValueError(f"name must be one of {', '.join(FOLDERS)}, but is {name!r}.")
    folder = find(DATASETS[name]) / "UCI_Datasets" / FOLDERS[name] / "data"

    def indices(which: str) -> np.ndarray:
        return np.loadtxt(folder / f"index_{which}.txt").astype(int)

    table = np.loadtxt(folder / "data.txt")
    X, y = table[:, indices("features")], table[:, int(indices("target"))]
    return [
        Split(*(part[indices(f"{of}_{s}")] for of in ("train", "test") for part in (X, y)))
        for s in range(N_SPLITS)
    ]
