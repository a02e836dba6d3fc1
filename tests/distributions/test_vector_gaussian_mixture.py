"""Laws of vectors: the joint law against independent arithmetic, marginals as GaussianMixture."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from dgme.distributions import GaussianMixture, VectorGaussianMixture, _arrays

laws = settings.get_profile("laws")

MARGINAL_SUMMARY = (
    *("mean", "var", "std", "median", "entropy", "skewness", "kurtosis", "aleatoric_variance"),
    *("epistemic_variance", "between_component_variance"),
)
MARGINAL_AT_OUTCOME = ("cdf", "sf", "logcdf", "logsf", "pit", "crps")
OUTCOME = np.array([0.3, -0.2, 1.0])
MATRICES = ("covariance", "aleatoric_covariance", "epistemic_covariance", "correlation")


@st.composite
def parts(draw):
    """Arguments of one to three laws; components may be empty."""
    n, k, d = (draw(st.integers(1, high)) for high in (3, 4, 3))
    logits = draw(arrays(float, (n, k), elements=st.floats(-8, 3)))
    empty = draw(arrays(bool, (n, k), elements=st.sampled_from([False, False, False, True])))
    empty[:, 0] = False
    weights = np.where(empty, 0.0, np.exp(logits))
    return (
        weights / weights.sum(axis=1, keepdims=True),
        draw(arrays(float, (n, k, d), elements=st.floats(-5, 5))),
        10.0 ** draw(arrays(float, (n, k, d), elements=st.floats(-2, 0.5))),
        draw(arrays(int, k, elements=st.integers(0, 2))),
    )


@pytest.fixture(scope="module")
def batch():
    """Twenty laws of five components in two groups over three targets."""
    rng = np.random.default_rng(4)
    return VectorGaussianMixture(
        rng.dirichlet(np.ones(5), 20),
        rng.normal(0.0, 2.0, (20, 5, 3)),
        np.exp(rng.normal(-0.5, 0.6, (20, 5, 3))),
        groups=[0, 0, 1, 1, 1],
    )


@pytest.fixture(scope="module")
def pair():
    """One law over two targets, far from Gaussian and with a component that is empty."""
    return VectorGaussianMixture(
        [0.3, 0.5, 0.0, 0.2],
        [[-2.0, 1.0], [1.0, -1.5], [50.0, 50.0], [2.0, 2.0]],
        [[0.5, 1.0], [1.0, 0.4], [1.0, 1.0], [0.8, 0.8]],
        groups=[0, 0, 1, 1],
    )


def everything(law, y=OUTCOME, q=0.2):
    """All verbs of a law: {name: array whose first axes are those of the law}."""
    verbs = {verb: getattr(law, verb)(y) for verb in ("pdf", "logpdf", *MARGINAL_AT_OUTCOME)}
    verbs |= {verb: getattr(law, verb)() for verb in (*MARGINAL_SUMMARY, *MATRICES)}
    ends = np.stack(law.interval(0.8), axis=-1)
    return verbs | {"ppf": law.ppf(q), "interval": ends}


def covariance_of(weights, means, scales):
    """Covariance of one law by its definition, component by component, and its mean."""
    middle = sum(w * m for w, m in zip(weights, means, strict=True))
    covariance = np.zeros((middle.size, middle.size))
    for w, m, s in zip(weights, means, scales, strict=True):
        covariance += w * (np.diag(s**2) + np.outer(m - middle, m - middle))
    return covariance, middle


# --- one target, one component ------------------------------------------------------------------


@laws
@given(parts(), st.floats(-8, 8))
def test_one_target_is_a_gaussian_mixture(arguments, y):
    weights, means, scales, groups = arguments
    means, scales = means[..., :1], scales[..., :1]
    vector = VectorGaussianMixture(weights, means, scales, groups)
    scalar = GaussianMixture(weights, means[..., 0], scales[..., 0], groups)
    for verb in ("pdf", "logpdf"):
        # a density multiplies the rounding of its logarithm, up to 745
        assert_allclose(getattr(vector, verb)([y]), getattr(scalar, verb)(y), rtol=1e-12)
    for verb in MARGINAL_AT_OUTCOME:
        assert_array_equal(getattr(vector, verb)([y])[:, 0], getattr(scalar, verb)(y))
    for verb in MARGINAL_SUMMARY:
        assert_array_equal(getattr(vector, verb)()[:, 0], getattr(scalar, verb)())
    assert_array_equal(vector.ppf([[0.1], [0.9]])[..., 0], scalar.ppf([[0.1], [0.9]]))
    assert_array_equal(np.array(vector.interval(0.7))[..., 0], scalar.interval(0.7))
    assert_array_equal(vector.rvs(4, random_state=1)[..., 0], scalar.rvs(4, random_state=1))
    assert_array_equal(vector.to_gaussian().scales[..., 0], scalar.to_gaussian().scales)
    for matrix, variance in zip(MATRICES, ("var", *MARGINAL_SUMMARY[-3:-1]), strict=False):
        # sums in another order
        expected = getattr(scalar, variance)()
        assert_allclose(getattr(vector, matrix)()[:, 0, 0], expected, rtol=1e-14)
    assert_allclose(vector.correlation(), 1.0, rtol=1e-15)


def test_one_component_is_a_normal_law():
    rng = np.random.default_rng(0)
    means, scales = rng.normal(size=(3, 4)), np.exp(rng.normal(size=(3, 4)))
    law, norm = VectorGaussianMixture([1.0], means[:, None], scales[:, None]), stats.norm
    y = means + scales * rng.normal(size=(5, 3, 4)) * 5
    expected = np.empty((5, 3))
    for i, (mean, scale) in enumerate(zip(means, scales, strict=True)):
        expected[:, i] = stats.multivariate_normal(mean, np.diag(scale**2)).logpdf(y[:, i])
    assert_allclose(law.logpdf(y), expected, rtol=1e-13)
    assert_allclose(law.logpdf(y), norm.logpdf(y, means, scales).sum(axis=-1), rtol=1e-13)
    assert_allclose(law.pdf(y), norm.pdf(y, means, scales).prod(axis=-1), rtol=1e-12)
    assert_allclose(law.cdf(y), norm.cdf(y, means, scales), rtol=1e-13)
    assert_allclose(law.logsf(y), norm.logsf(y, means, scales), rtol=1e-12)
    assert_allclose(law.entropy(), norm.entropy(means, scales), rtol=1e-10)
    q = np.array([0.01, 0.5, 0.99])[:, None]
    assert_allclose(law.ppf(q), norm.ppf(q[..., None], means, scales), rtol=1e-12)
    assert_allclose(law.covariance(), [np.diag(s**2) for s in scales], rtol=1e-14)
    assert_allclose(law.correlation(), np.broadcast_to(np.eye(4), (3, 4, 4)), rtol=1e-15)
    assert_array_equal(law.epistemic_covariance(), np.zeros((3, 4, 4)))


# --- the joint density --------------------------------------------------------------------------


@laws
@given(parts())
def test_joint_density_is_the_mixture_of_products(arguments):
    weights, means, scales, _ = arguments
    y = np.linspace(-3, 3, means.shape[-1])
    products = stats.norm.pdf(y, means, scales).prod(axis=-1)
    # the logarithm of a density that is not negligible is below 745, and so is its rounding
    assert_allclose(
        VectorGaussianMixture(*arguments).pdf(y),
        (weights * products).sum(axis=-1),
        rtol=1e-12,
        atol=1e-300,
    )


def test_joint_density_integrates_to_one_and_to_its_marginals(pair):
    """The trapezoid rule is exact to rounding for Gaussians on steps well below their scales.

    Ten scales beyond the outermost mean lies 1e-23 of the mass, and a step of a quarter of the
    least scale, 0.4, leaves an error of exp(-2 pi^2 * 16).
    """
    x = np.arange(-12.0, 12.0, 0.1)
    grid = np.stack(np.meshgrid(x, x, indexing="ij"), axis=-1)
    density = pair.pdf(grid)
    assert_allclose(density.sum() * 0.1**2, 1.0, rtol=1e-12)
    for target in (0, 1):
        marginal = density.sum(axis=1 - target) * 0.1
        # exponentials multiply the rounding of a logarithm
        assert_allclose(marginal, pair.marginal(target).pdf(x), rtol=1e-11, atol=1e-300)


def test_log_density_is_finite_a_thousand_sigmas_away(batch, pair):
    for law in (batch, pair):
        y = law.means.max() + 1000 * law.scales.max() * np.ones(law.n_targets)
        assert np.isfinite(law.logpdf(y)).all()
        assert np.isfinite(law.logpdf(-y)).all()
    # all terms of one component by hand: two targets, 1000 sigma each
    law = VectorGaussianMixture([1.0, 0.0], np.zeros((2, 2)), np.ones((2, 2)))
    assert_allclose(law.logpdf([1000.0, -1000.0]), -1e6 - np.log(2 * np.pi), rtol=1e-15)


def test_infinite_and_missing_outcomes_pass_silently(batch):
    for law in (batch, batch[0]):
        assert_array_equal(law.logpdf([0.0, np.inf, 0.0]), np.full(law.shape, -np.inf))
        assert_array_equal(law.pdf([0.0, 0.0, -np.inf]), np.zeros(law.shape))
        assert np.isnan(law.logpdf([0.0, np.nan, 0.0])).all()
        # only the missing target is unknown
        missing = np.broadcast_to([False, True, False], (*law.shape, 3))
        assert_array_equal(np.isnan(law.cdf([0.0, np.nan, 0.0])), missing)


def test_an_empty_component_changes_nothing(batch):
    def widened(array, value):
        return np.concatenate([np.full_like(array[:, :1], value), array], axis=1)

    wider = VectorGaussianMixture(
        widened(batch.weights, 0.0),
        widened(batch.means, 1e5),
        widened(batch.scales, 1e-5),
        groups=[3, *batch.groups],
    )
    expected = everything(batch)
    for verb, value in everything(wider).items():
        assert_allclose(value, expected[verb], rtol=1e-9, atol=1e-13, err_msg=verb)
    assert_allclose(wider.rvs(3, random_state=0), batch.rvs(3, random_state=0), rtol=1e-15)


# --- covariances --------------------------------------------------------------------------------


def assert_symmetric_and_semi_definite(matrices):
    assert_array_equal(matrices, np.swapaxes(matrices, -1, -2))
    lowest = np.linalg.eigvalsh(matrices).min(axis=-1)
    # rounding of an eigenvalue is relative to the largest one, itself below the trace
    assert (lowest >= -1e-15 * np.trace(matrices, axis1=-2, axis2=-1)).all()


@laws
@given(parts())
def test_covariance_split_by_its_definition(arguments):
    law = VectorGaussianMixture(*arguments)
    groups = arguments[-1]
    for row in law:
        total, middle = covariance_of(row.weights, row.means, row.scales)
        aleatoric, epistemic = np.zeros_like(total), np.zeros_like(total)
        for group in np.unique(groups):
            chosen = groups == group
            weight = row.weights[chosen].sum()
            if weight > 0:
                inner = row.weights[chosen] / weight
                own, mean = covariance_of(inner, row.means[chosen], row.scales[chosen])
                aleatoric += weight * own
                epistemic += weight * np.outer(mean - middle, mean - middle)
        # sums of at most twelve terms below 25 + 10
        for ours, expected in (
            (row.covariance(), total),
            (row.aleatoric_covariance(), aleatoric),
            (row.epistemic_covariance(), epistemic),
        ):
            assert_allclose(ours, expected, rtol=1e-13, atol=1e-13)
            assert_symmetric_and_semi_definite(ours)
    within, between = law.aleatoric_covariance(), law.epistemic_covariance()
    assert_allclose(within + between, law.covariance(), rtol=1e-13, atol=1e-14)


@laws
@given(parts())
def test_diagonals_are_the_variances_of_the_marginals(arguments):
    law = VectorGaussianMixture(*arguments)
    for matrix, variance in zip(MATRICES, ("var", *MARGINAL_SUMMARY[-3:-1]), strict=False):
        diagonal = np.diagonal(getattr(law, matrix)(), axis1=-2, axis2=-1)
        assert_allclose(diagonal, getattr(law, variance)(), rtol=1e-13, atol=1e-29)
    assert (np.abs(law.correlation()) <= 1).all()
    assert_allclose(np.diagonal(law.correlation(), axis1=1, axis2=2), 1.0, rtol=1e-15)


def test_groups_at_their_extremes(batch):
    arrays = (batch.weights, batch.means, batch.scales)
    single, each = VectorGaussianMixture(*arrays), VectorGaussianMixture(*arrays, np.arange(5))
    assert_allclose(single.aleatoric_covariance(), batch.covariance(), rtol=1e-13)
    assert_array_equal(single.epistemic_covariance(), np.zeros((len(batch), 3, 3)))
    # within a component the targets are independent; what is left is the square of a rounding
    noise = each.aleatoric_covariance()
    assert_allclose(noise[:, ~np.eye(3, dtype=bool)], 0.0, atol=1e-29)


def test_covariance_survives_a_large_offset():
    means = np.array([[1e8 - 1, -1e8 + 1], [1e8 + 1, -1e8 - 1]])
    law = VectorGaussianMixture([0.5, 0.5], means, np.ones((2, 2)), groups=[0, 1])
    assert_array_equal(law.covariance(), [[2.0, -1.0], [-1.0, 2.0]])
    assert_array_equal(law.epistemic_covariance(), [[1.0, -1.0], [-1.0, 1.0]])
    assert_allclose(law.correlation(), [[1.0, -0.5], [-0.5, 1.0]], rtol=1e-15)
    # equal means whose weights do not sum to one in binary
    thirds = VectorGaussianMixture([0.1, 0.2, 0.7], np.full((3, 2), 1e8), np.full((3, 2), 1e-9))
    assert_allclose(thirds.covariance(), 1e-18 * np.eye(2), rtol=1e-14, atol=1e-32)
    assert_symmetric_and_semi_definite(law.covariance())


# --- draws and the score made of them ------------------------------------------------------------


def test_moments_of_joint_draws(batch, pair):
    """100,000 draws of two laws against means and covariances, each with its Monte Carlo error.

    14 different comparisons at 4.5 standard errors: a right sampler fails with probability 1e-4,
    once and for all since the seed is fixed.
    """
    for law in (batch[3], pair):
        draws = law.rvs(100_000, random_state=2) - law.mean()
        products = draws[:, :, None] * draws[:, None, :]
        for sample, expected in ((draws, 0.0), (products, law.covariance())):
            error = sample.std(axis=0) / np.sqrt(len(sample))
            assert (np.abs(sample.mean(axis=0) - expected) < 4.5 * error).all()


def test_targets_of_a_draw_share_their_component(batch):
    needles = VectorGaussianMixture(
        [0.2, 0.3, 0.5], [[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]], np.full((3, 2), 1e-6)
    )
    draws = needles.rvs(10_000, random_state=0)
    assert_array_equal(draws[:, 0].round(), draws[:, 1].round())
    # three frequencies with errors of at most 0.005
    counts = np.bincount(draws[:, 0].round().astype(int))
    assert_allclose(counts / 10_000, needles.weights, atol=0.02)
    for j in range(3):
        law = batch.marginal(j)
        uniform = law.cdf(batch.rvs(1000, random_state=5)[..., j])
        # three tests of 20,000 numbers; p > 1e-3 fails three seeds in 1000
        assert stats.kstest(uniform.ravel(), "uniform").pvalue > 1e-3


def test_draws_of_every_shape_repeat_with_the_seed(batch):
    assert batch.rvs().shape == (20, 3)
    assert batch.rvs(2).shape == (2, 20, 3)
    assert batch.rvs((2, 4)).shape == (2, 4, 20, 3)
    assert batch[0].rvs().shape == (3,)
    assert batch[0].rvs((2, 4)).shape == (2, 4, 3)
    assert_array_equal(batch.rvs(2, random_state=5), batch.rvs(2, random_state=5))
    generator = np.random.default_rng(5)
    first = batch.rvs(2, random_state=generator)
    assert_array_equal(first, batch.rvs(2, random_state=5))
    assert (batch.rvs(2, random_state=generator) != first).all()
    legacy = [batch.rvs(2, random_state=np.random.RandomState(5)) for _ in range(2)]
    assert_array_equal(*legacy)


def pairs_estimate(law, y, n_pairs, rng):
    """The energy score from scratch, and its standard error."""
    component = rng.choice(law.n_components, size=(2, n_pairs), p=law.weights)
    draws = law.means[component] + law.scales[component] * rng.normal(size=(2, n_pairs, len(y)))
    terms = np.linalg.norm(draws - y, axis=-1).mean(axis=0)
    terms -= np.linalg.norm(draws[0] - draws[1], axis=-1) / 2
    return terms.mean(), terms.std() / np.sqrt(n_pairs)


def test_energy_score_of_one_target_is_the_crps(batch):
    """Sixty scores of 4,000 pairs at 4.5 standard errors; fails one seed in 2,000.

    A term is at most half the sum of two distances from y, so its deviation is at most the root
    mean square of the distance.
    """
    law = VectorGaussianMixture(batch.weights, batch.means[..., :1], batch.scales[..., :1])
    y = np.array([-1.0, 0.0, 3.0])[:, None, None]
    error = np.sqrt(law.var() + (law.mean() - y) ** 2)[..., 0] / np.sqrt(4000)
    estimate = law.energy_score(y, n_samples=4000)
    assert estimate.shape == (3, 20)
    assert (np.abs(estimate - law.crps(y)[..., 0]) < 4.5 * error).all()


def test_energy_score_of_vectors(pair):
    """20,000 pairs against 200,000 others at 4.5 standard errors of the difference."""
    rng = np.random.default_rng(11)
    for y in ([0.0, 0.0], [-2.0, 1.0], [6.0, -6.0]):
        expected, error = pairs_estimate(pair, np.array(y), 200_000, rng)
        ours = pair.energy_score(y, n_samples=20_000)
        assert abs(ours - expected) < 4.5 * error * np.sqrt(11)


def test_energy_score_sees_the_dependence_that_marginals_hide():
    """Branches (-3, -3) and (3, 3) against (-3, 3) and (3, -3): all marginals are the same."""
    scales = np.full((2, 2), 0.3)
    right = VectorGaussianMixture([0.5, 0.5], [[-3.0, -3.0], [3.0, 3.0]], scales)
    wrong = VectorGaussianMixture([0.5, 0.5], [[-3.0, 3.0], [3.0, -3.0]], scales)
    y = right.rvs(200, random_state=0)
    assert_array_equal(right.crps(y), wrong.crps(y))
    assert right.energy_score(y).mean() < wrong.energy_score(y).mean() - 0.5
    # a term is never negative, by the triangle inequality
    assert (right.energy_score(y, n_samples=1) >= -1e-15).all()


def test_energy_score_shapes_and_seeds(batch):
    y = np.zeros((4, 1, 3))
    score = batch.energy_score(y, n_samples=7)
    assert score.shape == (4, 20)
    assert_array_equal(score, batch.energy_score(y, n_samples=7, random_state=0))
    assert (score != batch.energy_score(y, n_samples=7, random_state=1)).all()
    # all outcomes share the draws
    assert_array_equal(score, np.broadcast_to(score[0], (4, 20)))
    assert isinstance(batch[0].energy_score([0.0, 0.0, 0.0], n_samples=2), np.float64)
    assert batch[0].energy_score(y, n_samples=2).shape == (4, 1)
    assert np.isnan(batch.energy_score([0.0, np.nan, 0.0], n_samples=2)).all()


# --- marginals ----------------------------------------------------------------------------------


def test_marginals(batch):
    for target in (0, 1, 2, -1, np.int64(1)):
        law = batch.marginal(target)
        assert isinstance(law, GaussianMixture)
        assert_array_equal(law.means, batch.means[..., target])
        assert_array_equal(law.scales, batch.scales[..., target])
        assert_array_equal(law.weights, batch.weights)
        assert law.groups is batch.groups
    assert batch[0].marginal(1).shape == ()


@pytest.mark.parametrize("shape", [(), (20,), (1,), (5, 1), (2, 5, 20)])
def test_verbs_by_target_are_those_of_the_marginals(batch, shape):
    rng = np.random.default_rng(0)
    y, q = rng.normal(size=(*shape, 3)), rng.uniform(0.1, 0.9, shape)
    together = np.broadcast_shapes(shape, (20,))
    assert batch.logpdf(y).shape == together
    rows = np.moveaxis(np.broadcast_to(y, (*together, 3)), -2, 0)
    columns = [law.logpdf(row) for law, row in zip(batch, rows, strict=True)]
    assert_allclose(batch.logpdf(y), np.stack(columns, axis=-1), rtol=1e-14)
    results = {verb: getattr(batch, verb)(y) for verb in MARGINAL_AT_OUTCOME}
    results["ppf"] = batch.ppf(q)
    for verb, value in results.items():
        assert value.shape == (*together, 3)
        for j in range(3):
            argument = q if verb == "ppf" else y[..., j]
            assert_array_equal(value[..., j], getattr(batch.marginal(j), verb)(argument))


def test_moment_matched_gaussian(batch):
    gaussian = batch.to_gaussian()
    assert (gaussian.n_components, gaussian.n_targets, gaussian.shape) == (1, 3, (20,))
    assert_array_equal(gaussian.mean(), batch.mean())
    assert_allclose(gaussian.var(), batch.var(), rtol=1e-15)
    assert_array_equal(gaussian.covariance()[:, ~np.eye(3, dtype=bool)], np.zeros((20, 6)))
    assert batch[0].to_gaussian().shape == ()


# --- a law as an array --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "index",
    [
        slice(5, 12),
        slice(None, None, -9),
        np.arange(20) % 9 == 0,
        np.array([7, 7, -1]),
        [3],
        [],
        -2,
    ],
    ids=["slice", "step", "mask", "indices", "list", "nothing", "number"],
)
def test_part_of_an_array_equals_part_of_its_results(batch, index):
    index = np.array(index, dtype=int) if isinstance(index, list) else index
    shared = VectorGaussianMixture(batch.weights[0], batch.means, batch.scales, batch.groups)
    for law in (batch, shared):
        expected = everything(law)
        for verb, value in everything(law[index]).items():
            whole = expected[verb][index]
            assert_allclose(value, whole, rtol=1e-9, atol=1e-13, err_msg=verb)
            assert np.shape(value) == np.shape(whole)
        for name in ("weights", "means", "scales"):
            assert_array_equal(getattr(law[index], name), getattr(law, name)[index])
        assert law[index].groups is law.groups
    if isinstance(index, slice):
        assert np.shares_memory(batch[index].means, batch.means)


@pytest.mark.parametrize("entries", [1, 100, 10**7])
def test_results_do_not_depend_on_blocks(batch, entries, monkeypatch):
    law, y = batch[:3], np.linspace(-2, 2, 6).reshape(2, 1, 3)
    expected, draws = everything(law, y=y), law.rvs(3, random_state=0)
    monkeypatch.setattr(_arrays, "BLOCK_ENTRIES", entries)
    for verb, value in everything(law, y=y).items():
        assert_allclose(value, expected[verb], rtol=1e-12, atol=1e-13, err_msg=verb)
    assert_array_equal(law.rvs(3, random_state=0), draws)


def test_shapes_of_an_array_and_of_a_single_law(batch):
    assert (len(batch), batch.shape, batch.n_components, batch.n_targets) == (20, (20,), 5, 3)
    assert batch.weights.shape == (20, 5)
    assert batch.means.shape == batch.scales.shape == (20, 5, 3)
    single = batch[0]
    assert (single.shape, single.n_components, single.n_targets) == ((), 5, 3)
    assert single.weights.shape == (5,)
    assert single.means.shape == single.scales.shape == (5, 3)
    assert isinstance(single.logpdf([0.0, 0.0, 0.0]), np.float64)
    assert single.mean().shape == single.ppf(0.3).shape == (3,)
    assert single.covariance().shape == (3, 3)
    assert len(list(batch)) == 20
    with pytest.raises(TypeError, match=r"single law.*\(1, K, d\)"):
        len(single)
    with pytest.raises(TypeError, match="single law"):
        single[0]


def test_no_laws_at_all():
    law = VectorGaussianMixture(np.ones((0, 2)) / 2, np.zeros((0, 2, 3)), np.ones((0, 2, 3)))
    assert len(law) == 0
    for verb, value in everything(law).items():
        assert len(value) == 0, verb
    assert law.rvs(3).shape == (3, 0, 3)
    assert law.energy_score([0.0, 0.0, 0.0]).shape == (0,)


def test_arrays_cannot_be_changed_from_outside(batch):
    means, scales = np.zeros((3, 2, 2)), np.ones((3, 2, 2))
    law = VectorGaussianMixture([0.5, 0.5], means, scales)
    means[:], scales[:] = 7.0, 7.0
    assert_array_equal(law.mean(), np.zeros((3, 2)))
    assert_array_equal(law.var(), np.ones((3, 2)))
    for part in (law, law[0], law[1:], law[[0, 1]], pickle.loads(pickle.dumps(batch))):
        for array in (part.weights, part.means, part.scales, part.groups, part.marginal(0).means):
            with pytest.raises(ValueError, match="read-only"):
                array[...] = 0
        with pytest.raises(AttributeError):
            part.means = np.ones(2)
        with pytest.raises(AttributeError):
            part.colour = "red"


@pytest.mark.parametrize("duplicate", [lambda x: pickle.loads(pickle.dumps(x)), copy.deepcopy])
def test_copies_equal_the_original(batch, duplicate):
    for law in (batch, batch[2], batch[3:7], batch[::5]):
        other = duplicate(law)
        assert (other.shape, repr(other)) == (law.shape, repr(law))
        for name in ("weights", "means", "scales", "groups"):
            assert_array_equal(getattr(other, name), getattr(law, name))


def test_representation(batch):
    expected = "VectorGaussianMixture(shape=(20,), n_components=5, n_targets=3, n_groups=2)"
    assert repr(batch) == expected
    single = VectorGaussianMixture([1.0], [[0.0, 1.0]], [[1.0, 1.0]])
    assert repr(single) == "VectorGaussianMixture(shape=(), n_components=1, n_targets=2)"


# --- errors -------------------------------------------------------------------------------------

M = np.zeros((1, 2, 3))
S = np.ones((1, 2, 3))


def replaced(array, value):
    array = array.copy()
    array[0, 1, 2] = value
    return array


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0.5, 0.5], replaced(M, np.nan), S), r"means .* finite.*means\[0, 1, 2\] is nan.*drop"),
        (([0.5, 0.5], M, replaced(S, np.inf)), r"scales .* finite.*scales\[0, 1, 2\] is inf"),
        (([np.nan, 0.5], M, S), r"weights .* finite.*weights\[0\] is nan"),
        (([-0.5, 1.5], M, S), r"weights .* negative.*weights\[0\] is -0.5.*softmax"),
        (([0.5, 0.4], M, S), r"weights .* sum to 0.9.*divide"),
        (([0.5, 0.5], M, replaced(S, 0)), r"scales .* positive.*scales\[0, 1, 2\] is 0.*softplus"),
        (([0.5, 0.5], M, S[0]), r"scales .* shape of means, \(1, 2, 3\).* \(2, 3\).*broadcast_to"),
        (([1.0], M, S), r"weights .* \(1, 2\) or \(2,\) .*\(1,\).*one weight per component"),
        ((S / 2, M, S), r"weights .* \(1, 2\) or \(2,\) .*\(1, 2, 3\), .*\(1, 2, 3\); give one"),
        (([], M[:, :0], S[:, :0]), r"means .* at least one component.*\(1, 0, 3\)"),
        (([0.5, 0.5], M[..., :0], S[..., :0]), r"means .* one target.*\(1, 2, 0\)"),
        (([0.5, 0.5], M[0, :, 0], S[0, :, 0]), r"means .* \(n, K, d\).* \(2,\).*None\]"),
        (([0.5, 0.5], M, S, [0]), r"groups must be 2 integers.*\(1,\)"),
    ],
)
def test_errors_name_argument_value_and_remedy(arguments, message):
    with pytest.raises(ValueError, match=message):
        VectorGaussianMixture(*arguments)


@pytest.mark.parametrize("verb", ["logpdf", "pdf", *MARGINAL_AT_OUTCOME, "energy_score"])
def test_errors_about_outcomes(batch, verb):
    method = getattr(batch, verb)
    for y in (0.0, np.zeros(20), np.zeros((20, 1))):
        with pytest.raises(ValueError, match=r"y must have the 3 targets .*last axis.*axis=-1"):
            method(y)
    with pytest.raises(ValueError, match=r"y must broadcast .*\(20, 3\).*\(7, 3\).*\(m, 1, 3\)"):
        method(np.zeros((7, 3)))


def test_errors_of_other_arguments(batch):
    for target in (3, -4):
        with pytest.raises(IndexError, match=rf"target .* -3 and 2, .* {target};.*n_targets=3"):
            batch.marginal(target)
    with pytest.raises(TypeError):
        batch.marginal(1.0)
    with pytest.raises(ValueError, match=r"confidence .* 1\.5"):
        batch.interval(1.5)
    with pytest.raises(ValueError, match=r"n_samples must be at least 1.* 0;.*pairs"):
        batch.energy_score(np.zeros(3), n_samples=0)


@pytest.mark.parametrize("index", [(0, 1), None, np.zeros((2, 2), int), 20, 1.5])
def test_laws_have_one_axis(batch, index):
    with pytest.raises(IndexError):
        batch[index]


def test_responsibilities_see_all_targets(batch):
    y = batch.mean()
    parts = [
        np.log(batch.weights[:, k])
        + stats.norm.logpdf(y, batch.means[:, k], batch.scales[:, k]).sum(axis=1)
        for k in range(batch.n_components)
    ]
    expected = np.exp(np.stack(parts, axis=1) - batch.logpdf(y)[:, None])
    # exponentials of logarithms of some tens
    assert_allclose(batch.responsibilities(y), expected, rtol=1e-12, atol=1e-300)
