import gzip
import os
import struct
from functools import partial

import numpy as np
import pytest

from dgme.datasets import mnist
from dgme.datasets._idx import read_idx

SHAPE = (2, 3, 4)
ARRAY = np.arange(24, dtype=np.uint8).reshape(SHAPE)


def idx(array, shape=None, kind=8):
    shape = array.shape if shape is None else shape
    return (
        bytes((0, 0, kind, len(shape))) + struct.pack(f">{len(shape)}I", *shape) + array.tobytes()
    )


@pytest.fixture
def path(tmp_path):
    return tmp_path / "a.gz"


def test_an_array_is_read(path):
    path.write_bytes(gzip.compress(idx(ARRAY)))
    np.testing.assert_array_equal(read_idx(path, 3), ARRAY)


def test_an_empty_array_is_read(path):
    path.write_bytes(gzip.compress(idx(np.empty(0, np.uint8))))
    assert read_idx(path, 1).shape == (0,)


def test_known_bytes(path):
    """The start of MNIST's test labels, by the description of the format."""
    path.write_bytes(gzip.compress(bytes.fromhex("00000801 00000005 07 02 01 00 04")))
    np.testing.assert_array_equal(read_idx(path, 1), [7, 2, 1, 0, 4])


REFUSED = {
    "nothing": (b"", "is no IDX file .* it starts with nothing"),
    "plain bytes": (idx(ARRAY), "is truncated or damaged"),
    "packed nothing": (gzip.compress(b""), "is no IDX file .* it starts with nothing"),
    "a pickle": (gzip.compress(b"\x80\x04K\x01."), "is no IDX file .* starts with 80 04 4b 01"),
    "other axes": (gzip.compress(idx(ARRAY.reshape(6, 4))), "3 axes: it starts with 00 00 08 02"),
    "other numbers": (gzip.compress(idx(ARRAY, kind=13)), "it starts with 00 00 0d 03"),
    "half a shape": (gzip.compress(idx(ARRAY)[:9]), "is truncated or damaged. Delete it"),
    "too few": (gzip.compress(idx(ARRAY)[:-1]), r"24 bytes, of shape \(2, 3, 4\), but holds 23"),
    "too many": (gzip.compress(idx(ARRAY) + b"x"), "should hold 24 bytes, .* but holds more"),
    "a huge shape": (gzip.compress(idx(ARRAY, (2**32 - 1,) * 3)), "should hold .* but holds 24"),
    "truncated": (gzip.compress(idx(ARRAY))[:-10], "is truncated or damaged"),
    "a wrong checksum": (gzip.compress(idx(ARRAY))[:-8] + bytes(8), "is truncated or damaged"),
    "damaged": (gzip.compress(idx(ARRAY))[:10] + b"\xff" * 40, "is truncated or damaged"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_other_files_are_refused(path, case):
    content, words = REFUSED[case]
    path.write_bytes(content)
    with pytest.raises(ValueError, match=words):
        read_idx(path, 3)


@pytest.fixture
def own(tmp_path, monkeypatch):
    monkeypatch.setenv("DGME_DATA", str(tmp_path))
    pixels = np.zeros((3, 28, 28), np.uint8)
    pixels[1, 0, 1], pixels[2, 27, 27] = 255, 51
    for name, part in (("mnist", "train"), ("mnist", "t10k"), ("fashion", "t10k")):
        (tmp_path / name).mkdir(exist_ok=True)
        prefix = f"{tmp_path}/{name}/{part}"
        for kind, array in (
            ("images-idx3", pixels),
            ("labels-idx1", np.array([7, 2, 9], np.uint8)),
        ):
            with open(f"{prefix}-{kind}-ubyte.gz", "wb") as file:
                file.write(gzip.compress(idx(array)))
    return tmp_path


@pytest.mark.parametrize(
    "load",
    [mnist.load, partial(mnist.load, train=False), mnist.load_fashion],
    ids=["train", "test", "fashion"],
)
def test_pixels_lie_between_zero_and_one(own, load):
    X, y = load()
    expected = np.zeros((3, 784), np.float32)
    expected[1, 1], expected[2, 783] = 1, 0.2
    np.testing.assert_array_equal(X, expected)
    assert X.dtype == np.float32
    np.testing.assert_array_equal(y, [7, 2, 9])
    assert np.issubdtype(y.dtype, np.integer)


def test_images_without_classes_are_refused(own):
    (own / "mnist" / "t10k-labels-idx1-ubyte.gz").write_bytes(
        gzip.compress(idx(np.array([7, 2], np.uint8)))
    )
    with pytest.raises(ValueError, match=r"a class for every image .* \(3, 28, 28\) .* \(2,\)"):
        mnist.load(train=False)


def test_only_the_half_that_is_asked_for_is_needed(own):
    for path in (own / "mnist").glob("train*"):
        path.unlink()
    assert len(mnist.load(train=False).y) == 3


@pytest.mark.skipif(not os.environ.get("DGME_DATA"), reason="needs data files in DGME_DATA")
def test_the_real_digits():
    """Numbers that the first readers of MNIST published."""
    X, y = mnist.load()
    assert X.shape == (60_000, 784)
    assert X.mean() == pytest.approx(0.1307, abs=5e-5)
    assert X.std() == pytest.approx(0.3081, abs=5e-5)
    np.testing.assert_array_equal(y[:5], [5, 0, 4, 1, 9])
    assert mnist.load(train=False).X.shape == (10_000, 784)
    np.testing.assert_array_equal(np.bincount(mnist.load_fashion().y), np.full(10, 1000))
