from collections.abc import Callable, Mapping
from types import MappingProxyType

import jax
import jax.numpy as jnp

# By name, because the name is what an estimator stores: jitted functions cannot be pickled.
ACTIVATIONS: Mapping[str, Callable[[jax.Array], jax.Array]] = MappingProxyType(
    {
        "relu": jax.nn.relu,
        "silu": jax.nn.silu,
        "gelu": jax.nn.gelu,
        "elu": jax.nn.elu,
        "tanh": jnp.tanh,
        "softplus": jax.nn.softplus,
        "identity": lambda x: x,
    }
)
