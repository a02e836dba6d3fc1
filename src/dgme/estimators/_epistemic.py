"""The posterior of an estimator: from its name to a distribution over trained parameters."""

import jax
import numpy as np
from jaxtyping import Float32, Float64

from dgme import experts as on_data
from dgme._watch import stop_requested
from dgme.engine import Optimiser
from dgme.experts import Data, Experts
from dgme.nn import Design
from dgme.posterior import DropoutPosterior, Posterior, SwagMoments, fit_laplace

# Rounds of EM are numbered from one; this stretch of training has minibatches of its own.
_STAGE = 0


def posterior_kind(asked: str, design: Design) -> str:
    """Which posterior "auto" stands for, if dropping units makes sense where it is asked for."""
    rate = getattr(design, "dropout", None)
    if asked == "auto":
        return "dropout" if rate else "none"
    if asked == "dropout" and rate == 0:
        raise ValueError(
            'epistemic="dropout" needs units that are dropped, but dropout is 0. Set it above zero.'
        )
    return asked


def gather_posterior(
    kind: str,
    experts: Experts,
    params: Float32[np.ndarray, "K size"],
    data: Data,
    row_weights: Float64[np.ndarray, "K N"],
    *,
    epochs: int,
    batch_size: int,
    optimiser: Optimiser,
    rank: int,
    seed: int,
    device: jax.Device | None,
) -> Posterior | None:
    """What is not known about members that were trained on the weighted rows of one dataset."""
    if kind == "dropout":
        return DropoutPosterior()
    if kind == "laplace":
        return fit_laplace(experts.network, experts.head, params, data.x[0], row_weights)
    if kind == "swag":
        moments = SwagMoments(rank)
        on_data.improve(
            experts,
            params[None],
            data,
            np.zeros(1, np.int32),
            row_weights[None],
            epochs=epochs,
            batch_size=batch_size,
            optimiser=optimiser,
            seed=seed,
            stage=_STAGE,
            callbacks=(moments, lambda state: state.epoch > 1 and stop_requested()),
            record=True,
            device=device,
        )
        return moments.posterior()
    return None
