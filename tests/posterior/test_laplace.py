import numpy as np
import pytest
from scipy import stats
from scipy.optimize import brentq
from scipy.special import softmax

from dgme.engine import CHUNK_ROWS, initialise_lanes
from dgme.nn import MLP, CategoricalHead, FlatNetwork, GaussianHead, HomoscedasticHead
from dgme.posterior import LaplacePosterior, Posterior, fit_laplace

MIN_SCALE = 0.1


def rows(n, features=3, seed=0):
    return np.random.default_rng(seed).normal(size=(n, features)).astype(np.float32)


def row_weights(members, n, seed=1):
    return np.random.default_rng(seed).uniform(0.1, 2, size=(members, n))


def with_constant(x):
    """In the order of the flat vector: weights of the features, then the bias."""
    return np.column_stack([x.astype(np.float64), np.ones(len(x))])


def covariance(posterior, member):
    factor = posterior.factor[member].astype(np.float64)
    return factor @ factor.T


def best_precision(curvature, theta):
    """Where the Laplace evidence p/2 log tau - tau |theta|^2 / 2 - log det(H + tau I) / 2, which is
    concave in log tau, has its maximum: by the root of its slope."""
    values, norm = np.linalg.eigvalsh(curvature), theta @ theta

    def slope(log_tau):
        tau = np.exp(log_tau)
        return len(values) - tau * norm - (tau / (values + tau)).sum()

    return np.exp(brentq(slope, -13, 13, xtol=1e-12))


def check_covariance(posterior, member, curvature, theta):
    """Against the inverse of curvature and prior, in the units of its largest entry.

    Single precision sums up to thousands of terms and rounds the factor: 1e-6 for each, times the
    condition number of the covariance, which is at most ten in these tests.
    """
    precision = curvature + best_precision(curvature, theta) * np.eye(len(curvature))
    expected = np.linalg.inv(precision)
    found = covariance(posterior, member)
    np.testing.assert_allclose(found, expected, atol=1e-5 * np.abs(expected).max())


def test_a_linear_network_has_the_covariance_of_the_bayesian_linear_model():
    """Two targets of different noise; rows fill one chunk and a part of a second."""
    network = FlatNetwork(MLP(()), (3,), 2)
    assert network.shapes == {"layers[0].weight": (3, 2), "layers[0].bias": (2,)}
    scale = np.array([0.5, 2.0], np.float32)
    params, x = initialise_lanes(network, 2, 0), rows(CHUNK_ROWS + 300)
    weights = row_weights(2, len(x))
    posterior = fit_laplace(network, HomoscedasticHead(scale), params, x, weights)
    assert posterior.factor.shape == (2, 8, 8)
    for member, weight in enumerate(weights):
        x1 = with_constant(x)
        # The vector holds the targets of each feature side by side.
        curvature = np.kron(x1.T @ (weight[:, None] * x1), np.diag(1.0 / scale**2))
        theta = params[member].astype(np.float64)
        precision = curvature + best_precision(curvature, theta) * np.eye(8)
        # Of this covariance, the condition number is that of the two noises, 16.
        np.testing.assert_allclose(
            covariance(posterior, member),
            np.linalg.inv(precision),
            atol=1e-5 * np.linalg.inv(precision).max(),
        )


def test_the_prior_maximises_the_exact_evidence_of_the_bayesian_linear_model():
    """Parameters at the mode under the best prior; then the targets are a Gaussian vector whose
    density can be evaluated for any precision of the prior. The weight of a row divides its noise.
    """
    n, scale = 40, 0.8
    network, x, weight = FlatNetwork(MLP(()), (3,), 1), rows(n), row_weights(1, n)[0]
    x1, rng = with_constant(x), np.random.default_rng(2)
    y = x1 @ [0.8, -0.3, 0.1, 0.4] + scale / np.sqrt(weight) * rng.normal(size=n)
    curvature = x1.T @ (weight[:, None] * x1) / scale**2
    tau = 1.0
    for _ in range(200):
        mode = np.linalg.solve(curvature + tau * np.eye(4), x1.T @ (weight * y) / scale**2)
        tau = best_precision(curvature, mode)

    params = mode[None].astype(np.float32)
    head = HomoscedasticHead(np.array([scale], np.float32))
    posterior = fit_laplace(network, head, params, x, weight[None])
    prior = np.linalg.inv(covariance(posterior, 0)) - curvature
    found = np.diag(prior).mean()
    # The factor's single precision, against a curvature of up to 100.
    np.testing.assert_allclose(prior, found * np.eye(4), atol=1e-4)

    def evidence(tau):
        noise = np.diag(scale**2 / weight)
        return stats.multivariate_normal(cov=noise + x1 @ x1.T / tau).logpdf(y)

    factors = np.geomspace(0.2, 5, 161)  # steps of 2 per cent, and 1 in the middle
    likely = [evidence(found * factor) for factor in factors]
    assert np.argmax(likely) == 80
    slope = (evidence(found * 1.01) - evidence(found / 1.01)) / (2 * np.log(1.01))
    # The curvature in log tau is of order one: tau is right to a thousandth.
    assert abs(slope) < 1e-3


@pytest.mark.parametrize("weight", [1e-4, 1e-2, 1.0, 100.0])
def test_the_prior_is_the_best_however_little_the_rows_tell(weight):
    """With light rows nearly all is left to the prior, where MacKay's iteration would creep."""
    network, x = FlatNetwork(MLP(()), (3,), 1), rows(30)
    params = np.array([[0.8, -0.3, 0.1, 0.4]], np.float32)
    head = HomoscedasticHead(np.ones(1, np.float32))
    weights = np.full((1, 30), weight)
    posterior = fit_laplace(network, head, params, x, weights)
    x1 = with_constant(x)
    check_covariance(posterior, 0, weight * x1.T @ x1, params[0].astype(np.float64))


def fisher_of_gaussian(mean, raw):
    """E[s s^T] for the score s of a Gaussian in mean and raw variance, by quadrature.

    Scores are differences of log densities; the quadrature is exact for polynomials of degree 39.
    """

    def log_density(y, mean, raw):
        variance = np.logaddexp(0, raw) + MIN_SCALE**2
        return stats.norm.logpdf(y, mean, np.sqrt(variance))

    nodes, node_weights = np.polynomial.hermite_e.hermegauss(20)
    y = mean + np.sqrt(np.logaddexp(0, raw) + MIN_SCALE**2) * nodes
    step = 1e-5
    scores = np.stack(
        [
            log_density(y, mean + step, raw) - log_density(y, mean - step, raw),
            log_density(y, mean, raw + step) - log_density(y, mean, raw - step),
        ]
    ) / (2 * step)
    return (node_weights / node_weights.sum() * scores) @ scores.T


def fisher_of_categorical(logits):
    p = softmax(logits)
    scores = np.eye(len(p)) - p  # of each class, as a row
    return (p * scores.T) @ scores


@pytest.mark.parametrize(
    ("head", "fisher"),
    [
        (GaussianHead(MIN_SCALE), lambda outputs: fisher_of_gaussian(*outputs)),
        (CategoricalHead(3), fisher_of_categorical),
    ],
    ids=["gaussian", "categorical"],
)
def test_the_curvature_is_gauss_newtons_over_the_last_layer(head, fisher):
    """A sum over rows of Jacobians around the Fisher information, written out."""
    n_outputs, hidden = head.n_outputs, 5
    network = FlatNetwork(MLP((hidden,), "tanh"), (3,), n_outputs)
    params, x = initialise_lanes(network, 2, 0), rows(60)
    weights = row_weights(2, 60)
    posterior = fit_laplace(network, head, params, x, weights)
    last = (hidden + 1) * n_outputs
    assert posterior.factor.shape == (2, last, last)
    for member, weight in enumerate(weights):
        parts = [part.astype(np.float64) for part in network.split(params[member]).values()]
        w1, b1, w2, b2 = parts
        curvature = np.zeros((last, last))
        for row, of_row in zip(x.astype(np.float64), weight, strict=True):
            features = np.tanh(row @ w1 + b1)
            outputs = features @ w2 + b2
            jacobian = np.kron(np.append(features, 1.0)[None], np.eye(n_outputs))
            curvature += of_row * jacobian.T @ fisher(outputs) @ jacobian
        theta = params[member, -last:].astype(np.float64)
        precision = curvature + best_precision(curvature, theta) * np.eye(last)
        found = covariance(posterior, member)
        # Single precision times the condition number, 100.
        expected = np.linalg.inv(precision)
        np.testing.assert_allclose(found, expected, atol=1e-4 * np.abs(expected).max())


def test_rows_of_weight_zero_are_as_if_they_were_not_there():
    """They lie in both chunks, and far out."""
    network, head = FlatNetwork(MLP((4,), "tanh"), (3,), 2), GaussianHead(MIN_SCALE)
    params, x = initialise_lanes(network, 2, 0), rows(CHUNK_ROWS + 100)
    present = np.random.default_rng(5).uniform(size=len(x)) < 0.5
    x[~present] *= 100
    weights = row_weights(2, len(x))
    with_zeros = fit_laplace(network, head, params, x, weights * present)
    without = fit_laplace(network, head, params, x[present], weights[:, present])
    for member in range(2):
        expected = covariance(without, member)
        # Sums of hundreds of terms in another order, times the condition number, 100.
        np.testing.assert_allclose(
            covariance(with_zeros, member), expected, atol=1e-4 * np.abs(expected).max()
        )


def test_members_do_not_know_each_other():
    network, head = FlatNetwork(MLP((4,), "tanh"), (3,), 2), GaussianHead(MIN_SCALE)
    params, x, weights = initialise_lanes(network, 2, 0), rows(50), row_weights(2, 50)
    both = fit_laplace(network, head, params, x, weights)
    for member in range(2):
        one = slice(member, member + 1)
        alone = fit_laplace(network, head, params[one], x, weights[one])
        # Another number of members is another program; the factor's columns have no sign.
        expected = covariance(alone, 0)
        np.testing.assert_allclose(
            covariance(both, member), expected, atol=1e-4 * np.abs(expected).max()
        )


def test_draws_change_the_last_layer_and_have_its_covariance():
    """20,000 draws of two members of three parameters in the last layer: 6 means, 21 covariances.

    Standard errors are those of Gaussians, sqrt(C_ii / n) and sqrt((C_ij^2 + C_ii C_jj) / n); one
    of 27 comparisons passes 4.5 of them once in 5,000 seeds.
    """
    rng, n, last = np.random.default_rng(0), 20_000, 3
    posterior = LaplacePosterior(rng.normal(size=(2, last, last)).astype(np.float32))
    params = rng.normal(size=(2, 7)).astype(np.float32)
    draws = posterior.draw(params, n, np.random.default_rng(1))
    assert draws.keys is None
    assert draws.params.shape == (n, 2, 7)
    np.testing.assert_array_equal(
        draws.params[..., :-last], np.broadcast_to(params[:, :-last], (n, 2, 4))
    )
    shifts = (draws.params.astype(np.float64) - params)[..., -last:].reshape(n, 2 * last)
    expected = np.zeros((2 * last, 2 * last))
    for member in range(2):
        block = slice(member * last, (member + 1) * last)
        expected[block, block] = covariance(posterior, member)
    variance = np.diag(expected)
    assert (np.abs(shifts.mean(axis=0)) < 4.5 * np.sqrt(variance / n)).all()
    error = np.sqrt((expected**2 + np.outer(variance, variance)) / n)
    assert (np.abs(shifts.T @ shifts / n - expected) < 4.5 * error).all()


def test_draws_of_several_calls_are_those_of_one():
    posterior = LaplacePosterior(np.tri(4, dtype=np.float32)[None].repeat(2, axis=0))
    params = np.ones((2, 6), np.float32)
    assert isinstance(posterior, Posterior)
    rng = np.random.default_rng(3)
    parts = [posterior.draw(params, n, rng).params for n in (3, 2)]
    whole = posterior.draw(params, 5, np.random.default_rng(3)).params
    np.testing.assert_array_equal(np.concatenate(parts), whole)
    assert len({draw.tobytes() for draw in whole}) == 5
    np.testing.assert_array_equal(params, 1)


def test_of_many_rows_some_give_the_curvature(monkeypatch):
    """They stand for all: each entry of the curvature is a mean, here over a quarter of the rows,
    with a relative standard error near sqrt(3 / 4096) = 3 %."""
    network = FlatNetwork(MLP(()), (3,), 1)
    x, weights = rows(16 * CHUNK_ROWS), row_weights(1, 16 * CHUNK_ROWS)
    head, params = HomoscedasticHead(np.ones(1, np.float32)), initialise_lanes(network, 1, 0)
    exact = covariance(fit_laplace(network, head, params, x, weights), 0)
    monkeypatch.setattr("dgme.posterior._laplace._MOST_ROWS", 4 * CHUNK_ROWS)
    found = covariance(fit_laplace(network, head, params, x, weights), 0)
    np.testing.assert_allclose(found, exact, atol=0.1 * np.abs(exact).max())
    assert np.abs(found - exact).max() > 1e-4 * np.abs(exact).max()
