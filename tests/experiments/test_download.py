"""Data sets fetched from a server that does all that servers do."""

from __future__ import annotations

import bz2
import hashlib
import http.server
import json
import lzma
import re
import resource
import subprocess
import sys
import threading
from collections import namedtuple

import numpy as np
import pytest

from bearsketch.exceptions import ParameterError, SourceError
from bearsketch.experiments.datasets import download, text
from bearsketch.experiments.datasets.download import fetch_file
from bearsketch.experiments.datasets.public import PUBLIC, PublicFile, address, public_sets
from tests.experiments.conftest import svmlight

COMMAND = [sys.executable, "-c", "from bearsketch.cli.app import main; main()"]
DATA = bz2.compress(np.random.default_rng(1).bytes(300_000))
OTHER = DATA[:10] + DATA[:9:-1]  # as long, so that no length tells them apart


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


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setattr(download, "WAITS", (0.0, 0.0))
    found = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
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


@pytest.fixture
def target(tmp_path):
    return tmp_path / "below" / "a.bz2"


def digest(data):
    return hashlib.sha256(data).hexdigest()


def ranges(server):
    return [headers.get("Range") for headers in server.seen]


def assert_whole(target, data=DATA):
    assert target.read_bytes() == data
    assert sorted(p.name for p in target.parent.iterdir()) == ["a.bz2", "a.bz2.sha256"]
    assert target.with_name("a.bz2.sha256").read_text() == f"{digest(data)}  a.bz2\n"


def stop_halfway(server, target, at=100_000):
    """Leave a part of this many bytes, as a process that was stopped does."""
    server.cuts, server.answers = [at], [None, (503, {}), (503, {})]
    with pytest.raises(SourceError):
        fetch_file(f"{server.url}/a.bz2", target)
    assert target.with_name("a.bz2.part").stat().st_size == at
    assert not target.exists()
    server.seen.clear()


def test_plain_download_says_that_it_trusts_and_shows_how_far_it_is(server, target):
    said, shown = [], []
    fetch_file(
        f"{server.url}/a.bz2",
        target,
        note=said.append,
        report=lambda done, total: shown.append((done, total)),
    )
    assert_whole(target)
    assert "no checksum was known" in said[-1]
    assert digest(DATA) in said[-1]
    assert shown[0] == (0, len(DATA))
    assert shown[-1] == (len(DATA), len(DATA))
    assert shown == sorted(shown)


def test_chunked_download_without_a_length(server, target):
    server.chunked = True
    fetch_file(f"{server.url}/a.bz2", target)
    assert_whole(target)


def test_chunked_download_that_is_cut_goes_on(server, target):
    server.chunked, server.cuts = True, [50_000]
    fetch_file(f"{server.url}/a.bz2", target)
    assert_whole(target)
    assert len(server.seen) == 2


def test_whole_file_is_verified_and_not_fetched_again(server, target):
    fetch_file(f"{server.url}/a.bz2", target)
    server.seen.clear()
    said = []
    fetch_file(f"{server.url}/a.bz2", target, note=said.append)
    assert server.seen == []
    assert "the checksum is right" in said[0]
    fetch_file(f"{server.url}/a.bz2", target, sha256=digest(DATA))
    assert_whole(target)
    target.write_bytes(OTHER)
    with pytest.raises(SourceError, match="the SHA-256 must be") as caught:
        fetch_file(f"{server.url}/a.bz2", target)
    assert caught.value.code == "SRC-CHECKSUM"
    assert target.read_bytes() == OTHER


def test_file_put_there_by_hand_is_recorded(server, target):
    target.parent.mkdir()
    target.write_bytes(DATA)
    said = []
    fetch_file(f"{server.url}/a.bz2", target, note=said.append)
    assert "no checksum was known" in said[0]
    assert_whole(target)


def test_cut_connections_go_on_where_they_were(server, target):
    server.cuts = [100_000, 50_000, 70_000]  # more cuts than waits: progress starts them anew
    said = []
    fetch_file(f"{server.url}/a.bz2", target, note=said.append)
    assert_whole(target)
    assert ranges(server) == [None, "bytes=100000-", "bytes=150000-", "bytes=220000-"]
    assert server.seen[1]["If-Range"] == '"one"'
    assert "100000 of" in said[0]


def test_stopped_fetch_goes_on(server, target):
    stop_halfway(server, target)
    fetch_file(f"{server.url}/a.bz2", target)
    assert ranges(server) == ["bytes=100000-"]
    assert_whole(target)


@pytest.mark.parametrize("ignores_if_range", [False, True])
def test_file_that_changed_between_parts_is_fetched_from_its_start(
    server, target, ignores_if_range
):
    stop_halfway(server, target)
    server.files["/a.bz2"], server.etag = OTHER, '"two"'
    server.ignores_if_range = ignores_if_range
    fetch_file(f"{server.url}/a.bz2", target)
    assert_whole(target, OTHER)
    assert ranges(server) == ["bytes=100000-", None][: 1 + ignores_if_range]


def test_server_without_parts_starts_again(server, target):
    server.ranges = False
    stop_halfway(server, target)
    fetch_file(f"{server.url}/a.bz2", target)
    assert_whole(target)


@pytest.mark.parametrize("etag", ["", 'W/"one"'])
def test_without_a_strong_mark_no_part_is_asked_for(server, target, etag):
    server.etag, server.cuts = etag, [100_000]
    fetch_file(f"{server.url}/a.bz2", target)
    assert ranges(server) == [None, None]
    assert_whole(target)


def test_date_marks_a_version_too(server, target):
    server.etag = "Wed, 21 Oct 2015 07:28:00 GMT"
    stop_halfway(server, target)
    fetch_file(f"{server.url}/a.bz2", target)
    assert ranges(server) == ["bytes=100000-"]
    assert_whole(target)


def test_part_of_another_address_is_not_continued(server, target):
    stop_halfway(server, target)
    server.files["/mirror/a.bz2"] = OTHER
    fetch_file(f"{server.url}/mirror/a.bz2", target)
    assert ranges(server) == [None]
    assert_whole(target, OTHER)


def test_part_that_was_whole_needs_no_server(server, target):
    stop_halfway(server, target)
    target.with_name("a.bz2.part").write_bytes(DATA)
    fetch_file(f"{server.url}/a.bz2", target)
    assert server.seen == []
    assert_whole(target)


def test_part_longer_than_the_file_starts_again(server, target):
    stop_halfway(server, target)
    target.with_name("a.bz2.part").write_bytes(DATA + b"more")
    fetch_file(f"{server.url}/a.bz2", target)
    assert_whole(target)


def test_part_past_the_end_that_the_server_refuses_starts_again(server, target):
    stop_halfway(server, target)
    tag = target.with_name("a.bz2.part.tag")
    tag.write_text(json.dumps({**json.loads(tag.read_text()), "total": None}))
    target.with_name("a.bz2.part").write_bytes(DATA)
    fetch_file(f"{server.url}/a.bz2", target)
    assert ranges(server) == [f"bytes={len(DATA)}-", None]
    assert_whole(target)


def test_damaged_tag_starts_again(server, target):
    stop_halfway(server, target)
    target.with_name("a.bz2.part.tag").write_bytes(b'{"url": 3\xff')
    fetch_file(f"{server.url}/a.bz2", target)
    assert ranges(server) == [None]
    assert_whole(target)


@pytest.mark.parametrize("recorded", [False, True])
def test_wrong_checksum_is_refused_and_nothing_kept(server, target, recorded):
    wanted = digest(OTHER)
    if recorded:
        target.parent.mkdir()
        target.with_name("a.bz2.sha256").write_text(f"{wanted}  a.bz2\n")
    with pytest.raises(SourceError) as caught:
        fetch_file(f"{server.url}/a.bz2", target, sha256=None if recorded else wanted)
    assert caught.value.code == "SRC-CHECKSUM"
    assert wanted in str(caught.value)
    assert digest(DATA) in str(caught.value)
    left = [p.name for p in target.parent.iterdir()]
    assert left == (["a.bz2.sha256"] if recorded else [])


def test_right_checksum_is_said_to_be_right(server, target):
    said = []
    fetch_file(f"{server.url}/a.bz2", target, sha256=digest(DATA), note=said.append)
    assert "the checksum is right" in said[-1]
    assert_whole(target)


def test_damaged_record_is_refused(server, target):
    target.parent.mkdir()
    target.with_name("a.bz2.sha256").write_text("abc\n")
    with pytest.raises(SourceError, match="no SHA-256") as caught:
        fetch_file(f"{server.url}/a.bz2", target)
    assert caught.value.code == "SRC-CHECKSUM"
    assert server.seen == []
    fetch_file(f"{server.url}/a.bz2", target, sha256=digest(DATA))
    assert_whole(target)


def test_missing_file_is_not_asked_for_twice(server, target):
    with pytest.raises(SourceError, match="404") as caught:
        fetch_file(f"{server.url}/none.bz2", target)
    assert caught.value.code == "SRC-FETCH"
    assert len(server.seen) == 1
    assert list(target.parent.iterdir()) == []


def test_page_in_place_of_data_is_refused(server, target):
    server.files["/a.bz2"] = b"<html>please log in</html>"
    with pytest.raises(SourceError, match="plain data, not bz2"):
        fetch_file(f"{server.url}/a.bz2", target)
    assert list(target.parent.iterdir()) == []


def test_busy_server_is_asked_again(server, target):
    server.answers = [(503, {}), (429, {})]
    fetch_file(f"{server.url}/a.bz2", target)
    assert len(server.seen) == 3
    assert_whole(target)


def test_tries_are_few(server, target):
    server.answers = [(503, {})] * 9
    with pytest.raises(SourceError, match="503.*3 times"):
        fetch_file(f"{server.url}/a.bz2", target)
    assert len(server.seen) == 3


def test_server_that_is_not_there(server, target, monkeypatch):
    with pytest.raises(SourceError, match="refused") as caught:
        fetch_file("http://127.0.0.1:9/a.bz2", target)
    assert caught.value.code == "SRC-FETCH"


def test_silent_server_is_left(server, target, monkeypatch):
    monkeypatch.setattr(download, "TIMEOUT", 0.1)
    blocked = threading.Event()
    monkeypatch.setattr(Handler, "do_GET", lambda self: blocked.wait(20) and None)
    try:
        with pytest.raises(SourceError, match="timed out"):
            fetch_file(f"{server.url}/a.bz2", target)
    finally:
        blocked.set()


def test_file_without_an_end_is_refused(server, target):
    server.tells_length = False
    with pytest.raises(SourceError, match="where the file ends"):
        fetch_file(f"{server.url}/a.bz2", target)


def test_other_size_than_known_is_refused_at_once(server, target):
    with pytest.raises(SourceError, match=f"the server has {len(DATA)} bytes, the file 5"):
        fetch_file(f"{server.url}/a.bz2", target, size=5)
    assert list(target.parent.iterdir()) == []


def test_redirects_stay_on_the_web(server, target):
    server.answers = [(302, {"Location": f"{server.url}/a.bz2"})]
    fetch_file(f"{server.url}/old.bz2", target)
    assert_whole(target)
    target.unlink()
    server.answers = [(302, {"Location": "ftp://127.0.0.1/a.bz2"})]
    with pytest.raises(SourceError, match="redirects to ftp"):
        fetch_file(f"{server.url}/old.bz2", target)


@pytest.mark.parametrize("url", ["file:///etc/hosts", "ftp://a.example/x", "a.bz2", "https:///x"])
def test_only_the_web_is_fetched_from(target, url):
    with pytest.raises(ParameterError) as caught:
        fetch_file(url, target)
    assert caught.value.code == "EXP-URL"
    assert not target.parent.exists()


def test_full_folder_is_told_before_the_download(server, target, monkeypatch):
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(download.shutil, "disk_usage", lambda _: usage(9, 9, 1000))
    with pytest.raises(SourceError, match="1000 B free") as caught:
        fetch_file(f"{server.url}/a.bz2", target)
    assert caught.value.code == "IO-WRITE"


def test_two_fetches_of_one_file(server, target):
    target.parent.mkdir()
    with target.with_name("a.bz2.part").open("wb") as file:
        assert download.lock(file.fileno())
        with pytest.raises(SourceError, match="another process"):
            fetch_file(f"{server.url}/a.bz2", target)


def test_part_that_another_process_has_just_finished_is_not_touched(server, target, monkeypatch):
    stop_halfway(server, target)

    def lock_after_the_other_is_done(handle):
        target.with_name("a.bz2.part").replace(target)
        return True

    monkeypatch.setattr(download, "lock", lock_after_the_other_is_done)
    with pytest.raises(SourceError, match="another process"):
        fetch_file(f"{server.url}/a.bz2", target)
    assert target.read_bytes() == DATA[:100_000]


def test_link_in_place_of_the_part_is_not_followed(server, target, tmp_path):
    target.parent.mkdir()
    victim = tmp_path / "victim"
    victim.write_text("mine")
    target.with_name("a.bz2.part").symlink_to(victim)
    with pytest.raises(SourceError) as caught:
        fetch_file(f"{server.url}/a.bz2", target)
    assert caught.value.code == "IO-WRITE"
    assert victim.read_text() == "mine"


def test_table_has_web_addresses_and_no_guessed_checksums():
    for data in PUBLIC.values():
        for file in data.files:
            assert address(data, file).startswith("https://")
            assert file == PublicFile(file.name)
    assert public_sets(["rcv1", "rcv1"]) == [PUBLIC["rcv1"]]


def run(*words, **options):
    return subprocess.run(
        [*COMMAND, "datasets", *map(str, words)],
        capture_output=True,
        text=True,
        timeout=60,
        **options,
    )


@pytest.fixture
def rcv1(server):
    random = np.random.default_rng(3)
    for part, n in (("train", 60), ("test", 20)):
        name = f"/rcv1_{part}.binary.bz2"
        server.files[name] = bz2.compress(svmlight(random, n).encode())
    return server


def test_command_fetches_what_reproduce_reads(rcv1, tmp_path):
    done = run("fetch", "rcv1", "--to", tmp_path, "--from", rcv1.url + "/")
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 2
    assert done.stderr.count("this file is trusted") == 2
    prepared = text.rcv1(tmp_path)
    assert (len(prepared.train), len(prepared.test)) == (60, 20)
    listed = json.loads(run("list", "--to", tmp_path, "--json").stdout)["datasets"]
    assert [name for name in listed if listed[name]["fetched"]] == ["rcv1"]
    assert "(fetched)" in run("list", "--to", tmp_path).stdout


def test_command_checks_the_given_checksum(rcv1, tmp_path):
    words = ["fetch", "rcv1", "--to", tmp_path, "--from", rcv1.url]
    done = run(*words, "--sha256", f"rcv1_train.binary.bz2={digest(DATA)}")
    assert done.returncode == 4
    assert "error[SRC-CHECKSUM]" in done.stderr
    assert list((tmp_path / "text" / "rcv1").iterdir()) == []
    right = digest(rcv1.files["/rcv1_train.binary.bz2"]).upper()
    done = run(*words, "--sha256", f"rcv1_train.binary.bz2={right}")
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("the checksum is right") == 1


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["iris"], "EXP-DATASET"),
        (["rcv1", "--from", "file:///tmp"], "EXP-URL"),
        (["rcv1", "--sha256", "abc"], "EXP-SHA256"),
        (["rcv1", "--sha256", "kdd12.tr.xz=" + 64 * "a"], "EXP-SHA256"),
    ],
)
def test_usage_errors(words, code, tmp_path):
    done = run("fetch", *words, "--to", tmp_path)
    assert done.returncode == 2
    assert f"error[{code}]" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_disk_that_fills_up_keeps_the_part(server, tmp_path):
    server.files["/webspam_wc_normalized_trigram.svm.xz"] = lzma.compress(DATA)
    words = ["fetch", "webspam", "--to", tmp_path, "--from", server.url]

    def small_files():
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, resource.RLIM_INFINITY))

    done = run(*words, preexec_fn=small_files)
    assert done.returncode == 4
    assert "error[IO-WRITE]" in done.stderr
    assert "File too large" in done.stderr
    folder = tmp_path / "text" / "webspam"
    (part,) = folder.glob("*.part")
    assert part.stat().st_size == 100_000
    done = run(*words)
    assert done.returncode == 0, done.stderr
    assert ranges(server)[-1] == "bytes=100000-"
    assert sorted(path.name for path in folder.iterdir()) == [
        part.name[:-5],
        part.name[:-5] + ".sha256",
    ]


def test_interrupted_command_says_how_to_go_on(server, tmp_path):
    server.files["/webspam_wc_normalized_trigram.svm.xz"] = lzma.compress(DATA)
    blocked, asked = threading.Event(), threading.Event()

    class Slow(Handler):
        def answer(self, code, body, headers=()):
            asked.set()
            blocked.wait(30)

    server.RequestHandlerClass = Slow
    words = ["datasets", "fetch", "webspam", "--to", str(tmp_path), "--from", server.url]
    process = subprocess.Popen([*COMMAND, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        assert asked.wait(30)
        process.send_signal(2)
        _, errors = process.communicate(timeout=30)
    finally:
        blocked.set()
    assert process.returncode == 130
    assert b"the same command goes on" in errors
    assert b"Traceback" not in errors
