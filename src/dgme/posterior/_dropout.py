from dataclasses import dataclass

import numpy as np
from jaxtyping import Float32

from dgme.posterior._draws import Draws


@dataclass(frozen=True)
class DropoutPosterior:
    """Units dropped at prediction as in training.

    This is the paper's sampling procedure: a mask of Bernoulli variables, one for each unit of a
    component, takes away the unit's weights. A mask is drawn once for all rows.
    """

    def draw(
        self, params: Float32[np.ndarray, "K size"], n: int, rng: np.random.Generator
    ) -> Draws:
        keys = rng.integers(2**32, size=(n, len(params), 2), dtype=np.uint32)
        return Draws(np.broadcast_to(params, (n, *params.shape)), keys)
