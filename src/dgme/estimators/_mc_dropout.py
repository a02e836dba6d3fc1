"""Monte Carlo dropout."""

from abc import ABCMeta
from dataclasses import replace

import numpy as np

from dgme.engine import find_device
from dgme.estimators._alone import TrainedAlone
from dgme.estimators._ensemble import Ensemble
from dgme.estimators._network import NetworkClassifier, NetworkRegressor, Task
from dgme.estimators._noise import mean_head, with_noise
from dgme.estimators._parameters import estimator
from dgme.nn import MLP, CategoricalHead, Design, Head
from dgme.posterior import DropoutPosterior


@estimator
class _MCDropout(TrainedAlone, metaclass=ABCMeta):
    dropout: float = 0.1
    weight_decay: float = 1e-4

    def _design(self) -> Design:
        design = super()._design()
        if getattr(design, "dropout", None) == 0:
            raise ValueError(
                "Monte Carlo dropout needs units that are dropped, but dropout is 0. Set it above "
                "zero."
            )
        # A network of the user's own drops what it says.
        if self.network is None and isinstance(design, MLP):
            return replace(design, drop_inputs=True)
        return design

    def _train(self, task: Task) -> Ensemble:
        params = self._fit_members(task, 1)
        return task.ensemble(params, np.ones(1), posterior=DropoutPosterior())


@estimator
class MCDropoutRegressor(_MCDropout, NetworkRegressor):
    """Monte Carlo dropout: one network, many stochastic passes.

    Units are dropped before every layer, in training and in prediction; the network is trained by
    squared errors with weight decay (Gal and Ghahramani, Dropout as a Bayesian approximation, ICML
    2016). The predictive law is the mixture of a Gaussian for each pass, all with the same noise;
    its `to_gaussian()` is the moment match of that paper.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    noise_scale_ : float, or array of shape (n_targets,)
        Standard deviation of the noise.
    n_epochs_ : int
        The epoch that predicts.
    history_ : dict of arrays
        A table with one entry for every tenth epoch: mean loss while trained, in nats per row for a
        noise of one standard deviation of the target, and the held-out log-likelihood.
    converged_ : bool
        Whether the held-out score stopped improving before the epochs ran out.

    Notes
    -----
    Every pass is a sample of the posterior: the epistemic variance is the variance of their means,
    the aleatoric variance is that of the noise.

    Features are dropped like hidden units. Where there are only one or two, the passes that know
    nothing of the row can give its law a second mode; ``network=dgme.nn.MLP(dropout=0.1)`` drops
    hidden units alone.

    Examples
    --------
    >>> from dgme import MCDropoutRegressor
    >>> from dgme.datasets import toy
    >>> data = toy.load("gaussian", 200, random_state=0)
    >>> model = MCDropoutRegressor(epochs=20, random_state=0).fit(data.X, data.y)
    >>> model.predict_dist(data.X, n_posterior_samples=100).n_components
    100
    """

    noise_scale: float | None = None

    @property
    def noise_scale_(self):
        return self.ensemble_.noise_scale

    def _head(self, n_targets: int) -> Head:
        return mean_head(n_targets)

    def _train(self, task: Task) -> Ensemble:
        return with_noise(
            super()._train(task),
            task.held_out or task.train,
            self.noise_scale,
            self.n_posterior_samples,
            smallest=float(self.min_scale),
            device=find_device(self.device),
        )


@estimator
class MCDropoutClassifier(_MCDropout, NetworkClassifier):
    """Monte Carlo dropout: one classifier, many stochastic passes.

    Units are dropped before every layer, in training and in prediction (Gal and Ghahramani, ICML
    2016). The predictive law is the mixture of all passes, and its `mutual_information()` is what
    they disagree about.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The classes, sorted.
    n_epochs_, history_, converged_
        As in `MCDropoutRegressor`.
    """

    def _head(self, n_targets: int) -> Head:
        return CategoricalHead(n_targets)
