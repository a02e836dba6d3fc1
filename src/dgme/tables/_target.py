"""The column that is to be predicted."""

from difflib import get_close_matches
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa
from jaxtyping import Float64

from dgme.tables import _text
from dgme.tables._compute import pc
from dgme.tables._errors import TableError, name_some, shown
from dgme.tables._frames import column_of, frame_of
from dgme.tables._values import Booleans, Instants, Nothing, Numbers, Text, Unusable, values_of


def split_target(table, name: str) -> tuple[pa.Table, Float64[np.ndarray, " n"]]:
    """The other columns, and the numbers of the named one, NaN where they are missing.

    `table` is a data frame of any kind.
    """
    frame = frame_of(table)
    if frame is None:
        raise TypeError(
            f"A target of the name {name!r} needs a data frame, but there is {type(table)}."
        )
    names = frame.columns
    if name not in names:
        near = get_close_matches(name, names, n=1) or get_close_matches(
            name.lower(), {each.lower(): each for each in names}, n=1
        )
        near = [each for each in names if near and each.lower() == near[0].lower()]
        raise TableError(
            f"There is no column {name!r}. "
            + (f"Did you mean {near[0]!r}? " if near else "")
            + f"The table has {name_some(names)}."
        )
    target = target_numbers(name, column_of(frame, name))
    others = {each: column_of(frame, each) for each in names if each != name}
    return pa.table(others), target


def named_target(y) -> tuple[str | None, Any]:
    """The name of a target, if it has one, and its numbers. One column of a frame is a target."""
    found = nw.from_native(y, allow_series=True, pass_through=True)
    frame = frame_of(found.to_frame().to_native() if isinstance(found, nw.Series) else y)
    if frame is None or len(frame.columns) != 1:
        return None, y
    (name,) = frame.columns
    unnamed = isinstance(found, nw.Series) and not found.name
    return None if unnamed else name, target_numbers(name, column_of(frame, name))


def target_numbers(name: str, column: pa.ChunkedArray) -> Float64[np.ndarray, " n"]:
    """The numbers to predict, NaN where they are missing. They must be written as such."""
    match values_of(column):
        case Numbers(values, 0):
            return values
        case Numbers(values, n_infinite):
            trouble = (
                f"is infinite in {n_infinite} of {len(values)} rows. Correct them, or drop them"
            )
        case Booleans():
            trouble = "holds true and false. To predict a share, write them as 1 and 0"
        case Instants():
            trouble = "holds dates. Write them as numbers, such as days since the first"
        case Nothing():
            trouble = "has no values. Fill them in"
        case Unusable(kind):
            trouble = f"holds values of type {kind}. Give numbers"
        case Text() as text:
            plain = _plain_numbers(text.levels)
            if plain.null_count == 0:
                return np.append(plain.to_numpy(zero_copy_only=False), np.nan)[text.codes]
            code = pc.index(pc.is_null(plain), True).as_py()
            value = text.levels[code].as_py()
            (meant,) = _text.numbers(pa.array([value])).to_pylist()
            trouble = (
                f"holds {shown(value)} in data row {np.argmax(text.codes == code) + 1}, which is "
                f"no plain number. {'Correct it' if meant is None else f'Write {meant:g}'}"
            )
    raise TableError(f"The target {name!r} {trouble}.")


def _plain_numbers(levels: pa.StringArray) -> pa.DoubleArray:
    number = pc.match_substring_regex(levels, r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$")
    return pc.cast(pc.if_else(number, levels, None), pa.float64())
