"""Columns of dates, moments and times of the day."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float64

from dgme.tables._column import Column
from dgme.tables._values import Values, as_instants

Part = Literal["days", "yearday", "weekday", "hour"]
_DAY = 86_400_000_000


@dataclass(frozen=True)
class Date(Column):
    """Days since the first one, and the place in the year, the week and the day on circles."""

    origin: int
    """The first moment, in microseconds since 1970."""
    median: int
    """What stands in for missing ones."""
    parts: tuple[Part, ...]
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
