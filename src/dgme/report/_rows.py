"""Rows of features, whether they come as an array or as a data frame of any library."""

from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np


class Rows:
    """Features by name, and rows in the form in which the model takes them.

    Columns of a frame that the model does not know are left out.
    """

    def __init__(self, X, names: Sequence[str] = ()) -> None:
        frame = nw.from_native(X, eager_only=True, pass_through=True)
        self._frame: Any = frame if isinstance(frame, nw.DataFrame) else None
        self._array: Any = np.asarray(X) if self._frame is None else None
        if self._frame is not None:
            if set(names) <= set(self._frame.columns):
                self._frame = self._frame.select(*(names or self._frame.columns))
            self.names = list(self._frame.columns)
        elif self._array.ndim < 2:
            raise ValueError(
                f"X must hold a list of features for each row, but has shape {self._array.shape}; "
                "of a single feature pass X.reshape(-1, 1)"
            )
        else:
            n = self._array.shape[-1]
            self.names = list(names) or [f"x{j}" for j in range(n)]

    def __len__(self) -> int:
        return len(self._array if self._frame is None else self._frame)

    @property
    def native(self) -> Any:
        return self._array if self._frame is None else self._frame.to_native()

    def matrix(self) -> np.ndarray:
        """Numbers, if all features are; every step of a sequence is a row of its own."""
        values = self._array if self._frame is None else self._frame.to_numpy()
        return values.astype(np.float64).reshape(-1, values.shape[-1])

    def take(self, rows: np.ndarray | slice) -> "Rows":
        if self._frame is None:
            return Rows(self._array[rows], self.names)
        return Rows(self._frame[rows].to_native())

    def shuffled(self, feature: int, order: np.ndarray) -> Any:
        """The rows with one feature in another order; of a sequence, with all its steps."""
        if self._frame is None:
            changed = self._array.copy()
            changed[..., feature] = changed[order][..., feature]
            return changed
        name = self.names[feature]
        return self._frame.with_columns(self._frame[name][order.tolist()].alias(name)).to_native()

    def values(self, feature: int) -> list[Any]:
        """The column of a feature; the last step of a sequence."""
        if self._frame is not None:
            return self._frame[self.names[feature]].to_list()
        column = self._array[..., feature]
        return column.reshape(len(column), -1)[:, -1].tolist()
