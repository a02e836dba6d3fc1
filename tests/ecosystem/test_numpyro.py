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
SINGLE = 2e-6


@pytest.fixture(autouse=True)
def numpyros_own_promotions():
    with jax.numpy_rank_promotion("allow"), jax.numpy_dtype_promotion("standard"):
        yield


def test_numpyro_computes_the_same_law():
    there = LAW.to_numpyro()
    assert there.batch_shape == LAW.shape
    assert_allclose(there.log_prob(Y), LAW.logpdf(Y), rtol=SINGLE, atol=SINGLE)
    assert_allclose(there.cdf(Y), LAW.cdf(Y), rtol=SINGLE)
    assert_allclose(there.mean, LAW.mean(), rtol=SINGLE, atol=SINGLE)
    assert_allclose(there.variance, LAW.var(), rtol=SINGLE)
    single = LAW[1].to_numpyro()
    assert single.batch_shape == ()
    assert_allclose(single.log_prob(0.3), LAW[1].logpdf(0.3), rtol=SINGLE)


def test_numpyro_draws_from_the_same_law():
    n = 20_000
    draws = LAW.to_numpyro().sample(jax.random.key(0), (n,))
    error = LAW.std() / np.sqrt(n)
    assert (np.abs(draws.mean(axis=0) - LAW.mean()) < 4 * error).all()
    # The variance of a squared deviation follows from the kurtosis.
    error = LAW.var() * np.sqrt((LAW.kurtosis() + 2) / n)
    assert (np.abs(draws.var(axis=0) - LAW.var()) < 4 * error).all()


def test_empty_components_and_double_precision():
    law = GaussianMixture([0.4, 0.0, 0.6], [1e5, 3.0, 1e5 + 1], [1e-3, 1.0, 1.0])
    with jax.enable_x64(True):
        there = law.to_numpyro()
        assert_allclose(there.log_prob(1e5), law.logpdf(1e5), rtol=1e-13)
        assert_allclose(there.cdf(1e5), law.cdf(1e5), rtol=1e-13)


def test_without_numpyro_the_error_says_how_to_install_it(monkeypatch):
    for module in ("numpyro", "numpyro.distributions"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=r"pip install 'dgme\[numpyro\]'"):
        LAW.to_numpyro()
