"""Intervals and regions that hold as many targets as they promise, whatever the model."""

from dgme.calibration._conformal import ConformalRegressor as ConformalRegressor
from dgme.calibration._regions import Regions as Regions
