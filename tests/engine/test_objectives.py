import jax
import jax.numpy as jnp
import numpy as np
import pytest

from dgme.engine import (
    Adversarial,
    NegativeLogLikelihood,
    Optimiser,
    Rows,
    ShuffledOrders,
    initialise_lanes,
    train,
)
from dgme.engine._random import random_key
from dgme.experts import Experts
from dgme.nn import LSTM, MLP, FlatNetwork, GaussianHead

N, FEATURES, HIDDEN, MIN_SCALE = 12, 3, 6, 0.1
NETWORK = FlatNetwork(MLP((HIDDEN,), "tanh"), (FEATURES,), 2)
VECTOR = jnp.asarray(initialise_lanes(NETWORK, 1, 0)[0])
LIKELIHOOD = NegativeLogLikelihood(GaussianHead(MIN_SCALE))
# A step of its own for every feature; the last one stays where it is.
STEP = np.array([0.3, 0.05, 0.0], np.float32)


def rows():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(N, FEATURES)).astype(np.float32)
    return jnp.asarray(x), jnp.asarray(rng.normal(size=(N, 1)).astype(np.float32))


def loss_by_hand(x, y):
    """Minus the log density of each row, in double precision and NumPy."""
    w1, b1, w2, b2 = (
        np.asarray(part, np.float64) for part in NETWORK.split(np.asarray(VECTOR)).values()
    )
    mean, raw = (np.tanh(np.asarray(x, np.float64) @ w1 + b1) @ w2 + b2).T
    variance = np.log1p(np.exp(raw)) + MIN_SCALE**2
    squares = (np.asarray(y, np.float64)[:, 0] - mean) ** 2
    return 0.5 * (np.log(2 * np.pi * variance) + squares / variance)


def neighbours_by_hand(x, y):
    """Central differences: their error, of order 1e-10, is far from the smallest slope."""
    x, h = np.asarray(x, np.float64), 1e-5
    slopes = np.empty_like(x)
    for feature, shift in enumerate(h * np.eye(FEATURES)):
        slopes[:, feature] = (loss_by_hand(x + shift, y) - loss_by_hand(x - shift, y)) / (2 * h)
    # Single precision must not be in doubt about the sign.
    assert np.abs(slopes).min() > 1e-4
    return x + STEP * np.sign(slopes)


def test_minus_the_log_density_is_that_of_the_formula():
    x, y = rows()
    found = LIKELIHOOD(NETWORK.module(VECTOR), x, y)
    # Single precision over a dozen operations.
    np.testing.assert_allclose(found, loss_by_hand(x, y), rtol=1e-5, atol=1e-6)


def test_the_adversary_goes_up_the_gradient_of_every_row():
    """What the objective sees are the rows, then their neighbours, and the loss is their mean."""
    x, y = rows()
    seen = []

    def objective(module, x, y, key):
        if not isinstance(x, jax.core.Tracer):
            seen.append(np.asarray(x))
        return LIKELIHOOD(module, x, y, key)

    found = Adversarial(objective, STEP)(NETWORK.module(VECTOR), x, y)
    there = neighbours_by_hand(x, y)
    at_rows, at_neighbours = seen
    np.testing.assert_array_equal(at_rows, x)
    # One rounding of a sum of numbers up to four.
    np.testing.assert_allclose(at_neighbours, there, atol=5e-7)
    np.testing.assert_array_equal(at_neighbours[:, 2], x[:, 2])
    expected = 0.5 * (loss_by_hand(x, y) + loss_by_hand(there, y))
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


def test_the_neighbour_is_worse_to_first_order():
    x, y = rows()
    module = NETWORK.module(VECTOR)
    mean_of_both = Adversarial(LIKELIHOOD, jnp.full(FEATURES, 1e-2))(module, x, y)
    assert (mean_of_both > LIKELIHOOD(module, x, y)).all()


def test_no_gradient_flows_through_the_direction():
    """The gradient is that of the mean at two fixed places, found by central differences."""
    x, y = rows()
    there = jnp.asarray(neighbours_by_hand(x, y).astype(np.float32))
    adversarial = Adversarial(LIKELIHOOD, STEP)

    def at_constants(vector):
        module = NETWORK.module(vector)
        return 0.5 * jnp.sum(LIKELIHOOD(module, x, y) + LIKELIHOOD(module, there, y))

    found = jax.grad(lambda v: adversarial(NETWORK.module(v), x, y).sum())(VECTOR)
    expected = jax.grad(at_constants)(VECTOR)
    # Single precision: sums of 24 terms that partly cancel.
    np.testing.assert_allclose(found, expected, atol=2e-6 * np.abs(expected).max())


def test_no_step_is_no_adversary():
    x, y = rows()
    module = NETWORK.module(VECTOR)
    found = Adversarial(LIKELIHOOD, jnp.zeros(FEATURES))(module, x, y)
    np.testing.assert_array_equal(found, LIKELIHOOD(module, x, y))


def test_rows_may_have_any_shape():
    """For sequences, every entry of a step has a distance of its own."""
    network = FlatNetwork(LSTM(4), (3, 2), 2)
    vector = jnp.asarray(initialise_lanes(network, 1, 0)[0])
    rng = np.random.default_rng(0)
    x = jnp.asarray(rng.normal(size=(6, 3, 2)).astype(np.float32))
    y = jnp.asarray(rng.normal(size=(6, 1)).astype(np.float32))
    step = np.zeros((3, 2), np.float32)
    step[1, 1] = 0.1

    @jax.jit
    def losses(objective, x):
        return objective(network.module(vector), x, y)

    # Over so short a way the loss rises or falls throughout.
    worse = np.maximum(*(losses(LIKELIHOOD, x.at[:, 1, 1].add(shift)) for shift in (0.1, -0.1)))
    expected = 0.5 * (np.asarray(losses(LIKELIHOOD, x)) + worse)
    found = losses(Adversarial(LIKELIHOOD, step), x)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("step", [None, STEP])
def test_experts_are_trained_against_an_adversary_if_they_have_a_step(step):
    x, y = rows()
    objective = Experts(NETWORK, LIKELIHOOD.head, step).objective
    there = x if step is None else neighbours_by_hand(x, y)
    expected = 0.5 * (loss_by_hand(x, y) + loss_by_hand(there, y))
    found = objective(NETWORK.module(VECTOR), x, y)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


def test_the_engine_trains_against_an_adversary():
    """One epoch of one batch. Adam's first step is the learning rate times the gradient's sign."""
    x, y = rows()

    def stepped(objective):
        weights, orders = np.ones((1, N), np.float32), ShuffledOrders(N, (0,))
        data = Rows(np.asarray(x)[None], np.asarray(y)[None])
        settings = {"epochs": 1, "batch_size": N, "optimiser": Optimiser(0.1)}
        start = np.asarray(VECTOR)[None]
        return train(objective, NETWORK, start, data, weights, orders, **settings)

    # Far enough to turn the signs of some parameters' gradients.
    adversarial = Adversarial(LIKELIHOOD, np.full(FEATURES, 0.5, np.float32))
    gradient = jax.jit(jax.grad(lambda vector, f: f(NETWORK.module(vector), x, y).mean()))
    turned = np.sign(gradient(VECTOR, LIKELIHOOD)) != np.sign(gradient(VECTOR, adversarial))
    assert turned.any()
    for objective in (LIKELIHOOD, adversarial):
        trained = stepped(objective)
        expected = VECTOR - 0.1 * np.sign(gradient(VECTOR, objective))
        # The smallest gradient is far above Adam's epsilon of 1e-8.
        np.testing.assert_allclose(trained.params[0], expected, atol=1e-5)
        loss = objective(NETWORK.module(VECTOR), x, y).mean()
        np.testing.assert_allclose(trained.losses[0, 0], loss, rtol=1e-5)


class TestDropout:
    network = FlatNetwork(MLP((HIDDEN,), "tanh", dropout=0.5), (FEATURES,), 2)

    def module(self):
        return self.network.module(VECTOR)

    def test_every_row_has_a_mask_of_its_own(self):
        """400 equal rows: if every unit is kept with probability a half, there are 64 losses, and
        each is missed with probability exp(-400 / 64) = 0.002; one mask for all would be one."""
        x, y = rows()
        x, y = jnp.repeat(x[:1], 400, axis=0), jnp.repeat(y[:1], 400, axis=0)
        found = np.asarray(LIKELIHOOD(self.module(), x, y, random_key(0)))
        assert len(np.unique(found.round(5))) > 58
        again = np.asarray(LIKELIHOOD(self.module(), x, y, random_key(0)))
        np.testing.assert_array_equal(again, found)
        assert (np.asarray(LIKELIHOOD(self.module(), x, y, random_key(1))) != found).any()

    def test_without_a_key_nothing_is_dropped(self):
        x, y = rows()
        found = LIKELIHOOD(self.module(), x, y)
        np.testing.assert_allclose(found, loss_by_hand(x, y), rtol=1e-5, atol=1e-6)

    def test_a_row_and_its_neighbour_lose_the_same_units(self):
        """With a step too short to matter, the mean of both is the thinned row's own loss."""
        x, y = rows()
        adversarial = Adversarial(LIKELIHOOD, jnp.full(FEATURES, 1e-7))
        found = adversarial(self.module(), x, y, random_key(0))
        expected = LIKELIHOOD(self.module(), x, y, random_key(0))
        np.testing.assert_allclose(found, expected, atol=2e-6)
