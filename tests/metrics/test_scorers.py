"""Scorers inside of scikit-learn, with an estimator that costs nothing to fit."""

import pickle

import numpy as np
import pytest
import scoringrules
from numpy.testing import assert_allclose
from scipy import stats
from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_is_fitted

from dgme import metrics
from dgme.estimators import DensityRegressor

X = np.random.default_rng(0).normal(5.0, 3.0, (120, 2))
Y = X @ [1.0, -2.0] + np.random.default_rng(1).normal(size=120)


class Linear(DensityRegressor):
    def __init__(self, std=1.0):
        self.std = std

    def fit(self, X, y):
        self.mean_ = LinearRegression().fit(X, y)
        return self

    def predict_dist(self, X, n_posterior_samples=None):
        check_is_fitted(self)
        return metrics.from_std(mean := self.mean_.predict(X), np.full_like(mean, self.std))


SCORING = {"log": metrics.neg_log_score, "crps": metrics.neg_crps}


def test_scorers_are_the_scores_with_their_sign_changed():
    model = Linear().fit(X, Y)
    law = model.predict_dist(X)
    assert metrics.neg_log_score(model, X, Y) == -metrics.nll(law, Y)
    assert metrics.neg_crps(model, X, Y) == -metrics.crps(law, Y)
    weight = np.arange(120)
    expected = -metrics.crps(law, Y, sample_weight=weight)
    assert metrics.neg_crps(model, X, Y, sample_weight=weight) == expected
    winkler = metrics.make_density_scorer(metrics.interval_score, confidence=0.5)
    assert winkler(model, X, Y) == -metrics.interval_score(law, Y, 0.5)
    covered = metrics.make_density_scorer(metrics.coverage, greater_is_better=True)
    assert covered(model, X, Y) == metrics.coverage(law, Y)


def test_a_search_through_a_pipeline_finds_the_right_spread():
    """The noise has a standard deviation of one; greater is better, so a loss finds the worst."""
    pipeline = make_pipeline(StandardScaler(), Linear())
    stds = {"linear__std": [0.1, 1.0, 10.0]}
    search = GridSearchCV(pipeline, stds, scoring=SCORING, refit="log", cv=3).fit(X, Y)
    assert search.best_params_ == {"linear__std": 1.0}
    assert search.cv_results_["rank_test_crps"][1] == 1
    inside = metrics.predicted_law(search, X)
    best = Linear().fit(X, Y).predict_dist(X)
    assert_allclose(inside.mean(), best.mean())
    again = clone(search).fit(X, Y)
    assert again.best_score_ == search.best_score_


def test_scores_of_many_folds_at_once():
    results = cross_validate(make_pipeline(Linear()), X, Y, scoring=SCORING, cv=3)
    assert np.isfinite(results["test_log"]).all()
    assert (results["test_crps"] < 0).all()


def test_scorers_can_be_pickled():
    for scorer in SCORING.values():
        assert pickle.loads(pickle.dumps(scorer)) == scorer


def test_what_predicts_no_law_is_named():
    with pytest.raises(TypeError, match="LinearRegression has no predict_dist"):
        metrics.neg_crps(make_pipeline(StandardScaler(), LinearRegression()).fit(X, Y), X, Y)
    with pytest.raises(TypeError, match=r"forecast is the estimator Linear; pass .* predict_dist"):
        metrics.crps(Linear().fit(X, Y), Y)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_laws_are_moved_back_from_another_scale(sign):
    """Gaussians of ±log(y): y is log-normal, in closed form.

    The CRPS of 200 quantiles errs by less than one in a thousand.
    """
    positive = np.exp(Y / 4)
    model = TransformedTargetRegressor(
        make_pipeline(StandardScaler(), Linear(0.5)),
        func=lambda y: sign * np.log(y),
        inverse_func=lambda z: np.exp(sign * z),
    ).fit(X, positive)
    law = metrics.predicted_law(model, X)
    place = sign * model.regressor_.predict(X)
    exact = stats.lognorm(0.5, scale=np.exp(place))
    assert_allclose(law.logpdf(positive), exact.logpdf(positive), rtol=1e-9, atol=1e-9)
    assert_allclose(law.cdf(positive), exact.cdf(positive), rtol=1e-9)
    assert_allclose(law.ppf([[0.1], [0.8]])[:, 7], exact.ppf([[0.1], [0.8]])[:, 7], rtol=1e-9)
    assert_allclose([law.mean(), law.std()], [exact.mean(), exact.std()], rtol=1e-9)
    expected = scoringrules.crps_lognormal(positive, place, np.full(120, 0.5))
    assert_allclose(law.crps(positive), expected, rtol=1e-3)
    assert metrics.neg_log_score(model, X, positive) == -metrics.nll(law, positive)
    assert metrics.neg_crps(model, X, positive) == -metrics.crps(law, positive)


def test_a_linear_scale_changes_units_alone():
    model = TransformedTargetRegressor(Linear(0.5), transformer=StandardScaler()).fit(X, Y)
    law = metrics.predicted_law(model, X)
    exact = stats.norm(model.predict(X), 0.5 * Y.std())
    assert_allclose(law.logpdf(Y), exact.logpdf(Y), rtol=1e-9)
    assert_allclose(law.mean(), exact.mean(), rtol=1e-9)
    with pytest.raises(ValueError, match="is not strictly monotone"):
        metrics.predicted_law(
            TransformedTargetRegressor(
                Linear(), func=np.abs, inverse_func=np.abs, check_inverse=False
            ).fit(X, Y),
            X,
        )
