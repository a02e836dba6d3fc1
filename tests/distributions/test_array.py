"""A law as an array: shapes, indices, blocks, immutability, validation."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from dgme.distributions import GaussianMixture, _arrays

laws = settings.get_profile("laws")

AT_OUTCOME = (
    "pdf",
    "logpdf",
    "cdf",
    "sf",
    "logcdf",
    "logsf",
    "crps",
    "pit",
    "normal_score",
    "hdr_score",
)
SUMMARY = (
    *("mean", "var", "std", "median", "entropy", "skewness", "kurtosis", "aleatoric_variance"),
    *("epistemic_variance", "between_component_variance"),
)
TABLE = ("modes", "hdr")


def everything(law, y=0.3, q=0.2):
    """All verbs of a law: {name: array whose last axes are those of the law}."""
    results = {verb: getattr(law, verb)(y) for verb in AT_OUTCOME}
    results |= {verb: getattr(law, verb)() for verb in (*SUMMARY, *TABLE)}
    results |= {"at_normal_score": law.at_normal_score(-q), "hdr_score": law.hdr_score(y)}
    results |= {"ppf": law.ppf(q), "interval": np.array(law.interval(0.8)).T}
    return results


def assert_same(ours, expected):
    """Equal but for the order of sums over components, and what root finding makes of it."""
    for verb, value in ours.items():
        assert_allclose(value, expected[verb], rtol=1e-9, atol=1e-13, err_msg=verb)


@pytest.mark.parametrize(
    "index",
    [slice(5, 20), slice(None, None, -9), np.arange(40) % 9 == 0, np.array([7, 7, -1]), [3], -2],
    ids=["slice", "step", "mask", "indices", "list", "number"],
)
def test_part_of_an_array_equals_part_of_its_results(batch, index):
    part = batch[index]
    expected = everything(batch)
    for verb, value in everything(part).items():
        whole = np.asarray(expected[verb])[index]
        if verb in TABLE:
            axis = len(part.shape)
            assert np.isnan(np.take(whole, range(value.shape[axis], whole.shape[axis]), axis)).all()
            whole = np.take(whole, range(value.shape[axis]), axis)
        assert_allclose(value, whole, rtol=1e-9, atol=1e-13, err_msg=verb)
    assert_array_equal(part.means, batch.means[index])
    assert_array_equal(part.groups, batch.groups)


def test_shared_weights_equal_repeated_ones(batch):
    shared = GaussianMixture(batch.weights[0], batch.means, batch.scales, batch.groups)
    repeated = GaussianMixture(
        np.tile(batch.weights[0], (40, 1)), batch.means, batch.scales, batch.groups
    )
    assert_same(everything(shared), everything(repeated))
    assert_same(everything(shared[3:5]), everything(repeated[3:5]))
    assert_same(everything(shared[3]), everything(repeated[3]))
    assert_array_equal(shared.weights, repeated.weights)
    assert_array_equal(shared.rvs(5, random_state=0), repeated.rvs(5, random_state=0))


@pytest.mark.parametrize("entries", [1, 100, 10**7])
def test_results_do_not_depend_on_blocks(batch, entries, monkeypatch):
    batch, y = batch[:3], np.linspace(-2, 2, 3)[:, None]
    expected, draws = everything(batch, y=y, q=0.9), batch.rvs(3, random_state=0)
    monkeypatch.setattr(_arrays, "BLOCK_ENTRIES", entries)
    assert_same(everything(batch, y=y, q=0.9), expected)
    assert_array_equal(batch.rvs(3, random_state=0), draws)


@settings(laws, max_examples=8)
@given(st.from_type(GaussianMixture))
def test_an_empty_component_changes_nothing(law):
    def widened(array, value):
        return np.column_stack([np.full(len(law), value), array])

    wider = GaussianMixture(
        widened(law.weights, 0.0),
        widened(law.means, 1e5),
        widened(law.scales, 1e-5),
        groups=[3, *law.groups],
    )
    assert_same(everything(wider), everything(law))


@pytest.mark.parametrize("shape", [(), (8,), (1,), (5, 1), (5, 8), (2, 5, 1), (8, 1)])
def test_arguments_broadcast_with_the_laws(batch, shape):
    batch = batch[:8]
    y = np.random.default_rng(0).uniform(0.1, 0.9, shape)
    expected = np.broadcast_shapes(shape, (8,))
    full = np.broadcast_to(y, expected)
    for verb in (*AT_OUTCOME, "ppf"):
        result = getattr(batch, verb)(y)
        assert result.shape == expected
        columns = [getattr(row, verb)(full[..., i]) for i, row in enumerate(batch)]
        assert_allclose(result, np.stack(columns, axis=-1), rtol=1e-9, err_msg=verb)
        assert getattr(batch[0], verb)(y).shape == shape
        assert getattr(batch[:1], verb)(y).shape == np.broadcast_shapes(shape, (1,))


def test_shapes_of_an_array_and_of_a_single_law(batch):
    assert (len(batch), batch.shape, batch.n_components) == (40, (40,), 9)
    assert batch.weights.shape == batch.means.shape == batch.scales.shape == (40, 9)
    single = batch[0]
    assert single.shape == ()
    assert single.weights.shape == single.means.shape == (9,)
    for verb in SUMMARY:
        assert isinstance(getattr(single, verb)(), np.float64)
        assert getattr(batch, verb)().shape == (40,)
    assert isinstance(single.logpdf(1), np.float64)
    with pytest.raises(TypeError, match="single law"):
        len(single)
    with pytest.raises(TypeError, match="single law"):
        single[0]


def test_no_laws_at_all():
    law = GaussianMixture(np.ones((0, 2)) / 2, np.zeros((0, 2)), np.ones((0, 2)))
    assert len(law) == 0
    for verb, value in everything(law).items():
        assert len(value) == 0, verb
    assert law.modes().shape == (0, 0)
    assert law.hdr().shape == (0, 0, 2)
    assert law.rvs(3).shape == (3, 0)
    assert law.to_gaussian().shape == law[[]].shape == (0,)


def test_one_component_is_the_normal_law():
    mean, scale = np.array([-3.0, 0.0, 1e4]), np.array([0.1, 1.0, 50.0])
    law, norm = GaussianMixture([1.0], mean[:, None], scale[:, None]), stats.norm(mean, scale)
    z = np.linspace(-30, 30, 13)[:, None]
    q = np.array([1e-300, 1e-30, 0.01, 0.5, 0.99, 1 - 1e-12])[:, None]
    # scipy and we round differently; a density multiplies the rounding of its logarithm, 450
    for verb in ("pdf", "logpdf", "cdf", "sf", "logcdf", "logsf"):
        assert_allclose(
            getattr(law, verb)(mean + z * scale),
            getattr(norm, verb)(mean + z * scale),
            rtol=1e-12,
            err_msg=verb,
        )
    assert_allclose(law.ppf(q), norm.ppf(q), rtol=1e-13)
    for verb in ("mean", "var", "std", "median", "entropy"):
        assert_allclose(getattr(law, verb)(), getattr(norm, verb)(), rtol=1e-13, atol=1e-12)
    assert_allclose(law.interval(0.8), norm.interval(0.8), rtol=1e-13)
    assert_allclose(law.skewness(), 0.0, atol=1e-15)
    assert_allclose(law.kurtosis(), 0.0, atol=1e-14)
    assert_allclose(law.modes()[:, 0], mean, rtol=1e-15)
    assert_allclose(law.hdr(0.8)[:, 0], np.transpose(norm.interval(0.8)), rtol=1e-9)
    assert_allclose(law.crps(mean), scale * (np.sqrt(2) - 1) / np.sqrt(np.pi), rtol=1e-13)
    assert_allclose(law.aleatoric_variance(), scale**2)
    assert_array_equal(law.epistemic_variance(), np.zeros(3))
    assert_array_equal(law.between_component_variance(), np.zeros(3))


def test_arrays_cannot_be_changed_from_outside(batch):
    means = np.zeros((3, 2))
    law = GaussianMixture([0.5, 0.5], means, np.ones((3, 2)))
    means[:] = 7.0
    assert_array_equal(law.mean(), np.zeros(3))
    column = np.zeros((2, 3)).T
    law = GaussianMixture([0.5, 0.5], column, np.ones((3, 2)))
    column[:] = 7.0
    assert_array_equal(law.mean(), np.zeros(3))
    for part in (law, law[0], law[1:], batch, pickle.loads(pickle.dumps(batch))):
        for array in (part.weights, part.means, part.scales, part.groups):
            with pytest.raises(ValueError, match="read-only"):
                array[...] = 0
        with pytest.raises(AttributeError):
            part.means = np.ones(2)
        with pytest.raises(AttributeError):
            part.colour = "red"


@pytest.mark.parametrize("duplicate", [lambda x: pickle.loads(pickle.dumps(x)), copy.deepcopy])
def test_copies_equal_the_original(batch, duplicate):
    for law in (batch, batch[2], batch[3:7], batch[::5]):
        other = duplicate(law)
        assert (other.shape, repr(other)) == (law.shape, repr(law))
        for name in ("weights", "means", "scales", "groups"):
            assert_array_equal(getattr(other, name), getattr(law, name))


def test_representation(batch):
    assert repr(batch) == "GaussianMixture(shape=(40,), n_components=9, n_groups=3)"
    assert repr(GaussianMixture([1.0], [0.0], [1.0])) == "GaussianMixture(shape=(), n_components=1)"


def test_weights_are_normalised_to_rounding():
    law = GaussianMixture(np.float32([0.1, 0.2, 0.7]), [0, 1, 2], [1, 1, 1])
    assert law.weights.dtype == law.means.dtype == np.float64
    assert abs(law.weights.sum() - 1) < 1e-15


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0.5, 0.5], [[0, np.nan]], [[1, 1]]), r"means .* finite.*means\[0, 1\] is nan.*drop"),
        (([0.5, 0.5], [[0, 1]], [[1, np.inf]]), r"scales .* finite.*scales\[0, 1\] is inf"),
        (([np.nan, 0.5], [[0, 1]], [[1, 1]]), r"weights .* finite.*weights\[0\] is nan"),
        (([-0.5, 1.5], [[0, 1]], [[1, 1]]), r"weights .* negative.*weights\[0\] is -0.5.*softmax"),
        (([0.5, 0.4], [[0, 1]], [[1, 1]]), r"weights .* sum to 0.9.*divide"),
        (([[0.5, 0.5], [1, 1]], [[0, 1]] * 2, [[1, 1]] * 2), r"weights .* sum to 2.* in row 1"),
        (([0.5, 0.5], [[0, 1]], [[1, 0]]), r"scales .* positive.*scales\[0, 1\] is 0.*softplus"),
        (([0.5, 0.5], [[0, 1]], [1, 1]), r"scales .* shape of means, \(1, 2\).* \(2,\)"),
        (([1.0], [[0, 1]], [[1, 1]]), r"weights .* shape.*\(1,\).*one weight per component"),
        (([[0.5, 0.5]], [0, 1], [1, 1]), r"weights .* means of shape \(2,\), .*\(1, 2\); give one"),
        (([], [[]], [[]]), r"means .* at least one component.*\(1, 0\)"),
        ((1.0, 0.0, 1.0), r"means .* shape \(\).*means\[:, None\]"),
        (([0.5, 0.5], [[0, 1]], [[1, 1]], [0]), r"groups must be 2 integers.*\(1,\)"),
        (([0.5, 0.5], [[0, 1]], [[1, 1]], [0.0, 1.5]), r"groups must be 2 integers.*float64"),
    ],
)
def test_errors_name_argument_value_and_remedy(arguments, message):
    with pytest.raises(ValueError, match=message):
        GaussianMixture(*arguments)


@pytest.mark.parametrize("index", [(0, 1), None, np.zeros((2, 2), int), 40, 1.5])
def test_laws_have_one_axis(batch, index):
    with pytest.raises(IndexError):
        batch[index]
