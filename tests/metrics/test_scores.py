import numpy as np
import pytest
from scipy import stats

from dgme import metrics
from dgme.distributions import CategoricalMixture, GaussianMixture, VectorGaussianMixture

RNG = np.random.default_rng(0)
WEIGHTS = RNG.dirichlet(np.ones(3), 50)
LAW = GaussianMixture(WEIGHTS, RNG.normal(size=(50, 3)), np.full((50, 3), 0.4))
Y = LAW.rvs(random_state=1)
VECTORS = VectorGaussianMixture(WEIGHTS, RNG.normal(size=(50, 3, 2)), np.full((50, 3, 2), 0.4))
CLASSES = CategoricalMixture(WEIGHTS, RNG.dirichlet(np.ones(4), (50, 3)))
LABELS = CLASSES.rvs(random_state=2)

OF_NUMBERS = [metrics.rmse, metrics.nll, metrics.gaussian_nll, metrics.crps, metrics.coverage]
OF_CLASSES = [metrics.nll, metrics.brier, metrics.calibration_error]


def sure(probabilities):
    """One law for every row, of one component."""
    return CategoricalMixture([1.0], np.asarray(probabilities)[:, None])


def test_scores_against_their_definitions():
    mean, std = LAW.mean(), LAW.std()
    assert metrics.rmse(LAW, Y) == pytest.approx(np.sqrt(np.mean((mean - Y) ** 2)))
    density = (LAW.weights * stats.norm.pdf(Y[:, None], LAW.means, LAW.scales)).sum(axis=1)
    assert metrics.nll(LAW, Y) == pytest.approx(-np.log(density).mean())
    assert metrics.gaussian_nll(LAW, Y) == pytest.approx(-stats.norm.logpdf(Y, mean, std).mean())
    assert metrics.crps(LAW, Y) == pytest.approx(LAW.crps(Y).mean())


def test_coverage_of_true_laws_is_nominal():
    """20,000 rows: the standard error is 0.002, and four of them are allowed."""
    law = GaussianMixture([0.3, 0.7], np.zeros((20_000, 2)), np.full((20_000, 2), [1.0, 3.0]))
    y = law.rvs(random_state=0)
    assert metrics.coverage(law, y, 0.9) == pytest.approx(0.9, abs=0.0085)
    assert metrics.coverage(law, y, 0.5) == pytest.approx(0.5, abs=0.0142)


def test_scores_of_vectors():
    """The joint density; everything else is the mean over targets."""
    y = VECTORS.rvs(random_state=1)
    z = stats.norm.pdf(y[:, None], VECTORS.means, VECTORS.scales)
    assert metrics.nll(VECTORS, y) == pytest.approx(
        -np.log((WEIGHTS * z.prod(axis=2)).sum(axis=1)).mean()
    )
    gaussian = stats.norm.logpdf(y, VECTORS.mean(), VECTORS.std()).sum(axis=1)
    assert metrics.gaussian_nll(VECTORS, y) == pytest.approx(-gaussian.mean())
    columns = [(VECTORS.marginal(j), y[:, j]) for j in range(2)]
    for score in (metrics.crps, metrics.coverage):
        assert score(VECTORS, y) == pytest.approx(np.mean([score(*column) for column in columns]))
    squares = [metrics.rmse(*column) ** 2 for column in columns]
    assert metrics.rmse(VECTORS, y) == pytest.approx(np.sqrt(np.mean(squares)))


def test_scores_of_classes_against_their_definitions():
    p = np.einsum("nk,nkc->nc", CLASSES.weights, CLASSES.probabilities)
    assert metrics.nll(CLASSES, LABELS) == pytest.approx(-np.log(p[np.arange(50), LABELS]).mean())
    squares = ((p - np.eye(4)[LABELS]) ** 2).sum(axis=1)
    assert metrics.brier(CLASSES, LABELS) == pytest.approx(squares.mean())
    confidence, hit = p.max(axis=1), p.argmax(axis=1) == LABELS
    for n_bins in (1, 2, 15, 1000):
        error = 0.0
        for b in range(n_bins):
            inside = (b / n_bins < confidence) & (confidence <= (b + 1) / n_bins)
            if inside.any():
                gap = hit[inside].mean() - confidence[inside].mean()
                error += inside.mean() * abs(gap)
        assert metrics.calibration_error(CLASSES, LABELS, n_bins) == pytest.approx(error)
    assert metrics.calibration_error(CLASSES, LABELS) == metrics.calibration_error(
        CLASSES, LABELS, n_bins=15
    )


def test_calibration_errors_by_hand():
    two_bins = sure([[0.75, 0.25], [0.25, 0.75], [1, 0], [0, 1]])
    assert metrics.calibration_error(two_bins, [0, 0, 0, 0]) == (0.25 + 0.5) / 2
    certain = sure(np.eye(3))
    assert metrics.calibration_error(certain, [0, 1, 2]) == 0
    assert metrics.calibration_error(certain, [1, 2, 0]) == 1
    # a tie is called for the first class
    assert metrics.calibration_error(sure(np.full((4, 2), 0.5)), [0, 1, 1, 0]) == 0


def test_a_bin_has_its_upper_end():
    """Of two bins the lower one has 0.5 and the upper one 0.75; in one bin errors would cancel."""
    law = sure([[0.5, 0.5], [0.75, 0.25]])
    assert metrics.calibration_error(law, [0, 1], n_bins=2) == (0.5 + 0.75) / 2
    assert metrics.calibration_error(law, [0, 1], n_bins=1) == (1.25 - 1) / 2


def test_calibration_error_of_many_rows():
    """100,000 rows.

    In a bin of m true rows the error sums m terms of variance at most 1/4. With fifteen bins the
    expected error is below sqrt(15 / 4 / 100,000) < 0.0062 by the inequality of Cauchy and
    Schwarz, and it spreads by at most 0.0016; four of these are added. A probability of 0.9 where
    the truth is 0.7 errs by 0.2, with a standard error of 0.0015. A Brier score spreads by less
    than one, so its mean has a standard error below 0.0032; that of the logarithms is measured.
    """
    n = 100_000
    rng = np.random.default_rng(3)
    law = CategoricalMixture([0.4, 0.6], rng.dirichlet(np.ones(3), (n, 2)))
    y = law.rvs(random_state=4)
    assert 0 < metrics.calibration_error(law, y) < 0.0062 + 4 * 0.0016
    hit = rng.random(n) < 0.7
    bold = sure(np.tile([0.9, 0.1], (n, 1)))
    assert metrics.calibration_error(bold, ~hit) == pytest.approx(0.2, abs=6 * 0.0015)
    # the scores of true laws are their expectations: entropy, and one minus the sum of squares
    expected = 1 - (law.mean() ** 2).sum(axis=1).mean()
    assert metrics.brier(law, y) == pytest.approx(expected, abs=4 * 0.0032)
    error = law.logpmf(y).std() / np.sqrt(n) + law.entropy().std() / np.sqrt(n)
    assert metrics.nll(law, y) == pytest.approx(law.entropy().mean(), abs=4 * error)


@pytest.mark.parametrize(
    ("score", "law"),
    [(score, LAW) for score in OF_NUMBERS] + [(score, CLASSES) for score in OF_CLASSES],
)
def test_a_column_is_not_scored_against_every_law(score, law):
    y = np.zeros(50)
    with pytest.raises(ValueError, match=r"y must have shape \(50,\), .* shape \(50, 1\).*ravel"):
        score(law, y[:, None])
    with pytest.raises(ValueError, match=r"but has shape \(49,\)"):
        score(law, y[1:])


@pytest.mark.parametrize("score", OF_NUMBERS)
def test_vectors_are_scored_against_vectors(score):
    for y in (np.zeros(50), np.zeros((50, 1)), np.zeros((49, 2)), np.zeros((1, 50, 2))):
        with pytest.raises(ValueError, match=r"y must have shape \(50, 2\), the 2 targets .*shape"):
            score(VECTORS, y)
    with pytest.raises(ValueError, match=r"has shape \(2, 50\)\. Pass y\.T"):
        score(VECTORS, np.zeros((2, 50)))


def test_errors_of_other_arguments():
    with pytest.raises(ValueError, match=r"n_bins must be at least 1, but it is 0"):
        metrics.calibration_error(CLASSES, LABELS, 0)
    for score in (metrics.brier, metrics.calibration_error):
        with pytest.raises(TypeError, match=f"{score.__name__} is a score of classes, .* use crps"):
            score(LAW, Y)
    with pytest.raises(ValueError, match=r"numpy\.searchsorted\(model\.classes_, y\)"):
        metrics.nll(CLASSES, ["cat"] * 50)
    with pytest.raises(TypeError, match="rmse is no score of classes"):
        metrics.rmse(CLASSES, LABELS)
