"""``train`` with several workers."""

from __future__ import annotations

import gzip
import hashlib
import os
import signal
import subprocess
import time

import numpy as np
import pytest

from bearsketch import load
from bearsketch.training.checkpoint import Checkpoints
from tests.cli.helpers import COMMAND, ENVIRONMENT, bearsketch, good, result, spam_lines

OPTIONS = ["--memory", "4KiB", "-k", "20"]


@pytest.fixture(scope="module")
def mail(tmp_path_factory):
    path = tmp_path_factory.mktemp("mail") / "mail.vw"
    path.write_text(spam_lines(4000))
    return path


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def train(data, output, *options, **more):
    return good("train", data, "-o", output, *OPTIONS, *options, **more)


def test_the_number_of_workers_leaves_no_trace(mail, tmp_path):
    digests = set()
    for workers in (1, 2, 3):
        output = tmp_path / f"{workers}.bear"
        done = train(mail, output, "--workers", workers, "--shards", 3, "--rounds", 2)
        digests.add(digest(output))
        assert "6 partitions: 2 rounds of 3 shards" in done.stderr
    assert len(digests) == 1
    learner = load(output)
    assert {"prize", "meeting"} <= {name.split("^")[-1] for name in learner.selected().names}
    assert learner.run["counts"]["examples"] == 4000
    assert (learner.run["shards"], learner.run["rounds"]) == (3, 2)
    assert good("evaluate", output, mail, "--json").returncode == 0


def test_the_result_has_the_keys_of_one_process(mail, tmp_path):
    one = result("train", mail, "-o", tmp_path / "a.bear", *OPTIONS)
    two = result("train", mail, "-o", tmp_path / "b.bear", *OPTIONS, "--workers", 1)
    assert set(one) == set(two)
    same = ("examples", "skipped", "classes", "k", "model_bytes", "learner", "loss")
    assert [one[name] for name in same] == [two[name] for name in same]
    assert two["progressive_accuracy"] > 0.9
    assert two["progressive_auc"] > 0.9


def test_auc_is_that_of_all_partitions_together(tmp_path):
    path = tmp_path / "noisy.vw"
    told = np.random.default_rng(0).random(6000) < 0.7
    words = (i % 2 if told[i] else 1 - i % 2 for i in range(6000))
    lines = (f"{i % 2} {1 + i % 3} |w x{w} y{i % 13}\n" for i, w in enumerate(words))
    path.write_text("".join(lines))
    train = ("train", path, "-o", tmp_path / "m.bear", *OPTIONS)
    one = result(*train)["progressive_auc"]
    assert 0.5 < one < 0.99
    # One partition is what one process learns, in the same order.
    assert result(*train, "--workers", 1, "--shards", 1, "--rounds", 1)["progressive_auc"] == one
    parts = [*train, "--shards", 2, "--rounds", 3, "--workers"]
    several = result(*parts, 2)["progressive_auc"]
    assert several == result(*parts, 1)["progressive_auc"]
    assert abs(several - one) < 0.1
    assert load(tmp_path / "m.bear").run["progressive_auc"] == several


def test_whole_files_are_said_to_keep_workers_idle(mail, tmp_path):
    packed = tmp_path / "mail.vw.gz"
    packed.write_bytes(gzip.compress(mail.read_bytes()))
    done = train(packed, tmp_path / "m.bear", "--workers", 2)
    assert "warning[DIST-WHOLE]" in done.stderr
    assert "at most 1 of 2 workers" in done.stderr


def test_a_field_is_missing_where_no_partition_has_it(tmp_path):
    lines = [f'{{"a": {i % 2}, "label": {i % 2}}}\n' for i in range(1, 3001)]
    path = tmp_path / "a.jsonl"
    path.write_text('{"a": 1, "rare": 1, "label": 1}\n' + "".join(lines))
    options = ["--drop", "rare,gone", "--workers", 2, "--shards", 3, "--rounds", 1]
    done = train(path, tmp_path / "m.bear", *options)
    assert done.stderr.count("JSL-FIELD-MISSING") == 1
    assert "no example has the field 'gone', which drop (--drop) names" in done.stderr


def test_a_table_keeps_its_columns(tmp_path):
    for i in range(4):
        (tmp_path / f"{i}.csv").write_text("city,age,label\n" + "rome,3,1\noslo,4,0\n" * 500)
    output = tmp_path / "m.bear"
    files = [tmp_path / f"{i}.csv" for i in range(4)]
    good("train", *files, "-o", output, *OPTIONS, "--workers", 2)
    assert load(output).counters["examples"] == 4000
    assert load(output).run["n_sources"] == 4


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--workers", "0"], "--workers must be 1 to 1024, got 0"),
        (["--workers", "2", "--cluster", "tcp://a:1"], "give --workers or --cluster, not both"),
        (
            ["--workers", "2", "--holdout", "0.1"],
            "--holdout cannot be combined with several workers",
        ),
        (["--workers", "2", "--max-classes", "3"], "--max-classes cannot be combined with"),
        (["--workers", "2", "--rounds", "0"], "rounds must be an integer from 1"),
        (["--workers", "2", "--patience", "0"], "--patience must be at least 1 second"),
        (["--workers", "2", "--resume"], "--resume needs --checkpoint DIR"),
        (["--rounds", "2"], "need --workers or --cluster"),
    ],
)
def test_what_does_not_go_together_is_refused(mail, tmp_path, options, message):
    done = bearsketch("train", mail, "-o", tmp_path / "m.bear", *OPTIONS, *options)
    assert done.returncode == 2
    assert message in done.stderr


def test_standard_input_is_refused(tmp_path):
    done = bearsketch("train", "-", "-o", tmp_path / "m.bear", "--workers", 2, input=spam_lines(50))
    assert done.returncode == 2
    assert "workers need files they can open themselves, got <stdin>" in done.stderr


def test_nobody_at_the_address(mail, tmp_path):
    pytest.importorskip("distributed")
    options = ["--cluster", "tcp://127.0.0.1:9", "--patience", "1"]
    done = bearsketch("train", mail, "-o", tmp_path / "m.bear", *OPTIONS, *options)
    assert done.returncode == 8
    assert "error[DIST-CONNECT]" in done.stderr
    assert not (tmp_path / "m.bear").exists()


@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGKILL, -signal.SIGKILL), (signal.SIGINT, 130), (signal.SIGTERM, 143)],
)
def test_a_stopped_driver_goes_on_from_its_checkpoint(number, code, mail, tmp_path):
    options = ["--workers", "2", "--shards", "4", "--rounds", "30"]
    train(mail, tmp_path / "whole.bear", *options)
    folder, output = tmp_path / "rounds", tmp_path / "m.bear"
    command = [COMMAND, "train", mail, "-o", output, *OPTIONS, *options, "--checkpoint", folder]
    process = subprocess.Popen(
        [*map(str, command)], env=ENVIRONMENT, stderr=subprocess.PIPE, start_new_session=True
    )
    until = time.monotonic() + 60
    while not list(folder.glob("rounds-*.bear")) and time.monotonic() < until:
        time.sleep(0.005)
    os.kill(process.pid, number)
    said = process.communicate(timeout=30)[1].decode()
    assert process.returncode == code
    assert not output.exists()
    assert list(folder.glob("rounds-*.bear"))
    if number != signal.SIGKILL:
        assert "interrupted; no model was written; continue from " in said
        assert said.rstrip().endswith(".bear with --resume")
    refused = bearsketch(*map(str, command[1:]))
    assert refused.returncode == 2
    assert "error[CKPT-EXISTS]" in refused.stderr
    alone = ["train", mail, "-o", output, *OPTIONS, "--checkpoint", folder, "--resume"]
    for other, reason in (
        (alone, "holds checkpoints of a run with workers"),
        (
            [*command[1:], "--shards", "3", "--resume"],
            "another run: files, shards or rounds differ",
        ),
    ):
        refused = bearsketch(*map(str, other))
        assert refused.returncode == 5
        assert "error[CKPT-OTHER]" in refused.stderr
        assert reason in refused.stderr
    done = good(*map(str, command[1:]), "--resume")
    assert "resumed after round" in done.stderr
    assert digest(output) == digest(tmp_path / "whole.bear")
    assert not list(folder.iterdir())


def test_columns_that_may_be_meant_otherwise_are_told(tmp_path):
    path = tmp_path / "shop.csv"
    path.write_text("price;label\n" + "1,5;1\n2,25;0\n" * 50)
    done = train(path, tmp_path / "m.bear", "--workers", 2)
    assert done.stderr.count("warning[TAB-DECIMAL]") == 1


def test_a_second_run_in_the_same_folder_is_refused(mail, tmp_path):
    with Checkpoints(tmp_path / "rounds", name="rounds"):
        options = ["--workers", "2", "--checkpoint", tmp_path / "rounds"]
        done = bearsketch("train", mail, "-o", tmp_path / "m.bear", *OPTIONS, *options)
    assert done.returncode == 4
    assert "error[CKPT-BUSY]" in done.stderr


def test_targets_far_from_zero_are_scored_as_by_one_process(tmp_path):
    data = tmp_path / "d.csv"
    rows = "".join(f"c{i % 3},{1_000_000 + i % 3}.5\n" for i in range(3000))
    data.write_text("c,label\n" + rows)
    for workers in ([], ["--workers", 1]):
        told = result("train", data, "-o", tmp_path / "m.bear", *workers)
        assert told["progressive_rmse"] < 10.0
        assert told["examples"] == 3000
