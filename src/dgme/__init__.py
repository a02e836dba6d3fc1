"""Full predictive densities from deep Gaussian mixture ensembles."""

from importlib import import_module
from importlib.metadata import version as _version
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dgme.distributions import CategoricalMixture as CategoricalMixture
    from dgme.distributions import GaussianMixture as GaussianMixture
    from dgme.distributions import VectorGaussianMixture as VectorGaussianMixture
    from dgme.estimators import DeepEnsembleClassifier as DeepEnsembleClassifier
    from dgme.estimators import DeepEnsembleRegressor as DeepEnsembleRegressor
    from dgme.estimators import DGMEClassifier as DGMEClassifier
    from dgme.estimators import DGMERegressor as DGMERegressor
    from dgme.estimators import MCDropoutClassifier as MCDropoutClassifier
    from dgme.estimators import MCDropoutRegressor as MCDropoutRegressor
    from dgme.estimators import MDNClassifier as MDNClassifier
    from dgme.estimators import MDNRegressor as MDNRegressor
    from dgme.estimators import MultiSWAGRegressor as MultiSWAGRegressor
    from dgme.evaluation import evaluate as evaluate
    from dgme.io import ModelFileError as ModelFileError
    from dgme.io import load as load
    from dgme.tables import TableEncoder as TableEncoder
    from dgme.tables import TableError as TableError
    from dgme.tables import TableRegressor as TableRegressor

_HOMES = {
    "CategoricalMixture": "dgme.distributions",
    "DGMEClassifier": "dgme.estimators",
    "DGMERegressor": "dgme.estimators",
    "DeepEnsembleClassifier": "dgme.estimators",
    "DeepEnsembleRegressor": "dgme.estimators",
    "GaussianMixture": "dgme.distributions",
    "MCDropoutClassifier": "dgme.estimators",
    "MCDropoutRegressor": "dgme.estimators",
    "MDNClassifier": "dgme.estimators",
    "MDNRegressor": "dgme.estimators",
    "ModelFileError": "dgme.io",
    "MultiSWAGRegressor": "dgme.estimators",
    "TableEncoder": "dgme.tables",
    "TableError": "dgme.tables",
    "TableRegressor": "dgme.tables",
    "VectorGaussianMixture": "dgme.distributions",
    "evaluate": "dgme.evaluation",
    "load": "dgme.io",
}

# Rooms that are reached by their name, without an import of their own.
_ROOMS = (
    "calibration",
    "datasets",
    "evaluation",
    "export",
    "metrics",
    "nn",
    "peers",
    "plots",
    "report",
    "search",
    "skpro",
    "tables",
)

__all__ = [
    "CategoricalMixture",
    "DGMEClassifier",
    "DGMERegressor",
    "DeepEnsembleClassifier",
    "DeepEnsembleRegressor",
    "GaussianMixture",
    "MCDropoutClassifier",
    "MCDropoutRegressor",
    "MDNClassifier",
    "MDNRegressor",
    "ModelFileError",
    "MultiSWAGRegressor",
    "TableEncoder",
    "TableError",
    "TableRegressor",
    "VectorGaussianMixture",
    "evaluate",
    "load",
]
__version__ = _version("dgme")


def __getattr__(name: str):
    if name in _ROOMS:
        return import_module(f"dgme.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'dgme' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return [*globals(), *_HOMES, *_ROOMS]
