"""scikit-learn's callbacks hear of every round or epoch, and may end the training."""

import importlib.util
import runpy
from collections import Counter

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from dgme import DGMERegressor, MDNRegressor
from dgme.estimators import _callbacks

pytest.importorskip("sklearn.callback")

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 2))
Y = X[:, 0] + 0.1 * RNG.normal(size=40)
SMALL = {"n_components": 2, "hidden_sizes": (4,), "random_state": 0}
BY_ROUNDS = DGMERegressor(**SMALL, n_rounds=3, epochs_per_round=2)
# Every ten epochs its callbacks are called, and all that were done are told.
BY_EPOCHS = MDNRegressor(**SMALL, epochs=20)


class Listener:
    """Remembers the tasks that began and ended, and asks to stop after one of them."""

    max_propagation_depth = 1

    def __init__(self, last=None):
        self.last, self.heard = last, []

    def setup(self, estimator, context):
        self.heard.append("setup")

    def teardown(self, estimator, context):
        self.heard.append("teardown")

    def on_fit_task_begin(self, estimator, context):
        self.heard.append(("begin", context.task_name, context.task_id))

    def on_fit_task_end(self, estimator, context):
        self.heard.append(("end", context.task_name, context.task_id))
        return self.heard[-1][1:] == self.last


@pytest.mark.parametrize(
    ("model", "step", "n_steps"), [(BY_ROUNDS, "round", 3), (BY_EPOCHS, "epoch", 20)]
)
def test_every_step_is_heard_of(model, step, n_steps):
    listener = Listener()
    clone(model).set_callbacks(listener).fit(X, Y)
    steps = [(what, step, i) for i in range(n_steps) for what in ("begin", "end")]
    assert listener.heard == [
        *("setup", ("begin", "fit", 0)),
        *steps,
        *(("end", "fit", 0), "teardown"),
    ]


def test_who_listens_changes_nothing():
    heard, alone = clone(BY_ROUNDS).set_callbacks(Listener()), clone(BY_ROUNDS)
    assert_array_equal(heard.fit(X, Y).predict(X), alone.fit(X, Y).predict(X))


@pytest.mark.parametrize(
    ("model", "last", "ends"),
    [
        (BY_ROUNDS, ("round", 1), lambda model: model.rounds_run_ == 2),
        (BY_EPOCHS, ("epoch", 4), lambda model: model.n_epochs_ == 10),
    ],
)
def test_a_callback_may_end_the_training(model, last, ends):
    listener = Listener(last)
    model = clone(model).set_callbacks(listener).fit(X, Y)
    assert ends(model)
    assert not model.converged_
    # All that began has ended.
    began, ended = (Counter(e[1:] for e in listener.heard if e[0] == k) for k in ("begin", "end"))
    assert began == ended


def test_a_failed_fit_leaves_nothing_open():
    listener = Listener()
    model = clone(BY_ROUNDS).set_params(epistemic="dropout").set_callbacks(listener)
    with pytest.raises(ValueError, match="dropout is 0"):
        model.fit(X, Y)
    assert listener.heard.count("setup") == listener.heard.count("teardown")


def test_a_search_hears_of_the_rounds_within(capsys):
    from sklearn.callback import ProgressBar

    listener = Listener()
    search = GridSearchCV(BY_ROUNDS, {"learning_rate": [0.01, 0.02]}, cv=2, refit=False)
    search.set_callbacks(listener, ProgressBar()).fit(X, Y)
    assert sum(each[1] == "round" for each in listener.heard if each[0] == "end") == 4 * 3
    assert "DGMERegressor - fit" in capsys.readouterr().out


def test_older_versions_of_scikit_learn_do_without(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    without = runpy.run_path(_callbacks.__file__)
    assert not hasattr(without["CallbackSupportMixin"], "set_callbacks")
    assert without["with_callbacks"](test_a_search_hears_of_the_rounds_within) is (
        test_a_search_hears_of_the_rounds_within
    )
