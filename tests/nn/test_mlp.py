import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import erf, expit

from dgme.nn import ACTIVATIONS, MLP, FlatNetwork
from dgme.nn._mlp import product
from dgme.nn._modules import inverted_dropout

FORMULAS = {
    "relu": lambda x: np.maximum(x, 0),
    "silu": lambda x: x * expit(x),
    # The approximation by tanh, which JAX uses, stays within 5e-4 of this.
    "gelu": lambda x: x * (1 + erf(x / np.sqrt(2))) / 2,
    "elu": lambda x: np.where(x > 0, x, np.expm1(np.minimum(x, 0))),
    "tanh": np.tanh,
    "softplus": lambda x: np.logaddexp(x, 0),
    "identity": lambda x: x,
}


@pytest.mark.parametrize("name", sorted(ACTIVATIONS))
def test_activations(name):
    x = np.linspace(-5, 5, 101)
    found = ACTIVATIONS[name](jnp.asarray(x, jnp.float32))
    np.testing.assert_allclose(found, FORMULAS[name](x), atol=5e-4 if name == "gelu" else 1e-6)


@pytest.mark.parametrize("hidden_sizes", [(), (7,), (6, 5, 4)])
def test_forward_pass(hidden_sizes):
    mlp = MLP(hidden_sizes, "tanh")(jax.random.key(0), (3,), 2)
    x = np.random.default_rng(0).normal(size=(11, 3))
    expected = x
    for depth, layer in enumerate(mlp.layers):
        expected = expected @ np.asarray(layer.weight, float) + np.asarray(layer.bias, float)
        if depth < len(mlp.layers) - 1:
            expected = np.tanh(expected)
    np.testing.assert_allclose(mlp(jnp.asarray(x, jnp.float32)), expected, atol=1e-6)


def test_dropout_keeps_the_mean():
    """One hidden layer and a linear readout: the mean over masks is the pass without dropout.

    20,000 masks; 4 standard errors for each of two outputs fail by chance once in 8,000 seeds.
    """
    mlp = MLP((30,), "relu", dropout=0.3)(jax.random.key(0), (3,), 2)
    x = jnp.ones((1, 3))
    keys = jax.random.split(jax.random.key(1), 20_000)
    passes = np.asarray(jax.vmap(lambda key: mlp(x, key)[0])(keys), np.float64)
    error = passes.std(axis=0) / np.sqrt(len(passes))
    assert (error > 0).all()
    assert (np.abs(passes.mean(axis=0) - np.asarray(mlp(x)[0])) < 4 * error).all()


def test_double_precision_in_the_process_drops_the_same_units():
    key, rows = jax.random.key(0), np.ones((1, 200), np.float32)
    dropped = np.asarray(inverted_dropout(jnp.asarray(rows), 0.3, key))
    with jax.enable_x64(True):
        again = np.asarray(inverted_dropout(jnp.asarray(rows), 0.3, key))
    np.testing.assert_array_equal(again, dropped)
    assert 0 < (dropped == 0).sum() < 200


def test_dropout_needs_a_key_and_a_rate():
    x = jnp.ones((4, 3))
    key = jax.random.key(2)
    without = MLP((30,))(jax.random.key(0), (3,), 2)
    np.testing.assert_array_equal(without(x, key), without(x))
    dropping = MLP((30,), dropout=0.5)(jax.random.key(0), (3,), 2)
    np.testing.assert_array_equal(dropping(x), without(x))
    assert (dropping(x, key) != without(x)).any()


def test_a_flat_network_gives_back_the_module():
    design = MLP((5, 4))
    flat, key = FlatNetwork(design, (3,), 2), jax.random.key(7)
    vector = flat.initialise(key)
    assert vector.shape == (flat.size,) == (3 * 5 + 5 + 5 * 4 + 4 + 4 * 2 + 2,)
    again, module = flat.module(vector), design(key, (3,), 2)
    assert jax.tree.structure(again) == jax.tree.structure(module)
    for found, leaf in zip(jax.tree.leaves(again), jax.tree.leaves(module), strict=True):
        np.testing.assert_array_equal(found, leaf)


def test_a_flat_network_names_its_parameters():
    flat = FlatNetwork(MLP((5,)), (3,), 2)
    assert flat.shapes == {
        "layers[0].weight": (3, 5),
        "layers[0].bias": (5,),
        "layers[1].weight": (5, 2),
        "layers[1].bias": (2,),
    }
    many = np.arange(4 * flat.size).reshape(4, flat.size)
    parts = flat.split(many)
    assert {name: part.shape for name, part in parts.items()} == {
        name: (4, *shape) for name, shape in flat.shapes.items()
    }
    np.testing.assert_array_equal(
        np.concatenate([part.reshape(4, -1) for part in parts.values()], axis=1), many
    )


def test_equal_recipes_make_equal_networks():
    assert FlatNetwork(MLP((5,)), (3,), 2) == FlatNetwork(MLP((5,)), (3,), 2)
    assert hash(FlatNetwork(MLP((5,)), (3,), 2)) == hash(FlatNetwork(MLP((5,)), (3,), 2))
    assert FlatNetwork(MLP((5,)), (3,), 2) != FlatNetwork(MLP((6,)), (3,), 2)


def test_gradients_agree_with_those_of_the_plain_product():
    keys = jax.random.split(jax.random.key(0), 3)
    x, weight, target = (
        jax.random.normal(key, shape)
        for key, shape in zip(keys, [(8, 3), (3, 5), (8, 5)], strict=True)
    )

    def loss(multiply):
        return lambda x, weight: jnp.sum((multiply(x, weight) - target) ** 2)

    for found, expected in zip(
        jax.grad(loss(product), argnums=(0, 1))(x, weight),
        jax.grad(loss(jnp.matmul), argnums=(0, 1))(x, weight),
        strict=True,
    ):
        np.testing.assert_allclose(found, expected, rtol=1e-5)
