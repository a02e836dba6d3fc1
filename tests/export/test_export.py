"""Exported files, run by their own runtimes in processes that know nothing of dgme."""

import json
import subprocess
import sys
from copy import copy
from typing import NamedTuple

import equinox as eqx
import numpy as np
import onnx
import pandas as pd
import pytest
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression

import dgme
from dgme import nn
from dgme.engine import initialise_lanes
from dgme.estimators import Ensemble, Scaling
from dgme.experts import Experts
from dgme.export import to_onnx, to_stablehlo
from dgme.nn import FlatNetwork
from dgme.posterior import DropoutPosterior, LaplacePosterior, SwagPosterior

SIZES = (1, 7, 1000)
ROWS = np.random.default_rng(1).normal(size=(1000, 6))
# Features far from zero, whose differences single precision could not tell, and far from all rows.
FAR = Scaling(np.array([1e8, -1e8, 0.0]), np.array([1.0, 2.0, 1e-300]))


def two_layers(key, shape, n_outputs):
    return eqx.nn.MLP(shape[0], n_outputs, 5, 2, key=key)


SMALL = {"hidden_sizes": (5,), "n_posterior_samples": 3}
MDN = SMALL | {"n_components": 2}
SEQUENCES = nn.LSTM(4, 2, (3,), dropout=0.3)


class Recipe(NamedTuple):
    """An estimator, and what its fit would have found."""

    model: BaseEstimator
    posterior: str = "none"
    shape: tuple[int, ...] = (3,)
    n_columns: int = 0
    """Of a target of vectors, or of classes."""


# Between them they have every posterior, head and activation.
RECIPES = {
    "DGME": Recipe(dgme.DGMERegressor(**SMALL)),
    "DGME of sequences": Recipe(
        dgme.DGMERegressor(**SMALL, network=SEQUENCES), "dropout", shape=(3, 2)
    ),
    "MDN": Recipe(dgme.MDNRegressor(**MDN, activation="elu")),
    "MDN of vectors": Recipe(
        dgme.MDNRegressor(**MDN, activation="tanh", dropout=0.3), "dropout", n_columns=2
    ),
    "MC dropout": Recipe(
        dgme.MCDropoutRegressor(**SMALL, activation="softplus"), "dropout", n_columns=2
    ),
    "deep ensemble": Recipe(dgme.DeepEnsembleRegressor(**SMALL, activation="gelu"), "laplace"),
    "MultiSWAG": Recipe(dgme.MultiSWAGRegressor(**SMALL, activation="silu"), "swag"),
    "DGME classifier": Recipe(dgme.DGMEClassifier(**SMALL), "laplace", n_columns=3),
    "MDN classifier": Recipe(dgme.MDNClassifier(**MDN, activation="identity"), n_columns=3),
    "own network": Recipe(dgme.DGMERegressor(**SMALL, network=two_layers)),
}
OF_DGME = [name for name in RECIPES if name != "own network"]

ONNX = """
import sys
import numpy as np
import onnxruntime

def open_law(path):
    session = onnxruntime.InferenceSession(path)
    return lambda X: session.run(None, {"X": X})
"""
STABLEHLO = """
import sys
import jax
import numpy as np

jax.config.update("jax_enable_x64", True)

def open_law(path):
    with open(path, "rb") as file:
        return jax.export.deserialize(file.read()).call
"""
SERVE = """
rows, laws = np.load("rows.npz"), {}
for asked in rows:
    path, _, n = asked.partition(":")
    law = open_law(path)
    for number, part in enumerate(law(rows[asked])):
        laws[f"{asked}:{number}"] = part
    spoilt = rows[asked].copy()
    spoilt[0].flat[0], spoilt[-1].flat[-1] = np.nan, np.inf
    for number, part in enumerate(law(spoilt)):
        laws[f"{asked}:{number}:spoilt"] = part
np.savez("laws.npz", **laws)
assert not {"dgme", "sklearn", *without} & set(sys.modules)
"""


def with_random_parameters(model, posterior="none", shape=(3,), n_columns=0):
    """As after a fit, but sooner, and with networks that are far from simple."""
    rng = np.random.default_rng(0)
    n_targets, n_members = max(n_columns, 1), 2
    experts = Experts(None, model._head(n_targets))
    if isinstance(experts.head, nn.HomoscedasticHead):
        noise = rng.uniform(0.1, 1, n_targets).astype(np.float32)
        experts = experts._replace(head=nn.HomoscedasticHead(noise))
    network = FlatNetwork(model._design(), shape, experts.head.n_outputs)
    params = 2 * initialise_lanes(network, n_members, 0)

    def normal(*shape):
        return (0.3 * rng.standard_normal(shape)).astype(np.float32)

    last = network.last_layer
    model.ensemble_ = Ensemble(
        experts._replace(network=network),
        params,
        np.array([0.3, 0.7]),
        FAR if shape == (3,) else Scaling(np.array([1.0, 2.0]), np.array([3.0, 4.0])),
        Scaling(rng.normal(size=n_targets), rng.uniform(1, 9, n_targets)),
        vector=n_columns > 0,
        posterior={
            "none": None,
            "dropout": DropoutPosterior(),
            "swag": SwagPosterior(
                params, abs(normal(*params.shape)), normal(n_members, 3, network.size)
            ),
            "laplace": LaplacePosterior(normal(n_members, last, last)),
        }[posterior],
        members_are_samples=isinstance(model, dgme.DeepEnsembleRegressor | dgme.MultiSWAGRegressor),
        seed=5,
    )
    model.n_features_in_ = shape[0]
    if isinstance(model, dgme.DGMEClassifier | dgme.MDNClassifier):
        model.classes_ = np.array(["a", "b", "c"])
    return model


@pytest.fixture(scope="module")
def models():
    return {name: with_random_parameters(*recipe) for name, recipe in RECIPES.items()}


def rows_for(model, n):
    shape = model.ensemble_.experts.network.input_shape
    x, scaling = ROWS[:n, : np.prod(shape)].reshape(n, *shape), model.ensemble_.x_scaling
    return x * scaling.scale + scaling.center


def sizes_for(name):
    return SIZES if name in ("DGME", "DGME of sequences") else SIZES[1:2]


@pytest.fixture(scope="module", params=["onnx", "stablehlo"])
def served(request, models, tmp_path_factory):
    """The laws that a runtime computes of all models, in a process of its own."""
    folder, rows = tmp_path_factory.mktemp(request.param), {}
    write, names, opening, without = {
        "onnx": (to_onnx, OF_DGME, ONNX, {"jax", "onnx"}),
        "stablehlo": (to_stablehlo, list(RECIPES), STABLEHLO, {"equinox", "onnxruntime"}),
    }[request.param]
    for name in names:
        write(models[name], folder / name)
        for n in sizes_for(name):
            rows[f"{name}:{n}"] = rows_for(models[name], n)
    np.savez(folder / "rows.npz", **rows)
    script = f"{opening}\nwithout = {without!r}\n{SERVE}"
    subprocess.run([sys.executable, "-c", script], cwd=folder, check=True)
    return names, np.load(folder / "laws.npz"), folder


def parts_of(law):
    weights = np.broadcast_to(law.weights, (len(law), law.n_components))
    if hasattr(law, "probabilities"):
        return weights, law.probabilities
    return weights, law.means, law.scales


def test_a_file_gives_the_law_that_the_model_gives(served, models):
    names, laws, _ = served
    for name in names:
        model = models[name]
        unit = model.ensemble_.y_scaling.scale.max()
        for n in sizes_for(name):
            parts = parts_of(model.predict_dist(rows_for(model, n)))
            for number, part in enumerate(parts):
                found = laws[f"{name}:{n}:{number}"]
                assert found.dtype == np.float64
                assert found.shape == part.shape, name
                np.testing.assert_allclose(found, part, rtol=0, atol=1e-5 * unit, err_msg=name)
            assert f"{name}:{n}:{len(parts)}" not in laws


def test_a_row_that_is_not_finite_has_a_law_of_nan_alone(served):
    names, laws, _ = served
    for name in names:
        for number in range(2):
            part = laws[f"{name}:7:{number}"]
            spoilt = laws[f"{name}:7:{number}:spoilt"]
            np.testing.assert_array_equal(spoilt[1:-1], part[1:-1])
            assert np.isnan(spoilt[[0, -1]]).all(), name


def metadata(path):
    beside = path.with_name(f"{path.name}.json")
    if beside.exists():
        return json.loads(beside.read_text("utf-8"))
    graph = onnx.load(path)
    onnx.checker.check_model(graph, full_check=True)
    (text,) = (entry.value for entry in graph.metadata_props if entry.key == "dgme")
    return json.loads(text)


def test_the_metadata_tell_what_stands_where(served, models):
    names, _, folder = served
    for name in names:
        model, facts = models[name], metadata(folder / name)
        law = model.predict_dist(rows_for(model, 7))
        assert facts["model"] == type(model).__name__
        assert facts["inputs"] == {"X": ["n", *model.ensemble_.experts.network.input_shape]}
        assert facts["groups"] == law.groups.tolist()
        assert facts.get("classes") == (["a", "b", "c"] if "classifier" in name else None)
        shapes = [["n", *part.shape[1:]] for part in parts_of(law)]
        assert list(facts["outputs"].values()) == shapes
        assert facts["feature_names"] is facts["target_name"] is None


each_format = pytest.mark.parametrize("write", [to_onnx, to_stablehlo])


@each_format
def test_what_draws_share_is_stored_once(write, tmp_path):
    wide = dgme.DGMERegressor(hidden_sizes=(64, 64))
    model = with_random_parameters(wide, "laplace")
    sizes = []
    for n_samples in (0, 1, 5):
        write(model, tmp_path / "law", n_posterior_samples=n_samples)
        sizes.append((tmp_path / "law").stat().st_size)
    # Five last layers of 130 numbers beside trunks of 4,416 that do not differ.
    assert sizes[2] < 1.5 * sizes[1] < 1.6 * sizes[0]


@each_format
def test_names_of_features_and_target(write, models, tmp_path):
    named = copy(models["DGME"])
    named.feature_names_in_ = np.array(["a", "b", "ü"], object)
    write(named, tmp_path / "law")
    facts = metadata(tmp_path / "law")
    assert facts["feature_names"] == ["a", "b", "ü"]
    assert facts["target_name"] is None


@each_format
def test_of_a_model_of_tables_the_features_are_those_that_its_encoder_makes(write, tmp_path):
    table = pd.DataFrame({"a": np.arange(20.0), "b": ["x", "y"] * 10, "price": np.arange(20.0)})
    small = dgme.DGMERegressor(**SMALL, n_components=2, n_rounds=1, epochs_per_round=1)
    model = dgme.TableRegressor(small).fit(table, "price")
    write(model, tmp_path / "law")
    facts = metadata(tmp_path / "law")
    assert facts["model"] == "DGMERegressor"
    assert facts["feature_names"] == list(model.encoder_.get_feature_names_out())
    assert facts["target_name"] == "price"
    assert facts["inputs"] == {"X": ["n", len(facts["feature_names"])]}


def test_onnx_knows_its_limits(models, tmp_path):
    with pytest.raises(TypeError, match=r"Use dgme\.export\.to_stablehlo"):
        to_onnx(models["own network"], tmp_path / "law.onnx")
    assert list(tmp_path.iterdir()) == []


@each_format
def test_what_is_no_fitted_model_is_refused(write, tmp_path):
    with pytest.raises(NotFittedError):
        write(dgme.DGMERegressor(), tmp_path / "law")
    with pytest.raises(TypeError, match=r"model=LinearRegression\(\) cannot be exported"):
        write(LinearRegression(), tmp_path / "law")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("write", "package", "extra"),
    [(to_onnx, "onnx", "onnx"), (to_stablehlo, "flatbuffers", "stablehlo")],
)
def test_a_missing_package_is_named(write, package, extra, models, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    for name in [name for name in sys.modules if name.startswith("dgme.export._onnx_")]:
        monkeypatch.delitem(sys.modules, name)
    with pytest.raises(ImportError, match=rf"pip install 'dgme\[{extra}\]'"):
        write(models["DGME"], tmp_path / "law")
