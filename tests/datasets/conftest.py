import hashlib
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from dgme.datasets import _download
from dgme.datasets._sources import Source


class Home(ThreadingHTTPServer):
    """A server on this machine. `pages` holds the answers to each path; the last one repeats.

    An answer is a status, a body and the length that is announced for it.
    """

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.pages, self.asked = {}, []

    @property
    def base(self):
        return f"http://127.0.0.1:{self.server_port}/"

    def give(self, path, body, *before, length=None):
        self.pages[path] = [*before, (200, body, len(body) if length is None else length)]

    def source(self, path, content, **facts):
        """A file of that content, which this server is the home of."""
        digest = hashlib.sha256(content).hexdigest()
        return Source(path, (self.base + path,), len(content), digest, **facts)


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        path = self.path[1:]
        self.server.asked.append(path)
        answers = self.server.pages.get(path, [(404, b"", 0)])
        status, body, length = answers.pop(0) if len(answers) > 1 else answers[0]
        self.send_response(status)
        self.send_header("Content-Length", str(length))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture
def home(monkeypatch):
    """A home for files, and none other: whatever is asked of the network fails the test."""

    def near(url, timeout):
        assert url.startswith("http://127.0.0.1:"), url
        return urlopen(url, timeout=timeout)

    urlopen = _download.urlopen
    monkeypatch.setattr(_download, "urlopen", near)
    monkeypatch.setattr(_download, "PAUSES", (0.0, 0.001, 0.001))
    with Home() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty cache, and no folder of one's own."""
    monkeypatch.delenv("DGME_DATA", raising=False)
    for name in ("XDG_CACHE_HOME", "LOCALAPPDATA", "HOME"):
        monkeypatch.setenv(name, str(tmp_path / "caches"))
    from dgme.datasets._home import cache_folder

    return cache_folder()
