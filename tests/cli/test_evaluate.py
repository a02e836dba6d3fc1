import json
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from dgme import load, metrics, tables
from dgme.evaluation import evaluate


def test_scores_are_those_of_all_rows(house_model, dgme, monkeypatch):
    monkeypatch.setattr("dgme.cli.evaluate._ROWS_AT_ONCE", 16)
    done = dgme("evaluate", house_model.model, house_model.test, "--json")
    assert (done.code, done.err) == (0, "")
    scores = json.loads(done.out)
    rows, y = tables.split_target(tables.read(house_model.test), "price")
    law = load(house_model.model).predict_dist(rows)
    assert scores["n_rows"] == 40
    assert scores["log_score"]["value"] == pytest.approx(-metrics.nll(law, y))
    assert scores["crps"]["value"] == pytest.approx(metrics.crps(law, y))


def test_people_read_a_list(house_model, dgme):
    done = dgme("evaluate", house_model.model, house_model.train)
    assert done.code == 0
    assert done.err == "5 rows without a target are left out.\n"
    rows, y = tables.split_target(tables.read(house_model.train), "price")
    known = np.isfinite(y)
    law = load(house_model.model).predict_dist(rows)[known]
    assert done.out == f"{evaluate(law, y[known])}\n"


def test_a_report_is_written(house_model, dgme, tmp_path, monkeypatch):
    written = []
    room = SimpleNamespace(write=lambda *arguments: written.append(arguments))
    monkeypatch.setitem(sys.modules, "dgme.report", room)
    page = tmp_path / "page.html"
    done = dgme("evaluate", house_model.model, house_model.test, "--report", page)
    assert done.err == f"wrote {page}\n"
    ((path, model, rows, y),) = written
    assert (path, model.target_name_, rows.num_rows, len(y)) == (page, "price", 40, 40)
