import os
from dataclasses import replace
from functools import partial
from importlib.util import find_spec

import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy import integrate, stats

from dgme import GaussianMixture, metrics
from dgme.datasets import finance as data
from dgme.paper import finance
from dgme.paper._closes import METHODS, Forecaster, extractor, parts, periods, usual_change
from dgme.paper._returns import (
    CloseLaw,
    ReturnsDGME,
    Volatility,
    garch_nll,
    student_nll,
    student_rows,
)
from dgme.paper.finance import GARCH, RETURNS, STUDENT, WALK, FinanceExperiment
from dgme.paper.settings import Finance, Returns

RETURNS_SETTINGS = Returns(
    n_components=2, hidden_sizes=(2,), n_rounds=1, epochs_per_round=2, other_prior_rows=(0,)
)
TINY = Finance(
    tickers=("GME",),
    runs=2,
    window=6,
    extractors=((2, 1, (2,)),),
    steps=(10,),
    learning_rates=(0.01,),
    dropouts=(0.0,),
    mcd_dropouts=(0.1,),
    weight_decays=(0.0,),
    noises=(1.0,),
    n_components=2,
    n_rounds=1,
    swag_epochs=2,
    returns=RETURNS_SETTINGS,
)


def series(seed: int = 0, n_train: int = 60, n_test: int = 20) -> data.Prices:
    """A random walk over the first days of both periods of GME."""
    starts = data.REGIMES["GME"]
    dates = np.concatenate(
        [period.first + np.arange(n) for period, n in zip(starts, (n_train, n_test), strict=True)]
    )
    steps = 0.03 * np.random.default_rng(seed).standard_t(5, len(dates))
    return data.Prices(dates, 50 * np.exp(np.cumsum(steps)))


@pytest.fixture
def prices(monkeypatch):
    monkeypatch.setattr(data, "load", lambda ticker: series())


@pytest.fixture
def long_prices(monkeypatch):
    monkeypatch.setattr(data, "load", lambda ticker: series(1, 400, 50))


LAST = np.array([20.0, 100.0])
MIXTURE = GaussianMixture([0.7, 0.3], [[0.0, 0.1], [-0.2, 0.0]], [[0.1, 0.3], [0.05, 0.5]])


def test_the_law_of_a_close_follows_from_that_of_its_return():
    law = CloseLaw(LAST, MIXTURE)
    for row, last in enumerate(LAST):
        one = CloseLaw(LAST[row : row + 1], MIXTURE[row : row + 1])

        def density(y, power, one=one):
            return y**power * np.exp(one.logpdf(np.array([y]))[0])

        def integral(power, last=last, density=density):
            return integrate.quad(partial(density, power=power), 0, 50 * last, points=[last])[0]

        # Quadrature to 1e-6; a density far out in the tail is left out.
        np.testing.assert_allclose(integral(0), 1, atol=1e-6)
        np.testing.assert_allclose(integral(1), law.mean()[row], rtol=1e-5)
    np.testing.assert_allclose(MIXTURE.cdf(np.log(law.ppf(0.2) / LAST)), 0.2)
    assert len(law) == 2
    assert metrics.rmse(law, law.mean()) == 0


def test_the_law_of_one_component_is_log_normal():
    law = CloseLaw(LAST, GaussianMixture([1.0], [[0.1], [-0.1]], [[0.2], [0.3]]))
    truth = stats.lognorm([0.2, 0.3], scale=LAST * np.exp([0.1, -0.1]))
    np.testing.assert_allclose(law.logpdf(LAST), truth.logpdf(LAST))
    np.testing.assert_allclose(law.mean(), truth.mean())
    np.testing.assert_allclose(law.ppf(0.9), truth.ppf(0.9))


def test_a_volatility_weighs_recent_squares_most():
    volatility = Volatility(floor=0.01, gain=0.5, decay=0.5)
    past = np.array([[0.1, 0.2, 0.4]])
    by_hand = 0.01 + 0.5 * (0.25 * 0.01 + 0.5 * 0.04 + 0.16) / 1.75
    np.testing.assert_allclose(volatility(past), np.sqrt(by_hand))


def test_a_volatility_is_found_in_returns_that_it_made():
    rng = np.random.default_rng(0)
    truth, days = Volatility(floor=1e-4, gain=0.5, decay=0.8), 29
    returns = list(0.02 * rng.normal(size=days))
    for noise in rng.standard_t(4, 3000):
        returns.append(truth(np.array([returns[-days:]]))[0] * noise)
    past = np.lib.stride_tricks.sliding_window_view(returns[:-1], days)
    target = np.array(returns[days:])
    found = Volatility.fit(past, target, tail=4.0)
    # 3000 returns tell a scale within 1 / sqrt(3000) = 2 %, and its three parts less well.
    np.testing.assert_allclose(np.log(found(past) / truth(past)).std(), 0, atol=0.1)
    np.testing.assert_allclose(np.log(found(past) / truth(past)).mean(), 0, atol=0.06)
    # The unit of returns does not matter.
    doubled = Volatility.fit(2 * past, 2 * target, tail=4.0)
    np.testing.assert_allclose(doubled(2 * past), 2 * found(past), rtol=1e-3)


def test_rows_of_the_prior_are_the_quantiles_of_a_student_t():
    rows = student_rows(1001, 4.0, seed=0)
    np.testing.assert_allclose(np.sort(rows), np.sort(-rows), atol=1e-12)
    np.testing.assert_allclose(np.quantile(rows, 0.9), stats.t.ppf(0.9, 4), rtol=0.01)
    assert len(student_rows(0, 4.0, seed=0)) == 0


def test_the_likelihood_of_a_student_return_is_that_of_the_close(prices):
    _, test = periods("GME", 6)
    last, step = test.X[:, -1], 1e-4

    def cdf(y):
        return stats.t.cdf(np.log(y / last), 4, 0.01, 0.03)

    slope = (cdf(test.y + step) - cdf(test.y - step)) / (2 * step)
    np.testing.assert_allclose(
        student_nll(test, 4.0, 0.01, 0.03), -np.mean(np.log(slope)), rtol=1e-6
    )


def test_garch_looks_one_step_ahead(long_prices):
    pytest.importorskip("arch")
    train, test = periods("GME", 30)
    nll = garch_nll(train, test)

    def first(n, of=test):
        return n * garch_nll(train, data.Windows(*(part[:n] for part in of)))

    # A later close has no part in the scores before it.
    later = test._replace(y=np.where(np.arange(50) == 49, 2 * test.y, test.y))
    np.testing.assert_allclose(first(49), first(49, later))
    assert first(50, later) > first(50)
    # The truth is a Student t of one scale; 50 days tell the likelihood within 0.2.
    np.testing.assert_allclose(nll, student_nll(test, 5.0, 0.0, 0.03), atol=0.2)


def test_a_dgme_of_returns_is_nearly_the_truth_where_the_volatility_is_constant(long_prices):
    train, test = periods("GME", 30)
    settings = Returns(n_components=3)
    law = ReturnsDGME.fit(train, settings, seed=0).predict_dist(test)
    # The mean of the difference of two log densities over 50 days, whose deviation is below 0.3.
    assert metrics.nll(law, test.y) < student_nll(test, 5.0, 0.0, 0.03) + 0.15
    walk = np.sqrt(np.mean((test.y - test.X[:, -1]) ** 2))
    assert metrics.rmse(law, test.y) < 1.03 * walk


def test_only_the_training_period_is_tuned_on(prices):
    early, late = parts("GME", TINY)
    train, test = periods("GME", 6)
    np.testing.assert_array_equal(np.concatenate([early.y, late.y]), train.y)
    assert (len(early.y), len(late.y)) == (49, 5)
    assert early.dates[-1] < late.dates[0] < test.dates[0]
    assert extractor("GME", TINY, 0).hidden_size == 2


def test_a_usual_change_is_the_scale_of_gaussian_ones():
    last = np.full((4000, 1), 50.0)
    changes = np.random.default_rng(0).normal(scale=2, size=4000)
    changes[:20] = 100.0
    found = usual_change(data.Windows(last, 50 + changes, np.arange(4000)))
    # The median's error is 1.17 times that of a standard deviation, 2 / sqrt(8000).
    np.testing.assert_allclose(found, 2, atol=0.08)


def test_the_noise_of_means_is_chosen_by_the_likelihood():
    law = GaussianMixture([1.0], np.zeros((100, 1)), np.ones((100, 1)))
    y = 0.2 * np.random.default_rng(0).normal(size=100)
    late = data.Windows(np.zeros((100, 1)), y, np.arange(100))
    settings = replace(TINY, noises=(0.01, 0.1, 1.0))
    score, noise = Forecaster("MCD", settings)._score(law, late, unit=2.0)
    assert noise == 0.1
    np.testing.assert_allclose(score, -stats.norm.logpdf(y, scale=0.2).mean())


def test_a_better_setting_is_found(prices):
    settings = replace(TINY, learning_rates=(1e-9, 0.03), steps=(60,))
    choice = Forecaster("MCD", settings).tune("GME", 0)
    assert choice.learning_rate == 0.03
    assert "60 steps, learning rate 0.03" in str(choice)


@pytest.fixture(scope="module")
def outcome():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(data, "load", lambda ticker: series())
        experiment = FinanceExperiment(TINY, 0)
        tasks = {str(task.name["method"]): task for task in experiment.tasks()}
        results = [result for task in tasks.values() for result in task.run()]
        again = list(tasks[RETURNS].run())
        figure = experiment.figures()[0].draw()
    yield experiment, results, again, figure
    plt.close(figure)


def test_every_method_is_scored_in_every_run(outcome):
    _, results, again, _ = outcome
    found = [(r.of["method"], r.of.get("run")) for r in results if "method" in r.of]
    by_chance = [(method, run) for method in (*METHODS, RETURNS) for run in (0, 1)]
    assert set(by_chance) | {(WALK, None), (STUDENT, None)} <= set(found)
    assert all(np.isfinite(list(r.scores.values())).all() for r in results)
    assert again == [r for r in results if r.of.get("method") == RETURNS]
    scores = {r.of["method"]: r.scores for r in results if "method" in r.of}
    walk = np.diff(series().closes)[-20:]
    np.testing.assert_allclose(scores[WALK]["rmse"], np.sqrt(np.mean(walk**2)))
    assert "rmse" not in scores[STUDENT]


def test_tables_show_all_methods_beside_the_papers(outcome):
    experiment, results, _, _ = outcome
    rmse, nll, priors = experiment.tables(results)
    assert list(rmse.columns) == [*METHODS, WALK, RETURNS]
    assert set(nll.columns) >= {*METHODS, WALK, STUDENT, RETURNS}
    assert list(priors.columns) == ["0", "4"]
    for table in (rmse, nll, priors):
        assert set(table.cells) == {("GME", column) for column in table.columns}
    assert rmse.cells["GME", "DGME"].paper == (3.19, 0.33)
    assert nll.cells["GME", RETURNS].paper is None
    runs = [r.scores["nll"] for r in results if r.of.get("method") == "DGME"]
    # Two runs: the standard error is half of their distance over the root of two.
    np.testing.assert_allclose(nll.cells["GME", "DGME"].mean, np.mean(runs))
    np.testing.assert_allclose(
        nll.cells["GME", "DGME"].spread, abs(runs[1] - runs[0]) / 2 / np.sqrt(2)
    )


def test_garch_needs_its_package(outcome, monkeypatch):
    experiment, results, _, _ = outcome
    monkeypatch.setattr(finance, "find_spec", lambda name: None)
    assert all(task.name["method"] != GARCH for task in experiment.tasks())
    assert "pip install 'dgme[paper]'" in experiment.tables(results)[1].note


def test_the_figure_shows_both_forecasts_of_the_test_period(outcome):
    *_, figure = outcome
    upper, lower = figure.axes
    assert RETURNS in upper.get_title(loc="left")
    assert "paper" in lower.get_title(loc="left")
    for ax in (upper, lower):
        np.testing.assert_array_equal(ax.lines[-1].get_ydata(), series().closes[-20:])
        assert len(ax.collections) == 2


def test_quick_settings_are_a_part_of_the_full_ones():
    full, quick = Finance(), Finance().quick()
    assert set(quick.tickers) < set(full.tickers)
    assert set(quick.extractors) < set(full.extractors)
    assert set(quick.noises) < set(full.noises)


@pytest.mark.skipif("DGME_DATA" not in os.environ, reason="DGME_DATA names no data")
@pytest.mark.parametrize("ticker", list(data.REGIMES))
def test_a_dgme_of_returns_knows_no_less_than_simple_laws(ticker):
    train, test = periods(ticker, 30)
    law = ReturnsDGME.fit(train, Returns(), seed=0).predict_dist(test)
    experiment = FinanceExperiment(Finance(), 0)
    walk, student = (result.scores for result in experiment._simple(ticker))
    assert metrics.rmse(law, test.y) <= 1.01 * walk["rmse"]
    assert metrics.nll(law, test.y) < student["nll"]
    if find_spec("arch"):
        assert metrics.nll(law, test.y) < garch_nll(train, test) + 0.05
