"""Deep Gaussian mixture ensembles, and the same for classes."""

import warnings
from abc import ABCMeta

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from dgme import em
from dgme._progress import progress_bar
from dgme.engine import find_device
from dgme.estimators._callbacks import tasks
from dgme.estimators._ensemble import Ensemble
from dgme.estimators._epistemic import gather_posterior, posterior_kind
from dgme.estimators._network import (
    NetworkClassifier,
    NetworkEstimator,
    NetworkRegressor,
    Task,
)
from dgme.estimators._parameters import estimator
from dgme.experts import log_densities
from dgme.nn import CategoricalHead, GaussianHead, Head
from dgme.rounds import Mixture, Round, Status

# Nats per row: a round that changes the likelihood by less has nothing left to do.
_SETTLED = 0.01
# Iterates that SWAG keeps one by one.
_SWAG_RANK = 20
_ONE_RUN = np.zeros(1, np.int32)


@estimator
class _TrainedByEM(NetworkEstimator, metaclass=ABCMeta):
    n_components: int = 5
    n_rounds: int = 10
    epochs_per_round: int = 40
    patience: int = 3
    annealing: float = 1.0
    n_init: int = 1
    epistemic: str = "auto"
    warm_start: bool = False

    _learned_numbers = NetworkEstimator._learned_numbers | {"n_rounds_": int, "rounds_run_": int}

    @property
    def weights_(self) -> np.ndarray:
        return self.ensemble_.weights

    @property
    def _rows_needed(self) -> int:
        return self.n_components

    def _before(self) -> Ensemble | None:
        return self.ensemble_ if self.warm_start and self.__sklearn_is_fitted__() else None

    def _train(self, task: Task) -> Ensemble:
        before, device = task.before, find_device(self.device)
        if before is not None and len(before.weights) != self.n_components:
            raise ValueError(
                f"warm_start goes on with networks of n_components={len(before.weights)}, but "
                f"n_components is now {self.n_components}. Set it back, or fit anew with "
                "warm_start=False."
            )
        kind = posterior_kind(self.epistemic, task.experts.network.design)
        plan = self._plan(n_init=1 if before else self.n_init)
        rounds_before = self.rounds_run_ if before else 0
        with (
            progress_bar(
                self.n_rounds, self.epochs_per_round, task.log_unit, visible=self.verbose > 0
            ) as bar,
            tasks(self, "round", self.n_rounds) as advance,
        ):

            def on_round(done: Round) -> bool:
                return bar.on_round(done) | advance(done.number - rounds_before)

            result = em.fit(
                task.experts,
                task.train,
                self.n_components,
                plan,
                seed=task.seed,
                start=before and Mixture(before.params[None], before.weights[None]),
                rounds_before=rounds_before,
                held_out=task.held_out,
                on_round=on_round,
                on_epochs=bar.on_epochs,
                device=device,
            )
        params, weights = (part[0] for part in result.mixture)
        density = log_densities(task.experts, params[None], task.train, _ONE_RUN, device)
        gamma = em.responsibilities(weights[None], density)[0]
        posterior = gather_posterior(
            kind,
            task.experts,
            params,
            task.train,
            gamma * task.train.weight,
            epochs=max(2, self.epochs_per_round),
            batch_size=self.batch_size,
            optimiser=plan.optimiser,
            rank=_SWAG_RANK,
            seed=task.seed,
            device=device,
        )
        self._keep(result, task.log_unit)
        for finding in result.findings[0]:
            warnings.warn(str(finding), ConvergenceWarning, stacklevel=3)
        return task.ensemble(params, weights, posterior=posterior)

    def _plan(self, n_init: int) -> em.Plan:
        return em.Plan(
            n_rounds=self.n_rounds,
            epochs_per_round=self.epochs_per_round,
            batch_size=self.batch_size,
            optimiser=self._optimiser(),
            n_init=n_init,
            patience=self.patience,
            annealing=float(self.annealing),
        )

    def _keep(self, result: em.Fit, log_unit: float) -> None:
        run = int(result.chosen_run[0])
        rounds = [done for done in result.history if done.number <= result.last_round[0]]
        columns = _history(rounds, run, log_unit)
        earlier = getattr(self, "history_", {name: column[:0] for name, column in columns.items()})
        self.history_ = {
            name: np.concatenate([earlier[name], column]) for name, column in columns.items()
        }
        if result.best_round[0] > getattr(self, "rounds_run_", 0):
            # Otherwise a warm start did not improve on the round that predicted before.
            self.n_rounds_ = int(result.best_round[0])
        self.rounds_run_ = int(result.last_round[0])
        if rounds[0].held_out_score is None:
            settled = np.abs(np.diff(columns["log_likelihood"][-2:])) < _SETTLED
            self.converged_ = bool(settled.any())
        else:
            self.converged_ = result.status[0] is Status.CONVERGED


def _history(rounds: list[Round], run: int, log_unit: float) -> dict[str, np.ndarray]:
    held_out = [done.held_out_score for done in rounds]
    return {
        "round": np.array([done.number for done in rounds]),
        "log_likelihood": np.array([done.log_likelihood[run] for done in rounds]) - log_unit,
        "q": np.array([done.q[run] for done in rounds]) - log_unit,
        "effective_components": np.array([done.effective_components[run] for done in rounds]),
        "held_out_score": np.array(
            [np.nan if scores is None else scores[run] - log_unit for scores in held_out]
        ),
    } | {
        f"weight_{k}": np.array([done.weights[run, k] for done in rounds])
        for k in range(rounds[0].weights.shape[1])
    }


@estimator
class DGMERegressor(_TrainedByEM, NetworkRegressor):
    """Deep Gaussian mixture ensemble: K small networks trained by expectation-maximisation.

    Every network predicts a Gaussian for each row; the predictive law is their mixture, with
    weights that are learned (El-Laham et al., Deep Gaussian Mixture Ensembles, UAI 2023). It can be
    skewed, heavy-tailed, or have several modes.

    Parameters
    ----------
    {parameters}

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

    Notes
    -----
    The mixture has one set of parameters, so its modes are noise and its epistemic variance is
    zero, unless `epistemic` names a posterior over the parameters. Then the law is a mixture over
    samples of that posterior as well: all components of a sample form a group, the aleatoric
    variance is the mean over groups of a group's variance, and the epistemic variance is the
    variance of their means.

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

    def responsibilities(self, X, y) -> np.ndarray:
        """Probability that a component made the target, shape (n, n_components)."""
        X, y = self._rows(X), np.asarray(y, dtype=np.float64)
        shape = (len(X), len(self.ensemble_.y_scaling.scale))
        if y.shape != (shape if self.ensemble_.vector else shape[:1]) or not np.isfinite(y).all():
            raise ValueError(
                f"y must hold finite numbers, one target for each of {len(X)} rows, but it has "
                f"shape {y.shape} and {(~np.isfinite(y)).sum()} entries that are not finite."
            )
        law = self.ensemble_.gaussian_law(X, 0, find_device(self.device))
        return law.responsibilities(y)

    def _head(self, n_targets: int) -> Head:
        return GaussianHead(float(self.min_scale), n_targets)


@estimator
class DGMEClassifier(_TrainedByEM, NetworkClassifier):
    """Mixture of K small classifiers trained by expectation-maximisation.

    Every network predicts probabilities of the classes for each row; the predictive law is their
    mixture, with weights that are learned. This is the form that deep Gaussian mixture ensembles
    take for classes (El-Laham et al., UAI 2023, supplement).

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The classes, sorted.
    weights_ : array of shape (n_components,)
        Learned mixture weights.
    n_rounds_, rounds_run_, history_, converged_
        As in `DGMERegressor`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dgme import DGMEClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = DGMEClassifier(n_components=2, n_rounds=2, random_state=0).fit(X, y)
    >>> model.predict_proba(X[:3]).shape
    (3, 3)
    """

    def responsibilities(self, X, y) -> np.ndarray:
        """Probability that a component made the class, shape (n, n_components)."""
        X, y = self._rows(X), np.asarray(y)
        if y.shape != (len(X),):
            raise ValueError(
                f"y must have shape ({len(X)},), one class per row, but has shape {y.shape}."
            )
        unknown = np.setdiff1d(y, self.classes_)
        if len(unknown):
            raise ValueError(
                f"y holds the class {unknown.tolist()[0]!r}, which was not there in the fit; the "
                f"classes are {self.classes_}. Leave such rows out, or fit with them."
            )
        law = self.ensemble_.categorical_law(X, 0, find_device(self.device))
        return law.responsibilities(np.searchsorted(self.classes_, y))

    def _head(self, n_targets: int) -> Head:
        return CategoricalHead(n_targets)
