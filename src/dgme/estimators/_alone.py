"""Methods whose members train on their own: what they share."""

import warnings
from abc import ABCMeta

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from dgme import independent
from dgme._progress import progress_bar
from dgme._watch import watched
from dgme.engine import TrainState, find_device
from dgme.estimators._callbacks import listened_to, tasks
from dgme.estimators._ensemble import Ensemble
from dgme.estimators._network import NetworkEstimator, Task
from dgme.estimators._parameters import estimator
from dgme.experts import Params
from dgme.rounds import Status


@estimator
class TrainedAlone(NetworkEstimator, metaclass=ABCMeta):
    epochs: int = 400
    patience: int = 60

    _learned_numbers = NetworkEstimator._learned_numbers | {"n_epochs_": int}

    def _fit_members(self, task: Task, n_members: int, start: Params | None = None) -> np.ndarray:
        """The members' parameters at their best epoch; the history is kept."""
        looked_at = self.verbose > 0 or watched() or listened_to(self)
        with (
            progress_bar(1, self.epochs, task.log_unit, visible=self.verbose > 0) as bar,
            tasks(self, "epoch", self.epochs) as advance,
        ):

            def on_epochs(state: TrainState) -> bool:
                return bar.on_epochs(state) | advance(state.epoch)

            result = independent.fit(
                task.experts,
                task.train,
                n_members,
                independent.Plan(
                    self.epochs, self.batch_size, self._optimiser(), patience=self.patience
                ),
                seed=task.seed,
                start=start,
                held_out=task.held_out,
                on_check=bar.on_check if looked_at else None,
                on_epochs=on_epochs if looked_at else None,
                device=find_device(self.device),
            )
        checks = result.history
        held_out = [check.held_out_score for check in checks]
        self.history_ = {
            "epoch": np.array([check.number for check in checks]),
            "loss": np.array([check.loss[0] for check in checks]) + task.log_unit,
            "held_out_score": np.array(
                [np.nan if score is None else score[0] - task.log_unit for score in held_out]
            ),
        }
        self.n_epochs_ = int(result.best_epoch[0])
        self.converged_ = result.status[0] is Status.CONVERGED
        for finding in result.findings[0]:
            warnings.warn(str(finding), ConvergenceWarning, stacklevel=4)
        return result.params[0]


@estimator
class TrainedAsEnsemble(TrainedAlone, metaclass=ABCMeta):
    n_members: int = 5

    def _equal(self, task: Task, params: np.ndarray, **more) -> Ensemble:
        """Members of equal weight, each a posterior sample of its own."""
        weights = np.full(len(params), 1 / len(params))
        return task.ensemble(params, weights, members_are_samples=True, **more)
