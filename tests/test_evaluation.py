import json

import numpy as np
import pytest

from dgme import CategoricalMixture, GaussianMixture, VectorGaussianMixture, evaluate, metrics
from dgme.evaluation import Evaluator, costly_share


def laws(n, n_components=2, seed=0):
    rng = np.random.default_rng(seed)
    means = rng.normal(size=(n, n_components))
    scales = rng.uniform(0.3, 1.5, (n, n_components))
    return GaussianMixture(rng.dirichlet(np.ones(n_components), n), means, scales)


LAW = laws(400)
Y = LAW.rvs(random_state=1)


def test_scores_are_those_of_their_definitions():
    scores = evaluate(LAW, Y, n_bootstrap=20)
    errors = LAW.mean() - Y
    assert scores.n_rows == scores.n_costly_rows == 400
    assert scores.rmse.value == pytest.approx(metrics.rmse(LAW, Y))
    assert scores.mae.value == pytest.approx(metrics.mae(LAW, Y))
    assert scores.bias.value == pytest.approx(errors.mean())
    assert scores.log_score.value == pytest.approx(-metrics.nll(LAW, Y))
    assert scores.gaussian_log_score.value == pytest.approx(-metrics.gaussian_nll(LAW, Y))
    gain = metrics.gaussian_nll(LAW, Y) - metrics.nll(LAW, Y)
    assert scores.shape_gain.value == pytest.approx(gain)
    assert scores.crps.value == pytest.approx(metrics.crps(LAW, Y))
    assert scores.calibration_error.value == pytest.approx(
        metrics.quantile_calibration_error(LAW, Y)
    )
    assert sum(scores.pit_counts) == 400
    assert sum(scores.pit_counts[:30]) == (LAW.cdf(Y) <= 0.3).sum()
    for interval in scores.intervals:
        lower, upper = LAW.interval(interval.coverage)
        assert interval.covered.value == metrics.coverage(LAW, Y, interval.coverage)
        assert interval.width.value == pytest.approx((upper - lower).mean())
        # the mean of the interval's two quantile losses, scaled (Gneiting and Raftery, 2007)
        tail = (1 - interval.coverage) / 2
        losses = [(q - Y) * ((q >= Y) - p) for q, p in ((lower, tail), (upper, 1 - tail))]
        assert interval.score.value == pytest.approx(np.sum(losses, axis=0).mean() / tail)


@pytest.mark.parametrize("n", [1000, 20_000])
def test_intervals_are_as_wide_as_the_central_limit_theorem_says(n):
    """Of rows, and of groups of rows.

    A quantile at 2.5 % of 2000 replicates errs by 2.4 % of its distance from the middle, the
    spread of 4096 groups by 1.1 %; four times both together are allowed.
    """
    law = laws(n)
    y = law.rvs(random_state=2)
    scores = evaluate(law, y, n_bootstrap=2000)
    rows = {
        "mae": np.abs(law.median() - y),
        "bias": law.mean() - y,
        "log_score": law.logpdf(y),
        "shape_gain": law.logpdf(y) - law.to_gaussian().logpdf(y),
        "crps": law.crps(y),
    }
    for name, values in rows.items():
        estimate = getattr(scores, name)
        expected = 2 * 1.96 * values.std() / np.sqrt(n)
        assert estimate.upper - estimate.lower == pytest.approx(expected, rel=0.11), name
        assert estimate.lower < estimate.value < estimate.upper
    # the error of a root is half the relative error of what is under it
    squares = (law.mean() - y) ** 2
    half = 1.96 * squares.std() / np.sqrt(n) / (2 * scores.rmse.value)
    assert scores.rmse.upper - scores.rmse.value == pytest.approx(half, rel=0.15)


def test_rows_in_parts_are_scored_like_the_whole():
    whole = evaluate(LAW, Y, n_bootstrap=50)
    evaluator = Evaluator()
    for part in (slice(0, 1), slice(1, 1), slice(1, 250), slice(250, 400)):
        evaluator.add(LAW[part], Y[part])
    scores = evaluator.evaluation(n_bootstrap=50)
    assert scores.pit_counts == whole.pit_counts
    np.testing.assert_allclose(scores.rmse, whole.rmse, rtol=1e-12)
    np.testing.assert_allclose(scores.intervals[2].score, whole.intervals[2].score, rtol=1e-12)


def test_costly_scores_of_a_share_of_the_rows_estimate_those_of_all():
    """Of 20,000 rows a tenth; the interval, of four instead of two errors, holds the whole's."""
    law = laws(20_000)
    y = law.rvs(random_state=3)
    evaluator = Evaluator(share=0.1)
    evaluator.add(law, y)
    scores, whole = evaluator.evaluation(), law.crps(y).mean()
    assert 2000 - 4 * 43 < scores.n_costly_rows < 2000 + 4 * 43
    assert abs(scores.crps.value - whole) < 2 * (scores.crps.upper - scores.crps.value)
    assert scores.rmse.value == pytest.approx(metrics.rmse(law, y))
    assert costly_share(1000, 5) == 1
    assert costly_share(10**6, 50) == 0.04


def test_calibration_of_true_and_of_narrow_laws():
    """The test is one of size; a p-value below 0.001 has that chance under the truth."""
    law = laws(5000)
    y = law.rvs(random_state=4)
    assert evaluate(law, y, n_bootstrap=1).calibration_p_value > 0.001
    narrow = GaussianMixture(law.weights, law.means, 0.8 * law.scales)
    scores = evaluate(narrow, y)
    assert scores.calibration_p_value < 1e-6
    # mixtures whose components shrink by a fifth hold less than they promise
    assert all(interval.covered.upper < interval.coverage for interval in scores.intervals)


def test_the_calibration_error_of_chance():
    """The mean over 300 samples spreads by 0.005 / √300; four of these are allowed."""
    uniform = GaussianMixture([1.0], np.zeros((300, 1)), np.ones((300, 1)))
    rng = np.random.default_rng(0)
    errors = [
        metrics.quantile_calibration_error(uniform, rng.standard_normal(300)) for _ in range(300)
    ]
    expected = evaluate(uniform, np.zeros(300), n_bootstrap=1).chance_calibration_error
    assert np.std(errors) < 0.01
    assert np.mean(errors) == pytest.approx(expected, abs=4 * np.std(errors) / np.sqrt(300))


def test_scores_as_plain_values_and_as_text():
    scores = evaluate(LAW, Y, coverages=(0.9, 0.5), n_bootstrap=20)
    plain = json.loads(json.dumps(scores.to_dict()))
    assert plain["rmse"]["value"] == scores.rmse.value
    assert [interval["coverage"] for interval in plain["intervals"]] == [0.5, 0.9]
    assert plain["intervals"][1]["covered"]["lower"] == scores.intervals[1].covered.lower
    assert scores == evaluate(LAW, Y, coverages=(0.9, 0.5), n_bootstrap=20)
    assert f"90% interval: covered   {scores.intervals[1].covered}\n" in str(scores)


def test_errors_name_what_is_wrong():
    with pytest.raises(
        ValueError, match=r"y must have shape \(400,\), .* \(400, 1\); pass y.ravel"
    ):
        evaluate(LAW, Y[:, None])
    with pytest.raises(ValueError, match="1 of its 400 entries are not, the first in row 7"):
        evaluate(LAW, np.where(np.arange(400) == 7, np.nan, Y))
    with pytest.raises(ValueError, match="coverages must lie strictly between 0 and 1"):
        evaluate(LAW, Y, coverages=(90.0,))
    with pytest.raises(ValueError, match="share must be above 0"):
        Evaluator(share=0.0)
    with pytest.raises(ValueError, match="n_bootstrap must be at least 1, but it is 0"):
        evaluate(LAW, Y, n_bootstrap=0)
    with pytest.raises(ValueError, match="too few rows to score: 0"):
        Evaluator().evaluation()
    vectors = VectorGaussianMixture([1.0], np.zeros((3, 1, 2)), np.ones((3, 1, 2)))
    with pytest.raises(TypeError, match=r"of one target, but it is of 2; .* law.marginal\(j\)"):
        evaluate(vectors, np.zeros((3, 2)))
    with pytest.raises(TypeError, match="is a CategoricalMixture; for classes"):
        evaluate(CategoricalMixture([1.0], np.full((3, 1, 2), 0.5)), np.zeros(3))
