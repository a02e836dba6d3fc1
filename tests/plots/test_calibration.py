import numpy as np
import pytest

from dgme import GaussianMixture, plots
from dgme.plots._consistency import simultaneous_band

N = 300
RNG = np.random.default_rng(0)
LAW = GaussianMixture([1.0], RNG.normal(size=(N, 1)), RNG.uniform(1, 2, (N, 1)))
Y = LAW.rvs(random_state=1)


def legend(ax) -> list[str]:
    return [text.get_text() for text in ax.get_legend().get_texts()]


def line(ax, label: str) -> np.ndarray:
    (found,) = (line for line in ax.lines if line.get_label() == label)
    return np.array(found.get_data())


@pytest.mark.parametrize("cumulative", [False, True])
@pytest.mark.parametrize("n", [30, 1000])
def test_shares_of_uniform_numbers_stay_in_the_band_all_at_once(n, cumulative):
    low, high = simultaneous_band(n, 10, cumulative=cumulative)
    u = np.random.default_rng(1).uniform(size=(4000, n))
    counts = np.stack([np.histogram(row, 10, (0, 1))[0] for row in u])
    if cumulative:
        counts = counts.cumsum(axis=1)[:, :-1]
    inside = ((low <= counts / n) & (counts / n <= high)).all(axis=1).mean()
    # Four standard errors, of this sample and of the one that found the band, and above it what
    # a few possible shares of 30 rows add.
    error = 4 * np.sqrt(0.05 * 0.95 * (1 / 4000 + 1 / 20_000))
    assert 0.95 - error < inside < 0.95 + error + (0.02 if n == 30 else 0.01)


def test_bars_of_transforms_have_the_area_one(ax):
    assert plots.pit_histogram(LAW, Y, ax=ax, n_bins=5) is ax
    expected, _ = np.histogram(LAW.cdf(Y), 5, (0, 1), density=True)
    np.testing.assert_allclose(line(ax, "predicted")[1][::2], expected)
    assert legend(ax) == ["calibrated, n = 300 (95%)", "predicted"]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("probability integral transform", "density")
    assert ax.get_ylim()[0] == 0


@pytest.mark.parametrize(("n", "n_bins"), [(300, 20), (80, 8), (5, 4)])
def test_few_rows_have_few_bars(ax, n, n_bins):
    plots.pit_histogram(LAW[:n], Y[:n], ax=ax)
    assert len(line(ax, "predicted")[0]) == 2 * n_bins


def test_reliability_is_the_share_below_each_quantile(ax):
    plots.reliability(LAW, Y, ax=ax, n_levels=9)
    levels, shares = line(ax, "predicted")
    np.testing.assert_allclose(levels, np.arange(1, 10) / 10)
    np.testing.assert_allclose(shares, (LAW.ppf(levels[:, None]) >= Y).mean(axis=1))


def test_reliability_of_intervals_is_their_coverage(ax):
    plots.interval_reliability(LAW, Y, ax=ax)
    levels, shares = line(ax, "predicted")
    low, high = LAW.interval(levels[:, None])
    np.testing.assert_allclose(shares, ((low <= Y) & (high >= Y)).mean(axis=1))


@pytest.mark.parametrize(
    "figure", [plots.pit_histogram, plots.reliability, plots.interval_reliability]
)
def test_a_band_tells_calibrated_laws_from_narrow_ones(ax, figure):
    narrow = GaussianMixture([1.0], LAW.means, 0.6 * LAW.scales)
    figure(LAW, Y, ax=ax, label="truth")
    figure(narrow, Y, ax=ax, label="narrow")
    assert legend(ax) == ["calibrated, n = 300 (95%)", "truth", "narrow"]
    band = ax.collections[0].get_paths()[0]
    # Corners of the histogram and of the band are the same; a step to the right is inside a bar.
    step = 0.01 if figure is plots.pit_histogram else 0.0

    def inside(label: str) -> bool:
        x, share = line(ax, label)
        points = np.column_stack([x + step, share])[:: 2 if step else 1]
        return bool(band.contains_points(points).all())

    assert inside("truth")
    assert not inside("narrow")


def test_other_numbers_of_rows_have_a_band_of_their_own(ax):
    plots.reliability(LAW, Y, ax=ax)
    plots.reliability(LAW[:50], Y[:50], ax=ax, label="few")
    assert {"calibrated, n = 300 (95%)", "calibrated, n = 50 (95%)"} < set(legend(ax))


def test_settings_are_checked(ax):
    with pytest.raises(ValueError, match="n_levels must be at least 1, but it is 0"):
        plots.reliability(LAW, Y, ax=ax, n_levels=0)
    with pytest.raises(ValueError, match="n_bins must be at least 2, but it is 1"):
        plots.pit_histogram(LAW, Y, ax=ax, n_bins=1)
