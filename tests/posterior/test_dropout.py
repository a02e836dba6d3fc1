from itertools import product

import numpy as np
import pytest

from dgme.engine import Prediction, apply_lanes, initialise_lanes
from dgme.nn import MLP, FlatNetwork, HomoscedasticHead
from dgme.posterior import DropoutPosterior, Posterior

MEMBERS, FEATURES, HIDDEN = 2, 4, 6
# Every call of the engine pads rows to a thousand, so lanes come in blocks.
BLOCK = 500
HEAD = HomoscedasticHead(np.array([0.5], np.float32))
ROWS = np.random.default_rng(0).normal(size=(5, FEATURES)).astype(np.float32)


def linear(rate):
    """Dropout stands before the only layer."""
    network = FlatNetwork(MLP((), dropout=rate, drop_inputs=True), (FEATURES,), 1)
    return network, initialise_lanes(network, MEMBERS, 0)


def one_hidden_layer(rate):
    network = FlatNetwork(MLP((HIDDEN,), "tanh", dropout=rate), (FEATURES,), 1)
    return network, initialise_lanes(network, MEMBERS, 0)


def layers(network, params):
    """Weights and biases in double precision, layer by layer, of one member."""
    values = [part.astype(np.float64) for part in network.split(params).values()]
    return list(zip(values[::2], values[1::2], strict=True))


def predict(network, params, x, n, seed=1):
    """Means of the laws in double precision, (n, members, rows), of n draws."""
    rng, found = np.random.default_rng(seed), []
    for _ in range(n // BLOCK):
        draws = DropoutPosterior().draw(params, BLOCK, rng)
        _, means, scales = apply_lanes(
            Prediction(HEAD),
            network,
            draws.params.reshape(-1, network.size),
            x[None],
            keys=draws.keys.reshape(-1, 2),
        )
        assert (scales == 0.5).all()
        found.append(means.reshape(BLOCK, MEMBERS, len(x)).astype(np.float64))
    return np.concatenate(found)


def check_moments(drawn, terms, bias, rate):
    """Means and covariances over draws of bias + sum of terms_i m_i, (rows, units), by z-test.

    m_i is 1 / (1 - rate) with probability 1 - rate, else 0. Its mean is 1, its variance is
    v = rate / (1 - rate), and the mean of the fourth power of its deviation is v^3 rate + rate.
    """
    n, v = len(drawn), rate / (1 - rate)
    covariance = v * terms @ terms.T
    variance = np.diag(covariance)
    assert (np.abs(drawn.mean(axis=0) - terms.sum(axis=1) - bias) < 4 * np.sqrt(variance / n)).all()
    centred = drawn - terms.sum(axis=1) - bias
    # Var(ab) = E a^2 E b^2 + (E ab)^2 + fourth cumulant, the sum of those of the units.
    cumulants = (terms**2 @ (terms**2).T) * (v**3 * rate + rate - 3 * v**2)
    error = np.sqrt((np.outer(variance, variance) + covariance**2 + cumulants) / n)
    assert (np.abs(centred.T @ centred / n - covariance) < 4 * error).all()


@pytest.mark.parametrize("rate", [0.1, 0.5])
def test_a_linear_network_has_the_moments_of_the_formula(rate):
    """4,000 draws; 5 means and 15 covariances of each of two members, within 4 standard errors.

    Among 40 comparisons one fails by chance in 400 seeds. The covariances of rows are part of it:
    they are what they are because all rows lose the same features.
    """
    network, params = linear(rate)
    drawn = predict(network, params, ROWS, 4000)
    for member in range(MEMBERS):
        [(weight, bias)] = layers(network, params[member])
        terms = ROWS.astype(np.float64) * weight[:, 0]
        check_moments(drawn[:, member], terms, bias, rate)


@pytest.mark.parametrize("rate", [0.1, 0.5])
def test_dropped_hidden_units_have_the_moments_of_the_formula(rate):
    """4,000 draws and 40 comparisons as above; features are not dropped, so that the hidden units
    are the same in all draws."""
    network, params = one_hidden_layer(rate)
    drawn = predict(network, params, ROWS, 4000)
    for member in range(MEMBERS):
        (w1, b1), (w2, b2) = layers(network, params[member])
        hidden = np.tanh(ROWS.astype(np.float64) @ w1 + b1)
        check_moments(drawn[:, member], hidden * w2[:, 0], b2, rate)


def test_every_draw_is_one_thinned_network_for_all_rows():
    """All 64 ways to drop six hidden units, enumerated; which of them a draw is, all rows show."""
    network, params = one_hidden_layer(0.5)
    drawn = predict(network, params, ROWS, BLOCK)
    masks = np.array(list(product([0.0, 2.0], repeat=HIDDEN)))
    for member in range(MEMBERS):
        (w1, b1), (w2, b2) = layers(network, params[member])
        hidden = np.tanh(ROWS.astype(np.float64) @ w1 + b1)
        thinned = (masks * w2[:, 0]) @ hidden.T + b2
        distance = np.abs(drawn[:, member, None] - thinned).max(axis=2)
        # Single precision; different masks are a thousand times as far apart.
        assert (distance.min(axis=1) < 2e-6).all()
        assert (np.sort(distance, axis=1)[:, 1] > 1e-3).all()
        # 500 draws miss any of 64 equally likely masks with probability 64 exp(-500 / 64) = 0.03.
        assert len(np.unique(distance.argmin(axis=1))) >= 62


def test_masks_are_fair_and_independent_of_units_members_and_other_draws():
    """Unit vectors show the mask of every feature; 4,000 draws of 8 units at a rate of 0.3.

    8 shares, 28 correlations and 64 of a draw with the next, each with its standard error:
    sqrt(0.3 * 0.7 / n) of a share, 1 / sqrt(n) of a correlation. One of 100 comparisons passes 4.5
    of them once in 1,500 seeds.
    """
    rate, n = 0.3, 4000
    network, params = linear(rate)
    drawn = predict(network, params, np.eye(FEATURES, dtype=np.float32), n)
    weight = np.stack([layers(network, of_member)[0][0][:, 0] for of_member in params])
    bias = np.array([layers(network, of_member)[0][1] for of_member in params])
    masks = (drawn - bias) / weight
    kept = masks > 0.5
    # Single precision, over the smallest weight.
    np.testing.assert_allclose(masks, kept / (1 - rate), atol=2e-7 / np.abs(weight).min())
    kept = kept.reshape(n, -1)
    assert (np.abs(kept.mean(axis=0) - 0.7) < 4.5 * np.sqrt(rate * (1 - rate) / n)).all()
    z = (kept - 0.7) / np.sqrt(rate * (1 - rate))
    correlations = (z.T @ z / n)[np.triu_indices(8, 1)]
    assert (np.abs(correlations) < 4.5 / np.sqrt(n)).all()
    assert (np.abs(z[1:].T @ z[:-1] / n) < 4.5 / np.sqrt(n)).all()


def test_layers_lose_units_independently():
    """As many features as hidden units, so that one mask would fit both; all 256 pairs of masks
    are enumerated. 2,000 draws, less those that show nothing as all hidden units are gone.

    Signs of a feature and of a unit agree half of the time, with a standard error of 1 / sqrt(n)
    of their mean product; one of 32 comparisons passes 4 of them once in 500 seeds.
    """
    design = MLP((FEATURES,), "tanh", dropout=0.5, drop_inputs=True)
    network = FlatNetwork(design, (FEATURES,), 1)
    params = initialise_lanes(network, MEMBERS, 0)
    drawn = predict(network, params, ROWS, 2000)
    masks = np.array(list(product([0.0, 2.0], repeat=2 * FEATURES)))
    before, after = masks[:, :FEATURES], masks[:, FEATURES:]
    for member in range(MEMBERS):
        (w1, b1), (w2, b2) = layers(network, params[member])
        hidden = np.tanh((ROWS.astype(np.float64) * before[:, None]) @ w1 + b1)
        thinned = (hidden * after[:, None]) @ w2[:, 0] + b2
        distance = np.abs(drawn[:, member, None] - thinned).max(axis=2)
        assert (distance.min(axis=1) < 2e-6).all()
        shown = after[distance.argmin(axis=1)].any(axis=1)
        assert (np.sort(distance[shown], axis=1)[:, 1] > 1e-5).all()
        chosen = distance.argmin(axis=1)[shown]
        products = (before[chosen] - 1).T @ (after[chosen] - 1) / len(chosen)
        assert (np.abs(products) < 4 / np.sqrt(len(chosen))).all()


def test_a_key_is_a_network_whatever_else_is_predicted():
    """Lanes in another order, with other rows beside: each key still makes the same network."""
    network, params = one_hidden_layer(0.5)
    draws = DropoutPosterior().draw(params, 3, np.random.default_rng(0))
    keys, lanes = draws.keys.reshape(-1, 2), draws.params.reshape(-1, network.size)
    _, means, _ = apply_lanes(Prediction(HEAD), network, lanes, ROWS[None], keys=keys)
    _, turned, _ = apply_lanes(
        Prediction(HEAD), network, lanes[::-1], ROWS[None, 1:], keys=keys[::-1]
    )
    np.testing.assert_array_equal(turned[::-1], means[:, 1:])


def test_draws_of_several_calls_are_those_of_one():
    params = np.arange(12, dtype=np.float32).reshape(3, 4)
    posterior = DropoutPosterior()
    assert isinstance(posterior, Posterior)
    rng = np.random.default_rng(3)
    parts = [posterior.draw(params, n, rng) for n in (3, 2)]
    whole = posterior.draw(params, 5, np.random.default_rng(3))
    np.testing.assert_array_equal(np.concatenate([part.keys for part in parts]), whole.keys)
    assert len(np.unique(whole.keys.reshape(-1, 2), axis=0)) == 15
    np.testing.assert_array_equal(whole.params, np.broadcast_to(params, (5, 3, 4)))
