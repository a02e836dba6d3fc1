"""Model files: one safetensors file that holds arrays, and a JSON header that says what they mean.

Loading a file builds an estimator from plain values and arrays; it never runs code from the file.
"""

import json
from importlib import import_module
from importlib.metadata import version
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save as to_bytes
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from dgme._files import write_atomically
from dgme.estimators import describe_design, load_design
from dgme.nn import Design

FORMAT = "dgme"
FORMAT_VERSION = 1


class ModelFileError(ValueError):
    """A file cannot be read as a dgme model."""


# What a file may hold, by the name that it gives.
_KINDS = {
    "DGMERegressor": "dgme.estimators",
    "MDNRegressor": "dgme.estimators",
    "MCDropoutRegressor": "dgme.estimators",
    "DeepEnsembleRegressor": "dgme.estimators",
    "MultiSWAGRegressor": "dgme.estimators",
    "DGMEClassifier": "dgme.estimators",
    "MDNClassifier": "dgme.estimators",
    "MCDropoutClassifier": "dgme.estimators",
    "DeepEnsembleClassifier": "dgme.estimators",
    "ConformalRegressor": "dgme.calibration",
    "TableEncoder": "dgme.tables",
    "TableRegressor": "dgme.tables",
}
# What wrong values lead to while an estimator is built.
_DAMAGES = (
    ArithmeticError,
    AttributeError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
)


def save(estimator, path: str | PathLike) -> None:
    """Write a fitted estimator. The file appears whole or, if anything fails, not at all."""
    facts, arrays = _describe(estimator)
    header = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "dgme_version": version("dgme"),
        **facts,
    }
    arrays = {name: np.asarray(array, order="C") for name, array in arrays.items()}
    content = to_bytes(arrays, metadata={"header": json.dumps(header, default=_plain)})
    write_atomically(Path(path), content)


def load(path: str | PathLike, network: Design | None = None):
    """Read an estimator that `save` wrote.

    Files hold no code. If the networks are of a kind of your own, pass what makes them again as
    `network`.
    """
    try:
        return _build(*_read(Path(path)), network)
    except ModelFileError:
        raise
    except _DAMAGES as error:
        raise ModelFileError(
            f"{path} is damaged or was edited: {str(error).rstrip('.')}. Save the model again."
        ) from error


def read_header(path: str | PathLike) -> dict[str, Any]:
    """What a model file says of itself, without its arrays."""
    return _read(Path(path))[0]


def _describe(estimator) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """A fitted estimator as plain values and arrays.

    What it learned may hold other estimators; the arrays of these have the fact's name in front.
    """
    setting = _describe_setting(estimator)
    check_is_fitted(estimator)
    facts, arrays = estimator.dump_state()
    for fact, value in facts.items():
        if isinstance(value, BaseEstimator):
            facts[fact], own = _describe(value)
            arrays |= {f"{fact}.{name}": array for name, array in own.items()}
    return setting | {"fitted": facts}, arrays


def _build(
    described: dict[str, Any], arrays: dict[str, np.ndarray], network: Design | None
) -> BaseEstimator:
    """What `_describe` described."""
    estimator: Any = _build_setting(described, network)
    facts = dict(described["fitted"])
    for fact, value in facts.items():
        if isinstance(value, dict) and "fitted" in value and "estimator" in value:
            prefix = f"{fact}."
            own = {name: arrays[name] for name in arrays if name.startswith(prefix)}
            arrays = {name: array for name, array in arrays.items() if name not in own}
            own = {name.removeprefix(prefix): array for name, array in own.items()}
            facts[fact] = _build(value, own, network)
    estimator.load_state(facts, arrays)
    return estimator


def _describe_setting(estimator) -> dict[str, Any]:
    """The kind of an estimator and its parameters, among which there may be others."""
    name = type(estimator).__name__
    if _kind(name) is not type(estimator):
        raise TypeError(f"{name} is none of the models that a file can hold: {', '.join(_KINDS)}.")
    parameters = estimator.get_params(deep=False)
    # Where to compute is a fact of this machine and not of the model.
    parameters.pop("device", None)
    for key, value in parameters.items():
        if isinstance(value, BaseEstimator):
            parameters[key] = _describe_setting(value)
        elif key == "network" and value is not None:
            parameters[key] = describe_design(value)
    return {"estimator": name, "parameters": parameters}


def _build_setting(described: dict[str, Any], network: Design | None) -> BaseEstimator:
    kind = _kind(described["estimator"])
    if kind is None:
        raise ValueError(f"it holds an unknown kind of model, {described['estimator']!r}")

    def parameter(key: str, value: Any) -> Any:
        if isinstance(value, list):
            return tuple(value)
        if isinstance(value, dict) and _kind(value.get("estimator")):
            return _build_setting(value, network)
        return load_design(value, network) if key == "network" and value else value

    return kind(**{key: parameter(key, value) for key, value in described["parameters"].items()})


def _kind(name: object) -> type[BaseEstimator] | None:
    if not isinstance(name, str) or name not in _KINDS:
        return None
    return getattr(import_module(_KINDS[name]), name)


def _read(path: Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    if not path.is_file():
        raise FileNotFoundError(f"There is no model file at {path.absolute()}.")
    try:
        with safe_open(path, framework="numpy") as file:
            header = json.loads((file.metadata() or {}).get("header", "{}"))
            if not isinstance(header, dict) or header.get("format") != FORMAT:
                raise ModelFileError(f"{path} is no dgme model file.")
            if header.get("format_version") != FORMAT_VERSION:
                raise ModelFileError(
                    f"{path} has format version {header.get('format_version')!r} (written by dgme "
                    f"{header.get('dgme_version')}), but this dgme reads version {FORMAT_VERSION}. "
                    "Upgrade dgme."
                )
            return header, {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, json.JSONDecodeError, RecursionError) as error:
        raise ModelFileError(f"{path} is truncated, or no dgme model file ({error}).") from error


def _plain(value: Any) -> Any:
    """A value as JSON knows it. A generator is not stored: its draws are in the arrays."""
    if isinstance(value, np.random.RandomState):
        return None
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    raise TypeError(f"{value!r} cannot be stored in a model file.")
