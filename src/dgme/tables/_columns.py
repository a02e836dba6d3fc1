"""What is done to a column of a table, one small class for each kind.

A column is learned from the training rows by `dgme.tables._learn`. It then encodes the values of
any rows as numbers, and can be written down as plain values.
"""

from dataclasses import dataclass, fields
from typing import Any, Literal, get_args, get_origin, get_type_hints

import numpy as np
import pyarrow as pa
from jaxtyping import Float64

from dgme.tables._categories import Categorical as Categorical
from dgme.tables._column import Column as Column
from dgme.tables._dates import Date as Date
from dgme.tables._values import Nothing, Values, as_booleans, as_numbers


@dataclass(frozen=True)
class Numeric(Column):
    median: float
    """What stands in for missing values."""
    decimal: Literal[".", ","]
    """What separates the fraction, if numbers are written as text."""
    as_text: bool
    """Whether they came with currencies, percent signs or groups of digits, as no reader takes."""

    kind = "numeric"

    @property
    def type(self) -> pa.DataType:
        return pa.string() if self.as_text else pa.float64()

    @property
    def features(self) -> tuple[str, ...]:
        return (self.name, *self._gap_name())

    def encode(self, values: Values) -> Float64[np.ndarray, "n features"]:
        found = self._fitting(as_numbers(values, self.decimal), "numbers")
        missing = np.isnan(found)
        filled = np.where(missing, self.median, found) if missing.any() else found
        return self._with_gaps(filled[:, None], missing)


@dataclass(frozen=True)
class Boolean(Column):
    share: float
    """Of true ones; it stands in for missing values."""

    kind = "boolean"

    @property
    def features(self) -> tuple[str, ...]:
        return (self.name, *self._gap_name())

    def encode(self, values: Values) -> Float64[np.ndarray, "n features"]:
        found = self._fitting(as_booleans(values), "true and false")
        missing = np.isnan(found)
        return self._with_gaps(np.where(missing, self.share, found)[:, None], missing)


@dataclass(frozen=True)
class Unused(Column):
    """A column that gives no features."""

    @property
    def features(self) -> tuple[str, ...]:
        return ()

    def encode(self, values: Values) -> Float64[np.ndarray, "n features"]:
        raise AssertionError("nobody reads a column without features")


class Constant(Unused):
    kind = "constant"


class Empty(Unused):
    kind = "empty"


class Identifier(Unused):
    kind = "identifier"


class TextLike(Unused):
    kind = "text"


class Nested(Unused):
    kind = "nested"


class Ignored(Unused):
    kind = "ignored"


_KINDS = {
    each.kind: each
    for each in (
        *(Numeric, Boolean, Categorical, Date),
        *(Constant, Empty, Identifier, TextLike, Nested, Ignored),
    )
}


def load_column(facts: dict[str, Any]) -> Column:
    """What `dump` gave, if it is all there and of the right types."""
    values = dict(facts)
    kind = _KINDS[values.pop("kind")]
    hints = get_type_hints(kind)
    names = [field.name for field in fields(kind)]
    if sorted(values) != sorted(names):
        raise ValueError(f"a column has the entries {sorted(values)} instead of {sorted(names)}")
    column = kind(**{name: _checked(name, values[name], hints[name]) for name in names})
    with np.errstate(invalid="ignore"):
        fits = not column.features or np.isfinite(column.encode(Nothing(1))).all()
    if not fits:
        raise ValueError(f"the parts of column {column.name!r} do not fit together")
    return column


def _checked(name: str, value: Any, hint: Any) -> Any:
    if get_origin(hint) is tuple:
        if isinstance(value, list):
            return tuple(_checked(name, each, get_args(hint)[0]) for each in value)
    elif get_origin(hint) is Literal:
        if value in get_args(hint):
            return value
    elif hint is float:
        if isinstance(value, int | float) and np.isfinite(value):
            return float(value)
    elif type(value) is hint:
        return value
    raise ValueError(f"{name} of a column must be {hint}, but is {value!r}")
