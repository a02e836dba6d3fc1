"""skpro's own checks, and the numbers, which they do not look at."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.integrate import quad
from skpro.metrics import CRPS, LogLoss, SquaredDistrLoss
from skpro.utils import check_estimator

from dgme import DGMERegressor, GaussianMixture, VectorGaussianMixture
from dgme.skpro import SkproDistribution, SkproRegressor

RNG = np.random.default_rng(3)
WEIGHTS = RNG.dirichlet(np.ones(3), 5)
LAW = GaussianMixture(WEIGHTS, RNG.normal(size=(5, 3)), RNG.uniform(0.3, 2, (5, 3)))
VECTORS = VectorGaussianMixture(WEIGHTS, RNG.normal(size=(5, 3, 2)), RNG.uniform(0.3, 2, (5, 3, 2)))
NAMES = {"index": pd.Index([4, 2, 9, 7, 1]), "columns": pd.Index(["a", "b"])}


@pytest.mark.parametrize("kind", [SkproDistribution, SkproRegressor])
def test_skpros_own_checks(kind):
    found = check_estimator(kind, raise_exceptions=False, verbose=False)
    # Of what it does not know it checks nothing, and finds no fault.
    assert len(found) > 50
    assert {name: outcome for name, outcome in found.items() if outcome != "PASSED"} == {}


def test_every_verb_is_the_laws():
    there, y = SkproDistribution(LAW, columns=["y"]), RNG.normal(size=5)
    outcome = pd.DataFrame({"y": y})
    for skpro_name, own_name in {
        "pdf": "pdf",
        "log_pdf": "logpdf",
        "cdf": "cdf",
        "surv": "sf",
    }.items():
        found = getattr(there, skpro_name)(outcome)
        assert_array_equal(found["y"], getattr(LAW, own_name)(y))
    assert_array_equal(there.mean()["y"], LAW.mean())
    assert_array_equal(there.var()["y"], LAW.var())
    assert_array_equal(there.ppf(0.2)["y"], LAW.ppf(0.2))
    assert_array_equal(there.quantile([0.1, 0.7])["y"], LAW.ppf([[0.1], [0.7]]).T)
    assert_array_equal(there.iloc[[3, 1]].mean()["y"], LAW[[3, 1]].mean())
    assert there.iloc[2, 0].log_pdf(0.4) == LAW[2].logpdf(0.4)


def test_skpros_metrics_are_exact():
    there, y = SkproDistribution(LAW), RNG.normal(size=5)
    outcome = pd.DataFrame(y)
    assert_allclose(CRPS()(outcome, there), LAW.crps(y).mean(), rtol=1e-14)
    assert_allclose(LogLoss()(outcome, there), -LAW.logpdf(y).mean(), rtol=1e-14)
    squared = [
        quad(lambda x, row=row: row.pdf(x) ** 2, -20, 20, points=row.means)[0] for row in LAW
    ]
    expected = (squared - 2 * LAW.pdf(y)).mean()
    assert_allclose(SquaredDistrLoss()(outcome, there), expected, rtol=1e-9)


def test_targets_are_columns():
    there, y = SkproDistribution(VECTORS, **NAMES), RNG.normal(size=(5, 2))
    outcome = pd.DataFrame(y, **NAMES)
    assert there.shape == (5, 2)
    assert_array_equal(there.cdf(outcome), VECTORS.cdf(y))
    assert_allclose(CRPS()(outcome, there), VECTORS.crps(y).mean(), rtol=1e-14)
    part = there.loc[[2, 7], ["b"]]
    assert_array_equal(part.mean().to_numpy()[:, 0], VECTORS[[1, 3]].mean()[:, 1])
    assert there.at[9, "b"].mean() == VECTORS.marginal(1)[2].mean()


def test_samples_follow_the_global_generator_and_are_joint():
    there = SkproDistribution(VECTORS, **NAMES)
    np.random.seed(5)  # noqa: NPY002
    first = there.sample(4_000)
    np.random.seed(5)  # noqa: NPY002
    pd.testing.assert_frame_equal(first, there.sample(4_000))
    assert_array_equal(first.loc[0].index, NAMES["index"])
    # A correlation of 4,000 draws has a standard error of at most 0.016.
    drawn = first.xs(9, level=1).corr().to_numpy()
    assert_allclose(drawn, VECTORS[2].correlation(), atol=0.06)


def test_names_that_do_not_fit_the_law_are_refused():
    with pytest.raises(ValueError, match=r"5 rows and 1 targets of the law, but they name 3 and 1"):
        SkproDistribution(LAW, index=range(3))
    with pytest.raises(ValueError, match=r"axis of rows.* not laws\[i\]"):
        SkproDistribution(VECTORS[0])


@pytest.fixture(scope="module")
def fitted():
    X = pd.DataFrame(RNG.normal(size=(40, 2)), columns=["u", "v"], index=range(100, 140))
    y = pd.DataFrame({"price": X["u"] + 5})
    quick = DGMERegressor(
        n_components=2, n_rounds=1, epochs_per_round=2, hidden_sizes=(4,), random_state=0
    )
    return SkproRegressor(quick).fit(X, y), X, y


def test_a_regressor_predicts_what_its_own_predicts(fitted):
    model, X, y = fitted
    own = model.regressor_.predict_dist(X)
    law = model.predict_proba(X)
    assert law.law.groups is not None
    assert_array_equal(law.log_pdf(y)["price"], own.logpdf(y["price"]))
    assert_array_equal(model.predict(X)["price"], own.mean())
    assert_array_equal(model.predict_var(X)["price"], own.var())
    interval = model.predict_interval(X, coverage=[0.8])["price"][0.8]
    assert_array_equal(interval.to_numpy().T, own.interval(0.8))
    assert_array_equal(interval.index, X.index)


def test_a_regressor_takes_polars_and_finds_its_parameters(fitted):
    model, X, y = fitted
    again = model.clone().fit(pl.from_pandas(X), pl.from_pandas(y))
    assert_array_equal(again.predict(pl.from_pandas(X))["price"], model.predict(X)["price"])
    assert model.clone().set_params(regressor__n_components=3).regressor.n_components == 3
