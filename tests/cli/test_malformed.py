"""Every input that cannot be used ends in one line, and leaves no file behind."""

import os

import numpy as np
import pandas as pd
import pytest

from dgme import MDNRegressor, TableRegressor, load

ROWS = "".join(f"{i},{2 * i},red\n" for i in range(30))
GOOD = "a,price,colour\n" + ROWS

UNFIT = {
    "ragged": (GOOD + "1,2\n", "32"),
    "wrong encoding": (GOOD.encode() + "1,2,grün\n".encode("latin-1"), "UTF-8"),
    "missing target": (GOOD.replace("price", "prize"), "'prize'"),
    "duplicate columns": (GOOD.replace("colour", "a"), "'a'"),
    "empty": ("", "empty"),
    "no rows": ("a,price,colour\n", "no rows"),
    "target of text": (GOOD + "1,cheap,red\n", "'cheap'"),
    "target without values": ("a,price\n1,\n2,\n", "price"),
    "target alone": ("price\n1\n2\n", "no column beside the target"),
    "nothing to learn from": ("a,price\n" + "1,2\n" * 20, "'a'"),
    "target of long text": (GOOD + f"1,{'x' * 10_000},red\n", "xxx… in data row 31"),
    "infinite target": (GOOD + "1,inf,red\n", "price"),
    "too few rows": ("a,price\n1,2\n2,3\n3,4\n", "n_components=5"),
    "a model file": (b"\x08\x00\x00\x00\x00\x00\x00\x00{}", ""),
}


def write(folder, content):
    path = folder / "table.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize("case", UNFIT)
def test_tables_that_nothing_can_be_learned_from(dgme, tmp_path, case):
    content, words = UNFIT[case]
    out = tmp_path / "model.dgme"
    done = dgme("fit", write(tmp_path, content), "--target", "price", "-o", out)
    assert done.one_line, done
    assert words in done.err
    assert {path.name for path in tmp_path.iterdir()} == {"table.csv"}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--drop", "size"), "'size' is no column"),
        (("--drop", "price"), "'price' is the target"),
        (("--validation", "1"), "--validation"),
        (("--time-limit", "0"), "--time-limit"),
        (("--method", "magic"), "magic"),
        (("-o", "/nowhere/model.dgme"), "no folder /nowhere"),
        (("-o", "/"), "is a folder"),
    ],
)
def test_arguments_that_make_no_sense(dgme, tmp_path, monkeypatch, arguments, words):
    monkeypatch.chdir(tmp_path)
    done = dgme("fit", write(tmp_path, GOOD), "--target", "price", *arguments)
    assert done.one_line, done
    assert words in done.err
    assert {path.name for path in tmp_path.iterdir()} == {"table.csv"}


def test_a_table_that_is_not_there(dgme, tmp_path):
    for missing in (tmp_path / "none.csv", tmp_path):
        done = dgme("fit", missing, "--target", "price", "-o", tmp_path / "m.dgme")
        assert done.one_line
        assert str(missing) in done.err


@pytest.mark.skipif(getattr(os, "geteuid", lambda: 1)() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written(dgme, tmp_path):
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o500)
    done = dgme("fit", write(tmp_path, GOOD), "--target", "price", "-o", closed / "m.dgme")
    assert done.one_line
    assert "cannot be written" in done.err


UNPREDICTABLE = {
    "missing column": ("area\n50\n", "'town'"),
    "text among numbers": ("area,town\n50,Ulm\nlarge,Bonn\n", "'large'"),
    "ragged": ("area,town\n50,Ulm\n60\n", "3"),
    "no rows": ("area,town\n", "no rows"),
    "empty": ("", "empty"),
}


@pytest.mark.parametrize("command", ["predict", "evaluate"])
@pytest.mark.parametrize("case", UNPREDICTABLE)
def test_tables_that_do_not_fit_the_model(house_model, dgme, tmp_path, command, case):
    content, words = UNPREDICTABLE[case]
    table, out = write(tmp_path, content), tmp_path / "out.csv"
    more = ("-o", out) if command == "predict" else ()
    if command == "evaluate" and content:
        head, *lines = content.splitlines()
        table = write(tmp_path, "\n".join([f"price,{head}", *(f"1,{line}" for line in lines)]))
    done = dgme(command, house_model.model, table, *more)
    assert done.one_line, done
    assert words in done.err
    assert {path.name for path in tmp_path.iterdir()} == {"table.csv"}


def test_scores_need_targets(house_model, dgme, tmp_path):
    for content in ("area,town\n50,Ulm\n", "area,town,price\n50,Ulm,\n"):
        done = dgme("evaluate", house_model.model, write(tmp_path, content))
        assert done.one_line
        assert "price" in done.err


@pytest.mark.parametrize("command", ["predict", "evaluate", "info", "export"])
def test_files_that_hold_no_model(house_model, dgme, tmp_path, command):
    cut = tmp_path / "cut.dgme"
    cut.write_bytes(house_model.model.read_bytes()[:5000])
    table = [house_model.test] if command in ("predict", "evaluate") else []
    more = ("--to", "onnx", "-o", tmp_path / "out.onnx") if command == "export" else ()
    for path in (house_model.test, cut, tmp_path / "none.dgme", tmp_path):
        done = dgme(command, path, *table, *more)
        assert done.one_line, done
        assert str(path) in done.err


@pytest.mark.parametrize("command", ["fit", "predict", "evaluate", "evaluate model", "export"])
def test_what_is_read_is_not_overwritten(house_model, dgme, tmp_path, command):
    model = tmp_path / "model.dgme"
    model.write_bytes(house_model.model.read_bytes())
    table = write(tmp_path, house_model.test.read_bytes())
    arguments = {
        "fit": ("fit", table, "--target", "price", "-o", table),
        "predict": ("predict", model, table, "-o", tmp_path / ".." / tmp_path.name / table.name),
        "evaluate": ("evaluate", model, table, "--report", table),
        "evaluate model": ("evaluate", model, table, "--report", model),
        "export": ("export", model, "--to", "onnx", "-o", model),
    }
    done = dgme(*arguments[command])
    assert done.one_line, done
    assert "would overwrite" in done.err
    assert table.read_bytes() == house_model.test.read_bytes()
    assert model.read_bytes() == house_model.model.read_bytes()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names")
def test_devices_are_not_replaced(house_model, dgme, tmp_path):
    pipe = tmp_path / "pipe.csv"
    os.mkfifo(pipe)
    done = dgme("predict", house_model.model, house_model.test, "-o", pipe)
    assert done.one_line, done
    assert "pipe or a device" in done.err
    with pytest.raises(OSError, match="pipe or a device"):
        load(house_model.model).save(pipe)
    assert pipe.is_fifo()


def test_a_model_that_cannot_predict_is_not_written(dgme, tmp_path):
    rows = "".join(f"{i % 7},{i % 5}e300,red\n" for i in range(30))
    table = write(tmp_path, "a,price,colour\n" + rows)
    limited = ("--preset", "fast", "--time-limit", "1e-9", "-o", tmp_path / "model.dgme")
    assert dgme("fit", table, "--target", "price", *limited).one_line
    assert {path.name for path in tmp_path.iterdir()} == {"table.csv"}


def test_models_whose_rows_no_table_holds(dgme, tmp_path):
    X, y = np.arange(20.0).reshape(10, 2), np.arange(10.0)
    frame, settings = (
        pd.DataFrame(X, columns=["a", "b"]),
        {"epochs": 1, "validation_fraction": None},
    )
    table, path = tmp_path / "table.csv", tmp_path / "model.dgme"
    frame.to_csv(table)
    for rows, targets, words in (
        (X, y, "trained on an array"),
        (frame, np.column_stack([y, -y]), "several targets"),
    ):
        TableRegressor(MDNRegressor(**settings)).fit(rows, targets).save(path)
        assert dgme("info", path).code == 0
        done = dgme("predict", path, table)
        assert done.one_line, done
        assert words in done.err


def test_a_model_of_arrays_knows_no_columns(dgme, tmp_path, house_model):
    load(house_model.model).regressor_.save(tmp_path / "bare.dgme")
    done = dgme("predict", tmp_path / "bare.dgme", house_model.test)
    assert done.one_line
    assert "holds a DGMERegressor, which knows no columns" in done.err
