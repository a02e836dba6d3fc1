import warnings
from dataclasses import asdict
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from dgme import em
from dgme._progress import em_progress
from dgme.distributions import GaussianMixture
from dgme.engine import Optimiser, Prediction, apply_lanes, find_device
from dgme.estimators._base import DensityRegressor
from dgme.estimators._scaling import Scaling
from dgme.estimators._stored import take
from dgme.nn import ACTIVATIONS, INITIALISERS, FlatNetwork, GaussianHead, MLPFactory
from dgme.rounds import Mixture, Status

# With fewer held-out rows than this their score is too noisy to choose a round by.
_MIN_HELD_OUT = 10
# Rows that are scaled and predicted together, so that memory does not grow with the table.
_PREDICTED_AT_ONCE = 2**16
# Nats per row: a round that changes the likelihood by less has nothing left to do.
_SETTLED = 0.01


class DGMERegressor(DensityRegressor):
    """Deep Gaussian mixture ensemble: K small networks trained by expectation-maximisation.

    Every network predicts a Gaussian for each row; the predictive law is their mixture, with
    weights that are learned (El-Laham et al., Deep Gaussian Mixture Ensembles, UAI 2023). It can be
    skewed, heavy-tailed, or have several modes.

    Parameters
    ----------
    n_components : int, default 5
        Number K of networks in the mixture.
    n_rounds : int, default 10
        Largest number J of rounds of expectation and maximisation.
    epochs_per_round : int, default 40
        Passes E over the rows in each maximisation step.
    hidden_sizes : tuple of int, default (50,)
        Widths of the hidden layers of each network.
    activation : str, default "relu"
        One of "relu", "silu", "gelu", "elu", "tanh", "softplus", "identity".
    dropout : float, default 0.0
        Probability of dropping a hidden unit while training.
    learning_rate : float, default 0.01
        Step size of Adam.
    weight_decay : float, default 0.0
        Decoupled weight decay of Adam.
    batch_size : int, default 32
        Rows per optimiser step; all rows where there are fewer.
    min_scale : float, default 1e-2
        The smallest standard deviation that a component can have, in units of the standardised
        target. It keeps components from collapsing on repeated targets.
    init : str, default "torch"
        Initialisation: "torch", "uniform", "normal", "xavier_uniform" or "xavier_normal".
    standardize : bool, default True
        Whether to bring features and target to mean zero and variance one, which is undone exactly
        in the predictions.
    validation_fraction : float or None, default 0.1
        Share of the rows that is held out to choose the number of rounds: the round that scores
        best on them is the one that predicts. None, or fewer than ten held-out rows: all rows are
        trained on for exactly `n_rounds` rounds.
    patience : int, default 3
        Training stops when the held-out score has not improved for this many rounds.
    annealing : float, default 1.0
        Inverse temperature of the first expectation step, in (0, 1]. Below one, responsibilities
        begin soft and harden over the first half of the rounds.
    n_init : int, default 1
        Number of restarts, of which the best is kept. They are trained side by side, for which each
        of the `n_components` networks of each takes the memory of one more copy of X.
    warm_start : bool, default False
        Whether `fit` goes on from the present state, with the seed of the first fit, so that the
        same rows are held out.
    random_state : int, RandomState or None, default None
        Seed of initialisation, held-out rows and order of minibatches.
    verbose : int, default 0
        Above zero, a progress bar is shown on a terminal.
    device : str or None, default None
        Where to train, "cpu" or "gpu", with an optional index as in "gpu:1". By default on all
        devices of JAX's default kind.

    Attributes
    ----------
    weights_ : array of shape (n_components,)
        Learned mixture weights.
    n_rounds_ : int
        The round that predicts.
    rounds_run_ : int
        How many rounds were run.
    history_ : dict of arrays
        A table with one entry per round: mean log-likelihood of the rows trained on; Q, its lower
        bound that the round raised; the effective number of components, which is the exponential of
        the weights' entropy; the held-out score; the weights.
    converged_ : bool
        Whether the held-out score stopped improving before the rounds ran out; without held-out
        rows, whether the last round changed the likelihood by less than 0.01 nats per row.

    Examples
    --------
    >>> from dgme import DGMERegressor
    >>> from dgme.datasets import toy
    >>> data = toy.load("gaussian", 200, random_state=0)
    >>> model = DGMERegressor(n_components=2, n_rounds=2, random_state=0).fit(data.X, data.y)
    >>> law = model.predict_dist(data.X)
    >>> law.logpdf(data.y).shape
    (200,)
    """

    _parameter_constraints: ClassVar[dict] = {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "n_rounds": [Interval(Integral, 1, None, closed="left")],
        "epochs_per_round": [Interval(Integral, 1, None, closed="left")],
        "hidden_sizes": ["array-like"],
        "activation": [StrOptions(set(ACTIVATIONS))],
        "dropout": [Interval(Real, 0, 1, closed="left")],
        "learning_rate": [Interval(Real, 0, None, closed="neither")],
        "batch_size": [Interval(Integral, 1, None, closed="left")],
        "weight_decay": [Interval(Real, 0, None, closed="left")],
        "min_scale": [Interval(Real, 0, None, closed="neither")],
        "init": [StrOptions(set(INITIALISERS))],
        "standardize": ["boolean"],
        "validation_fraction": [Interval(Real, 0, 1, closed="neither"), None],
        "patience": [Interval(Integral, 1, None, closed="left")],
        "annealing": [Interval(Real, 0, 1, closed="right")],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "warm_start": ["boolean"],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
        "device": [str, None],
    }

    weights_: np.ndarray
    params_: np.ndarray
    history_: dict[str, np.ndarray]
    n_rounds_: int
    rounds_run_: int
    converged_: bool
    n_features_in_: int
    seed_: int
    experts_: em.Experts
    x_scaling_: Scaling
    y_scaling_: Scaling

    def __init__(
        self,
        n_components=5,
        n_rounds=10,
        epochs_per_round=40,
        hidden_sizes=(50,),
        activation="relu",
        dropout=0.0,
        learning_rate=0.01,
        batch_size=32,
        weight_decay=0.0,
        min_scale=1e-2,
        init="torch",
        standardize=True,
        validation_fraction: Any = 0.1,
        patience=3,
        annealing=1.0,
        n_init=1,
        warm_start=False,
        random_state=None,
        verbose=0,
        device=None,
    ):
        self.n_components = n_components
        self.n_rounds = n_rounds
        self.epochs_per_round = epochs_per_round
        self.hidden_sizes = hidden_sizes
        self.activation = activation
        self.dropout = dropout
        self.learning_rate = learning_rate
        self.batch_size = batch_size
        self.weight_decay = weight_decay
        self.min_scale = min_scale
        self.init = init
        self.standardize = standardize
        self.validation_fraction = validation_fraction
        self.patience = patience
        self.annealing = annealing
        self.n_init = n_init
        self.warm_start = warm_start
        self.random_state = random_state
        self.verbose = verbose
        self.device = device

    def fit(self, X, y, sample_weight=None):
        """Train the ensemble. Rows of weight zero are as if they were not there."""
        self._validate_params()
        going_on = self.warm_start and self.__sklearn_is_fitted__()
        if not going_on:
            self._forget()
        X, y, weight = self._check_rows(X, y, sample_weight, reset=not going_on)
        experts = self._experts(X.shape[1])
        if going_on:
            self._check_unchanged(experts)
            seed, x_scaling, y_scaling = self.seed_, self.x_scaling_, self.y_scaling_
            train, held_out = self._split(len(X), seed)
        else:
            seed = int(check_random_state(self.random_state).randint(2**31 - 1))
            train, held_out = self._split(len(X), seed)
            x_scaling, y_scaling = self._scalings(X[train], y[train], weight[train])

        def data(rows):
            x, target = x_scaling.forward(X[rows]), y_scaling.forward(y[rows])
            return em.Data.of(x[None], target[None], weight[rows][None])

        log_unit = float(np.log(y_scaling.scale))
        with em_progress(
            self.n_rounds, self.epochs_per_round, log_unit, visible=self.verbose > 0
        ) as progress:
            result = em.fit(
                experts,
                data(train),
                self.n_components,
                self._plan(n_init=1 if going_on else self.n_init),
                seed=seed,
                start=Mixture(self.params_[None], self.weights_[None]) if going_on else None,
                rounds_before=self.rounds_run_ if going_on else 0,
                held_out=data(held_out) if len(held_out) else None,
                on_round=progress.on_round,
                on_epochs=progress.on_epochs,
                device=find_device(self.device),
            )
        self.experts_, self.seed_ = experts, seed
        self.x_scaling_, self.y_scaling_ = x_scaling, y_scaling
        self._keep(result, log_unit)
        for finding in result.findings[0]:
            warnings.warn(str(finding), ConvergenceWarning, stacklevel=2)
        return self

    def predict_dist(self, X) -> GaussianMixture:
        """The predictive law of every row: a mixture of `n_components` Gaussians."""
        check_is_fitted(self)
        rows: Any = validate_data(self, X, reset=False, dtype=np.float64)
        means, scales = self._components(rows)
        return GaussianMixture(self.weights_, means.T, scales.T)

    def responsibilities(self, X, y) -> np.ndarray:
        """Probability that a component made the target, shape (n, n_components)."""
        check_is_fitted(self)
        rows: Any = validate_data(self, X, y, reset=False, dtype=np.float64, y_numeric=True)
        means, scales = self._components(rows[0])
        with np.errstate(over="ignore"):
            log_density = -0.5 * ((rows[1] - means) / scales) ** 2 - np.log(scales)
        return em.responsibilities(self.weights_[None], log_density[None])[0].T

    def dump_state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """What `fit` learned, as plain values and arrays."""
        facts = {
            **_description(self.experts_),
            "n_features_in": self.n_features_in_,
            "feature_names_in": list(getattr(self, "feature_names_in_", ())),
            "n_rounds": self.n_rounds_,
            "rounds_run": self.rounds_run_,
            "converged": self.converged_,
            "seed": self.seed_,
            "history": list(self.history_),
        }
        network = self.experts_.network
        arrays = {
            **{f"network.{name}": part for name, part in network.split(self.params_).items()},
            **{f"history.{name}": column for name, column in self.history_.items()},
            "weights": self.weights_,
            "x.center": self.x_scaling_.center,
            "x.scale": self.x_scaling_.scale,
            "y.center": self.y_scaling_.center,
            "y.scale": self.y_scaling_.scale,
        }
        return facts, arrays

    def load_state(self, facts: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        """Become fitted again, if all that `dump_state` gave is there and fits together."""
        self._validate_params()
        n_features, names = int(facts["n_features_in"]), facts["feature_names_in"]
        if names and len(names) != n_features:
            raise ValueError(f"there are {len(names)} feature names for {n_features} features")
        recipe = facts["network"] | {"hidden_sizes": tuple(facts["network"]["hidden_sizes"])}
        factory = MLPFactory(**recipe)
        if factory.n_inputs != n_features:
            raise ValueError(f"the network reads {factory.n_inputs} of {n_features} features")
        network = FlatNetwork(factory)
        weights = arrays.get("weights", np.empty(0))
        members = (weights.size,)
        if weights.dtype.kind != "f" or (weights < 0).any() or not np.isclose(weights.sum(), 1):
            raise ValueError("array 'weights' is missing or holds no probabilities")

        def scaling(of: str, columns: tuple[int, ...]) -> Scaling:
            found = Scaling(*(take(arrays, f"{of}.{part}", columns) for part in Scaling._fields))
            if not found.usable:
                raise ValueError(f"array '{of}.scale' must be positive")
            return found

        params = [
            take(arrays, f"network.{name}", members + shape).reshape(members[0], -1)
            for name, shape in network.shapes.items()
        ]
        learned = {
            "experts_": em.Experts(network, GaussianHead(float(facts["min_scale"]))),
            "seed_": int(facts["seed"]),
            "n_features_in_": n_features,
            "n_rounds_": int(facts["n_rounds"]),
            "rounds_run_": int(facts["rounds_run"]),
            "converged_": bool(facts["converged"]),
            "weights_": take(arrays, "weights", members),
            "x_scaling_": scaling("x", (n_features,)),
            "y_scaling_": scaling("y", ()),
            "history_": {name: arrays[f"history.{name}"] for name in facts["history"]},
            "params_": np.concatenate(params, axis=1),
        }
        if names:
            learned["feature_names_in_"] = np.array(names, dtype=object)
        vars(self).update(learned)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "params_")

    def _forget(self) -> None:
        for name in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, name)

    def _check_rows(self, X, y, sample_weight, *, reset: bool) -> tuple[np.ndarray, ...]:
        rows: Any = validate_data(
            self, X, y, reset=reset, dtype=np.float64, y_numeric=True, ensure_min_samples=2
        )
        X, y = rows
        if y.dtype.kind not in "fiub":
            raise ValueError(f"y must hold numbers, but has dtype {y.dtype}. Convert it first.")
        weight = _check_sample_weight(sample_weight, X, dtype=np.float64)
        if (weight < 0).any():
            raise ValueError(
                f"sample_weight must not be negative, but its smallest is {weight.min()}."
            )
        used = weight > 0
        if used.sum() < max(2, self.n_components):
            raise ValueError(
                f"n_components={self.n_components} needs as many rows of positive sample_weight "
                f"(and two at least), but there are n_samples = {used.sum()}. "
                "Use fewer components or more rows."
            )
        # Relative weights are all that counts, and sums of these do not overflow.
        return X[used], y[used].astype(np.float64), weight[used] / weight.max()

    def _experts(self, n_features: int) -> em.Experts:
        head = GaussianHead(float(self.min_scale))
        factory = MLPFactory(
            n_features,
            head.n_outputs,
            self._widths(),
            self.activation,
            float(self.dropout),
            self.init,
        )
        return em.Experts(FlatNetwork(factory), head)

    def _widths(self) -> tuple[int, ...]:
        widths = tuple(self.hidden_sizes)
        if not all(isinstance(width, Integral) and int(width) > 0 for width in widths):
            raise ValueError(f"hidden_sizes must hold positive integers, but is {widths!r}.")
        return tuple(map(int, widths))

    def _plan(self, n_init: int) -> em.Plan:
        return em.Plan(
            n_rounds=self.n_rounds,
            epochs_per_round=self.epochs_per_round,
            batch_size=self.batch_size,
            optimiser=Optimiser(float(self.learning_rate), float(self.weight_decay)),
            n_init=n_init,
            patience=self.patience,
            annealing=float(self.annealing),
        )

    def _split(self, n_rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """Rows to train on and rows to hold out, which are none where they would be too few."""
        fraction = self.validation_fraction
        n_held_out = 0 if fraction is None else round(fraction * n_rows)
        if n_held_out < _MIN_HELD_OUT:
            return np.arange(n_rows), np.arange(0)
        if n_rows - n_held_out < max(2, self.n_components):
            raise ValueError(
                f"validation_fraction={fraction} leaves {n_rows - n_held_out} of {n_rows} rows to "
                f"train on, too few for n_components={self.n_components}. Hold out less."
            )
        shuffled = np.random.default_rng(seed).permutation(n_rows)
        return np.sort(shuffled[n_held_out:]), np.sort(shuffled[:n_held_out])

    def _scalings(self, X, y, weight) -> tuple[Scaling, Scaling]:
        if not self.standardize:
            return Scaling.identity(X.shape[1:]), Scaling.identity()
        scalings = []
        for name, part in (("X", X), ("y", y)):
            scaling = Scaling.standard(part, weight)
            if not scaling.usable:
                raise ValueError(
                    f"{name} spans from {part.min()} to {part.max()}, which double precision "
                    "cannot standardise. Look for values that stand for missing ones, or rescale."
                )
            scalings.append(scaling)
        return scalings[0], scalings[1]

    def _check_unchanged(self, experts: em.Experts) -> None:
        """A warm start goes on with the present networks, so they must be those asked for."""

        def facts(of: em.Experts, n_components: int) -> dict[str, Any]:
            description = _description(of)
            return {"n_components": n_components, **description.pop("network"), **description}

        now = facts(experts, self.n_components)
        before = facts(self.experts_, len(self.weights_))
        for name, value in now.items():
            if value != before[name]:
                raise ValueError(
                    f"warm_start goes on with networks of {name}={before[name]!r}, but {name} is "
                    f"now {value!r}. Set it back, or fit anew with warm_start=False."
                )

    def _keep(self, result: em.Fit, log_unit: float) -> None:
        run = result.chosen_run[0]
        rounds = [done for done in result.history if done.number <= result.last_round[0]]
        likelihood = np.array([done.log_likelihood[run] for done in rounds]) - log_unit
        held_out = [done.held_out_score for done in rounds]
        columns = {
            "round": np.array([done.number for done in rounds]),
            "log_likelihood": likelihood,
            "q": np.array([done.q[run] for done in rounds]) - log_unit,
            "effective_components": np.array([done.effective_components[run] for done in rounds]),
            "held_out_score": np.array(
                [np.nan if scores is None else scores[run] - log_unit for scores in held_out]
            ),
        } | {
            f"weight_{k}": np.array([done.weights[run, k] for done in rounds])
            for k in range(self.n_components)
        }
        earlier = getattr(self, "history_", {name: column[:0] for name, column in columns.items()})
        self.history_ = {
            name: np.concatenate([earlier[name], column]) for name, column in columns.items()
        }
        self.params_ = result.mixture.params[0]
        self.weights_ = result.mixture.weights[0]
        if result.best_round[0] > getattr(self, "rounds_run_", 0):
            # Otherwise a warm start did not improve on the round that predicted before.
            self.n_rounds_ = int(result.best_round[0])
        self.rounds_run_ = int(result.last_round[0])
        if held_out[0] is None:
            settled = np.abs(np.diff(likelihood[-2:])) < _SETTLED
            self.converged_ = bool(settled.any())
        else:
            self.converged_ = result.status[0] is Status.CONVERGED

    def _components(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Means and scales of the components in the target's units, one row per component."""
        device, unit = find_device(self.device), self.y_scaling_
        network, head = self.experts_
        means, scales = (np.empty((len(self.weights_), len(rows))) for _ in range(2))
        for start in range(0, len(rows), _PREDICTED_AT_ONCE):
            block = slice(start, start + _PREDICTED_AT_ONCE)
            x = self.x_scaling_.forward(rows[block]).astype(np.float32)
            of_block = apply_lanes(Prediction(head), network, self.params_, x[None], device=device)
            means[:, block] = of_block[0] * unit.scale + unit.center
            scales[:, block] = of_block[1] * unit.scale
        return means, scales


def _description(experts: em.Experts) -> dict[str, Any]:
    factory: Any = experts.network.factory
    return {"network": asdict(factory), "min_scale": experts.head.min_scale}
