import pickle
import warnings

import jax
import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import stats
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import dgme
from dgme import DGMERegressor, GaussianMixture, nn
from dgme.estimators import Scaling
from dgme.estimators._rows import split

FAST = {"n_components": 2, "n_rounds": 2, "epochs_per_round": 5, "random_state": 0}


def table(n=120, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, X[:, 0] - 2 * X[:, 1] + 0.3 * rng.normal(size=n)


@pytest.fixture(scope="module")
def fitted():
    X, y = table()
    return DGMERegressor(**FAST).fit(X, y)


def test_every_verb_agrees_with_the_law(fitted):
    X, y = table(seed=1)
    law = fitted.predict_dist(X)
    assert isinstance(law, GaussianMixture)
    assert len(law) == len(X)
    np.testing.assert_array_equal(fitted.pred_dist(X).means, law.means)
    np.testing.assert_array_equal(fitted.predict(X), law.mean())
    mean, std = fitted.predict(X, return_std=True)
    np.testing.assert_array_equal(mean, law.mean())
    np.testing.assert_array_equal(std, law.std())
    np.testing.assert_array_equal(fitted.predict_var(X), law.var())
    interval = fitted.predict_interval(X, coverage=0.8)
    assert interval.shape == (len(X), 2)
    np.testing.assert_allclose(law.cdf(interval.T), [[0.1], [0.9]] * np.ones(len(X)), atol=1e-10)
    quantiles = fitted.predict_quantiles(X, alpha=(0.2, 0.7))
    assert quantiles.shape == (len(X), 2)
    np.testing.assert_allclose(law.cdf(quantiles.T), [[0.2], [0.7]] * np.ones(len(X)), atol=1e-10)
    assert fitted.predict_quantiles(X, alpha=0.5).shape == (len(X), 1)
    samples = fitted.sample_y(X, 50, random_state=3)
    assert samples.shape == (len(X), 50)
    np.testing.assert_array_equal(samples, fitted.sample_y(X, 50, random_state=3))
    gamma = fitted.responsibilities(X, y)
    np.testing.assert_allclose(gamma.sum(axis=1), 1)
    joint = law.weights * stats.norm.pdf(y[:, None], law.means, law.scales)
    np.testing.assert_allclose(gamma, joint / joint.sum(axis=1, keepdims=True), rtol=1e-9)


def test_what_fit_learned_is_there(fitted):
    assert fitted.weights_.shape == (2,)
    assert fitted.weights_.sum() == pytest.approx(1)
    history = pd.DataFrame(fitted.history_)
    assert list(history["round"]) == [1, 2]
    assert fitted.n_rounds_ == history["round"][history["held_out_score"].argmax()]


def test_likelihoods_of_the_history_are_in_the_units_of_the_target():
    X, y = table()
    model = DGMERegressor(**FAST, validation_fraction=None).fit(X, 1000 * y)
    likelihood = model.predict_dist(X).logpdf(1000 * y).mean()
    assert model.history_["log_likelihood"][-1] == pytest.approx(likelihood, abs=1e-5)


@pytest.mark.parametrize(("shift", "scale"), [(0, 1e-6), (1e8, 1), (-5, 1e6)])
def test_a_change_of_units_changes_only_the_units(shift, scale):
    X, y = table()
    law = DGMERegressor(**FAST).fit(X, y).predict_dist(X)
    moved = DGMERegressor(**FAST).fit(3 * X - 7, shift + scale * y).predict_dist(3 * X - 7)
    # Rounding of 1e8 + y leaves eight digits of y, and training in single precision seven.
    np.testing.assert_allclose((moved.mean() - shift) / scale, law.mean(), atol=2e-3)
    np.testing.assert_allclose(moved.std() / scale, law.std(), rtol=2e-2)


def test_convergence_is_told():
    X, y = table(400)
    short = DGMERegressor(**FAST | {"n_rounds": 1}, validation_fraction=None)
    assert not short.fit(X, y).converged_
    # Networks that hardly move leave only the weights to converge.
    still = FAST | {"n_rounds": 20, "learning_rate": 1e-9}
    settled = DGMERegressor(**still, validation_fraction=None)
    assert settled.fit(X, y).converged_
    patient = DGMERegressor(n_components=2, n_rounds=50, patience=2, random_state=0).fit(X, y)
    assert patient.converged_
    assert len(patient.history_["round"]) == patient.n_rounds_ + 2


def test_without_standardisation_the_networks_see_the_raw_numbers():
    X, y = table()
    model = DGMERegressor(**FAST, standardize=False).fit(X, y)
    assert (model.ensemble_.x_scaling.scale == 1).all()
    assert model.ensemble_.y_scaling.center == 0


def test_the_adversary_goes_a_share_of_the_range_of_each_feature():
    """Over all steps, where rows are sequences; constants have no range."""
    X, y = table()
    X = X * [1, 1000, 0] + 5
    settings = FAST | {"validation_fraction": None, "adversarial_eps": 0.02}
    step = DGMERegressor(**settings).fit(X, y).ensemble_.experts.adversarial_step
    expected = 0.02 * np.ptp(X, axis=0) / np.maximum(X.std(axis=0), 1e-9)
    np.testing.assert_allclose(step, expected, rtol=1e-5)
    sequences = np.stack([X[:, :2], 2 * X[:, :2]], axis=1)
    model = DGMERegressor(**settings, network=nn.LSTM(hidden_size=3)).fit(sequences, y)
    flat = sequences.reshape(-1, 2)
    np.testing.assert_allclose(
        model.ensemble_.experts.adversarial_step,
        np.tile(0.02 * np.ptp(flat, axis=0) / flat.std(axis=0), (2, 1)),
        rtol=1e-5,
    )


def test_more_rounds_by_warm_start_equal_one_long_fit():
    X, y = table()
    settings = FAST | {"validation_fraction": None}
    whole = DGMERegressor(**settings | {"n_rounds": 4}).fit(X, y)
    model = DGMERegressor(**settings, warm_start=True).fit(X, y)
    model.fit(X, y)
    np.testing.assert_array_equal(model.ensemble_.params, whole.ensemble_.params)
    np.testing.assert_array_equal(model.weights_, whole.weights_)
    assert model.n_rounds_ == 4


def test_no_rows_are_held_out_when_they_would_be_too_few():
    assert len(split(94, 0.1, 0, needed=5)[1]) == 0
    train, held_out = split(100, 0.1, 0, needed=5)
    assert len(held_out) == 10
    np.testing.assert_array_equal(np.sort(np.r_[train, held_out]), np.arange(100))


def test_parameters_set_after_the_fit_do_not_touch_it():
    X, y = table()
    model = DGMERegressor(**FAST).fit(X, y)
    before = model.predict_dist(X)
    model.set_params(hidden_sizes=(10,), activation="tanh", n_components=3, min_scale=5.0)
    np.testing.assert_array_equal(model.predict_dist(X).means, before.means)
    np.testing.assert_array_equal(model.predict_dist(X).scales, before.scales)


@pytest.mark.parametrize(
    ("name", "value"), [("n_components", 3), ("hidden_sizes", (7,)), ("min_scale", 0.5)]
)
def test_a_warm_start_of_other_networks_is_refused(name, value):
    X, y = table()
    model = DGMERegressor(**FAST, warm_start=True).fit(X, y).set_params(**{name: value})
    with pytest.raises(ValueError, match=f"warm_start goes on with networks of {name}="):
        model.fit(X, y)


def test_a_warm_start_holds_out_the_same_rows_and_never_gets_worse():
    X, y = table(400)
    model = DGMERegressor(**FAST | {"random_state": None}, warm_start=True).fit(X, y)
    scores, rounds = [], 2
    for _ in range(4):
        seed = model.seed_
        model.fit(X, y)
        rounds += 2
        assert model.seed_ == seed
        assert list(model.history_["round"]) == list(range(1, rounds + 1))
        best = model.history_["held_out_score"].argmax()
        assert model.n_rounds_ == model.history_["round"][best]
        scores.append(model.history_["held_out_score"][best])
    assert scores == sorted(scores)


def test_the_history_is_that_of_the_restart_that_was_chosen():
    X, y = table(200)
    for seed in range(5):
        model = DGMERegressor(
            n_components=2, n_rounds=12, epochs_per_round=5, n_init=6, patience=1
        ).set_params(random_state=seed)
        history = model.fit(X, y).history_
        assert model.n_rounds_ == history["round"][history["held_out_score"].argmax()]
        assert model.converged_ == (history["round"][-1] == model.n_rounds_ + 1)


@pytest.mark.parametrize("extreme", [1e20, -3.4e38, 1e300])
def test_an_extreme_cell_does_not_stop_the_training(extreme):
    """Wherever it falls: among the rows that are trained on, or among those held out."""
    X, y = table(150)
    for row in range(0, 150, 10):
        spoilt = X.copy()
        spoilt[row, 2] = extreme
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = DGMERegressor(n_components=2, n_rounds=2, random_state=0).fit(spoilt, y)
        assert model.n_rounds_ > 0
        assert model.score(np.delete(X, row, axis=0), np.delete(y, row)) > 0.5


@pytest.mark.parametrize("n", [100, 100_000])
@pytest.mark.parametrize("value", [0.1, 3.3, 1e9 + 0.1])
def test_a_constant_column_is_not_blown_up(n, value):
    scaling = Scaling.standard(np.full((n, 1), value), np.ones(n))
    assert scaling.scale == 1
    assert scaling.center == value


@pytest.mark.parametrize("unit", [1e-150, 1e150])
def test_scaling_neither_overflows_nor_underflows(unit):
    rows = np.random.default_rng(0).normal(size=1000)
    scaling = Scaling.standard(unit * rows, np.ones(1000))
    np.testing.assert_allclose(scaling.forward(unit * rows).std(), 1)
    np.testing.assert_allclose(scaling.forward(unit * rows).mean(), 0, atol=1e-12)


def test_values_beyond_double_precision_are_refused_by_name():
    X, y = table()
    with pytest.raises(ValueError, match=r"y spans from .* which double precision cannot"):
        DGMERegressor(**FAST, validation_fraction=None).fit(X, np.r_[1.7e308, -1.7e308, y[2:]])


def test_holding_out_nearly_all_rows_is_refused():
    X, y = table(12)
    with pytest.raises(ValueError, match=r"validation_fraction=0\.97 leaves 0 of 12 rows"):
        DGMERegressor(**FAST, validation_fraction=0.97).fit(X, y)


def test_responsibilities_of_frames_and_of_targets_far_away(fitted):
    X, y = table()
    named = pd.DataFrame(X, columns=["a", "b", "c"])
    model = DGMERegressor(**FAST).fit(named, y)
    np.testing.assert_array_equal(model.responsibilities(named, y), fitted.responsibilities(X, y))
    # So far away the widest component explains everything.
    far = fitted.responsibilities(X[:1], [1e170])
    widest = fitted.predict_dist(X[:1]).scales.argmax(axis=1)
    np.testing.assert_array_equal(far, np.eye(2)[widest])


def test_double_precision_in_the_process_does_no_harm(fitted):
    """Another part of the process may have made JAX compute in double precision."""
    X, y = table()
    with jax.enable_x64(True):
        model = DGMERegressor(**FAST).fit(X, y)
        predicted = model.predict(X)
    assert model.ensemble_.params.dtype == np.float32
    # Initial values are drawn from other bits then, so the fits are alike only in quality.
    assert np.corrcoef(predicted, y)[0, 1] > 0.9


def test_rows_of_weight_zero_are_as_if_absent():
    X, y = table()
    weight = np.ones(len(X))
    weight[::3] = 0
    corrupted = np.where(weight == 0, 1e6, y)
    a = DGMERegressor(**FAST).fit(X, corrupted, sample_weight=weight)
    b = DGMERegressor(**FAST).fit(X[weight > 0], y[weight > 0])
    np.testing.assert_array_equal(a.predict(X), b.predict(X))


def test_weights_pull_the_fit():
    """Two groups of rows with targets -1 and 1; the heavier one wins."""
    X = np.zeros((200, 1))
    y = np.repeat([-1.0, 1.0], 100)
    weight = np.repeat([9.0, 1.0], 100)
    model = DGMERegressor(
        n_components=1, n_rounds=3, epochs_per_round=30, validation_fraction=None, random_state=0
    )
    np.testing.assert_allclose(model.fit(X, y, weight).predict(X[:1]), -0.8, atol=0.05)


def test_the_same_seed_gives_the_same_model():
    X, y = table()
    a, b = (DGMERegressor(**FAST).fit(X, y) for _ in range(2))
    np.testing.assert_array_equal(a.ensemble_.params, b.ensemble_.params)
    other = DGMERegressor(**FAST | {"random_state": 1}).fit(X, y)
    assert (other.ensemble_.params != a.ensemble_.params).any()


def test_it_can_be_cloned_pickled_and_put_in_pipelines(fitted):
    X, y = table()
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.predict(X), fitted.predict(X))
    assert clone(fitted).get_params() == fitted.get_params()
    pipeline = make_pipeline(StandardScaler(), DGMERegressor(**FAST))
    search = GridSearchCV(pipeline, {"dgmeregressor__learning_rate": [1e-5, 1e-2]}, cv=2)
    assert search.fit(X, y).best_params_ == {"dgmeregressor__learning_rate": 1e-2}
    assert cross_val_predict(pipeline, X, y, cv=2).shape == y.shape


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_column_names_of_data_frames_are_kept_and_checked(frame):
    X, y = table()
    columns = dict(zip("abc", X.T, strict=True))
    model = DGMERegressor(**FAST).fit(frame(columns), y)
    assert list(model.feature_names_in_) == ["a", "b", "c"]
    np.testing.assert_array_equal(
        model.predict(frame(columns)), DGMERegressor(**FAST).fit(X, y).predict(X)
    )
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame({"b": X[:, 0], "a": X[:, 1], "c": X[:, 2]}))


X, Y = table(30)
BAD_ROWS = {
    "NaN in X": (np.where(X > 2, np.nan, X), Y, "Input X contains NaN"),
    "infinity in X": (np.where(X.max() == X, np.inf, X), Y, "Input X contains infinity"),
    "NaN in y": (X, np.where(Y.max() == Y, np.nan, Y), "Input y contains NaN"),
    "infinity in y": (X, np.where(Y.max() == Y, np.inf, Y), "Input y contains infinity"),
    "no rows": (np.empty((0, 3)), np.empty(0), "0 sample"),
    "no columns": (np.empty((30, 0)), Y, "0 feature"),
    "one row": (X[:1], Y[:1], "1 sample"),
    "flat X": (X[:, 0], Y, "Reshape your data"),
    "lengths differ": (X, Y[:-1], "inconsistent numbers of samples"),
    "y of strings": (X, np.array(["a", "b", "c"] * 10), "y must hold numbers, but has dtype <U1"),
    "y of objects": (X, np.array(["a", "b", "c"] * 10, dtype=object), "could not convert string"),
    "X of strings": (np.full((30, 3), "a"), Y, "could not convert string to float"),
    "complex X": (X + 1j, Y, "Complex data not supported"),
    "tables of targets": (X, np.stack([Y, Y], axis=1)[..., None], "dim 3"),
}


@pytest.mark.parametrize("case", BAD_ROWS)
def test_bad_rows_are_refused_in_words(case):
    bad_X, bad_y, words = BAD_ROWS[case]
    model = DGMERegressor(**FAST)
    with pytest.raises(ValueError, match=words):
        model.fit(bad_X, bad_y)
    with pytest.raises(NotFittedError):
        model.predict(X)


BAD_ARGUMENTS = [
    ("n_components", 0, "int in the range"),
    ("n_components", 2.5, "int in the range"),
    ("n_components", 31, "n_components=31 needs as many rows .* n_samples = 30"),
    ("n_rounds", 0, "int in the range"),
    ("epochs_per_round", 0, "int in the range"),
    ("hidden_sizes", 50, "array-like"),
    ("hidden_sizes", (50, 0), r"hidden_sizes must hold positive integers, but is \(50, 0\)"),
    ("hidden_sizes", ("a",), "hidden_sizes must hold positive integers"),
    ("activation", "rleu", "a str among"),
    ("dropout", 1.0, r"float in the range \[0.0, 1.0\)"),
    ("dropout", -0.1, "float in the range"),
    ("learning_rate", 0.0, "float in the range"),
    ("learning_rate", -1.0, "float in the range"),
    ("batch_size", 0, "int in the range"),
    ("weight_decay", -1.0, "float in the range"),
    ("min_scale", 0.0, "float in the range"),
    ("init", "he", "a str among"),
    ("validation_fraction", 1.0, "float in the range"),
    ("patience", 0, "int in the range"),
    ("annealing", 0.0, "float in the range"),
    ("n_init", 0, "int in the range"),
    ("random_state", "a", "random_state"),
    ("device", "abacus", "device='abacus' was not found"),
]


@pytest.mark.parametrize(("name", "value", "words"), BAD_ARGUMENTS)
def test_bad_arguments_are_refused_by_name(name, value, words):
    model = DGMERegressor(**FAST).set_params(**{name: value})
    with pytest.raises(ValueError, match=words) as error:
        model.fit(X, Y)
    assert name in str(error.value)
    with pytest.raises(NotFittedError):
        model.predict(X)


@pytest.mark.parametrize(
    ("weight", "words"),
    [
        (np.full(30, -1.0), "[Nn]egative"),
        (np.zeros(30), "[Ss]ample.weight"),
        (np.full(30, np.nan), "NaN"),
        (np.ones(29), "sample_weight.shape"),
    ],
)
def test_bad_weights_are_refused(weight, words):
    model = DGMERegressor(**FAST)
    with pytest.raises(ValueError, match=words):
        model.fit(X, Y, sample_weight=weight)
    with pytest.raises(NotFittedError):
        model.predict(X)


def test_a_refit_that_fails_leaves_the_estimator_unfitted():
    model = DGMERegressor(**FAST).fit(X, Y)
    with pytest.raises(ValueError, match="NaN"):
        model.fit(np.full_like(X, np.nan), Y)
    with pytest.raises(NotFittedError):
        model.predict(X)


def test_prediction_checks_its_rows(fitted):
    with pytest.raises(ValueError, match="X has 2 features, but DGMERegressor is expecting 3"):
        fitted.predict(X[:, :2])
    with pytest.raises(ValueError, match="contains NaN"):
        fitted.predict(np.full((2, 3), np.nan))
    with pytest.raises(ValueError, match=r"coverage must lie strictly .*, but is 1\.5"):
        fitted.predict_interval(X, coverage=1.5)
    with pytest.raises(ValueError, match="alpha must hold levels strictly between 0 and 1"):
        fitted.predict_quantiles(X, alpha=[0.5, 1.0])
    with pytest.raises(NotFittedError):
        DGMERegressor().predict_dist(X)


@pytest.mark.parametrize("dtype", [np.int32, np.float16, np.float32, object])
def test_other_kinds_of_numbers_are_converted(dtype):
    integers = np.round(10 * X), np.round(10 * Y)
    model = DGMERegressor(**FAST).fit(*(part.astype(dtype) for part in integers))
    same = DGMERegressor(**FAST).fit(*integers)
    np.testing.assert_array_equal(
        model.predict(integers[0].astype(dtype)), same.predict(integers[0])
    )


def test_constant_columns_and_targets_are_allowed():
    constant_X = np.column_stack([X[:, 0], np.full(30, 1e9)])
    law = DGMERegressor(**FAST).fit(constant_X, Y).predict_dist(constant_X)
    assert np.isfinite(law.means).all()
    model = DGMERegressor(
        n_components=2, n_rounds=30, epochs_per_round=60, min_scale=0.05, random_state=0
    )
    with warnings.catch_warnings():
        # Both components sit at the floor, as they should, and that is reported.
        warnings.simplefilter("ignore", ConvergenceWarning)
        law = model.fit(X, np.full(30, 7.0)).predict_dist(X)
    np.testing.assert_allclose(law.mean(), 7.0, atol=0.02)
    np.testing.assert_allclose(law.scales, 0.05, rtol=0.2)


def test_batches_larger_than_the_data_are_allowed():
    model = DGMERegressor(**FAST | {"batch_size": 10_000}).fit(X, Y)
    assert np.isfinite(model.predict(X)).all()


def test_inputs_far_outside_give_finite_laws(fitted):
    law = fitted.predict_dist(np.array([[1e30, -1e30, 1e30], [1e300, 0, 0]]))
    assert np.isfinite(law.means).all()
    assert np.isfinite(law.scales).all()


def test_a_component_in_trouble_is_warned_about():
    repeated = np.where(np.arange(200) % 2, 0.0, np.random.default_rng(0).normal(size=200))
    model = DGMERegressor(n_components=2, n_rounds=30, n_init=4, random_state=0)
    with pytest.warns(ConvergenceWarning, match=r"Collapsed components: [01]\. .* min_scale"):
        model.fit(np.random.default_rng(1).normal(size=(200, 1)), repeated)


def test_rooms_are_there_without_an_import_of_their_own():
    assert dgme.metrics.rmse
    assert dgme.plots.components
    assert dgme.datasets.toy


def test_the_public_names():
    regressors = {"DGME", "MDN", "MCDropout", "DeepEnsemble", "MultiSWAG"}
    assert set(dgme.__all__) == {
        *(f"{method}Regressor" for method in regressors),
        *(f"{method}Classifier" for method in regressors - {"MultiSWAG"}),
        "CategoricalMixture",
        "GaussianMixture",
        "VectorGaussianMixture",
        *("TableRegressor", "TableEncoder", "TableError"),
        "ModelFileError",
        "evaluate",
        "load",
    }
    for name in dgme.__all__:
        assert getattr(dgme, name).__name__ == name
        assert name in dir(dgme)
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        dgme.Nothing  # noqa: B018
