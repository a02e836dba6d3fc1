import numpy as np
import pytest
from scipy import stats
from scipy.special import softmax

from dgme import em
from dgme.engine import (
    NegativeLogLikelihood,
    Optimiser,
    Prediction,
    Rows,
    ShuffledOrders,
    apply_lanes,
    train,
)
from dgme.nn import MLP, CategoricalHead, FlatNetwork, GaussianHead
from dgme.rounds import Mixture, Round, Status, Trouble

HEAD = GaussianHead(1e-2)
EXPERTS = em.Experts(FlatNetwork(MLP((12,), "tanh"), (1,), 2), HEAD)
CLASSIFIERS = em.Experts(FlatNetwork(MLP((12,), "tanh"), (1,), 3), CategoricalHead(3))


def plan(**changes):
    arguments = {
        "n_rounds": 3,
        "epochs_per_round": 4,
        "batch_size": 16,
        "optimiser": Optimiser(0.01),
    }
    return em.Plan(**(arguments | changes))


def two_branches(n=200, seed=0, datasets=1):
    """y = ±(1 + x / 2) with probabilities 0.7 and 0.3, noise of 0.2: branches that never meet."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1, 1, (datasets, n, 1))
    sign = np.where(rng.uniform(size=(datasets, n)) < 0.7, 1, -1)
    y = sign * (1 + x[..., 0] / 2) + 0.2 * rng.normal(size=(datasets, n))
    return em.Data.of(x, y)


def three_classes(n=200, seed=0):
    """Softmax of 2x, -x and 1, of which a third of the rows knows nothing."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-2, 2, (1, n, 1))
    known = softmax(np.concatenate([2 * x, -x, np.ones_like(x)], axis=2), axis=2)
    chances = np.where(rng.uniform(size=(1, n, 1)) < 1 / 3, 1 / 3, known)
    classes = (rng.uniform(size=(1, n, 1)) > chances.cumsum(axis=2)).sum(axis=2).clip(max=2)
    return em.Data.of(x, np.eye(3)[classes])


def same(a, b):
    for x, y in zip(a, b, strict=True):
        np.testing.assert_array_equal(x, y)


def test_responsibilities_are_bayes_theorem():
    rng = np.random.default_rng(0)
    weights = rng.dirichlet(np.ones(4), size=2)
    density = rng.uniform(0.1, 1, (2, 4, 9))
    gamma = em.responsibilities(weights, np.log(density))
    joint = weights[:, :, None] * density
    np.testing.assert_allclose(gamma, joint / joint.sum(axis=1, keepdims=True), rtol=1e-12)


def test_responsibilities_of_a_row_that_no_component_explains():
    """Densities of exp(-5000) underflow; their ratio does not."""
    gamma = em.responsibilities(
        np.full((1, 2), 0.5), np.array([[[-5000.0], [-5000.0 + np.log(3)]]])
    )
    np.testing.assert_allclose(gamma[0, :, 0], [0.25, 0.75], rtol=1e-9)


def test_annealing_makes_responsibilities_softer():
    log_density = np.random.default_rng(0).normal(scale=5, size=(1, 3, 20))
    weights = np.full((1, 3), 1 / 3)
    sharp = em.responsibilities(weights, log_density)
    soft = em.responsibilities(weights, log_density, inverse_temperature=0.2)
    assert (soft.max(axis=1) < sharp.max(axis=1)).all()
    schedule = [plan(n_rounds=10, annealing=0.2).inverse_temperature(j) for j in range(1, 11)]
    assert schedule[0] == 0.2
    assert schedule == sorted(schedule)
    np.testing.assert_allclose(schedule[5:], 1.0)


def test_mixture_weights_are_mean_responsibilities_of_weighted_rows():
    gamma = np.array([[[1.0, 0.5, 0.0], [0.0, 0.5, 1.0]]])
    np.testing.assert_allclose(em.mixture_weights(gamma, np.ones((1, 3))), [[0.5, 0.5]])
    np.testing.assert_allclose(
        em.mixture_weights(gamma, np.array([[2.0, 1, 0]])), [[2.5 / 3, 0.5 / 3]]
    )
    floored = em.mixture_weights(gamma, np.array([[1.0, 0, 0]]), floor=0.1)
    np.testing.assert_allclose(floored, [[1 / 1.1, 0.1 / 1.1]])


@pytest.mark.parametrize("n_components", [1, 2, 4])
@pytest.mark.parametrize(
    ("experts", "data"),
    [(EXPERTS, two_branches()), (CLASSIFIERS, three_classes())],
    ids=["regression", "classes"],
)
def test_full_batch_em_never_lowers_the_likelihood(experts, data, n_components):
    """With short steps on all rows at once, Q rises in every round, and the likelihood with it."""
    result = em.fit(
        experts,
        data,
        n_components,
        plan(n_rounds=25, epochs_per_round=10, batch_size=200, optimiser=Optimiser(1e-3)),
        seed=0,
    )
    likelihood = np.array([done.log_likelihood[0] for done in result.history])
    # Densities are computed in single precision: 1e-6 relative, of values near one.
    assert (np.diff(likelihood) > -1e-5).all()
    assert likelihood[-1] > likelihood[0] + 0.1


def test_q_bounds_the_likelihood_from_below():
    """log p = Q + entropy of gamma + KL(gamma, gamma'), so Q never exceeds it."""
    result = em.fit(EXPERTS, two_branches(), 3, plan(), seed=0)
    for done in result.history:
        assert (done.q <= done.log_likelihood).all()


def test_rounds_can_be_cut_in_two():
    data, settings = two_branches(), {"optimiser": Optimiser(0.01)}
    whole = em.fit(EXPERTS, data, 2, plan(n_rounds=5, **settings), seed=3)
    first = em.fit(EXPERTS, data, 2, plan(n_rounds=2, **settings), seed=3)
    rest = em.fit(
        EXPERTS,
        data,
        2,
        plan(n_rounds=3, **settings),
        seed=3,
        start=first.mixture,
        rounds_before=2,
    )
    same(rest.mixture, whole.mixture)
    assert [done.number for done in first.history + rest.history] == [1, 2, 3, 4, 5]


def test_proposition_3_the_first_round_from_zero_is_a_deep_ensemble():
    """Zero weights and equal biases make all responsibilities 1/K, exactly."""
    data, n_components = two_branches(), 4
    start = Mixture(
        np.zeros((1, n_components, EXPERTS.network.size), np.float32),
        np.full((1, n_components), 1 / n_components),
    )
    task = em.Task(EXPERTS, data, np.zeros(1, np.int32), plan(), seed=0)
    gamma = em.responsibilities(start.weights, em.log_densities(task, start, data))
    assert (gamma == 1 / n_components).all()

    after = em.fit(EXPERTS, data, n_components, plan(n_rounds=1), seed=0, start=start)
    independent = train(
        NegativeLogLikelihood(HEAD),
        EXPERTS.network,
        start.params[0],
        Rows(data.x, data.y),
        np.full((n_components, 200), 1 / n_components, np.float32),
        ShuffledOrders(200, (0, 1)),
        epochs=4,
        batch_size=16,
        optimiser=Optimiser(0.01),
        seed=1,
    )
    np.testing.assert_array_equal(after.mixture.params[0], independent.params)
    np.testing.assert_array_equal(after.mixture.weights[0], 1 / n_components)


def test_one_component_is_the_single_network():
    data = two_branches()
    mixture = em.initialise(EXPERTS, 1, 1, seed=0)
    fitted = em.fit(EXPERTS, data, 1, plan(n_rounds=1), seed=0)
    alone = train(
        NegativeLogLikelihood(HEAD),
        EXPERTS.network,
        mixture.params[0],
        Rows(data.x, data.y),
        np.ones((1, 200), np.float32),
        ShuffledOrders(200, (0, 1)),
        epochs=4,
        batch_size=16,
        optimiser=Optimiser(0.01),
        seed=1,
    )
    np.testing.assert_array_equal(fitted.mixture.params[0], alone.params)
    assert fitted.mixture.weights == 1


def test_proposition_1_the_mixture_is_at_least_as_likely_as_its_members_on_average():
    data = two_branches()
    result = em.fit(EXPERTS, data, 3, plan(), seed=0)
    task = em.Task(EXPERTS, data, np.zeros(1, np.int32), plan(), seed=0)
    densities = em.log_densities(task, result.mixture, data)
    equal = np.full((1, 3), 1 / 3)
    mixture = em.log_likelihood(equal, densities, data.weight)
    assert mixture[0] >= densities.mean()


def test_known_parameters_are_recovered():
    """2,000 rows: the standard error of the share is 0.010, of a branch's mean 0.01."""
    data = two_branches(n=2000)
    result = em.fit(EXPERTS, data, 2, plan(n_rounds=15, n_init=4), seed=0)
    order = np.argsort(-result.mixture.weights[0])
    np.testing.assert_allclose(result.mixture.weights[0][order], [0.7, 0.3], atol=0.04)
    x = np.linspace(-0.9, 0.9, 7, dtype=np.float32)[None, :, None]
    _, means, scales = apply_lanes(
        Prediction(HEAD), EXPERTS.network, result.mixture.params[0][order], x
    )
    truth = 1 + x[0, :, 0] / 2
    np.testing.assert_allclose(means[..., 0, 0], [truth, -truth], atol=0.1)
    np.testing.assert_allclose(scales, 0.2, atol=0.06)
    # Entropy of the truth: the branches hardly overlap.
    entropy = stats.norm(scale=0.2).entropy() + stats.bernoulli(0.3).entropy()
    assert -result.history[-1].log_likelihood.max() == pytest.approx(entropy, abs=0.05)


def test_permuted_rows_leave_the_responsibilities_in_place():
    data, permutation = two_branches(), np.random.default_rng(1).permutation(200)
    moved = em.Data(*(part[:, permutation] for part in data))
    theta = em.initialise(EXPERTS, 1, 3, seed=0)
    gammas = []
    for rows in (data, moved):
        task = em.Task(EXPERTS, rows, np.zeros(1, np.int32), plan(), seed=0)
        gammas.append(em.responsibilities(theta.weights, em.log_densities(task, theta, rows)))
    np.testing.assert_array_equal(gammas[0][..., permutation], gammas[1])
    # The sum over rows is the only thing that knows their order.
    np.testing.assert_allclose(
        *(em.mixture_weights(gamma, data.weight) for gamma in gammas), rtol=1e-14
    )


def test_datasets_and_restarts_run_side_by_side():
    data = two_branches(datasets=2)
    result = em.fit(EXPERTS, data, 2, plan(n_init=3), seed=0)
    assert result.mixture.weights.shape == (2, 2)
    assert [run // 3 for run in result.chosen_run] == [0, 1]
    final = result.history[-1].log_likelihood.reshape(2, 3)
    np.testing.assert_array_equal(result.chosen_run % 3, final.argmax(axis=1))


def test_the_round_that_scored_best_on_held_out_rows_predicts():
    data, held_out = two_branches(n=30), two_branches(n=60, seed=1)
    result = em.fit(
        EXPERTS,
        data,
        2,
        plan(n_rounds=30, epochs_per_round=30, patience=4, optimiser=Optimiser(0.03)),
        seed=0,
        held_out=held_out,
    )
    scores = np.array([done.held_out_score[0] for done in result.history])
    assert result.best_round[0] == 1 + scores.argmax()
    assert result.status == [Status.CONVERGED]
    assert len(scores) == result.best_round[0] + 4
    task = em.Task(EXPERTS, data, np.zeros(1, np.int32), plan(), seed=0)
    assert em.held_out_score(task, result.mixture, held_out)[0] == scores.max()


def test_a_callback_can_stop():
    result = em.fit(EXPERTS, two_branches(), 2, plan(), seed=0, on_round=lambda done: True)
    assert result.status == [Status.INTERRUPTED]
    assert len(result.history) == 1


def test_effective_components():
    def effective(*weights):
        row = np.array([weights])
        zero = np.zeros(1)
        return Round(1, row, zero, zero, None, np.zeros((1, len(weights)), bool))

    assert effective(0.25, 0.25, 0.25, 0.25).effective_components == pytest.approx(4)
    assert effective(1.0, 0.0).effective_components == pytest.approx(1)


def test_a_starved_component_is_reported():
    data = two_branches()
    start = em.initialise(EXPERTS, 1, 3, seed=0)
    starved = start._replace(weights=np.array([[0.5, 0.5 - 1e-9, 1e-9]]))
    result = em.fit(EXPERTS, data, 3, plan(n_rounds=1), seed=0, start=starved)
    (finding,) = result.findings[0]
    assert finding.trouble is Trouble.STARVED
    assert finding.components == (2,)
    assert str(finding).startswith("Starved components: 2. They explain less than one row each.")


def test_a_collapsed_component_is_reported():
    """Half of the targets are exactly zero, and one of two components can have them."""
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, (1, 200, 1))
    y = np.where(rng.uniform(size=(1, 200)) < 0.5, 0.0, rng.normal(size=(1, 200)))
    result = em.fit(
        EXPERTS,
        em.Data.of(x, y),
        2,
        plan(n_rounds=30, epochs_per_round=10, n_init=4),
        seed=0,
    )
    (finding,) = result.findings[0]
    assert finding.trouble is Trouble.COLLAPSED
    assert "min_scale" in str(finding)


def test_a_diverged_component_is_reported_and_stays_finite():
    result = em.fit(EXPERTS, two_branches(), 2, plan(optimiser=Optimiser(1e30)), seed=0)
    troubles = {finding.trouble for finding in result.findings[0]}
    assert Trouble.DIVERGED in troubles
    assert np.isfinite(result.mixture.params).all()


def test_row_weights_act_like_repeated_rows_in_the_e_and_m_step():
    """In full batches, a row of weight two is two rows, up to rounding."""
    data = two_branches(n=40)
    weights = np.where(np.arange(40) < 20, 2.0, 1.0)[None]
    weighted = em.Data.of(data.x, data.y, weights)
    rows = np.repeat(np.arange(40), weights[0].astype(int))
    repeated = em.Data.of(data.x[:, rows], data.y[:, rows])
    settings = plan(batch_size=1000, optimiser=Optimiser(1e-3))
    a = em.fit(EXPERTS, weighted, 2, settings, seed=0)
    b = em.fit(EXPERTS, repeated, 2, settings, seed=0)
    np.testing.assert_allclose(a.mixture.weights, b.mixture.weights, atol=1e-5)
    np.testing.assert_allclose(a.mixture.params, b.mixture.params, atol=1e-4)


def test_a_second_fit_compiles_nothing(count_compilations):
    data = two_branches()
    em.fit(EXPERTS, data, 2, plan(), seed=0)
    count_compilations()
    em.fit(EXPERTS, two_branches(seed=1), 2, plan(n_rounds=5, optimiser=Optimiser(3e-3)), seed=1)
    assert count_compilations() == 0


def test_more_networks_in_the_e_step_than_rows():
    """Nothing in the arrays takes the number of rows for granted."""
    data = two_branches(n=3)
    result = em.fit(EXPERTS, data, 2, plan(batch_size=64), seed=0)
    assert np.isfinite(result.history[-1].log_likelihood).all()
