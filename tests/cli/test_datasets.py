import hashlib
import json
import sys
from urllib.error import URLError

import pytest

from dgme import cli


@pytest.fixture
def data(tmp_path, monkeypatch):
    """A cache and a folder of one's own, both empty, and homes that nobody can reach."""
    from dgme.datasets import _download

    def offline(*_, **__):
        raise URLError("no route to host")

    monkeypatch.setattr(_download, "urlopen", offline)
    monkeypatch.setattr(_download, "PAUSES", (0.0,))
    for name in ("XDG_CACHE_HOME", "LOCALAPPDATA", "HOME"):
        monkeypatch.setenv(name, str(tmp_path / "cache"))
    (tmp_path / "own").mkdir()
    monkeypatch.setenv("DGME_DATA", str(tmp_path / "own"))
    return tmp_path


def run(*arguments):
    with pytest.raises(SystemExit) as end:
        cli.app(arguments)
    return end.value.code


def test_datasets_are_listed(data, capsys):
    assert run("datasets") == 0
    shown = capsys.readouterr()
    assert shown.err == ""
    for name in ("boston", "GOOG", "fashion", "https://ossci-datasets.s3.amazonaws.com/mnist/"):
        assert name in shown.out
    assert shown.out.count("missing") == 12


def test_datasets_are_listed_for_programs(data, capsys):
    prices = data / "own" / "finance" / "GME.csv"
    prices.parent.mkdir()
    prices.write_text("Date,Close\n")
    assert run("datasets", "GME", "mnist", "--json") == 0
    mine, missing = json.loads(capsys.readouterr().out)
    assert mine["name"] == "GME"
    assert mine["path"] == str(prices)
    assert (mine["files"], mine["missing"], mine["original"]) == (1, 0, False)
    assert (missing["path"], missing["files"], missing["missing"]) == (None, 4, 4)
    assert missing["original"] is None
    assert missing["size"] == 11_594_722
    assert missing["homes"][0] == "https://ossci-datasets.s3.amazonaws.com/mnist/"


def test_a_download_that_fails_is_told(data, capsys):
    assert run("datasets", "GME", "fashion", "--download") == 1
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "finance/GME.csv could not be downloaded" in shown.err
    assert "no route to host" in shown.err
    assert "fashion/t10k" in shown.err


def test_what_is_missing_is_downloaded(data, capsys, monkeypatch):
    from dgme.datasets import _download, _home
    from dgme.datasets._sources import Source

    content = b"1 2 3"
    digest = hashlib.sha256(content).hexdigest()
    source = Source("set/a", ("http://home/set/a",), len(content), digest)
    for module in (_home, sys.modules["dgme.datasets"]):
        monkeypatch.setattr(module, "DATASETS", {"small": (source,)})
    monkeypatch.setattr(_download, "_get", lambda url: content)
    assert run("datasets", "small", "--download", "--json") == 0
    (facts,) = json.loads(capsys.readouterr().out)
    assert (facts["missing"], facts["original"]) == (0, True)
    with open(facts["path"], "rb") as file:
        assert file.read() == content


def test_unknown_datasets_are_refused(data, capsys):
    assert run("datasets", "bostom") == 2
    assert "There is no dataset 'bostom'. There are boston, concrete" in capsys.readouterr().err


def test_a_folder_that_is_not_there_is_told(data, capsys, monkeypatch):
    monkeypatch.setenv("DGME_DATA", "/nowhere")
    assert run("datasets") == 1
    assert "DGME_DATA=/nowhere is no folder" in capsys.readouterr().err
