"""Estimators within the tools of scikit-learn and joblib, and tables of every kind."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from joblib import Parallel, delayed
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor, make_column_transformer
from sklearn.ensemble import StackingRegressor, VotingRegressor
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV, KFold, cross_val_predict, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from dgme import DGMERegressor

# Two features, and folds of the same size, for which everything is compiled once.
N = 40
RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.normal(size=(N, 2)), columns=["a", "b"])
Y = (X["a"] + 0.1 * RNG.normal(size=N)).rename("target")
MODEL = DGMERegressor(
    n_components=2, n_rounds=1, epochs_per_round=2, hidden_sizes=(4,), random_state=0
)
FOLDS = KFold(2)
KINDS = {
    "pandas": (X, Y),
    "polars": (pl.from_pandas(X), pl.from_pandas(Y)),
    "pyarrow": (pa.Table.from_pandas(X), pa.chunked_array([pa.array(Y)])),
}


@pytest.fixture(scope="module")
def fitted():
    return clone(MODEL).fit(X, Y)


@pytest.mark.parametrize("kind", KINDS)
def test_tables_of_every_kind_are_the_same_rows(kind, fitted):
    table, target = KINDS[kind]
    model = clone(MODEL).fit(table, target, sample_weight=target.__array__() > -9)
    assert_array_equal(model.feature_names_in_, ["a", "b"])
    assert_array_equal(model.predict(table), fitted.predict(X))
    # A model of one kind of table reads all others, and none with its columns in another order.
    assert_array_equal(fitted.predict(table), fitted.predict(X))
    with pytest.raises(ValueError, match="feature names"):
        fitted.predict(table[["b", "a"]] if kind == "pandas" else table.select(["b", "a"]))


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_names_come_through_column_transformers(kind):
    table = X.assign(k=["x", "y"] * (N // 2))[["a", "k"]]
    encoder = OneHotEncoder(sparse_output=False, drop="first")
    columns = make_column_transformer(
        (StandardScaler(), ["a"]), (encoder, ["k"]), verbose_feature_names_out=False
    )
    pipeline = make_pipeline(columns, clone(MODEL)).set_output(transform=kind).fit(table, Y)
    assert_array_equal(pipeline[-1].feature_names_in_, ["a", "k_y"])


def test_the_law_of_a_pipeline_is_that_of_its_last_step():
    pipeline = make_pipeline(StandardScaler(), clone(MODEL))
    pipeline.fit(X, Y, dgmeregressor__sample_weight=np.ones(N))
    law = pipeline[-1].predict_dist(pipeline[:-1].transform(X))
    mean, std = pipeline.predict(X, return_std=True)
    assert_array_equal(mean, law.mean())
    assert_array_equal(std, law.std())


def test_a_transformed_target_predicts_points():
    model = TransformedTargetRegressor(MODEL, func=np.exp, inverse_func=np.log).fit(X, Y)
    law = model.regressor_.predict_dist(X)
    assert_array_equal(model.predict(X), np.log(law.mean()))
    assert not hasattr(model, "predict_dist")


def test_a_search_by_a_score_of_the_law():
    def negative_crps(model, X, y):
        return -model.predict_dist(X).crps(y).mean()

    steps = {"learning_rate": [1e-6, 0.1]}
    search = GridSearchCV(MODEL, steps, cv=FOLDS, scoring=negative_crps).fit(X, Y)
    assert search.best_params_ == {"learning_rate": 0.1}
    assert_array_equal(search.predict(X), search.best_estimator_.predict_dist(X).mean())


def test_laws_of_rows_that_were_not_trained_on():
    done = cross_validate(MODEL, X, Y, cv=FOLDS, return_estimator=True, return_indices=True)
    means = np.empty(N)
    for model, rows in zip(done["estimator"], done["indices"]["test"], strict=True):
        means[rows] = model.predict_dist(X.iloc[rows]).mean()
    assert_array_equal(means, cross_val_predict(MODEL, X, Y, cv=FOLDS))


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_other_processes_and_threads_fit_the_same(backend, fitted):
    (model,) = Parallel(n_jobs=2, backend=backend)([delayed(clone(MODEL).fit)(X, Y)])
    # Where a worker may use fewer cores, components are grouped into other programs.
    assert_allclose(model.predict(X), fitted.predict(X), rtol=1e-4, atol=1e-5)


def test_pickles_and_clones(fitted):
    again = pickle.loads(pickle.dumps(fitted))
    assert_array_equal(again.predict_dist(X).means, fitted.predict_dist(X).means)
    assert_array_equal(again.feature_names_in_, fitted.feature_names_in_)
    assert clone(fitted).get_params() == MODEL.get_params()
    assert not hasattr(clone(fitted), "weights_")


def test_averages_and_stacks_of_models(fitted):
    line = LinearRegression().fit(X, Y)
    voting = VotingRegressor([("dgme", MODEL), ("line", LinearRegression())]).fit(X, Y)
    assert_allclose(voting.predict(X), (fitted.predict(X) + line.predict(X)) / 2, rtol=1e-12)
    stacked = StackingRegressor([("dgme", MODEL), ("line", LinearRegression())], cv=FOLDS)
    assert stacked.fit(X, Y).score(X, Y) > 0.9
