"""Rounds: one result for any number of workers, order of completion, crash and restart."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from bearsketch import make_learner
from bearsketch.distributed import Pool, Serial
from bearsketch.distributed.pool import Lost
from bearsketch.distributed.task import Round, learn_partition
from bearsketch.exceptions import (
    DataError,
    DistributedError,
    IncompatibleError,
    ModelFileError,
    ParseError,
)
from bearsketch.reading import open_stream
from bearsketch.training.checkpoint import Checkpoints
from faulty_partitions import Broken, Deadly, Sleepy, as_kind, with_spans

from .conftest import Runs, write_rows


@pytest.fixture(scope="module")
def wanted(runs):
    """Hash of the model that one process makes."""
    return runs.hash(Serial())


class Shuffled(Serial):
    """Gives results in another order, and some of them twice."""

    def run(self, asked):
        results = list(super().run(asked))
        yield results[-1]
        yield from reversed(results)


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_any_number_of_processes_gives_the_same_bytes(runs, wanted, workers):
    assert runs.hash(Pool(workers)) == wanted


def test_any_order_of_completion_gives_the_same_bytes(runs, wanted):
    sleepy = with_spans(runs.prepared.plan, lambda _, span: as_kind(span, Sleepy))
    with Pool(3) as pool:
        driver = runs.driver(sleepy)
        driver.run(pool)
    assert runs.finish(driver) == wanted


def test_results_that_come_twice_count_once(runs, wanted):
    assert runs.hash(Shuffled()) == wanted


def test_two_results_that_differ_are_refused(runs):
    class Fickle(Serial):
        def run(self, asked):
            for result in super().run(asked):
                yield result
                yield replace(result, examples=result.examples + 1)

    with pytest.raises(DistributedError, match="gave two results that differ") as caught:
        runs.hash(Fickle())
    assert caught.value.exit_code == 8
    assert caught.value.code == "DIST-DIFFERS"


def test_one_shard_and_one_round_is_the_plain_run(rows):
    runs = Runs(rows, shards=1, rounds=1)
    driver = runs.driver()
    driver.run(Serial())
    plain = make_learner(k=20, memory="2KiB", classes=[-1, 1])
    with open_stream(str(rows), rows=1000) as stream:
        for batch in stream:
            plain.learn(batch)
    plain.finish_pass()
    assert plain.selected().names == driver.learner.selected().names
    driver.learner.run = {}
    assert plain.to_bytes() == driver.learner.to_bytes()


def test_the_result_counts_every_example_once(runs):
    driver = runs.driver()
    driver.run(Serial())
    assert driver.learner.counters["examples"] == 3000
    assert driver.session.counts.lines == driver.session.first.examples == 3000
    assert driver.learner.counters["passes"] == 1
    assert [examples for examples, *_ in driver.session.first.curve.points()][-1] == 3000


def test_shards_find_the_features_one_stream_finds(rows):
    driver = Runs(rows, k=10, shards=4, rounds=4).driver()
    driver.run(Serial())
    assert {f"w{i}" for i in range(10)} == set(driver.learner.selected().names)


@pytest.mark.parametrize("learner", ["bear", "mission", "awm", "fh"])
def test_every_learner_merges(rows, learner):
    options = {"k": 10} if learner != "fh" else {"k": None}
    driver = Runs(rows, learner=learner, memory="8KiB", **options).driver()
    driver.run(Serial())
    assert driver.session.first.scores.accuracy > 0.7


def test_several_passes(rows):
    runs = Runs(rows, passes=2, k=10)
    driver = runs.driver()
    driver.run(Serial())
    assert driver.learner.counters["examples"] == 6000
    assert driver.learner.counters["passes"] == 2
    assert driver.session.counts.lines == 3000


def test_a_killed_worker_is_replaced_and_its_partition_learned_once(runs, wanted):
    killed = []

    def kill(driver):
        if len(killed) < 3 and driver.running and pool.pids():
            killed.append(pool.pids()[0])
            os.kill(killed[-1], signal.SIGKILL)

    pool = Pool(2, attempts=10)
    assert runs.hash(pool, watch=kill) == wanted
    assert len(killed) == 3


def test_a_worker_that_dies_in_a_task_does_not_count(runs, wanted, tmp_path):
    plan = with_spans(
        runs.prepared.plan,
        lambda part, span: as_kind(span, Deadly, marker=str(tmp_path / f"{part.id}")),
    )
    assert runs.hash(Pool(2), plan) == wanted
    assert len(list(tmp_path.iterdir())) == len(plan.partitions)


def test_a_worker_that_falls_silent_is_given_up(runs, wanted, tmp_path):
    plan = with_spans(
        runs.prepared.plan,
        lambda part, span: as_kind(
            span, Deadly, marker=str(tmp_path / "once"), signal=signal.SIGSTOP
        ),
    )
    start = time.monotonic()
    assert runs.hash(Pool(2, patience=1.5), plan) == wanted
    assert time.monotonic() - start < 60


def poisoned(runs, number=4):
    return with_spans(
        runs.prepared.plan,
        lambda part, span: as_kind(span, Deadly) if part.id == number else span,
    )


def test_a_partition_that_kills_its_workers_is_named(runs):
    plan = poisoned(runs)
    span = plan.partitions[4].spans[0]
    with pytest.raises(DistributedError) as caught:
        runs.hash(Pool(2), plan)
    assert caught.value.exit_code == 8
    assert f"partition 4 ({span.name}:{span.offset})" in str(caught.value)
    assert "signal 9" in str(caught.value)


def test_with_skip_a_lost_partition_is_reported(rows):
    runs = Runs(rows, options={"on_error": "skip"})
    driver = runs.driver(poisoned(runs))
    with Pool(2) as pool:
        driver.run(pool)
    assert len(driver.lost) == 1
    assert driver.lost[0].startswith("partition 4 (")
    lost = runs.prepared.plan.partitions[4].spans[0].open().read().count(b"\n")
    assert driver.session.counts.lines == 3000 - lost
    assert driver.learner.run["lost"] == driver.lost


def test_a_fault_of_a_task_is_named_with_its_partition(runs):
    plan = with_spans(runs.prepared.plan, lambda part, span: as_kind(span, Broken))
    with pytest.raises(DistributedError, match="RuntimeError: a fault of the test, 3 times"):
        runs.hash(Pool(1), plan)


@pytest.mark.parametrize("runner", [Serial, lambda: Pool(2)])
def test_a_broken_line_has_the_line_of_its_file(tmp_path, runner):
    path = write_rows(tmp_path / "rows.vw")
    lines = path.read_text().splitlines()
    lines[1234] = "nonsense | a"
    path.write_text("\n".join(lines) + "\n")
    runs = Runs(path, classes=[-1, 1])
    with pytest.raises(ParseError) as caught:
        runs.hash(runner())
    assert f"{path}:1235:" in str(caught.value)
    skipping = Runs(path, options={"on_error": "skip"})
    driver = skipping.driver()
    driver.run(Serial())
    assert f"{path}:1235:" in driver.errors[0]
    assert driver.session.counts.skipped == 1


def test_too_many_broken_lines_are_refused(tmp_path):
    path = write_rows(tmp_path / "rows.vw")
    lines = path.read_text().splitlines()
    lines[1500:2000:2] = ["nonsense | a"] * 250
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(DataError, match="more than max_errors allows"):
        Runs(path, options={"on_error": "skip"}).hash(Serial())
    few = Runs(path, options={"on_error": "skip", "max_errors": 0.2}).driver()
    few.run(Serial())
    assert few.session.counts.skipped == 250


def test_resuming_after_any_round_gives_the_same_bytes(runs, wanted, tmp_path):
    class StopError(Exception):
        pass

    for rounds in range(1, 4):
        folder = tmp_path / f"{rounds}"

        def watch(driver, rounds=rounds):
            if driver.done == rounds and driver.running:
                raise StopError

        with Checkpoints(folder) as kept, pytest.raises(StopError):
            runs.driver(checkpoint=kept).run(Serial(), watch)
        with Checkpoints(folder, resume=True) as kept:
            again = runs.driver(checkpoint=kept)
            assert again.resume()
            assert again.done == rounds
            again.run(Serial())
        assert runs.finish(again) == wanted
        kept.forget()
        assert not list(folder.iterdir())


def test_a_damaged_checkpoint_is_left_aside_for_the_one_before(runs, wanted, tmp_path):
    with Checkpoints(tmp_path) as kept:
        runs.hash(Serial(), checkpoint=kept)
    newest = max(tmp_path.glob("*.bear"))
    newest.write_bytes(newest.read_bytes()[:-1])
    with Checkpoints(tmp_path, resume=True) as kept:
        again = runs.driver(checkpoint=kept)
        with pytest.warns(UserWarning, match="checkpoint skipped, the previous one is tried"):
            assert again.resume()
        assert again.done == again.rounds - 1
        again.run(Serial())
    assert runs.finish(again) == wanted


def test_a_checkpoint_of_another_run_is_refused(runs, rows, tmp_path):
    with Checkpoints(tmp_path, resume=True) as kept:
        assert not runs.driver(checkpoint=kept).resume()
        runs.hash(Serial(), checkpoint=kept)
        for other, what in (
            ({"rounds": 5}, "files, shards or rounds differ"),
            ({"k": 21}, "config differs"),
            ({"options": {"on_error": "skip"}}, "options differs"),
            ({"k": 21}, "config differs: k was 20 when it was written, and is 21 now"),
            ({"k": 20, "seed": 3}, "config differs: seed was 0 .*, and is 3 now"),
            (
                {"options": {"on_error": "skip"}},
                "options differs: on_error was 'fail' .* 'skip' now",
            ),
            ({"passes": 2}, "passes differs: it was 1 when it was written, and is 2 now"),
            ({"classes": [1, -1]}, r"classes differs: it was \[-1, 1\] .* is \[1, -1\] now"),
        ):
            with pytest.raises(IncompatibleError, match=f"another run: {what}"):
                Runs(rows, **other).driver(checkpoint=kept).resume()


def test_a_checkpoint_of_a_single_run_is_none_of_rounds(runs, tmp_path):
    runs.prepared.learner.save(tmp_path / "checkpoint-00000001.bear")
    with (
        Checkpoints(tmp_path, resume=True) as kept,
        pytest.raises(ModelFileError, match="no checkpoint in .* is usable"),
        pytest.warns(UserWarning, match="is no checkpoint of rounds"),
    ):
        runs.driver(checkpoint=kept).resume()


def test_a_model_that_is_damaged_on_its_way_is_noticed(runs):
    model = bytearray(runs.prepared.learner.to_bytes())
    model[-1] ^= 1
    parts = runs.prepared.plan.of_round(0)[:1]
    with Pool(1) as pool:
        (answer,) = pool.run(Round(bytes(model), parts, runs.prepared.job))
    assert isinstance(answer, Lost)
    assert "its checksum does not match" in answer.reason


def test_workers_of_another_version_are_refused(runs):
    job = replace(runs.prepared.job, version="0.0.0")
    model = runs.prepared.learner.to_bytes()
    with pytest.raises(IncompatibleError, match="was started by bearsketch 0.0.0"):
        learn_partition(model, runs.prepared.plan.partitions[0], job)


def test_a_worker_goes_on_while_the_driver_looks_at_its_answer(runs):
    model, parts = runs.prepared.learner.to_bytes(), runs.prepared.plan.of_round(0)
    with Pool(1) as pool:
        answers = pool.run(Round(model, parts, runs.prepared.job))
        first = next(answers)
        assert pool._pool[0].pipe.poll(60.0)  # it speaks although nothing more was asked for
        assert [first.partition, *(answer.partition for answer in answers)] == [0, 1, 2]


def test_closing_ends_all_workers(runs):
    pool = Pool(2)
    runs.hash(pool)
    assert pool.pids() == []


FORKING = """
import sys, time
from bearsketch.distributed import Pool
with Pool(2, forks=True) as pool:
    print(*pool.pids(), flush=True)
    time.sleep(60)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="workers are not forked elsewhere")
def test_forked_workers_end_when_the_driver_is_killed():
    driver = subprocess.Popen([sys.executable, "-c", FORKING], stdout=subprocess.PIPE, text=True)
    with driver:
        pids = driver.stdout.readline().split()
        children = [Path(f"/proc/{pid}/cmdline") for pid in pids]
        # The same command line: a copy, where a new interpreter would have its own.
        assert len({child.read_bytes() for child in children}) == 1
        assert b"forks=True" in children[0].read_bytes()
        driver.kill()
    deadline = time.monotonic() + 30.0
    while any(_lives(pid) for pid in pids):
        assert time.monotonic() < deadline, "a worker outlives its driver"
        time.sleep(0.05)


def _lives(pid: str) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_lost_says_which_partition(runs):
    part = runs.prepared.plan.partitions[0]
    assert Lost(part, "why").partition.place == f"partition 0 ({part.spans[0].name}:0)"


def test_values_far_larger_than_the_others_are_told(tmp_path):
    path = tmp_path / "t.vw"
    path.write_text("".join(f"{i % 2} | a:{i * 1e4} b:0.5 c:0.5\n" for i in range(300)))
    runs = Runs(path)
    driver = runs.driver()
    with Serial() as serial:
        driver.run(serial)
    told = driver.session.warnings
    assert told[0].code == "DATA-SCALE"
    assert "'a'" in str(told[0])
