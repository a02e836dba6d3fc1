"""The three toy problems of the paper: y = u x³ + noise, with x in [-4, 4].

The true law of every target is known, so that the regret of a model can be computed: its negative
log-likelihood less the truth's.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from scipy import stats

from dgme.distributions import GaussianMixture

NOISE_SCALE = 3.0
BIMODAL_WEIGHTS = (0.7, 0.3)


@dataclass(frozen=True)
class Toy:
    """Inputs of shape (n, 1), targets, and the true law of the target at every input."""

    X: np.ndarray
    y: np.ndarray
    law: Any


def gaussian_law(x: np.ndarray) -> GaussianMixture:
    """Case 1: x³ with Gaussian noise of variance 9."""
    return GaussianMixture(np.ones(1), x[:, None] ** 3, np.full((len(x), 1), NOISE_SCALE))


def heavy_tailed_law(x: np.ndarray):
    """Case 2: x³ with three times a Student t of three degrees of freedom.

    The paper speaks of variance 9, but the likelihoods that it reports are only possible with this
    scale, which makes the variance 27.
    """
    return stats.t(df=3, loc=x**3, scale=NOISE_SCALE)


def bimodal_law(x: np.ndarray) -> GaussianMixture:
    """Case 3: x³ with probability 0.7 and -x³ with 0.3, with Gaussian noise of variance 9."""
    means = np.stack([x**3, -(x**3)], axis=1)
    return GaussianMixture(np.array(BIMODAL_WEIGHTS), means, np.full_like(means, NOISE_SCALE))


LAWS: Mapping[str, Callable[[np.ndarray], Any]] = MappingProxyType(
    {"gaussian": gaussian_law, "heavy_tailed": heavy_tailed_law, "bimodal": bimodal_law}
)


def load(case: str, n: int = 800, *, outside: bool = False, random_state: int | None = None) -> Toy:
    """Draw a toy problem: "gaussian", "heavy_tailed" or "bimodal".

    With `outside`, inputs have ``4 ≤ |x| ≤ 5``, where the paper tests beyond the training range.
    """
    if case not in LAWS:
        raise ValueError(f"case must be one of {', '.join(LAWS)}, but is {case!r}.")
    rng = np.random.default_rng(random_state)
    x = rng.uniform(4, 5, n) * rng.choice([-1, 1], n) if outside else rng.uniform(-4, 4, n)
    law = LAWS[case](x)
    return Toy(x[:, None], law.rvs(random_state=rng), law)
