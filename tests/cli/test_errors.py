"""Every way to fail: its exit code, its message, and nothing left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.helpers import COMMAND, bearsketch, good


def failed(code, *arguments, says, **options):
    """Run a command that must fail with a code and a message, without a traceback."""
    done = bearsketch(*arguments, **options)
    assert done.returncode == code, done.stderr
    assert says in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    return done


def test_usage(spam, model):
    failed(2, "train", spam, says="Missing option '--output'")
    failed(2, "no-such-command", says="No such command")
    failed(2, "train", spam, "-o", "m.bear", "--learner", "x", says="learner must be one of bear+")
    failed(2, "train", spam, "-o", "m.bear", "--memory", "lots", says="a size must be a number")
    failed(2, "train", spam, "-o", "m.bear", "--max-errors", "5", says="needs --on-error skip")
    failed(2, "train", spam, "-o", "m.bear", "--ngrams", "a-b", says="--ngrams must be")
    failed(2, "train", spam, "-o", "m.bear", "--step-size", "big", says="--step-size must be auto")
    failed(2, "features", model, "--format", "xml", says="--format must be one of table, tsv")
    failed(2, "features", model, "--class", "2", says="--class must be one of 0, 1, got '2'")
    failed(2, "features", model, "--format", "fasta", says="needs k-mers")
    failed(2, "predict", model, spam, "--to", "xml", says="--to must be one of tsv, jsonl")


def test_an_option_that_is_not_there_is_told_with_those_that_have_its_word(spam):
    labels = "--label-column, --label-from, --label-regex, --label-table"
    wide = {"COLUMNS": "200"}
    failed(2, "train", spam, "--label", says=f"(Possible options: {labels})", environment=wide)
    failed(2, "train", spam, "--regex", "X", says="(Possible options: --label-regex)")
    failed(2, "train", spam, "--lernar", "bear", says="(Possible options: --learner")
    failed(2, "train", spam, "--zzzzzz", says="No such option: --zzzzzz")


def test_inputs_that_cannot_be_read_fail_before_training(spam, tmp_path):
    output = tmp_path / "m.bear"
    missing = failed(4, "train", spam, tmp_path / "no.vw", "-o", output, says="no such file")
    assert "error[SRC-MISSING]" in missing.stderr
    assert "examples" not in missing.stderr
    failed(4, "train", tmp_path, "-o", output, says="this is a directory, not a file")
    failed(4, "train", tmp_path / "*.nothing", "-o", output, says="no file matches")
    assert not output.exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_an_unreadable_file(tmp_path):
    secret = tmp_path / "secret.vw"
    secret.write_text("1 |a b\n")
    secret.chmod(0)
    failed(4, "train", secret, "-o", tmp_path / "m.bear", says="reading is not permitted")


def test_closed_standard_input(tmp_path):
    done = subprocess.run(
        ["sh", "-c", f'"{COMMAND}" train - -o "{tmp_path}/m.bear" <&-'],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 4
    assert "standard input is closed" in done.stderr


def test_bad_data_names_its_place(tmp_path):
    data = tmp_path / "d.svm"
    data.write_text("1 3:0.5\n0 4:1\n1 5:x\n")
    done = failed(3, "train", data, "-o", tmp_path / "m.bear", says=f"{data}:3:5")
    assert done.stderr.startswith("error[LSV-")
    assert not (tmp_path / "m.bear").exists()


def test_an_empty_input(tmp_path):
    (tmp_path / "d.vw").write_text("")
    failed(3, "train", tmp_path / "d.vw", "-o", tmp_path / "m.bear", says="there is no example")


def test_one_label_only(tmp_path):
    (tmp_path / "d.vw").write_text("spam |w a\n" * 50)
    done = failed(3, "train", tmp_path / "d.vw", "-o", tmp_path / "m.bear", says="two classes")
    assert "error[LABEL-ONE]" in done.stderr


def test_damaged_and_foreign_models(model, spam, tmp_path):
    whole = model.read_bytes()
    cut = tmp_path / "cut.bear"
    cut.write_bytes(whole[:-1])
    flipped = tmp_path / "flipped.bear"
    flipped.write_bytes(whole[:2000] + bytes([whole[2000] ^ 1]) + whole[2001:])
    for command, path in (
        ("features", cut),
        ("info", flipped),
        ("info", spam),
        ("predict", cut),
        ("evaluate", cut),
    ):
        done = failed(5, command, path, says="is not a usable model file", input="")
        assert "error[MODEL-" in done.stderr
    failed(4, "info", tmp_path / "no.bear", says="cannot read model")


def test_models_that_do_not_belong_together(spam, model, tmp_path):
    other = tmp_path / "other.bear"
    good("train", spam, "-o", other, "--memory", "16KiB", "-k", "20", "--seed", "1")
    done = failed(5, "merge", model, other, "-o", tmp_path / "c.bear", says="seed is 0 here")
    assert "other.bear" in done.stderr
    assert not (tmp_path / "c.bear").exists()


def test_data_of_another_kind_than_the_model(model, tmp_path):
    data = tmp_path / "d.svm"
    data.write_text("1 3:0.5\n0 4:1\n")
    failed(5, "evaluate", model, data, says="of another kind (name) than those of the data (id)")


def test_a_budget_that_is_too_small(spam, tmp_path):
    failed(6, "train", spam, "-o", tmp_path / "m.bear", "--memory", "10B", says="memory must be")


def test_divergence(spam, tmp_path):
    arguments = ["--learner", "mission", "--step-size", "1e30"]
    done = failed(7, "train", spam, "-o", tmp_path / "m.bear", *arguments, says="diverged")
    assert "error[NUM-DIVERGED]" in done.stderr
    assert not (tmp_path / "m.bear").exists()


def test_a_full_disk(spam, model):
    failed(4, "train", spam, "-o", "/dev/full", "--quiet", says="No space left on device")
    failed(4, "predict", model, spam, "-o", "/dev/full", says="No space left on device")
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [COMMAND, "features", model], stdout=full, stderr=subprocess.PIPE, check=False
        )
    assert done.returncode == 4
    assert b"No space left on device" in done.stderr


def test_a_reader_that_goes_away_is_no_error(tmp_path):
    data, model = tmp_path / "d.vw", tmp_path / "m.bear"
    data.write_text("".join(f"{i % 2} |w {'long' * 40}{i} b{i % 9}\n" for i in range(3000)))
    good("train", data, "-o", model, "-k", "1000")
    for command in (f'features "{model}" --format json', f'predict "{model}" "{data}" --to jsonl'):
        done = subprocess.run(
            ["bash", "-c", f'"{COMMAND}" {command} | head -1; echo "${{PIPESTATUS[0]}}"'],
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        assert done.stdout.splitlines()[-1] == "141"
        assert done.stderr == ""


def test_features_into_head(model):
    done = subprocess.run(
        ["bash", "-c", f'"{COMMAND}" features "{model}" | head -1'],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert done.stdout.split() == ["rank", "weight", "class", "name"]
    assert done.stderr == ""


@pytest.mark.parametrize("waits", [False, True], ids=["busy", "waiting for input"])
def test_interrupted(waits, spam, tmp_path):
    output = tmp_path / "m.bear"
    source = ["-"] if waits else [str(spam)]
    passes = [] if waits else ["--passes", "100000"]
    process = subprocess.Popen(
        [COMMAND, "train", *source, "-o", str(output), *passes],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        if waits:
            time.sleep(3)  # it says nothing until it has read something
        else:
            assert b"2 classes" in process.stderr.readline()
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=20)
    finally:
        process.kill()
    assert process.returncode == 130
    assert b"interrupted" in said
    assert b"Traceback" not in said
    assert list(tmp_path.iterdir()) == []


def test_an_unexpected_error_asks_for_a_report(model):
    code = (
        "import sys, bearsketch.cli.features as f\n"
        "f.load_model = lambda path: 1 / 0\n"
        "from bearsketch.cli.app import main\n"
        f"sys.argv = ['bearsketch', 'features', {str(model)!r}]\n"
        "main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 70
    assert "ZeroDivisionError" in done.stderr
    assert "internal error, please report" in done.stderr


def test_evaluate_takes_either_label_of_the_negative_class_and_not_both(tmp_path):
    data, model = tmp_path / "d.vw", tmp_path / "m.bear"
    data.write_text("1 |a b\n" * 12_000 + "0 |a c\n" * 100)
    good("train", data, "-o", model, "-q")
    good("evaluate", model, input="1 |a b\n-1 |a c\n")
    both = "1 |a b\n-1 |a c\n0 |a c\n"
    failed(3, "evaluate", model, input=both, says="<stdin>:3: label 0 is none of the classes so")


def test_examples_that_all_have_weight_0_test_nothing(model, tmp_path):
    weightless = tmp_path / "weightless.vw"
    weightless.write_text("1 0 |w prize\n0 0 |w meeting\n")
    says = "[DATA-WEIGHT] examples must not all have weight 0, got 2 that have: nothing was tested"
    failed(3, "evaluate", model, weightless, says=says)
    page = tmp_path / "page.html"
    failed(3, "report", model, "--data", weightless, "-o", page, says=says)
    assert not page.exists()
    good("evaluate", model, input="1 0 |w prize\n0 |w meeting\n")
