"""The verbs that follow from a predictive law, for regressors and for classifiers."""

from abc import ABCMeta, abstractmethod
from collections.abc import Sequence
from os import PathLike
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from dgme.distributions import CategoricalMixture, GaussianMixture, VectorGaussianMixture


class _Saved(BaseEstimator):
    def save(self, path: str | PathLike) -> None:
        """Write the fitted estimator to a file that `dgme.load` reads; nothing in it is code."""
        from dgme.io import save

        save(self, path)


class DensityRegressor(RegressorMixin, _Saved, metaclass=ABCMeta):
    """What every regressor can do once it can predict a law for each row.

    For targets of shape (n, d) every result has a last axis of targets.
    """

    @abstractmethod
    def predict_dist(
        self, X, n_posterior_samples: int | None = None
    ) -> GaussianMixture | VectorGaussianMixture:
        """The predictive law of every row.

        Where parameters are sampled, it is the mixture of the laws of all samples, by default
        `n_posterior_samples` of the estimator, and its `groups` tell them apart. With 0 samples it
        is the law of the parameters as they were trained.
        """

    def pred_dist(self, X) -> GaussianMixture | VectorGaussianMixture:
        """The same as `predict_dist`, under the name that NGBoost and others use."""
        return self.predict_dist(X)

    def predict(self, X, return_std: bool = False):
        """The mean of each row's law and, if asked for, its standard deviation."""
        law = self.predict_dist(X)
        return (law.mean(), law.std()) if return_std else law.mean()

    def predict_var(self, X) -> np.ndarray:
        """The variance of each row's law."""
        return self.predict_dist(X).var()

    def predict_interval(self, X, coverage: float = 0.9) -> np.ndarray:
        """The equal-tailed interval that holds `coverage`: a column of lower ends, one of upper."""
        if np.ndim(coverage) or not 0 < coverage < 1:
            raise ValueError(f"coverage must lie strictly between 0 and 1, but is {coverage!r}.")
        return np.stack(self.predict_dist(X).interval(coverage), axis=1)

    def predict_quantiles(
        self, X, alpha: float | Sequence[float] = (0.05, 0.5, 0.95)
    ) -> np.ndarray:
        """One column for every level in `alpha`."""
        levels = np.atleast_1d(np.asarray(alpha, float))
        if not ((levels > 0) & (levels < 1)).all():
            raise ValueError(f"alpha must hold levels strictly between 0 and 1, but is {alpha!r}.")
        return np.swapaxes(self.predict_dist(X).ppf(levels[:, None]), 0, 1)

    def sample_y(self, X, n_samples: int = 1, random_state=0) -> np.ndarray:
        """Independent draws from each row's law, in the last axis."""
        return np.moveaxis(self.predict_dist(X).rvs(n_samples, random_state=random_state), 0, -1)

    def __sklearn_tags__(self):
        tags: Any = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


class DensityClassifier(ClassifierMixin, _Saved, metaclass=ABCMeta):
    """What every classifier can do once it can predict a law for each row."""

    classes_: np.ndarray

    @abstractmethod
    def predict_dist(self, X, n_posterior_samples: int | None = None) -> CategoricalMixture:
        """The predictive law of every row, over the numbers of the classes in `classes_`.

        Where parameters are sampled, it is the mixture of the laws of all samples, by default
        `n_posterior_samples` of the estimator, and its `groups` tell them apart. With 0 samples it
        is the law of the parameters as they were trained.
        """

    def pred_dist(self, X) -> CategoricalMixture:
        """The same as `predict_dist`, under the name that NGBoost and others use."""
        return self.predict_dist(X)

    def predict(self, X) -> np.ndarray:
        """The most probable class of each row."""
        most_probable: Any = self.predict_dist(X).mode()
        return self.classes_[most_probable]

    def predict_proba(self, X) -> np.ndarray:
        """Probabilities of the classes, in the order of `classes_`."""
        return self.predict_dist(X).mean()

    def predict_log_proba(self, X) -> np.ndarray:
        """Logarithms of `predict_proba`."""
        law = self.predict_dist(X)
        return law.logpmf(np.arange(law.n_classes)[:, None]).T

    def sample_y(self, X, n_samples: int = 1, random_state=0) -> np.ndarray:
        """Independent draws from each row's law, in the last axis."""
        draws: Any = self.predict_dist(X).rvs(n_samples, random_state=random_state)
        return self.classes_[draws.T]
