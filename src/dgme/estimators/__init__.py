"""scikit-learn estimators: each a short recipe over the rooms above."""

from dgme.estimators._base import DensityClassifier as DensityClassifier
from dgme.estimators._base import DensityRegressor as DensityRegressor
from dgme.estimators._deep_ensemble import DeepEnsembleClassifier as DeepEnsembleClassifier
from dgme.estimators._deep_ensemble import DeepEnsembleRegressor as DeepEnsembleRegressor
from dgme.estimators._dgme import DGMEClassifier as DGMEClassifier
from dgme.estimators._dgme import DGMERegressor as DGMERegressor
from dgme.estimators._ensemble import Ensemble as Ensemble
from dgme.estimators._ensemble import describe_design as describe_design
from dgme.estimators._ensemble import load_design as load_design
from dgme.estimators._mc_dropout import MCDropoutClassifier as MCDropoutClassifier
from dgme.estimators._mc_dropout import MCDropoutRegressor as MCDropoutRegressor
from dgme.estimators._mdn import MDNClassifier as MDNClassifier
from dgme.estimators._mdn import MDNRegressor as MDNRegressor
from dgme.estimators._multi_swag import MultiSWAGRegressor as MultiSWAGRegressor
from dgme.estimators._network import NetworkEstimator as NetworkEstimator
from dgme.estimators._noise import mean_head as mean_head
from dgme.estimators._noise import most_likely_scale as most_likely_scale
from dgme.estimators._scaling import LARGEST as LARGEST
from dgme.estimators._scaling import Scaling as Scaling
