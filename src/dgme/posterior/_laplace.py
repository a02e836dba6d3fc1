"""Laplace's approximation over the last layer (Daxberger et al., 2021)."""

from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Float32, Float64
from scipy.optimize import brentq

from dgme.engine import CHUNK_ROWS
from dgme.nn import FlatNetwork, Head
from dgme.posterior._draws import Draws

_LARGEST_PRECISION = 1e6
# The curvature of more rows would take long, and tell no more: so many give it to a percent.
_MOST_ROWS = 2**17


@dataclass(frozen=True)
class LaplacePosterior:
    """A Gaussian over the parameters of the last layer around the trained ones."""

    factor: Float32[np.ndarray, "K last last"]
    """The covariance is the factor times its transpose."""

    def draw(
        self, params: Float32[np.ndarray, "K size"], n: int, rng: np.random.Generator
    ) -> Draws:
        n_members, last, _ = self.factor.shape
        drawn = np.repeat(params[None], n, axis=0)
        normal = rng.standard_normal((n, n_members, last), np.float32)
        drawn[..., -last:] += np.einsum("kij,nkj->nki", self.factor, normal)
        return Draws(drawn)


def fit_laplace(
    network: FlatNetwork,
    head: Head,
    params: Float32[np.ndarray, "K size"],
    x: Float32[np.ndarray, "N ..."],
    row_weights: Float64[np.ndarray, "K N"],
) -> LaplacePosterior:
    """The curvature of each member's weighted likelihood, and a prior chosen by the evidence.

    The curvature is Gauss-Newton's: Jacobians of the outputs around the Fisher information of the
    head. The precision of the prior, one number per member, maximises the Laplace evidence.
    """
    last = network.last_layer
    if len(x) > _MOST_ROWS:
        chosen = np.random.default_rng(0).choice(len(x), _MOST_ROWS, replace=False)
        x, row_weights = x[chosen], row_weights[:, chosen] * (len(x) / _MOST_ROWS)
    curvature = np.zeros((len(params), last, last))
    for start in range(0, len(x), CHUNK_ROWS):
        rows = slice(start, start + CHUNK_ROWS)
        missing = CHUNK_ROWS - len(x[rows])
        block = np.pad(x[rows], [(0, missing)] + [(0, 0)] * (x.ndim - 1))
        weights = np.pad(row_weights[:, rows], [(0, 0), (0, missing)]).astype(np.float32)
        curvature += np.asarray(_curvature(network, head, params, block, weights))
    factors = [
        _posterior_factor(of_member, theta[-last:].astype(np.float64))
        for of_member, theta in zip(curvature, params, strict=True)
    ]
    return LaplacePosterior(np.stack(factors).astype(np.float32))


@partial(jax.jit, static_argnums=0)
def _curvature(network: FlatNetwork, head, params, x, row_weights) -> Float[Array, "K last last"]:
    last = network.last_layer

    def outputs_of_row(tail, trunk, row):
        return network.module(jnp.concatenate([trunk, tail]))(row[None])[0]

    def of_member(arguments):
        vector, weights = arguments
        trunk, tail = vector[:-last], vector[-last:]
        jacobian = jax.vmap(jax.jacrev(outputs_of_row), (None, None, 0))(tail, trunk, x)
        fisher = head.fisher(network.module(vector)(x))
        weighted = jnp.einsum("n,nab,nbq->naq", weights, fisher, jacobian)
        return jnp.einsum("nap,naq->pq", jacobian, weighted)

    # One member after the other: the Jacobians of all at once would fill the memory.
    return jax.lax.map(of_member, (params, row_weights))


def _posterior_factor(
    curvature: Float64[np.ndarray, "p p"], theta: Float64[np.ndarray, " p"]
) -> Float64[np.ndarray, "p p"]:
    values, vectors = np.linalg.eigh(curvature)
    precision = values.clip(0) + _prior_precision(values.clip(0), float(theta @ theta))
    return vectors / np.sqrt(precision)


def _prior_precision(curvature: Float64[np.ndarray, " p"], norm: float) -> float:
    """Where the well-determined parameters are as many as precision times squared length.

    The evidence is concave in the logarithm of the precision, so this is its one maximum. MacKay's
    iteration would creep towards it where the rows tell little, as for a component with few.
    """

    def slope(log_precision: float) -> float:
        precision = np.exp(log_precision)
        return (curvature / (curvature + precision)).sum() - precision * norm

    largest = np.log(_LARGEST_PRECISION)
    if slope(-largest) <= 0:
        return 1 / _LARGEST_PRECISION
    if slope(largest) >= 0:
        return _LARGEST_PRECISION
    root: Any = brentq(slope, -largest, largest)
    return float(np.exp(root))
