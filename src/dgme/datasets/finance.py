"""Daily prices of the paper's three stocks, its periods, and windows of past closes."""

import csv
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from jaxtyping import Float64

from dgme.datasets._home import find
from dgme.datasets._sources import DATASETS


class Prices(NamedTuple):
    """Closing prices on trading days, adjusted for splits but not for dividends."""

    dates: np.ndarray
    """Of type datetime64[D], in ascending order."""
    closes: Float64[np.ndarray, " days"]


class Period(NamedTuple):
    """A first and a last day; both belong to it."""

    first: np.datetime64
    last: np.datetime64


class Regime(NamedTuple):
    """The periods that the paper trains on and tests on."""

    train: Period
    test: Period


def _regime(train: tuple[str, str], test: tuple[str, str]) -> Regime:
    def period(days: tuple[str, str]) -> Period:
        return Period(*(np.datetime64(day, "D") for day in days))

    return Regime(period(train), period(test))


# The paper says of GME's test period only that it follows the training period.
REGIMES: Mapping[str, Regime] = MappingProxyType(
    {
        "GOOG": _regime(("2019-01-01", "2022-07-31"), ("2022-08-01", "2023-01-31")),
        "RCL": _regime(("2019-01-01", "2020-04-30"), ("2020-05-01", "2020-09-30")),
        "GME": _regime(("2020-11-01", "2022-01-31"), ("2022-02-01", "2023-01-31")),
    }
)


class Windows(NamedTuple):
    """Rows for one-step forecasts: closes in the order of time, and the one that follows."""

    X: Float64[np.ndarray, "rows length"]
    y: Float64[np.ndarray, " rows"]
    dates: np.ndarray
    """The days of the targets."""


def load(ticker: str) -> Prices:
    """All days of a stock, which are downloaded if DGME_DATA does not name a folder with them."""
    if ticker not in REGIMES:
        raise ValueError(f"ticker must be one of {', '.join(REGIMES)}, but is {ticker!r}.")
    return read_prices(find(DATASETS[ticker]) / "finance" / f"{ticker}.csv")


def read_prices(path: Path) -> Prices:
    """Read the columns Date and Close of a CSV file as Yahoo Finance lays it out."""
    dates, closes = [], []
    with path.open(newline="", encoding="utf-8-sig") as file:
        rows = csv.DictReader(file)
        columns = rows.fieldnames or ()
        if not {"Date", "Close"} <= set(columns):
            raise ValueError(
                f"{path} must have columns Date and Close, but has {', '.join(columns) or 'none'}."
            )
        for row in rows:
            here = f"{path}, line {rows.line_num}"
            try:
                date, close = np.datetime64(row["Date"], "D"), float(row["Close"])
            except (TypeError, ValueError) as error:
                raise ValueError(f"{here}: {error}.") from error
            if not 0 < close < np.inf:
                raise ValueError(f"{here}: Close must be positive, but is {row['Close']}.")
            if np.isnat(date) or (dates and date <= dates[-1]):
                raise ValueError(f"{here}: Date must follow the one before, but is {row['Date']}.")
            dates.append(date)
            closes.append(close)
    return Prices(np.array(dates, "datetime64[D]"), np.array(closes, float))


def windows(
    prices: Prices, period: Period, length: int = 30, *, reach_back: bool = True
) -> Windows:
    """One row for every day of a period: the closes of the `length` trading days before it.

    These may lie before the period, as those of the first test days lie in the training period;
    what is forecast never does. With `reach_back=False` the whole row is of the period, as if no
    earlier price were known, and the first `length` days are no targets.
    """
    if length < 1:
        raise ValueError(f"length must be at least 1, but is {length}.")
    start, stop = np.searchsorted(
        prices.dates, [period.first, period.last + np.timedelta64(1, "D")]
    )
    first = max(start if reach_back else start + length, length)
    if first >= stop:
        raise ValueError(
            f"period {period.first} to {period.last} has no day with {length} closes before it; "
            f"prices are known from {_span(prices)}. Use a smaller length or another period."
        )
    past = np.lib.stride_tricks.sliding_window_view(prices.closes, length)
    return Windows(
        past[first - length : stop - length].copy(),
        prices.closes[first:stop].copy(),
        prices.dates[first:stop].copy(),
    )


def _span(prices: Prices) -> str:
    return f"{prices.dates[0]} to {prices.dates[-1]}" if len(prices.dates) else "no day"
