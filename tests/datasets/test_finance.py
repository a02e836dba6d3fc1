import os

import numpy as np
import pytest

from dgme.datasets import finance
from dgme.datasets.finance import Period, Prices, read_prices, windows

HEADER = "Date,Open,High,Low,Close,Adj Close,Volume\n"


def day(text):
    return np.datetime64(text, "D")


# Ten weekdays from a Thursday on; the close is the number of the day.
DATES = np.array([day("2020-01-02") + n for n in (0, 1, 4, 5, 6, 7, 8, 11, 12, 13)])
PRICES = Prices(DATES, np.arange(10.0) + 1)


def test_windows_of_a_period_may_begin_before_it():
    found = windows(PRICES, Period(day("2020-01-09"), day("2020-01-14")), 3)
    np.testing.assert_array_equal(
        found.X, [[3, 4, 5], [4, 5, 6], [5, 6, 7], [6, 7, 8], [7, 8, 9]][:4]
    )
    np.testing.assert_array_equal(found.y, [6, 7, 8, 9])
    np.testing.assert_array_equal(found.dates, DATES[5:9])


def test_windows_may_be_kept_within_a_period():
    period = Period(day("2020-01-06"), day("2020-01-10"))
    found = windows(PRICES, period, 3, reach_back=False)
    np.testing.assert_array_equal(found.X, [[3, 4, 5], [4, 5, 6]])
    np.testing.assert_array_equal(found.y, [6, 7])


def test_the_first_days_have_no_past():
    found = windows(PRICES, Period(day("2019-01-01"), day("2021-01-01")), 3)
    np.testing.assert_array_equal(found.y, [4, 5, 6, 7, 8, 9, 10])


def test_nothing_after_a_period_is_seen():
    """Whatever happens after its last day, the windows of a period are the same."""
    period = Period(day("2020-01-06"), day("2020-01-09"))
    later = PRICES.dates > period.last
    changed = PRICES._replace(closes=np.where(later, -1.0, PRICES.closes))
    for part, same in zip(windows(PRICES, period, 2), windows(changed, period, 2), strict=True):
        np.testing.assert_array_equal(part, same)


@pytest.mark.parametrize("ticker", finance.REGIMES)
def test_no_target_of_the_test_period_is_known_in_training(ticker):
    dates = np.arange(day("2018-06-01"), day("2023-04-01"))
    prices = Prices(dates, np.arange(float(len(dates))) + 1)
    train, test = (windows(prices, period) for period in finance.REGIMES[ticker])
    assert train.y.max() < test.y.min()
    assert train.X.max() < test.y.min()
    # A window is followed by its target at once, and the periods by one another.
    np.testing.assert_array_equal(test.X[:, -1] + 1, test.y)
    assert train.dates[-1] + 1 == test.dates[0]


def test_windows_are_no_views():
    """Scaling them in place must not change the prices."""
    found = windows(PRICES, Period(DATES[3], DATES[5]), 2)
    found.X[:] = 0
    found.y[:] = 0
    np.testing.assert_array_equal(PRICES.closes, np.arange(10.0) + 1)


def test_a_period_without_rows_is_refused():
    with pytest.raises(
        ValueError, match="2020-01-02 to 2020-01-03 has no day with 3 closes before"
    ):
        windows(PRICES, Period(DATES[0], DATES[1]), 3)
    with pytest.raises(ValueError, match="prices are known from 2020-01-02 to 2020-01-15"):
        windows(PRICES, Period(day("2021-01-01"), day("2021-02-01")), 3)
    with pytest.raises(ValueError, match="known from no day"):
        windows(Prices(DATES[:0], np.empty(0)), Period(DATES[0], DATES[1]), 3)
    with pytest.raises(ValueError, match="length must be at least 1, but is 0"):
        windows(PRICES, Period(DATES[0], DATES[9]), 0)


def test_prices_are_read_from_the_folder_of_ones_own(tmp_path, monkeypatch):
    (tmp_path / "finance").mkdir()
    (tmp_path / "finance" / "GME.csv").write_text(
        HEADER + "2018-06-01,3.2,3.43,3.1975,3.43,3.06,103296000\n2018-06-04,1,2,3,3.56,5,6\n"
    )
    monkeypatch.setenv("DGME_DATA", str(tmp_path))
    prices = finance.load("GME")
    np.testing.assert_array_equal(prices.dates, [day("2018-06-01"), day("2018-06-04")])
    np.testing.assert_array_equal(prices.closes, [3.43, 3.56])
    with pytest.raises(ValueError, match="ticker must be one of GOOG, RCL, GME, but is 'AAPL'"):
        finance.load("AAPL")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "must have columns Date and Close, but has none"),
        ("date,close\n", "must have columns Date and Close, but has date, close"),
        ("<html>\n", "but has <html>"),
        ("Date,Close\n2020-01-02,null\n", "line 2: could not convert .* 'null'"),
        ("Date,Close\n2020-01-02,1\n2020-01-03\n", "line 3: float"),
        ("Date,Close\nyesterday,1\n", "line 2: .*yesterday"),
        ("Date,Close\n,1\n", "line 2: Date must follow the one before"),
        ("Date,Close\n2020-01-02,nan\n", "line 2: Close must be positive, but is nan"),
        ("Date,Close\n2020-01-02,0\n", "line 2: Close must be positive, but is 0"),
        ("Date,Close\n2020-01-02,1\n2020-01-02,1\n", "line 3: Date must follow the one before"),
    ],
)
def test_files_that_are_no_prices_are_refused(tmp_path, text, words):
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises(ValueError, match=rf"a\.csv.*{words}"):
        read_prices(tmp_path / "a.csv")


@pytest.mark.skipif(not os.environ.get("DGME_DATA"), reason="needs data files in DGME_DATA")
@pytest.mark.parametrize(
    ("ticker", "days", "rmse"), [("GOOG", 127, 2.345), ("RCL", 106, 3.166), ("GME", 251, 1.781)]
)
def test_tomorrow_is_like_today(ticker, days, rmse):
    """The error of a random walk, which the paper's methods do not reach."""
    test = windows(finance.load(ticker), finance.REGIMES[ticker].test)
    assert len(test.y) == days
    assert np.sqrt(np.mean((test.y - test.X[:, -1]) ** 2)) == pytest.approx(rmse, abs=5e-4)
