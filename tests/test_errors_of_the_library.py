"""Errors that no command line leads to: from Python, from files made to deceive, from workers."""

from __future__ import annotations

import io
import json
from dataclasses import replace

import pytest

import bearsketch
from bearsketch import BearError, SketchClassifier, open_stream
from bearsketch.cli.guard import guarded
from bearsketch.distributed import Job, learn_partition
from bearsketch.distributed.pool import Lost, refuse_lost
from bearsketch.reading.account import Counts
from bearsketch.training import checkpoint
from tests.test_hostile_files import rebuilt, small_model


def code_of(call, *arguments):
    """Code of the error that a call ends with."""
    with pytest.raises(BearError) as caught:
        call(*arguments)
    return caught.value.code


def test_a_file_object_that_is_closed():
    closed = io.BytesIO()
    closed.close()
    assert code_of(lambda: list(open_stream(closed))) == "SRC-CLOSED"


def test_a_stream_without_examples():
    assert code_of(SketchClassifier().fit_stream, iter([])) == "DATA-EMPTY"


def test_lines_that_nobody_accounts_for():
    assert code_of(Counts(lines=2, examples=1).check) == "INT-ACCOUNT"


def test_a_system_without_memory(capsys):
    def command():
        raise MemoryError

    with pytest.raises(SystemExit) as left:
        guarded(command)()
    assert left.value.code == 6
    assert "error[MEM-SYSTEM]" in capsys.readouterr().err


def compact(value):
    return json.dumps(value, separators=(",", ":"))


def changed(change):
    """A model file whose record was changed, under a right checksum."""

    def edit(header, body):
        record = json.loads(header["__metadata__"]["bearsketch"])
        change(record)
        header["__metadata__"]["bearsketch"] = compact(record)
        return body

    return rebuilt(edit)


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (
            lambda: rebuilt(lambda _, body: body, lambda header: f"{compact(header)} 1"),
            "MODEL-HEADER",
        ),
        (lambda: changed(lambda record: record.update(format=99)), "MODEL-VERSION"),
        (lambda: rebuilt(lambda header, body: body[:-1]), "MODEL-ARRAYS"),
        (lambda: changed(lambda record: record.update(config=3)), "MODEL-CONTENTS"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_sealed_file_that_is_no_model(data, code, tmp_path):
    path = tmp_path / "m.bear"
    path.write_bytes(data())
    assert code_of(bearsketch.load, path) == code


def test_a_checkpoint_that_is_none(tmp_path):
    path, link = tmp_path / "m.bear", tmp_path / "link.bear"
    small_model().save(path)
    link.symlink_to(path)
    assert code_of(checkpoint.load, link) == "CKPT-LINK"
    assert code_of(checkpoint.read_run, path) == "CKPT-MODEL"


def test_a_worker_of_another_version():
    job = replace(Job("memory", {}), version="0.0.0")
    assert code_of(learn_partition, b"", None, job) == "DIST-VERSION"


def test_a_partition_that_no_worker_could_learn():
    class Partition:
        place = "d.vw, bytes 0 to 9"

    error = refuse_lost(Lost(Partition(), "its worker died three times"))
    assert (error.code, error.exit_code) == ("DIST-PARTITION", 8)
    assert "d.vw, bytes 0 to 9" in str(error)
