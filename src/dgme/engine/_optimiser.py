import math
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

import equinox as eqx
import jax.numpy as jnp

if TYPE_CHECKING:
    import optax


def _constant(rate, n_steps, epoch_steps) -> Callable:
    return lambda step: rate


def _cosine(rate, n_steps, epoch_steps) -> Callable:
    # Optax's own insists on a number of steps that is known when the program is compiled.
    return lambda step: rate * 0.5 * (1 + jnp.cos(math.pi * step / n_steps))


def _cyclic(rate, n_steps, epoch_steps) -> Callable:
    """From the full rate to a twentieth in every epoch, so that epochs end in quiet places."""
    return lambda step: rate * (1 - 0.95 * (step % epoch_steps) / max(1, epoch_steps - 1))


# (rate, steps in all, steps of an epoch) -> schedule
SCHEDULES: Mapping[str, Callable[..., Callable]] = MappingProxyType(
    {"constant": _constant, "cosine": _cosine, "cyclic": _cyclic}
)


class Optimiser(eqx.Module):
    """Adam with decoupled weight decay.

    The numbers are traced, so that changing them compiles nothing; whether gradients are clipped
    and the name of the schedule are part of the program.
    """

    learning_rate: float
    weight_decay: float = 0.0
    clip_norm: float | None = None
    schedule: str = eqx.field(static=True, default="constant")

    def build(self, n_steps, epoch_steps: int) -> "optax.GradientTransformation":
        import optax  # needed by whoever trains, and not to predict

        clip = [] if self.clip_norm is None else [optax.clip_by_global_norm(self.clip_norm)]
        return optax.chain(
            *clip,
            optax.scale_by_adam(),
            optax.add_decayed_weights(self.weight_decay),
            optax.scale_by_learning_rate(
                SCHEDULES[self.schedule](self.learning_rate, n_steps, epoch_steps)
            ),
        )
