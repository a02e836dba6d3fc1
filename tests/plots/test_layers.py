import matplotlib.pyplot as plt
import numpy as np
import pytest

from dgme import GaussianMixture, plots
from dgme.datasets import toy

X = np.linspace(-3, 3, 41)
LAW = toy.bimodal_law(X)


def test_components_are_drawn_with_their_weights(ax):
    assert plots.components(LAW, X, ax=ax) is ax
    assert [line.get_label() for line in ax.lines] == [
        "component 0, weight 0.70",
        "component 1, weight 0.30",
    ]
    np.testing.assert_array_equal(ax.lines[1].get_ydata(), -(X**3))
    assert len(ax.collections) == 2


def test_a_band_is_the_mean_and_the_interval(ax):
    plots.band(LAW, X, ax=ax, coverage=0.99)
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), LAW.mean())
    (shade,) = ax.collections
    ends = shade.get_paths()[0].vertices[:, 1]
    np.testing.assert_allclose(
        [ends.min(), ends.max()], [LAW.ppf(0.005).min(), LAW.ppf(0.995).max()]
    )


def test_inputs_are_sorted_and_checked(ax):
    order = np.random.default_rng(0).permutation(len(X))
    plots.components(LAW[order], X[order, None], ax=ax)
    np.testing.assert_array_equal(ax.lines[0].get_xdata(), X)
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), X**3)
    with pytest.raises(ValueError, match=r"x must have shape \(41,\), .* but has \(40,\)"):
        plots.density_map(LAW, X[1:], (-40.0, 40.0), ax=ax)


def test_the_density_is_shaded_within_each_column(ax):
    plots.density_map(LAW, X, (-40.0, 40.0), ax=ax)
    (mesh,) = ax.collections
    shading = np.asarray(mesh.get_array()).reshape(400, len(X))
    np.testing.assert_allclose(shading.max(axis=0), 1.0)


def test_conditional_densities_stand_beside_the_truth(ax):
    y = np.linspace(-10, 10, 101)
    plots.conditional_density(LAW[20], y, ax=ax, truth=GaussianMixture([1.0], [0.0], [3.0]))
    np.testing.assert_allclose(ax.lines[0].get_ydata(), LAW[20].pdf(y))
    assert len(ax.collections) == 1


def test_without_axes_the_present_ones_are_used(ax):
    plt.sca(ax)
    assert plots.components(LAW, X) is ax


def test_a_fan_shows_intervals_and_targets_over_dates(ax):
    dates, y = np.datetime64("2020-01-01") + np.arange(len(X)), LAW.mean()
    order = np.random.default_rng(0).permutation(len(X))
    assert plots.fan_chart(LAW[order], dates[order], y[order], ax=ax) is ax
    median, observed = ax.lines
    np.testing.assert_array_equal(median.get_ydata(), LAW.median())
    np.testing.assert_array_equal(observed.get_ydata(), y)
    wide, narrow = ax.collections
    assert [wide.get_label(), narrow.get_label()] == ["90% interval", "50% interval"]
    for band, coverage in ((wide, 0.9), (narrow, 0.5)):
        corners = band.get_paths()[0].vertices[:, 1]
        lower, upper = LAW.interval(coverage)
        np.testing.assert_allclose([corners.min(), corners.max()], [lower.min(), upper.max()])


def test_a_map_shows_all_but_the_outermost_targets(ax):
    plots.density_map(LAW, X, ax=ax)
    outermost = [LAW.ppf(0.001).min(), LAW.ppf(0.999).max()]
    np.testing.assert_allclose(ax.dataLim.intervaly, outermost)


def test_a_fan_joins_what_is_known_over_dates_alone(ax):
    y = np.where(X < 1, X**3, np.nan)
    plots.fan_chart(LAW, X, y, ax=ax)
    assert [line.get_linestyle() for line in ax.lines] == ["-", "None"]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        "90% interval",
        "50% interval",
        "median",
        "observed",
    ]


@pytest.mark.parametrize("unit", ["D", "object"])
def test_dates_may_come_as_arrays_or_as_objects(ax, unit):
    days = np.datetime64("2020-01-01") + np.arange(len(X))
    plots.band(LAW, days.astype(object) if unit == "object" else days, ax=ax)
    ax.figure.canvas.draw()
    assert ax.xaxis.get_major_formatter().__class__.__name__ == "AutoDateFormatter"


@pytest.mark.parametrize(
    ("x", "message"),
    [
        (["a"] * 41, "x must hold numbers or dates, but x.0. is"),
        ([np.nan] * 41, "x must be known for every law, but x.0. is nan"),
        ([np.datetime64("NaT")] * 41, "x must be known for every law, but x.0. is NaT"),
    ],
)
def test_other_inputs_are_refused(ax, x, message):
    with pytest.raises(ValueError, match=message):
        plots.fan_chart(LAW, x, ax=ax)


def test_one_law_has_one_density(ax):
    with pytest.raises(ValueError, match=r"law holds 41 laws.*pass law\[0\]"):
        plots.conditional_density(LAW, X, ax=ax)
