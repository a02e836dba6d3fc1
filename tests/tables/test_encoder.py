import datetime as dt
import decimal
import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dgme import TableEncoder, TableError, tables

NAN = float("nan")


def fit(values, name="a", **settings):
    """An encoder of a table of one column, beside which there is one of numbers."""
    n = len(values)
    return TableEncoder(**settings).fit(pa.table({name: values, "x": np.arange(n) * 0.5}))


def encoded(encoder, values):
    """What the encoder makes of the column, by feature."""
    rows = encoder.transform(pa.table({"a": values, "x": np.zeros(len(values))}))
    return dict(zip(encoder.get_feature_names_out(), rows.T.tolist(), strict=True))


def dates(*texts):
    return pa.array([text and dt.date.fromisoformat(text) for text in texts])


# What a column holds, what it is taken for, and how its first values are encoded.
LOOKS = {
    "numbers": ([3.0, 1.0, 2.5], "numeric", {"a": [3, 1, 2.5]}),
    "few numbers": ([1, 0, 1], "numeric", {"a": [1, 0, 1]}),
    "large integers": ([2**62, -(2**62), 5], "numeric", {"a": [2**62, -(2**62), 5]}),
    "gaps": ([1.0, None, 4.0], "numeric", {"a": [1, 2.5, 4], "a_missing": [0, 1, 0]}),
    "NaN": ([1.0, NAN, 4.0], "numeric", {"a": [1, 2.5, 4], "a_missing": [0, 1, 0]}),
    "infinite": ([1.0, -np.inf, 4.0], "numeric", {"a": [1, 2.5, 4], "a_missing": [0, 1, 0]}),
    "decimals": ([decimal.Decimal("1.5"), decimal.Decimal("2")], "numeric", {"a": [1.5, 2]}),
    "durations": ([dt.timedelta(minutes=1), dt.timedelta(0)], "numeric", {"a": [60, 0]}),
    "text of numbers": (["1", " 2.5", "?"], "numeric", {"a": [1, 2.5, 1.75]}),
    "thousands": (["1,234", "-5,000,000.5", "7"], "numeric", {"a": [1234, -5000000.5, 7]}),
    "decimal commas": (["1,5", "1.234,25", "-7"], "numeric", {"a": [1.5, 1234.25, -7]}),
    "money": (["$5", "-€1,200.50", "3 £"], "numeric", {"a": [5, -1200.5, 3]}),
    "percent": (["12 %", "7.5%", "0%"], "numeric", {"a": [12, 7.5, 0]}),
    "codes": (["007", "012", "007"], "categorical", {"a=007": [1, 0, 1], "a=012": [0, 1, 0]}),
    "booleans": ([True, False, True], "boolean", {"a": [1, 0, 1]}),
    "booleans with gaps": ([True, False, None], "boolean", {"a": [1, 0, 0.5]}),
    "yes and no": (["Yes", "no", "YES "], "boolean", {"a": [1, 0, 1]}),
    "levels": (["u", "v", " u"], "categorical", {"a=u": [1, 0, 1], "a=v": [0, 1, 0]}),
    "levels with gaps": (
        ["u", "v", "NA", "u"],
        "categorical",
        {"a=u": [1, 0, 0, 1], "a=v": [0, 1, 0, 0], "a_missing": [0, 0, 1, 0]},
    ),
    "categories": (
        pa.array([2, 10, 2]).dictionary_encode(),
        "categorical",
        {"a=2": [1, 0, 1], "a=10": [0, 1, 0]},
    ),
    "dates": (dates("2024-01-01", "2024-01-01", "2024-01-08"), "date", {"a_days": [0, 0, 7]}),
    "text of dates": (["2024-01-01", "2024-01-08"], "date", {"a_days": [0, 7]}),
    "moments": (["2024-01-01 00:00", "2024-01-01T06:00"], "date", {"a_hour_sin": [0, 1]}),
    "moments in a zone": (["2024-01-01T02:00+02:00", "2024-01-01T06:00Z"], "date", {}),
    "times of the day": (["6:00", "18:00"], "date", {"a_hour_sin": [1, -1]}),
    "dates with gaps": (
        dates("2024-01-01", None, "2024-01-02"),
        "date",
        {"a_days": [0, 1, 1], "a_missing": [0, 1, 0]},
    ),
    "constant": ([5, 5, 5], "constant", None),
    "constant text": (["x", "x "], "constant", None),
    "empty": ([None, None], "empty", None),
    "marks of gaps": (["NA", "?", " - "], "empty", None),
    "row numbers": ([1, 2, 3], "identifier", None),
    "unique text": (["q1", "w2", "e3"], "identifier", None),
    "free text": (["one two", "three four", "five six"], "text", None),
    "other dates": (["31/12/2024", "30/12/2024"], "text", None),
    "lists": ([[1], [2, 3]], "nested", None),
    "intervals": (pa.array([(1, 2, 3)] * 2, pa.month_day_nano_interval()), "nested", None),
    "bytes": ([b"\xff", b"\xfe"], "nested", None),
}


@pytest.mark.parametrize("case", LOOKS)
def test_columns_are_what_they_look_like(case):
    values, kind, expected = LOOKS[case]
    encoder = fit(values)
    column = encoder.columns_[0]
    assert (column.name, column.kind) == ("a", kind)
    if expected is None:
        assert column.features == ()
        assert column.note
        assert list(encoder.get_feature_names_out()) == ["x"]
    else:
        found = encoded(encoder, values)
        for name, numbers in expected.items():
            np.testing.assert_allclose(found[name], numbers, atol=1e-12)


@pytest.mark.parametrize("case", LOOKS)
def test_an_encoder_can_be_written_down(case):
    encoder = fit(LOOKS[case][0])
    facts, arrays = encoder.dump_state()
    again = TableEncoder()
    again.load_state(json.loads(json.dumps(facts)), arrays)
    assert again.columns_ == encoder.columns_
    assert list(again.feature_names_in_) == ["a", "x"]


def test_numbers_named_as_identifiers_are_dropped_where_they_are_unique():
    for name in ("id", "customer_id", "orderId", "UUID", "Row.Key"):
        assert fit([30, 10, 20], name).columns_[0].kind == "identifier"
        assert fit([30, 10, 30], name).columns_[0].kind == "numeric"
    for name in ("paid", "humidity", "idle"):
        assert fit([30, 10, 20], name).columns_[0].kind == "numeric"


def test_names_of_features_are_distinct():
    table = pa.table({"a": [1.5, None, 2.5], "a_missing": [2.5, 1.5, 0.0]})
    encoder = TableEncoder().fit(table)
    assert list(encoder.get_feature_names_out()) == ["a", "a_missing", "a_missing_"]


def test_the_only_column_is_no_row_number():
    assert TableEncoder().fit(pa.table({"a": [1, 2, 3]})).columns_[0].kind == "numeric"


def test_rare_levels_share_a_feature_and_many_have_a_frequency():
    values = [f"often {i}" for i in range(3) for _ in range(20)] + ["rare", "seldom"]
    encoder = fit(values)
    found = encoded(encoder, ["often 1", "rare", "seldom", "new"])
    np.testing.assert_array_equal(found["a=often 1"], [1, 0, 0, 0])
    np.testing.assert_array_equal(found["a=other"], [0, 1, 1, 1])
    many = fit([f"{i:x}z" for i in range(60) for _ in range(i + 2)])
    assert len(many.columns_[0].levels) == 24
    assert many.columns_[0].levels[0] == "3bz"
    found = encoded(many, ["3bz", "0z", "new"])
    np.testing.assert_allclose(found["a_frequency"], np.log1p([61, 2, 0]))
    np.testing.assert_array_equal(found["a=other"], [0, 1, 1])


def test_what_tells_nothing_is_encoded_as_the_mean_of_the_training_rows():
    encoder = fit(["u", "v", "v", "v"])
    means = encoder.transform(pa.table({"a": ["u", "v", "v", "v"], "x": [0.0] * 4})).mean(axis=0)
    found = encoder.transform(pa.table({"a": ["new", None], "x": [0.0, None]}))
    np.testing.assert_array_equal(found[:, :2], [means[:2]] * 2)
    assert found[1, 2] == 0.75  # the median of the training rows
    assert encoder.count_unseen(pa.table({"a": ["new", None, "u", "new"], "x": [0] * 4})) == {
        "a": 2
    }


def test_dates_go_round_the_year_the_week_and_the_day():
    moments = np.arange("2023-01-01", "2025-01-01", 7, dtype="M8[h]")
    encoder = fit(moments.astype("M8[us]"))
    found = encoded(encoder, moments.astype("M8[us]"))
    days = (moments - moments[0]).astype(float) // 24
    np.testing.assert_array_equal(found["a_days"], days)
    for part, share in {
        "weekday": [moment.weekday() / 7 for moment in moments.tolist()],
        "hour": [moment.hour / 24 for moment in moments.tolist()],
        "yearday": [
            (moment.timetuple().tm_yday - 1) / (366 if moment.year == 2024 else 365)
            for moment in moments.tolist()
        ],
    }.items():
        np.testing.assert_allclose(found[f"a_{part}_sin"], np.sin(2 * np.pi * np.array(share)))
        np.testing.assert_allclose(found[f"a_{part}_cos"], np.cos(2 * np.pi * np.array(share)))


# One table as each library holds it.
PANDAS = pd.DataFrame(
    {
        "n": [1.5, None, -2.0, 4.0],
        "i": [4, 4, 2, 7],
        "b": [True, False, True, True],
        "c": ["u", "v", None, "u"],
        "f": pd.Categorical(["k", "l", "k", "l"]),
        "d": pd.to_datetime(["2024-01-01", "2024-02-01", "2024-03-01", None]),
        "m": ["$1,000", "$2", "$3", None],
    },
    index=[9, 8, 7, 6],
)
FRAMES = {
    "pandas": PANDAS,
    "objects": PANDAS.astype({"c": object, "b": object, "m": object}),
    "polars": pl.from_pandas(PANDAS),
    "Arrow": pa.Table.from_pandas(PANDAS, preserve_index=False),
    "a batch": pa.RecordBatch.from_pandas(PANDAS, preserve_index=False),
    "shuffled": PANDAS[["m", "d", "f", "c", "b", "i", "n"]].assign(more="ignored"),
}


@pytest.mark.parametrize("name", FRAMES)
def test_frames_of_all_libraries_are_the_same(name):
    encoder = TableEncoder().fit(PANDAS)
    np.testing.assert_array_equal(encoder.transform(FRAMES[name]), encoder.transform(PANDAS))
    again = {column.name: column for column in TableEncoder().fit(FRAMES[name]).columns_}
    assert [again[column.name] for column in encoder.columns_] == list(encoder.columns_)


def test_output_can_be_a_frame():
    rows = TableEncoder().set_output(transform="pandas").fit_transform(PANDAS)
    assert list(rows.index) == [9, 8, 7, 6]
    assert list(rows.columns)[:3] == ["n", "n_missing", "i"]


def test_names_of_columns_may_be_numbers():
    frame = pd.DataFrame({0: [1.0, 2.5], 1: ["u", "v"]}).assign(**{"1": [0, 1]})
    with pytest.raises(TableError, match="columns of equal names"):
        TableEncoder().fit(frame)
    encoder = TableEncoder().fit(frame.iloc[:, :1])
    assert list(encoder.feature_names_in_) == ["0"]


def test_an_array_is_a_table_of_numbers():
    X = np.array([[1.0, 5.0], [2.0, 5.0], [3.0, 5.0]])
    encoder = TableEncoder().fit(X)
    np.testing.assert_array_equal(encoder.transform(X), X)
    gaps = TableEncoder().fit(np.array([[1.0, NAN], [2.0, 3.0]]))
    np.testing.assert_array_equal(gaps.transform([[NAN, 7], [0, NAN]]), [[1.5, 7, 0], [0, 3, 1]])
    assert list(gaps.get_feature_names_out(["u", "v"])) == ["u", "v", "v_missing"]


MISFITS = {
    "text for numbers": ({"n": ["1", "abc", "x"]}, "'n' holds 'abc', but in training it held num"),
    "dates for numbers": ({"n": dates("2024-01-01")}, r"'n' holds '2024-01-01.*held numbers"),
    "lists for numbers": ({"n": [[1]]}, "'n' holds 'values of type list<"),
    "numbers for booleans": ({"b": [1, 0, 2]}, r"'b' holds 2.0, .* held true and false"),
    "text for booleans": ({"b": ["yes", "maybe"]}, r"'b' holds 'maybe', .* held true and false"),
    "numbers for dates": ({"d": [1.0]}, r"'d' holds 1.0, .* held dates such as 2024-12-31"),
    "other dates": ({"d": ["2024-01-01", "1/2/24"]}, "'d' holds '1/2/24'"),
    "a missing column": ({"i": None}, "lacks column 'i', which the model was trained with. It has"),
    "missing columns": ({"i": None, "c": None}, "lacks columns 'i', 'c'"),
}


@pytest.mark.parametrize("case", MISFITS)
def test_other_types_at_prediction_are_told(case):
    changes, words = MISFITS[case]
    n = (
        max(len(values) for values in changes.values() if values is not None)
        if any(values is not None for values in changes.values())
        else 1
    )
    table = FRAMES["Arrow"].take([0] * n)
    for name, values in changes.items():
        table = table.drop_columns(name)
        if values is not None:
            table = table.append_column(name, pa.array(values))
    with pytest.raises(TableError, match=words):
        TableEncoder().fit(PANDAS).transform(table)


def test_types_that_mean_the_same_are_taken():
    encoder = TableEncoder().fit(PANDAS)
    text = {
        "n": ["1.5", "", "-2", "4"], "i": ["4", "4", "2", "7"], "b": ["yes", "no", "1", "true"],
        "c": ["u", "v", "", "u"], "f": ["k", "l", "k", "l"], "m": [1000, 2, 3, None],
        "d": ["2024-01-01T00:00:00Z", "2024-02-01", "2024-03-01 00:00:00.0", "null"],
    }  # fmt: skip
    np.testing.assert_array_equal(encoder.transform(pa.table(text)), encoder.transform(PANDAS))


def test_kinds_can_be_chosen():
    table = pa.table({"zip": [1, 2, 1], "b": [0, 1, 0], "when": ["u", "v", "u"], "x": [1, 4, 3]})
    kinds = {"zip": "categorical", "b": "boolean", "when": "ignored"}
    encoder = TableEncoder(kinds).fit(table)
    assert [column.kind for column in encoder.columns_][:3] == list(kinds.values())
    assert list(encoder.get_feature_names_out()) == ["zip=1", "zip=2", "b", "x"]
    with pytest.raises(TableError, match="'when' cannot be numeric: it holds 'u'"):
        TableEncoder({"when": "numeric"}).fit(table)
    with pytest.raises(ValueError, match="kinds names a column 'zap', but there are 'zip', 'b'"):
        TableEncoder({"zap": "numeric"}).fit(table)
    with pytest.raises(ValueError, match=r"kinds\['b'\] must be one of numeric, .* but is 'flag'"):
        TableEncoder({"b": "flag"}).fit(table)


def test_tables_without_use_are_refused():
    with pytest.raises(TableError, match="No column tells rows apart: 'a' is 1 in all rows"):
        TableEncoder().fit(pa.table({"a": [1, 1]}))
    with pytest.raises(TableError, match="0 rows"):
        TableEncoder().fit(pa.table({"a": pa.array([], "int8")}))
    with pytest.raises(TableError, match="'a' mixes values of several types"):
        TableEncoder().fit(pd.DataFrame({"a": [1, "x", 2.5]}))
    with pytest.raises(TypeError, match=r"lazy\. Collect it first"):
        TableEncoder().fit(pl.LazyFrame({"a": [1, 2]}))


TEXTS = ["", "NA", "1", "2.5", "-3", "1,000", "u", "v", "yes", "no", "True", "inf", "007"]


@settings(deadline=None, max_examples=40, derandomize=True)
@given(st.lists(st.lists(st.sampled_from(TEXTS), min_size=6, max_size=6), min_size=2, max_size=4))
def test_a_stream_is_encoded_as_the_table_that_was_trained_on(tmp_path_factory, columns):
    """Whatever a file holds, and whatever type Arrow makes of it."""
    rows = zip(*columns, strict=True)
    lines = [",".join(f'"{field}"' for field in row) for row in rows]
    names = ",".join("abcd"[: len(columns)])
    path = tmp_path_factory.mktemp("stream") / "t.csv"
    path.write_text("\n".join([names, *lines, ""]))
    whole = tables.read(path)
    try:
        encoder = TableEncoder().fit(whole)
    except TableError:
        return
    batches = tables.read_batches(path, encoder.types_)
    streamed = np.concatenate([encoder.transform(batch) for batch in batches])
    np.testing.assert_array_equal(streamed, encoder.transform(whole))
    row_by_row = [encoder.transform(whole.slice(i, 1)) for i in range(len(whole))]
    np.testing.assert_array_equal(streamed, np.concatenate(row_by_row))
