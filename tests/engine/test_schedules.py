import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest

from dgme.engine import (
    SCHEDULES,
    NegativeLogLikelihood,
    Optimiser,
    Rows,
    ShuffledOrders,
    initialise_lanes,
    train,
)
from dgme.nn import MLP, FlatNetwork, GaussianHead

NETWORK = FlatNetwork(MLP((6,), "tanh", dropout=0.2), (2,), 2)
N, LANES, EPOCHS, BATCH = 18, 3, 5, 4  # five steps an epoch, the last of two rows


def run(**changes):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(1, N, 2)).astype(np.float32)
    y = rng.normal(size=(1, N, 1)).astype(np.float32)
    arguments = {
        "objective": NegativeLogLikelihood(GaussianHead(1e-2)),
        "network": NETWORK,
        "params": initialise_lanes(NETWORK, LANES, 0),
        "rows": Rows(x, y),
        "weights": np.ones((LANES, N), np.float32),
        "orders": ShuffledOrders(N, (0,)),
        "epochs": EPOCHS,
        "batch_size": BATCH,
        "optimiser": Optimiser(0.02, schedule="cyclic"),
    }
    return train(**(arguments | changes))


def recorded(**changes):
    """What training gives, and the iterates of all chunks: (lanes, epochs, size)."""
    seen = []
    trained = run(record=True, callbacks=[lambda state: seen.append(state.iterates)], **changes)
    return trained, np.concatenate(seen, axis=1)


def by_hand(schedule, rate, n_epochs, epoch_steps):
    """Learning rates in a table of epochs by steps."""
    step = np.arange(n_epochs * epoch_steps).reshape(n_epochs, epoch_steps)
    if schedule == "cosine":
        return rate * (1 + np.cos(np.pi * step / step.size)) / 2
    if schedule == "cyclic" and epoch_steps > 1:
        in_epoch = np.arange(epoch_steps) / (epoch_steps - 1)
        return np.tile(rate * (1 - in_epoch) + rate / 20 * in_epoch, (n_epochs, 1))
    return np.full(step.shape, rate)


@pytest.mark.parametrize("schedule", sorted(SCHEDULES))
@pytest.mark.parametrize("epoch_steps", [1, 2, 7])
def test_learning_rates_are_those_of_the_formula(schedule, epoch_steps):
    rate_at = SCHEDULES[schedule](0.3, 4 * epoch_steps, epoch_steps)
    found = [float(rate_at(step)) for step in range(4 * epoch_steps)]
    expected = by_hand(schedule, 0.3, 4, epoch_steps)
    np.testing.assert_allclose(np.reshape(found, (4, -1)), expected, rtol=1e-6, atol=1e-8)


def test_every_cycle_goes_from_the_full_rate_to_a_twentieth():
    rate_at = SCHEDULES["cyclic"](0.3, 14, 7)
    np.testing.assert_allclose([rate_at(0), rate_at(7)], 0.3)
    np.testing.assert_allclose([rate_at(6), rate_at(13)], 0.015)
    assert np.all(np.diff([rate_at(step) for step in range(7)]) < 0)


class SumOfBiases(eqx.Module):
    """A loss whose gradient is one in every bias of the last layer, so that Adam's direction is
    one too, and parameters go down by exactly the learning rate."""

    def __call__(self, module, x, y, key):
        return jnp.full(len(x), module.layers[-1].bias.sum())


@pytest.mark.parametrize("schedule", sorted(SCHEDULES))
def test_training_goes_by_the_learning_rates_of_the_schedule(schedule):
    _, iterates = recorded(
        objective=SumOfBiases(), optimiser=Optimiser(0.02, schedule=schedule), chunk_epochs=2
    )
    start = initialise_lanes(NETWORK, LANES, 0)
    path = np.concatenate([start[:, None], iterates], axis=1).astype(np.float64)
    descents = -np.diff(path, axis=1)
    expected = by_hand(schedule, 0.02, EPOCHS, 5).sum(axis=1)
    # Parameters of at most one, rounded in each of five steps.
    for bias in (-2, -1):
        np.testing.assert_allclose(
            descents[..., bias], np.tile(expected, (LANES, 1)), atol=1e-6, rtol=1e-5
        )
    assert not descents[..., :-2].any()


@pytest.mark.parametrize("chunk_epochs", [None, 2])
def test_recording_does_not_change_the_training(chunk_epochs):
    plain = run()
    trained, iterates = recorded(chunk_epochs=chunk_epochs)
    np.testing.assert_array_equal(trained.params, plain.params)
    np.testing.assert_array_equal(trained.losses, plain.losses)
    assert iterates.shape == (LANES, EPOCHS, NETWORK.size)
    np.testing.assert_array_equal(iterates[:, -1], plain.params)


def test_iterates_are_the_parameters_after_each_epoch():
    _, iterates = recorded()
    states = []
    run(chunk_epochs=1, callbacks=[states.append])
    assert all(state.iterates is None for state in states)
    np.testing.assert_array_equal(np.stack([state.params for state in states], axis=1), iterates)


def test_a_failed_lane_records_its_last_good_parameters():
    weights = np.ones((LANES, N), np.float32)
    weights[1, 3] = np.inf
    trained, iterates = recorded(weights=weights)
    np.testing.assert_array_equal(trained.failed, [False, True, False])
    start = initialise_lanes(NETWORK, LANES, 0)[1]
    np.testing.assert_array_equal(iterates[1], np.tile(start, (EPOCHS, 1)))
    np.testing.assert_array_equal(iterates[:, -1], trained.params)
