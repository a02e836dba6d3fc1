"""Statistical tests of the generator: fixed seeds, 2¹⁸ words unless said otherwise."""

import operator

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from dgme.engine._random import random_key

N = 2**18
# Each test makes at most some hundreds of comparisons: a false alarm would be one in a thousand.
TOO_UNLIKELY = 1e-6


def words(key, n=N):
    return np.asarray(jax.random.bits(key, (n,)))


KEY = random_key(0)
STREAMS = {
    "one stream": lambda: words(KEY),
    "first words of split keys": lambda: first_words(operator.getitem, jax.random.split(KEY, N)),
    "first words of consecutive folds": lambda: first_words(jax.random.fold_in, KEY),
    "first words of consecutive seeds": lambda: first_words(lambda _, i: random_key(i), KEY),
    "folds within folds": lambda: first_words(
        lambda key, i: jax.random.fold_in(jax.random.fold_in(key, i // 512), i % 512), KEY
    ),
}


def first_words(child, parent):
    """The first word of each of N keys, the children of one."""
    draw = jax.jit(jax.vmap(lambda i: jax.random.bits(child(parent, i), ())))
    return np.asarray(draw(jnp.arange(N)))


@pytest.fixture(scope="module", params=STREAMS.values(), ids=list(STREAMS))
def stream(request):
    return request.param()


@pytest.fixture(scope="module")
def signs(stream):
    """The bits as -1 and 1; single precision holds sums of up to 2²⁴ of them exactly."""
    bits = (stream[:, None] >> np.arange(32, dtype=np.uint32)) & 1
    return 2 * bits.astype(np.float32) - 1


class TestWords:
    def test_every_bit_is_fair(self, signs):
        z = signs.sum(axis=0) / np.sqrt(N)
        assert 2 * stats.norm.sf(np.abs(z).max()) > TOO_UNLIKELY

    def test_bits_of_a_word_are_independent(self, signs):
        z = (signs.T @ signs / np.sqrt(N))[np.triu_indices(32, 1)]
        assert 2 * stats.norm.sf(np.abs(z).max()) > TOO_UNLIKELY

    @pytest.mark.parametrize("lag", [1, 2, 32, 50, 512, 1600])
    def test_words_are_independent_of_earlier_ones(self, signs, lag):
        z = signs[lag:].T @ signs[:-lag] / np.sqrt(N - lag)
        assert 2 * stats.norm.sf(np.abs(z).max()) > TOO_UNLIKELY

    def test_the_highest_bits_are_uniform(self, stream):
        counts = np.bincount(stream >> 20, minlength=2**12)
        assert stats.chisquare(counts).pvalue > TOO_UNLIKELY

    def test_runs_between_visits_are_geometric(self, stream):
        visits = np.flatnonzero(stream >> 28 == 0)
        gaps = np.bincount(np.minimum(np.diff(visits), 60), minlength=61)[1:]
        expected = stats.geom.pmf(np.arange(1, 61), 1 / 16)
        expected[-1] = stats.geom.sf(59, 1 / 16)
        assert stats.chisquare(gaps, expected * gaps.sum()).pvalue > TOO_UNLIKELY


def test_two_streams_share_no_more_words_than_chance():
    first, second = (words(random_key(seed)) for seed in (1, 2))
    expected = N * N / 2**32
    assert len(np.intersect1d(first, second)) < expected + 6 * np.sqrt(expected)


def test_uniform_and_normal_draws_have_their_laws():
    uniform = np.asarray(jax.random.uniform(random_key(3), (N,)), np.float64)
    normal = np.asarray(jax.random.normal(random_key(4), (N,)), np.float64)
    assert stats.kstest(uniform, "uniform").pvalue > TOO_UNLIKELY
    assert stats.kstest(normal, "norm").pvalue > TOO_UNLIKELY


@pytest.mark.parametrize("width", [8, 16])
def test_narrow_words_are_uniform(width):
    counts = np.bincount(np.asarray(jax.random.bits(random_key(5), (N,), f"uint{width}")))
    assert len(counts) == 2**width
    assert stats.chisquare(counts).pvalue > TOO_UNLIKELY


def test_a_key_gives_the_same_words_however_it_is_used():
    key = random_key(6)
    assert np.array_equal(words(key), words(jax.random.clone(key)))
    split = jax.random.split(key, (2, 3))
    assert np.array_equal(
        jax.random.key_data(split).reshape(6, 2), jax.random.key_data(jax.random.split(key, 6))
    )
