"""Tables with targets: the target apart from the columns to learn from."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from dgme.tables import TableError, split_target


class Known(NamedTuple):
    """The rows whose targets are known."""

    rows: pa.Table
    y: np.ndarray
    without_target: int
    """How many were left out."""


def training_rows(table: pa.Table, target: str, drop: Sequence[str] = ()) -> Known:
    for name in drop:
        if name not in table.column_names or name == target:
            what = "is the target" if name == target else "is no column of the table"
            raise TableError(f"--drop: {name!r} {what}. Drop other columns.")
    known = known_targets(table.drop_columns(list(drop)), target)
    if not known.rows.num_columns:
        raise TableError("The table has no column beside the target. Add some to learn from.")
    return known


def known_targets(table: pa.Table, target: str) -> Known:
    rows, y = split_target(table, target)
    known = np.isfinite(y)
    if not known.all():
        rows = rows.filter(pa.array(known))
    return Known(rows, y[known], int((~known).sum()))
