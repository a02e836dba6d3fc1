"""SWAG (Maddox et al., 2019): a Gaussian from the iterates of the optimiser."""

from collections import deque
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float32

from dgme.engine import TrainState
from dgme.posterior._draws import Draws


@dataclass(frozen=True)
class SwagPosterior:
    """A Gaussian whose covariance is half diagonal, half of low rank."""

    mean: Float32[np.ndarray, "K size"]
    std: Float32[np.ndarray, "K size"]
    deviations: Float32[np.ndarray, "K rank size"]

    def draw(
        self, params: Float32[np.ndarray, "K size"], n: int, rng: np.random.Generator
    ) -> Draws:
        n_members, rank, size = self.deviations.shape
        drawn = np.empty((n, n_members, size), np.float32)
        for draw in drawn:
            # One draw after the other, so that it does not matter how many are asked for at once.
            diagonal = rng.standard_normal((n_members, size), np.float32) * self.std
            factors = rng.standard_normal((n_members, rank), np.float32)
            low_rank = np.einsum("kr,krs->ks", factors, self.deviations) / np.sqrt(rank - 1)
            draw[:] = self.mean + (diagonal + low_rank) / np.sqrt(2)
        return Draws(drawn)


class SwagMoments:
    """Gathers what `SwagPosterior` needs from the iterates, as a callback of the engine.

    Welford's update keeps the variance of parameters that hardly move from cancelling.
    """

    def __init__(self, rank: int):
        self.count = 0
        self.mean = self.squares = np.zeros(())
        self.deviations: deque[np.ndarray] = deque(maxlen=rank)

    def __call__(self, state: TrainState) -> None:
        assert state.iterates is not None
        for iterate in state.iterates.swapaxes(0, 1).astype(np.float64):
            self.count += 1
            step = iterate - self.mean
            self.mean = self.mean + step / self.count
            self.squares = self.squares + step * (iterate - self.mean)
            self.deviations.append((iterate - self.mean).astype(np.float32))

    def posterior(self) -> SwagPosterior:
        return SwagPosterior(
            self.mean.astype(np.float32),
            np.sqrt(self.squares / self.count).astype(np.float32),
            np.stack(list(self.deviations), axis=1),
        )
