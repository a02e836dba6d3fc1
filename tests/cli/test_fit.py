import json
import signal

import numpy as np
import pytest

from dgme import TableRegressor, load
from dgme.cli._methods import METHODS, PRESETS, make
from dgme.rounds import Trouble


def test_it_tells_what_became_of_the_columns(house_model):
    done = json.loads(house_model.fitted)
    assert done["rows"] == 145
    assert done["rows_without_target"] == 5
    assert done["rows_held_out"] == 14
    kinds = {column["name"]: column["kind"] for column in done["columns"]}
    assert kinds["area"] == "numeric"
    assert kinds["town"] == "categorical"
    assert [c["features"] for c in done["columns"] if c["name"] in ("id", "empty")] == [[], []]
    assert sum(done["weights"]) == pytest.approx(1)
    assert done["stopped_by"] is None


def test_the_scores_are_those_of_the_held_out_rows(house_model):
    scores = json.loads(house_model.fitted)["scores"]
    # The noise has a standard deviation of 10, the targets one of 100.
    assert 7 < scores["rmse"] < 60
    assert -6.5 < scores["log_score"] < -3.4
    assert 0.5 < scores["coverage_0.9"] <= 1


def test_the_model_is_read_back(house_model):
    model = load(house_model.model)
    assert isinstance(model, TableRegressor)
    assert model.target_name_ == "price"


def test_people_see_tables(house_model, dgme, tmp_path, monkeypatch):
    monkeypatch.setattr(TableRegressor, "fit", _fit_by_loading(house_model.model, 9))
    done = dgme("fit", house_model.train, "--target", "price", "-o", tmp_path / "m.dgme")
    assert done.code == 0
    assert done.err == ""
    for words in ("dropped", "5 without a target left out", "90 % interval", "Note: Starved"):
        assert words in done.out


def _fit_by_loading(path, n_held_out):
    """A fit that takes no time, and warns."""
    import warnings

    def fit(self, X, y):
        vars(self).update(vars(load(path)))
        self.regressor_.held_out_rows_ = np.arange(n_held_out)
        warnings.warn(f"Starved components: 1. {Trouble.STARVED.value}", stacklevel=1)
        return self

    return fit


def test_ctrl_c_keeps_the_best_state(house_model, dgme, tmp_path, monkeypatch):
    fit = TableRegressor.fit

    def interrupted(self, X, y):
        signal.raise_signal(signal.SIGINT)
        return fit(self, X, y)

    monkeypatch.setattr(TableRegressor, "fit", interrupted)
    out = tmp_path / "model.dgme"
    done = dgme("fit", house_model.train, "--target", "price", "-o", out, "--json")
    assert done.code == 0
    assert "Ctrl-C: training ends at its best state" in done.err
    assert json.loads(done.out)["stopped_by"] == "Ctrl-C"
    assert load(out).regressor_.rounds_run_ == 1


def test_a_second_ctrl_c_leaves_nothing(house_model, dgme, tmp_path, monkeypatch):
    def interrupted(self, X, y):
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(TableRegressor, "fit", interrupted)
    done = dgme("fit", house_model.train, "--target", "price", "-o", tmp_path / "model.dgme")
    assert (done.code, done.out) == (130, "")
    assert list(tmp_path.iterdir()) == []


def test_time_runs_out(house_model, dgme, tmp_path):
    out = tmp_path / "model.dgme"
    limited = ("--time-limit", "1e-9", "--json", "-o", out)
    done = dgme("fit", house_model.train, "--target", "price", *limited)
    assert json.loads(done.out)["stopped_by"] == "time limit"
    assert load(out).regressor_.rounds_run_ == 1


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("preset", PRESETS)
def test_every_method_has_every_preset(method, preset):
    model = make(method, preset, validation=0.2, seed=3)
    model._validate_params()
    assert model.random_state == 3
    assert model.validation_fraction == (None if preset == "paper" else 0.2)


def test_the_paper_preset_is_that_of_the_tables():
    model = make("dgme", "paper", validation=0.1, seed=0)
    asked = ("n_components", "n_rounds", "epochs_per_round", "hidden_sizes", "learning_rate")
    assert [getattr(model, name) for name in asked] == [5, 10, 40, (50,), 0.01]
    assert model.epistemic == "none"
