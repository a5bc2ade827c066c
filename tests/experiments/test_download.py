"""Data sets fetched from a server that does all that servers do."""

from __future__ import annotations

import json
import sys
import threading
from collections import namedtuple

import pytest

from bearsketch.exceptions import ParameterError, SourceError
from experiments.datasets import download
from experiments.datasets.download import fetch_file
from tests.experiments.serving import DATA, Handler, digest, ranges

COMMAND = [sys.executable, "-c", "from bearsketch.cli.app import main; main()"]
OTHER = DATA[:10] + DATA[:9:-1]  # as long, so that no length tells them apart


@pytest.fixture
def target(tmp_path):
    return tmp_path / "below" / "a.bz2"


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
