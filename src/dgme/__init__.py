"""Full predictive densities from deep Gaussian mixture ensembles."""

from importlib import import_module
from importlib.metadata import version as _version
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dgme.distributions import GaussianMixture as GaussianMixture
    from dgme.estimators import DGMERegressor as DGMERegressor
    from dgme.io import ModelFileError as ModelFileError
    from dgme.io import load as load

_HOMES = {
    "DGMERegressor": "dgme.estimators",
    "GaussianMixture": "dgme.distributions",
    "ModelFileError": "dgme.io",
    "load": "dgme.io",
}

# Rooms that are reached by their name, without an import of their own.
_ROOMS = ("datasets", "metrics", "plots")

__all__ = ["DGMERegressor", "GaussianMixture", "ModelFileError", "load"]
__version__ = _version("dgme")


def __getattr__(name: str):
    if name in _ROOMS:
        return import_module(f"dgme.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'dgme' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return [*globals(), *_HOMES, *_ROOMS]
