"""The values of one column, in the few forms that matter, whatever type they came in."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from jaxtyping import Float64, Int64

from dgme.tables import _text
from dgme.tables._compute import pc


@dataclass(frozen=True)
class Numbers:
    values: Float64[np.ndarray, " n"]
    """NaN where one is missing, or infinite."""
    n_infinite: int = 0


@dataclass(frozen=True)
class Booleans:
    values: Float64[np.ndarray, " n"]
    """One, zero, or NaN where one is missing."""


@dataclass(frozen=True)
class Instants:
    values: np.ndarray
    """datetime64[us], NaT where one is missing. A time of the day is one of 1970-01-01."""


@dataclass(frozen=True)
class Text:
    codes: Int64[np.ndarray, " n"]
    """Numbers of the levels, -1 where one is missing."""
    levels: pa.StringArray
    categories: bool = False
    """Whether the column's own type says that these are categories."""


@dataclass(frozen=True)
class Nothing:
    n_rows: int


@dataclass(frozen=True)
class Unusable:
    type: str
    n_missing: int


Values = Numbers | Booleans | Instants | Text | Nothing | Unusable


class Misfit(NamedTuple):
    """The first value that is not of the kind that was asked for."""

    value: object


def values_of(column: pa.ChunkedArray) -> Values:
    kind = column.type
    if isinstance(kind, pa.BaseExtensionType):
        return values_of(pa.chunked_array([chunk.storage for chunk in column.chunks]))
    if column.null_count == len(column):
        return Nothing(len(column))
    if pa.types.is_dictionary(kind):
        if pa.types.is_boolean(kind.value_type):
            return values_of(column.cast(pa.bool_()))
        return _text_of(column.unify_dictionaries().combine_chunks(), categories=True)
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        try:
            return values_of(column.cast(pa.string()))
        except pa.ArrowInvalid:
            return Unusable(str(kind), column.null_count)
    if _is_text(kind):
        return _text_of(column.dictionary_encode().combine_chunks())
    if pa.types.is_boolean(kind):
        return Booleans(_floats(column.cast(pa.uint8())))
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind) or pa.types.is_time(kind):
        return Instants(_moments(column))
    if pa.types.is_duration(kind):
        microseconds = column.cast(pa.duration("us"), safe=False).cast(pa.int64())
        return numbers_of(_floats(microseconds) / 1e6)
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return numbers_of(_floats(column))
    return Unusable(str(kind), column.null_count)


def numbers_of(values: np.ndarray) -> Numbers | Nothing:
    finite = np.isfinite(values)
    if finite.all():
        return Numbers(values)
    if not finite.any():
        return Nothing(len(values))
    n_infinite = int(np.isinf(values).sum())
    return Numbers(np.where(finite, values, np.nan), n_infinite)


def as_numbers(values: Values, decimal: str = ".") -> Float64[np.ndarray, " n"] | Misfit:
    match values:
        case Numbers(found) | Booleans(found):
            return found
        case Text():
            found = _read(values, lambda levels: _text.numbers(levels, decimal), np.nan)
            # Infinite numbers are missing, in text too.
            return found if isinstance(found, Misfit) else np.where(np.isinf(found), np.nan, found)
    return _nothing_else(values, np.nan)


def as_booleans(values: Values) -> Float64[np.ndarray, " n"] | Misfit:
    match values:
        case Booleans(found):
            return found
        case Numbers(found):
            others = np.flatnonzero((found != 0) & (found != 1) & ~np.isnan(found))
            return Misfit(float(found[others[0]])) if others.size else found
        case Text():
            return _read(values, lambda levels: _text.booleans(levels).cast(pa.float64()), np.nan)
    return _nothing_else(values, np.nan)


def as_instants(values: Values) -> np.ndarray | Misfit:
    match values:
        case Instants(found):
            return found
        case Text():
            return _read(values, _text.instants, np.datetime64("NaT", "us"))
    return _nothing_else(values, np.datetime64("NaT", "us"))


def as_text(values: Values) -> Text | Misfit:
    match values:
        case Text():
            return values
        case Numbers(found):
            # A code may come as text in one file and as a number in another.
            return _encoded(_written(pa.array(found, from_pandas=True)))
        case Booleans(found):
            return _encoded(pa.array(found, from_pandas=True).cast(pa.bool_()).cast(pa.string()))
        case Instants(found):
            return _encoded(pa.array(found).cast(pa.string()))
    missing = _nothing_else(values, -1)
    if isinstance(missing, Misfit):
        return missing
    return Text(missing, pa.array([], pa.string()))


def _read(text: Text, parse, missing) -> np.ndarray | Misfit:
    """Every level is parsed once, however many rows it has."""
    read = parse(text.levels)
    if read.null_count:
        at = pc.index(pc.is_null(read), True).as_py()
        return Misfit(text.levels[at].as_py())
    table = np.append(read.to_numpy(zero_copy_only=False), missing)
    return table[text.codes]


def _nothing_else(values: Values, missing) -> np.ndarray | Misfit:
    match values:
        case Nothing(n_rows):
            return np.full(n_rows, missing)
        case Unusable(kind):
            return Misfit(f"values of type {kind}")
        case Numbers(found) | Booleans(found):
            return Misfit(float(found[~np.isnan(found)][0]))
        case Instants(found):
            return Misfit(str(found[~np.isnat(found)][0]))
    raise AssertionError("text can always be tried")


def _text_of(encoded: pa.DictionaryArray, categories: bool = False) -> Text | Nothing:
    codes = _codes(encoded.indices)
    # Categories that no row has do not count, and trimmed ones may now be the same.
    present = np.isin(np.arange(len(encoded.dictionary)), codes)
    levels = pc.if_else(pa.array(present), _text.trim(_as_string(encoded.dictionary)), None)
    distinct = levels.dictionary_encode()
    if len(distinct.dictionary) == 0:
        return Nothing(len(codes))
    codes = np.append(_codes(distinct.indices), -1)[codes]
    return Text(codes, distinct.dictionary, categories)


def _encoded(written: pa.StringArray) -> Text:
    encoded = written.dictionary_encode()
    return Text(_codes(encoded.indices), encoded.dictionary)


def _codes(indices: pa.Array) -> np.ndarray:
    return pc.fill_null(indices.cast(pa.int64()), -1).to_numpy(zero_copy_only=False)


def _floats(column: pa.ChunkedArray) -> np.ndarray:
    return column.cast(pa.float64(), safe=False).to_numpy()


def _moments(column: pa.ChunkedArray) -> np.ndarray:
    kind = column.type
    if pa.types.is_time(kind):
        column = column.cast(pa.time64("us"), safe=False).cast(pa.int64())
    elif zone := getattr(kind, "tz", None):
        column = column.cast(pa.timestamp("us", zone), safe=False)
    return column.cast(pa.timestamp("us"), safe=False).to_numpy()


def _is_text(kind: pa.DataType) -> bool:
    return (
        pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    )


def _as_string(values: pa.Array) -> pa.StringArray:
    if pa.types.is_floating(values.type):
        return _written(values)
    return values if values.type == pa.string() else values.cast(pa.string())


def _written(values: pa.Array) -> pa.StringArray:
    """Numbers as text; whole ones without a point or an exponent."""
    try:
        return values.cast(pa.int64()).cast(pa.string())
    except pa.ArrowInvalid:
        return values.cast(pa.string())
