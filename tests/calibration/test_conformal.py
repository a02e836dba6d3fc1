"""Conformal calibration of closed-form laws: what theory says, and an independent implementation.

No network is trained here. `Gaussian` is a linear fit with a constant standard deviation, and
`Wrong` predicts laws that are known to be wrong.
"""

import numpy as np
import pytest
from mapie.regression import SplitConformalRegressor
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from scipy.interpolate import PchipInterpolator
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.validation import check_is_fitted

from dgme import DGMERegressor, GaussianMixture, VectorGaussianMixture, load
from dgme.calibration import ConformalRegressor
from dgme.estimators import DensityRegressor


class Gaussian(DensityRegressor):
    def fit(self, X, y, sample_weight=None):
        self.mean_ = LinearRegression().fit(X, y, sample_weight)
        self.n_features_in_ = self.mean_.n_features_in_
        if hasattr(self.mean_, "feature_names_in_"):
            self.feature_names_in_ = self.mean_.feature_names_in_
        return self

    def predict_dist(self, X, n_posterior_samples=None):
        check_is_fitted(self)
        mean = np.asarray(self.mean_.predict(X), float)
        return GaussianMixture([1.0], mean[:, None], np.full((len(mean), 1), 2.0))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class Wrong(DensityRegressor):
    """Two peaks at ±2 in place of those of the truth, with scales that are too small."""

    def fit(self, X, y):
        self.fitted_ = True
        return self

    def predict_dist(self, X, n_posterior_samples=None):
        x = np.asarray(X)[:, 0]
        means, scales = np.stack([x - 2, x + 2], axis=1), np.exp([0.3, -0.4]) * 0.4
        return GaussianMixture([0.5, 0.5], means, np.broadcast_to(scales, means.shape))


def truth(x):
    """Weights, means and scales; these grow with x."""
    means = np.stack([x - 3, x + 2], axis=1)
    return GaussianMixture([0.3, 0.7], means, np.stack([0.5 + x, 0.3 + x], axis=1))


def rows(n, seed):
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 10, n) / 10
    return x[:, None], truth(x).rvs(random_state=rng)


GRID = np.arange(10)[:, None] / 10
N_CALIBRATION, DRAWS = 19, 1000


@pytest.fixture(scope="module")
def scores():
    """Sorted interval scores and region scores of 1,000 sets of calibration rows."""
    X, y = rows(N_CALIBRATION * DRAWS, seed=0)
    law = Wrong().predict_dist(X)
    both = np.abs(law.normal_score(y)), law.hdr_score(y)
    return [np.sort(each.reshape(DRAWS, N_CALIBRATION)) for each in both]


def assert_follows_theory(coverages, coverage):
    """Given n calibration rows, coverage is Beta(k, n + 1 - k) with k = ⌈(n + 1) coverage⌉."""
    k = np.ceil(round((N_CALIBRATION + 1) * coverage, 9))
    law = stats.beta(k, N_CALIBRATION + 1 - k)
    error = law.std() / np.sqrt(DRAWS)
    assert coverage - 4 * error < np.mean(coverages)
    assert np.mean(coverages) < coverage + 1 / (N_CALIBRATION + 1) + 4 * error
    assert stats.kstest(coverages, law.cdf).pvalue > 0.01


def test_coverage_of_intervals_is_what_theory_says(scores):
    """Coverage is exact: the mean over the ten values of x of the true law's mass inside."""
    law, model = truth(GRID[:, 0]), ConformalRegressor(Wrong()).fit(*rows(100, seed=1))
    coverages = []
    for model.interval_scores_ in scores[0]:
        lower, upper = model.predict_interval(GRID, 0.9).T
        coverages.append((law.cdf(upper) - law.cdf(lower)).mean())
    assert_follows_theory(coverages, 0.9)


def test_coverage_of_regions_is_what_theory_says(scores):
    """The laws are shifts of each other by x, so one region, shifted, is all of them.

    Its coverage is a smooth function of the score, and is read from a table of it.
    """
    law, model = truth(GRID[:, 0]), ConformalRegressor(Wrong()).fit(*rows(100, seed=1))
    coverage = 0.63
    rank = int(np.ceil(round((N_CALIBRATION + 1) * coverage, 9)))
    decisive = scores[1][:, rank - 1]
    table = np.linspace(decisive.min() - 1e-6, decisive.max() + 1e-6, 20)
    coverages = []
    for score in table:
        model.region_scores_ = np.full(N_CALIBRATION, score)
        ends = model.predict_region(GRID[:1], coverage)[0] + GRID[:, :, None]
        coverages.append((law.cdf(ends[..., 1].T) - law.cdf(ends[..., 0].T)).sum(axis=0).mean())
    assert_follows_theory(PchipInterpolator(table, coverages)(decisive), coverage)


def test_the_rows_that_decide_lie_inside():
    """Ends are where targets of calibration rows were, and these count as covered."""
    X, y = rows(49, seed=7)
    model = ConformalRegressor(Wrong().fit(X, y)).calibrate(X, y)
    for rank in (1, 17, 45, 49):
        lower, upper = model.predict_interval(X, rank / 50).T
        assert ((lower <= y) & (y <= upper)).sum() == rank
        assert model.predict_region(X, rank / 50).contains(y).sum() == rank


def test_laws_that_are_far_too_sure_still_give_finite_intervals():
    """Targets lie thousands of standard deviations out, where every PIT is 0 or 1."""
    X, y = rows(99, seed=1)
    model = ConformalRegressor(Gaussian().fit(X, y)).calibrate(X, 1e4 * y)
    lower, upper = model.predict_interval(X).T
    assert np.isfinite(lower).all()
    assert ((lower <= 1e4 * y) & (1e4 * y <= upper)).sum() == 90
    # a region has no level of density there, and is the whole line
    assert_array_equal(model.predict_region(X)[0], [[-np.inf, np.inf]])


@pytest.mark.parametrize("coverage", [0.5, 0.9, 0.95])
def test_intervals_of_constant_width_equal_those_of_mapie(coverage):
    X, y = rows(80, seed=2)
    train, calibration = (X[:40], y[:40]), (X[40:], y[40:])
    ours = ConformalRegressor(Gaussian().fit(*train)).calibrate(*calibration)
    theirs = SplitConformalRegressor(
        LinearRegression().fit(*train), confidence_level=coverage, prefit=True
    ).conformalize(*calibration)
    _, expected = theirs.predict_interval(X)
    assert_allclose(ours.predict_interval(X, coverage), expected[:, :, 0], rtol=0, atol=1e-8)
    # of one Gaussian the densest region is the same interval
    assert_allclose(
        ours.predict_region(X, coverage).intervals[:, 0], expected[:, :, 0], rtol=0, atol=1e-6
    )


def test_fit_holds_rows_out():
    X, y = rows(100, seed=3)
    model = ConformalRegressor(Gaussian(), calibration_fraction=0.3, random_state=4).fit(X, y)
    parts = train_test_split(X, y, test_size=0.3, random_state=4)
    by_hand = ConformalRegressor(Gaussian().fit(parts[0], parts[2])).calibrate(parts[1], parts[3])
    assert_array_equal(model.predict_interval(X), by_hand.predict_interval(X))
    assert len(model.interval_scores_) == 30
    assert_array_equal(model.predict(X), by_hand.estimator_.predict(X))
    # later rows replace the calibration and leave the model
    again = model.calibrate(X[:20], y[:20])
    assert len(again.region_scores_) == 20
    assert_array_equal(again.predict(X), by_hand.estimator_.predict(X))


def test_rows_of_weight_zero_do_not_calibrate():
    X, y = rows(60, seed=5)
    weight = np.r_[np.ones(40), np.zeros(20)]
    model = ConformalRegressor(Gaussian(), random_state=0).fit(X, y, weight)
    without = ConformalRegressor(Gaussian(), random_state=0).fit(X[:40], y[:40])
    assert_array_equal(model.interval_scores_, without.interval_scores_)


def test_pipelines_and_searches_are_asked_for_their_laws():
    X, y = rows(60, seed=6)
    plain = ConformalRegressor(Gaussian(), random_state=0).fit(X, y)
    pipeline = make_pipeline(StandardScaler(), Gaussian())
    search = GridSearchCV(pipeline, {"standardscaler__with_mean": [True, False]}, cv=2)
    for wrapped in (pipeline, search):
        model = ConformalRegressor(wrapped, random_state=0).fit(X, y)
        assert_allclose(model.predict_interval(X), plain.predict_interval(X))


def test_errors_name_the_remedy():
    X, y = rows(20, seed=0)
    model = ConformalRegressor(Gaussian().fit(X, y))
    with pytest.raises(NotFittedError):
        model.predict_interval(X)
    model.calibrate(X[:8], y[:8])
    with pytest.raises(ValueError, match=r"coverage=0.9 needs at least 9 .* but there are 8\. "):
        model.predict_interval(X)
    for predict in (model.predict_interval, model.predict_region):
        with pytest.raises(ValueError, match=r"coverage must lie strictly .* but is 90.0"):
            predict(X, 90.0)
    with pytest.raises(NotFittedError):
        ConformalRegressor(Gaussian()).calibrate(X, y)
    with pytest.raises(ValueError, match="inconsistent numbers"):
        model.calibrate(X, y[1:])
    with pytest.raises(TypeError, match="LinearRegression has no predict_dist"):
        ConformalRegressor(LinearRegression()).fit(X, y)


def test_laws_of_vectors_are_refused(monkeypatch):
    vectors = VectorGaussianMixture([1.0], np.zeros((20, 1, 2)), np.ones((20, 1, 2)))
    monkeypatch.setattr(Gaussian, "predict_dist", lambda *_: vectors)
    X, y = rows(20, seed=0)
    with pytest.raises(TypeError, match="Gaussian predicts a VectorGaussianMixture, but only"):
        ConformalRegressor(Gaussian().fit(X, y)).calibrate(X, y)


SPLIT_ROWS = "A row that is repeated may be trained on and held out at the same time."


@parametrize_with_checks(
    [ConformalRegressor(Gaussian(), calibration_fraction=0.5)],
    expected_failed_checks=lambda _: {
        f"check_sample_weight_equivalence_on_{kind}_data": SPLIT_ROWS
        for kind in ("dense", "sparse")
    },
    xfail_strict=True,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_a_file_holds_the_model_and_its_calibration(tmp_path):
    X, y = rows(60, seed=8)
    networks = DGMERegressor(n_components=1, n_rounds=1, epochs_per_round=1, random_state=0)
    model = ConformalRegressor(networks, calibration_fraction=0.5, random_state=0).fit(X, y)
    model.save(tmp_path / "model.dgme")
    loaded = load(tmp_path / "model.dgme")
    assert loaded.calibration_fraction == 0.5
    assert loaded.n_features_in_ == 1
    assert_array_equal(loaded.predict_interval(X), model.predict_interval(X))
    assert_array_equal(loaded.predict_region(X).intervals, model.predict_region(X).intervals)
    facts, scores = model.dump_state()
    with pytest.raises(ValueError, match="two ascending lists"):
        loaded.load_state(facts, scores | {"interval": -scores["interval"]})
