from abc import ABCMeta, abstractmethod
from collections.abc import Sequence
from os import PathLike

import numpy as np
from jaxtyping import Float64
from sklearn.base import BaseEstimator, RegressorMixin

from dgme.distributions import GaussianMixture


class DensityRegressor(RegressorMixin, BaseEstimator, metaclass=ABCMeta):
    """What every regressor can do once it can predict a law for each row."""

    @abstractmethod
    def predict_dist(self, X) -> GaussianMixture:
        """The predictive law of every row."""

    def pred_dist(self, X) -> GaussianMixture:
        """The same as `predict_dist`, under the name that NGBoost and others use."""
        return self.predict_dist(X)

    def predict(self, X, return_std: bool = False):
        """The mean of each row's law and, if asked for, its standard deviation."""
        law = self.predict_dist(X)
        return (law.mean(), law.std()) if return_std else law.mean()

    def predict_var(self, X) -> Float64[np.ndarray, " n"]:
        """The variance of each row's law."""
        return self.predict_dist(X).var()

    def predict_interval(self, X, coverage: float = 0.9) -> Float64[np.ndarray, "n 2"]:
        """The equal-tailed interval that holds `coverage`: a column of lower ends, one of upper."""
        if np.ndim(coverage) or not 0 < coverage < 1:
            raise ValueError(f"coverage must lie strictly between 0 and 1, but is {coverage!r}.")
        return np.stack(self.predict_dist(X).interval(coverage), axis=1)

    def predict_quantiles(
        self, X, alpha: float | Sequence[float] = (0.05, 0.5, 0.95)
    ) -> Float64[np.ndarray, "n levels"]:
        """One column for every level in `alpha`."""
        levels = np.atleast_1d(np.asarray(alpha, float))
        if not ((levels > 0) & (levels < 1)).all():
            raise ValueError(f"alpha must hold levels strictly between 0 and 1, but is {alpha!r}.")
        return self.predict_dist(X).ppf(levels[:, None]).T

    def sample_y(self, X, n_samples: int = 1, random_state=0) -> Float64[np.ndarray, "n n_samples"]:
        """Independent draws from each row's law."""
        return self.predict_dist(X).rvs(n_samples, random_state=random_state).T

    def save(self, path: str | PathLike) -> None:
        """Write the fitted estimator to a file that `dgme.load` reads; nothing in it is code."""
        from dgme.io import save

        save(self, path)
