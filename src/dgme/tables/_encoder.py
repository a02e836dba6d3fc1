"""Rows of a table as rows of numbers."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, no_type_check

import numpy as np
import pyarrow as pa
from jaxtyping import Float64
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import (
    _check_feature_names_in,
    check_is_fitted,
    validate_data,
)

from dgme.tables._columns import Categorical, Column, load_column
from dgme.tables._errors import TableError, name_some
from dgme.tables._frames import column_of, frame_of
from dgme.tables._learn import KINDS, learn, learn_as, numeric
from dgme.tables._values import values_of

_ROWS_AT_ONCE = 1 << 16


class TableEncoder(TransformerMixin, BaseEstimator):
    """Make numbers of the columns of a data frame, as they look in the training rows.

    Frames may be of pandas, polars, Arrow, or any other library that narwhals knows. An array is
    taken as a table of numbers. Nothing is learned from a target.

    Parameters
    ----------
    kinds : dict of str to str, optional
        Kinds of columns that look like another one: "numeric", "boolean", "categorical", "date",
        or "ignored". All other columns are what they look like.

    Attributes
    ----------
    columns_ : tuple of Column
        What was found in each column, and what is done with it.
    """

    columns_: tuple[Column, ...]
    n_features_in_: int
    feature_names_in_: np.ndarray

    # Constructors of scikit-learn store whatever they get; `fit` is where it is checked.
    @no_type_check
    def __init__(self, kinds: dict[str, str] | None = None):
        self.kinds = kinds

    def fit(self, X, y=None):
        frame = frame_of(X)
        if frame is None:
            rows: Any = validate_data(self, X, dtype=np.float64, ensure_all_finite=False)
            self.columns_ = tuple(
                numeric(f"x{i}", np.where(np.isinf(column), np.nan, column))
                for i, column in enumerate(rows.T)
            )
            return self
        names = frame.columns
        wanted = self._wanted_kinds(names)
        if len(frame) == 0:
            raise TableError("The table has 0 rows. Give rows to learn from.")
        columns = []
        for name in names:
            values = values_of(column_of(frame, name))
            if name in wanted:
                columns.append(learn_as(name, values, wanted[name]))
            else:
                columns.append(learn(name, values, alone=len(names) == 1))
        if not any(column.features for column in columns):
            found = "; ".join(f"{column.name!r} {column.note}" for column in columns)
            raise TableError(f"No column tells rows apart: {found or 'there are none'}.")
        self.columns_ = tuple(columns)
        self.n_features_in_ = len(names)
        self.feature_names_in_ = np.array(names, dtype=object)
        return self

    def transform(self, X) -> Float64[np.ndarray, "n features"]:
        """A row of numbers for each row of the table, which may have further columns."""
        check_is_fitted(self)
        columns = list(self._used(X))
        ends = np.cumsum([0, *(len(column.features) for column, _ in columns)])
        encoded = np.empty((len(columns[0][1]), ends[-1]))
        # Block by block, for what a block needs in between stays in the cache.
        for start in range(0, len(encoded), _ROWS_AT_ONCE):
            block = encoded[start : start + _ROWS_AT_ONCE]
            for (column, values), begin, end in zip(columns, ends[:-1], ends[1:], strict=True):
                part = values.slice(start, _ROWS_AT_ONCE)
                block[:, begin:end] = column.encode(values_of(part))
        return encoded

    def count_unseen(self, X) -> dict[str, int]:
        """For categorical columns, how many rows have a level that no training row had."""
        check_is_fitted(self)
        counts = {
            column.name: column.count_unseen(values_of(values))
            for column, values in self._used(X)
            if isinstance(column, Categorical)
        }
        return {name: count for name, count in counts.items() if count}

    def get_feature_names_out(self, input_features=None) -> np.ndarray:
        """Names of the columns that `transform` gives."""
        check_is_fitted(self)
        names: Any = _check_feature_names_in(self, input_features)
        columns = self.columns_
        if not hasattr(self, "feature_names_in_"):
            pairs = zip(columns, names, strict=True)
            columns = tuple(replace(column, name=str(name)) for column, name in pairs)
        return np.array(_distinct(columns), dtype=object)

    @property
    def types_(self) -> dict[str, pa.DataType]:
        """How `read_batches` best reads each column from a text file."""
        check_is_fitted(self)
        return {column.name: column.type for column in self.columns_ if column.features}

    def dump_state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """What `fit` learned, as plain values and arrays."""
        named = hasattr(self, "feature_names_in_")
        return {"named": named, "columns": [column.dump() for column in self.columns_]}, {}

    def load_state(self, facts: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        """Become fitted again, if all that `dump_state` gave is there and fits together."""
        self.columns_ = tuple(load_column(column) for column in facts["columns"])
        self.n_features_in_ = len(self.columns_)
        if facts["named"]:
            names = [column.name for column in self.columns_]
            self.feature_names_in_ = np.array(names, dtype=object)

    def _used(self, X) -> Iterator[tuple[Column, pa.ChunkedArray]]:
        """The columns that give features, with their values."""
        frame = frame_of(X) if hasattr(self, "feature_names_in_") else None
        used = [column for column in self.columns_ if column.features]
        if frame is None:
            rows: Any = validate_data(
                self, X, reset=False, dtype=np.float64, ensure_all_finite=False
            )
            for column, values in zip(self.columns_, rows.T, strict=True):
                if column.features:
                    yield column, pa.chunked_array([values])
            return
        there = set(frame.columns)
        if missing := [column.name for column in used if column.name not in there]:
            raise TableError(
                f"The table lacks {'column' if len(missing) == 1 else 'columns'} "
                f"{', '.join(map(repr, missing))}, which the model was trained with. It has "
                f"{name_some(frame.columns)}. Add what is missing."
            )
        for column in used:
            yield column, column_of(frame, column.name)

    def _wanted_kinds(self, names: list[str]) -> dict[str, str]:
        wanted = self.kinds or {}
        for name, kind in wanted.items():
            if name not in names:
                raise ValueError(
                    f"kinds names a column {name!r}, but there are {name_some(names)}."
                )
            if kind not in KINDS:
                raise ValueError(
                    f"kinds[{name!r}] must be one of {', '.join(KINDS)}, but is {kind!r}."
                )
        return wanted

    def __sklearn_tags__(self):
        tags: Any = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def _distinct(columns: tuple[Column, ...]) -> list[str]:
    """Names of the features. A column may be named like what another one gives."""
    found: dict[str, None] = {}
    for column in columns:
        for name in column.features:
            while name in found:
                name += "_"
            found[name] = None
    return list(found)
