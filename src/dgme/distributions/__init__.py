"""Predictive laws: arrays of distributions in closed form, float64 NumPy only."""

from dgme.distributions._gaussian_mixture import GaussianMixture

__all__ = ["GaussianMixture"]
