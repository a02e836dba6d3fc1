"""Mixture density networks."""

import warnings
from abc import ABCMeta

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from dgme import experts as on_data
from dgme.engine import Prediction, apply_lanes, find_device
from dgme.estimators._alone import TrainedAlone
from dgme.estimators._ensemble import Ensemble
from dgme.estimators._network import NetworkClassifier, NetworkRegressor, Task
from dgme.estimators._parameters import estimator
from dgme.experts import Params
from dgme.nn import CategoricalMixtureHead, Head, MixtureHead
from dgme.posterior import DropoutPosterior
from dgme.rounds import Finding, Trouble


@estimator
class _MDN(TrainedAlone, metaclass=ABCMeta):
    n_components: int = 5

    @property
    def _rows_needed(self) -> int:
        return self.n_components

    def _train(self, task: Task) -> Ensemble:
        params = self._fit_members(task, 1, self._start(task))
        network, head, _ = task.experts
        device = find_device(self.device)
        weights, *_ = apply_lanes(Prediction(head), network, params, task.train.x, device=device)
        starved = np.flatnonzero(weights[0].sum(axis=0) < 1)
        # Weights that depend on the row may well do without some components, but not without all.
        if 0 < len(starved) == self.n_components - 1:
            finding = Finding(Trouble.STARVED, tuple(map(int, starved)))
            warnings.warn(str(finding), ConvergenceWarning, stacklevel=3)
        drops = getattr(network.design, "dropout", 0.0) > 0
        return task.ensemble(params, np.ones(1), posterior=DropoutPosterior() if drops else None)

    def _start(self, task: Task) -> Params | None:
        return None


@estimator
class MDNRegressor(_MDN, NetworkRegressor):
    """Mixture density network: one network that outputs a whole mixture of Gaussians.

    Weights, means and scales all depend on the row (Bishop, 1994); they are trained together by the
    likelihood of the mixture. With `dropout` the predictions average over thinned networks, which
    adds an epistemic part.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    n_epochs_ : int
        The epoch that predicts.
    history_ : dict of arrays
        A table with one entry for every tenth epoch: mean loss while trained, in nats per row, and
        the held-out log-likelihood.
    converged_ : bool
        Whether the held-out score stopped improving before the epochs ran out.

    Examples
    --------
    >>> from dgme import MDNRegressor
    >>> from dgme.datasets import toy
    >>> data = toy.load("bimodal", 200, random_state=0)
    >>> model = MDNRegressor(n_components=2, epochs=20, random_state=0).fit(data.X, data.y)
    >>> model.predict_dist(data.X).weights.shape
    (200, 2)
    """

    spread_means: bool = True

    def _head(self, n_targets: int) -> Head:
        return MixtureHead(float(self.min_scale), self.n_components, n_targets)

    def _start(self, task: Task) -> Params | None:
        if not self.spread_means:
            return None
        params = on_data.initialise(task.experts, 1, 1, task.seed).copy()
        levels = (np.arange(self.n_components) + 0.5) / self.n_components
        means = np.quantile(task.train.y[0], levels, axis=0).ravel()
        # The last entries of the vector are the biases of the outputs: logits, means, variances.
        n_outputs = task.experts.network.n_outputs
        first = n_outputs - self.n_components
        params[..., -first : len(means) - first] += means.astype(np.float32)
        return params


@estimator
class MDNClassifier(_MDN, NetworkClassifier):
    """One network that outputs a mixture of categoricals, with weights that depend on the row.

    With `dropout` the predictions average over thinned networks, which adds an epistemic part.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The classes, sorted.
    n_epochs_, history_, converged_
        As in `MDNRegressor`.
    """

    def _head(self, n_targets: int) -> Head:
        return CategoricalMixtureHead(self.n_components, n_targets)
