import numpy as np
import pytest
from scipy import stats
from scipy.special import logsumexp

from dgme import independent
from dgme.engine import (
    NegativeLogLikelihood,
    Optimiser,
    Rows,
    ShuffledOrders,
    initialise_lanes,
    train,
)
from dgme.experts import Data, Experts
from dgme.independent import Plan
from dgme.nn import MLP, FlatNetwork, GaussianHead
from dgme.rounds import Status, Trouble

MIN_SCALE, HIDDEN, N, K = 0.1, 8, 30, 3
HEAD = GaussianHead(MIN_SCALE)
EXPERTS = Experts(FlatNetwork(MLP((HIDDEN,), "tanh"), (1,), 2), HEAD)
START = initialise_lanes(EXPERTS.network, K, 7)[None]


def plan(**changes):
    arguments = {
        "epochs": 25,
        "batch_size": 8,
        "optimiser": Optimiser(0.02),
        "patience": None,
        "epochs_per_check": 10,
    }
    return Plan(**(arguments | changes))


def wave(n=N, seed=0, datasets=1):
    rng = np.random.default_rng(seed)
    x = rng.uniform(-2, 2, (datasets, n, 1))
    y = np.sin(2 * x[..., 0]) + 0.3 * rng.normal(size=(datasets, n))
    return Data.of(x, y, rng.uniform(0.5, 1.5, size=(datasets, n)))


def fit(data=None, changes=None, **arguments):
    """The outcome, and the states of the engine at every check."""
    states = []
    arguments = {"seed": 3, "start": START, "on_epochs": states.append} | arguments
    return independent.fit(EXPERTS, data or wave(), K, plan(**(changes or {})), **arguments), states


def score_by_hand(params, held_out):
    """Mean log density of the mixture with equal weights, in double precision and NumPy."""
    log_densities = []
    for member in params:
        parts = EXPERTS.network.split(member).values()
        w1, b1, w2, b2 = (part.astype(np.float64) for part in parts)
        mean, raw = (np.tanh(held_out.x[0].astype(np.float64) @ w1 + b1) @ w2 + b2).T
        scale = np.sqrt(np.logaddexp(0, raw) + MIN_SCALE**2)
        log_densities.append(stats.norm.logpdf(held_out.y[0, :, 0], mean, scale))
    mixture = logsumexp(log_densities, axis=0) - np.log(len(params))
    return np.average(mixture, weights=held_out.weight[0])


def test_members_are_the_lanes_of_one_training():
    """Each sees all rows with their weights, in an order of its own."""
    data = wave()
    fitted, states = fit(data)
    alone = train(
        NegativeLogLikelihood(HEAD),
        EXPERTS.network,
        START[0],
        Rows(data.x, data.y),
        np.repeat(data.weight, K, axis=0).astype(np.float32),
        ShuffledOrders(N, (3, 1)),
        epochs=25,
        batch_size=8,
        optimiser=Optimiser(0.02),
    )
    np.testing.assert_array_equal(fitted.params[0], alone.params)
    assert [state.epoch for state in states] == [check.number for check in fitted.history]
    assert [check.number for check in fitted.history] == [10, 20, 25]
    for check in fitted.history:
        assert check.held_out_score is None
        np.testing.assert_allclose(check.loss, alone.losses[:, check.number - 1].mean(), rtol=1e-6)
    # Without held-out rows, the last epoch predicts.
    assert fitted.best_epoch == fitted.last_epoch == 25
    assert fitted.status == [Status.COMPLETED]
    assert fitted.findings == [[]]


@pytest.mark.parametrize("member", range(K))
def test_a_member_is_a_training_of_its_own(member):
    """With its start, and the order of rows that belongs to its number."""
    data, orders = wave(), ShuffledOrders(N, (3, 1))
    fitted, _ = fit(data)
    alone = train(
        NegativeLogLikelihood(HEAD),
        EXPERTS.network,
        START[0, member : member + 1],
        Rows(data.x, data.y),
        data.weight.astype(np.float32),
        lambda lane, first, stop: orders(member + lane, first, stop),
        epochs=25,
        batch_size=8,
        optimiser=Optimiser(0.02),
    )
    # One lane is another program, which rounds differently: 100 steps of 0.02 in single precision.
    np.testing.assert_allclose(fitted.params[0, member], alone.params[0], atol=1e-4)


def test_members_do_not_touch_each_other():
    """With dropout too: masks belong to the number of a member."""
    experts = Experts(FlatNetwork(MLP((HIDDEN,), "tanh", dropout=0.3), (1,), 2), HEAD)
    others = START.copy()
    others[0, [0, 2]] *= 0.5
    one, two = (
        independent.fit(experts, wave(), K, plan(), seed=3, start=start).params[0]
        for start in (START, others)
    )
    np.testing.assert_array_equal(one[1], two[1])
    assert (one[[0, 2]] != two[[0, 2]]).any(axis=1).all()


def test_members_differ_even_from_the_same_start():
    """By the order of rows."""
    same = np.repeat(START[:, :1], K, axis=1)
    fitted, _ = fit(start=same)
    assert len({member.tobytes() for member in fitted.params[0]}) == K


def test_members_begin_as_independent_networks():
    fitted = independent.fit(EXPERTS, wave(), K, plan(epochs=1, optimiser=Optimiser(1e-12)), seed=5)
    np.testing.assert_allclose(fitted.params[0], initialise_lanes(EXPERTS.network, K, 5), atol=1e-9)
    assert len({member.tobytes() for member in fitted.params[0]}) == K


OVERFITTING = {"epochs": 600, "optimiser": Optimiser(0.05), "batch_size": N, "patience": 40}


@pytest.fixture(scope="module")
def overfitted():
    held_out = wave(n=50, seed=1)
    return held_out, *fit(changes=OVERFITTING, held_out=held_out)


def test_the_best_held_out_epoch_predicts(overfitted):
    held_out, fitted, states = overfitted
    scores = [score_by_hand(state.params, held_out) for state in states]
    reported = [check.held_out_score[0] for check in fitted.history]
    # Log densities in single precision, of up to ten nats.
    np.testing.assert_allclose(reported, scores, atol=1e-5)
    best = int(np.argmax(scores))
    assert 0 < best < len(scores) - 1
    assert fitted.best_epoch == states[best].epoch
    np.testing.assert_array_equal(fitted.params[0], states[best].params)


def test_patience_stops(overfitted):
    _, fitted, states = overfitted
    assert fitted.status == [Status.CONVERGED]
    assert fitted.last_epoch == fitted.best_epoch + 40 == states[-1].epoch < 600
    # No improvement took longer before.
    scores = np.array([check.held_out_score[0] for check in fitted.history])
    records = 10 * (1 + np.flatnonzero(scores >= np.maximum.accumulate(scores)))
    assert (np.diff(records) < 40).all()


def test_without_patience_all_epochs_run_and_the_best_still_predicts(overfitted):
    held_out, fitted, _ = overfitted
    whole, _ = fit(changes=OVERFITTING | {"epochs": 120, "patience": None}, held_out=held_out)
    assert whole.status == [Status.COMPLETED]
    assert whole.last_epoch == 120
    scores = np.array([check.held_out_score[0] for check in whole.history])
    assert whole.best_epoch == 10 * (1 + scores.argmax())
    # Chunks do not show.
    np.testing.assert_array_equal(
        scores[: len(fitted.history)],
        [check.held_out_score[0] for check in fitted.history][: len(scores)],
    )


def test_datasets_side_by_side_are_as_alone():
    """From the same start, with all rows in one batch so that their order does not matter. Each
    has its own best epoch, and the first to lose patience waits for the other."""
    data, held_out = wave(datasets=2), wave(n=50, seed=1, datasets=2)
    starts = initialise_lanes(EXPERTS.network, 2 * K, 16).reshape(2, K, -1)
    together, _ = fit(data, OVERFITTING, start=starts, held_out=held_out)
    assert together.params.shape == starts.shape
    assert len(set(together.last_epoch)) == 2
    for run in range(2):
        one = slice(run, run + 1)
        alone, _ = fit(
            Data(*(part[one] for part in data)),
            OVERFITTING,
            start=starts[one],
            held_out=Data(*(part[one] for part in held_out)),
        )
        assert together.best_epoch[run] == alone.best_epoch[0]
        assert together.last_epoch[run] == alone.last_epoch[0]
        assert together.status[run] == alone.status[0]
        # Another program and another order within sums: rounding, over 100 steps of 0.05.
        np.testing.assert_allclose(together.params[run], alone.params[0], atol=1e-3)


def test_divergence_is_reported_and_parameters_stay_finite():
    fitted, _ = fit(changes={"optimiser": Optimiser(1e30)}, held_out=wave(seed=1))
    [[finding]] = fitted.findings
    assert finding.trouble is Trouble.DIVERGED
    assert finding.components == (0, 1, 2)
    assert np.isfinite(fitted.params).all()


def test_a_dataset_that_cannot_be_trained_on_does_not_spoil_the_other():
    """The square of 1e25 is beyond single precision."""
    sound = wave(datasets=2)
    broken = sound._replace(y=sound.y.copy())
    broken.y[1, 4] = 1e25
    starts = START.repeat(2, axis=0)
    (expected, _), (fitted, _) = (fit(data, start=starts) for data in (sound, broken))
    np.testing.assert_array_equal(fitted.params[0], expected.params[0])
    np.testing.assert_array_equal(fitted.params[1], START[0])
    assert not fitted.findings[0]
    [finding] = fitted.findings[1]
    assert finding.trouble is Trouble.DIVERGED
    assert finding.components == (0, 1, 2)


def test_members_at_the_floor_are_found():
    """Constant targets: after a thousand steps the scale is the smallest allowed."""
    data = Data.of(np.linspace(-1, 1, N)[None, :, None], np.zeros((1, N)))
    fitted, _ = fit(data, {"epochs": 300, "optimiser": Optimiser(0.1), "batch_size": N})
    [[finding]] = fitted.findings
    assert finding.trouble is Trouble.COLLAPSED
    assert finding.components == (0, 1, 2)


def test_a_callback_can_stop():
    fitted, _ = fit(on_epochs=lambda state: state.epoch == 20)
    assert fitted.last_epoch == fitted.best_epoch == 20
    assert len(fitted.history) == 2
    assert fitted.status == [Status.INTERRUPTED]


def test_a_second_fit_compiles_nothing(count_compilations):
    fit(held_out=wave(seed=1))
    count_compilations()
    fit(
        wave(seed=5),
        {"optimiser": Optimiser(0.001, 0.1), "epochs": 30, "patience": 10},
        held_out=wave(seed=6),
        seed=8,
    )
    assert count_compilations() == 0


def test_large_tables_may_end_between_checks(monkeypatch):
    monkeypatch.setattr("dgme.engine._train._ORDER_ENTRIES", 4 * K * N)
    fitted, states = fit(held_out=wave(seed=1))
    epochs = {state.epoch for state in states}
    assert {10, 20, 25} < epochs
    assert [check.number for check in fitted.history] == [10, 20, 25]

    between = min(epoch for epoch in epochs if epoch > 10)
    fitted, _ = fit(held_out=wave(seed=1), on_epochs=lambda state: state.epoch == between)
    assert [check.number for check in fitted.history] == [10, between]
    assert fitted.status == [Status.INTERRUPTED]
