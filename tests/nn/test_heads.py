import jax.numpy as jnp
import numpy as np
from scipy import stats

from dgme.nn import GaussianHead


def test_log_prob_is_that_of_the_gaussian_it_shows():
    rng = np.random.default_rng(0)
    outputs = jnp.asarray(rng.normal(scale=4, size=(200, 2)), jnp.float32)
    y = jnp.asarray(rng.normal(size=200), jnp.float32)
    head = GaussianHead(1e-2)
    mean, scale = (np.asarray(part, np.float64) for part in head(outputs))
    np.testing.assert_allclose(
        head.log_prob(outputs, y), stats.norm.logpdf(np.asarray(y), mean, scale), rtol=2e-5
    )


def test_the_scale_has_a_floor_and_is_finite():
    outputs = jnp.asarray([[0.0, -1e4], [0.0, 0.0], [0.0, 1e4]], jnp.float32)
    _, scale = GaussianHead(0.05)(outputs)
    # softplus(0) = log 2
    expected = [0.05, np.sqrt(np.log(2) + 0.05**2), np.sqrt(1e4 + 0.05**2)]
    np.testing.assert_allclose(scale, expected, rtol=1e-6)
