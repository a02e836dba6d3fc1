import jax.numpy as jnp
import numpy as np

from dgme.engine import Prediction, apply_lanes, initialise_lanes
from dgme.engine._apply import CHUNK_ROWS
from dgme.nn import MLP, FlatNetwork, GaussianHead

NETWORK = FlatNetwork(MLP((20,)), (3,), 2)
PREDICTION = Prediction(GaussianHead(1e-2))


def draw(*shape):
    return np.random.default_rng(0).normal(size=shape).astype(np.float32)


def test_a_row_does_not_depend_on_its_batch():
    params, x = np.asarray(initialise_lanes(NETWORK, 5, 0)), draw(1, 2 * CHUNK_ROWS + 17, 3)
    whole = apply_lanes(PREDICTION, NETWORK, params, x)
    for part in (slice(0, 1), slice(5, 300), slice(CHUNK_ROWS - 1, CHUNK_ROWS + 5)):
        for entire, alone in zip(
            whole, apply_lanes(PREDICTION, NETWORK, params, x[:, part]), strict=True
        ):
            np.testing.assert_array_equal(alone, entire[:, part])


def test_lanes_read_their_own_dataset():
    params, x = np.asarray(initialise_lanes(NETWORK, 4, 0)), draw(2, 30, 3)
    dataset = np.array([0, 1, 1, 0], np.int32)
    _, means, _ = apply_lanes(PREDICTION, NETWORK, params, x, dataset=dataset)
    for lane, own in enumerate(dataset):
        _, alone, _ = PREDICTION(NETWORK.module(jnp.asarray(params[lane])), jnp.asarray(x[own]))
        # One float32 rounding per term of a sum of twenty.
        np.testing.assert_allclose(means[lane], alone, atol=2e-6)


def test_no_rows_give_no_predictions():
    params = np.asarray(initialise_lanes(NETWORK, 2, 0))
    weights, means, scales = apply_lanes(PREDICTION, NETWORK, params, draw(1, 0, 3))
    assert weights.shape == (2, 0, 1)
    assert means.shape == scales.shape == (2, 0, 1, 1)


def test_any_number_of_rows_is_served_by_one_program(count_compilations):
    params = np.asarray(initialise_lanes(NETWORK, 3, 0))
    apply_lanes(PREDICTION, NETWORK, params, draw(1, 10, 3))
    count_compilations()
    for n in (1, 11, CHUNK_ROWS, 3 * CHUNK_ROWS + 1):
        apply_lanes(PREDICTION, NETWORK, params, draw(1, n, 3))
    assert count_compilations() == 0


def test_a_key_thins_all_rows_of_its_lane_alike():
    network = FlatNetwork(MLP((20,), dropout=0.5), (3,), 2)
    one = np.asarray(initialise_lanes(network, 1, 0))
    params, x = np.repeat(one, 3, axis=0), np.repeat(draw(1, 1, 3), 2 * CHUNK_ROWS, axis=1)
    keys = np.array([[1, 2], [1, 2], [3, 4]], np.uint32)
    _, means, _ = apply_lanes(PREDICTION, network, params, x, keys=keys)
    np.testing.assert_array_equal(means, np.broadcast_to(means[:, :1], means.shape))
    np.testing.assert_array_equal(means[0], means[1])
    assert (means[0] != means[2]).all()
