import numpy as np
import optuna
import pytest
from optuna.trial import FixedTrial
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import dgme
from dgme import nn
from dgme.search import suggest

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 2))
Y = X[:, 0] + 0.1 * RNG.normal(size=60)
ESTIMATORS = [
    dgme.DGMERegressor(n_rounds=1),
    dgme.MDNRegressor(epochs=2),
    dgme.MCDropoutRegressor(epochs=2),
    dgme.DeepEnsembleRegressor(epochs=2),
    dgme.MultiSWAGRegressor(epochs=2, swag_epochs=2),
    dgme.DGMEClassifier(n_rounds=1),
]


class Corner(FixedTrial):
    """Proposes the lowest or the highest of every range."""

    def __init__(self, end):
        super().__init__({})
        self.end = end

    def _suggest(self, name, distribution):
        choices = getattr(distribution, "choices", None)
        ends = (distribution.low, distribution.high) if choices is None else choices
        return ends[self.end]


@pytest.mark.parametrize("end", [0, -1])
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda each: type(each).__name__)
def test_both_ends_of_the_space_are_allowed(estimator, end):
    found = suggest(Corner(end), estimator)
    assert type(found) is type(estimator)
    found._validate_params()
    assert isinstance(found._design(), nn.MLP)
    changed = {name for name, v in estimator.get_params().items() if v != found.get_params()[name]}
    assert {"hidden_sizes", "learning_rate", "batch_size"} <= changed
    assert not {"n_rounds", "epochs", "n_members", "random_state"} & changed


def test_a_study_ends_with_the_best_estimator():
    def negative_crps(model, X, y):
        return -model.predict_dist(X).crps(y).mean()

    def objective(trial):
        model = suggest(trial, small).set_params(**quick)
        return cross_val_score(model, X, Y, cv=2, scoring=negative_crps).mean()

    small = dgme.DGMERegressor(n_rounds=1, random_state=0)
    # What needs no compilation stays as it was suggested.
    quick = {"hidden_sizes": (4,), "activation": "relu", "dropout": 0.0, "n_components": 2}
    quick |= {"batch_size": 32, "epochs_per_round": 2}
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.RandomSampler(seed=0))
    study.optimize(objective, n_trials=3)
    assert len(study.trials) == 3
    assert study.best_value < 0
    best, again = (suggest(study.best_trial, small) for _ in range(2))
    assert best.learning_rate == study.best_params["learning_rate"]
    assert best.get_params() == again.get_params()


def test_a_network_of_its_own_keeps_its_shape():
    found = suggest(Corner(-1), dgme.MDNRegressor(network=nn.MLP((7,))))
    assert found.network == nn.MLP((7,))
    assert found.hidden_sizes == (50,)
    assert found.batch_size == 256


def test_what_is_around_an_estimator_is_refused():
    pipeline = make_pipeline(StandardScaler(), dgme.DGMERegressor())
    with pytest.raises(TypeError, match=r"one of dgme.*is a Pipeline.*the one inside"):
        suggest(Corner(0), pipeline)
