import jax
import numpy as np
import pytest

from dgme.engine import _lanes, find_device


@pytest.mark.parametrize("n_lanes", [1, 2, 5, 16])
@pytest.mark.parametrize("cores", ["1", "2", "4"])
def test_groups_of_one_size_cover_all_lanes(monkeypatch, n_lanes, cores):
    monkeypatch.setattr(_lanes, "_available_cores", lambda: int(cores))
    groups = _lanes.groups(n_lanes)
    assert len({len(group.lanes) for group in groups}) == 1
    assert len(groups) <= int(cores)
    joined = _lanes.gather([group.lanes for group in groups], n_lanes)
    np.testing.assert_array_equal(joined, np.arange(n_lanes))


def test_joblib_limits_the_cores_of_its_workers(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert len(_lanes.groups(8)) == 1


def test_devices_are_found_by_name():
    assert find_device(None) is None
    assert find_device("cpu:0") == jax.local_devices(backend="cpu")[0]


@pytest.mark.parametrize("name", ["abacus", "cpu:99", "cpu:x"])
def test_an_unknown_device_is_named_with_those_that_are_there(name):
    with pytest.raises(ValueError, match=rf"device='{name}' was not found. Devices here: cpu"):
        find_device(name)
