"""The law as one StableHLO function, through `jax.export`."""

from os import PathLike
from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from dgme._files import write_atomically
from dgme._optional import installed_by
from dgme.engine import Prediction, wrapped
from dgme.estimators import LARGEST
from dgme.export._frozen import Frozen, freeze

_PLATFORMS = ("cpu", "cuda", "rocm", "tpu")


def to_stablehlo(model, path: str | PathLike, *, n_posterior_samples: int | None = None) -> None:
    """Write a model's law as a function that JAX runs without dgme, for any number of rows.

    `jax.export.deserialize(content).call(X)` takes rows in double precision, so JAX must have it
    switched on, and returns the weights, means and scales of each row's components, or weights and
    probabilities of a classifier: those of `predict_dist`. What the features, outputs and groups
    are is written beside it, to a file of the same name and `.json`.

    Parameters
    ----------
    model : estimator
        A fitted regressor or classifier. Of a model of tables, the function takes the features that
        its encoder makes.
    path : str or path
        The file; one that is there is replaced.
    n_posterior_samples : int, optional
        As in `predict_dist`. The samples are drawn now, and are the same for every row.
    """
    with installed_by("stablehlo"):
        import flatbuffers  # noqa: F401 - without which JAX cannot write functions
    path, frozen = Path(path), freeze(model, n_posterior_samples)
    content = _exported(frozen).serialize()
    write_atomically(path, bytes(content))
    write_atomically(path.with_name(f"{path.name}.json"), frozen.metadata.encode())


def _exported(frozen: Frozen) -> jax.export.Exported:
    shape = frozen.ensemble.experts.network.input_shape
    (n,) = jax.export.symbolic_shape("n")
    # Networks are traced as in training, so that those of a user's own keep to single precision;
    # and no processor may round their products further than that.
    with jax.enable_x64(False), jax.default_matmul_precision("float32"):
        rows = jax.ShapeDtypeStruct((n, *shape), jnp.float32)
        networks = jax.export.export(jax.jit(_networks(frozen)), platforms=_PLATFORMS)(rows)
    with jax.enable_x64(True):
        rows = jax.ShapeDtypeStruct((n, *shape), jnp.float64)
        return jax.export.export(jax.jit(_law(frozen, networks)), platforms=_PLATFORMS)(rows)


def _networks(frozen: Frozen):
    """The mixtures of standardised rows, with axes of draws and of members in front."""
    predict = Prediction(frozen.ensemble.experts.head)
    arrays, static = eqx.partition(frozen.networks, lambda leaf: isinstance(leaf, np.ndarray))
    drawn, common = eqx.partition(arrays, lambda array: len(array) == frozen.n_draws)
    drawn, common = jax.tree.map(jnp.asarray, (drawn, jax.tree.map(lambda a: a[0], common)))

    def networks(x: Float[Array, "n ..."]):
        def network(drawn, common, words):
            key = None if words is None else wrapped(words)
            return predict(eqx.combine(drawn, common, static), x, key)

        return jax.vmap(jax.vmap(network), (0, None, 0))(drawn, common, frozen.keys)

    return networks


def _law(frozen: Frozen, networks: jax.export.Exported):
    """The mixtures of raw rows in the target's units, as `predict_dist` gives them."""
    x_scaling, y_scaling = frozen.ensemble.x_scaling, frozen.ensemble.y_scaling

    def law(X: Float[Array, "n ..."]) -> tuple[jax.Array, ...]:
        axes = (None,) * (X.ndim - 1)
        x = jnp.clip((X - x_scaling.center[axes]) / x_scaling.scale[axes], -LARGEST, LARGEST)
        found = networks.call(x.astype(jnp.float32))
        weights, *parts = (jnp.moveaxis(part.astype(jnp.float64), 2, 0) for part in found)
        weights = weights / weights.sum(axis=-1, keepdims=True)
        weights = weights * frozen.shares[None, None, :, None]
        if "probabilities" in frozen.outputs:
            parts = [parts[0] / parts[0].sum(axis=-1, keepdims=True)]
        else:
            axes = (None,) * 4
            means, scales = (part * y_scaling.scale[axes] for part in parts)
            parts = [means + y_scaling.center[axes], scales]
        # NaN for rows that hold numbers that are not finite: clipping would hide an infinite one.
        spoilt = (0.0 * X).reshape(X.shape[0], -1).sum(axis=1)
        shapes = frozen.outputs.values()
        return tuple(
            part.reshape(X.shape[0], *shape) + jnp.expand_dims(spoilt, range(1, 1 + len(shape)))
            for part, shape in zip((weights, *parts), shapes, strict=True)
        )

    return law
