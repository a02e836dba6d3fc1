"""Mixtures of categorical laws: an array of laws, its entropies, scores and draws."""

import copy
import pickle
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from dgme.distributions import CategoricalMixture, _arrays

laws = settings.get_profile("laws")

AT_CLASS = ("pmf", "logpmf", "brier")
ENTROPIES = ("entropy", "expected_entropy", "mutual_information", "component_entropy")
# Entropies are sums of a few dozen terms below one, so rounding leaves some 1e-15.
ROUNDING = 1e-13


def everything(law, y=1):
    """All verbs of a law: {name: array whose last axes are those of the law}."""
    results = {verb: getattr(law, verb)(y) for verb in AT_CLASS}
    results |= {verb: getattr(law, verb)() for verb in (*ENTROPIES, "mode")}
    return results | {"mean": np.moveaxis(law.mean(), -1, 0)}


def assert_same(ours, expected):
    for verb, value in ours.items():
        assert_allclose(value, expected[verb], rtol=1e-12, atol=ROUNDING, err_msg=verb)


def simplices(draw, shape):
    """Probabilities over nine decades, some of them zero and some ones of a single class."""
    logits = draw(arrays(float, shape, elements=st.floats(-20, 0)))
    empty = draw(arrays(bool, shape, elements=st.sampled_from([False, False, False, True])))
    empty[..., 0] = False
    table = np.where(empty, 0.0, np.exp(logits))
    return table / table.sum(axis=-1, keepdims=True)


@st.composite
def _laws(draw):
    n, n_components, n_classes = (draw(st.integers(1, most)) for most in (3, 5, 4))
    weights = simplices(draw, (n, n_components))
    probabilities = simplices(draw, (n, n_components, n_classes))
    groups = draw(arrays(int, n_components, elements=st.integers(0, 2)))
    # runtime type checks look at random items of a tuple; see conftest.py
    state = random.getstate()
    law = CategoricalMixture(weights, probabilities, groups)
    random.setstate(state)
    return law


any_law = _laws()


@pytest.fixture(scope="module")
def batch():
    """Forty laws of six components over four classes in three groups of uneven size."""
    rng = np.random.default_rng(8)
    return CategoricalMixture(
        rng.dirichlet(np.ones(6), 40),
        rng.dirichlet(np.full(4, 0.5), (40, 6)),
        groups=[0, 0, 0, 1, 2, 2],
    )


# what a law says


@laws
@given(any_law)
def test_verbs_against_loops_over_components_and_groups(law):
    for i, row in enumerate(law):
        mean, parts, expected = np.zeros(law.n_classes), 0.0, 0.0
        for w, p in zip(row.weights, row.probabilities, strict=True):
            mean += w * p
            parts += w * stats.entropy(p)
        for group in set(law.groups):
            members = law.groups == group
            if (weight := row.weights[members].sum()) > 0:
                inside = row.weights[members] @ row.probabilities[members] / weight
                expected += weight * stats.entropy(inside)
        close = {"rtol": 1e-12, "atol": ROUNDING}
        assert_allclose(law.mean()[i], mean, **close)
        assert_allclose(law.entropy()[i], stats.entropy(mean), **close)
        assert_allclose(law.expected_entropy()[i], expected, **close)
        assert_allclose(law.mutual_information()[i], stats.entropy(mean) - expected, **close)
        assert_allclose(law.component_entropy()[i], parts, **close)
        assert mean[law.mode()[i]] == pytest.approx(mean.max(), rel=1e-12)
        for c in range(law.n_classes):
            assert_allclose(law.pmf(c)[i], mean[c], **close)
            assert_allclose(law.brier(c)[i], np.sum((mean - np.eye(len(mean))[c]) ** 2), **close)


@laws
@given(any_law)
def test_entropies_are_ordered(law):
    """The finer the parts that are averaged over, the lower their entropy."""
    entropy, expected = law.entropy(), law.expected_entropy()
    assert (entropy <= np.log(law.n_classes) + ROUNDING).all()
    assert (expected <= entropy + ROUNDING).all()
    assert (law.component_entropy() <= expected + ROUNDING).all()
    assert (law.component_entropy() >= 0).all()
    information = law.mutual_information()
    assert (information >= 0).all()
    assert_allclose(information, np.maximum(entropy - expected, 0), rtol=0, atol=0)


@laws
@given(any_law)
def test_a_single_group_has_no_mutual_information(law):
    law = CategoricalMixture(law.weights, law.probabilities)
    assert_array_equal(law.mutual_information(), np.zeros(len(law)))
    assert_array_equal(law.expected_entropy(), law.entropy())


@laws
@given(any_law)
def test_every_component_its_own_group(law):
    law = CategoricalMixture(law.weights, law.probabilities, groups=range(law.n_components))
    assert_allclose(law.expected_entropy(), law.component_entropy(), rtol=1e-12, atol=ROUNDING)


@laws
@given(any_law)
def test_equal_components_agree(law):
    equal = np.broadcast_to(law.probabilities[:, :1], law.probabilities.shape)
    law = CategoricalMixture(law.weights, equal, groups=range(law.n_components))
    assert_allclose(law.mutual_information(), 0.0, atol=ROUNDING)
    assert_allclose(law.expected_entropy(), law.entropy(), rtol=1e-12, atol=ROUNDING)
    assert_allclose(law.mean(), equal[:, 0], rtol=1e-14)


def test_sure_groups_that_contradict_each_other():
    """All uncertainty is about which group is right, at odds of 1:1 and 1:4."""
    weights = [[0.1, 0.4, 0.5], [0.1, 0.1, 0.8]]
    law = CategoricalMixture(weights, np.tile(np.eye(2)[[0, 0, 1]], (2, 1, 1)), groups=[5, 5, -1])
    assert_allclose(law.mutual_information(), stats.entropy([[0.5, 0.2], [0.5, 0.8]]), rtol=1e-14)
    assert_array_equal(law.expected_entropy(), np.zeros(2))
    assert_array_equal(law.component_entropy(), np.zeros(2))
    assert_array_equal(law.mode(), [0, 1])


def test_mean_probabilities_are_probabilities():
    """One hundred weights of 0.01 add up to one only to rounding."""
    law = CategoricalMixture(np.full(100, 0.01), np.tile([1.0, 0.0], (100, 1)))
    assert_array_equal(law.mean(), [1.0, 0.0])
    assert law.logpmf(0) <= 0
    assert law.entropy() == 0


@laws
@given(any_law)
def test_an_empty_component_changes_nothing(law):
    n, _, n_classes = law.probabilities.shape
    uniform = np.full((n, 1, n_classes), 1 / n_classes)
    wider = CategoricalMixture(
        np.column_stack([np.zeros(n), law.weights]),
        np.concatenate([uniform, law.probabilities], axis=1),
        groups=[3, *law.groups],
    )
    assert_same(everything(wider), everything(law))
    averages = (one.average_entropy(5, random_state=0) for one in (law, wider))
    assert_allclose(*averages, rtol=1e-12, atol=ROUNDING)


@pytest.mark.parametrize(
    ("y", "probability"), [(-1, 0), (3, 0), (1.5, 0), (np.inf, 0), (-np.inf, 0), (np.nan, np.nan)]
)
def test_what_is_no_class_is_treated_as_in_scipy(y, probability):
    mean = np.array([0.2, 0.3, 0.5])
    law, reference = CategoricalMixture([1.0], [mean]), stats.rv_discrete(values=(range(3), mean))
    assert_array_equal(law.pmf(y), probability)
    assert_array_equal(law.pmf(y), reference.pmf(y))
    assert_array_equal(law.logpmf(y), reference.logpmf(y))
    assert_allclose(law.brier(y), np.nan if np.isnan(y) else 1 + mean @ mean)


def test_logarithms_do_not_underflow():
    law = CategoricalMixture([1.0, 1e-200], [[1.0, 0.0, 0.0], [0.5, 0.5, 1e-200]])
    assert law.pmf(2) == 0.0
    assert_allclose(law.logpmf([0, 1, 2]), [0.0, np.log(0.5e-200), -400 * np.log(10)], rtol=1e-15)
    assert CategoricalMixture([1.0], [[1.0, 0.0]]).logpmf(1) == -np.inf


def test_labels_of_any_integer_type(batch):
    y = batch.mode()
    for kind in (np.int8, np.uint64, np.float32, object):
        assert_array_equal(batch.logpmf(y.astype(kind)), batch.logpmf(y))


# draws


def test_draws_follow_the_probabilities():
    """Chi-square tests of three laws, 20,000 draws each; chance fails one of 300,000 seeds."""
    law = CategoricalMixture(
        [0.25, 0.75],
        [[[0.1, 0.2, 0.7], [0.5, 0.3, 0.2]], [[1.0, 0, 0], [0, 1, 0]], [[0.98, 0.01, 0.01]] * 2],
    )
    draws = law.rvs(20_000, random_state=0)
    assert (draws.shape, draws.dtype) == ((20_000, 3), np.intp)
    for column, mean in zip(draws.T, law.mean(), strict=True):
        observed, support = np.bincount(column, minlength=3), mean > 0
        assert observed[~support].sum() == 0
        assert stats.chisquare(observed[support], 20_000 * mean[support]).pvalue > 1e-6


def test_extreme_uniform_numbers_draw_no_empty_class():
    ends = np.array([0.0, np.nextafter(1.0, 0.0)])
    probabilities = np.array([0.0, 0.3, 0.7 - 1e-15, 0.0])[:, None]
    assert_array_equal(_arrays.choose(ends, probabilities), [1, 2])


def test_draws_are_independent_between_laws():
    """20,000 pairs of fair coins: the standard error of their correlation is 0.007."""
    draws = CategoricalMixture([1.0], np.full((2, 1, 2), 0.5)).rvs(20_000, random_state=1)
    assert abs(np.corrcoef(draws.T)[0, 1]) < 6 * 0.007


@pytest.mark.parametrize("size", [None, 3, (3,), (2, 3), np.int64(3)])
def test_shapes_of_draws(batch, size):
    leading = () if size is None else np.empty(size).shape
    assert batch.rvs(size, random_state=0).shape == (*leading, 40)
    assert batch[0].rvs(size, random_state=0).shape == leading
    assert_array_equal(
        batch.rvs(size, random_state=0), batch.rvs(size, random_state=np.random.default_rng(0))
    )


def test_legacy_generators(batch):
    once, again = (np.random.RandomState(3) for _ in range(2))
    assert_array_equal(batch.rvs(4, once), batch.rvs(4, again))
    assert_array_equal(batch.average_entropy(4, once), batch.average_entropy(4, again))


def test_average_entropy_of_many_draws_is_the_component_entropy(batch):
    """10,000 draws for each of 40 laws, within six standard errors."""
    entropies = stats.entropy(batch.probabilities, axis=-1)
    variance = (batch.weights * entropies**2).sum(axis=1) - batch.component_entropy() ** 2
    error = batch.average_entropy(10_000, random_state=0) - batch.component_entropy()
    assert (np.abs(error) < 6 * np.sqrt(variance / 10_000)).all()
    assert error.std() > 0


def test_average_entropy_spreads_like_a_mean_of_draws():
    """The mean of 5 independent draws in 20,000 laws.

    The variance of one draw is that of a component's entropy, 0 or log 2 at even odds. A variance
    estimated from 20,000 values has a standard error of one percent, and six are allowed.
    """
    n = 20_000
    law = CategoricalMixture(
        np.tile([0.2, 0.5, 0.0, 0.3], (n, 1)),
        np.tile([[1.0, 0.0], [0.5, 0.5], [0.7, 0.3], [0.0, 1.0]], (n, 1, 1)),
    )
    averages = law.average_entropy(5, random_state=0)
    fifths = averages / np.log(2) * 5
    assert_allclose(fifths, fifths.round(), atol=ROUNDING)  # the empty component is never drawn
    assert_allclose(averages.var(), np.log(2) ** 2 / 4 / 5, rtol=0.06)


def test_a_single_draw_is_the_entropy_of_one_component(batch):
    entropies = stats.entropy(batch.probabilities, axis=-1)
    drawn = batch.average_entropy(1, random_state=0)
    assert np.isclose(entropies, drawn[:, None], rtol=1e-12).any(axis=1).all()
    with pytest.raises(ValueError, match=r"n_samples must be at least 1, but it is 0"):
        batch.average_entropy(0)


# a law as an array


@pytest.mark.parametrize(
    "index",
    [slice(5, 20), slice(None, None, -9), np.arange(40) % 9 == 0, np.array([7, 7, -1]), [3], -2],
    ids=["slice", "step", "mask", "indices", "list", "number"],
)
def test_part_of_an_array_equals_part_of_its_results(batch, index):
    part, expected = batch[index], everything(batch)
    assert part.shape == np.empty(40)[index].shape
    assert_same(everything(part), {verb: value[..., index] for verb, value in expected.items()})
    assert_array_equal(part.weights, batch.weights[index])
    assert_array_equal(part.probabilities, batch.probabilities[index])
    assert_array_equal(part.groups, batch.groups)


def test_a_slice_shares_memory(batch):
    assert np.shares_memory(batch[3:7].probabilities, batch.probabilities)


def test_shared_weights_equal_repeated_ones(batch):
    shared = CategoricalMixture(batch.weights[0], batch.probabilities, batch.groups)
    repeated = CategoricalMixture(
        np.tile(batch.weights[0], (40, 1)), batch.probabilities, batch.groups
    )
    for index in (slice(None), slice(3, 5), [4, 4], 3):
        ours, expected = shared[index], repeated[index]
        assert_same(everything(ours), everything(expected))
        assert_array_equal(ours.weights, expected.weights)
        for verb in ("rvs", "average_entropy"):
            assert_allclose(
                getattr(ours, verb)(5, random_state=0),
                getattr(expected, verb)(5, random_state=0),
                rtol=1e-12,
            )


@pytest.mark.parametrize("entries", [1, 100, 10**7])
def test_results_do_not_depend_on_blocks(batch, entries, monkeypatch):
    def results():
        y = np.arange(4)[:, None]
        draws = {v: getattr(batch, v)(3, random_state=0) for v in ("rvs", "average_entropy")}
        return everything(batch, y=y) | draws

    expected = results()
    monkeypatch.setattr(_arrays, "BLOCK_ENTRIES", entries)
    assert_same(results(), expected)


@pytest.mark.parametrize("shape", [(), (40,), (1,), (5, 1), (5, 40), (2, 5, 1), (40, 1)])
def test_arguments_broadcast_with_the_laws(batch, shape):
    y = np.random.default_rng(0).integers(0, 4, shape)
    expected = np.broadcast_shapes(shape, (40,))
    full = np.broadcast_to(y, expected)
    for verb in AT_CLASS:
        result = getattr(batch, verb)(y)
        assert result.shape == expected
        columns = [getattr(row, verb)(full[..., i]) for i, row in enumerate(batch)]
        assert_allclose(result, np.stack(columns, axis=-1), rtol=1e-12, err_msg=verb)
        assert getattr(batch[0], verb)(y).shape == shape
        assert getattr(batch[:1], verb)(y).shape == np.broadcast_shapes(shape, (1,))


def test_probabilities_of_all_classes_are_the_mean(batch):
    assert_allclose(batch.pmf(np.arange(4)[:, None]).T, batch.mean(), rtol=1e-13)
    assert_allclose(batch[0].pmf(np.arange(4)), batch[0].mean(), rtol=1e-13)


def test_shapes_of_an_array_and_of_a_single_law(batch):
    assert (len(batch), batch.shape, batch.n_components, batch.n_classes) == (40, (40,), 6, 4)
    assert batch.weights.shape == (40, 6)
    assert batch.probabilities.shape == (40, 6, 4)
    assert batch.mean().shape == (40, 4)
    single = batch[0]
    assert (single.shape, single.n_components, single.n_classes) == ((), 6, 4)
    assert (single.weights.shape, single.probabilities.shape) == ((6,), (6, 4))
    assert single.mean().shape == (4,)
    for verb in (*ENTROPIES, "average_entropy"):
        assert isinstance(getattr(single, verb)(), np.float64), verb
        assert getattr(batch, verb)().shape == (40,), verb
    assert isinstance(single.logpmf(1), np.float64)
    assert isinstance(single.mode(), np.intp)
    assert isinstance(single.rvs(), np.intp)
    with pytest.raises(TypeError, match="single law"):
        len(single)
    with pytest.raises(TypeError, match="single law"):
        single[0]


@pytest.mark.parametrize("shape", [(0, 2, 3), (0, 1, 2), (0, 2, 1), (0, 1, 1)])
def test_no_laws_at_all(shape):
    law = CategoricalMixture(np.zeros(shape[:2]), np.zeros(shape))
    assert (len(law), law[:0].shape, law[[]].shape) == (0, (0,), (0,))
    for verb, value in everything(law).items():
        assert value.shape == ((shape[2], 0) if verb == "mean" else (0,)), verb
    assert law.rvs(3).shape == (3, 0)
    assert law.average_entropy().shape == (0,)


def test_a_single_class_is_certain():
    law = CategoricalMixture([0.3, 0.7], np.ones((2, 2, 1)), groups=[0, 1])
    for verb in (*ENTROPIES, "mode", "rvs", "average_entropy"):
        assert_array_equal(getattr(law, verb)(), np.zeros(2), err_msg=verb)
    assert_allclose(law.logpmf([0, 1]), [0, -np.inf], atol=ROUNDING)
    assert_array_equal(law.brier([0, 1]), [0, 2])


def test_arrays_cannot_be_changed_from_outside(batch):
    weights, probabilities = np.full((3, 2), 0.5), np.full((3, 2, 2), 0.5)
    law = CategoricalMixture(weights, probabilities)
    weights[:], probabilities[:] = 7.0, 7.0
    assert_array_equal(law.mean(), np.full((3, 2), 0.5))
    law.mean()[:] = 7.0  # results belong to the caller
    assert_array_equal(law.mean(), np.full((3, 2), 0.5))
    for part in (law, law[0], law[1:], batch, pickle.loads(pickle.dumps(batch))):
        for array in (part.weights, part.probabilities, part.groups):
            with pytest.raises(ValueError, match="read-only"):
                array[...] = 0
        with pytest.raises(AttributeError):
            part.weights = np.ones(2)
        with pytest.raises(AttributeError):
            part.colour = "red"


@pytest.mark.parametrize("duplicate", [lambda x: pickle.loads(pickle.dumps(x)), copy.deepcopy])
def test_copies_equal_the_original(batch, duplicate):
    for law in (batch, batch[2], batch[3:7], batch[::5]):
        other = duplicate(law)
        assert (other.shape, repr(other)) == (law.shape, repr(law))
        for name in ("weights", "probabilities", "groups"):
            assert_array_equal(getattr(other, name), getattr(law, name))


def test_representation(batch):
    assert repr(batch) == (
        "CategoricalMixture(shape=(40,), n_components=6, n_classes=4, n_groups=3)"
    )
    assert repr(CategoricalMixture([1.0], [[0.5, 0.5]])) == (
        "CategoricalMixture(shape=(), n_components=1, n_classes=2)"
    )


def test_rows_are_normalised_to_rounding():
    law = CategoricalMixture(np.float32([0.1, 0.2, 0.7]), np.float32([[0.1, 0.2, 0.7]] * 3))
    assert law.weights.dtype == law.probabilities.dtype == np.float64
    assert abs(law.weights.sum() - 1) < 1e-15
    assert_allclose(law.probabilities.sum(axis=1), 1, rtol=1e-15)


HALF = [0.5, 0.5]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([np.nan, 0.5], [[HALF, HALF]]), r"weights .* finite.*weights\[0\] is nan.*drop"),
        ((HALF, [[HALF, [1, np.inf]]]), r"probabilities .* finite.*\[0, 1, 1\] is inf.*drop"),
        (([-0.5, 1.5], [HALF, HALF]), r"weights .* negative.*weights\[0\] is -0.5.*softmax"),
        ((HALF, [HALF, [1.5, -0.5]]), r"probabilities .* negative.*\[1, 1\] is -0.5.*softmax"),
        (([0.5, 0.4], [HALF, HALF]), r"weights .* sum to one over the components.* 0.9.*divide"),
        (([HALF, [1, 1]], [[HALF, HALF]] * 2), r"weights .* sum to 2.0 in row 1"),
        (
            (HALF, [[HALF, [0.5, 0.25]]]),
            r"probabilities .* sum to one over the classes.* sum to 0.75 in row 0, 1; divide",
        ),
        (([1.0], HALF), r"probabilities .* shape \(2,\).*probabilities\[:, None\]"),
        (([1.0], [[[HALF]]]), r"probabilities must have shape \(n, K, C\).*\(1, 1, 1, 2\)"),
        (([], np.zeros((3, 0, 2))), r"probabilities .* at least one component.*\(3, 0, 2\)"),
        (([1.0], np.zeros((3, 1, 0))), r"at least one component and one class.*\(3, 1, 0\)"),
        (([1.0], [[HALF, HALF]]), r"weights .* shape.*\(1, 2\) or \(2,\) .*\(1,\); give one"),
        (([HALF], [HALF, HALF]), r"weights .* probabilities of shape \(2, 2\), .*\(1, 2\); give"),
        ((HALF, [HALF, HALF], [0]), r"groups must be 2 integers.*\(1,\)"),
        ((HALF, [HALF, HALF], [0.0, 1.5]), r"groups must be 2 integers.*float64"),
    ],
)
def test_errors_name_argument_value_and_remedy(arguments, message):
    with pytest.raises(ValueError, match=message):
        CategoricalMixture(*arguments)


@pytest.mark.parametrize("index", [(0, 1), None, np.zeros((2, 2), int), 40, 1.5])
def test_laws_have_one_axis(batch, index):
    with pytest.raises(IndexError):
        batch[index]


def test_responsibilities_are_bayes_rule(batch):
    y = np.arange(len(batch)) % batch.n_classes
    joint = batch.weights * batch.probabilities[np.arange(len(batch)), :, y]
    assert_allclose(batch.responsibilities(y), joint / joint.sum(axis=1, keepdims=True), rtol=1e-13)
    assert np.isnan(batch.responsibilities(-1)).all()
    impossible = CategoricalMixture([0.3, 0.7], [[0.5, 0.5, 0.0], [0.9, 0.1, 0.0]])
    assert_allclose(impossible.responsibilities(2), [0.3, 0.7])
