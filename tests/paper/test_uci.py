import io

import numpy as np
import pytest
from rich.console import Console

from dgme.datasets import uci as tables
from dgme.paper import uci


@pytest.fixture
def small_table(monkeypatch):
    """A linear table with noise of 0.1 in place of a real one; scores in the target's units."""
    rng = np.random.default_rng(0)

    def split():
        X = rng.normal(size=(120, 2))
        y = 50 + 10 * (X[:, 0] + 0.1 * rng.normal(size=120))
        return tables.Split(X[:100], y[:100], X[100:], y[100:])

    splits = [split() for _ in range(tables.N_SPLITS)]
    monkeypatch.setattr(tables, "load_splits", lambda name: splits)


def test_all_splits_are_scored_after_each_number_of_rounds(small_table):
    scores = uci.run("boston")
    assert scores.shape == (len(uci.ROUNDS), tables.N_SPLITS, len(uci.METRICS))
    rmse, nll, mixture_nll = scores[-1].mean(axis=0)
    # Noise of one unit, learned from 100 rows.
    assert 0.8 < rmse < 2.0
    assert 1.0 < nll < 3.0
    assert 1.0 < mixture_nll < 3.0


def test_cells_are_marked_against_the_paper():
    def scores(value):
        return {"boston": np.full((len(uci.ROUNDS), tables.N_SPLITS, len(uci.METRICS)), value)}

    def text(value):
        console = Console(width=200, record=True, file=io.StringIO())
        for table in uci.tabulate(scores(value)):
            console.print(table)
        return console.export_text()

    assert text(0.0).count("✓") == 12
    assert text(100.0).count("✗") == 12
    assert "3.11 ± 0.94" in text(0.0)
