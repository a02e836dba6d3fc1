import os
import sys
from pathlib import Path

import pytest

from dgme.datasets import DATASETS, DownloadError, _home, find, status
from dgme.datasets._sources import HOMES, to_yahoo_layout

FILES = {"set/a": b"aa", "set/b": b"bbb"}


@pytest.fixture
def sources(home, cache):
    for path, content in FILES.items():
        home.give(path, content)
    return tuple(home.source(path, content) for path, content in FILES.items())


@pytest.fixture
def own(tmp_path, monkeypatch):
    folder = tmp_path / "own"
    (folder / "set").mkdir(parents=True)
    monkeypatch.setenv("DGME_DATA", str(folder))
    return folder


def test_files_of_ones_own_are_taken_as_they_are(sources, own, home):
    for path in FILES:
        (own / path).write_bytes(b"mine")
    assert find(sources) == own
    assert home.asked == []


def test_what_is_missing_is_downloaded_once(sources, cache, home):
    assert find(sources) == cache
    assert {path: (cache / path).read_bytes() for path in FILES} == FILES
    (cache / "set" / "b").unlink()
    assert find(sources) == find(sources) == cache
    assert sorted(home.asked) == ["set/a", "set/b", "set/b"]


def test_a_dataset_that_ones_own_folder_has_nothing_of_is_downloaded(sources, own, cache):
    assert find(sources) == cache
    assert list(own.rglob("*")) == [own / "set"]


def test_files_of_two_origins_are_not_mixed(sources, own, home):
    (own / "set" / "a").write_bytes(b"mine")
    with pytest.raises(FileNotFoundError, match=r"set/b was not found in DGME_DATA=.*Add it, or"):
        find(sources)
    assert home.asked == []


def test_a_folder_of_ones_own_that_is_not_there_is_named(sources, monkeypatch, home):
    monkeypatch.setenv("DGME_DATA", "/nowhere")
    with pytest.raises(FileNotFoundError, match="DGME_DATA=/nowhere is no folder"):
        find(sources)
    assert home.asked == []


def test_a_file_that_does_not_come_is_named(sources, home):
    home.pages.clear()
    with pytest.raises(DownloadError, match="set/a could not be downloaded"):
        find(sources)


@pytest.mark.parametrize(
    ("platform", "variables", "folder"),
    [
        ("linux", {"XDG_CACHE_HOME": "/c"}, "/c/dgme"),
        ("linux", {}, "/home/me/.cache/dgme"),
        ("darwin", {"XDG_CACHE_HOME": "/c"}, "/home/me/Library/Caches/dgme"),
        ("win32", {"LOCALAPPDATA": "/local"}, "/local/dgme"),
        ("win32", {}, "/home/me/AppData/Local/dgme"),
    ],
)
@pytest.mark.skipif(os.name == "nt", reason="paths are those of POSIX")
def test_the_cache_is_where_the_system_wants_it(monkeypatch, platform, variables, folder):
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setenv("HOME", "/home/me")
    for name in ("XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert _home.cache_folder() == Path(folder)


def test_the_status_of_a_dataset(sources, cache, tmp_path, monkeypatch, home):
    monkeypatch.setattr(_home, "DATASETS", {"set": sources})
    nothing = status("set")
    assert (nothing.folder, nothing.place, nothing.original) == (None, None, None)
    assert nothing.missing == sources
    assert nothing.size == 5
    assert nothing.homes == (home.base + "set/",)
    assert home.asked == []

    find(sources[:1])
    half = status("set")
    assert (half.folder, half.place, half.original) == (cache, cache / "set", True)
    assert half.missing == sources[1:]

    own = tmp_path / "own"
    (own / "set").mkdir(parents=True)
    for path in FILES:
        (own / path).write_bytes(b"mine")
    monkeypatch.setenv("DGME_DATA", str(own))
    mine = status("set")
    assert (mine.folder, mine.missing, mine.original) == (own, (), False)


def test_every_file_has_a_home_and_a_checksum():
    assert len(DATASETS) == 12
    for sources in DATASETS.values():
        assert len({source.path.rpartition("/")[0] for source in sources}) == 1
        for source in sources:
            assert source.size > 0
            assert len(source.sha256) == 64
            assert source.urls
            for url in source.urls:
                assert url.endswith("/" + source.path.rpartition("/")[2])
    paths = [source.path for sources in DATASETS.values() for source in sources]
    assert len(set(paths)) == len(paths)
    assert {path.partition("/")[0] for path in paths} == set(HOMES)


@pytest.mark.skipif(not os.environ.get("DGME_DATA"), reason="needs data files in DGME_DATA")
@pytest.mark.parametrize("name", [name for name in DATASETS if name != "fashion"])
def test_checksums_are_those_of_the_data(name):
    """There is more than one sample of Fashion-MNIST in use, so that one may differ."""
    known = status(name)
    if known.folder is None:
        pytest.skip(f"{name} is not here")
    assert known.missing == ()
    assert known.original


def test_prices_are_cut_and_laid_out_anew():
    """Real lines of GME, and what Yahoo Finance writes for them."""
    content = (
        "symbol,date,open,high,low,close,volume,adjclose,dividends,splits\n"
        "GME,2018-05-31,3.369999885559082,3.3975000381469727,3.242500066757202,"
        "3.299999952316284,25956800,2.9535045623779297,0.0,0.0\n"
        "GME,2018-06-01,3.200000047683716,3.430000066757202,3.197499990463257,"
        "3.430000066757202,103296000,3.069854736328125,0.0,0.0\n"
        "GME,2023-03-31,22.350000381469727,23.06999969482422,22.149999618530273,"
        "23.020000457763672,3880300,23.020000457763672,0.0,0.0\n"
        "GME,2023-04-03,22.940000534057617,23.850000381469727,22.65999984741211,"
        "23.170000076293945,4274500,23.170000076293945,0.0,0.0\n"
    )
    assert to_yahoo_layout(content.encode()).decode() == (
        "Date,Open,High,Low,Close,Adj Close,Volume\n"
        "2018-06-01,3.200000,3.430000,3.197500,3.430000,3.069855,103296000\n"
        "2023-03-31,22.350000,23.070000,22.150000,23.020000,23.020000,3880300\n"
    )
    assert to_yahoo_layout(b"<html>").count(b"\n") == 1
    with pytest.raises(KeyError):
        to_yahoo_layout(b"a,b\n1,2\n")
