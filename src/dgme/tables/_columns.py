"""What is done to a column of a table, one small class for each kind.

A column is learned from the training rows by `dgme.tables._learn`. It then encodes the values of
any rows as numbers, and can be written down as plain values.
"""

from abc import ABCMeta, abstractmethod
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from typing import Any, ClassVar, get_args, get_origin, get_type_hints

import numpy as np
import pyarrow as pa
from jaxtyping import Float64

from dgme.tables._compute import pc
from dgme.tables._errors import TableError
from dgme.tables._values import (
    Misfit,
    Text,
    Values,
    as_booleans,
    as_instants,
    as_numbers,
    as_text,
)

_DAY = 86_400_000_000


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
                f"Column {self.name!r} holds {found.value!r}, but in training it held {expected}. "
                "Correct the value, or leave it empty."
            )
        return found

    def _with_gaps(self, encoded: np.ndarray, missing: np.ndarray) -> np.ndarray:
        """A feature that tells where values are missing, if any were in training."""
        return np.column_stack([encoded, missing]) if self.n_missing else encoded

    def _gap_name(self) -> tuple[str, ...]:
        return (f"{self.name}_missing",) if self.n_missing else ()


@dataclass(frozen=True)
class Numeric(Column):
    median: float
    """What stands in for missing values."""
    decimal: str
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
class Categorical(Column):
    """Each frequent level has an indicator, and the others share one.

    A level, or a gap, for which there is no indicator is encoded as the mean over the training
    rows, for it tells nothing.
    """

    levels: tuple[str, ...]
    counts: tuple[int, ...]
    """Of the training rows with each level."""
    others: tuple[str, ...]
    """Levels without an indicator of their own."""
    other_counts: tuple[int, ...]
    has_frequency: bool
    """Whether the logarithm of a level's count is a feature too, where levels are many."""

    kind = "categorical"

    @property
    def features(self) -> tuple[str, ...]:
        other = ("other",) if self.others else ()
        names = tuple(f"{self.name}={level}" for level in (*self.levels, *other))
        frequency = (f"{self.name}_frequency",) if self.has_frequency else ()
        return names + frequency + self._gap_name()

    def encode(self, values: Values) -> Float64[np.ndarray, "n features"]:
        codes, levels = self._text(values)
        known = pc.fill_null(pc.index_in(levels, value_set=self._known), len(self._known))
        rows = self._rows[np.append(known.to_numpy(zero_copy_only=False), -1)]
        return rows[codes]

    def count_unseen(self, values: Values) -> int:
        """How many rows have a level that no training row had."""
        codes, levels = self._text(values)
        unseen = pc.is_in(levels, value_set=self._known).to_numpy(zero_copy_only=False)
        return int((~np.append(unseen, True)[codes]).sum())

    def _text(self, values: Values) -> tuple[np.ndarray, pa.StringArray]:
        text: Text = self._fitting(as_text(values), "text")
        return text.codes, text.levels

    @cached_property
    def _known(self) -> pa.StringArray:
        return pa.array([*self.levels, *self.others], pa.string())

    @cached_property
    def _rows(self) -> Float64[np.ndarray, "levels features"]:
        """A row for every known level, one for any other, and one for a gap."""
        n_levels, n_known, has_other = len(self.levels), len(self._known), bool(self.others)
        counts = np.array([*self.counts, *self.other_counts], float)
        indicators = np.zeros((n_known + 2, n_levels + has_other))
        indicators[:n_levels, :n_levels] = np.eye(n_levels)
        shares = np.append(counts[:n_levels], counts[n_levels:].sum())[: n_levels + has_other]
        indicators[n_known:] = shares / counts.sum()
        parts = [indicators]
        if has_other:
            indicators[n_levels : n_known + 1] = np.eye(n_levels + 1)[-1]
        if self.has_frequency:
            log_counts = np.log1p(counts)
            mean = np.average(log_counts, weights=counts)
            parts.append(np.append(log_counts, [0.0, mean])[:, None])
        if self.n_missing:
            indicators[-1] = 0
            parts.append(np.eye(n_known + 2)[:, -1:])
        return np.column_stack(parts)


@dataclass(frozen=True)
class Date(Column):
    """Days since the first one, and the place in the year, the week and the day on circles."""

    origin: int
    """The first moment, in microseconds since 1970."""
    median: int
    """What stands in for missing ones."""
    parts: tuple[str, ...]
    """Those that differ between the training rows."""

    kind = "date"

    @property
    def features(self) -> tuple[str, ...]:
        names = [
            (f"{self.name}_days",)
            if part == "days"
            else (f"{self.name}_{part}_sin", f"{self.name}_{part}_cos")
            for part in self.parts
        ]
        return sum(names, ()) + self._gap_name()

    def encode(self, values: Values) -> Float64[np.ndarray, "n features"]:
        found = self._fitting(as_instants(values), "dates such as 2024-12-31")
        missing = np.isnat(found)
        filled = np.where(missing, np.datetime64(self.median, "us"), found)
        places = date_parts(filled)
        places["days"] -= self.origin // _DAY
        encoded = [np.empty((len(found), 0))]
        for part in self.parts:
            if part == "days":
                encoded.append(places[part])
            else:
                angle = 2 * np.pi * places[part]
                encoded += [np.sin(angle), np.cos(angle)]
        return self._with_gaps(np.column_stack(encoded), missing)


def date_parts(moments: np.ndarray) -> dict[str, Float64[np.ndarray, " n"]]:
    """Whole days since 1970, and shares of the year, the week and the day that have passed."""
    days = moments.astype("M8[D]")
    year = days.astype("M8[Y]")
    length = ((year + 1).astype("M8[D]") - year.astype("M8[D]")).astype(float)
    number = days.astype(np.int64)
    return {
        "days": number.astype(float),
        "yearday": (days - year.astype("M8[D]")).astype(float) / length,
        # The first of January 1970 was a Thursday.
        "weekday": ((number + 3) % 7) / 7,
        "hour": (moments - days).astype(float) / _DAY,
    }


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
    return kind(**{name: _checked(name, values[name], hints[name]) for name in names})


def _checked(name: str, value: Any, hint: Any) -> Any:
    if get_origin(hint) is tuple:
        if isinstance(value, list):
            return tuple(_checked(name, each, get_args(hint)[0]) for each in value)
    elif hint is float:
        if isinstance(value, int | float) and np.isfinite(value):
            return float(value)
    elif type(value) is hint:
        return value
    raise ValueError(f"{name} of a column must be {hint}, but is {value!r}")
