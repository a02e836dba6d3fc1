import signal
import threading

import numpy as np
import pytest

from dgme import DeepEnsembleRegressor, DGMERegressor, MultiSWAGRegressor
from dgme._watch import stop_requested, stopping, watched

X = np.linspace(0, 1, 150)[:, None]
Y = np.sin(9 * X[:, 0])


def test_nobody_watches_by_default():
    assert not watched()
    assert not stop_requested()


def test_time_runs_out():
    with stopping(after=1e3) as watch:
        assert watched()
        assert not stop_requested()
        assert not watch.stopped
    with stopping(after=0.0) as watch:
        assert stop_requested()
        assert watch.stopped


def test_the_first_signal_asks_and_the_second_aborts():
    usual, told = signal.getsignal(signal.SIGINT), []

    def press_twice():
        with stopping(on_interrupt=lambda: told.append(1)) as watch:
            signal.raise_signal(signal.SIGINT)
            assert watch.interrupted
            assert stop_requested()
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        press_twice()
    assert told == [1]
    assert not watched()
    assert signal.getsignal(signal.SIGINT) is usual


def test_other_threads_keep_to_the_time_alone():
    usual, found = signal.getsignal(signal.SIGINT), []

    def work():
        with stopping(after=0.0):
            found.append((stop_requested(), signal.getsignal(signal.SIGINT) is usual))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [(True, True)]


def test_em_ends_within_its_round():
    with stopping(after=0.0):
        model = DGMERegressor(n_components=2, n_rounds=50, random_state=0).fit(X, Y)
    assert model.rounds_run_ == model.n_rounds_ == 1
    assert not model.converged_
    assert np.isfinite(model.predict_dist(X).logpdf(Y)).all()


@pytest.mark.parametrize("validation_fraction", [0.1, None])
def test_members_end_after_their_first_chunk(validation_fraction):
    model = DeepEnsembleRegressor(n_members=2, validation_fraction=validation_fraction)
    with stopping() as watch:
        signal.raise_signal(signal.SIGINT)
        model.fit(X, Y)
    assert watch.stopped
    np.testing.assert_array_equal(model.history_["epoch"], [10])
    assert model.n_epochs_ == 10
    assert not model.converged_
    assert np.isfinite(model.predict_dist(X).logpdf(Y)).all()


def test_what_gathers_after_the_training_ends_too(monkeypatch):
    monkeypatch.setattr("dgme.engine._train._ORDER_ENTRIES", 0)
    model = MultiSWAGRegressor(n_members=2, swag_epochs=10**6, random_state=0)
    with stopping(after=0.0):
        model.fit(X, Y)
    assert np.isfinite(model.predict_dist(X).logpdf(Y)).all()
