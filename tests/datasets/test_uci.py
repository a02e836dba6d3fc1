import numpy as np
import pytest

from dgme.datasets import uci


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A table of 10 rows and 4 columns, of which the first is the target, in the public layout."""
    folder = tmp_path / "UCI_Datasets" / "bostonHousing" / "data"
    folder.mkdir(parents=True)
    np.savetxt(folder / "data.txt", np.arange(40.0).reshape(10, 4))
    np.savetxt(folder / "index_features.txt", [1, 3])
    np.savetxt(folder / "index_target.txt", [0])
    for split in range(uci.N_SPLITS):
        rows = np.random.default_rng(split).permutation(10)
        np.savetxt(folder / f"index_train_{split}.txt", rows[:8])
        np.savetxt(folder / f"index_test_{split}.txt", rows[8:])
    monkeypatch.setenv("DGME_DATA", str(tmp_path))


def test_splits_hold_the_rows_they_name(home):
    splits = uci.load_splits("boston")
    assert len(splits) == 20
    for number, split in enumerate(splits):
        rows = np.random.default_rng(number).permutation(10)
        np.testing.assert_array_equal(split.y_train, 4.0 * rows[:8])
        np.testing.assert_array_equal(split.X_train, 4.0 * rows[:8, None] + [1, 3])
        np.testing.assert_array_equal(split.X_test, 4.0 * rows[8:, None] + [1, 3])
        np.testing.assert_array_equal(split.y_test, 4.0 * rows[8:])


def test_what_is_missing_is_named(home, monkeypatch):
    with pytest.raises(ValueError, match="name must be one of boston, concrete"):
        uci.load_splits("chicago")
    with pytest.raises(FileNotFoundError, match="UCI_Datasets/yacht/data was not found in DGME"):
        uci.load_splits("yacht")
    monkeypatch.delenv("DGME_DATA")
    with pytest.raises(FileNotFoundError, match="DGME_DATA is not set"):
        uci.load_splits("boston")
