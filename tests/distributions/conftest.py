"""Laws for the tests of this folder.

``st.from_type(GaussianMixture)`` draws arrays of up to three laws; their components have scales
over three decades, often coincide and may be empty. ``hard_law`` goes through single laws picked
by hand.
"""

import random
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from dgme.distributions import GaussianMixture

settings.register_profile("laws", derandomize=True, deadline=None, max_examples=40)

HARD_LAWS = {
    "one component": ([1.0], [0.3], [2.0]),
    "twin peaks": ([0.5, 0.5], [-2.0, 2.0], [1.0, 1.0]),
    "merging": ([0.5, 0.5], [-1.0001, 1.0], [1.0, 1.0]),
    "duplicates": ([0.25] * 4, [3.0] * 4, [0.5] * 4),
    "needle": ([0.3, 0.7], [0.5, 0.0], [1e-4, 1.0]),
    "far apart": ([0.2, 0.8], [-1e3, 1e3], [1.0, 5.0]),
    "far from zero": ([0.4, 0.6], [1e8 - 1, 1e8 + 2], [1.0, 0.5]),
    "rare": ([1e-9, 1 - 1e-9], [50.0, 0.0], [1.0, 1.0]),
    "empty component": ([0.5, 0.0, 0.5], [0.0, 1e6, 1.0], [1.0, 1e-3, 0.2]),
    "skewed": (0.5 ** np.array([1, 2, 3, 4, 5, 5]), 2.0 ** np.arange(6), 1.3 ** np.arange(6)),
    "crowd": (np.full(30, 1 / 30), np.sin(7.0 * np.arange(30)), 0.02 * np.arange(1, 31)),
}


@pytest.fixture(scope="session", params=HARD_LAWS.values(), ids=list(HARD_LAWS))
def hard_law(request: pytest.FixtureRequest) -> GaussianMixture:
    return GaussianMixture(*request.param)


@pytest.fixture(scope="session")
def batch() -> GaussianMixture:
    """Forty laws of nine components in three groups of uneven size."""
    rng = np.random.default_rng(8)
    return GaussianMixture(
        rng.dirichlet(np.ones(9), 40),
        rng.normal(0.0, 2.0, (40, 9)),
        np.exp(rng.normal(-1.0, 0.7, (40, 9))),
        groups=[0, 0, 0, 0, 0, 1, 2, 2, 2],
    )


@st.composite
def _laws(draw: st.DrawFn) -> GaussianMixture:
    shape = (draw(st.integers(1, 3)), draw(st.integers(1, 5)))
    logits = draw(arrays(float, shape, elements=st.floats(-8, 3)))
    means = draw(arrays(float, shape, elements=st.floats(-5, 5)))
    scales = 10.0 ** draw(arrays(float, shape, elements=st.floats(-2.5, 0.5)))
    empty = draw(arrays(bool, shape, elements=st.sampled_from([False, False, False, True])))
    empty[:, 0] = False
    weights = np.where(empty, 0.0, np.exp(logits))
    weights /= weights.sum(axis=1, keepdims=True)
    groups = draw(arrays(int, shape[1], elements=st.integers(0, 2)))
    # runtime type checks look at random items of a tuple, and a strategy must leave no trace in the
    # generator they use
    state = random.getstate()
    law = GaussianMixture(weights, means, scales, groups)
    random.setstate(state)
    return law


st.register_type_strategy(GaussianMixture, _laws())


def _panels(law: GaussianMixture, upto: float) -> np.ndarray:
    steps = np.linspace(-10, 10, 41)
    edges = np.unique(law.means[:, None] + law.scales[:, None] * steps)
    return np.append(edges[edges < upto], upto) if np.isfinite(upto) else edges


@pytest.fixture(scope="session")
def integrate() -> Callable[..., float]:
    """Gauss-Legendre quadrature of a function over the support of one law, up to a point.

    Panels of half a standard deviation and twenty nodes integrate products of Gaussians and
    polynomials to rounding; ten standard deviations leave 1e-23 of the mass outside.
    """
    nodes, weights = np.polynomial.legendre.leggauss(20)

    def quadrature(
        function: Callable[[np.ndarray], np.ndarray], law: GaussianMixture, upto: float = np.inf
    ) -> float:
        edges = _panels(law, upto)
        half = np.diff(edges)[:, None] / 2
        return float((half * weights * function(edges[:-1, None] + half * (1 + nodes))).sum())

    return quadrature
