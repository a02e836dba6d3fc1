import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats
from scipy.special import expit

from dgme.nn import FlatNetwork
from dgme.nn._lstm import LSTM

STEPS, N_IN = 6, 3
KINDS = [
    LSTM(hidden_size=4),
    LSTM(hidden_size=4, n_layers=2),
    LSTM(hidden_size=4, dense_sizes=(5,), activation="tanh"),
    LSTM(hidden_size=4, n_layers=3, dense_sizes=(5, 6), activation="softplus"),
]


@eqx.filter_jit
def apply(module, x, key=None):
    return module(x, key)


def network(design):
    return FlatNetwork(design, (STEPS, N_IN), 2)


def rows(n):
    return np.random.default_rng(0).normal(size=(n, STEPS, N_IN))


def reference(design, vector, x):
    """One step and gate at a time, in double precision."""
    parts = network(design).split(np.asarray(vector, np.float64))
    size, sequence = design.hidden_size, list(np.swapaxes(np.asarray(x, np.float64), 0, 1))
    for depth in range(design.n_layers):
        weight, bias = parts[f"layers[{depth}].weight"], parts[f"layers[{depth}].bias"]
        h = cell = np.zeros((len(x), size))
        for step, features in enumerate(sequence):
            i, f, g, o = (
                h @ weight[:size, gate : gate + size]
                + features @ weight[size:, gate : gate + size]
                + bias[gate : gate + size]
                for gate in range(0, 4 * size, size)
            )
            cell = expit(f) * cell + expit(i) * np.tanh(g)
            h = expit(o) * np.tanh(cell)
            sequence[step] = h
    z = sequence[-1]
    for depth in range(len(design.dense_sizes) + 1):
        if depth > 0:
            z = {"tanh": np.tanh, "softplus": lambda z: np.logaddexp(z, 0)}[design.activation](z)
        z = z @ parts[f"dense.layers[{depth}].weight"] + parts[f"dense.layers[{depth}].bias"]
    return z


def parameters(design):
    """Larger than at the start of training, so that the gates bend."""
    return 2 * network(design).initialise(jax.random.key(1))


@pytest.mark.parametrize("design", KINDS, ids=str)
def test_forward_pass(design):
    vector, x = parameters(design), rows(7)
    found = apply(network(design).module(vector), jnp.asarray(x, jnp.float32))
    # Single precision, over a few dozen roundings.
    np.testing.assert_allclose(found, reference(design, vector, x), atol=5e-6)


@pytest.mark.parametrize("design", KINDS, ids=str)
def test_gradients_agree_with_finite_differences(design):
    """Along 10 random directions, in each of which every parameter and feature moves.

    Central differences of the reference have an error near 1e-9; the rest is single precision.
    """
    vector, x, by = parameters(design), rows(2), np.array([[1.0, -0.7], [0.4, 2.0]])

    def loss(vector, x):
        return jnp.sum(network(design).module(vector)(x) * jnp.asarray(by, jnp.float32))

    gradient = jax.jit(jax.grad(loss, argnums=(0, 1)))
    for_vector, for_x = gradient(vector, jnp.asarray(x, jnp.float32))
    rng, step, vector = np.random.default_rng(1), 1e-5, np.asarray(vector, np.float64)
    for _ in range(10):
        along, along_x = rng.normal(size=vector.shape), rng.normal(size=x.shape)
        ahead, behind = (
            np.sum(reference(design, vector + s * along, x + s * along_x) * by)
            for s in (step, -step)
        )
        found = np.sum(along * np.asarray(for_vector)) + np.sum(along_x * np.asarray(for_x))
        np.testing.assert_allclose(found, (ahead - behind) / (2 * step), atol=2e-4)


def test_a_flat_network_names_its_parameters():
    assert network(LSTM(hidden_size=4, n_layers=2, dense_sizes=(5,))).shapes == {
        "layers[0].weight": (4 + 3, 16),
        "layers[0].bias": (16,),
        "layers[1].weight": (4 + 4, 16),
        "layers[1].bias": (16,),
        "dense.layers[0].weight": (4, 5),
        "dense.layers[0].bias": (5,),
        "dense.layers[1].weight": (5, 2),
        "dense.layers[1].bias": (2,),
    }


@pytest.mark.parametrize(
    ("init", "law"),
    [
        ("torch", stats.uniform(-1 / 5, 2 / 5)),
        ("uniform", stats.uniform(-0.01, 0.02)),
        ("normal", stats.norm(0, 1e-6)),
        # Every gate is a layer from 25 hidden units and 3 features to 25 units.
        ("xavier_uniform", stats.uniform(-((6 / 53) ** 0.5), 2 * (6 / 53) ** 0.5)),
        ("xavier_normal", stats.norm(0, (2 / 53) ** 0.5)),
    ],
)
def test_weights_follow_their_law(init, law):
    """Kolmogorov-Smirnov over 2,800 weights and 100 biases; p < 1e-4 would be a fault."""
    design = LSTM(hidden_size=25, init=init)
    layer = design(jax.random.key(0), (STEPS, N_IN), 2).layers[0]
    weight, bias = (np.asarray(part, np.float64) for part in (layer.weight, layer.bias))
    assert stats.kstest(weight.ravel(), law.cdf).pvalue > 1e-4
    if init.startswith("xavier"):
        assert (bias == 0).all()
    else:
        assert stats.kstest(bias, law.cdf).pvalue > 1e-4
    # No gate is a copy of another.
    assert len(np.unique(weight)) > 0.99 * weight.size


def test_layers_begin_apart():
    first, second = LSTM(4, n_layers=2)(jax.random.key(0), (STEPS, 4), 2).layers
    assert (first.weight != second.weight).any()


DROPPING = [
    LSTM(hidden_size=30, dropout=0.5),
    LSTM(hidden_size=30, n_layers=2, dense_sizes=(20,), dropout=0.5),
]


@pytest.mark.parametrize("design", DROPPING, ids=str)
def test_dropout_is_per_key(design):
    module = design(jax.random.key(0), (STEPS, N_IN), 2)
    x = jnp.asarray(np.repeat(rows(1), 4, axis=0), jnp.float32)
    key = jax.random.key(2)
    keys = jax.random.split(key, 4)
    whole, thinned, own = (np.asarray(apply(module, x, k)) for k in (None, key, keys))
    assert [len(np.unique(part, axis=0)) for part in (whole, thinned, own)] == [1, 1, 4]
    assert (thinned != whole).any()
    # A row does not notice its neighbours. The sums of another batch may round otherwise.
    np.testing.assert_allclose(own[:1], apply(module, x[:1], keys[0]), atol=1e-6)
    np.testing.assert_array_equal(apply(module, x), whole)


def test_without_a_rate_the_key_does_nothing():
    module = LSTM(hidden_size=5, n_layers=2)(jax.random.key(0), (STEPS, N_IN), 2)
    x = jnp.asarray(rows(4), jnp.float32)
    np.testing.assert_array_equal(apply(module, x, jax.random.key(1)), apply(module, x))


def test_dropout_keeps_the_mean():
    """With a linear readout alone, the mean over masks is the pass without dropout.

    20,000 masks; 4 standard errors for each of two outputs fail by chance once in 8,000 seeds.
    """
    module = LSTM(hidden_size=30, dropout=0.3)(jax.random.key(0), (STEPS, N_IN), 2)
    x = jnp.asarray(np.repeat(rows(1), 20_000, axis=0), jnp.float32)
    keys = jax.random.split(jax.random.key(1), 20_000)
    passes = np.asarray(apply(module, x, keys), np.float64)
    error = passes.std(axis=0) / np.sqrt(len(passes))
    assert (error > 0).all()
    assert (np.abs(passes.mean(axis=0) - np.asarray(apply(module, x)[0])) < 4 * error).all()


def test_between_layers_a_unit_is_dropped_in_all_steps_or_in_none():
    """One unit, dropped half of the time: the upper layer sees all of the sequence, or zeros."""
    module = LSTM(hidden_size=1, n_layers=2, dropout=0.5)(jax.random.key(0), (STEPS, N_IN), 1)
    x = jnp.asarray(np.repeat(rows(1), 64, axis=0), jnp.float32)
    found = apply(module, x, jax.random.split(jax.random.key(1), 64))
    # Kept or dropped below, and above kept, or dropped, when only the bias is left.
    assert len(np.unique(np.round(np.asarray(found, np.float64), 5))) == 3


@pytest.mark.parametrize(("shape", "found"), [((13,), r"\(n, 13\)"), ((4, 3, 2), r"4, 3, 2")])
def test_rows_that_are_no_sequences_are_refused(shape, found):
    with pytest.raises(ValueError, match=rf"\(n, steps, features\).*{found}.*X\[:, :, None\]"):
        LSTM()(jax.random.key(0), shape, 2)


@pytest.mark.parametrize("name", ["hidden_size", "n_layers"])
def test_sizes_are_checked(name):
    with pytest.raises(ValueError, match=f"{name}=0"):
        LSTM(**{name: 0})(jax.random.key(0), (STEPS, N_IN), 2)
