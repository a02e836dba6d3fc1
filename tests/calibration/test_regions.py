import numpy as np
import pytest
from numpy.testing import assert_array_equal

from dgme.calibration import Regions

NAN = np.nan
REGIONS = Regions(
    np.array([[[0.0, 1.0], [4.0, 6.0]], [[2.0, 3.0], [NAN, NAN]], [[-np.inf, 0.0], [NAN, NAN]]])
)


def test_ends_belong_to_a_region():
    y = np.array([[0.0, 2.0, 0.0], [1.0, 3.0, -1e300], [2.0, 3.5, 0.1], [6.0, NAN, NAN]])
    expected = [[True] * 3, [True] * 3, [False] * 3, [True, False, False]]
    assert_array_equal(REGIONS.contains(y), expected)
    assert_array_equal(REGIONS.contains(y[0]), expected[0])


def test_sizes_and_numbers():
    assert len(REGIONS) == 3
    assert_array_equal(REGIONS.n_intervals, [2, 1, 1])
    assert_array_equal(REGIONS.size(), [3.0, 1.0, np.inf])
    assert repr(REGIONS) == "Regions(n=3, n_intervals=2 at most)"


def test_parts():
    assert_array_equal(REGIONS[0], [[0, 1], [4, 6]])
    assert_array_equal(REGIONS[-2], [[2, 3]])
    for index in (slice(1, None), np.array([False, True, True]), [1, 2]):
        assert_array_equal(REGIONS[index].size(), [1.0, np.inf])
    assert [len(row) for row in REGIONS] == [2, 1, 1]
    with pytest.raises(IndexError, match="regions have one axis"):
        REGIONS[0, 0, 0]


def test_a_column_is_not_held_against_every_region():
    with pytest.raises(ValueError, match=r"y must have shape \(3,\), .* but has shape \(3, 1\)"):
        REGIONS.contains(np.zeros((3, 1)))
