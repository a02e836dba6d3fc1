"""Random numbers for training: a generator that costs a handful of instructions per word.

JAX's own generator, made to be unpredictable, would take longer than the whole rest of a small
network's step, and its compilation as long as that of the trainer. Dropping units asks for much
less. This one numbers the words of a stream and hashes each number with the two words of the key.
It serves every function of `jax.random`, through keys that `random_key` makes.
"""

import math
from typing import Any

import jax
import jax.numpy as jnp
from jax.extend.random import define_prng_impl
from jaxtyping import Array, Int, PRNGKeyArray, UInt, UInt32

Words = UInt32[Array, "..."]
Key = UInt32[Array, "2"]


def random_key(seed: int | Int[Array, ""] | UInt[Array, ""]) -> PRNGKeyArray:
    return jax.random.key(seed, impl=_IMPLEMENTATION)


def wrapped(words: UInt32[Array, "2"]) -> PRNGKeyArray:
    """The key that two words stand for; keys cross from NumPy as words."""
    return jax.random.wrap_key_data(words, impl=_IMPLEMENTATION)


def _mixed(words: Words) -> Words:
    """A permutation of the 32-bit words in which every bit depends on every bit.

    Two rounds of multiplying and folding; shifts and multipliers are those that Wellons' search
    for low bias found ("hash-prospector").
    """
    words = (words ^ (words >> 16)) * jnp.uint32(0x21F0AAAD)
    words = (words ^ (words >> 15)) * jnp.uint32(0xD35A2D97)
    return words ^ (words >> 15)


def _hashed(key: Key, numbers: Words) -> Words:
    return _mixed(_mixed(numbers + key[0]) ^ key[1])


def _derived(key: Key, numbers: Words) -> UInt32[Array, "... 2"]:
    """A key for each number: two words of another stream than those that are drawn."""
    first = _hashed(~key, numbers)
    return jnp.stack([first, _hashed(key[::-1], numbers ^ first)], axis=-1)


def _seed(seed: Array) -> Key:
    low = seed.astype(jnp.uint32)
    # Where double precision is on, seeds have an upper half.
    high = (seed >> 32).astype(jnp.uint32) if seed.dtype.itemsize == 8 else jnp.zeros_like(low)
    return _derived(jnp.stack([high, high ^ jnp.uint32(0x9E3779B9)]), low)


def _split(key: Key, shape: tuple[int, ...]) -> UInt32[Array, "... 2"]:
    return _derived(key, jnp.arange(math.prod(shape), dtype=jnp.uint32).reshape(shape))


def _fold_in(key: Key, number: Any) -> Key:
    return _derived(key, jnp.asarray(number).astype(jnp.uint32))


def _random_bits(key: Key, width: int, shape: tuple[int, ...]) -> UInt[Array, "..."]:
    if width == 64:
        halves = _random_bits(key, 32, (*shape, 2)).astype(jnp.uint64)
        return (halves[..., 0] << 32) | halves[..., 1]
    words = _hashed(key, jnp.arange(math.prod(shape), dtype=jnp.uint32).reshape(shape))
    # The upper bits of a product are its best.
    return (words >> (32 - width)).astype(f"uint{width}")


_IMPLEMENTATION = define_prng_impl(
    key_shape=(2,),
    seed=_seed,
    split=_split,
    random_bits=_random_bits,
    fold_in=_fold_in,
    name="dgme_hash",
    tag="dgme",
)
