"""Deep ensembles."""

from abc import ABCMeta

import numpy as np

from dgme.engine import find_device
from dgme.estimators._alone import TrainedAsEnsemble
from dgme.estimators._ensemble import Ensemble
from dgme.estimators._epistemic import gather_posterior, posterior_kind
from dgme.estimators._network import NetworkClassifier, NetworkRegressor, Task
from dgme.estimators._parameters import estimator
from dgme.nn import CategoricalHead, GaussianHead, Head

_SWAG_EPOCHS, _SWAG_RANK = 40, 20


@estimator
class _DeepEnsemble(TrainedAsEnsemble, metaclass=ABCMeta):
    epistemic: str = "auto"

    def _train(self, task: Task) -> Ensemble:
        kind = posterior_kind(self.epistemic, task.experts.network.design)
        params = self._fit_members(task, self.n_members)
        posterior = gather_posterior(
            kind,
            task.experts,
            params,
            task.train,
            np.repeat(task.train.weight, self.n_members, axis=0),
            epochs=_SWAG_EPOCHS,
            batch_size=self.batch_size,
            optimiser=self._optimiser(),
            rank=_SWAG_RANK,
            seed=task.seed,
            device=find_device(self.device),
        )
        return self._equal(task, params, posterior=posterior)


@estimator
class DeepEnsembleRegressor(_DeepEnsemble, NetworkRegressor):
    """Deep ensemble: networks that are trained alone, each from a random start, on all rows.

    Every network predicts a Gaussian and is trained by its likelihood; `adversarial_eps` adds
    adversarial training (Lakshminarayanan et al., Simple and scalable predictive uncertainty
    estimation using deep ensembles, NeurIPS 2017). The predictive law is the exact mixture with
    equal weights; its `to_gaussian()` is the Gaussian summary of that paper.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    n_epochs_ : int
        The epoch that predicts.
    history_ : dict of arrays
        A table with one entry for every tenth epoch: mean loss of the members while trained, in
        nats per row, and the held-out log-likelihood of their mixture.
    converged_ : bool
        Whether the held-out score stopped improving before the epochs ran out.

    Notes
    -----
    Every member is a sample of the posterior of a single network: the epistemic variance is the
    variance of the members' means, the aleatoric variance is the mean of their variances.

    Examples
    --------
    >>> from dgme import DeepEnsembleRegressor
    >>> from dgme.datasets import toy
    >>> data = toy.load("gaussian", 200, random_state=0)
    >>> model = DeepEnsembleRegressor(epochs=20, random_state=0).fit(data.X, data.y)
    >>> law = model.predict_dist(data.X)
    >>> law.epistemic_variance().shape
    (200,)
    """

    def _head(self, n_targets: int) -> Head:
        return GaussianHead(float(self.min_scale), n_targets)


@estimator
class DeepEnsembleClassifier(_DeepEnsemble, NetworkClassifier):
    """Deep ensemble: classifiers that are trained alone, each from a random start, on all rows.

    The predictive law is the mixture of the members with equal weights (Lakshminarayanan et al.,
    NeurIPS 2017). Its `mutual_information()` is what the members disagree about.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The classes, sorted.
    n_epochs_, history_, converged_
        As in `DeepEnsembleRegressor`.
    """

    def _head(self, n_targets: int) -> Head:
        return CategoricalHead(n_targets)
