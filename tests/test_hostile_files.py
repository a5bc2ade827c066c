"""Files made to deceive the reader of models: sealed, and still refused, in bounded memory."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import subprocess
import sys

import numpy as np
import pytest

from bearsketch import Batch, ModelFileError, load, make_learner, model_file
from bearsketch.learners import state


def small_model(**options):
    learner = make_learner("bear+", **{"k": 2, "width": 4, "depth": 1, "batch_size": 4, **options})
    rows = [["free", "prize"], ["meeting", "notes"], ["free"], ["notes"]]
    learner.learn(Batch.from_rows(rows, [1, -1, 1, -1]))
    return learner


def reseal(data: bytes) -> bytes:
    """Put the right checksum into a file."""
    at = data.rfind(model_file.DIGEST_MARK) + len(model_file.DIGEST_MARK)
    blank = data[:at] + model_file.NO_DIGEST + data[at + 64 :]
    return blank[:at] + hashlib.sha256(blank).hexdigest().encode() + blank[at + 64 :]


def rebuilt(change, header=None):
    """The small model with a changed header, under a right checksum."""
    data = model_file.pack(*state.dump(small_model()))
    length = int.from_bytes(data[:8], "little")
    parsed = json.loads(data[8 : 8 + length])
    body = change(parsed, data[8 + length :])
    text = header(parsed) if header else json.dumps(parsed, separators=(",", ":"))
    line = text.encode() + b" " * (-len(text.encode()) % 8)
    return reseal(len(line).to_bytes(8, "little") + line + body)


def refused(path, data):
    path.write_bytes(data)
    with pytest.raises(ModelFileError) as caught:
        load(path)
    return str(caught.value)


def test_the_container_is_what_the_library_writes_and_reads():
    import safetensors.numpy

    arrays, record = state.dump(small_model(), exact=True)
    data = model_file.pack(arrays, record)
    length = int.from_bytes(data[:8], "little")
    metadata = json.loads(data[8 : 8 + length])["__metadata__"]
    plain = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    assert safetensors.numpy.save(plain, metadata=metadata) == data
    again = safetensors.numpy.load(data)
    assert set(again) == set(arrays)
    assert all(np.array_equal(again[name], arrays[name]) for name in arrays)


def test_unchanged_it_is_accepted(tmp_path):
    (tmp_path / "m").write_bytes(rebuilt(lambda header, body: body))
    assert len(load(tmp_path / "m").selected()) == 2


HUGE = 2**63


def shaped(name, **fields):
    def change(header, body):
        header[name] = {**header[name], **fields}
        return body

    return change


def overlapping(header, body):
    """Two arrays share their bytes; the file is shorter by one of them."""
    first = header["selected.0.keys"]["data_offsets"]
    header["state.cells"]["data_offsets"] = first
    return body


def gap(header, body):
    for name, part in header.items():
        if name != "__metadata__" and part["data_offsets"][0] > 0:
            part["data_offsets"] = [n + 8 for n in part["data_offsets"]]
    return body + b"\0" * 8


@pytest.mark.parametrize(
    "change",
    {
        "shape that wraps to 4": shaped("cells", shape=[2**62, 2**2]),
        "shape that wraps to 0": shaped("cells", shape=[2**32, 2**32]),
        "shape below zero": shaped("cells", shape=[-4, -1]),
        "shape of floats": shaped("cells", shape=[4.0, 1]),
        "shape of words": shaped("cells", shape="41"),
        "no shape": shaped("cells", shape=None),
        "truth as a size": shaped("intercept", shape=[True]),
        "offsets from afar": shaped("cells", data_offsets=[HUGE, HUGE + 4]),
        "offsets backwards": shaped("cells", data_offsets=[8, 4]),
        "three offsets": shaped("cells", data_offsets=[0, 4, 4]),
        "a type unknown": shaped("cells", dtype="F16"),
        "a type with code": shaped("cells", dtype="O"),
        "another field": shaped("cells", path="/etc/passwd"),
        "overlap": overlapping,
        "gap": gap,
        "trailing bytes": lambda header, body: body + b"\0" * 8,
        "an archive behind": lambda header, body: body + b"PK\x05\x06" + b"\0" * 18,
        "bytes missing": lambda header, body: body[:-1],
        "no metadata": lambda header, body: header.pop("__metadata__") and body,
    }.items(),
    ids=lambda item: item[0],
)
def test_a_sealed_container_that_does_not_add_up_is_refused(change, tmp_path):
    if change[0] == "no metadata":
        with pytest.raises(ModelFileError):
            model_file.unpack(rebuilt(change[1]))
        return
    assert "arrays are not readable" in refused(tmp_path / "m", rebuilt(change[1]))


def test_duplicate_keys_are_refused(tmp_path):
    def twice(header):
        text = json.dumps(header, separators=(",", ":"))
        return text[:-1] + ',"cells":' + json.dumps(header["cells"]) + "}"

    assert "occurs twice" in refused(tmp_path / "m", rebuilt(lambda h, body: body, twice))

    def twice_inside(header, body):
        inner = header["__metadata__"]["bearsketch"]
        header["__metadata__"]["bearsketch"] = '{"loss":"squared",' + inner[1:]
        return body

    assert "occurs twice" in refused(tmp_path / "m", rebuilt(twice_inside))


def test_random_edits_under_a_right_checksum_never_crash(tmp_path):
    """Refused, or a model that can be used and saved again."""
    rng = np.random.default_rng(1)
    sound = model_file.pack(*state.dump(small_model(), exact=True))
    used = 0
    for _ in range(1500):
        changed = bytearray(sound)
        for _ in range(int(rng.integers(1, 4))):
            changed[int(rng.integers(8, len(sound)))] = int(rng.integers(256))
        if changed.rfind(model_file.DIGEST_MARK) < 0:
            continue
        (tmp_path / "m").write_bytes(reseal(bytes(changed)))
        with contextlib.suppress(ModelFileError):
            learner = load(tmp_path / "m")
            learner.weights_of([1, 2])
            again = learner.to_bytes()
            assert model_file.pack(*state.dump(type(learner).from_bytes(again))) == again
            used += 1
    assert 0 < used < 1500


GREEDY = """
import sys, resource
from pathlib import Path
import bearsketch, bearsketch.learners
from bearsketch.training.process import peak_rss_bytes
size = Path(sys.argv[1]).stat().st_size
bearsketch.load(sys.argv[2])
before = peak_rss_bytes()
try:
    learner = bearsketch.load(sys.argv[1])
except bearsketch.ModelFileError:
    pass
print(size, peak_rss_bytes() - before)
"""


def peak_of_loading(path, warm):
    ran = subprocess.run(
        [sys.executable, "-c", GREEDY, str(path), str(warm)],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    size, peak = map(int, ran.stdout.split())
    return size, peak


SLACK = 2 << 20  # of an allocator that asks for more than it needs


@pytest.mark.unsanitized
def test_loading_takes_at_most_twice_the_file(tmp_path):
    small_model().save(tmp_path / "warm")
    small_model(width=1 << 26).save(tmp_path / "large")
    size, peak = peak_of_loading(tmp_path / "large", tmp_path / "warm")
    assert size > 64 << 20
    assert peak <= 2 * size + SLACK


@pytest.mark.parametrize(
    "claim", [{"k": 2**31 - 1}, {"width": 2**40}, {"batch_size": 2**24}, {"history": 100}]
)
def test_what_a_file_claims_takes_no_memory(claim, tmp_path):
    small_model().save(tmp_path / "warm")
    arrays, record = state.dump(small_model())
    record["config"] |= claim
    (tmp_path / "greedy").write_bytes(model_file.pack(arrays, record))
    size, peak = peak_of_loading(tmp_path / "greedy", tmp_path / "warm")
    assert peak <= 2 * size + SLACK


def test_what_a_killed_writer_left_is_removed(tmp_path):
    """And nothing else: not what a living process is writing, nor files of other names."""
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    left = tmp_path / f".m.bear.{dead.pid}.tmp"
    others = [
        tmp_path / f".m.bear.{os.getppid()}.tmp",
        tmp_path / f".n.bear.{dead.pid}.tmp",
        tmp_path / ".m.bear.notes.tmp",
    ]
    for path in (left, *others):
        path.write_bytes(b"half")
    small_model().save(tmp_path / "m.bear")
    assert not left.exists()
    assert all(path.exists() for path in others)
    with left.open("wb") as held:  # a process id may be another machine's: its lock tells
        fcntl.flock(held, fcntl.LOCK_EX)
        small_model().save(tmp_path / "m.bear")
        assert left.exists()
