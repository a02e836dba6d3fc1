"""(mean, std), quantiles and samples as laws, against definitions and scoringrules."""

import numpy as np
import pandas as pd
import pytest
import scoringrules
from numpy.testing import assert_allclose, assert_array_equal
from scipy import integrate, stats

from dgme import CategoricalMixture, GaussianMixture, metrics
from dgme.metrics import from_quantiles, from_samples, from_std

RNG = np.random.default_rng(0)
N = 40
MEAN, STD = RNG.normal(size=N), RNG.uniform(0.5, 2.0, N)
Y = MEAN + STD * RNG.normal(size=N)
LAW = from_std(MEAN, STD)
LEVELS = np.array([0.05, 0.2, 0.35, 0.5, 0.8, 0.95])
QUANTILES = from_quantiles(LEVELS, LAW.ppf(LEVELS[:, None]).T)
DRAWS = LAW.rvs(30, random_state=1).T
SAMPLES = from_samples(DRAWS)
WITHOUT_Y = [metrics.mean_width, metrics.sharpness]
SCORES = [
    *(metrics.rmse, metrics.mae, metrics.gaussian_nll, metrics.crps, metrics.pinball_loss),
    *(metrics.interval_score, metrics.coverage, metrics.quantile_calibration_error),
    metrics.interval_calibration_error,
]


def test_gaussians_by_their_closed_forms():
    assert_allclose(LAW.crps(Y), scoringrules.crps_normal(Y, MEAN, STD), rtol=1e-12)
    assert_allclose(LAW.logpdf(Y), stats.norm.logpdf(Y, MEAN, STD), rtol=1e-12)
    vectors = from_std(np.stack([MEAN, MEAN], 1), np.stack([STD, STD], 1))
    assert_allclose(vectors.logpdf(np.stack([Y, Y], 1)), 2 * LAW.logpdf(Y), rtol=1e-12)


@pytest.mark.parametrize("score", SCORES)
def test_a_tuple_is_mean_and_std(score):
    assert score((MEAN, STD), Y) == score(LAW, Y)


@pytest.mark.parametrize("score", [*SCORES, *WITHOUT_Y])
@pytest.mark.parametrize("form", ["quantiles", "samples"])
def test_dense_quantiles_and_many_samples_score_like_their_law(score, form):
    """2,000 levels or draws, stratified, so that what is left is of the order of 1/2,000."""
    levels = (np.arange(2000) + 0.5) / 2000
    dense = LAW.ppf(levels[:, None]).T
    forecast = from_quantiles(levels, dense) if form == "quantiles" else from_samples(dense)
    y = () if score in WITHOUT_Y else (Y,)
    assert score(forecast, *y) == pytest.approx(score(LAW, *y), rel=0.005, abs=0.006)


def test_crps_of_samples_against_scoringrules():
    fair = scoringrules.crps_ensemble(Y, DRAWS, estimator="fair")
    assert_allclose(SAMPLES.crps(Y), fair, rtol=1e-10)
    unfair = scoringrules.crps_ensemble(Y, DRAWS, estimator="nrg")
    assert_allclose(from_samples(DRAWS, fair=False).crps(Y), unfair, rtol=1e-10)
    # far from zero nothing cancels
    shifted = from_samples(DRAWS + 2.0**40).crps(Y + 2.0**40)
    assert_allclose(shifted, fair, atol=1e-3)
    assert_allclose(from_samples(DRAWS[:, :1], fair=False).crps(Y), np.abs(DRAWS[:, 0] - Y))


def test_fair_scores_have_no_bias():
    """Two draws per row, 200,000 rows: four standard errors of the mean are allowed."""
    draws = np.random.default_rng(2).normal(size=(200_000, 2))
    scores = from_samples(draws).crps(np.zeros(200_000))
    exact = (np.sqrt(2) - 1) / np.sqrt(np.pi)
    assert scores.mean() == pytest.approx(exact, abs=4 * scores.std() / np.sqrt(200_000))


def test_energy_score_of_samples_against_scoringrules():
    draws, y = RNG.normal(size=(5, 20, 3)), RNG.normal(size=(5, 3))
    ours = from_samples(draws, fair=False)
    theirs = scoringrules.es_ensemble(y, draws, estimator="nrg")
    assert metrics.energy_score(ours, y) == pytest.approx(theirs.mean(), rel=1e-10)
    line = from_samples(draws[..., :1])
    assert_allclose(line.energy_score(y[:, :1]), line.crps(y[:, :1])[:, 0], rtol=1e-10)


def test_scores_of_samples_of_vectors_are_the_mean_over_targets():
    draws, y = RNG.normal(size=(N, 20, 2)), RNG.normal(size=(N, 2))
    vectors, columns = from_samples(draws), [from_samples(draws[..., j]) for j in range(2)]
    for score in SCORES:
        if score not in (metrics.rmse, metrics.gaussian_nll):
            mean = np.mean([score(column, y[:, j]) for j, column in enumerate(columns)])
            assert score(vectors, y) == pytest.approx(mean, rel=1e-12)


def test_calibration_of_samples_is_exact_for_few_draws():
    """Nineteen draws and a target from one law: the interval of 90 % holds it by symmetry.

    40,000 rows: a standard error of 0.0015, of which four are allowed.
    """
    draws = np.random.default_rng(3).normal(size=(40_000, 20))
    forecast, y = from_samples(draws[:, 1:]), draws[:, 0]
    assert metrics.coverage(forecast, y, 0.9) == pytest.approx(0.9, abs=0.006)
    assert metrics.quantile_calibration_error(forecast, y, 19) < 0.006
    ranks = np.bincount((metrics.pit(forecast, y) * 20).astype(int), minlength=20)
    assert stats.chisquare(ranks).pvalue > 0.01


def test_quantiles_against_their_definitions():
    assert_allclose(QUANTILES.ppf(LEVELS[:, None]).T, QUANTILES.values, rtol=1e-15)
    assert_allclose(QUANTILES.ppf(0.65), QUANTILES.values[:, 3:5].mean(axis=1), rtol=1e-12)
    assert_allclose(QUANTILES.cdf(QUANTILES.ppf(0.3)), 0.3, rtol=1e-12)
    for j, level in enumerate(LEVELS):
        assert_allclose(QUANTILES.cdf(QUANTILES.values[:, j]), level, rtol=1e-15)
    assert_array_equal(QUANTILES.cdf(QUANTILES.values[:, 0] - 1e-9), 0)
    assert_array_equal(QUANTILES.cdf(QUANTILES.values[:, -1] + 1e-9), 1)
    lower, upper = QUANTILES.interval(0.9)
    assert_array_equal([lower, upper], QUANTILES.values.T[[0, -1]])


def test_crps_of_quantiles_against_scoringrules():
    """At the middles of equal parts of (0, 1) all levels count alike."""
    levels = (np.arange(9) + 0.5) / 9
    values = LAW.ppf(levels[:, None]).T
    theirs = scoringrules.crps_quantile(Y, values, levels)
    assert_allclose(from_quantiles(levels, values).crps(Y), theirs, rtol=1e-12)
    # and then they are the forecast of atoms of equal weight
    assert_allclose(from_samples(values, fair=False).crps(Y), theirs, rtol=1e-12)


def test_the_crps_of_quantiles_is_proper():
    """Of all forecasts with one quantile moved, the true one has the best expected score."""
    truth = stats.gamma(2.0)
    exact = truth.ppf(LEVELS)

    def expected(values):
        forecast = from_quantiles(LEVELS, values[None])
        return integrate.quad(
            lambda y: truth.pdf(y) * forecast.crps(np.array([y]))[0], 0, 30, points=values, limit=99
        )[0]

    best = expected(exact)
    for j in range(len(LEVELS)):
        for shift in (-0.1, 0.1):
            assert expected(exact + shift * (np.arange(len(LEVELS)) == j)) > best


def test_repeated_quantiles_are_atoms():
    forecast = from_quantiles([0.2, 0.5, 0.8], [[1.0, 1.0, 2.0]] * 4)
    assert_allclose(forecast.cdf([0.9, 1.0, 1.5, 2.0]), [0.0, 0.5, 0.65, 0.8])
    alone = from_quantiles([0.5], [[1.0]] * 3)
    assert_allclose(alone.cdf([0.0, 1.0, 2.0]), [0.0, 0.5, 1.0])
    assert metrics.mae(alone, [0.0, 1.0, 3.0]) == 1.0


def test_quantiles_are_judged_at_their_own_levels():
    below = [np.mean(QUANTILES.values[:, j] >= Y) for j in range(len(LEVELS))]
    error = metrics.quantile_calibration_error(QUANTILES, Y)
    assert error == pytest.approx(np.abs(below - LEVELS).mean())
    # two pairs of them are as far from the median on both sides; 0.7 is between two of them
    levels = [0.6, 0.9]
    inside = [metrics.coverage(QUANTILES, Y, level) for level in (0.3, *levels)]
    error = metrics.interval_calibration_error(QUANTILES, Y)
    assert error == pytest.approx(np.abs(np.subtract(inside, [0.3, *levels])).mean())
    with pytest.raises(ValueError, match=r"\[0.5, 0.9\] enclose no interval"):
        metrics.interval_calibration_error(from_quantiles([0.5, 0.9], np.zeros((N, 2))), Y)


@pytest.mark.parametrize("form", [QUANTILES, SAMPLES], ids=["quantiles", "samples"])
def test_without_a_density_there_is_no_log_score(form):
    with pytest.raises(TypeError, match=r"have no density .* use crps, or gaussian_nll"):
        metrics.nll(form, Y)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: from_std(MEAN, STD[1:]), r"same shape.*\(40,\) and \(39,\)"),
        (lambda: from_std(MEAN, 0 * STD), r"std must be positive, but its smallest is 0.0"),
        (lambda: from_quantiles([0.5, 0.1], np.zeros((3, 2))), r"levels must be an ascending"),
        (lambda: from_quantiles([0.5, 1.0], np.zeros((3, 2))), r"strictly between 0 and 1"),
        (lambda: from_quantiles([0.1, 0.9], np.zeros((2, 3))), r"shape \(n, 2\).*Pass values\.T"),
        (lambda: from_quantiles([0.1, 0.9], [[0.0, 1.0], [1.0, 0.0]]), r"cross in 1 rows.*row 1"),
        (lambda: from_quantiles([0.1, 0.9], [[0.0, np.inf]]), r"values must be finite"),
        (lambda: from_samples(np.zeros(3)), r"samples must have shape \(n, m\)"),
        (lambda: from_samples([[np.nan]]), r"samples must be finite"),
        (lambda: metrics.crps(from_samples(np.zeros((3, 1))), np.zeros(3)), r"or fair=False"),
        (lambda: metrics.coverage(QUANTILES, Y, 0.99), r"from 0.05 to 0.95, but level 0.005 is"),
        (lambda: metrics.crps(from_samples(DRAWS.T), Y), r"\(30,\).*is it the transposed"),
        (lambda: metrics.pinball_loss(LAW, Y, [0.5, 1.0]), r"alpha must hold levels"),
        (lambda: metrics.interval_score(LAW, Y, 1.0), r"confidence must lie strictly"),
        (lambda: metrics.quantile_calibration_error(LAW, Y, 0), r"n_levels must be at least 1"),
        (lambda: metrics.coverage(LAW, np.where(Y[3] == Y, np.nan, Y)), r"1 of its 40 .*in row 3"),
        (lambda: metrics.pit(LAW, np.where(Y[3] == Y, np.inf, Y)), r"y must be finite"),
        (lambda: metrics.crps(LAW, ["a"] * N), r"y must hold numbers, but .*'a'\.$"),
        (lambda: metrics.coverage(LAW[:0], []), r"there are no rows to score"),
        (lambda: metrics.quantile_calibration_error(LAW[:0], []), r"there are no rows to score"),
        (lambda: metrics.crps(LAW, Y, sample_weight=-Y), r"sample_weight must hold 40 numbers"),
        (lambda: metrics.crps(LAW, Y, sample_weight=Y[1:]), r"has shape \(39,\)"),
    ],
)
def test_errors_name_the_argument_and_the_remedy(build, message):
    with pytest.raises(ValueError, match=message):
        build()


def test_what_is_no_forecast():
    with pytest.raises(TypeError, match=r"it is a ndarray; of arrays say what they hold"):
        metrics.crps(DRAWS, Y)
    for rows in ([MEAN, STD], pd.DataFrame(DRAWS), None):
        with pytest.raises(TypeError, match=rf"it is a {type(rows).__name__}; of arrays"):
            metrics.crps(rows, Y)
    with pytest.raises(TypeError, match=r"energy_score is one of vectors"):
        metrics.energy_score(LAW, Y)
    classes = CategoricalMixture([1.0], np.full((N, 1, 2), 0.5))
    for score in (metrics.crps, metrics.mae, metrics.coverage, metrics.pinball_loss):
        with pytest.raises(TypeError, match=f"{score.__name__} is no score of classes"):
            score(classes, Y)


@pytest.mark.parametrize("forecast", [LAW, QUANTILES, SAMPLES], ids=["law", "levels", "draws"])
@pytest.mark.parametrize("score", [*SCORES, *WITHOUT_Y])
def test_a_weight_counts_a_row_so_often(forecast, score):
    times = RNG.integers(0, 3, N)
    again = np.repeat(np.arange(N), times)
    if forecast is LAW:
        repeated = GaussianMixture([1.0], MEAN[again, None], STD[again, None])
    elif forecast is QUANTILES:
        repeated = from_quantiles(LEVELS, QUANTILES.values[again])
    else:
        repeated = from_samples(DRAWS[again])
    y = ((), ()) if score in WITHOUT_Y else ((Y,), (Y[again],))
    weighted = score(forecast, *y[0], sample_weight=times)
    assert weighted == pytest.approx(score(repeated, *y[1]), rel=1e-10)
