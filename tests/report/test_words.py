"""What verdict and warnings say of laws whose defects are known."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pytest

from dgme import DGMERegressor, GaussianMixture, TableRegressor, evaluate
from dgme.evaluation import Evaluator
from dgme.report._findings import findings
from dgme.report._importance import importance
from dgme.report._rows import Rows
from dgme.report._subject import Subject
from dgme.report._verdict import judge


def said(n=4000, shift=0.0, factor=1.0, epistemic_share=None):
    """The verdict on laws that are moved and widened from the true ones, which are skewed."""
    rng = np.random.default_rng(1)
    centers = rng.normal(size=(n, 1))
    truth = GaussianMixture([0.7, 0.3], centers + np.array([0.0, 3.0]), np.tile([0.5, 1.5], (n, 1)))
    y = truth.rvs(random_state=2)
    mean = truth.mean()[:, None]
    means = mean + shift + factor * (truth.means - mean)
    law = GaussianMixture(truth.weights, means, factor * truth.scales)
    verdict = judge(evaluate(law, y, n_bootstrap=200), y.var(), epistemic_share)
    return verdict, " ".join([verdict.headline, *verdict.sentences])


def test_true_laws_are_calibrated():
    verdict, text = said()
    assert verdict.grade == "good"
    assert "Calibrated, as far as 4,000 rows can tell." in text
    assert "as promised, within chance" in text
    assert "Not biased" in text
    assert "skew, tails, modes) gain" in text
    assert "no posterior" in text
    assert "so few that only a gross error would show" in said(n=50)[1]
    assert "25.0 % of the predicted variance is epistemic" in said(epistemic_share=0.25)[1]


@pytest.mark.parametrize(
    ("defect", "told"),
    [
        ({"factor": 0.6}, "too narrow"),
        ({"factor": 1.8}, "too wide"),
        ({"shift": 0.5}, "predictions are too high"),
        ({"shift": -0.5}, "predictions are too low"),
    ],
)
def test_defects_are_named(defect, told):
    verdict, text = said(**defect)
    assert verdict.grade == "bad"
    assert "Not calibrated" in text
    assert told in text


def test_calibration_alone_is_not_enough():
    """One outlier in a hundred hardly moves quantiles, and costs more than all else."""
    rng = np.random.default_rng(0)
    y = rng.normal(size=1000)
    y[:10] = 30.0
    verdict = judge(evaluate(normal(1000), y), y.var(), None)
    assert verdict.grade == "bad"
    assert "But one Gaussian for all rows would predict better" in verdict.headline


def test_what_is_significant_may_still_be_small():
    """Normal laws that are narrower by 2 %.

    The interval of 90 % holds 0.7 % less, or ten standard errors; distribution functions differ by
    0.5 %, 2.2 of the units in which the test measures, for a p-value of 0.0002.
    """
    truth = np.random.default_rng(0).normal(size=200_000) / 0.98
    evaluator = Evaluator(share=0.01)
    evaluator.add(normal(200_000), truth)
    verdict = judge(evaluator.evaluation(n_bootstrap=200), 2.0, None)
    assert verdict.grade == "fair"
    assert "Nearly calibrated" in verdict.headline
    assert "slightly too few" in verdict.sentences[0]


def warned(subject, law, y, X=None, trained_law=None):
    subject = Subject.of(subject.model, subject.X[: len(y)] if X is None else X, y, None)
    return " ".join(findings(evaluate(law, y, n_bootstrap=1), subject, law, trained_law or law))


def normal(n):
    return GaussianMixture([1.0], np.zeros((n, 1)), np.ones((n, 1)))


def test_a_sound_model_is_not_warned_of(subject):
    law = subject.model.predict_dist(subject.X, n_posterior_samples=0)
    told = warned(subject, law, subject.y)
    for grave in ("Starved", "Collapsed", "Means have moved", "one in a million", "Kolmogorov"):
        assert grave not in told
    assert "There are only 100 rows" in told


def test_starved_and_collapsed_components_are_named(subject):
    y = subject.y[:60]
    rich = GaussianMixture([0.9, 0.099, 0.001], np.zeros((60, 3)), np.ones((60, 3)))
    assert "Starved components explain next to nothing: 2 (weight 0.001)" in warned(
        subject, normal(60), y, trained_law=rich
    )
    means, scales = np.stack([y, np.zeros(60)], axis=1), np.tile([1e-6, 3.0], (60, 1))
    needle = GaussianMixture([0.5, 0.5], means, scales)
    told = warned(subject, normal(60), y, trained_law=needle)
    assert "Collapsed components sit at the smallest allowed scale: 0." in told


def test_rows_unlike_those_of_training_are_told(subject):
    law = subject.model.predict_dist(subject.X)
    moved = subject.X.assign(slope=subject.X["slope"] + 3)
    told = warned(subject, law, subject.y, moved)
    assert "Means have moved, in training standard deviations: slope (+2." in told
    far = subject.X.copy()
    far.loc[far.index[:4], "noise"] = 40.0
    assert "4.0 % of the rows have a feature more than 5 training" in warned(
        subject, law, subject.y, far
    )
    assert "target (+" in warned(subject, law, subject.y + 10)


def test_a_model_of_tables_tells_the_range_of_its_training(subject):
    """It sees columns through an encoder, and keeps a profile of what that made of them."""
    quick = DGMERegressor(n_components=2, n_rounds=1, epochs_per_round=1, random_state=0)
    table = TableRegressor(quick).fit(subject.X, pd.Series(subject.y, name="volume"))
    X, low, high = subject.X.copy(), *subject.X["noise"].agg(["min", "max"])
    law = table.predict_dist(X)
    X.iloc[0, 1] = high + 0.05 * (high - low)
    of_tables = SimpleNamespace(model=table, X=X)
    assert "outside the range" not in warned(of_tables, law, subject.y)
    X.iloc[0, 1], X.iloc[1, 1] = high + 0.15 * (high - low), -10.0
    told = warned(of_tables, law, subject.y)
    assert "2.0 % of the rows have a feature outside the range of the training rows" in told
    assert "by more than a tenth of it, most often noise" in told
    assert "volume (+" in warned(of_tables, law, subject.y + 10)


def test_outliers_and_repeated_targets_are_told(subject):
    y = np.random.default_rng(0).normal(size=100)
    y[:3] = 7.0
    assert "3 of 100 targets lie where their law puts less than one in a million" in warned(
        subject, normal(100), y
    )
    told = warned(subject, normal(100), np.random.default_rng(0).integers(5, size=100) * 0.5)
    assert "The target takes only 5 values in 100 rows" in told


def test_importance_is_what_shuffling_costs():
    """For a score that is linear in the square of one feature; the other tells nothing.

    With y = x, shuffled x leaves -E(x - x')² = -2 Var x = -2, with a standard error of
    √(Var (x - x')² / n) < 0.17 for 500 rows; four of these are allowed.
    """
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 2))

    def log_score(rows, y):
        return -((rows[:, 0] - y) ** 2)

    found, n_rows = importance(log_score, Rows(X, ["a", "b"]), X[:, 0], rng)
    assert n_rows == 500
    assert [one.feature for one in found] == [0, 1]
    assert found[0].loss == pytest.approx(2, abs=4 * 0.17)
    assert 0 < found[0].error < 0.17
    assert found[1] == (1, 0.0, 0.0)


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, np.asarray], ids=["pd", "pl", "np"])
def test_rows_of_every_kind_are_taken_and_shuffled(kind):
    table = {"a": [0, 1, 2, 3], "b": [10.0, 11.0, 12.0, 13.0], "c": [5, 5, 5, 5]}
    X = np.stack(list(table.values()), axis=1) if kind is np.asarray else kind(table)
    if kind is pd.DataFrame:
        X.index = [7, 7, 3, 1]  # whatever it is, rows go by their place
    rows = Rows(X, ["a", "b"] if kind is not np.asarray else ["a", "b", "c"])
    assert rows.names[:2] == ["a", "b"]
    some = rows.take(np.array([3, 1, 0]))
    assert some.values(1) == [13.0, 11.0, 10.0]
    changed = Rows(some.shuffled(1, np.array([2, 0, 1])))
    assert changed.values(0) == [3, 1, 0]
    assert changed.values(1) == [10.0, 13.0, 11.0]
    np.testing.assert_array_equal(rows.take(slice(1, 3)).matrix()[:, :2], [[1, 11], [2, 12]])


def test_a_sequence_is_shuffled_as_a_whole():
    X = np.arange(24.0).reshape(4, 3, 2)
    rows, order = Rows(X), np.array([1, 0, 3, 2])
    changed = rows.shuffled(1, order)
    np.testing.assert_array_equal(changed[..., 0], X[..., 0])
    np.testing.assert_array_equal(changed[..., 1], X[order][..., 1])
    assert rows.values(1) == [5.0, 11.0, 17.0, 23.0]
