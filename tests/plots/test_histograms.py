import numpy as np
import pytest
from scipy.stats import kurtosis

from dgme import GaussianMixture, plots

RNG = np.random.default_rng(0)
SAMPLES = {"light": RNG.uniform(-3, 3, 2000), "heavy": RNG.standard_t(5, 2000)}


def test_draws_are_labelled_with_their_kurtosis(ax):
    truth, edges = GaussianMixture([1.0], [0.0], [1.0]), np.linspace(-8, 8, 41)
    assert plots.kurtosis_histograms(SAMPLES, ax=ax, bins=edges, truth=truth) is ax
    *found, true = ax.lines
    for line, (name, drawn) in zip(found, SAMPLES.items(), strict=True):
        assert line.get_label() == f"{name}, κ = {kurtosis(drawn):.1f}"
        counts, _ = np.histogram(drawn, edges)
        # Draws beyond the edges count too: all together have the area one.
        np.testing.assert_allclose(line.get_ydata()[::2] * 0.4, counts / len(drawn))
    np.testing.assert_allclose(true.get_ydata(), truth.pdf(edges))
    assert ax.get_yscale() == "log"


def test_a_few_draws_far_out_do_not_set_the_bins(ax):
    plots.kurtosis_histograms({"far": np.append(SAMPLES["light"], 1e6)}, ax=ax)
    assert ax.dataLim.intervalx[1] < 4


def test_entropies_of_densities_may_be_negative(ax):
    plots.entropy_histograms({"narrow": np.array([-2.0, -1.0])}, ax=ax)
    assert ax.lines[0].get_ydata()[::2].sum() == 1


def test_entropies_are_shares_with_their_means(ax):
    entropies = {name: np.abs(drawn) for name, drawn in SAMPLES.items()}
    plots.entropy_histograms(entropies, ax=ax)
    everything = np.concatenate(list(entropies.values()))
    for line, mean, values in zip(ax.lines[::2], ax.lines[1::2], entropies.values(), strict=True):
        assert line.get_ydata()[::2].sum() == pytest.approx(1)
        assert mean.get_xdata()[0] == pytest.approx(values.mean())
        assert line.get_color() == mean.get_color()
        np.testing.assert_array_equal(
            line.get_xdata()[[0, -1]], [everything.min(), everything.max()]
        )


@pytest.mark.parametrize("figure", [plots.kurtosis_histograms, plots.entropy_histograms])
def test_values_are_checked(ax, figure):
    with pytest.raises(ValueError, match="must hold an array for at least one name"):
        figure({}, ax=ax)
    with pytest.raises(ValueError, match=r"\['a'\] must be an array .* 1 that are not finite"):
        figure({"a": np.array([1.0, np.nan])}, ax=ax)
