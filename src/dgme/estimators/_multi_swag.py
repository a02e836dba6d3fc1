"""MultiSWAG."""

import numpy as np

from dgme.engine import find_device
from dgme.estimators._alone import TrainedAsEnsemble
from dgme.estimators._ensemble import Ensemble
from dgme.estimators._epistemic import gather_posterior
from dgme.estimators._network import NetworkRegressor, Task
from dgme.estimators._noise import mean_head, with_noise
from dgme.estimators._parameters import estimator
from dgme.nn import GaussianHead, Head


@estimator
class MultiSWAGRegressor(TrainedAsEnsemble, NetworkRegressor):
    """MultiSWAG: a deep ensemble with a Gaussian posterior around every member.

    After the training of an ensemble the optimiser goes on, and the iterates of each member after
    every epoch give a Gaussian with a diagonal and a low-rank part: SWAG (Maddox et al., 2019). The
    predictive law averages over samples of all members (Wilson and Izmailov, Bayesian deep learning
    and a probabilistic perspective of generalization, NeurIPS 2020).

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    noise_scale_ : float, or array of shape (n_targets,)
        Standard deviation of the noise, unless `heteroscedastic`.
    n_epochs_ : int
        The epoch after which SWAG began to gather.
    history_ : dict of arrays
        A table with one entry for every tenth epoch before that: mean loss of the members while
        trained, in nats per row, and the held-out log-likelihood of their mixture.
    converged_ : bool
        Whether the held-out score stopped improving before the epochs ran out.

    Notes
    -----
    Every sample of every member is a sample of the posterior: the epistemic variance is the
    variance of their means, the aleatoric variance is the mean of their variances. There are
    `n_posterior_samples` samples of each member.

    Examples
    --------
    >>> from dgme import MultiSWAGRegressor
    >>> from dgme.datasets import toy
    >>> data = toy.load("gaussian", 200, random_state=0)
    >>> model = MultiSWAGRegressor(epochs=20, swag_epochs=10, random_state=0).fit(data.X, data.y)
    >>> model.predict_dist(data.X, n_posterior_samples=4).n_components
    20
    """

    heteroscedastic: bool = False
    noise_scale: float | None = None
    swag_epochs: int = 40
    swag_rank: int = 20
    swag_learning_rate: float | None = None
    swag_schedule: str = "constant"

    @property
    def noise_scale_(self):
        return self.ensemble_.noise_scale

    def _head(self, n_targets: int) -> Head:
        if self.heteroscedastic:
            return GaussianHead(float(self.min_scale), n_targets)
        return mean_head(n_targets)

    def _train(self, task: Task) -> Ensemble:
        params, device = self._fit_members(task, self.n_members), find_device(self.device)
        posterior = gather_posterior(
            "swag",
            task.experts,
            params,
            task.train,
            np.repeat(task.train.weight, self.n_members, axis=0),
            epochs=self.swag_epochs,
            batch_size=self.batch_size,
            optimiser=self._optimiser(self.swag_learning_rate, self.swag_schedule),
            rank=self.swag_rank,
            seed=task.seed,
            device=device,
        )
        ensemble = self._equal(task, params, posterior=posterior)
        if self.heteroscedastic:
            return ensemble
        return with_noise(
            ensemble,
            task.held_out or task.train,
            self.noise_scale,
            self.n_posterior_samples,
            smallest=float(self.min_scale),
            device=device,
        )
