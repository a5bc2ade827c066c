"""Checkpoints and resuming: the same bytes as a run that never stopped."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from bearsketch import (
    LEARNERS,
    IncompatibleError,
    Learner,
    ModelFileError,
    ParameterError,
    SourceError,
    load,
    model_file,
)
from bearsketch.learners import state
from bearsketch.reading import open_stream
from bearsketch.training.checkpoint import Checkpoints, Every, parse_every, read_run
from bearsketch.training.session import Session
from reference.streams import batch_of, stream
from tests.training.runs import StopError, lines, trained

POOL = np.arange(40, dtype=np.uint64)


def make(learner, loss, precision):
    dense = learner in ("sgd", "olbfgs")
    own = learner == "bear+"  # it has one-byte cells and finds its steps itself
    precision = None if own else precision
    return {
        "learner": learner,
        "batch_size": 10,
        "intercept": True,
        "l2": 0.0 if own else 0.01,
        "precision": None if precision == "int8" and dense else precision,
        **({"dimension": 40} if dense else {"width": 16}),
        **({} if dense or learner == "fh" else {"k": 5}),
        "step_size": "auto" if own else 0.02,
    }


@pytest.mark.parametrize("precision", ["int8", "float32", "float64"])
@pytest.mark.parametrize("loss", ["squared", "logistic", "softmax"])
@pytest.mark.parametrize("learner", LEARNERS)
def test_an_exact_dump_goes_on_to_the_same_bytes(learner, loss, precision):
    from bearsketch import make_learner

    options = make(learner, loss, precision)
    options["classes"] = 4 if loss == "softmax" else None
    rows, labels = stream(loss, POOL, n_rows=300, active=6)
    straight, first = (make_learner(loss=loss, **options) for _ in range(2))
    for start in range(0, 300, 100):
        straight.learn(batch_of(rows[start : start + 100], labels[start : start + 100]))
        first.learn(batch_of(rows[start : start + 100], labels[start : start + 100]))
        data = model_file.pack(*state.dump(first, exact=True))
        assert model_file.pack(*state.dump(first, exact=True)) == data  # looking changes nothing
        first = Learner.from_bytes(data)
        assert model_file.pack(*state.dump(first, exact=True)) == data
    assert first.to_bytes() == straight.to_bytes()
    assert first.guards == straight.guards


RUNS = {
    "bear+": {},
    "bear": {"learner": "bear", "l2": 1e-3, "k": 30},
    "passes and holdout": {"passes": 3, "holdout": 0.2},
    "classes to come": {"classes": None, "max_classes": 5},
    "regression": {"loss": "squared"},
}


@pytest.mark.parametrize("name", RUNS)
def test_a_run_stopped_again_and_again_gives_the_same_bytes(name, tmp_path):
    options = RUNS[name]
    labels = {"classes to come": ("a", "b", "c"), "regression": ("1.5", "2.5")}
    data = lines(1800, labels.get(name, ("a", "b")))
    straight = trained(data, **options)
    for attempt in range(60):
        try:
            # A different place each time: sometimes before a checkpoint, sometimes just after.
            stopped = trained(data, tmp_path, stop_at=11 + 3 * (attempt % 4), **options)
            break
        except StopError:
            assert len(list(tmp_path.glob("checkpoint-*"))) <= 2
    assert attempt > 1
    assert stopped == straight


def test_a_checkpoint_is_a_model_too(tmp_path):
    with pytest.raises(StopError):
        trained(lines(), tmp_path, stop_at=20)
    newest = max(tmp_path.glob("checkpoint-*"))
    learner = load(newest)
    assert learner.counters["examples"] > 0
    assert len(learner.selected()) == 20


def test_no_time_between_checkpoints_changes_the_model(tmp_path):
    straight = trained(lines())
    for every in (1, 100, "0s", "1h"):
        folder = tmp_path / str(every)
        assert trained(lines(), folder, every=every) == straight
    with pytest.raises(StopError):
        trained(lines(), tmp_path / "hour", stop_at=30, every="1h")
    assert [path.name for path in (tmp_path / "hour").iterdir()] == ["lock"]


def test_a_damaged_newest_checkpoint_is_left_aside_aloud(tmp_path):
    straight = trained(lines())
    with pytest.raises(StopError):
        trained(lines(), tmp_path, stop_at=40)
    older, newest = sorted(tmp_path.glob("checkpoint-*"))
    newest.write_bytes(newest.read_bytes()[:-1])
    with pytest.warns(UserWarning, match="skipped, the previous one is tried.*was cut"):
        assert trained(lines(), tmp_path) == straight
    assert older.exists() or len(list(tmp_path.glob("checkpoint-*"))) == 2


def test_with_no_sound_checkpoint_nothing_is_started_over(tmp_path):
    with pytest.raises(StopError):
        trained(lines(), tmp_path, stop_at=40)
    for path in tmp_path.glob("checkpoint-*"):
        path.write_bytes(b"x" * 100)
    with (
        pytest.warns(UserWarning, match="checkpoint skipped"),
        pytest.raises(ModelFileError, match="no checkpoint in .* is usable") as caught,
    ):
        trained(lines(), tmp_path)
    assert caught.value.code == "CKPT-DAMAGED"


def test_a_model_in_the_folder_is_no_checkpoint(tmp_path):
    with pytest.raises(StopError):
        trained(lines(), tmp_path, stop_at=40)
    newest = max(tmp_path.glob("checkpoint-*"))
    load(newest).save(newest)
    with pytest.warns(UserWarning, match="is a model and no checkpoint"):
        assert trained(lines(), tmp_path) == trained(lines())


def test_a_link_is_not_followed(tmp_path):
    with pytest.raises(StopError):
        trained(lines(), tmp_path / "a", stop_at=40)
    newest = max((tmp_path / "a").glob("checkpoint-*"))
    newest.rename(tmp_path / "elsewhere")
    newest.symlink_to(tmp_path / "elsewhere")
    with pytest.warns(UserWarning, match="never a link"):
        trained(lines(), tmp_path / "a")


def test_a_folder_with_checkpoints_is_not_overwritten(tmp_path):
    with pytest.raises(StopError):
        trained(lines(), tmp_path, stop_at=40)
    with pytest.raises(ParameterError, match="holds checkpoints of an earlier run") as caught:
        trained(lines(), tmp_path, resume=False)
    assert caught.value.code == "CKPT-EXISTS"


def test_the_second_run_in_a_folder_is_refused(tmp_path):
    with Checkpoints(tmp_path) as first, pytest.raises(SourceError, match="another run") as caught:
        trained(lines(100), tmp_path)
    assert caught.value.code == "CKPT-BUSY"
    assert first.newest(read_run) is None
    trained(lines(100), tmp_path)  # the lock is gone with its owner


def test_nothing_is_left_once_the_result_is_safe(tmp_path):
    trained(lines(500), tmp_path, every=100)
    Checkpoints(tmp_path, resume=True).forget()
    assert list(tmp_path.iterdir()) == []
    with Checkpoints(tmp_path) as held, pytest.raises(SourceError, match="another run"):
        Checkpoints(tmp_path).forget()
    held.forget()


def test_a_lock_that_was_deleted_meanwhile_is_taken_anew(tmp_path, monkeypatch):
    import fcntl

    real = fcntl.flock

    def late(handle, operation):  # another run ends after we opened its lock, and deletes it
        monkeypatch.setattr(fcntl, "flock", real)
        (tmp_path / "lock").unlink()
        real(handle, operation)

    monkeypatch.setattr(fcntl, "flock", late)
    with (
        Checkpoints(tmp_path),
        pytest.raises(SourceError, match="another run"),
        Checkpoints(tmp_path),
    ):
        pass


def test_what_a_dead_run_left_half_written_is_removed(tmp_path):
    (tmp_path / ".checkpoint-00000001.bear.12345.tmp").write_bytes(b"half")
    trained(lines(300), tmp_path)
    assert not list(tmp_path.glob(".*"))


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"seed": 1}, "seed"),
        ({"memory": "9KiB"}, "width"),
        ({"k": 21}, "k was 20"),
        ({"passes": 2}, "passes was 1"),
        ({"holdout": 0.5}, "holdout"),
        ({"learner": "mission"}, "learner"),
        ({"loss": "logistic"}, "loss was 'auto'"),
        ({"batch_size": 30}, "batch_size"),
    ],
)
def test_another_configuration_is_refused_by_name(change, named, tmp_path):
    with pytest.raises(StopError):
        trained(lines(), tmp_path, stop_at=40)
    with pytest.raises(IncompatibleError, match=named) as caught:
        trained(lines(), tmp_path, **change)
    assert caught.value.exit_code == 5


def test_another_version_is_refused(tmp_path, monkeypatch):
    with pytest.raises(StopError):
        trained(lines(), tmp_path, stop_at=40)
    monkeypatch.setattr("bearsketch.__version__", "99.0")
    with pytest.raises(IncompatibleError, match="version was .* and is '99.0' now"):
        trained(lines(), tmp_path)


def test_other_data_are_refused(tmp_path):
    with pytest.raises(StopError):
        trained(lines(), tmp_path, stop_at=40)
    later = lines().partition(b"\n")[2]
    for changed in (lines().replace(b"n7 ", b"n8 ", 1), lines(200), later):
        with pytest.raises(IncompatibleError, match="not those that the checkpoint"):
            trained(changed, tmp_path)
    assert trained(lines(), tmp_path) == trained(lines())


def test_a_file_that_changed_is_refused_by_name(tmp_path):
    path, folder = tmp_path / "d.vw", tmp_path / "c"
    path.write_bytes(lines())

    def run(stop=None):
        def watch(training):
            if training.examples == stop:
                raise StopError

        with open_stream(path, rows=60, include_unlabelled=False) as opened:
            kept = Checkpoints(folder, 400, resume=True)
            training = Session(opened, memory="8KiB", k=20, checkpoint=kept)
            training.run(watch)
            kept.forget()
        return training

    with pytest.raises(StopError):
        run(1200)
    path.write_bytes(lines() + b"a |w late\n")
    with pytest.raises(IncompatibleError, match=r"size of input d\.vw was .* and is .* now"):
        run()
    assert len(list(folder.glob("checkpoint-*"))) == 2


def test_how_often(tmp_path):
    assert parse_every("90s") == Every(seconds=90.0)
    assert parse_every("1.5h") == Every(seconds=5400.0)
    assert parse_every(" 500 ") == Every(examples=500)
    for wrong in ("", "0", "-1", "1.5", "s", "5 d", "1e3", None, "9" * 20):
        with pytest.raises(ParameterError, match="checkpoint_every must be"):
            parse_every(wrong)


def test_a_folder_that_cannot_be_is_a_source_error(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(SourceError, match="cannot use the folder"):
        trained(lines(100), tmp_path / "file")


def test_checkpoints_work_outside_the_main_thread(tmp_path):
    found = []
    worker = threading.Thread(target=lambda: found.append(trained(lines(600), tmp_path)))
    worker.start()
    worker.join()
    assert found == [trained(lines(600))]
