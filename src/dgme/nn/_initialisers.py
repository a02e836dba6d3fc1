"""The five initialisations that the paper compares, for one dense layer."""

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

Layer = tuple[Float[Array, "n_in n_out"], Float[Array, " n_out"]]
Initialiser = Callable[[PRNGKeyArray, int, int], Layer]


def _torch(key: PRNGKeyArray, n_in: int, n_out: int) -> Layer:
    return _uniform_within(1 / math.sqrt(n_in))(key, n_in, n_out)


def _uniform_within(bound: float) -> Initialiser:
    def initialise(key: PRNGKeyArray, n_in: int, n_out: int) -> Layer:
        for_weight, for_bias = jax.random.split(key)
        return (
            jax.random.uniform(for_weight, (n_in, n_out), minval=-bound, maxval=bound),
            jax.random.uniform(for_bias, (n_out,), minval=-bound, maxval=bound),
        )

    return initialise


def _normal(key: PRNGKeyArray, n_in: int, n_out: int) -> Layer:
    for_weight, for_bias = jax.random.split(key)
    return (
        1e-6 * jax.random.normal(for_weight, (n_in, n_out)),
        1e-6 * jax.random.normal(for_bias, (n_out,)),
    )


def _xavier_uniform(key: PRNGKeyArray, n_in: int, n_out: int) -> Layer:
    bound = math.sqrt(6 / (n_in + n_out))
    weight = jax.random.uniform(key, (n_in, n_out), minval=-bound, maxval=bound)
    return weight, jnp.zeros(n_out)


def _xavier_normal(key: PRNGKeyArray, n_in: int, n_out: int) -> Layer:
    scale = math.sqrt(2 / (n_in + n_out))
    return scale * jax.random.normal(key, (n_in, n_out)), jnp.zeros(n_out)


INITIALISERS: Mapping[str, Initialiser] = MappingProxyType(
    {
        "torch": _torch,
        "uniform": _uniform_within(0.01),
        "normal": _normal,
        "xavier_uniform": _xavier_uniform,
        "xavier_normal": _xavier_normal,
    }
)
