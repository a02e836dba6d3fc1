"""Predictive laws: arrays of distributions in closed form, float64 NumPy only."""

from dgme.distributions._categorical_mixture import CategoricalMixture
from dgme.distributions._gaussian_mixture import GaussianMixture
from dgme.distributions._vector_gaussian_mixture import VectorGaussianMixture

__all__ = ["CategoricalMixture", "GaussianMixture", "VectorGaussianMixture"]
