import jax
import jax.numpy as jnp
import numpy as np
import pytest

from dgme.engine import (
    NegativeLogLikelihood,
    Optimiser,
    Rows,
    ShuffledOrders,
    initialise_lanes,
    train,
)
from dgme.nn import MLP, FlatNetwork, GaussianHead

NETWORK = FlatNetwork(MLP((8,), activation="tanh"), (3,), 2)
OBJECTIVE = NegativeLogLikelihood(GaussianHead(1e-2))
N = 50
LANES = 3


def problem(datasets=1):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(datasets, N, 3)).astype(np.float32)
    y = (np.sin(x[..., 0]) + 0.1 * rng.normal(size=(datasets, N))).astype(np.float32)
    return Rows(x, y[..., None])


def run(**changes):
    arguments = {
        "objective": OBJECTIVE,
        "network": NETWORK,
        "params": np.asarray(initialise_lanes(NETWORK, LANES, 0)),
        "rows": problem(),
        "weights": np.random.default_rng(1).uniform(size=(LANES, N)).astype(np.float32),
        "orders": ShuffledOrders(N, (0,)),
        "epochs": 6,
        "batch_size": 16,
        "optimiser": Optimiser(0.01),
    }
    return train(**(arguments | changes))


def adam_by_hand(
    params, rows, weights, orders, epochs, batch_size, rate, decay=0.0, clip=None, cosine=False
):
    """One lane trained by a plain loop, with Adam's formulas written out in double precision."""

    def loss(vector, x, y, w):
        return jnp.sum(w * OBJECTIVE(NETWORK.module(vector), x, y)) / len(y)

    gradient_of = jax.jit(jax.grad(loss))
    theta = params.astype(np.float64)
    first, second, t = np.zeros_like(theta), np.zeros_like(theta), 0
    total = epochs * -(-N // batch_size)
    for order in orders:
        for start in range(0, N, batch_size):
            batch = order[start : start + batch_size]
            gradient = gradient_of(
                theta.astype(np.float32), rows.x[0, batch], rows.y[0, batch], weights[batch]
            )
            gradient = np.asarray(gradient, np.float64)
            if clip is not None:
                gradient *= min(1, clip / np.linalg.norm(gradient))
            step = rate * (1 + np.cos(np.pi * t / total)) / 2 if cosine else rate
            t += 1
            first = 0.9 * first + 0.1 * gradient
            second = 0.999 * second + 0.001 * gradient**2
            direction = (first / (1 - 0.9**t)) / (np.sqrt(second / (1 - 0.999**t)) + 1e-8)
            theta = theta - step * (direction + decay * theta)
    return theta


@pytest.mark.parametrize(
    ("optimiser", "by_hand"),
    [
        (Optimiser(0.01), {}),
        (Optimiser(0.01, weight_decay=0.1), {"decay": 0.1}),
        (Optimiser(0.01, clip_norm=0.05), {"clip": 0.05}),
        (Optimiser(0.01, schedule="cosine"), {"cosine": True}),
    ],
    ids=["adam", "weight-decay", "clipping", "cosine"],
)
def test_every_lane_follows_adam_written_out(optimiser, by_hand):
    """With 50 rows in batches of 16, the last batch has two."""
    params = np.asarray(initialise_lanes(NETWORK, LANES, 0))
    weights = np.random.default_rng(1).uniform(size=(LANES, N)).astype(np.float32)
    orders = ShuffledOrders(N, (0,))
    trained = run(optimiser=optimiser)
    for lane in range(LANES):
        expected = adam_by_hand(
            params[lane], problem(), weights[lane], orders(lane, 0, 6), 6, 16, 0.01, **by_hand
        )
        # 24 steps of 0.01 in single precision against double.
        np.testing.assert_allclose(trained.params[lane], expected, atol=2e-5)


def test_the_loss_reported_is_the_weighted_mean_over_the_epoch():
    frozen = run(optimiser=Optimiser(1e-12), epochs=1)
    params = np.asarray(initialise_lanes(NETWORK, LANES, 0))
    weights = np.random.default_rng(1).uniform(size=(LANES, N)).astype(np.float32)
    for lane in range(LANES):
        rows = problem()
        x, y = jnp.asarray(rows.x[0]), jnp.asarray(rows.y[0])
        losses = OBJECTIVE(NETWORK.module(jnp.asarray(params[lane])), x, y)
        np.testing.assert_allclose(
            frozen.losses[lane, 0], np.mean(weights[lane] * np.asarray(losses)), rtol=1e-5
        )


@pytest.mark.parametrize("chunk_epochs", [1, 2, 4, 5])
def test_chunks_do_not_show_in_the_result(chunk_epochs):
    network = FlatNetwork(MLP((8,), dropout=0.2), (3,), 2)
    params = np.asarray(initialise_lanes(network, LANES, 0))
    whole = run(network=network, params=params)
    chunked = run(network=network, params=params, chunk_epochs=chunk_epochs)
    np.testing.assert_array_equal(chunked.params, whole.params)
    np.testing.assert_array_equal(chunked.losses, whole.losses)


def test_training_resumes_from_a_checkpoint_to_the_last_bit():
    states = []
    whole = run(chunk_epochs=2, callbacks=[states.append])
    assert [state.epoch for state in states] == [2, 4, 6]
    resumed = run(resume=states[0])
    np.testing.assert_array_equal(resumed.params, whole.params)
    np.testing.assert_array_equal(resumed.losses, whole.losses)


def test_a_callback_can_stop_the_training():
    stopped = run(chunk_epochs=2, callbacks=[lambda state: state.epoch == 4])
    assert stopped.losses.shape == (LANES, 4)
    np.testing.assert_array_equal(stopped.losses, run().losses[:, :4])


def test_a_lane_that_meets_infinity_keeps_its_last_good_state():
    weights = np.ones((LANES, N), np.float32)
    sound = run(weights=weights)
    broken_weights = weights.copy()
    broken_weights[1, 7] = np.inf
    broken = run(weights=broken_weights)
    np.testing.assert_array_equal(broken.failed, [False, True, False])
    np.testing.assert_array_equal(broken.params[1], np.asarray(initialise_lanes(NETWORK, 3, 0))[1])
    np.testing.assert_array_equal(broken.params[[0, 2]], sound.params[[0, 2]])


def test_steps_that_are_too_long_are_undone():
    """Steps of 1e30 overflow in the second epoch at the latest."""
    states = []
    failed = run(optimiser=Optimiser(1e30), chunk_epochs=1, callbacks=[states.append])
    assert failed.failed.all()
    assert np.isfinite(failed.params).all()
    for lane in range(LANES):
        last_good = max(
            (state.epoch for state in states if state.alive[lane]),
            default=0,
        )
        kept = states[last_good - 1].params if last_good else initialise_lanes(NETWORK, LANES, 0)
        np.testing.assert_array_equal(failed.params[lane], np.asarray(kept)[lane])


def test_lanes_do_not_touch_each_other():
    weights = np.ones((LANES, N), np.float32)
    other = weights.copy()
    other[0] = 5.0
    np.testing.assert_array_equal(run(weights=weights).params[1:], run(weights=other).params[1:])


def test_lanes_train_on_their_own_dataset():
    rows, dataset = problem(datasets=2), np.array([1, 0, 1], np.int32)
    together = run(rows=rows, dataset=dataset)
    for lane, own in enumerate(dataset):
        alone = run(rows=Rows(rows.x[own : own + 1], rows.y[own : own + 1]))
        # Another shape of the data is another program, which may round differently.
        np.testing.assert_allclose(together.params[lane], alone.params[lane], atol=1e-5)


def test_permuted_rows_with_the_same_batches_change_nothing():
    permutation = np.random.default_rng(2).permutation(N)
    rows, orders = problem(), ShuffledOrders(N, (0,))
    weights = np.random.default_rng(1).uniform(size=(LANES, N)).astype(np.float32)
    permuted = run(
        rows=Rows(rows.x[:, permutation], rows.y[:, permutation]),
        weights=weights[:, permutation],
        orders=lambda lane, first, stop: np.argsort(permutation)[orders(lane, first, stop)].astype(
            np.int32
        ),
    )
    np.testing.assert_array_equal(permuted.params, run(weights=weights).params)


def test_only_a_change_of_the_program_compiles(count_compilations):
    def fit(learning_rate, weight_decay, min_scale):
        run(
            objective=NegativeLogLikelihood(GaussianHead(min_scale)),
            optimiser=Optimiser(learning_rate, weight_decay),
            # An equal recipe, made anew as every fit does.
            network=FlatNetwork(MLP((8,), activation="tanh"), (3,), 2),
        )

    fit(0.01, 0.0, 1e-2)
    count_compilations()
    fit(0.01, 0.0, 1e-2)
    fit(0.003, 0.1, 1e-3)
    assert count_compilations() == 0


def test_fewer_rows_than_a_batch_are_one_batch():
    big, exact = run(batch_size=N), run(batch_size=10 * N)
    np.testing.assert_allclose(big.params, exact.params, atol=1e-6)
