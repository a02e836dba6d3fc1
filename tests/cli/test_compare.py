import json
from functools import partial

import pytest

from dgme.cli import compare as module
from dgme.peers import GaussianProcessPeer

QUICK = ("--target", "price", "--folds", "5", "--preset", "fast", "--drop", "id", "empty")


def test_methods_meet_the_same_folds(house_model, dgme, monkeypatch):
    quick = {"gaussian-process": partial(GaussianProcessPeer, max_rows=20)}
    monkeypatch.setattr("dgme.peers.PEERS", quick)
    chosen = ("--methods", "dgme,gaussian-process")
    done = dgme("compare", house_model.train, *QUICK, *chosen, "--json")
    assert done.code == 0
    found = json.loads(done.out)
    assert (found["rows"], found["folds"]) == (145, 5)
    assert list(found["methods"]) == ["dgme", "gaussian-process"]
    for scores in found["methods"].values():
        assert 7 < scores["rmse"]["mean"] < 100
        assert 0.5 < scores["coverage_0.9"]["mean"] <= 1
        assert scores["seconds"]["sd"] >= 0


def test_what_was_done_before_ctrl_c_is_shown(house_model, dgme, monkeypatch):
    def interrupted(*_):
        good = {"rmse": 1.0, "log_score": -1.0, "crps": 0.5, "coverage_0.9": 0.9, "seconds": 2.0}
        yield "dgme", good
        yield "mdn", good | {"rmse": 2.0}
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "_cross_validated", interrupted)
    done = dgme("compare", house_model.train, *QUICK)
    assert done.code == 130
    assert "dgme" in done.out
    assert "2 ± 0" in done.out
    assert "deep-ensemble" not in done.out
    assert "Stopped" in done.err


def test_what_a_method_cannot_learn_is_told_with_its_name(house_model, dgme, monkeypatch):
    without_rows = {"gaussian-process": partial(GaussianProcessPeer, max_rows=0)}
    monkeypatch.setattr("dgme.peers.PEERS", without_rows)
    done = dgme("compare", house_model.train, *QUICK, "--methods", "gaussian-process")
    assert done.one_line, done
    assert "gaussian-process, fold 1: " in done.err


def test_what_is_not_installed_is_named(house_model, dgme, monkeypatch):
    monkeypatch.setattr("dgme.peers.find_spec", lambda name: None)
    done = dgme("compare", house_model.train, *QUICK, "--methods", "ngboost,lightgbm")
    assert done.code == 2
    assert "Not installed: ngboost, lightgbm" in done.err
    assert "pip install 'dgme[peers]'" in done.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--methods", "dgme,catboost"), "no 'catboost'. There are dgme, mdn"),
        (("--folds", "146"), "--folds 146 are more than the 145 rows"),
        (("--folds", "1"), "Must be >= 2"),
    ],
)
def test_what_cannot_be_done_is_told(house_model, dgme, arguments, words):
    done = dgme("compare", house_model.train, "--target", "price", *arguments)
    assert done.one_line
    assert words in done.err
