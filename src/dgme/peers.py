"""Other ways to a predictive law, as a competent user sets them up: what our methods are beside.

Each is a `DensityRegressor` that wraps another library. NGBoost and LightGBM come with
`pip install 'dgme[peers]'`; the Gaussian process is scikit-learn's.
"""

import warnings
from abc import abstractmethod
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from types import MappingProxyType
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.model_selection import KFold, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data
from threadpoolctl import threadpool_limits

from dgme._optional import installed_by
from dgme.distributions import GaussianMixture
from dgme.estimators import DensityRegressor

_MANY_ROWS = 10_000


class _Peer(DensityRegressor, BaseEstimator):
    """Gaussian laws from another library. A subclass fits, and gives means and scales."""

    random_state: Any

    def fit(self, X, y, sample_weight=None):
        """Train. Rows of weight zero are left out; other weights are not known to all peers."""
        if sample_weight is not None:
            raise ValueError(f"{type(self).__name__} takes no sample_weight. Leave it out.")
        rows: Any = validate_data(self, X, y, dtype=np.float64, y_numeric=True)
        features, targets = rows
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        self._fit(features, targets, seed)
        return self

    def predict_dist(self, X, n_posterior_samples: int | None = None) -> GaussianMixture:
        """The predictive law of every row; there is no posterior to sample."""
        check_is_fitted(self)
        rows: Any = validate_data(self, X, dtype=np.float64, reset=False)
        means, scales = self._predict(rows)
        scales = np.broadcast_to(scales, means.shape)
        return GaussianMixture([1.0], means[:, None], scales[:, None])

    @abstractmethod
    def _fit(self, X: np.ndarray, y: np.ndarray, seed: int) -> None: ...

    @abstractmethod
    def _predict(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray | float]: ...


class NGBoostPeer(_Peer):
    """Natural gradient boosting of a Gaussian.

    Held-out rows choose the number of stages, and all rows are then boosted for as long.
    """

    def __init__(self, n_estimators=2000, learning_rate=0.01, random_state=None):
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.random_state = random_state

    def _fit(self, X, y, seed):
        with installed_by("peers"):
            from ngboost import NGBRegressor

        def model(n_stages):
            return NGBRegressor(
                n_estimators=n_stages,
                learning_rate=self.learning_rate,
                random_state=seed,
                verbose=False,
            )

        train_x, held_x, train_y, held_y = train_test_split(X, y, test_size=0.2, random_state=seed)
        trial = model(self.n_estimators).fit(
            train_x, train_y, X_val=held_x, Y_val=held_y, early_stopping_rounds=50
        )
        best = trial.best_val_loss_itr
        self.model_ = model(self.n_estimators if best is None else best + 1).fit(X, y)

    def _predict(self, X):
        law = self.model_.pred_dist(X)
        return law.params["loc"], law.params["scale"]


class LightGBMPeer(_Peer):
    """Gradient boosted trees for the mean, and the same scale for all rows.

    Five folds choose the number of trees and give errors out of fold, whose root mean square is the
    scale; all rows are then boosted for as long as the folds on average.
    """

    def __init__(self, n_estimators=5000, learning_rate=0.05, random_state=None):
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.random_state = random_state

    def _fit(self, X, y, seed):
        with installed_by("peers"):
            import lightgbm

        settings = {
            "objective": "regression",
            "learning_rate": self.learning_rate,
            "seed": seed,
            "verbosity": -1,
            # Beside JAX's threads, its own wait for each other for longer than they work.
            "num_threads": 1 if len(y) < _MANY_ROWS else 0,
        }
        errors, lengths = np.empty(len(y)), []
        for train, held_out in KFold(5, shuffle=True, random_state=seed).split(X):
            rows = lightgbm.Dataset(X[train], y[train])
            fold = lightgbm.train(
                settings,
                rows,
                self.n_estimators,
                valid_sets=[lightgbm.Dataset(X[held_out], y[held_out], reference=rows)],
                callbacks=[lightgbm.early_stopping(50, verbose=False)],
            )
            errors[held_out] = y[held_out] - np.asarray(fold.predict(X[held_out]))
            lengths.append(fold.best_iteration)
        self.scale_ = float(np.sqrt(np.mean(errors**2)))
        n_trees = max(1, round(np.mean(lengths)))
        self.model_ = lightgbm.train(settings, lightgbm.Dataset(X, y), n_trees)

    def _predict(self, X):
        return np.asarray(self.model_.predict(X)), self.scale_


class GaussianProcessPeer(_Peer):
    """A Gaussian process with a length scale for each feature, on at most `max_rows` rows."""

    def __init__(self, max_rows=1000, random_state=None):
        self.max_rows = max_rows
        self.random_state = random_state

    def _fit(self, X, y, seed):
        if len(y) > self.max_rows:
            chosen = np.random.default_rng(seed).permutation(len(y))[: self.max_rows]
            X, y = X[chosen], y[chosen]
        scales: Any = np.ones(X.shape[1])
        kernel = ConstantKernel(1.0, (1e-3, 1e3)) * RBF(scales, (1e-2, 1e4))
        kernel += WhiteKernel(0.1, (1e-6, 1e1))
        process = GaussianProcessRegressor(
            kernel, normalize_y=True, n_restarts_optimizer=1, random_state=seed
        )
        with threadpool_limits(1, "blas"), warnings.catch_warnings():
            # A length scale at its bound is that of a feature which tells nothing.
            warnings.simplefilter("ignore", ConvergenceWarning)
            self.model_ = make_pipeline(StandardScaler(), process).fit(X, y)

    def _predict(self, X):
        return self.model_.predict(X, return_std=True)


# By the names that the command line and the benchmarks give them.
PEERS: Mapping[str, Callable[..., DensityRegressor]] = MappingProxyType(
    {
        "ngboost": NGBoostPeer,
        "lightgbm": LightGBMPeer,
        "gaussian-process": GaussianProcessPeer,
    }
)


def installed(name: str) -> bool:
    """Whether the library of one of the `PEERS` is there."""
    return name not in ("ngboost", "lightgbm") or find_spec(name) is not None
