import numpy as np
import pytest

from dgme.datasets import uci as tables
from dgme.paper import uci
from dgme.paper.settings import UCI

METHODS = ["MDN", "MCD", "DE", "DGME_J1", "DGME_J3"]
SMALL = UCI(
    tables=("boston",), splits=3, rounds=(1, 3), epochs=30, mdn_epochs=60, mcd_epochs=60,
    mcd_rates=(0.01, 0.05), mcd_passes=20, n_components=2, hidden_sizes=(20,),
)  # fmt: skip


@pytest.fixture(scope="module")
def results():
    """Scores of a linear table with noise of one unit in place of a real one."""
    rng = np.random.default_rng(0)

    def split():
        X = rng.normal(size=(120, 2))
        y = 50 + 10 * (X[:, 0] + 0.1 * rng.normal(size=120))
        return tables.Split(X[:100], y[:100], X[100:], y[100:])

    splits = [split() for _ in range(3)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables, "load_splits", lambda name: splits)
        return [result for task in uci.UciExperiment(SMALL, 0).tasks() for result in task.run()]


def test_every_split_is_scored_for_every_method(results):
    assert [tuple(result.of.values()) for result in results] == [
        ("boston", method, split)
        for methods in (["MDN"], ["MCD"], ["DE"], METHODS[3:])
        for method in methods
        for split in range(3)
    ]
    for result in results:
        assert set(result.scores) == set(uci.SCORES)
        assert np.isfinite(list(result.scores.values())).all()


@pytest.mark.parametrize("method", METHODS)
def test_scores_are_in_the_units_of_the_target(results, method):
    scores = [result.scores for result in results if result.of["method"] == method]
    rmse, nll, coverage, width = (
        np.mean([of[name] for of in scores]) for name in ("rmse", "nll", "coverage", "width")
    )
    # Noise of one unit, learned from 100 rows: at best 1, 1.42, 0.9 and 3.3.
    assert 0.8 < rmse < 3
    assert 1.2 < nll < 2.7
    assert 0.75 < coverage <= 1
    assert 2 < width < 10


def test_tables_hold_every_method_beside_the_papers(results):
    found = uci.UciExperiment(SMALL, 0).tables(results)
    assert [table.title.split(" on ")[0] for table in found] == [
        score.title for score in uci.SCORES.values()
    ]
    for table in found:
        assert {column for _, column in table.cells} == set(table.columns)
    rmse = found[0]
    assert rmse.cells["boston", "DGME, J = 1"].paper == (3.11, 0.94)
    # A method with a number of rounds that the paper does not have.
    assert rmse.cells["boston", "DGME, J = 3"].paper is None
    values = [result.scores["rmse"] for result in results if result.of["method"] == "MDN"]
    np.testing.assert_allclose(rmse.cells["boston", "MDN"][:2], [np.mean(values), np.std(values)])
