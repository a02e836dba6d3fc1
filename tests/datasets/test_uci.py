import os

import numpy as np
import pytest

from dgme.datasets import DATASETS, uci


@pytest.fixture
def own(tmp_path, monkeypatch):
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


def test_splits_hold_the_rows_they_name(own):
    splits = uci.load_splits("boston")
    assert len(splits) == 20
    for number, split in enumerate(splits):
        rows = np.random.default_rng(number).permutation(10)
        np.testing.assert_array_equal(split.y_train, 4.0 * rows[:8])
        np.testing.assert_array_equal(split.X_train, 4.0 * rows[:8, None] + [1, 3])
        np.testing.assert_array_equal(split.X_test, 4.0 * rows[8:, None] + [1, 3])
        np.testing.assert_array_equal(split.y_test, 4.0 * rows[8:])


def test_what_is_missing_is_named(own, tmp_path):
    with pytest.raises(ValueError, match="name must be one of boston, concrete"):
        uci.load_splits("chicago")
    (tmp_path / "UCI_Datasets/bostonHousing/data/index_test_7.txt").unlink()
    with pytest.raises(
        FileNotFoundError, match=r"data/index_test_7.txt was not found in DGME_DATA"
    ):
        uci.load_splits("boston")


def test_a_table_is_downloaded(own, tmp_path, home, cache, monkeypatch):
    """From a home that sends the table of the fixture."""
    sources = []
    for source in DATASETS["boston"]:
        content = (tmp_path / source.path).read_bytes()
        home.give(source.path, content)
        sources.append(home.source(source.path, content))
    monkeypatch.setattr(uci, "DATASETS", {"boston": tuple(sources)})
    splits = uci.load_splits("boston")
    assert len(home.asked) == 43
    assert uci.load_splits("boston")[3].y_test.tolist() == splits[3].y_test.tolist()
    assert len(home.asked) == 43


@pytest.mark.skipif(not os.environ.get("DGME_DATA"), reason="needs data files in DGME_DATA")
@pytest.mark.parametrize(
    ("name", "rows", "columns"), [("boston", 506, 13), ("power-plant", 9568, 4), ("yacht", 308, 6)]
)
def test_the_real_tables(name, rows, columns):
    splits = uci.load_splits(name)
    assert len(splits) == 20
    for split in splits:
        assert len(split.y_train) + len(split.y_test) == rows
        assert split.X_train.shape[1] == columns
