import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from dgme import DGMERegressor, plots
from dgme.datasets import toy

DATA = toy.load("gaussian", 60, random_state=0)
OF_LAWS = {
    plots.PITDisplay: plots.pit_histogram,
    plots.ReliabilityDisplay: plots.reliability,
    plots.IntervalReliabilityDisplay: plots.interval_reliability,
    plots.SharpnessDisplay: plots.sharpness,
    plots.PredictiveDensityDisplay: plots.predictive_density,
    plots.UncertaintySplitDisplay: lambda law, y, **more: plots.uncertainty_split(law, **more),
}


@pytest.fixture(scope="module")
def pipeline():
    model = DGMERegressor(n_components=2, n_rounds=2, epochs_per_round=1, random_state=0)
    return make_pipeline(StandardScaler(), model).fit(DATA.X, DATA.y)


def data_of(ax) -> list[np.ndarray]:
    return [line.get_xydata() for line in ax.lines]


@pytest.mark.parametrize("kind", OF_LAWS)
def test_displays_draw_what_functions_draw(kind, pipeline, ax):
    X, y = DATA.X[:10], DATA.y[:10]
    display = kind.from_estimator(pipeline, X, y, ax=ax)
    assert display.ax_ is ax
    assert display.figure_ is ax.figure
    law = pipeline[-1].predict_dist(pipeline[:-1].transform(X))
    other = kind.from_predictions(y, law, name="other")
    assert other.ax_ is not ax
    expected = OF_LAWS[kind](law, y, ax=plt.figure().add_subplot())
    for mine, theirs, third in zip(*map(data_of, (ax, other.ax_, expected)), strict=True):
        np.testing.assert_array_equal(mine, theirs)
        np.testing.assert_array_equal(mine, third)
    # Once more, beside the first.
    assert other.plot(ax) is other
    labels = {text.get_text() for text in ax.get_legend().get_texts()}
    assert {"Pipeline", "other"} < labels
    plt.close("all")


def test_trainings_are_displayed_side_by_side(pipeline, ax):
    model = pipeline[-1]
    display = plots.TrainingHistoryDisplay.from_estimator(model, ax=ax)
    plots.TrainingHistoryDisplay.from_history(model.history_, name="again", ax=ax)
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), model.history_["log_likelihood"])
    assert display.ax_.lines[0].get_label() == "DGMERegressor: training rows"
    assert len({line.get_color() for line in ax.lines}) == 2
    marked = [line.get_xdata()[0] for line in ax.lines if line.get_marker() == "o"]
    assert marked == [model.n_rounds_] * 2


def test_what_cannot_be_displayed_is_told(pipeline):
    with pytest.raises(TypeError, match="this Pipeline has no history_; of a pipeline pass"):
        plots.TrainingHistoryDisplay.from_estimator(pipeline)
    with pytest.raises(TypeError, match="LinearRegression has no predict_dist"):
        plots.PITDisplay.from_estimator(LinearRegression().fit(DATA.X, DATA.y), DATA.X, DATA.y)
