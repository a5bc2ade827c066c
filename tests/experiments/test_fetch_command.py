"""The commands that list and fetch data sets."""

from __future__ import annotations

import bz2
import json
import lzma
import resource
import signal
import subprocess
import threading
from functools import partial

import numpy as np
import pytest

from experiments.datasets import text
from experiments.datasets.public import PUBLIC, PublicFile, address, public_sets
from tests.experiments import command
from tests.experiments.conftest import svmlight
from tests.experiments.serving import DATA, Handler, digest, ranges


def test_table_has_web_addresses_and_no_guessed_checksums():
    for data in PUBLIC.values():
        for file in data.files:
            assert address(data, file).startswith("https://")
            assert file == PublicFile(file.name)
    assert public_sets(["rcv1", "rcv1"]) == [PUBLIC["rcv1"]]


def run(*words, **options):
    return command.run("datasets", *words, **options)


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
    process = subprocess.Popen(
        [*command.COMMAND, *words],
        env=command.ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),  # if run with & it is not
    )
    try:
        assert asked.wait(30)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=30)
    finally:
        blocked.set()
    assert process.returncode == 130
    assert b"the same command continues" in errors
    assert b"Traceback" not in errors
