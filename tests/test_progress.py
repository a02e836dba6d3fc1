import io

import numpy as np
from rich.console import Console

from dgme import DGMERegressor, _progress

X = np.linspace(0, 1, 150)[:, None]
MODEL = DGMERegressor(n_components=2, n_rounds=30, epochs_per_round=3, patience=1, random_state=0)


def test_a_terminal_sees_rounds_go_by_until_training_ends(monkeypatch):
    terminal = io.StringIO()
    monkeypatch.setattr(
        _progress, "Console", lambda **_: Console(file=terminal, force_terminal=True, width=120)
    )
    model = MODEL.set_params(verbose=1).fit(X, np.sin(9 * X[:, 0]))
    last = [line for line in terminal.getvalue().splitlines() if "rounds" in line][-1]
    assert f"{len(model.history_['round'])} of 30 rounds" in last
    assert "log-likelihood" in last
    # No part of the bar is left over when training stops early.
    assert "╺" not in last


def test_nothing_is_written_elsewhere(capfd):
    MODEL.set_params(verbose=1).fit(X, np.sin(9 * X[:, 0]))
    MODEL.set_params(verbose=0).fit(X, np.sin(9 * X[:, 0]))
    assert capfd.readouterr() == ("", "")
