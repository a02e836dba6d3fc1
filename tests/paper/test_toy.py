from dataclasses import replace

import numpy as np
import pytest
from matplotlib import pyplot as plt

from dgme import GaussianMixture
from dgme.datasets import toy as problems
from dgme.paper import toy_figures
from dgme.paper.experiment import Experiment
from dgme.paper.settings import Toy
from dgme.paper.toy import ToyExperiment
from dgme.paper.toy_methods import CASES, Methods, Problem, regret

SMALL = Toy(
    runs=2, n_rows=100, n_test=50, n_components=2, hidden_sizes=(10,), epochs=4, n_rounds=2,
    epochs_alone=(8,), our_epochs=4, our_n_rounds=3, our_restarts=1, bimodal_restarts=1,
    n_posterior_samples=5, histogram_samples=500,
)  # fmt: skip
ONE = ToyExperiment(replace(SMALL, runs=1), 0)
METHODS = [
    "MDN, 8 epochs",
    "MCD, 8 epochs",
    "DE, 8 epochs",
    "DGME, 2 × 4 epochs",
    "DGME, ours",
]


@pytest.fixture(scope="module")
def results():
    return [result for task in ONE.tasks() for result in task.run()]


def test_every_method_is_scored_on_every_kind_of_noise(results):
    assert isinstance(ONE, Experiment)
    assert [tuple(result.of.values()) for result in results] == [
        (case, method, 0) for case in CASES for method in METHODS
    ]
    for result in results:
        assert np.isfinite(list(result.scores.values())).all()


def test_a_task_gives_the_same_on_its_own_and_earlier_runs_do_not_change(results):
    experiment = ToyExperiment(SMALL, 0)
    (task,) = (t for t in experiment.tasks() if tuple(t.name.values()) == ("bimodal", METHODS[-2]))
    first, second = task.run()
    (alone,) = (r for r in results if tuple(r.of.values()) == ("bimodal", METHODS[-2], 0))
    assert first == alone
    assert first.scores != second.scores


def test_tables_hold_all_methods(results):
    tables = ONE.tables(results)
    for table in tables:
        assert list(table.columns) == METHODS
        assert set(table.cells) == {(row, method) for row in table.rows for method in METHODS}
    by_case = {tuple(result.of.values())[:2]: result.scores for result in results}
    expected = by_case["bimodal", "DGME, ours"]
    shown = [table.cells["Normal - Bimodal", "DGME, ours"].mean for table in tables[:3]]
    assert shown == [expected[name] for name in ("regret", "regret_outside", "train_nll")]
    heavy = by_case["heavy_tailed", METHODS[0]]
    cells = [tables[3].cells[row, METHODS[0]].mean for row in tables[3].rows]
    assert cells == [heavy["kurtosis"], heavy["kurtosis_outside"]]


def test_the_true_law_has_no_regret_and_another_one_its_divergence():
    data = problems.load("gaussian", 20_000, random_state=0)
    assert regret(data.law, data) == 0
    # Half the squared distance of the means in scales; the mean of a Gaussian of this scale.
    wrong = GaussianMixture([1.0], data.law.means + 1.5, data.law.scales)
    assert regret(wrong, data) == pytest.approx(0.125, abs=5 * 0.5 / np.sqrt(20_000))


def test_methods_have_the_papers_settings():
    methods = Methods.of(Toy(), "bimodal")
    assert Methods.of(Toy(), "gaussian").n_components == 5
    assert methods.mdn(80).n_components == methods.de(80).n_members == 2
    assert methods.mcd(80).network.dropout == 0.1
    assert not methods.mcd(80).network.drop_inputs
    dgme = methods.dgme()
    assert (dgme.n_rounds, dgme.epochs_per_round, dgme.dropout) == (5, 80, 0.1)
    assert methods.ours().n_components == 5


def test_components_are_taken_out_of_all_posterior_samples():
    rows = len(toy_figures.GRID)
    means = np.tile([0.0, 10.0, 1.0, 11.0], (rows, 1))
    law = GaussianMixture([0.2, 0.3, 0.1, 0.4], means, np.ones((rows, 4)))
    weight, part = toy_figures.component(law, 1, 2)
    assert weight == pytest.approx(0.7)
    np.testing.assert_allclose(part.weights[0], [3 / 7, 4 / 7])
    np.testing.assert_array_equal(part.means[0], [10, 11])


@pytest.mark.parametrize(
    ("number", "titles"),
    [
        (0, ["MDN", "MCD", "DE", "DGME"]),
        (1, ["MDN, κ", "MCD, κ", "DE, κ", "DGME, κ"] * 2),
        (2, ["MDN", "DE", "DGME"]),
    ],
)
def test_figures_show_the_methods(number, titles):
    figure = ONE.figures()[number].draw()
    assert [ax.get_title().split(" =")[0] for ax in figure.axes] == titles
    if number == 2:
        for ax in figure.axes:
            weights = [float(text.get_text().split()[1]) for text in ax.get_legend().get_texts()]
            assert sum(weights) == pytest.approx(1, abs=0.011)
    plt.close(figure)


def test_the_first_run_is_that_of_the_figures():
    first, again = (Problem.draw("gaussian", SMALL, 0, *run) for run in ((0,), ()))
    np.testing.assert_array_equal(first.train.y, again.train.y)
    assert np.abs(first.inside.X).max() <= 4 <= np.abs(first.outside.X).min()
