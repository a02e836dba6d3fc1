import numpy as np
import pytest

from dgme import GaussianMixture, plots
from dgme.datasets import toy

LAW = toy.bimodal_law(np.array([3.0, 0.0, -2.0]))
Y = np.array([27.0, 1.0, 40.0])


def areas(ax) -> list[np.ndarray]:
    return [shade.get_paths()[0].vertices for shade in ax.collections]


def test_one_law_has_its_density_and_its_region(ax):
    assert plots.predictive_density(LAW[0], 27.0, ax=ax) is ax
    density, truth = ax.lines
    y, height = density.get_data()
    np.testing.assert_allclose(height, LAW[0].pdf(y))
    # At most what is beyond the outermost quantiles is missing.
    assert 0.99 < np.trapezoid(height, y) < 1
    np.testing.assert_array_equal(truth.get_xdata(), [27, 27])
    region = [[area[:, 0].min(), area[:, 0].max()] for area in areas(ax)]
    np.testing.assert_allclose(region, LAW[0].hdr(0.9))
    assert (ax.get_ylabel(), ax.get_ylim()[0]) == ("density", 0)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        "90% region",
        "predicted",
        "truth",
    ]


def test_ridges_are_equally_high_and_stand_in_order(ax):
    plots.predictive_density(LAW, Y, ax=ax, rows=["a", "b", "c"])
    assert [label.get_text() for label in ax.get_yticklabels()] == ["a", "b", "c"]
    np.testing.assert_array_equal(ax.get_yticks(), [2, 1, 0])
    densities, truths = ax.lines[::2], ax.lines[1::2]
    for floor, density in zip((2, 1, 0), densities, strict=True):
        height = density.get_ydata()
        assert height.min() >= floor
        assert height.max() == pytest.approx(floor + 0.85)
    np.testing.assert_array_equal([truth.get_xdata()[0] for truth in truths], Y)
    assert ax.dataLim.intervalx[1] >= 40  # a truth far out is seen
    assert len(areas(ax)) == sum(np.isfinite(LAW.hdr(0.9)[..., 0]).ravel())


def test_a_narrow_peak_is_not_missed(ax):
    spiked = GaussianMixture([0.5, 0.5], [0.0, 3.0], [1e-4, 100.0])
    plots.predictive_density(spiked, ax=ax)
    peak = ax.lines[0].get_ydata().max()
    assert peak == pytest.approx(float(spiked.pdf(0.0)), rel=0.01)


def test_a_handful_is_asked_for(ax):
    many = GaussianMixture([1.0], np.zeros((13, 1)), np.ones((13, 1)))
    with pytest.raises(ValueError, match=r"from 1 to 12 laws .* but holds 13; .* law\[:5\]"):
        plots.predictive_density(many, ax=ax)
    with pytest.raises(ValueError, match="from 1 to 12 laws"):
        plots.predictive_density(many[:0], ax=ax)
    with pytest.raises(ValueError, match="rows must name 3 laws, but names 1"):
        plots.predictive_density(LAW, ax=ax, rows=["a"])
