"""What a benchmark yields: numbers, and the bars that they are held to."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Bar:
    """A limit, in the unit of the row. A goal is a limit that is aimed at, not promised."""

    limit: float
    at_least: bool = False
    goal: bool = False

    def met_by(self, value: float) -> bool:
        return value >= self.limit if self.at_least else value <= self.limit

    def __str__(self) -> str:
        return f"{'goal ' * self.goal}{'≥' if self.at_least else '≤'} {self.limit:g}"


@dataclass(frozen=True)
class Row:
    """One line of the table; a value of None was not measured, and `how` says why."""

    what: str
    value: float | None
    unit: str
    how: str
    bar: Bar | None = None

    @property
    def met(self) -> bool | None:
        if self.bar is None or self.value is None:
            return None
        return self.bar.met_by(self.value)
