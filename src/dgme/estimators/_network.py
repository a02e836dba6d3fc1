"""What all estimators have in common, from the rows they are given to the trained ensemble."""

from abc import ABCMeta, abstractmethod
from numbers import Integral
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from dgme.distributions import CategoricalMixture, GaussianMixture, VectorGaussianMixture
from dgme.engine import Optimiser, find_device
from dgme.estimators._base import DensityClassifier, DensityRegressor
from dgme.estimators._callbacks import CallbackSupportMixin, with_callbacks
from dgme.estimators._ensemble import Ensemble, describe
from dgme.estimators._parameters import estimator
from dgme.estimators._rows import (
    TrainingRows,
    check_classification,
    check_regression,
    split,
    standard_scaling,
)
from dgme.estimators._scaling import Scaling
from dgme.experts import Data, Experts
from dgme.nn import MLP, Design, FlatNetwork, Head
from dgme.posterior import Draws


class Task(NamedTuple):
    """What a method is given to train on."""

    experts: Experts
    train: Data
    held_out: Data | None
    x_scaling: Scaling
    y_scaling: Scaling
    vector: bool
    seed: int
    before: Ensemble | None
    """What a warm start goes on from."""

    @property
    def log_unit(self) -> float:
        """Logarithm of the unit in which the networks see the target."""
        return float(np.log(self.y_scaling.scale).sum())

    def ensemble(self, params: np.ndarray, weights: np.ndarray, **more) -> Ensemble:
        """What predicts, of members that were trained."""
        own = {"experts": self.experts, "vector": self.vector, "seed": self.seed} | more
        return Ensemble(
            params=params,
            weights=weights,
            x_scaling=self.x_scaling,
            y_scaling=self.y_scaling,
            **own,
        )


class Fitted:
    """What `fit` learns; estimators are dataclasses of their parameters alone."""

    ensemble_: Ensemble
    history_: dict[str, np.ndarray]
    seed_: int
    held_out_rows_: np.ndarray
    """Numbers of the rows that `validation_fraction` held out; files do not keep them."""
    n_features_in_: int
    converged_: bool


@estimator
class NetworkEstimator(Fitted, CallbackSupportMixin, BaseEstimator, metaclass=ABCMeta):
    hidden_sizes: tuple[int, ...] = (50,)
    activation: str = "relu"
    dropout: float = 0.0
    init: str = "torch"
    network: Design | None = None
    learning_rate: float = 0.01
    weight_decay: float = 0.0
    batch_size: int = 32
    adversarial_eps: float = 0.0
    standardize: bool = True
    validation_fraction: float | None = 0.1
    n_posterior_samples: int = 30
    random_state: int | np.random.RandomState | None = None
    verbose: int = 0
    device: str | None = None

    # What `dump_state` keeps beside the ensemble, by the type that reads it back.
    _learned_numbers: ClassVar[dict[str, type]] = {"seed_": int, "converged_": bool}

    @abstractmethod
    def _head(self, n_targets: int) -> Head: ...

    @abstractmethod
    def _check_rows(self, X, y, sample_weight, *, reset: bool) -> TrainingRows: ...

    @abstractmethod
    def _target_scaling(self, rows: TrainingRows) -> Scaling: ...

    @abstractmethod
    def _train(self, task: Task) -> Ensemble:
        """Train, keep the history, and return what predicts."""

    @property
    def _rows_needed(self) -> int:
        return 1

    def _row_rules(self, reset: bool) -> dict[str, Any]:
        # Only a network of the user's choice may read rows that are no lists of features.
        return {
            "reset": reset,
            "needed": self._rows_needed,
            "allow_nd": self.network is not None,
        }

    @with_callbacks
    def fit(self, X, y, sample_weight=None):
        """Train. Rows of weight zero are as if they were not there."""
        self._validate_params()
        before = self._before()
        if before is None:
            self._forget()
        rows = self._check_rows(X, y, sample_weight, reset=before is None)
        if before is None:
            seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        else:
            seed = self.seed_
        train, held_out = map(
            rows.take,
            split(len(rows.y), self.validation_fraction, seed, needed=self._rows_needed),
        )
        if before is not None:
            scalings = before.x_scaling, before.y_scaling
        else:
            scalings = self._x_scaling(train), self._target_scaling(train)

        def data(part: TrainingRows) -> Data:
            x, y = (scale.forward(of) for scale, of in zip(scalings, part[:2], strict=True))
            return Data.of(x[None], y[None], part.weight[None])

        rows_seen = data(train)
        task = Task(
            self._experts(rows_seen),
            rows_seen,
            data(held_out) if len(held_out.y) else None,
            *scalings,
            rows.vector,
            seed,
            before,
        )
        if before is not None:
            self._check_unchanged(task.experts, before)
        self.ensemble_ = self._train(task)
        self.seed_ = seed
        self.held_out_rows_ = held_out.numbers
        return self

    def _before(self) -> Ensemble | None:
        """What there is to go on from; methods without a warm start begin anew."""
        return None

    def _x_scaling(self, rows: TrainingRows) -> Scaling:
        if self.standardize:
            return standard_scaling("X", rows.X, rows.weight)
        return Scaling.identity(rows.X.shape[-1:])

    def _design(self) -> Design:
        if self.network is not None:
            return self.network
        widths = tuple(self.hidden_sizes)
        if not all(isinstance(width, Integral) and int(width) > 0 for width in widths):
            raise ValueError(f"hidden_sizes must hold positive integers, but is {widths!r}.")
        return MLP(tuple(map(int, widths)), self.activation, float(self.dropout), init=self.init)

    def _experts(self, train: Data) -> Experts:
        head = self._head(train.y.shape[2])
        network = FlatNetwork(self._design(), train.x.shape[2:], head.n_outputs)
        if self.adversarial_eps == 0:
            return Experts(network, head)
        features = train.x.reshape(-1, train.x.shape[-1])
        step = self.adversarial_eps * (features.max(axis=0) - features.min(axis=0))
        return Experts(network, head, np.broadcast_to(step, train.x.shape[2:]).astype(np.float32))

    def _optimiser(self, learning_rate: float | None = None, schedule: str = "constant"):
        rate = self.learning_rate if learning_rate is None else learning_rate
        return Optimiser(float(rate), float(self.weight_decay), schedule=schedule)

    def _rows(self, X) -> np.ndarray:
        """Rows to predict, which must be of the shape of those that were trained on."""
        check_is_fitted(self)
        rows: Any = validate_data(
            self, X, reset=False, dtype=np.float64, allow_nd=self.network is not None
        )
        shape = self.ensemble_.experts.network.input_shape
        if rows.shape[1:] != shape:
            raise ValueError(
                f"X must have rows of shape {shape}, as in the fit, but its rows have shape "
                f"{rows.shape[1:]}."
            )
        return rows

    def _n_samples(self, n_posterior_samples: int | None) -> int:
        n = self.n_posterior_samples if n_posterior_samples is None else n_posterior_samples
        if not isinstance(n, Integral) or n < 0:
            raise ValueError(f"n_posterior_samples must be an integer from 0, but is {n!r}.")
        return int(n)

    def draw_parameters(self, n_posterior_samples: int | None = None) -> Draws:
        """The parameters that `predict_dist` predicts with: of every sample, of every member."""
        check_is_fitted(self)
        return self.ensemble_.draws(self._n_samples(n_posterior_samples))

    def dump_state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """What `fit` learned, as plain values and arrays."""
        facts, arrays = self.ensemble_.dump()
        facts |= {
            "feature_names_in": list(getattr(self, "feature_names_in_", ())),
            "history": list(self.history_),
        } | {name: getattr(self, name) for name in self._learned_numbers}
        return facts, arrays | {f"history.{name}": col for name, col in self.history_.items()}

    def load_state(self, facts: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        """Become fitted again, if all that `dump_state` gave is there and fits together."""
        self._validate_params()
        ensemble, names = Ensemble.load(facts, arrays, self.network), facts["feature_names_in"]
        n_features = ensemble.experts.network.input_shape[0]
        if names and len(names) != n_features:
            raise ValueError(f"there are {len(names)} feature names for {n_features} features")
        learned = {
            "ensemble_": ensemble,
            "n_features_in_": n_features,
            "history_": {name: arrays[f"history.{name}"] for name in facts["history"]},
        } | {name: kind(facts[name]) for name, kind in self._learned_numbers.items()}
        if names:
            learned["feature_names_in_"] = np.array(names, dtype=object)
        vars(self).update(learned)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "ensemble_")

    def _forget(self) -> None:
        for name in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, name)

    def _check_unchanged(self, experts: Experts, before: Ensemble) -> None:
        """A warm start goes on with the present networks, so they must be those asked for."""

        def facts(of: Experts) -> dict[str, Any]:
            description = describe(of)
            return {**description.pop("network"), **description.pop("head"), **description}

        present = facts(before.experts)
        for name, value in facts(experts).items():
            if value != present.get(name):
                raise ValueError(
                    f"warm_start goes on with networks of {name}={present.get(name)!r}, but {name} "
                    f"is now {value!r}. Set it back, or fit anew with warm_start=False."
                )


@estimator
class NetworkRegressor(DensityRegressor, NetworkEstimator):
    """A regressor whose law is a mixture of Gaussians."""

    min_scale: float = 1e-2

    def predict_dist(
        self, X, n_posterior_samples: int | None = None
    ) -> GaussianMixture | VectorGaussianMixture:
        rows = self._rows(X)
        n_samples = self._n_samples(n_posterior_samples)
        return self.ensemble_.gaussian_law(rows, n_samples, find_device(self.device))

    def _check_rows(self, X, y, sample_weight, *, reset: bool) -> TrainingRows:
        return check_regression(self, X, y, sample_weight, **self._row_rules(reset))

    def _target_scaling(self, rows: TrainingRows) -> Scaling:
        if self.standardize:
            return standard_scaling("y", rows.y, rows.weight)
        return Scaling.identity(rows.y.shape[1:])


@estimator
class NetworkClassifier(DensityClassifier, NetworkEstimator):
    """A classifier whose law is a mixture of categoricals."""

    def predict_dist(self, X, n_posterior_samples: int | None = None) -> CategoricalMixture:
        rows = self._rows(X)
        n_samples = self._n_samples(n_posterior_samples)
        return self.ensemble_.categorical_law(rows, n_samples, find_device(self.device))

    def _check_rows(self, X, y, sample_weight, *, reset: bool) -> TrainingRows:
        rows = check_classification(self, X, y, sample_weight, **self._row_rules(reset))
        if not reset and not np.array_equal(self.classes_, rows.classes):
            raise ValueError(
                f"warm_start goes on with the classes {self.classes_}, but y now holds the classes "
                f"{rows.classes}. Fit anew with warm_start=False."
            )
        self.classes_ = rows.classes
        return rows

    def _target_scaling(self, rows: TrainingRows) -> Scaling:
        return Scaling.identity(rows.y.shape[1:])

    def draw_parameters(self, n_posterior_samples: int | None = None) -> Draws:
        """The parameters that `predict_dist` predicts with: of every sample, of every member."""
        check_is_fitted(self)
        return self.ensemble_.draws(self._n_samples(n_posterior_samples))

    def dump_state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        facts, arrays = super().dump_state()
        return facts | {"classes": self.classes_.tolist()}, arrays

    def load_state(self, facts: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        super().load_state(facts, arrays)
        self.classes_ = np.array(facts["classes"])
        if len(self.classes_) != len(self.ensemble_.y_scaling.scale):
            raise ValueError(
                f"there are {len(self.classes_)} classes, but the networks know others"
            )
