import errno
import json
import os
import struct

import numpy as np
import pandas as pd
import pytest
from safetensors.numpy import load_file, save_file
from sklearn.exceptions import NotFittedError

import dgme
from dgme import DGMERegressor, ModelFileError, _files

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 3))
ROWS = pd.DataFrame(X, columns=["a", "b", "ü"])
Y = X[:, 0] + 0.2 * RNG.normal(size=120)


def small(**changes):
    settings = {"n_components": 2, "n_rounds": 2, "epochs_per_round": 3, "random_state": 0}
    return DGMERegressor(**settings | changes)


@pytest.fixture(scope="module")
def model():
    return small(hidden_sizes=(6, 4)).fit(ROWS, Y)


@pytest.fixture
def path(model, tmp_path):
    path = tmp_path / "model.dgme"
    model.save(path)
    return path


def edit(path, *, header=None, facts=None, arrays=None):
    """Write the file again with some of its header or arrays replaced."""
    content = path.read_bytes()
    (length,) = struct.unpack("<Q", content[:8])
    stored = json.loads(json.loads(content[8 : 8 + length])["__metadata__"]["header"])
    stored["fitted"] |= facts or {}
    tensors = load_file(path) | (arrays or {})
    tensors = {name: array for name, array in tensors.items() if array is not None}
    save_file(tensors, path, metadata={"header": json.dumps(stored | (header or {}))})


def test_a_loaded_model_is_the_saved_one(model, path):
    loaded = dgme.load(path)
    assert type(loaded) is DGMERegressor
    assert loaded.get_params() == model.get_params()
    assert loaded.seed_ == model.seed_
    assert list(loaded.feature_names_in_) == ["a", "b", "ü"]
    law, again = (each.predict_dist(ROWS) for each in (model, loaded))
    np.testing.assert_array_equal(again.means, law.means)
    np.testing.assert_array_equal(again.scales, law.scales)
    np.testing.assert_array_equal(again.weights, law.weights)
    assert list(loaded.history_) == list(model.history_)
    for name, column in model.history_.items():
        np.testing.assert_array_equal(loaded.history_[name], column)
    assert (loaded.n_rounds_, loaded.converged_) == (model.n_rounds_, model.converged_)


def test_a_loaded_model_can_be_trained_on(tmp_path):
    model = small(warm_start=True, validation_fraction=None).fit(X, Y)
    model.save(tmp_path / "m")
    loaded = dgme.load(tmp_path / "m")
    np.testing.assert_array_equal(
        loaded.fit(X, Y).ensemble_.params, model.fit(X, Y).ensemble_.params
    )


@pytest.mark.parametrize(
    "settings",
    [
        {"hidden_sizes": [np.int64(4)]},
        {"random_state": np.random.RandomState(0)},
        {"learning_rate": np.float32(0.01), "validation_fraction": None},
    ],
)
def test_parameters_of_all_kinds_can_be_stored(settings, tmp_path):
    model = small(**settings).fit(X, Y)
    model.save(tmp_path / "m")
    np.testing.assert_array_equal(dgme.load(tmp_path / "m").predict(X), model.predict(X))


def test_an_unfitted_model_cannot_be_saved(tmp_path):
    with pytest.raises(NotFittedError, match="not fitted"):
        small().save(tmp_path / "m")
    assert list(tmp_path.iterdir()) == []


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"There is no model file at .*nowhere"):
        dgme.load(tmp_path / "nowhere")


@pytest.mark.parametrize("kept", [0, 4, 8, 100, 0.5, 0.99])
def test_a_truncated_file_is_refused(path, kept):
    content = path.read_bytes()
    path.write_bytes(content[: kept if isinstance(kept, int) else int(kept * len(content))])
    with pytest.raises(ModelFileError, match="truncated, or no dgme model file"):
        dgme.load(path)


@pytest.mark.parametrize("content", [b"hello, world" * 20, b"\x80\x04K\x01.", b"\0" * 64])
def test_other_files_are_refused(path, content):
    path.write_bytes(content)
    with pytest.raises(ModelFileError, match="no dgme model file"):
        dgme.load(path)


def test_safetensors_of_others_are_refused(path):
    save_file({"weight": np.zeros(3)}, path)
    with pytest.raises(ModelFileError, match="is no dgme model file"):
        dgme.load(path)


def test_files_of_a_newer_format_are_refused(path):
    edit(path, header={"format_version": 2, "dgme_version": "9.0"})
    with pytest.raises(ModelFileError, match=r"format version 2 \(written by dgme 9.0\).*Upgrade"):
        dgme.load(path)


NETWORK = {"kind": "MLP", "hidden_sizes": [6, 4]}
EDITS = {
    "an estimator that is none": ({"header": {"estimator": "system"}}, "unknown kind of model"),
    "a module for an estimator": ({"header": {"estimator": "_base"}}, "unknown kind of model"),
    "unknown parameter": ({"header": {"parameters": {"wheels": 4}}}, "wheels"),
    "bad parameter": ({"header": {"parameters": {"n_components": -1}}}, "n_components"),
    "an estimator that is a list": ({"header": {"estimator": ["a"]}}, "unknown kind of model"),
    "another class of the room": ({"header": {"estimator": "Scaling"}}, "unknown kind of model"),
    "other width": ({"facts": {"network": NETWORK | {"hidden_sizes": [7, 4]}}}, "instead of"),
    "other features": ({"facts": {"input_shape": [4]}}, "instead of"),
    "an infinite count": ({"facts": {"n_rounds_": float("inf")}}, "infinity"),
    "no facts": ({"header": {"fitted": {}}}, "head"),
    "missing array": ({"arrays": {"y.center": None}}, "array 'y.center' is missing"),
    "wrong shape": ({"arrays": {"y.center": np.ones(5)}}, r"'y.center' has shape \(5,\) instead"),
    "no weights": ({"arrays": {"weights": None}}, "array 'weights' is missing or holds no prob"),
    "weights of another sum": ({"arrays": {"weights": np.array([4.0, 5.0])}}, "no probabilities"),
    "negative weights": ({"arrays": {"weights": np.array([2.0, -1.0])}}, "no probabilities"),
    "weights that are flags": ({"arrays": {"weights": np.array([True, False])}}, "no probab"),
    "more weights": ({"arrays": {"weights": np.full(4, 0.25)}}, "instead of"),
    "negative scale": ({"arrays": {"y.scale": np.array([-1.0])}}, "'y.scale' must be positive"),
    "zero scale": ({"arrays": {"x.scale": np.zeros(3)}}, "'x.scale' must be positive"),
    "wrong shape in a layer": (
        {"arrays": {"network.layers[1].bias": np.ones((2, 9), np.float32)}},
        "layers",
    ),
    "NaN": (
        {"arrays": {"y.scale": np.array([np.nan])}},
        "'y.scale' holds numbers that are",
    ),
}


@pytest.mark.parametrize("case", EDITS)
def test_edited_files_are_refused(path, case):
    changes, words = EDITS[case]
    edit(path, **changes)
    with pytest.raises(ModelFileError, match=words):
        dgme.load(path)


@pytest.mark.parametrize("step", ["open", "write", "fsync", "replace"])
def test_a_full_disk_leaves_the_old_file(model, path, monkeypatch, step):
    before = path.read_bytes()

    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    if step == "write":
        monkeypatch.setattr(_files.os, "fdopen", full)
    else:
        monkeypatch.setattr(_files.os, step, full)
    with pytest.raises(OSError, match="No space left"):
        model.save(path)
    monkeypatch.undo()
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == [path.name]


def test_a_folder_that_is_not_there_is_named(model, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"There is no folder .*nowhere\. Create"):
        model.save(tmp_path / "nowhere" / "m.dgme")
    with pytest.raises(IsADirectoryError, match="is a folder"):
        model.save(tmp_path)


def test_files_get_the_usual_permissions_and_keep_their_own(model, path):
    ordinary = path.with_name("ordinary")
    ordinary.write_bytes(b"")
    assert path.stat().st_mode == ordinary.stat().st_mode
    path.chmod(0o600)
    model.save(path)
    assert path.stat().st_mode & 0o777 == 0o600


def test_where_a_model_was_trained_is_not_stored(tmp_path):
    model = small(device="cpu").fit(X, Y)
    model.save(tmp_path / "m")
    assert dgme.load(tmp_path / "m").device is None


def test_a_model_of_a_class_that_no_file_can_hold_is_refused_at_once(tmp_path):
    class Mine(DGMERegressor):
        pass

    model = Mine(**small().get_params()).fit(X, Y)
    with pytest.raises(TypeError, match="Mine is none of the models that a file can hold"):
        model.save(tmp_path / "m")
