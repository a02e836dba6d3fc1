import warnings
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from dgme import em
from dgme._progress import em_progress
from dgme.distributions import GaussianMixture
from dgme.engine import Optimiser, find_device
from dgme.estimators._base import DensityRegressor
from dgme.estimators._ensemble import Ensemble, describe
from dgme.estimators._rows import TrainingRows, check_rows, split, standard_scalings
from dgme.estimators._scaling import Scaling
from dgme.nn import ACTIVATIONS, INITIALISERS, FlatNetwork, GaussianHead, MLPFactory
from dgme.rounds import Mixture, Status

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

    ensemble_: Ensemble
    history_: dict[str, np.ndarray]
    n_rounds_: int
    rounds_run_: int
    converged_: bool
    seed_: int
    n_features_in_: int

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
        before = self.ensemble_ if self.warm_start and self.__sklearn_is_fitted__() else None
        if before is None:
            self._forget()
        rows = check_rows(self, X, y, sample_weight, reset=before is None, needed=self.n_components)
        experts = self._experts(rows.X.shape[1])
        if before is not None:
            self._check_unchanged(experts, before)
            seed = self.seed_
        else:
            seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        train, held_out = map(
            rows.take,
            split(len(rows.y), self.validation_fraction, seed, needed=self.n_components),
        )
        x_scaling, y_scaling = self._scalings(train, before)

        def data(part: TrainingRows) -> em.Data:
            x, y = x_scaling.forward(part.X), y_scaling.forward(part.y)
            return em.Data.of(x[None], y[None], part.weight[None])

        log_unit = float(np.log(y_scaling.scale))
        with em_progress(
            self.n_rounds, self.epochs_per_round, log_unit, visible=self.verbose > 0
        ) as progress:
            result = em.fit(
                experts,
                data(train),
                self.n_components,
                self._plan(n_init=self.n_init if before is None else 1),
                seed=seed,
                start=before and Mixture(before.params[None], before.weights[None]),
                rounds_before=self.rounds_run_ if before else 0,
                held_out=data(held_out) if len(held_out.y) else None,
                on_round=progress.on_round,
                on_epochs=progress.on_epochs,
                device=find_device(self.device),
            )
        params, weights = (part[0] for part in result.mixture)
        self.ensemble_ = Ensemble(experts, params, weights, x_scaling, y_scaling)
        self.seed_ = seed
        self._keep(result, log_unit)
        for finding in result.findings[0]:
            warnings.warn(str(finding), ConvergenceWarning, stacklevel=2)
        return self

    @property
    def weights_(self) -> np.ndarray:
        return self.ensemble_.weights

    def predict_dist(self, X) -> GaussianMixture:
        """The predictive law of every row: a mixture of `n_components` Gaussians."""
        check_is_fitted(self)
        rows: Any = validate_data(self, X, reset=False, dtype=np.float64)
        means, scales = self.ensemble_.components(rows, find_device(self.device))
        return GaussianMixture(self.weights_, means.T, scales.T)

    def responsibilities(self, X, y) -> np.ndarray:
        """Probability that a component made the target, shape (n, n_components)."""
        check_is_fitted(self)
        rows: Any = validate_data(self, X, y, reset=False, dtype=np.float64, y_numeric=True)
        means, scales = self.ensemble_.components(rows[0], find_device(self.device))
        with np.errstate(over="ignore"):
            log_density = -0.5 * ((rows[1] - means) / scales) ** 2 - np.log(scales)
        return em.responsibilities(self.weights_[None], log_density[None])[0].T

    def dump_state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """What `fit` learned, as plain values and arrays."""
        facts, arrays = self.ensemble_.dump()
        facts |= {
            "feature_names_in": list(getattr(self, "feature_names_in_", ())),
            "n_rounds": self.n_rounds_,
            "rounds_run": self.rounds_run_,
            "converged": self.converged_,
            "seed": self.seed_,
            "history": list(self.history_),
        }
        return facts, arrays | {f"history.{name}": col for name, col in self.history_.items()}

    def load_state(self, facts: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        """Become fitted again, if all that `dump_state` gave is there and fits together."""
        self._validate_params()
        ensemble, names = Ensemble.load(facts, arrays), facts["feature_names_in"]
        n_features = len(ensemble.x_scaling.center)
        if names and len(names) != n_features:
            raise ValueError(f"there are {len(names)} feature names for {n_features} features")
        learned = {
            "ensemble_": ensemble,
            "seed_": int(facts["seed"]),
            "n_features_in_": n_features,
            "n_rounds_": int(facts["n_rounds"]),
            "rounds_run_": int(facts["rounds_run"]),
            "converged_": bool(facts["converged"]),
            "history_": {name: arrays[f"history.{name}"] for name in facts["history"]},
        }
        if names:
            learned["feature_names_in_"] = np.array(names, dtype=object)
        vars(self).update(learned)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "ensemble_")

    def _forget(self) -> None:
        for name in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, name)

    def _experts(self, n_features: int) -> em.Experts:
        widths = tuple(self.hidden_sizes)
        if not all(isinstance(width, Integral) and int(width) > 0 for width in widths):
            raise ValueError(f"hidden_sizes must hold positive integers, but is {widths!r}.")
        head = GaussianHead(float(self.min_scale))
        factory = MLPFactory(
            n_features,
            head.n_outputs,
            tuple(map(int, widths)),
            self.activation,
            float(self.dropout),
            self.init,
        )
        return em.Experts(FlatNetwork(factory), head)

    def _scalings(self, train: TrainingRows, before: Ensemble | None) -> tuple[Scaling, Scaling]:
        if before is not None:
            return before.x_scaling, before.y_scaling
        if self.standardize:
            return standard_scalings(train)
        return Scaling.identity(train.X.shape[1:]), Scaling.identity()

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

    def _check_unchanged(self, experts: em.Experts, before: Ensemble) -> None:
        """A warm start goes on with the present networks, so they must be those asked for."""

        def facts(of: em.Experts, n_components: int) -> dict[str, Any]:
            description = describe(of)
            return {"n_components": n_components, **description.pop("network"), **description}

        present = facts(before.experts, len(before.weights))
        for name, value in facts(experts, self.n_components).items():
            if value != present[name]:
                raise ValueError(
                    f"warm_start goes on with networks of {name}={present[name]!r}, but {name} is "
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
        if result.best_round[0] > getattr(self, "rounds_run_", 0):
            # Otherwise a warm start did not improve on the round that predicted before.
            self.n_rounds_ = int(result.best_round[0])
        self.rounds_run_ = int(result.last_round[0])
        if held_out[0] is None:
            settled = np.abs(np.diff(likelihood[-2:])) < _SETTLED
            self.converged_ = bool(settled.any())
        else:
            self.converged_ = result.status[0] is Status.CONVERGED
