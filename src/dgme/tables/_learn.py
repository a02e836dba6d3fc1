"""Which kind of column this is, told from the training rows alone and never from the target."""

import math
import re
from typing import Literal, get_args

import numpy as np
import pyarrow as pa

from dgme.tables import _text
from dgme.tables._columns import (
    Boolean,
    Categorical,
    Column,
    Constant,
    Date,
    Empty,
    Identifier,
    Ignored,
    Nested,
    Numeric,
    TextLike,
)
from dgme.tables._compute import pc
from dgme.tables._dates import Part, date_parts
from dgme.tables._errors import TableError, shown
from dgme.tables._values import (
    Booleans,
    Instants,
    Misfit,
    Nothing,
    Numbers,
    Text,
    Unusable,
    Values,
    as_booleans,
    as_instants,
    as_numbers,
    as_text,
)

Decimal = Literal[".", ","]
KINDS = ("numeric", "boolean", "categorical", "date", "ignored")
MAX_LEVELS = 24
# Of so many levels the counts are kept.
_MAX_COUNTED = 100_000
_IDENTIFYING = {"id", "ids", "uuid", "guid", "key", "index", "idx", "rowid", "rownum", "unnamed"}
_OTHER_DATES = r"^\d{1,4}[./-]\d{1,2}[./-]\d{1,4}"


def learn(name: str, values: Values, *, alone: bool = False) -> Column:
    """The column as it looks. One that stands `alone` is not taken for a count of the rows."""
    match values:
        case Nothing(n_rows):
            return Empty(name, n_rows, "has no values")
        case Unusable(kind, n_missing):
            note = f"holds values of type {kind}; give each part a column of its own"
            return Nested(name, n_missing, note)
        case Numbers():
            return _numeric(name, values, alone)
        case Booleans(found):
            return _boolean(name, found)
        case Instants(found):
            return _date(name, found)
        case Text():
            return _text_column(name, values)


def learn_as(name: str, values: Values, kind: str) -> Column:
    """The column as a user wants it."""
    if kind == "ignored":
        return Ignored(name, 0, "is ignored, as asked for")
    if isinstance(values, Nothing):
        return Empty(name, values.n_rows, "has no values")
    match kind:
        case "numeric":
            return _fitting(name, kind, _numbers_of(name, values))
        case "boolean":
            return _boolean(name, _fitting(name, kind, as_booleans(values)))
        case "date":
            return _date(name, _fitting(name, kind, as_instants(values)))
    return _categorical(name, _fitting(name, kind, as_text(values)))


def _fitting(name: str, kind: str, found):
    if isinstance(found, Misfit):
        raise TableError(f"Column {name!r} cannot be {kind}: it holds {shown(found.value)}.")
    return found


def numeric(
    name: str, found: np.ndarray, note: str = "", decimal: Decimal = ".", as_text: bool = False
) -> Numeric:
    """A column of numbers, kept even if it is constant."""
    missing = np.isnan(found)
    n_missing = int(missing.sum())
    known = found[~missing] if n_missing else found
    median = float(np.median(known)) if len(known) else 0.0
    return Numeric(name, n_missing, note, median, decimal, as_text)


def _numbers_of(name: str, values: Values) -> Numeric | Misfit:
    """Numbers with a point for their fractions, or else with a comma."""
    found = as_numbers(values)
    if not isinstance(values, Text):
        return found if isinstance(found, Misfit) else numeric(name, found, _infinities(values))
    decimal: Decimal = "."
    if isinstance(found, Misfit) and not isinstance(again := as_numbers(values, ","), Misfit):
        found, decimal = again, ","
    if isinstance(found, Misfit):
        return found
    return numeric(name, found, "numbers written as text", decimal, as_text=True)


def _infinities(values: Values) -> str:
    n_infinite = values.n_infinite if isinstance(values, Numbers) else 0
    return f"{n_infinite} infinite values count as missing" if n_infinite else ""


def _numeric(name: str, numbers: Numbers, alone: bool) -> Column:
    found = numbers.values
    if (first := found[0]) == found[-1] and (found == first).all():
        return Constant(name, 0, f"is {first:g} in all rows")
    if not alone and not np.isnan(found).any() and (note := _identifies(name, found)):
        return Identifier(name, 0, note)
    return numeric(name, found, _infinities(numbers))


def _identifies(name: str, found: np.ndarray) -> str:
    """Why numbers without gaps would only tell which row this is."""
    if found[0] in (0, 1) and (np.diff(found) == 1).all():
        return "counts the rows"
    named_so = not _IDENTIFYING.isdisjoint(_words(name))
    if named_so and (found % 1 == 0).all() and len(np.unique(found)) == len(found):
        return "has another value in every row"
    return ""


def _words(name: str) -> list[str]:
    return re.findall(r"[a-z]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower())


def _boolean(name: str, found: np.ndarray) -> Column:
    missing = np.isnan(found)
    n_missing, share = int(missing.sum()), float(found[~missing].mean())
    if share in (0, 1) and not n_missing:
        return Constant(name, 0, f"is {'true' if share else 'false'} in all rows")
    return Boolean(name, n_missing, "", share)


def _date(name: str, found: np.ndarray) -> Column:
    missing = np.isnat(found)
    known = np.sort(found[~missing]).astype("M8[us]")
    places = date_parts(known)
    parts = tuple(part for part in get_args(Part) if np.ptp(places[part]) > 0)
    n_missing = int(missing.sum())
    if not parts and not n_missing:
        return Constant(name, 0, f"is {known[0]} in all rows")
    origin, median = (int(each.astype(np.int64)) for each in (known[0], known[len(known) // 2]))
    return Date(name, n_missing, "", origin, median, parts)


def _text_column(name: str, text: Text) -> Column:
    if not text.categories and (column := _disguised(name, text)):
        return column
    levels, n_missing = text.levels, int((text.codes < 0).sum())
    if len(levels) == 1 and not n_missing:
        return Constant(name, 0, f"is {shown(levels[0].as_py())} in all rows")
    n_known = len(text.codes) - n_missing
    if len(levels) == n_known or len(levels) > max(MAX_LEVELS, n_known / 2):
        return _mostly_unique(name, levels, n_known, n_missing)
    return _categorical(name, text)


def _disguised(name: str, text: Text) -> Column | None:
    """What text holds that is none: yes and no, numbers, dates."""
    words = set(pc.utf8_lower(text.levels).to_pylist()) if len(text.levels) <= 4 else set()
    if any(words == set(pair) for pair in _text.YES_AND_NO):
        return learn_as(name, text, "boolean")
    # Zeros in front make a number a code.
    if not pc.any(pc.match_substring_regex(text.levels, r"^0\d")).as_py():
        column = _numbers_of(name, text)
        if not isinstance(column, Misfit):
            return column
    found = as_instants(text)
    return None if isinstance(found, Misfit) else _date(name, found)


def _mostly_unique(name: str, levels: pa.StringArray, n_known: int, n_missing: int) -> Column:
    if pc.all(pc.match_substring_regex(levels, _OTHER_DATES)).as_py():
        note = f"may hold dates, as {shown(levels[0].as_py())}; write them as 2024-12-31"
        return TextLike(name, n_missing, note)
    if len(levels) == n_known and not pc.any(pc.match_substring(levels, " ")).as_py():
        return Identifier(name, n_missing, "has another value in every row")
    return TextLike(name, n_missing, f"holds free text: {len(levels)} values in {n_known} rows")


def _categorical(name: str, text: Text) -> Column:
    known = text.codes[text.codes >= 0]
    counts = np.bincount(known, minlength=len(text.levels))
    levels = np.array(text.levels.to_pylist(), dtype=object)
    # The most frequent first; levels of equal count in the order of their names.
    order = np.lexsort((levels.astype(str), -counts))
    enough = min(10, max(2, math.ceil(len(known) / 100)))
    n_own = int((counts[order[:MAX_LEVELS]] >= enough).sum())
    if n_own + 1 == len(levels):
        n_own += 1  # an indicator for others would stand for one level
    own, others = order[:n_own], order[n_own:_MAX_COUNTED]
    return Categorical(
        name,
        len(text.codes) - len(known),
        f"{len(levels) - n_own} rare levels share a feature" if len(others) else "",
        tuple(levels[own]),
        tuple(counts[own].tolist()),
        tuple(levels[others]),
        tuple(counts[others].tolist()),
        has_frequency=len(levels) > MAX_LEVELS,
    )
