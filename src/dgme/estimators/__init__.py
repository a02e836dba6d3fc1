"""scikit-learn estimators: each a short recipe over the rooms above."""

from dgme.estimators._dgme import DGMERegressor as DGMERegressor
from dgme.estimators._scaling import Scaling as Scaling
