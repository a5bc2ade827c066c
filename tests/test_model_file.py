"""The model file: same bytes, whole or absent, every damage refused, no code run."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import pickle
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from bearsketch import LEARNERS, Batch, ModelFileError, SourceError, load, make_learner, model_file
from bearsketch.learners import state
from reference.streams import batch_of, fitting, stream

POOL = np.arange(40, dtype=np.uint64)


def small_model(precision=None):
    learner = make_learner(
        "awm" if precision else "bear+", k=2, width=4, batch_size=4, precision=precision
    )
    rows = [["free", "prize"], ["meeting", "notes"], ["free"], ["notes"]]
    learner.learn(Batch.from_rows(rows, [1, -1, 1, -1]))
    return learner


@pytest.fixture(scope="module")
def sound():
    return model_file.pack(*state.dump(small_model()))


def make(learner, loss="logistic", **options):
    options = {
        "batch_size": 10,
        "step_size": 0.02,
        "intercept": True,
        **({"dimension": 40} if learner in ("sgd", "olbfgs") else {"width": 16}),
        **({} if learner in ("sgd", "olbfgs", "fh") else {"k": 5}),
        **options,
    }
    classes = 4 if loss == "softmax" else None
    return make_learner(learner, loss=loss, classes=classes, **fitting(learner, options))


def refused(path, data=None, match=None):
    """Whether these bytes are refused as a model file; anything but ModelFileError escapes."""
    if data is not None:
        path.write_bytes(data)
    with pytest.raises(ModelFileError, match=match) as caught:
        load(path)
    assert caught.value.code.startswith("MODEL-")
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize("loss", ["squared", "logistic", "softmax"])
@pytest.mark.parametrize("learner", LEARNERS)
def test_save_load_save_gives_the_same_bytes(learner, loss, precision, tmp_path):
    made = make(learner, loss, precision=precision, l2=0.01)
    rows, labels = stream(loss, POOL, n_rows=100, active=6)
    made.learn(batch_of(rows, labels))
    made.finish_pass()
    made.save(tmp_path / "a")
    made.save(tmp_path / "b")
    again = load(tmp_path / "a")
    again.save(tmp_path / "c")
    first = (tmp_path / "a").read_bytes()
    assert (tmp_path / "b").read_bytes() == first
    assert (tmp_path / "c").read_bytes() == first
    assert again.config == made.config
    assert again.counters == made.counters
    assert again.guards == made.guards
    assert (again.predict_margin(batch_of(rows)) == made.predict_margin(batch_of(rows))).all()


@pytest.mark.parametrize("loss", ["squared", "logistic", "softmax"])
@pytest.mark.parametrize("learner", ["mission", "newton", "sgd", "fh", "awm"])
def test_a_loaded_model_goes_on_as_if_never_saved(learner, loss, tmp_path):
    rows, labels = stream(loss, POOL, n_rows=200, active=6)
    straight, first = make(learner, loss), make(learner, loss)
    straight.learn(batch_of(rows, labels))
    first.learn(batch_of(rows[:100], labels[:100]))
    first.save(tmp_path / "half")
    second = load(tmp_path / "half")
    second.learn(batch_of(rows[100:], labels[100:]))
    straight.save(tmp_path / "straight")
    second.save(tmp_path / "second")
    assert (tmp_path / "straight").read_bytes() == (tmp_path / "second").read_bytes()


@pytest.mark.parametrize("learner", ["bear+", "bear", "olbfgs"])
def test_a_loaded_model_goes_on_without_the_pairs(learner, tmp_path):
    rows, labels = stream("logistic", POOL, n_rows=200, active=6)
    first = make(learner)
    first.learn(batch_of(rows[:100], labels[:100]))
    first.save(tmp_path / "half")
    files = []
    for name in ("one", "two"):
        again = load(tmp_path / "half")
        again.learn(batch_of(rows[100:], labels[100:]))
        again.save(tmp_path / name)
        files.append((tmp_path / name).read_bytes())
    assert files[0] == files[1]
    assert again.counters["examples"] == 200


def test_names_of_any_bytes_come_back(tmp_path):
    learner = make_learner("bear+", k=6, width=64, batch_size=1)
    names = ["plain", "ü 漢字", "\x00\x01", '{"a\\": 1}', "x" * 5000]
    for name in names:
        learner.learn(Batch.from_rows([[name]], [1]))
    learner.save(tmp_path / "m")
    assert set(load(tmp_path / "m").selected().names) == set(names)


def test_labels_come_back_with_their_kind(tmp_path):
    for classes in (["ham", "spam"], [3, 7], [0.5, 1.5], ['"sha256":"', "\\"]):
        learner = make_learner("bear+", k=2, width=8, classes=classes)
        learner.learn(Batch([0, 1, 2], [1, 2], [1.0, 1.0], labels=classes))
        learner.save(tmp_path / "m")
        again = load(tmp_path / "m")
        assert again.labels.classes == tuple(classes)
        batch = Batch([0, 1, 2], [1, 2], [1.0, 1.0])
        assert again.predict(batch).tolist() == learner.predict(batch).tolist() == classes


def test_every_truncation_is_refused(sound, tmp_path):
    for length in range(len(sound)):
        refused(tmp_path / "cut", sound[:length])


def test_a_cut_file_is_called_cut_not_foreign(sound):
    assert sound[8:].startswith(model_file.START)
    for length in range(9, len(sound)):
        with pytest.raises(ModelFileError, match=r"it was cut") as caught:
            model_file.unpack(sound[:length])
        assert caught.value.code == "MODEL-DAMAGED"


def test_every_flipped_bit_is_refused(sound, tmp_path):
    assert len(sound) < 5120
    path = tmp_path / "flip"
    path.write_bytes(sound)
    # One byte of one file at a time: 30,000 files would keep the disk busy for a minute.
    with path.open("r+b", buffering=0) as file:
        for at, byte in enumerate(sound):
            for bit in range(8):
                os.pwrite(file.fileno(), bytes([byte ^ 1 << bit]), at)
                refused(path)
            os.pwrite(file.fileno(), bytes([byte]), at)
    assert path.read_bytes() == sound


def test_random_edits_are_refused(sound, tmp_path):
    rng = np.random.default_rng(0)
    for _ in range(500):
        changed = bytearray(sound)
        start, length = rng.integers(len(sound)), rng.integers(1, 40)
        kind = rng.integers(3)
        noise = rng.integers(0, 256, length, dtype=np.uint8).tobytes()
        if kind == 0:
            changed[start : start + length] = noise
        elif kind == 1:
            changed[start:start] = noise
        else:
            del changed[start : start + length]
        if bytes(changed) != sound:
            refused(tmp_path / "edit", bytes(changed))


def test_trailing_bytes_are_refused(sound, tmp_path):
    for tail in (b"\0", b" " * 8, sound):
        refused(tmp_path / "long", sound + tail, "checksum does not match")


def test_foreign_files_are_refused(tmp_path):
    import safetensors.numpy

    tensors = safetensors.numpy.save({"cells": np.zeros(3)}, metadata={"other": "{}"})
    unsealed = safetensors.numpy.save({"cells": np.zeros(3)}, metadata={"bearsketch": "{}"})
    foreign = {
        "empty": b"",
        "seven bytes": b"1234567",
        "text": b"1 1:0.5 2:0.25\n" * 100,
        "gzip": b"\x1f\x8b\x08\x00" + b"\0" * 100,
        "pickle": pickle.dumps({"cells": [1.0] * 100}),
        "huge header": b"\xff" * 8 + b"{}",
        "zeros": b"\0" * 1000,
        "safetensors": tensors,
        "unsealed": unsealed,
    }
    for name, data in foreign.items():
        refused(tmp_path / name, data)


def test_a_missing_file_or_a_folder_is_a_source_error(tmp_path):
    for path in (tmp_path / "absent", tmp_path):
        with pytest.raises(SourceError, match="cannot read model"):
            load(path)


def test_a_later_format_is_refused_by_number(monkeypatch, tmp_path):
    now = model_file.FORMAT_VERSION
    monkeypatch.setattr(model_file, "FORMAT_VERSION", now + 1)
    data = model_file.pack(*state.dump(small_model()))
    monkeypatch.undo()
    refused(
        tmp_path / "later",
        data,
        f"format {now + 1}, this release reads formats {now - 1} and {now}",
    )


def leaves(value, path=()):
    """Every place in a nested record."""
    yield path
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from leaves(inner, (*path, key))


def replaced(value, path, new):
    if not path:
        return new
    return {**value, path[0]: replaced(value[path[0]], path[1:], new)}


NONSENSE = [
    *(None, -1, 0, 3, 1.5, True, "x", [], {}, [1, 2], [[1], [2]]),
    *(2**70, -(2**70), 10**400, "9" * 400),
]


def test_a_sealed_record_that_makes_no_sense_is_refused(tmp_path):
    """Whoever writes nonsense under a right checksum gets ModelFileError, never a crash."""
    arrays, record = state.dump(small_model())
    tried = usable = 0
    for path in leaves(record):
        for value in NONSENSE:
            if not path and not isinstance(value, dict):
                continue
            (tmp_path / "m").write_bytes(model_file.pack(arrays, replaced(record, path, value)))
            tried += 1
            with contextlib.suppress(ModelFileError):
                load(tmp_path / "m").weights_of([1])
                usable += 1
    assert tried > 400
    assert usable < tried / 3


def sealed(header):
    """A container with this header, under a right checksum."""
    header += b" " * (-len(header) % 8)
    blank = len(header).to_bytes(8, "little") + header
    at = blank.rfind(model_file.DIGEST_MARK) + len(model_file.DIGEST_MARK)
    digest = hashlib.sha256(blank).hexdigest().encode()
    return blank[:at] + digest + blank[at + 64 :]


DEEP = "[" * 100_000 + "]" * 100_000
SEAL = json.dumps({"sha256": "0" * 64}, separators=(",", ":"))


@pytest.mark.parametrize("record", ["7", '"x"', "[]", "null", "{}", "{", DEEP], ids=lambda r: r[:4])
def test_a_sealed_record_of_another_kind_is_refused(record, tmp_path):
    header = {"__metadata__": {"bearsketch": record, "other": SEAL}}
    refused(tmp_path / "m", sealed(json.dumps(header).encode()), "header is not readable")


@pytest.mark.parametrize("rest", ["}", ', "x": 7}', ', "__metadata__": 7}', f', "x": {DEEP}}}'])
def test_a_sealed_header_of_another_kind_is_refused(rest, tmp_path):
    good = json.dumps({"format": 2, "sha256": "0" * 64}, separators=(",", ":"))
    start = json.dumps({"__metadata__": {"bearsketch": good}})[:-1]
    refused(tmp_path / "m", sealed((start + rest).encode()))


def test_arrays_that_do_not_fit_are_refused(tmp_path):
    arrays, record = state.dump(small_model("float32"))
    keys, weights = arrays["selected.0.keys"], arrays["selected.0.weights"]
    infinite = np.full_like(arrays["cells"], np.inf)
    changes = {
        "selected twice": {"selected.0.keys": np.array([keys[0]] * 2)},
        "more than k": {
            "selected.0.keys": np.arange(3, dtype=np.uint64),
            "selected.0.weights": np.ones((3, 1), dtype=np.float32),
        },
        "fewer weights": {"selected.0.weights": weights[:1]},
        "weights not finite": {"selected.0.weights": np.full_like(weights, np.nan)},
        "cells not finite": {"cells": infinite},
        "fewer cells": {"cells": arrays["cells"][:-1]},
        "cells of another type": {"cells": np.zeros((2, 1))},
        "keys of another type": {"selected.0.keys": keys.astype(np.float64)},
        "intercepts": {"intercept": np.zeros(2)},
        "no offsets": {"selected.0.names.offsets": np.zeros(0, dtype=np.uint64)},
        "falling offsets": {"selected.0.names.offsets": np.array([0, 9, 4], dtype=np.uint64)},
        "offsets too long": {"selected.0.names.offsets": np.array([0, 1, 999], dtype=np.uint64)},
        "names of another type": {"selected.0.names.data": np.zeros(4)},
    }
    for what, change in changes.items():
        data = model_file.pack({**arrays, **change}, record)
        (tmp_path / what).write_bytes(data)
        with pytest.raises(ModelFileError, match="do not fit together"):
            load(tmp_path / what)
    for name in arrays.keys() - {"evidence.origins"}:  # absent from files written before it was
        rest = {other: array for other, array in arrays.items() if other != name}
        refused(tmp_path / "missing", model_file.pack(rest, record), "do not fit together")


WATCHER = """
import sys
from pathlib import Path
import numpy
import bearsketch, bearsketch.learners, bearsketch.learners.parts
seen = []
watched = ("open", "exec", "compile", "import", "marshal.loads", "pickle.find_class",
           "subprocess.Popen", "os.system", "ctypes.dlopen", "socket.connect")
path = sys.argv[1]
on = False
def hook(event, arguments):
    if on and event in watched:
        seen.append((event, str(arguments[0])))
sys.addaudithook(hook)
bearsketch.load(path)
on = True
learner = bearsketch.load(path)
on = False
print(len(learner.selected()), seen == [("open", path)], seen)
"""


def test_loading_runs_no_code_and_opens_nothing_else(tmp_path):
    small_model().save(tmp_path / "m")
    ran = subprocess.run(
        [sys.executable, "-c", WATCHER, str(tmp_path / "m")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.startswith("2 True"), ran.stdout


def test_a_failed_write_leaves_the_old_file_and_nothing_else(monkeypatch, tmp_path):
    path = tmp_path / "m"
    path.write_bytes(b"old")
    full = OSError(errno.ENOSPC, "No space left on device")

    def fail(*_):
        raise full

    for owner, name in ((os, "fsync"), (Path, "replace"), (os, "fchmod")):
        with monkeypatch.context() as patched:
            patched.setattr(owner, name, fail)
            with pytest.raises(SourceError, match=r"cannot write .* No space left") as caught:
                small_model().save(path)
        assert caught.value.code == "IO-WRITE"
        assert path.read_bytes() == b"old"
        assert list(tmp_path.iterdir()) == [path]


def test_an_interrupted_write_leaves_the_old_file_and_nothing_else(monkeypatch, tmp_path):
    path = tmp_path / "m"
    path.write_bytes(b"old")

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        small_model().save(path)
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full on this system")
def test_a_full_device_is_a_source_error():
    with pytest.raises(SourceError, match="cannot write to /dev/full: No space"):
        small_model().save("/dev/full")


def test_a_missing_folder_is_a_source_error(tmp_path):
    with pytest.raises(SourceError, match="cannot write"):
        small_model().save(tmp_path / "absent" / "m")


def test_the_mode_of_a_file_is_kept_and_a_new_one_follows_the_mask(tmp_path):
    path = tmp_path / "m"
    before = os.umask(0o027)
    try:
        small_model().save(path)
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    path.chmod(0o604)
    small_model().save(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o604
