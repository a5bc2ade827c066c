"""A server that does all that servers do, for tests of fetching."""

from __future__ import annotations

import bz2
import hashlib
import http.server
import re
import sys
import threading

import numpy as np
import pytest

from experiments.datasets import download

DATA = bz2.compress(np.random.default_rng(1).bytes(300_000))


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers as ``server`` is set up to; a cut connection ends after so many bytes."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        server = self.server
        server.seen.append(dict(self.headers))
        answer = server.answers.pop(0) if server.answers else None
        if answer is not None:
            return self.answer(answer[0], b"no", answer[1])
        data = server.files.get(self.path)
        if data is None:
            return self.answer(404, b"<html>not here</html>")
        name = "Last-Modified" if server.etag.endswith("GMT") else "ETag"
        headers = {name: server.etag} if server.etag else {}
        wanted = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        same = server.ignores_if_range or self.headers.get("If-Range") == server.etag
        if not (wanted and server.ranges and same):
            return self.answer(200, data, headers)
        start = int(wanted[1])
        if start >= len(data):
            return self.answer(416, b"", {"Content-Range": f"bytes */{len(data)}"})
        headers["Content-Range"] = f"bytes {start}-{len(data) - 1}/{len(data)}"
        return self.answer(206, data[start:], headers)

    def answer(self, code, body, headers=()):
        cut = self.server.cuts.pop(0) if self.server.cuts and code in (200, 206) else None
        self.send_response(code)
        for name, value in dict(headers).items():
            self.send_header(name, value)
        if self.server.chunked:
            self.send_header("Transfer-Encoding", "chunked")
            body = b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)
        elif self.server.tells_length:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[:cut])
        self.close_connection = cut is not None or not self.server.tells_length


class Server(http.server.ThreadingHTTPServer):
    """Silent where a client hangs up, which tests do on purpose; loud about anything else."""

    def handle_error(self, request, client_address):
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setattr(download, "WAITS", (0.0, 0.0))
    found = Server(("127.0.0.1", 0), Handler)
    found.files, found.etag, found.ranges = {"/a.bz2": DATA}, '"one"', True
    found.ignores_if_range, found.tells_length, found.chunked = False, True, False
    found.cuts, found.answers, found.seen = [], [], []
    found.url = f"http://127.0.0.1:{found.server_port}"
    thread = threading.Thread(target=found.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield found
    found.shutdown()
    thread.join()
    found.server_close()


def digest(data):
    return hashlib.sha256(data).hexdigest()


def ranges(server):
    return [headers.get("Range") for headers in server.seen]
