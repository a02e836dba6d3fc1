import gzip
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from dgme import _files
from dgme.datasets import DownloadError
from dgme.datasets._download import PAUSES, download, download_all

BODY = b"0 1 2\n" * 50_000
BUSY = (503, b"", 0)


def files_of(folder):
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file())


def test_a_file_is_downloaded_whole(home, tmp_path):
    home.give("a/b.txt", BODY)
    path = download(home.source("a/b.txt", BODY), tmp_path)
    assert path == tmp_path / "a" / "b.txt"
    assert path.read_bytes() == BODY
    assert files_of(tmp_path) == ["a/b.txt"]


@pytest.mark.parametrize("status", [408, 429, 500, 503])
def test_what_may_pass_is_tried_again(home, tmp_path, status):
    home.give("a", BODY, (status, b"", 0), (status, b"", 0))
    assert download(home.source("a", BODY), tmp_path).read_bytes() == BODY
    assert len(home.asked) == 3


def test_a_connection_that_was_cut_is_tried_again(home, tmp_path):
    home.give("a", BODY, (200, BODY[:1000], len(BODY)))
    assert download(home.source("a", BODY), tmp_path).read_bytes() == BODY
    assert len(home.asked) == 2


def test_waiting_ends_soon():
    assert PAUSES[0] == 0
    assert sum(PAUSES) < 10


@pytest.mark.parametrize(
    ("answer", "words", "times"),
    [
        ((404, b"", 0), "the answer was 404 Not Found", 1),
        (BUSY, "the answer was 503 Service Unavailable", 3),
        ((200, BODY[:10], len(BODY)), "the connection was cut after 10 bytes", 3),
        ((200, BODY[:10], 10), "it sent 10 bytes with sha256 [0-9a-f]{64} instead of 300000", 1),
        ((200, b"x" + BODY[1:], len(BODY)), "sha256 [0-9a-f]{64} instead .* nothing was kept", 1),
    ],
    ids=["missing", "busy", "cut", "too short", "another file"],
)
def test_what_fails_is_named_and_nothing_is_kept(home, tmp_path, answer, words, times):
    home.pages["a/b.txt"] = [answer]
    source = home.source("a/b.txt", BODY, otherwise="Ask a friend.")
    with pytest.raises(DownloadError, match=words) as raised:
        download(source, tmp_path)
    for part in ("a/b.txt could not", source.urls[0], str(tmp_path / "a" / "b.txt"), "DGME_DATA"):
        assert part in str(raised.value)
    assert str(raised.value).endswith("Ask a friend.")
    if "sha256" in words:
        assert source.sha256 in str(raised.value)
    assert files_of(tmp_path) == []
    assert len(home.asked) == times


def test_without_a_connection_the_error_says_what_to_do(home, tmp_path):
    source = home.source("a", BODY)
    home.server_close()
    with pytest.raises(DownloadError, match=r"refused.*Try again with a connection, or put"):
        download(source, tmp_path)
    assert files_of(tmp_path) == []


def test_other_homes_are_asked_when_the_first_fails(home, tmp_path):
    home.give("good", BODY)
    home.give("wrong", b"wrong")
    source = home.source("good", BODY)
    urls = tuple(home.base + page for page in ("none", "wrong", "good"))
    download(source._replace(urls=urls), tmp_path)
    assert home.asked == ["none", "wrong", "good"]


def test_a_home_that_is_busy_does_not_keep_one_from_the_next(home, tmp_path):
    home.pages["busy"] = [BUSY]
    home.give("good", BODY)
    source = home.source("good", BODY)._replace(urls=(home.base + "busy", home.base + "good"))
    download(source, tmp_path)
    assert home.asked == ["busy", "good"]


def test_what_a_home_sends_may_be_converted(home, tmp_path):
    home.give("a", b"UPPER")
    source = home.source("a", b"upper", convert=bytes.lower)
    assert download(source, tmp_path).read_bytes() == b"upper"
    home.give("a", b"\xff")
    with pytest.raises(DownloadError, match=r"what it sent cannot be read .*UnicodeDecodeError"):
        download(source._replace(convert=lambda b: b.decode().encode()), tmp_path / "other")


def test_a_gzip_file_may_be_packed_anew_but_must_hold_the_same(home, tmp_path):
    ours, theirs = gzip.compress(BODY, 9, mtime=0), gzip.compress(BODY, 1, mtime=1)
    assert ours != theirs
    digest = home.source("a", BODY).sha256
    source = home.source("a", ours, unpacked_sha256=digest)
    home.give("a", theirs)
    assert download(source, tmp_path).read_bytes() == theirs
    damaged = theirs[:10] + b"\xff" * 40
    for other in (gzip.compress(b"other"), theirs[:-9], damaged, b"", b"plain"):
        assert not source.is_original(other)


def test_a_file_that_is_there_is_replaced_only_by_a_whole_one(home, tmp_path, monkeypatch):
    home.give("a", BODY)
    (tmp_path / "a").write_bytes(b"old")

    def full(*_):
        raise OSError("No space left on device")

    monkeypatch.setattr(_files.os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        download(home.source("a", BODY), tmp_path)
    monkeypatch.undo()
    assert (tmp_path / "a").read_bytes() == b"old"
    assert files_of(tmp_path) == ["a"]


def test_a_process_that_is_killed_leaves_no_file_of_that_name(home, tmp_path):
    """It is killed between writing and renaming, when the most is lying around."""
    home.give("a", BODY)
    source = home.source("a", BODY)
    script = (
        "import os\nfrom pathlib import Path\n"
        "from dgme.datasets._download import download\n"
        "from dgme.datasets._sources import Source\n"
        "os.replace = lambda *_: os._exit(9)\n"
        f"download(Source(*{tuple(source[:4])!r}), Path({str(tmp_path)!r}))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], timeout=60)
    assert done.returncode == 9
    (rest,) = os.listdir(tmp_path)
    assert rest.startswith(".a.")
    assert download(source, tmp_path).read_bytes() == BODY
    assert set(os.listdir(tmp_path)) == {rest, "a"}


def test_many_may_download_the_same_file_at_once(home, tmp_path):
    """Whoever looks meanwhile sees no file or a whole one."""
    home.give("a", BODY)
    source, stop, seen = home.source("a", BODY), threading.Event(), set()

    def look():
        while not stop.is_set():
            if (tmp_path / "a").exists():
                seen.add((tmp_path / "a").read_bytes())

    watcher = threading.Thread(target=look)
    watcher.start()
    try:
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda _: download(source, tmp_path), range(24)))
    finally:
        stop.set()
        watcher.join()
    assert seen <= {BODY}
    assert files_of(tmp_path) == ["a"]


def test_several_files_are_told_as_they_come(home, tmp_path):
    sources = [home.source(str(n), str(n).encode()) for n in range(20)]
    for n in range(20):
        home.give(str(n), str(n).encode())
    told = []
    download_all(sources, tmp_path, told.append)
    assert sorted(told) == sorted(sources)
    assert {p.name: p.read_text() for p in tmp_path.iterdir()} == {
        str(n): str(n) for n in range(20)
    }


def test_the_first_that_fails_ends_it_and_what_came_stays(home, tmp_path):
    sources = [home.source(str(n), b"x") for n in range(100)]
    home.give("1", b"x")
    with pytest.raises(DownloadError, match=r"^0 could not be downloaded"):
        download_all(sources, tmp_path)
    assert set(files_of(tmp_path)) <= {"1"}
    assert len(home.asked) < 100
