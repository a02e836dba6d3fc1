"""Laws of targets that were learned on another scale."""

from functools import cached_property
from typing import Any

import numpy as np

from dgme.distributions import GaussianMixture
from dgme.metrics._known_in_part import KnownInPart
from dgme.metrics._quantiles import Quantiles

_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(64)
# Levels of the quantiles that stand for the law in its CRPS.
_LEVELS = (np.arange(200) + 0.5) / 200
# In standard deviations: the error of a five-point difference is of the order of its fourth power.
_STEP = 1e-3


class Transformed(KnownInPart):
    """Laws of y, of which a law of transform(y) is known; the transform is smooth and monotone.

    Densities, probabilities and quantiles are those of that law, moved. Moments are quadratures
    over its components, and the CRPS is that of 200 quantiles.
    """

    def __init__(self, law: Any, transformer: Any) -> None:
        if not isinstance(law, GaussianMixture):
            raise TypeError(
                f"a {type(law).__name__} cannot be moved to another scale, only a GaussianMixture "
                "can: transform each target by itself"
            )
        self.law, self.transformer = law, transformer
        rising = self._back(law.ppf([[0.25], [0.75]]))
        self.increasing = bool((rising[0] < rising[1]).all())
        if not self.increasing and not (rising[0] > rising[1]).all():
            raise ValueError(
                f"{transformer!r} is not strictly monotone, so there is no law of the target "
                "before it. Use a monotone transform, such as a logarithm."
            )

    def __repr__(self) -> str:
        return f"Transformed({self.law!r}, {self.transformer!r})"

    def logpdf(self, y) -> np.ndarray:
        """Logarithm of the density at y."""
        z, step = self._forth(y), _STEP * self.law.std()
        around = self._back(z + step * np.array([[-2.0], [-1.0], [1.0], [2.0]]))
        slope = np.array([1.0, -8.0, 8.0, -1.0]) @ around / (12 * step)
        return self.law.logpdf(z) - np.log(np.abs(slope))

    def cdf(self, y) -> np.ndarray:
        """Probability of a value up to y."""
        return (self.law.cdf if self.increasing else self.law.sf)(self._forth(y))

    pit = cdf

    def ppf(self, q) -> np.ndarray:
        """Quantiles."""
        q = np.asarray(q, dtype=np.float64)
        return self._back(self.law.ppf(q if self.increasing else 1 - q))

    def mean(self) -> np.ndarray:
        """Expectation."""
        return self._expected(self._outcomes)

    def var(self) -> np.ndarray:
        """Variance."""
        return self._expected((self._outcomes - self.mean()[:, None, None]) ** 2)

    def crps(self, y) -> np.ndarray:
        """Continuous ranked probability score of the outcome y."""
        return self._quantiles.crps(y)

    @cached_property
    def _outcomes(self) -> np.ndarray:
        """What the nodes of every component stand for, (n, K, nodes)."""
        law = self.law
        return self._back(law.means[..., None] + law.scales[..., None] * _NODES)

    @cached_property
    def _quantiles(self) -> Quantiles:
        return Quantiles(_LEVELS, self.ppf(_LEVELS[:, None]).T)

    def _expected(self, values: np.ndarray) -> np.ndarray:
        return np.einsum("nk,nkj,j->n", self.law.weights, values, _WEIGHTS / _WEIGHTS.sum())

    def _forth(self, y) -> np.ndarray:
        return _in_columns(self.transformer.transform, y)

    def _back(self, z) -> np.ndarray:
        return _in_columns(self.transformer.inverse_transform, z)


def _in_columns(function, values) -> np.ndarray:
    """Apply a transformer, which takes one column, to an array of any shape."""
    values = np.asarray(values, dtype=np.float64)
    return np.asarray(function(values.reshape(-1, 1)), dtype=np.float64).reshape(values.shape)
