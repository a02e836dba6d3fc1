"""What each method can see and what it cannot, on the toy problems of the paper.

Every law is checked for each of the `SEEDS`, of data and of training. Bounds are set well beyond
what was seen over 20 seeds, which stands beside them.
"""

import numpy as np
import pytest

from dgme import DeepEnsembleRegressor, DGMERegressor, MCDropoutRegressor, MDNRegressor
from dgme.datasets import toy
from dgme.nn import MLP

SEEDS = range(4)
INSIDE = np.linspace(-4, 4, 41)[:, None]
OUTSIDE = np.concatenate([np.linspace(-5, -4, 11), np.linspace(4, 5, 11)])[:, None]
# As in the paper: five networks of 50 hidden units, and no rows held out.
EM = {"n_components": 5, "validation_fraction": None}
ALONE = {"epochs": 200, "validation_fraction": None}
# The only feature is kept: a law would show the passes without it as a mode of their own.
HIDDEN_UNITS = MLP((50,), dropout=0.1)


def laws(case, method, settings, X):
    """The laws of X by models of `SEEDS`."""
    for seed in SEEDS:
        data = toy.load(case, random_state=seed)
        yield method(**settings, random_state=seed).fit(data.X, data.y).predict_dist(X)


# Where the branches are 86 apart, in units in which the noise is 3.
FORK, BRANCHES = [[-3.5], [3.5]], np.array([-(3.5**3), 3.5**3])


def distance_to_branches(law):
    """From either branch to the nearest mode, for both rows."""
    return np.nanmin(np.abs(law.modes()[:, :, None] - BRANCHES), axis=1)


@pytest.mark.parametrize(
    ("method", "settings"),
    [
        (MDNRegressor, ALONE | {"n_components": 5}),
        # From one start, EM may end with components that change branches where these cross.
        (DGMERegressor, EM | {"n_rounds": 20, "epochs_per_round": 10, "n_init": 4}),
    ],
)
def test_mixtures_see_two_branches(method, settings):
    for law in laws("bimodal", method, settings, FORK):
        # Seen: modes up to 5.4 away from the truth, and at 0 at most 0.02 of their density.
        assert (distance_to_branches(law) < 10).all()
        assert (law.pdf(0) < 0.1 * law.pdf(BRANCHES[:, None])).all()
        regions = law.hdr(0.8)
        assert regions.shape == (2, 2, 2)
        assert np.isfinite(regions).all()


@pytest.mark.parametrize("method", [DeepEnsembleRegressor, MCDropoutRegressor])
def test_averages_of_single_gaussians_see_one_broad_branch(method):
    for law in laws("bimodal", method, ALONE, FORK):
        # Seen: modes at least 16 away from both branches, and at 0 at least 1.8 times the density
        # of the rarer.
        assert (distance_to_branches(law) > 10).all()
        assert (law.pdf(0) > law.pdf(BRANCHES[:, None]).min(axis=0)).all()
        assert law.hdr(0.8).shape[1] == 1


@pytest.mark.parametrize(
    ("method", "settings"),
    [(DeepEnsembleRegressor, ALONE), (MCDropoutRegressor, ALONE | {"network": HIDDEN_UNITS})],
)
def test_averages_of_single_gaussians_have_light_tails(method, settings):
    for law in laws("heavy_tailed", method, settings, INSIDE):
        # Seen: means over inputs between -0.02 and 0.12, medians up to 0.04.
        assert abs(law.kurtosis().mean()) < 0.4
        assert abs(np.median(law.kurtosis())) < 0.2


def test_components_of_different_widths_give_heavy_tails():
    settings = EM | {"n_rounds": 5, "epochs_per_round": 80}
    for law in laws("heavy_tailed", DGMERegressor, settings, INSIDE):
        # Seen: means over inputs between 1.6 and 10.1, medians between 1.4 and 10.3. The kurtosis
        # of the truth is infinite.
        assert law.kurtosis().mean() > 1
        assert np.median(law.kurtosis()) > 1


SHORT = EM | {"n_rounds": 5, "epochs_per_round": 40}


def std_outside(**changes):
    found = laws("gaussian", DGMERegressor, SHORT | changes, OUTSIDE)
    return np.array([law.std().mean() for law in found])


@pytest.fixture(scope="module")
def plain_std():
    return std_outside()


@pytest.mark.parametrize(
    ("changes", "factor"),
    [
        # Seen: between 2.0 and 3.2 times as wide.
        ({"dropout": 0.1}, 1.5),
        # Seen: between 1.3 and 1.8; with half of this step, between 1.01 and 1.5.
        ({"adversarial_eps": 0.02}, 1.1),
    ],
    ids=["dropout", "adversarial training"],
)
def test_regularisation_widens_the_law_outside_the_training_range(changes, factor, plain_std):
    assert (std_outside(**changes) > factor * plain_std).all()


def test_swag_knows_that_it_knows_less_outside_the_training_range():
    X = np.concatenate([[[-5.0], [-4.0], [4.0], [5.0]], INSIDE, OUTSIDE])
    for law in laws("gaussian", DGMERegressor, SHORT | {"epistemic": "swag"}, X):
        epistemic = law.epistemic_variance()
        inside, outside = epistemic[4:45].mean(), epistemic[45:].mean()
        # Seen: 4.5 to 7.3 times as much as inside, where it is 0.7 to 1.4 per cent of the variance.
        assert outside > 2.5 * inside
        assert inside < 0.04 * law.var()[4:45].mean()
        # Seen: from 4 to 5 it rises by 39 per cent at least, on either side.
        assert (epistemic[[0, 3]] > 1.15 * epistemic[[1, 2]]).all()
