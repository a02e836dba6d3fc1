import math
from collections.abc import Callable, Mapping
from types import MappingProxyType

import equinox as eqx
import jax.numpy as jnp
import optax


def _cosine(rate, n_steps) -> optax.Schedule:
    # Optax's own insists on a number of steps that is known when the program is compiled.
    return lambda step: rate * 0.5 * (1 + jnp.cos(math.pi * step / n_steps))


SCHEDULES: Mapping[str, Callable[..., optax.Schedule]] = MappingProxyType(
    {"constant": lambda rate, n_steps: optax.constant_schedule(rate), "cosine": _cosine}
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

    def build(self, n_steps) -> optax.GradientTransformation:
        clip = [] if self.clip_norm is None else [optax.clip_by_global_norm(self.clip_norm)]
        return optax.chain(
            *clip,
            optax.scale_by_adam(),
            optax.add_decayed_weights(self.weight_decay),
            optax.scale_by_learning_rate(SCHEDULES[self.schedule](self.learning_rate, n_steps)),
        )
