"""What laws share of which quantiles and moments are known, and perhaps no density."""

from abc import ABC, abstractmethod

import numpy as np

from dgme.distributions import GaussianMixture, VectorGaussianMixture


class KnownInPart(ABC):
    """Laws that have quantiles and moments."""

    @abstractmethod
    def mean(self) -> np.ndarray: ...

    @abstractmethod
    def var(self) -> np.ndarray: ...

    @abstractmethod
    def ppf(self, q) -> np.ndarray: ...

    def __len__(self) -> int:
        return len(self.mean())

    def std(self) -> np.ndarray:
        """Standard deviation."""
        return np.sqrt(self.var())

    def median(self) -> np.ndarray:
        """The quantile of one half."""
        return self.ppf(0.5)

    def interval(self, confidence: float = 0.9) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper end of the interval with equal tails outside."""
        if not 0 <= confidence <= 1:
            raise ValueError(f"confidence must be between 0 and 1, but it is {confidence}")
        return self.ppf((1 - confidence) / 2), self.ppf((1 + confidence) / 2)

    def logpdf(self, y) -> np.ndarray:
        """There is none, unless a law says otherwise."""
        raise TypeError(
            f"{type(self).__name__} have no density and so no log score; use crps, or gaussian_nll "
            "of the Gaussian with their mean and variance"
        )

    def to_gaussian(self) -> GaussianMixture | VectorGaussianMixture:
        """The single Gaussian with the same mean and variance."""
        mean, std = self.mean()[:, None], self.std()[:, None]
        return (GaussianMixture if mean.ndim == 2 else VectorGaussianMixture)([1.0], mean, std)
