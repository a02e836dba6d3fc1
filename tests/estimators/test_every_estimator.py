"""What holds for every estimator: its verbs, its files, its habits, its refusals."""

import copy
import pickle
from dataclasses import replace

import equinox as eqx
import jax
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import dgme
from dgme import nn

N = 90
SMALL = {"hidden_sizes": (8,), "random_state": 0, "n_posterior_samples": 4}
EM = SMALL | {"n_components": 2, "n_rounds": 2, "epochs_per_round": 4}
ALONE = SMALL | {"epochs": 10}
REGRESSORS = {
    "DGME": dgme.DGMERegressor(**EM),
    "DGME with dropout": dgme.DGMERegressor(**EM, dropout=0.1),
    "DGME with SWAG": dgme.DGMERegressor(**EM, epistemic="swag"),
    "DGME with Laplace": dgme.DGMERegressor(**EM, epistemic="laplace"),
    "MDN": dgme.MDNRegressor(**ALONE, n_components=2),
    "MDN with dropout": dgme.MDNRegressor(**ALONE, n_components=2, dropout=0.1),
    "MC dropout": dgme.MCDropoutRegressor(**ALONE),
    "deep ensemble": dgme.DeepEnsembleRegressor(**ALONE, n_members=2),
    "deep ensemble with Laplace": dgme.DeepEnsembleRegressor(
        **ALONE, n_members=2, epistemic="laplace"
    ),
    "MultiSWAG": dgme.MultiSWAGRegressor(**ALONE, n_members=2, swag_epochs=6, swag_rank=3),
    "MultiSWAG, heteroscedastic": dgme.MultiSWAGRegressor(
        **ALONE, n_members=2, swag_epochs=6, swag_rank=3, heteroscedastic=True
    ),
}
CLASSIFIERS = {
    "DGME": dgme.DGMEClassifier(**EM),
    "DGME with dropout": dgme.DGMEClassifier(**EM, dropout=0.1),
    "DGME with SWAG": dgme.DGMEClassifier(**EM, epistemic="swag"),
    "DGME with Laplace": dgme.DGMEClassifier(**EM, epistemic="laplace"),
    "MDN": dgme.MDNClassifier(**ALONE, n_components=2),
    "MC dropout": dgme.MCDropoutClassifier(**ALONE),
    "deep ensemble": dgme.DeepEnsembleClassifier(**ALONE, n_members=2),
}
ENSEMBLES = (
    dgme.DeepEnsembleRegressor,
    dgme.MultiSWAGRegressor,
    dgme.DeepEnsembleClassifier,
)
regressors = pytest.mark.parametrize("model", REGRESSORS.values(), ids=REGRESSORS)
classifiers = pytest.mark.parametrize("model", CLASSIFIERS.values(), ids=CLASSIFIERS)
everything = pytest.mark.parametrize(
    "model",
    [*REGRESSORS.values(), *CLASSIFIERS.values()],
    ids=[*(f"{name}, regressor" for name in REGRESSORS), *(f"{n}, classes" for n in CLASSIFIERS)],
)
# One model of each class, for what does not depend on the posterior.
every_class = pytest.mark.parametrize(
    "model",
    list({type(m): m for m in reversed([*REGRESSORS.values(), *CLASSIFIERS.values()])}.values()),
    ids=lambda model: type(model).__name__,
)
# A few epochs leave a component without rows now and then.
pytestmark = pytest.mark.filterwarnings(
    "ignore:.* components:sklearn.exceptions.ConvergenceWarning"
)


def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 3))
    return X, X[:, 0] - 2 * X[:, 1] + 0.3 * rng.normal(size=N) + 100


def targets(model):
    X, y = table()
    if isinstance(model, dgme.estimators._network.NetworkClassifier):
        return X, np.array(["high", "low", "middle"])[np.digitize(y, [99, 101])]
    return X, y


@pytest.fixture(scope="module")
def fitted():
    """Every model is fitted once, whatever is asked of it."""
    done = {}

    def fit(model):
        if id(model) not in done:
            done[id(model)] = clone(model).fit(*targets(model))
        return done[id(model)]

    return fit


@regressors
def test_verbs_of_regressors_agree_with_the_law(model, fitted):
    model, (X, y) = fitted(model), table()
    law = model.predict_dist(X)
    assert isinstance(law, dgme.GaussianMixture)
    assert len(law) == N
    mean, std = model.predict(X, return_std=True)
    np.testing.assert_array_equal(mean, law.mean())
    np.testing.assert_array_equal(std, law.std())
    np.testing.assert_array_equal(model.predict_var(X), law.var())
    np.testing.assert_array_equal(model.predict_interval(X, 0.8).T, law.interval(0.8))
    np.testing.assert_array_equal(model.predict_quantiles(X, [0.2, 0.5])[:, 1], law.median())
    np.testing.assert_array_equal(
        model.sample_y(X, 5, random_state=3), law.rvs(5, random_state=3).T
    )
    np.testing.assert_array_equal(model.pred_dist(X).means, law.means)
    np.testing.assert_allclose(
        law.aleatoric_variance() + law.epistemic_variance(), law.var(), rtol=1e-12
    )
    assert np.isfinite(law.logpdf(y)).all()
    assert set(model.history_) >= {"held_out_score"}
    assert isinstance(model.score(X, y), float)


@classifiers
def test_verbs_of_classifiers_agree_with_the_law(model, fitted):
    (X, y), model = targets(model), fitted(model)
    law = model.predict_dist(X)
    assert isinstance(law, dgme.CategoricalMixture)
    assert model.classes_.tolist() == ["high", "low", "middle"]
    probabilities = model.predict_proba(X)
    np.testing.assert_array_equal(probabilities, law.mean())
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, rtol=1e-12)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), probabilities, rtol=1e-12)
    np.testing.assert_array_equal(model.predict(X), model.classes_[probabilities.argmax(axis=1)])
    assert set(model.sample_y(X, 5).ravel()) <= set(model.classes_)
    assert (law.mutual_information() >= 0).all()
    assert model.score(X, y) > 0.5


@everything
def test_posterior_samples_are_the_groups_of_the_law(model, fitted):
    X, model = table()[0], fitted(model)
    sampled = model.ensemble_.posterior is not None
    members = len(model.ensemble_.weights)
    for n in (None, 1, 7):
        law = model.predict_dist(X, n_posterior_samples=n)
        expected = (n or 4) if sampled else 1
        if isinstance(model, ENSEMBLES):
            expected *= members
        assert len(np.unique(law.groups)) == expected
    with pytest.raises(ValueError, match=r"n_posterior_samples must be an integer from 0.* -1"):
        model.predict_dist(X, n_posterior_samples=-1)


@everything
def test_no_posterior_samples_are_the_trained_parameters(model, fitted):
    X, model = table()[0], fitted(model)
    certain = copy.copy(model)
    certain.ensemble_ = replace(model.ensemble_, posterior=None)
    law, expected = model.predict_dist(X, n_posterior_samples=0), certain.predict_dist(X)
    np.testing.assert_array_equal(law.weights, expected.weights)
    np.testing.assert_array_equal(law.groups, expected.groups)
    np.testing.assert_array_equal(law.mean(), expected.mean())


@everything
def test_rows_do_not_depend_on_their_batch(model, fitted):
    X, model = table()[0], fitted(model)
    law = model.predict_dist(X)
    parts = [np.asarray(part) for part in (law.weights, law[3:5].mean())]
    np.testing.assert_array_equal(parts[1], model.predict_dist(X[3:5]).mean())


@everything
def test_files_give_back_the_model(model, fitted, tmp_path):
    X, model = table()[0], fitted(model)
    model.save(tmp_path / "model.dgme")
    loaded = dgme.load(tmp_path / "model.dgme")
    assert type(loaded) is type(model)
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    for name, column in model.history_.items():
        np.testing.assert_array_equal(loaded.history_[name], column)
    assert loaded.get_params() == model.get_params()


@every_class
def test_it_is_cloned_pickled_and_put_in_pipelines(model, fitted):
    (X, y), before = targets(model), fitted(model)
    again = pickle.loads(pickle.dumps(before))
    np.testing.assert_array_equal(again.predict(X), before.predict(X))
    same = clone(before).fit(X, y)
    np.testing.assert_array_equal(same.predict(X), before.predict(X))
    pipeline = make_pipeline(StandardScaler(), clone(model))
    assert np.isfinite(cross_val_score(pipeline, X, y, cv=2)).all()


@every_class
def test_names_of_columns_are_remembered_and_checked(model, tmp_path):
    X, y = targets(model)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = clone(model).fit(frame, y)
    model.save(tmp_path / "model.dgme")
    with pytest.raises(ValueError, match="feature names"):
        dgme.load(tmp_path / "model.dgme").predict(frame[["b", "a", "c"]])


@every_class
def test_rows_of_weight_zero_are_as_if_absent(model):
    X, y = targets(model)
    weight = np.ones(N)
    weight[::3] = 0
    weighted = clone(model).fit(X, y, sample_weight=weight).predict(X)
    absent = clone(model).fit(X[weight > 0], y[weight > 0]).predict(X)
    np.testing.assert_array_equal(weighted, absent)


@every_class
def test_before_the_fit_there_is_nothing_to_predict(model):
    with pytest.raises(NotFittedError):
        clone(model).predict(table()[0])


@regressors
def test_one_target_as_a_column_is_the_scalar(model, fitted):
    X, y = table()
    scalar, vector = fitted(model).predict_dist(X), clone(model).fit(X, y[:, None]).predict_dist(X)
    assert isinstance(vector, dgme.VectorGaussianMixture)
    np.testing.assert_array_equal(vector.means[..., 0], scalar.means)
    np.testing.assert_array_equal(vector.scales[..., 0], scalar.scales)
    np.testing.assert_allclose(vector.logpdf(y[:, None]), scalar.logpdf(y), rtol=1e-12)


@regressors
def test_vectors_of_targets(model, tmp_path):
    X, y = table()
    Y = np.stack([y, 3 - 0.1 * y, X[:, 2] ** 2], axis=1)
    model = clone(model).fit(X, Y)
    law = model.predict_dist(X)
    assert law.n_targets == 3
    assert model.predict(X).shape == model.predict_var(X).shape == (N, 3)
    assert model.predict_interval(X).shape == (N, 2, 3)
    assert model.predict_quantiles(X, [0.1, 0.2, 0.3, 0.4]).shape == (N, 4, 3)
    assert model.sample_y(X, 5).shape == (N, 3, 5)
    assert law.covariance().shape == (N, 3, 3)
    assert np.isfinite(law.logpdf(Y)).all()
    # Targets of different units come back in their own.
    np.testing.assert_allclose(law.mean().mean(axis=0), Y.mean(axis=0), atol=1.0)
    model.save(tmp_path / "model.dgme")
    np.testing.assert_array_equal(dgme.load(tmp_path / "model.dgme").predict(X), model.predict(X))


SEQUENCES = np.random.default_rng(1).normal(size=(N, 5, 2))
LSTM = nn.LSTM(hidden_size=4, dense_sizes=(3,), dropout=0.1)


@every_class
def test_sequences_through_an_lstm(model, tmp_path):
    _, y = targets(model)
    model = clone(model).set_params(network=LSTM).fit(SEQUENCES, y)
    predicted = model.predict(SEQUENCES)
    assert predicted.shape == (N,)
    model.save(tmp_path / "model.dgme")
    loaded = dgme.load(tmp_path / "model.dgme")
    assert loaded.network == LSTM
    np.testing.assert_array_equal(loaded.predict(SEQUENCES), predicted)


class Quadratic(eqx.Module):
    """A network of a user's own, for one row."""

    linear: eqx.nn.Linear
    square: eqx.nn.Linear
    dropout: eqx.nn.Dropout

    def __call__(self, x, key=None):
        x = self.dropout(x, key=key, inference=key is None)
        return self.linear(x) + self.square(x**2)


def quadratic(key, shape, n_outputs):
    first, second = jax.random.split(key)
    return Quadratic(
        eqx.nn.Linear(shape[0], n_outputs, key=first),
        eqx.nn.Linear(shape[0], n_outputs, key=second),
        eqx.nn.Dropout(0.1),
    )


@every_class
def test_networks_of_a_users_own(model, tmp_path):
    X, y = targets(model)
    model = clone(model).set_params(network=quadratic).fit(X, y)
    model.save(tmp_path / "model.dgme")
    with pytest.raises(dgme.ModelFileError, match=r"'quadratic'.*dgme.load\(path, network="):
        dgme.load(tmp_path / "model.dgme")
    loaded = dgme.load(tmp_path / "model.dgme", network=quadratic)
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))


def with_nan(x):
    x = x.copy()
    x.flat[7] = np.nan
    return x


BAD_SEQUENCES = {
    "a table": (SEQUENCES[:, 0], "An LSTM reads X of shape"),
    "four axes": (SEQUENCES[..., None], "An LSTM reads X of shape"),
    "NaN": (with_nan(SEQUENCES), "contains NaN"),
}


@pytest.mark.parametrize("case", BAD_SEQUENCES)
def test_bad_sequences_are_refused(case):
    X, words = BAD_SEQUENCES[case]
    model = dgme.DGMERegressor(**EM, network=LSTM)
    with pytest.raises(ValueError, match=words):
        model.fit(X, table()[1])
    assert not hasattr(model, "ensemble_")


def test_sequences_of_another_length_are_refused():
    model = dgme.DGMERegressor(**EM, network=nn.LSTM(hidden_size=4)).fit(SEQUENCES, table()[1])
    with pytest.raises(ValueError, match="5"):
        model.predict(SEQUENCES[:, :4])
    with pytest.raises(ValueError, match=r"rows of shape \(5, 2\), as in the fit"):
        model.predict(SEQUENCES[:, :, :1])


def test_sequences_need_a_network_for_them():
    X, y = SEQUENCES, table()[1]
    with pytest.raises(ValueError, match="dim 3"):
        dgme.DGMERegressor(**EM).fit(X, y)
    with pytest.raises(ValueError, match=r"An MLP reads X of shape \(n, features\)"):
        dgme.DGMERegressor(**EM, network=nn.MLP()).fit(X, y)


BAD_PARAMETERS = {
    "adversarial_eps": (dgme.DGMERegressor(**EM, adversarial_eps=-0.1), "adversarial_eps"),
    "epistemic": (dgme.DGMERegressor(**EM, epistemic="gut feeling"), "epistemic"),
    "nothing to drop": (dgme.DGMERegressor(**EM, epistemic="dropout"), "dropout is 0"),
    "MC dropout without": (dgme.MCDropoutRegressor(**ALONE, dropout=0), "dropout is 0"),
    "n_posterior_samples": (
        dgme.DGMERegressor(**EM | {"n_posterior_samples": 0}),
        "n_posterior_samples",
    ),
    "n_members": (dgme.DeepEnsembleRegressor(**ALONE, n_members=0), "n_members"),
    "noise_scale": (dgme.MCDropoutRegressor(**ALONE, noise_scale=0.0), "noise_scale"),
    "swag_rank": (dgme.MultiSWAGRegressor(**ALONE, swag_rank=1), "swag_rank"),
    "swag_epochs": (dgme.MultiSWAGRegressor(**ALONE, swag_epochs=1), "swag_epochs"),
    "swag_learning_rate": (
        dgme.MultiSWAGRegressor(**ALONE, swag_learning_rate=0.0),
        "swag_learning_rate",
    ),
    "swag_schedule": (dgme.MultiSWAGRegressor(**ALONE, swag_schedule="up"), "swag_schedule"),
    "epochs": (dgme.MDNRegressor(**ALONE | {"epochs": 0}), "epochs"),
    "patience": (dgme.MDNRegressor(**ALONE, patience=0), "patience"),
    "network": (dgme.MDNRegressor(**ALONE, network="lstm"), "network"),
    "spread_means": (dgme.MDNRegressor(**ALONE, spread_means="far"), "spread_means"),
    "Laplace of a mixture": (dgme.MDNRegressor(**ALONE, n_components=N + 1), "n_components"),
}


@pytest.mark.parametrize("case", BAD_PARAMETERS)
def test_bad_parameters_are_refused_by_name(case):
    model, words = BAD_PARAMETERS[case]
    with pytest.raises(ValueError, match=words):
        model.fit(*table())
    assert not hasattr(model, "ensemble_")


@classifiers
def test_one_class_is_refused(model):
    with pytest.raises(ValueError, match=r"at least two classes.*'only'"):
        clone(model).fit(table()[0], ["only"] * N)


def test_labels_that_are_unknown_are_refused():
    X, y = targets(CLASSIFIERS["DGME"])
    model = clone(CLASSIFIERS["DGME"]).fit(X, y)
    np.testing.assert_allclose(model.responsibilities(X, y).sum(axis=1), 1, rtol=1e-12)
    with pytest.raises(ValueError, match=r"class 'none'.*was not there in the fit"):
        model.responsibilities(X[:2], ["low", "none"])
    model.set_params(warm_start=True)
    with pytest.raises(ValueError, match="goes on with the classes"):
        model.fit(X, np.where(y == "low", "lowest", y))


def test_classes_without_weight_keep_their_column():
    X, y = targets(CLASSIFIERS["DGME"])
    weight = (y != "middle").astype(float)
    model = clone(CLASSIFIERS["DGME"]).fit(X, y, sample_weight=weight)
    probabilities = model.predict_proba(X)
    assert probabilities.shape == (N, 3)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, rtol=1e-12)
    assert probabilities[:, 2].mean() < probabilities[:, :2].mean(axis=0).min()


def test_classes_may_be_numbers_or_flags():
    X, y = targets(CLASSIFIERS["DGME"])
    for labels in (y == "low", np.where(y == "low", 3, 7)):
        model = clone(CLASSIFIERS["DGME"]).fit(X, labels)
        assert model.predict(X).dtype == labels.dtype
    with pytest.raises(ValueError, match="Unknown label type"):
        clone(CLASSIFIERS["DGME"]).fit(X, table()[1])


def test_docstrings_list_every_parameter():
    for model in [*REGRESSORS.values(), *CLASSIFIERS.values()]:
        text = type(model).__doc__
        assert "{parameters}" not in text
        for name in model.get_params():
            assert f"\n{name} : " in text, (type(model), name)
