"""Columns of text with levels that come again."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
from jaxtyping import Float64

from dgme.tables._column import Column
from dgme.tables._compute import pc
from dgme.tables._values import Text, Values, as_text


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
        shares = np.append(counts[:n_levels], counts[n_levels:].sum())[: n_levels + has_other]
        indicators = np.zeros((n_known + 2, n_levels + has_other))
        indicators[:n_levels, :n_levels] = np.eye(n_levels)
        indicators[n_known:] = shares / counts.sum()
        if has_other:
            indicators[n_levels : n_known + 1] = np.eye(n_levels + 1)[-1]
        if self.n_missing:
            indicators[-1] = 0
        log_counts = np.log1p(counts)
        frequency = np.append(log_counts, [0, log_counts @ counts / counts.sum()])
        gap = np.arange(n_known + 2) == n_known + 1
        return np.column_stack(
            [indicators, *[frequency] * self.has_frequency, *[gap] * (self.n_missing > 0)]
        )
