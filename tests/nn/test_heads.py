import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import special, stats

from dgme.nn import (
    CategoricalHead,
    CategoricalMixtureHead,
    GaussianHead,
    Head,
    HomoscedasticHead,
    MixtureHead,
)

N, D, K, C = 200, 3, 4, 5
GAUSSIAN_HEADS = {
    "gaussian": GaussianHead(1e-2),
    "gaussian, three targets": GaussianHead(1e-2, D),
    "homoscedastic": HomoscedasticHead(jnp.asarray([0.7], jnp.float32)),
    "homoscedastic, three targets": HomoscedasticHead(jnp.asarray([0.7, 1, 2], jnp.float32)),
    "mixture": MixtureHead(1e-2, K),
    "mixture, three targets": MixtureHead(1e-2, K, D),
}
CATEGORICAL_HEADS = {"classes": CategoricalHead(C), "mixture": CategoricalMixtureHead(K, C)}


def outputs_of(head, scale=2.0):
    rng = np.random.default_rng(0)
    return jnp.asarray(rng.normal(scale=scale, size=(N, head.n_outputs)), jnp.float32)


def components_of(head, outputs):
    return [np.asarray(part, np.float64) for part in head(outputs)]


@pytest.mark.parametrize("head", GAUSSIAN_HEADS.values(), ids=GAUSSIAN_HEADS)
def test_log_prob_is_that_of_the_mixture_it_shows(head):
    assert isinstance(head, Head)
    outputs = outputs_of(head)
    y = np.random.default_rng(1).normal(size=(N, head.n_targets)).astype(np.float32)
    weights, means, scales = components_of(head, outputs)
    assert means.shape == scales.shape == (*weights.shape, head.n_targets)
    of_components = stats.norm.logpdf(y[:, None].astype(float), means, scales).sum(axis=2)
    np.testing.assert_allclose(
        head.log_prob(outputs, jnp.asarray(y)),
        special.logsumexp(of_components + np.log(weights), axis=1),
        rtol=5e-5,
    )


@pytest.mark.parametrize("head", CATEGORICAL_HEADS.values(), ids=CATEGORICAL_HEADS)
def test_log_prob_of_classes(head):
    assert isinstance(head, Head)
    outputs = outputs_of(head)
    y = np.random.default_rng(1).integers(C, size=N)
    weights, probabilities = components_of(head, outputs)
    np.testing.assert_allclose(probabilities.sum(axis=2), 1, rtol=1e-6)
    of_row = np.einsum("nk,nkc->nc", weights, probabilities)[np.arange(N), y]
    one_hot = jnp.asarray(np.eye(C)[y], jnp.float32)
    np.testing.assert_allclose(head.log_prob(outputs, one_hot), np.log(of_row), rtol=5e-5)


def mixture_by_hand(head, outputs, y):
    """Loss of every row and its gradient in the outputs, in double precision and NumPy.

    With gamma the responsibilities, the slope of the loss is pi - gamma in a logit of the weights,
    gamma (mu - y) / v in a mean and gamma (1 - (y - mu)^2 / v) / 2 v in a variance v.
    """
    logits = outputs[:, :K]
    raw_means, raw_variances = np.split(outputs[:, K:], 2, axis=1)
    mean, raw = (part.reshape(N, K, head.n_targets) for part in (raw_means, raw_variances))
    variance, away = np.log1p(np.exp(raw)) + head.min_scale**2, y[:, None] - mean
    pi = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    densities = np.exp(-0.5 * away**2 / variance) / np.sqrt(2 * np.pi * variance)
    joint = pi * densities.prod(axis=2)
    gamma = joint / joint.sum(axis=1, keepdims=True)
    in_mean = -gamma[..., None] * away / variance
    in_variance = 0.5 * gamma[..., None] * (1 - away**2 / variance) / variance
    in_raw = in_variance * special.expit(raw)
    slopes = (pi - gamma, in_mean.reshape(N, -1), in_raw.reshape(N, -1))
    return -np.log(joint.sum(axis=1)), np.concatenate(slopes, axis=1)


def classes_by_hand(head, outputs, y):
    """As above; the slope in a logit of a class is gamma (p - y)."""
    logits, of_classes = outputs[:, :K], outputs[:, K:].reshape(N, K, C)
    pi = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    p = np.exp(of_classes) / np.exp(of_classes).sum(axis=2, keepdims=True)
    joint = pi * (p * y[:, None]).sum(axis=2)
    gamma = joint / joint.sum(axis=1, keepdims=True)
    in_classes = gamma[..., None] * (p - y[:, None])
    slopes = (pi - gamma, in_classes.reshape(N, -1))
    return -np.log(joint.sum(axis=1)), np.concatenate(slopes, axis=1)


@pytest.mark.parametrize(
    ("head", "by_hand"),
    [
        (MixtureHead(0.3, K), mixture_by_hand),
        (MixtureHead(0.3, K, D), mixture_by_hand),
        (CategoricalMixtureHead(K, C), classes_by_hand),
    ],
    ids=["gaussians", "gaussians, three targets", "classes"],
)
def test_loss_and_gradient_of_a_mixture_density_network(head, by_hand):
    rng, outputs = np.random.default_rng(1), outputs_of(head, 1.0)
    if isinstance(head, CategoricalMixtureHead):
        y = np.eye(C)[rng.integers(C, size=N)]
    else:
        y = rng.normal(size=(N, head.n_targets)).astype(np.float32).astype(np.float64)
    loss, gradient = by_hand(head, np.asarray(outputs, np.float64), y)

    @jax.jit
    def losses(outputs):
        return -head.log_prob(outputs, jnp.asarray(y, jnp.float32))

    # Single precision, whose unit is 1.2e-7; responsibilities inherit that of log densities.
    np.testing.assert_allclose(losses(outputs), loss, rtol=2e-6, atol=2e-6)
    found = jax.grad(lambda outputs: losses(outputs).sum())(outputs)
    np.testing.assert_allclose(found, gradient, rtol=2e-5, atol=1e-6)


def test_weights_of_a_mixture_sum_to_one():
    for head in (MixtureHead(1e-2, K), CategoricalMixtureHead(K, C)):
        np.testing.assert_allclose(head(outputs_of(head))[0].sum(axis=1), 1, rtol=1e-6)


def test_the_scale_has_a_floor_and_is_finite():
    outputs = jnp.asarray([[0.0, -1e4], [0.0, 0.0], [0.0, 1e4]], jnp.float32)
    head = GaussianHead(0.05)
    _, _, scale = head(outputs)
    # softplus(0) = log 2
    expected = [0.05, np.sqrt(np.log(2) + 0.05**2), np.sqrt(1e4 + 0.05**2)]
    np.testing.assert_allclose(scale[:, 0, 0], expected, rtol=1e-6)


def test_a_homoscedastic_head_of_scale_one_is_half_the_squared_error():
    head = HomoscedasticHead(jnp.ones(1))
    outputs, y = jnp.asarray([[1.5], [-2.0]]), jnp.asarray([[1.0], [1.0]])
    constant = 0.5 * np.log(2 * np.pi)
    np.testing.assert_allclose(-head.log_prob(outputs, y) - constant, [0.125, 4.5], rtol=1e-6)


@pytest.mark.parametrize(
    "head",
    [
        GaussianHead(0.1),
        GaussianHead(0.1, 2),
        HomoscedasticHead(jnp.asarray([0.5, 2.0])),
        CategoricalHead(C),
    ],
    ids=lambda head: type(head).__name__,
)
def test_fisher_is_the_expected_curvature(head):
    """Its expectation over targets, by the mean of the scores' outer products.

    200,000 draws for each of three rows; 5 standard errors fail by chance for one entry in a
    million.
    """
    rng, n = np.random.default_rng(0), 200_000
    outputs = outputs_of(head, 1.0)[:3]
    found = np.asarray(head.fisher(outputs))
    for row in range(3):
        parameters = [part[row] for part in components_of(head, outputs)]
        if isinstance(head, CategoricalHead):
            p = parameters[1][0] / parameters[1][0].sum()
            y = np.eye(C)[rng.choice(C, size=n, p=p)]
        else:
            y = rng.normal(parameters[1][0], parameters[2][0], size=(n, head.n_targets))
        score = jax.jit(
            jax.vmap(jax.grad(lambda o, y: head.log_prob(o[None], y[None])[0]), in_axes=(None, 0))
        )(outputs[row], jnp.asarray(y, jnp.float32))
        products = np.asarray(score, np.float64)[:, :, None] * np.asarray(score)[:, None]
        error = products.std(axis=0) / np.sqrt(n)
        assert (np.abs(products.mean(axis=0) - found[row]) < 5 * error + 1e-6).all()
