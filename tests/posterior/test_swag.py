import numpy as np
import pytest

from dgme.engine import (
    NegativeLogLikelihood,
    Optimiser,
    Rows,
    ShuffledOrders,
    TrainState,
    initialise_lanes,
    train,
)
from dgme.nn import MLP, FlatNetwork, GaussianHead
from dgme.posterior import Posterior, SwagMoments, SwagPosterior

NETWORK = FlatNetwork(MLP((6,), "tanh"), (2,), 2)
N, LANES, EPOCHS, RANK = 20, 3, 7, 4


def gathered(*, chunk_epochs=None, rank=RANK, weights=None):
    """The posterior, and all iterates in double precision: (lanes, epochs, size)."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(1, N, 2)).astype(np.float32)
    y = (x[..., :1] ** 2 + 0.1 * rng.normal(size=(1, N, 1))).astype(np.float32)
    moments, seen = SwagMoments(rank), []
    train(
        NegativeLogLikelihood(GaussianHead(1e-2)),
        NETWORK,
        initialise_lanes(NETWORK, LANES, 0),
        Rows(x, y),
        np.ones((LANES, N), np.float32) if weights is None else weights,
        ShuffledOrders(N, (0,)),
        epochs=EPOCHS,
        batch_size=8,
        optimiser=Optimiser(0.03),
        chunk_epochs=chunk_epochs,
        record=True,
        callbacks=(moments, lambda state: seen.append(state.iterates)),
    )
    return moments.posterior(), np.concatenate(seen, axis=1).astype(np.float64)


def small_posterior():
    """Two members of four parameters, with three deviations that are not orthogonal."""
    rng = np.random.default_rng(1)
    return SwagPosterior(
        rng.normal(size=(2, 4)).astype(np.float32),
        rng.uniform(0.2, 1.5, size=(2, 4)).astype(np.float32),
        rng.normal(size=(2, 3, 4)).astype(np.float32),
    )


def covariance(posterior):
    """That of all members in one vector: a block for every member, by the paper's formula."""
    n_members, rank, size = posterior.deviations.shape
    whole = np.zeros((n_members * size, n_members * size))
    for k in range(n_members):
        std = posterior.std[k].astype(np.float64)
        deviations = posterior.deviations[k].astype(np.float64)
        block = 0.5 * np.diag(std**2) + 0.5 / (rank - 1) * deviations.T @ deviations
        whole[k * size : (k + 1) * size, k * size : (k + 1) * size] = block
    return whole


def test_moments_are_those_of_the_iterates():
    """Computed in double precision and rounded once to single, whose unit is 1.2e-7."""
    posterior, iterates = gathered()
    assert iterates.shape == (LANES, EPOCHS, NETWORK.size)
    np.testing.assert_allclose(posterior.mean, iterates.mean(axis=1), rtol=2e-7, atol=1e-12)
    # The population's: divided by the number of iterates.
    np.testing.assert_allclose(posterior.std, iterates.std(axis=1, ddof=0), rtol=2e-7, atol=1e-12)


def test_deviations_are_from_the_mean_of_the_iterates_so_far():
    posterior, iterates = gathered()
    assert posterior.deviations.shape == (LANES, RANK, NETWORK.size)
    for column, epoch in enumerate(range(EPOCHS - RANK, EPOCHS)):
        so_far = iterates[:, : epoch + 1].mean(axis=1)
        np.testing.assert_allclose(
            posterior.deviations[:, column], iterates[:, epoch] - so_far, rtol=2e-7, atol=1e-12
        )


def test_fewer_iterates_than_the_rank_are_all_kept():
    posterior, iterates = gathered(rank=EPOCHS + 3)
    assert posterior.deviations.shape == (LANES, EPOCHS, NETWORK.size)
    assert not posterior.deviations[:, 0].any()
    np.testing.assert_allclose(
        posterior.deviations[:, 1], (iterates[:, 1] - iterates[:, 0]) / 2, rtol=2e-7, atol=1e-12
    )


@pytest.mark.parametrize("chunk_epochs", [1, 3])
def test_chunks_of_epochs_do_not_show(chunk_epochs):
    whole, iterates = gathered(chunk_epochs=EPOCHS)
    chunked, same_iterates = gathered(chunk_epochs=chunk_epochs)
    np.testing.assert_array_equal(same_iterates, iterates)
    for name, part in vars(whole).items():
        np.testing.assert_array_equal(getattr(chunked, name), part)


def test_a_lane_that_fails_at_once_has_a_posterior_of_one_point():
    weights = np.ones((LANES, N), np.float32)
    weights[1, 0] = np.inf
    posterior, _ = gathered(weights=weights)
    start = initialise_lanes(NETWORK, LANES, 0)
    np.testing.assert_array_equal(posterior.mean[1], start[1])
    assert not posterior.std[1].any()
    assert not posterior.deviations[1].any()
    assert (posterior.std[[0, 2]] > 0).any(axis=1).all()
    drawn = posterior.draw(start, 2, np.random.default_rng(0)).params
    np.testing.assert_array_equal(drawn[:, 1], np.broadcast_to(start[1], drawn[:, 1].shape))


def test_the_variance_of_a_parameter_that_hardly_moves_does_not_cancel():
    """Around 4096 single precision has steps of 2^-11; the squares of its means would differ by
    less than their rounding."""
    step = 2.0**-11
    iterates = (4096 + step * np.array([0, 1, 2, 3, 4])).reshape(1, 5, 1).astype(np.float32)
    zero = np.zeros((1, 1), np.float32)
    moments = SwagMoments(2)
    moments(TrainState(5, zero, None, np.ones(1, bool), zero, iterates))
    posterior = moments.posterior()
    np.testing.assert_allclose(posterior.std, step * np.sqrt(2), rtol=1e-6)
    np.testing.assert_allclose(posterior.deviations[0, :, 0], [1.5 * step, 2 * step], rtol=1e-6)


def test_draws_have_the_mean_and_the_covariance_of_the_formula():
    """20,000 draws of 8 parameters: 8 means, 36 covariances and 64 of a draw with the next.

    The standard error of a covariance of Gaussians is sqrt((C_ij^2 + C_ii C_jj) / n), that of a
    covariance of independent ones sqrt(C_ii C_jj / n), that of a mean sqrt(C_ii / n). 4.5 of them
    are passed by chance in one of 108 comparisons once in 1,300 seeds.
    """
    posterior, n = small_posterior(), 20_000
    draws = posterior.draw(np.zeros((2, 4), np.float32), n, np.random.default_rng(2))
    assert draws.keys is None
    assert draws.params.shape == (n, 2, 4)
    drawn = draws.params.reshape(n, 8).astype(np.float64) - posterior.mean.reshape(8)
    expected = covariance(posterior)
    variance = np.diag(expected)
    products = np.outer(variance, variance)
    assert (np.abs(drawn.mean(axis=0)) < 4.5 * np.sqrt(variance / n)).all()
    error = np.sqrt((expected**2 + products) / n)
    assert (np.abs(drawn.T @ drawn / n - expected) < 4.5 * error).all()
    assert (np.abs(drawn[1:].T @ drawn[:-1] / n) < 4.5 * np.sqrt(products / n)).all()


def test_draws_of_several_calls_are_those_of_one():
    posterior, params = small_posterior(), np.zeros((2, 4), np.float32)
    assert isinstance(posterior, Posterior)
    rng = np.random.default_rng(3)
    parts = [posterior.draw(params, n, rng).params for n in (3, 2)]
    whole = posterior.draw(params, 5, np.random.default_rng(3)).params
    np.testing.assert_array_equal(np.concatenate(parts), whole)
    assert len({draw.tobytes() for draw in whole}) == 5
