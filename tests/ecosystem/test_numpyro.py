"""Laws that are handed to numpyro stay the same, as far as its precision goes."""

import sys

import jax
import numpy as np
import pytest
from numpy.testing import assert_allclose

from dgme import GaussianMixture

RNG = np.random.default_rng(7)
LAW = GaussianMixture(RNG.dirichlet(np.ones(3), 4), RNG.normal(size=(4, 3)), [[1, 2, 0.5]] * 4)
Y = RNG.normal(size=4)


@pytest.fixture(autouse=True)
def numpyros_own_promotions():
    with jax.numpy_rank_promotion("allow"), jax.numpy_dtype_promotion("standard"):
        yield


@jax.jit
def verbs(law, y):
    return law.log_prob(y), law.cdf(y), law.mean, law.variance


def own_verbs(law, y):
    return law.logpdf(y), law.cdf(y), law.mean(), law.var()


@pytest.mark.parametrize("law", [LAW, LAW[1]])
def test_numpyro_computes_the_same_law(law):
    there, y = law.to_numpyro(), Y[: law.shape[0] if law.shape else 1].reshape(-1)
    assert there.batch_shape == law.shape
    for found, expected in zip(verbs(there, y), own_verbs(law, y), strict=True):
        # A few roundings in single precision.
        assert_allclose(found, expected, rtol=2e-6, atol=2e-6)


def test_numpyro_draws_from_the_same_law():
    n = 20_000
    draws = jax.jit(lambda key: LAW.to_numpyro().sample(key, (n,)))(jax.random.key(0))
    error = LAW.std() / np.sqrt(n)
    assert (np.abs(draws.mean(axis=0) - LAW.mean()) < 4 * error).all()
    # The variance of a squared deviation follows from the kurtosis.
    error = LAW.var() * np.sqrt((LAW.kurtosis() + 2) / n)
    assert (np.abs(draws.var(axis=0) - LAW.var()) < 4 * error).all()


def test_empty_components_and_double_precision():
    law = GaussianMixture([0.4, 0.0, 0.6], [1e5, 3.0, 1e5 + 1], [1e-3, 1.0, 1.0])
    with jax.enable_x64(True):
        for found, expected in zip(verbs(law.to_numpyro(), 1e5), own_verbs(law, 1e5), strict=True):
            assert_allclose(found, expected, rtol=1e-10)


def test_without_numpyro_the_error_says_how_to_install_it(monkeypatch):
    for module in ("numpyro", "numpyro.distributions"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=r"pip install 'dgme\[numpyro\]'"):
        LAW.to_numpyro()
