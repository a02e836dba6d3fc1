import numpy as np
import pytest
from matplotlib import pyplot as plt

from dgme import metrics
from dgme.datasets import toy
from dgme.paper.ablations import AblationsExperiment
from dgme.paper.experiment import Experiment
from dgme.paper.settings import Ablations, Toy
from dgme.paper.tables import published
from dgme.paper.toy_methods import CASES, Problem

SMALL = Ablations(
    toy=Toy(
        n_rows=60, n_test=30, n_components=2, hidden_sizes=(5,), epochs=2, n_rounds=2,
        our_epochs=2, bimodal_restarts=1, n_posterior_samples=3,
    ),
    runs=1, restarts=2, budgets=((2, 4), (2, 25)), epochs=2, n_rounds=2, dropouts=(0.0, 0.1),
    rounds_shown=(1, 2), kurtosis_components=(1, 2), kurtosis_runs=2, components_shown=(1, 2),
)  # fmt: skip
EXPERIMENT = AblationsExperiment(SMALL, 0)
INITS = ["torch_default", "uniform_0.01", "normal_1e-6", "xavier_uniform", "xavier_normal"]
COLUMNS = {
    "budget": ["E2_J4", "E2_J25"],
    "dropout": ["p0.00", "p0.10"],
    "init_raw": INITS,
    "init_standardized": INITS,
}


@pytest.fixture(scope="module")
def results():
    return [result for task in EXPERIMENT.tasks() for result in task.run()]


def test_every_setting_is_scored(results):
    assert isinstance(EXPERIMENT, Experiment)
    assert [tuple(result.of.values()) for result in results] == [
        (table, case, column, starts, run)
        for table, columns in COLUMNS.items()
        for case in CASES
        for column in columns
        for starts in (1, 2)
        for run in range(2 if table.startswith("init") else 1)
    ]
    for result in results:
        assert np.isfinite(list(result.scores.values())).all()


def test_a_task_gives_the_same_on_its_own(results):
    found = {tuple(result.of.values()): result for result in results}
    for table, column in (("dropout", "p0.10"), ("init_raw", "normal_1e-6")):
        name = (table, "heavy_tailed", column, 2)
        (task,) = (task for task in EXPERIMENT.tasks() if tuple(task.name.values()) == name)
        for result in task.run():
            assert result == found[tuple(result.of.values())]


def test_settings_differ_in_what_their_column_says(results):
    found = {tuple(result.of.values()): result.scores for result in results}

    def scores(table, column):
        return found[table, "gaussian", column, 1, 0]

    # The default initialisation of standardised data without dropout, under two names.
    default = scores("init_standardized", "torch_default")
    undropped = scores("dropout", "p0.00")
    assert default == {name: undropped[name] for name in default}
    assert undropped["train_nll"] == undropped["sampled_train_nll"]
    dropped = scores("dropout", "p0.10")
    assert dropped["train_nll"] != dropped["sampled_train_nll"]
    assert len({scores("init_raw", init)["train_nll"] for init in INITS}) == len(INITS)
    assert scores("init_raw", "torch_default") != default


def test_the_true_law_is_scored_on_the_training_rows(results):
    problem = Problem.draw("heavy_tailed", SMALL.toy, 0)
    truth = -toy.heavy_tailed_law(problem.train.X[:, 0]).logpdf(problem.train.y).mean()
    for result in results:
        if result.of["case"] == "heavy_tailed" and result.of["run"] == 0:
            assert result.scores["truth_nll"] == pytest.approx(truth)
    gaussian = problem.draw("gaussian", SMALL.toy, 0).train
    (note,) = (table.note for table in EXPERIMENT.tables(results) if "fixed" in table.title)
    assert f"Normal - Unimodal {metrics.nll(gaussian.law, gaussian.y):.3f}" in note


def test_tables_stand_beside_the_papers(results):
    budget, budget_regret, train, test, raw, standardized = EXPERIMENT.tables(results)
    for table in (budget, budget_regret, train, test, raw, standardized):
        assert set(table.cells) == {(row, c) for row in table.rows for c in table.columns}
    row = "Normal - Bimodal"
    assert list(budget.columns) == ["E = 2, J = 4", "E = 2, J = 25"]
    assert budget.cells[row, "E = 2, J = 4"].paper is None
    for table, column, source, theirs in (
        (budget, "E = 2, J = 25", "toy_budget_train_nll", "E2_J25"),
        (train, "p = 0.10", "toy_dropout_nll", "p0.10_train"),
        (test, "p = 0.10", "toy_dropout_nll", "p0.10_test"),
        (raw, "torch default", "toy_init_raw_train_nll", "torch_default"),
        (standardized, "normal 1e-6", "toy_init_standardized_train_nll", "normal_1e-6"),
    ):
        assert table.cells[row, column].paper == published(source)[row][theirs]
    assert train.cells[f"{row}, dropout averaged", "p = 0.10"].paper is None
    assert raw.cells[row, "torch default"] != raw.cells[f"{row}, best of 2 starts", "torch default"]


def test_the_best_of_the_starts_has_the_higher_likelihood(results):
    """A single start is the first of many, so the best is no worse on the rows trained on.

    Networks compute in single precision, and lanes beside them change its last bits.
    """
    found = {tuple(result.of.values()): result.scores["train_nll"] for result in results}
    single = [name for name in found if name[3] == 1]
    gains = np.array([found[name] - found[*name[:3], 2, *name[4:]] for name in single])
    assert (gains > -1e-4).all()
    assert (gains > 1e-4).any()


def test_the_papers_tables_are_complete_at_its_settings():
    """Every number of the four tables has a cell."""
    changes = AblationsExperiment(Ablations(), 0)._changes()
    named = {
        "toy_budget_train_nll": set(changes["budget"]),
        "toy_dropout_nll": {
            f"{column}_{rows}" for column in changes["dropout"] for rows in ("train", "test")
        },
        "toy_init_raw_train_nll": set(changes["init_raw"]),
        "toy_init_standardized_train_nll": set(changes["init_standardized"]),
    }
    for source, columns in named.items():
        assert list(published(source)) == list(CASES.values())
        assert all(set(cells) == columns for cells in published(source).values())


@pytest.mark.parametrize(
    ("number", "titles"),
    [
        (0, ["J = 1", "J = 2"]),
        (1, ["neither", "dropout", "adversarial", "both"]),
        (3, ["K = 1", "K = 2"]),
    ],
)
def test_figures_show_the_settings(number, titles):
    figure = EXPERIMENT.figures()[number].draw()
    assert [ax.get_title() for ax in figure.axes] == titles
    plt.close(figure)


def test_one_component_has_no_kurtosis():
    figure = EXPERIMENT.figures()[2].draw()
    *runs, median = figure.axes[0].lines
    assert len(runs) == SMALL.kurtosis_runs
    for line in (*runs, median):
        assert line.get_ydata()[0] == pytest.approx(0, abs=1e-9)
        assert line.get_ydata()[1] != 0
    plt.close(figure)


def test_the_quick_variant_has_all_settings_of_the_tables():
    quick, whole = (
        [{**task.name, "starts": None} for task in AblationsExperiment(settings, 0).tasks()]
        for settings in (Ablations().quick(), Ablations())
    )
    assert quick == whole
