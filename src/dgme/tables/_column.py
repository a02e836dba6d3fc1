"""What every column of a table can do."""

from abc import ABCMeta, abstractmethod
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
from jaxtyping import Float64

from dgme.tables._errors import TableError, shown
from dgme.tables._values import Misfit, Values


@dataclass(frozen=True)
class Column(metaclass=ABCMeta):
    """A column of the training table, and how its values become numbers."""

    name: str
    n_missing: int
    """How many training rows have no value here."""
    note: str
    """What a user should know of the column, if anything."""

    kind: ClassVar[str]

    @property
    def type(self) -> pa.DataType:
        """How the column is best read from a text file."""
        return pa.string()

    @property
    @abstractmethod
    def features(self) -> tuple[str, ...]:
        """Names of the numbers that it gives for each row."""

    @abstractmethod
    def encode(self, values: Values) -> Float64[np.ndarray, "n features"]: ...

    def dump(self) -> dict[str, Any]:
        return {"kind": self.kind} | asdict(self)

    def _fitting(self, found, expected: str):
        if isinstance(found, Misfit):
            raise TableError(
                f"Column {self.name!r} holds {shown(found.value)}, but in training it held "
                f"{expected}. Correct the value, or leave it empty."
            )
        return found

    def _with_gaps(self, encoded: np.ndarray, missing: np.ndarray) -> np.ndarray:
        """A feature that tells where values are missing, if any were in training."""
        return np.column_stack([encoded, missing]) if self.n_missing else encoded

    def _gap_name(self) -> tuple[str, ...]:
        return (f"{self.name}_missing",) if self.n_missing else ()
