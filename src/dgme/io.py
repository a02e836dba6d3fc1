"""Model files: one safetensors file that holds arrays, and a JSON header that says what they mean.

Loading a file builds an estimator from plain values and arrays; it never runs code from the file.
"""

import json
from importlib.metadata import version
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save as to_bytes
from sklearn.utils.validation import check_is_fitted

from dgme._files import write_atomically
from dgme.estimators import describe_design, load_design
from dgme.nn import Design

FORMAT = "dgme"
FORMAT_VERSION = 1


class ModelFileError(ValueError):
    """A file cannot be read as a dgme model."""


# What a file may hold, by the name that it gives.
_KINDS = (
    "DGMERegressor",
    "MDNRegressor",
    "MCDropoutRegressor",
    "DeepEnsembleRegressor",
    "MultiSWAGRegressor",
    "DGMEClassifier",
    "MDNClassifier",
    "MCDropoutClassifier",
    "DeepEnsembleClassifier",
)


def save(estimator, path: str | PathLike) -> None:
    """Write a fitted estimator. The file appears whole or, if anything fails, not at all."""
    name = type(estimator).__name__
    if _kind(name) is not type(estimator):
        raise TypeError(f"{name} is none of the models that a file can hold: {', '.join(_KINDS)}.")
    check_is_fitted(estimator)
    facts, arrays = estimator.dump_state()
    parameters = estimator.get_params(deep=False)
    # Where to compute is a fact of this machine and not of the model.
    parameters.pop("device", None)
    if parameters["network"] is not None:
        parameters["network"] = describe_design(parameters["network"])
    header = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "dgme_version": version("dgme"),
        "estimator": name,
        "parameters": parameters,
        "fitted": facts,
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
        header, arrays = _read(Path(path))
        kind = _kind(header.get("estimator"))
        if kind is None:
            raise ModelFileError(f"{path} holds an unknown kind of model, {header['estimator']!r}.")
        parameters = {
            key: tuple(value) if isinstance(value, list) else value
            for key, value in header["parameters"].items()
        }
        if facts := header["parameters"].get("network"):
            parameters["network"] = load_design(facts, network)
        estimator = kind(**parameters)
        estimator.load_state(header["fitted"], arrays)
        return estimator
    except ModelFileError:
        raise
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise ModelFileError(
            f"{path} is damaged or was edited: {error}. Save the model again."
        ) from error


def _kind(name: object) -> type | None:
    from dgme import estimators

    return getattr(estimators, name) if isinstance(name, str) and name in _KINDS else None


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
