"""The scale of the noise for networks that predict means alone."""

from dataclasses import replace

import jax
import numpy as np
from jaxtyping import Float64
from scipy.optimize import minimize_scalar

from dgme.distributions import GaussianMixture
from dgme.estimators._ensemble import Ensemble
from dgme.estimators._scaling import Scaling
from dgme.experts import Data
from dgme.nn import Head, HomoscedasticHead

# In units of the standardised target, which has a standard deviation of one.
_LARGEST = 10.0


def mean_head(n_targets: int) -> HomoscedasticHead:
    """The head to train means with: by half the squared error."""
    return HomoscedasticHead(np.ones(n_targets, np.float32))


def with_noise(
    ensemble: Ensemble,
    rows: Data,
    asked: float | None,
    n_samples: int,
    *,
    smallest: float,
    device: jax.Device | None,
) -> Ensemble:
    """The ensemble with the noise that was asked for, or that makes the rows most likely."""
    if asked is not None:
        scale = np.broadcast_to(asked / ensemble.y_scaling.scale, ensemble.y_scaling.scale.shape)
    else:
        # The rows are standardised already.
        plain = replace(ensemble, x_scaling=Scaling.identity(ensemble.x_scaling.scale.shape))
        weights, (means, _), _ = plain.mixtures(rows.x[0], n_samples, device)
        scale = np.array(
            [
                most_likely_scale(weights, means[..., target], y, rows.weight[0], smallest)
                for target, y in enumerate(rows.y[0].T.astype(np.float64))
            ]
        )
    head: Head = HomoscedasticHead(scale.astype(np.float32))
    return replace(ensemble, experts=ensemble.experts._replace(head=head))


def most_likely_scale(
    weights: Float64[np.ndarray, " K"],
    means: Float64[np.ndarray, "n K"],
    y: Float64[np.ndarray, " n"],
    row_weights: Float64[np.ndarray, " n"],
    smallest: float,
) -> float:
    """The common scale of all components under which the targets are most likely."""

    def loss(log_scale: float) -> float:
        law = GaussianMixture(weights, means, np.full(means.shape, np.exp(log_scale)))
        return -np.average(law.logpdf(y), weights=row_weights)

    bounds = np.log(smallest), np.log(_LARGEST)
    return float(np.exp(minimize_scalar(loss, bounds=bounds, method="bounded").x))
