"""Heads: how the outputs of a network are read as a law of each row's target.

Targets have shape (n, d) throughout, with d = 1 for a scalar and one-hot rows for classes.
"""

import math
from typing import Protocol, runtime_checkable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.nn import log_softmax, logsumexp, softmax, softplus
from jaxtyping import Array, Float

Outputs = Float[Array, "n outputs"]
Column = Float[Array, " n"]
Weights = Float[Array, "n components"]
Table = Float[Array, "n components targets"]


@runtime_checkable
class Head(Protocol):
    """What training and prediction ask of a head. Its fields are traced, its sizes are not."""

    @property
    def n_outputs(self) -> int: ...

    @property
    def n_targets(self) -> int:
        """Columns of the target."""
        ...

    def __call__(self, outputs: Outputs) -> tuple[jax.Array, ...]:
        """Each row's mixture: weights, and the parameters of its components."""
        ...

    def log_prob(self, outputs: Outputs, y: Float[Array, "n d"]) -> Column: ...


class GaussianHead(eqx.Module):
    """A Gaussian for each row, with independent targets.

    The variance is softplus of an output plus the square of `min_scale`: no expert can become
    narrower, which bounds the likelihood of the mixture.
    """

    min_scale: float
    n_targets: int = eqx.field(static=True, default=1)

    @property
    def n_outputs(self) -> int:
        return 2 * self.n_targets

    def __call__(self, outputs: Outputs) -> tuple[Weights, Table, Table]:
        mean, variance = self._moments(outputs)
        return _certain(outputs), mean[:, None], jnp.sqrt(variance)[:, None]

    def log_prob(self, outputs: Outputs, y: Float[Array, "n d"]) -> Column:
        return _log_normal(y, *self._moments(outputs))

    def fisher(self, outputs: Outputs) -> Float[Array, "n outputs outputs"]:
        """Expected curvature of minus the log density in the outputs."""
        _, variance = self._moments(outputs)
        slope = jax.nn.sigmoid(outputs[:, self.n_targets :])
        return _diagonals(jnp.concatenate([1 / variance, 0.5 * (slope / variance) ** 2], axis=1))

    def _moments(self, outputs: Outputs) -> tuple[Float[Array, "n d"], Float[Array, "n d"]]:
        mean, raw = outputs[:, : self.n_targets], outputs[:, self.n_targets :]
        return mean, softplus(raw) + self.min_scale**2


class HomoscedasticHead(eqx.Module):
    """A Gaussian whose mean the network gives, with a scale that is the same for all rows.

    With a scale of one, minus its log density is half the squared error.
    """

    scale: Float[Array | np.ndarray, " d"]

    @property
    def n_targets(self) -> int:
        return self.scale.shape[0]

    @property
    def n_outputs(self) -> int:
        return self.n_targets

    def __call__(self, outputs: Outputs) -> tuple[Weights, Table, Table]:
        scales = jnp.broadcast_to(self.scale[None], outputs.shape)
        return _certain(outputs), outputs[:, None], scales[:, None]

    def log_prob(self, outputs: Outputs, y: Float[Array, "n d"]) -> Column:
        return _log_normal(y, outputs, jnp.broadcast_to(self.scale[None] ** 2, outputs.shape))

    def fisher(self, outputs: Outputs) -> Float[Array, "n outputs outputs"]:
        return _diagonals(jnp.broadcast_to(self.scale[None] ** -2, outputs.shape))


class MixtureHead(eqx.Module):
    """A mixture of Gaussians for each row, with weights that depend on the row.

    The outputs are logits of the weights, then means, then raw variances as in `GaussianHead`.
    """

    min_scale: float
    n_components: int = eqx.field(static=True)
    n_targets: int = eqx.field(static=True, default=1)

    @property
    def n_outputs(self) -> int:
        return self.n_components * (1 + 2 * self.n_targets)

    def __call__(self, outputs: Outputs) -> tuple[Weights, Table, Table]:
        logits, means, variances = self._parts(outputs)
        return softmax(logits), means, jnp.sqrt(variances)

    def log_prob(self, outputs: Outputs, y: Float[Array, "n d"]) -> Column:
        logits, means, variances = self._parts(outputs)
        return logsumexp(log_softmax(logits) + _log_normal(y[:, None], means, variances), axis=1)

    def _parts(self, outputs: Outputs) -> tuple[Weights, Table, Table]:
        k = self.n_components
        logits, rest = outputs[:, :k], outputs[:, k:].reshape(-1, 2, k, self.n_targets)
        return logits, rest[:, 0], softplus(rest[:, 1]) + self.min_scale**2


class CategoricalHead(eqx.Module):
    """Probabilities of classes; the target is a one-hot row, or any row of probabilities."""

    n_classes: int = eqx.field(static=True)

    @property
    def n_targets(self) -> int:
        return self.n_classes

    @property
    def n_outputs(self) -> int:
        return self.n_classes

    def __call__(self, outputs: Outputs) -> tuple[Weights, Table]:
        return _certain(outputs), softmax(outputs)[:, None]

    def log_prob(self, outputs: Outputs, y: Float[Array, "n d"]) -> Column:
        return jnp.sum(y * log_softmax(outputs), axis=1)

    def fisher(self, outputs: Outputs) -> Float[Array, "n outputs outputs"]:
        p = softmax(outputs)
        return _diagonals(p) - p[:, :, None] * p[:, None]


class CategoricalMixtureHead(eqx.Module):
    """A mixture of categoricals with weights that depend on the row.

    Outputs are logits of the weights, then logits of the classes, component by component.
    """

    n_components: int = eqx.field(static=True)
    n_classes: int = eqx.field(static=True)

    @property
    def n_targets(self) -> int:
        return self.n_classes

    @property
    def n_outputs(self) -> int:
        return self.n_components * (1 + self.n_classes)

    def __call__(self, outputs: Outputs) -> tuple[Weights, Table]:
        logits, classes = self._parts(outputs)
        return softmax(logits), softmax(classes)

    def log_prob(self, outputs: Outputs, y: Float[Array, "n d"]) -> Column:
        logits, classes = self._parts(outputs)
        of_components = jnp.sum(y[:, None] * log_softmax(classes), axis=2)
        return logsumexp(log_softmax(logits) + of_components, axis=1)

    def _parts(self, outputs: Outputs) -> tuple[Weights, Table]:
        k = self.n_components
        return outputs[:, :k], outputs[:, k:].reshape(-1, k, self.n_classes)


def _certain(outputs: Outputs) -> Weights:
    return jnp.ones((outputs.shape[0], 1), outputs.dtype)


def _log_normal(y, mean, variance):
    """Log density of independent Gaussians along the last axis."""
    terms = math.log(2 * math.pi) + jnp.log(variance) + (y - mean) ** 2 / variance
    return -0.5 * jnp.sum(terms, axis=-1)


def _diagonals(rows: Outputs) -> Float[Array, "n outputs outputs"]:
    return jax.vmap(jnp.diag)(rows)
