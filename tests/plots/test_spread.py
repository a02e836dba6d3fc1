import numpy as np
import pytest

from dgme import CategoricalMixture, GaussianMixture, plots
from dgme.plots._spread import binned_errors

N = 200
RNG = np.random.default_rng(0)
SCALES = RNG.uniform(1, 5, (N, 1)) * np.array([1.0, 1.0, 3.0, 3.0])
LAW = GaussianMixture([0.4, 0.4, 0.1, 0.1], RNG.normal(size=(N, 4)), SCALES, groups=[0, 1, 0, 1])
X = RNG.normal(size=N)


def test_errors_are_averaged_where_laws_are_as_wide(ax):
    y = LAW.mean() + 2 * LAW.std()
    assert plots.sharpness(LAW, y, ax=ax, n_bins=8) is ax
    points, diagonal, means = ax.lines
    np.testing.assert_allclose(points.get_data(), [LAW.std(), 2 * LAW.std()])
    np.testing.assert_array_equal(*diagonal.get_data())
    expected, found = means.get_data()
    np.testing.assert_allclose(found, 2 * expected)
    assert len(found) == 8
    # Each row counts once: 200 rows make eight bins of 25.
    assert np.mean(expected**2) == pytest.approx(LAW.var().mean())
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")


def test_bars_hold_the_errors_of_calibrated_laws_with_heavy_tails():
    samples, inside = 500, []
    for y in LAW.rvs(samples, random_state=0):
        bins = binned_errors(LAW, np.abs(y - LAW.mean()), 5)
        low, high = bins.calibrated
        inside.append(((low <= bins.rmse) & (bins.rmse <= high)).all())
    # 95 %, but for the gamma approximation, which may cost or give two points beside the noise.
    assert abs(np.mean(inside) - 0.95) < 0.02 + 3 * np.sqrt(0.05 * 0.95 / samples)


def test_the_split_is_a_point_for_every_law(ax):
    plots.uncertainty_split(LAW, ax=ax, label="here")
    points, equal = ax.lines
    aleatoric, epistemic = points.get_data()
    np.testing.assert_allclose(aleatoric**2 + epistemic**2, LAW.var())
    np.testing.assert_array_equal(*equal.get_data())
    assert ax.get_xlabel() == "aleatoric standard deviation"
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["here", "equal"]


def test_over_an_input_the_parts_of_the_variance_add_up(ax):
    plots.uncertainty_split(LAW, X, ax=ax)
    order = np.argsort(X)
    noise, whole = ax.lines
    np.testing.assert_array_equal(noise.get_xdata(), X[order])
    np.testing.assert_allclose(noise.get_ydata(), LAW.aleatoric_variance()[order])
    np.testing.assert_allclose(whole.get_ydata(), LAW.var()[order])
    assert ax.get_ylabel() == "variance"


def test_a_law_without_a_posterior_knows_all(ax):
    plots.uncertainty_split(GaussianMixture([1.0], np.zeros((5, 1)), np.ones((5, 1))), ax=ax)
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), 0)


def test_of_classes_the_entropy_is_split(ax):
    members = RNG.dirichlet([1, 1, 1], (20, 2))
    law = CategoricalMixture([0.5, 0.5], members, groups=[0, 1])
    plots.uncertainty_split(law, ax=ax)
    chance, unknown = ax.lines[0].get_data()
    np.testing.assert_allclose(chance + unknown, law.entropy())
    assert ax.get_ylabel() == "epistemic entropy [nats]"


def test_bins_are_checked(ax):
    with pytest.raises(ValueError, match="n_bins must be from 1 to the number of rows, 200, but"):
        plots.sharpness(LAW, X, ax=ax, n_bins=201)
