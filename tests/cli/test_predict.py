import csv
import io

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from dgme import GaussianMixture, load, tables
from dgme.cli._columns import Columns


@pytest.fixture
def law():
    rng = np.random.default_rng(0)
    means = rng.normal(size=(300, 4))
    return GaussianMixture([0.1, 0.2, 0.3, 0.4], means, rng.uniform(0.1, 2, (300, 4)), [0, 0, 1, 1])


def read(text):
    rows = list(csv.DictReader(io.StringIO(text)))
    return {name: [row[name] for row in rows] for name in rows[0]}


def test_columns_are_those_of_the_law(law, monkeypatch):
    monkeypatch.setattr("dgme.cli._columns._ENTRIES", 400)  # so that rows are taken in parts
    found = Columns(quantiles=(0.25,), intervals=(0.5, 0.9)).of(law)
    np.testing.assert_array_equal(found["mean"], law.mean())
    np.testing.assert_array_equal(found["median"], law.median())
    parts = found["aleatoric_std"] ** 2 + found["epistemic_std"] ** 2
    np.testing.assert_allclose(parts, found["std"] ** 2)
    np.testing.assert_array_equal(found["quantile_0.25"], law.ppf(0.25))
    np.testing.assert_array_equal(found["lower_0.5"], found["quantile_0.25"])
    np.testing.assert_array_equal([found["lower_0.9"], found["upper_0.9"]], law.interval(0.9))


def test_the_mixture_is_whole(law):
    found = Columns(mixture=True).of(law)
    again = GaussianMixture(
        *(
            np.stack([found[f"{part}_{k}"] for k in range(4)], 1)
            for part in ("weight", "mean", "scale")
        )
    )
    np.testing.assert_array_equal(again.logpdf(0.3), law.logpdf(0.3))


def test_rows_go_to_standard_output(house_model, dgme):
    done = dgme("predict", house_model.model, house_model.test, "--keep", "id,price")
    assert (done.code, done.err) == (0, "")
    found = read(done.out)
    assert list(found)[:2] == ["id", "price"]
    assert found["id"] == [f"house {i}" for i in range(40)]
    law = load(house_model.model).predict_dist(tables.read(house_model.test))
    np.testing.assert_allclose(np.array(found["mean"], float), law.mean())
    lower, _ = law.interval(0.9)
    np.testing.assert_allclose(np.array(found["lower_0.9"], float), lower)


def test_a_file_holds_what_standard_output_does(house_model, dgme, tmp_path):
    out = tmp_path / "rows.csv"
    arguments = ("predict", house_model.model, house_model.test, "--keep", "id")
    assert dgme(*arguments, "-o", out).code == 0
    assert dgme(*arguments).out == out.read_text()


def test_close_levels_have_columns_of_their_own(house_model, dgme):
    levels = ("--quantiles", "0.1234567,0.12345678")
    found = read(dgme("predict", house_model.model, house_model.test, *levels).out)
    assert {"quantile_0.1234567", "quantile_0.12345678"} < set(found)


def test_lists_cannot_be_kept_as_text(house_model, dgme, tmp_path):
    rows = tables.read(house_model.test).append_column("rooms", [[[1, 2]] * 40])
    table = tmp_path / "rows.parquet"
    tables.write(table, rows)
    for more in ((), ("-o", tmp_path / "out.csv")):
        done = dgme("predict", house_model.model, table, "--keep", "rooms", *more)
        assert done.one_line, done
        assert "'rooms', of type list<" in done.err
    assert {path.name for path in tmp_path.iterdir()} == {"rows.parquet"}
    kept = dgme("predict", house_model.model, table, "--keep", "all", "-o", tmp_path / "out.arrow")
    assert kept.code == 0


def test_batches_join_in_order(house_model, dgme, tmp_path, monkeypatch):
    monkeypatch.setattr("dgme.tables._read._ROWS_AT_ONCE", 16)
    rows = tmp_path / "rows.parquet"
    pa.parquet.write_table(tables.read(house_model.test), rows)
    out = tmp_path / "out.parquet"
    arguments = ("-o", out, "--keep", "all", "--quantiles", "0.05,0.5", "--intervals", "0.8")
    done = dgme("predict", house_model.model, rows, *arguments)
    assert (done.code, done.out, done.err) == (0, "", "")
    found = tables.read(out)
    assert found["id"].to_pylist() == [f"house {i}" for i in range(40)]
    law = load(house_model.model).predict_dist(tables.read(house_model.test))
    np.testing.assert_allclose(found["quantile_0.05"], law.ppf(0.05))
    assert found.column_names[-2:] == ["lower_0.8", "upper_0.8"]


def test_trained_parameters_alone_know_no_doubt(house_model, dgme):
    arguments = ("predict", house_model.model, house_model.test)
    certain, doubtful = (
        np.array(read(dgme(*arguments, *more).out)["epistemic_std"], float)
        for more in (("--samples", 0), ())
    )
    assert (certain < 1e-9).all()
    assert (doubtful > 1e-3).all()


def test_what_the_model_does_not_know_is_passed_over(house_model, dgme, tmp_path):
    columns = tables.read(house_model.test)
    towns = ["Paris", *columns["town"].to_pylist()[1:]]
    changed = columns.drop_columns(["price", "town", "empty"]).append_column("town", [towns])
    table = tmp_path / "rows.csv"
    tables.write(table, changed.append_column("news", [[1] * 40]))
    done = dgme("predict", house_model.model, table)
    assert done.code == 0
    assert done.err == "Column 'town': 1 row has a value that training did not see.\n"
    before = read(dgme("predict", house_model.model, house_model.test).out)["mean"]
    after = read(done.out)["mean"]
    assert after[1:] == before[1:]
    assert after[0] != before[0]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--keep", "colour"), "no column 'colour'"),
        (("--quantiles", "5"), "5 does not lie strictly between 0 and 1"),
        (("--intervals", "0.5,x"), "'x' is no number"),
        (("--out", "rows.xlsx"), "rows.xlsx"),
        (("--out", "/nowhere/rows.csv"), "no folder /nowhere"),
        (("--out", "/"), "is a folder"),
    ],
)
def test_what_cannot_be_done_is_told(house_model, dgme, arguments, words):
    done = dgme("predict", house_model.model, house_model.test, *arguments)
    assert done.one_line
    assert words in done.err


def test_kept_columns_must_not_clash(house_model, dgme, tmp_path):
    table = tmp_path / "rows.csv"
    tables.write(table, tables.read(house_model.test).rename_columns({"id": "mean"}))
    done = dgme("predict", house_model.model, table, "--keep", "mean")
    assert done.one_line
    assert "'mean' has the name of a prediction" in done.err
