"""What holds for every figure."""

from itertools import combinations, pairwise

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from dgme import CategoricalMixture, GaussianMixture, VectorGaussianMixture, metrics, plots
from dgme.datasets import toy

X = np.linspace(-3, 3, 60)
LAW = toy.bimodal_law(X)
Y = LAW.rvs(random_state=0)
HISTORY = {"round": np.arange(1, 5), "log_likelihood": np.arange(4.0), "weight_0": np.ones(4)}
HISTORY["held_out_score"] = HISTORY["log_likelihood"] - 1
VALUES = {"one": Y, "another": 2 * Y}
WHOLE = {
    "fan_chart": lambda ax: plots.fan_chart(LAW, X, Y, ax=ax),
    "fan_chart over dates": lambda ax: plots.fan_chart(
        LAW, np.datetime64("2024-01-01") + np.arange(60), Y, ax=ax
    ),
    "predictive_density": lambda ax: plots.predictive_density(LAW[:12], Y[:12], ax=ax),
    "predictive_density of one": lambda ax: plots.predictive_density(LAW[0], Y[0], ax=ax),
    "pit_histogram": lambda ax: plots.pit_histogram(LAW, Y, ax=ax),
    "reliability": lambda ax: plots.reliability(LAW, Y, ax=ax),
    "interval_reliability": lambda ax: plots.interval_reliability(LAW, Y, ax=ax),
    "sharpness": lambda ax: plots.sharpness(LAW, Y, ax=ax),
    "uncertainty_split": lambda ax: plots.uncertainty_split(LAW, ax=ax),
    "uncertainty_split over x": lambda ax: plots.uncertainty_split(LAW, X, ax=ax),
    "training_history": lambda ax: plots.training_history(HISTORY, ax=ax),
    "training_weights": lambda ax: plots.training_weights(HISTORY, ax=ax),
    "kurtosis_histograms": lambda ax: plots.kurtosis_histograms(VALUES, ax=ax),
    "entropy_histograms": lambda ax: plots.entropy_histograms({"a": X + 3, "b": X + 4}, ax=ax),
}
SECOND = ("reliability", "pit_histogram", "sharpness", "training_history", "uncertainty_split")


def extents(labels, renderer) -> list:
    return [label.get_window_extent(renderer) for label in labels if label.get_text()]


@pytest.mark.parametrize(
    ("name", "times"), [*((name, 1) for name in WHOLE), *((name, 2) for name in SECOND)]
)
def test_nothing_lies_over_something_else_in_a_small_figure(name, times):
    """And pyplot has no part in it, nor are matplotlib's settings touched."""
    settings, figures = dict(mpl.rcParams), plt.get_fignums()
    figure = Figure(figsize=(4, 3), layout="constrained")
    canvas = FigureCanvasAgg(figure)
    ax = figure.add_subplot()
    for _ in range(times):
        assert WHOLE[name](ax) is ax
    canvas.draw()
    assert (dict(mpl.rcParams), plt.get_fignums()) == (settings, figures)
    for axis in (ax.xaxis, ax.yaxis):
        shown = extents(axis.get_ticklabels(), canvas.get_renderer())
        assert not any(a.overlaps(b) for a, b in combinations(shown, 2))
    legend = ax.get_legend().get_window_extent()
    assert ax.bbox.padded(1).containsx(legend.x0)
    assert ax.bbox.padded(1).containsx(legend.x1)
    for line in ax.lines:
        if line.get_transform() == ax.transData:
            corners = ax.transData.transform(np.column_stack(line.get_data(orig=False)))
            joined = pairwise(corners) if line.get_linestyle() != "None" else ()
            between = [np.linspace(*pair, 20) for pair in joined]
            for x, y in np.concatenate([corners, *between]):
                assert not (legend.x0 < x < legend.x1 and legend.y0 < y < legend.y1)


def test_another_series_has_another_colour_and_the_same_reference(ax):
    for name in ("a", "b", "c"):
        plots.reliability(LAW, Y, ax=ax, label=name)
    colors = {line.get_label(): line.get_color() for line in ax.lines}
    assert [colors[name] for name in "abc"] == list(plots.PALETTE[:3])
    assert len(ax.collections) == 1


def test_limits_that_somebody_has_set_are_kept(ax):
    ax.set_ylim(-1, 9)
    plots.pit_histogram(LAW, Y, ax=ax)
    assert ax.get_ylim() == (-1, 9)


def test_a_legend_may_be_left_out(ax):
    plots.pit_histogram(LAW, Y, ax=ax, legend=False)
    plots.reliability(LAW, Y, ax=ax, legend=False)
    assert ax.get_legend() is None


def test_the_colour_blind_can_tell_colours_apart():
    """In CIELAB, seen as by Machado, Oliveira and Fernandes (2009) without one kind of cone."""
    kinds = {
        "none": np.eye(3),
        "protan": [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ],
        "deutan": [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ],
        "tritan": [
            [1.255528, -0.076749, -0.178779],
            [-0.078411, 0.930809, 0.147602],
            [0.004733, 0.691367, 0.303900],
        ],
    }
    rgb = np.array([to_rgb(color) for color in plots.PALETTE])
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    to_xyz = np.array(
        [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    )
    white = to_xyz.sum(axis=1)
    for matrix in kinds.values():
        seen = np.clip(linear @ np.transpose(matrix), 0, 1) @ to_xyz.T / white
        f = np.where(seen > 0.008856, np.cbrt(seen), 7.787 * seen + 16 / 116)
        lab = np.stack(
            [116 * f[:, 1] - 16, 500 * (f[:, 0] - f[:, 1]), 200 * (f[:, 1] - f[:, 2])], axis=1
        )
        # Two are just noticeable side by side; apart from each other it takes several times that.
        assert min(np.linalg.norm(a - b) for a, b in combinations(lab, 2)) > 12


def test_laws_of_vectors_and_of_classes_are_refused_with_a_remedy(ax):
    vectors = VectorGaussianMixture([1.0], np.zeros((3, 1, 2)), np.ones((3, 1, 2)))
    with pytest.raises(ValueError, match=r"one of 2 targets, .* pass law.marginal\(0\)"):
        plots.reliability(vectors, np.zeros((3, 2)), ax=ax)
    assert plots.reliability(vectors.marginal(0), np.zeros(3), ax=ax)
    classes = CategoricalMixture([1.0], np.full((3, 1, 2), 0.5))
    with pytest.raises(TypeError, match="law is one of classes, a CategoricalMixture"):
        plots.pit_histogram(classes, np.zeros(3), ax=ax)
    with pytest.raises(TypeError, match=r"is a tuple; .* dgme\.metrics\.from_std\(mean, std\)"):
        plots.pit_histogram((np.zeros(3), np.ones(3)), np.zeros(3), ax=ax)


def test_laws_that_are_known_by_draws_alone_are_laws(ax):
    draws = metrics.from_samples(LAW.rvs(500, random_state=1).T)
    for figure in (plots.pit_histogram, plots.reliability, plots.interval_reliability):
        assert figure(draws, Y, ax=ax) is ax
    ax.clear()
    plots.fan_chart(draws, X[::-1], Y, ax=ax)
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), draws.median()[::-1])


def test_targets_are_checked(ax):
    with pytest.raises(ValueError, match=r"shape \(60,\), .* \(60, 1\); pass y.ravel\(\)"):
        plots.reliability(LAW, Y[:, None], ax=ax)
    with pytest.raises(ValueError, match=r"y\[2\] is nan \(1 of 60 are not finite\)"):
        plots.sharpness(LAW, np.where(np.arange(60) == 2, np.nan, Y), ax=ax)
    with pytest.raises(ValueError, match="law is a single law, but this figure needs an array"):
        plots.reliability(LAW[0], Y[0], ax=ax)
    empty = GaussianMixture([1.0], np.zeros((0, 1)), np.zeros((0, 1)))
    for figure in (plots.reliability, plots.pit_histogram):
        with pytest.raises(ValueError, match="at least one row"):
            figure(empty, [], ax=ax)
