import json
import struct
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from safetensors.numpy import load_file, save_file
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import dgme
from dgme import DGMERegressor, ModelFileError, TableRegressor, io, tables

N = 120
RNG = np.random.default_rng(0)
FRAME = pd.DataFrame(
    {
        "id": np.arange(1, N + 1),
        "size": np.where(RNG.uniform(size=N) < 0.1, np.nan, RNG.normal(size=N)),
        "town": RNG.choice(["Aa", "Bb", "Öö"], N),
        "sold": pd.date_range("2024-01-01", periods=N).strftime("%Y-%m-%d"),
        "price": RNG.normal(100, 10, N),
    }
)
SMALL = DGMERegressor(
    n_components=2, n_rounds=2, epochs_per_round=3, hidden_sizes=(4,), random_state=0
)


@pytest.fixture(scope="module")
def model():
    return TableRegressor(SMALL, kinds={"id": "ignored"}).fit(FRAME, "price")


@pytest.fixture
def path(model, tmp_path):
    path = tmp_path / "model.dgme"
    model.save(path)
    return path


def test_a_table_is_what_its_encoder_and_its_regressor_make_of_it(model):
    assert model.target_name_ == "price"
    assert list(model.feature_names_in_) == ["id", "size", "town", "sold"]
    assert model.n_features_in_ == 4
    by_hand = clone(SMALL).fit(model.encoder_.transform(FRAME), FRAME["price"])
    law, other = model.predict_dist(FRAME), by_hand.predict_dist(model.encoder_.transform(FRAME))
    np.testing.assert_array_equal(law.means, other.means)
    np.testing.assert_array_equal(model.predict(FRAME), law.mean())
    assert model.predict_interval(FRAME[:5]).shape == (5, 2)


def test_the_target_may_come_in_many_ways(model):
    expected = model.predict(FRAME)
    X = FRAME.drop(columns="price")
    for name, y in {
        "price": FRAME["price"],
        "cost": pl.Series("cost", FRAME["price"].to_numpy()),
        "value": pa.table({"value": FRAME["price"]}),
        None: FRAME["price"].to_numpy(),
    }.items():
        again = clone(model).fit(X, y)
        assert again.target_name_ == name
        np.testing.assert_array_equal(again.predict(FRAME), expected)


def table_of(values):
    return pa.table({"a": np.arange(len(values)) * 0.5, "Price": values})


TARGETS = {
    "another name": (table_of([1.0, 2.0]), "Did you mean 'Price'. The table has 'a', 'Price'"),
    "text": (table_of(["1", "1,234"]), "holds '1,234' in data row 2, which is no plain number. Wr"),
    "money": (table_of(["$5", "6"]), "holds '[$]5' in data row 1, .* plain number. Write 5"),
    "words": (table_of(["1", "no way"]), "holds 'no way' in data row 2, .* number. Correct it"),
    "true": (table_of([True, False]), "holds true and false. .* write them as 1 and 0"),
    "dates": (table_of(np.array(["2024-01-01"] * 2, "M8[us]")), "holds dates. Write them as num"),
    "infinite": (table_of([1.0, np.inf]), "is infinite in 1 of 2 rows. Correct them"),
    "nothing": (table_of([None, None]), "has no values"),
    "lists": (table_of([[1.0], [2.0]]), "holds values of type list"),
    "gaps": (table_of([1.0, None]), "is missing in 1 of 2 rows. Drop these rows"),
}


@pytest.mark.parametrize("case", TARGETS)
def test_what_is_no_target_is_told(case):
    table, words = TARGETS[case]
    name = "price" if case == "another name" else "Price"
    with pytest.raises(ValueError, match=words):
        TableRegressor(SMALL).fit(table, name)


def test_a_target_is_split_from_its_table():
    features, y = tables.split_target(FRAME.assign(price=["7", None, "?", *["8.5"] * 117]), "price")
    assert features.column_names == ["id", "size", "town", "sold"]
    np.testing.assert_array_equal(y[:4], [7, np.nan, np.nan, 8.5])
    with pytest.raises(TypeError, match="needs a data frame"):
        tables.split_target(np.zeros((3, 2)), "price")


def test_rows_of_weight_zero_are_as_if_they_were_not_there(model):
    strange = FRAME.assign(town="elsewhere", size=1e6)
    weight = np.repeat([1.0, 0.0], N)
    again = clone(model).fit(pd.concat([FRAME, strange]), "price", sample_weight=weight)
    assert again.encoder_.columns_ == model.encoder_.columns_
    assert again.profile_.n_rows == N
    np.testing.assert_array_equal(again.predict(FRAME), model.predict(FRAME))


def test_the_profile_sums_the_training_rows_up(model):
    profile, features = model.profile_, model.encoder_.transform(FRAME)
    assert profile.n_rows == N
    np.testing.assert_allclose(
        profile.target_quantiles[[0, 5, -1]], FRAME["price"].quantile([0, 0.5, 1])
    )
    np.testing.assert_allclose(profile.feature_means, features.mean(axis=0))
    np.testing.assert_allclose(profile.feature_quantiles[5], np.median(features, axis=0))


def test_other_regressors_and_none_can_be_given():
    assert type(TableRegressor()._fresh_regressor()) is DGMERegressor
    with pytest.raises(TypeError, match="regressor must be a density regressor of this library"):
        TableRegressor("forest").fit(FRAME, "price")
    with pytest.raises(NotFittedError):
        TableRegressor().predict(FRAME)


def test_a_loaded_model_is_the_saved_one(model, path):
    loaded = dgme.load(path)
    assert type(loaded) is TableRegressor
    assert repr(loaded) == repr(model)
    assert loaded.kinds == {"id": "ignored"}
    assert (loaded.target_name_, loaded.n_features_in_) == ("price", 4)
    assert loaded.encoder_.columns_ == model.encoder_.columns_
    np.testing.assert_array_equal(loaded.predict(FRAME), model.predict(FRAME))
    for name, value in vars(model.profile_).items():
        np.testing.assert_array_equal(getattr(loaded.profile_, name), value)
    assert vars(loaded).keys() == vars(model).keys()


def test_a_table_file_is_predicted_batch_by_batch(model, tmp_path):
    FRAME.to_csv(tmp_path / "t.csv", index=False)
    batches = tables.read_batches(tmp_path / "t.csv", model.encoder_.types_)
    streamed = np.concatenate([model.predict(batch) for batch in batches])
    np.testing.assert_array_equal(streamed, model.predict(FRAME))


def edit(path, change, arrays=None):
    """Write the file again after a change to its header."""
    content = path.read_bytes()
    (length,) = struct.unpack("<Q", content[:8])
    stored = json.loads(json.loads(content[8 : 8 + length])["__metadata__"]["header"])
    change(stored)
    tensors = load_file(path) | (arrays or {})
    tensors = {name: array for name, array in tensors.items() if array is not None}
    save_file(tensors, path, metadata={"header": json.dumps(stored)})


def column(number, **changes):
    return lambda stored: stored["fitted"]["encoder"]["fitted"]["columns"][number].update(changes)


def fitted(**changes):
    return lambda stored: stored["fitted"].update(changes)


def swap(stored):
    within = stored["fitted"]
    within["encoder"], within["regressor"] = within["regressor"], within["encoder"]


def inner(stored):
    stored["fitted"]["regressor"]["estimator"] = "system"


EDITS = {
    "a kind that is none": (column(1, kind="magic"), None, "magic"),
    "an entry more": (column(1, wheels=4), None, "has the entries"),
    "text for a number": (column(1, median="0"), None, "median of a column must be"),
    "infinite": (column(1, median=float("inf")), None, "median of a column must be"),
    "text for levels": (column(2, levels="Aa"), None, "levels of a column must be"),
    "levels of other types": (column(2, levels=["Aa", 1, "Bb"]), None, "levels of a column must"),
    "fewer counts": (column(2, counts=[5]), None, "damaged or was edited"),
    "counts of none": (column(2, counts=[0, 0, 0]), None, "do not fit together"),
    "another part": (column(3, parts=["century"]), None, "parts of a column must be"),
    "fewer levels": (column(2, levels=["Aa"], counts=[9]), None, "does not take the 8 features"),
    "no columns": (lambda stored: stored["fitted"]["encoder"].pop("fitted"), None, "damaged"),
    "no regressor": (fitted(regressor=None), None, "of another kind"),
    "two encoders": (swap, None, "damaged or was edited"),
    "a target that is no name": (fitted(target_name=3), None, "target_name must be text"),
    "a model that is none": (inner, None, "unknown kind of model, 'system'"),
    "no weights": (fitted(), {"regressor.weights": None}, "'weights' is missing"),
    "no profile": (fitted(), {"profile.feature_means": None}, "feature_means"),
    "a short profile": (fitted(), {"profile.feature_means": np.zeros(3)}, "profile.feature_means"),
    "an array more": (fitted(), {"profile.wheels": np.zeros(3)}, "wheels"),
}  # fmt: skip


@pytest.mark.parametrize("case", EDITS)
def test_edited_files_are_refused(path, case):
    change, arrays, words = EDITS[case]
    edit(path, change, arrays)
    with pytest.raises(ModelFileError, match=words):
        dgme.load(path)


def test_columns_that_are_named_like_the_parts_of_a_file_are_columns():
    kinds = {"estimator": "categorical", "parameters": "ignored"}
    described = io._describe_setting(TableRegressor(SMALL, kinds=kinds))
    assert io._build_setting(described, None).get_params()["kinds"] == kinds


def test_a_regressor_that_no_file_can_hold_is_refused(tmp_path):
    class Mine(DGMERegressor):
        pass

    model = TableRegressor(Mine(**SMALL.get_params())).fit(FRAME, "price")
    with pytest.raises(TypeError, match="Mine is none of the models that a file can hold"):
        model.save(tmp_path / "m")


def test_files_are_read_without_what_training_needs():
    code = "import sys, dgme.tables; sys.exit('jax' in sys.modules or 'sklearn' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
