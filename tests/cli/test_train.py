"""``bearsketch train``: what is detected, what is said, what is written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bearsketch import load
from tests.cli.helpers import bearsketch, good, result, spam_lines

KEYS = """
examples skipped unlabelled classes progressive_loss progressive_accuracy model_bytes
peak_rss_bytes seconds examples_per_second guards
""".split()


def test_without_options_everything_is_found_out(spam, tmp_path):
    done = good("train", spam, "-o", tmp_path / "m.bear")
    assert done.stdout == ""
    assert "vw data; 2 classes: 0, 1: loss logistic; bear+ in 256.0 KiB" in done.stderr
    assert "600 examples" in done.stderr
    assert "w^prize" in done.stderr
    assert load(tmp_path / "m.bear").labels.classes == (0, 1)


def test_json_alone_is_on_standard_output(spam, tmp_path):
    got = result("train", spam, "-o", tmp_path / "m.bear", "--memory", "8KiB", "-k", "10")
    assert set(KEYS) <= set(got)
    assert got["examples"] == 600
    assert got["skipped"] == got["unlabelled"] == 0
    assert got["classes"] == [0, 1]
    assert got["progressive_accuracy"] > 0.9
    assert 0 < got["progressive_loss"] < 0.3
    assert got["model_bytes"] <= 8192
    assert got["peak_rss_bytes"] > 10_000_000


def test_quiet_says_nothing(spam, tmp_path):
    done = good("train", spam, "-o", tmp_path / "m.bear", "--quiet")
    assert (done.stdout, done.stderr) == ("", "")


@pytest.mark.parametrize("named", [["-"], []])
def test_standard_input_is_read_when_piped(named, tmp_path):
    path = tmp_path / "m.bear"
    good("train", *named, "-o", path, "--memory", "8KiB", input=spam_lines())
    assert load(path).counters["examples"] == 600


def test_equal_runs_give_equal_bytes_whatever_the_threads(spam, tmp_path):
    copies = []
    for threads in (1, 2, 2):
        path = tmp_path / f"m{len(copies)}.bear"
        good("train", spam, "-o", path, "--memory", "8KiB", "--threads", threads)
        copies.append(path.read_bytes())
    assert copies[0] == copies[1] == copies[2]


def test_the_model_remembers_its_run_without_folders(spam, tmp_path):
    path = tmp_path / "m.bear"
    good("train", spam, "-o", path, "--memory", "8KiB")
    run = load(path).run
    assert run["sources"] == ["spam.vw"]
    assert run["format"] == "vw"
    assert run["counts"]["examples"] == run["counts"]["lines"] == 600
    assert run["curve"][-1][0] == 600
    assert run["curve"][-1][1] < run["curve"][0][1]
    assert str(tmp_path).encode() not in path.read_bytes()
    assert b"seconds" not in path.read_bytes()


def test_skipped_and_unlabelled_lines_are_counted_and_shown(tmp_path):
    data = tmp_path / "d.vw"
    data.write_text(spam_lines(200) + "1 |w a:nan\n |w no_label\n")
    got = bearsketch("train", data, "-o", tmp_path / "m.bear")
    assert got.returncode == 3
    assert "d.vw:201:" in got.stderr
    got = good(
        "train",
        data,
        "-o",
        tmp_path / "m.bear",
        "--on-error",
        "skip",
        "--max-errors",
        "2",
        "--json",
    )
    counts = json.loads(got.stdout)
    assert (counts["examples"], counts["skipped"], counts["unlabelled"]) == (200, 1, 1)
    assert "skipped[VW-" in got.stderr


def test_several_passes_and_a_constant_step(spam, tmp_path):
    got = result("train", spam, "-o", tmp_path / "m.bear", "--passes", "3", "-k", "5")
    assert got["passes"] == 3
    assert load(tmp_path / "m.bear").counters == {"examples": 1800, "batches": 18, "passes": 3}
    good("train", spam, "-o", tmp_path / "m.bear", "--learner", "mission", "--step-size", "0.5")
    step = load(tmp_path / "m.bear").config.to_json()["step"]
    assert step == {"kind": "Constant", "eta": 0.5}


def test_held_out_examples_test_the_final_model(spam, tmp_path):
    got = result("train", spam, "-o", tmp_path / "m.bear", "--holdout", "0.25", "-k", "10")
    assert 100 < got["held_out"] < 200
    assert got["examples"] == 600
    assert got["holdout"]["accuracy"] == got["holdout"]["selected_only"]["accuracy"] == 1.0
    assert load(tmp_path / "m.bear").counters["examples"] == 600 - got["held_out"]
    refused = bearsketch(
        "train", "-", "-o", tmp_path / "n.bear", "--holdout", "0.5", input=spam_lines()
    )
    assert refused.returncode == 2
    assert "read only once" in refused.stderr.replace("\n", " ")


def test_a_share_that_keeps_no_example_is_told(spam, tmp_path):
    told = good("train", spam, "-o", tmp_path / "m.bear", "--holdout", "0.0001").stderr
    assert "held out 0, learned 600: too few examples for the share to keep one" in told
    assert "held-out" not in told


def test_a_share_may_be_per_cent(spam, tmp_path):
    share = result("train", spam, "-o", tmp_path / "m.bear", "--holdout", "0.1")
    assert 0 < share["held_out"] < 100
    again = result("train", spam, "-o", tmp_path / "m.bear", "--holdout", "10%")
    assert again["held_out"] == share["held_out"]
    for wrong in ("ten", "100%", "-1%", "nan"):
        refused = bearsketch("train", spam, "-o", tmp_path / "m.bear", "--holdout", wrong)
        assert refused.returncode == 2
        assert "--holdout must be a share from 0 to below 1" in refused.stderr


def test_a_class_that_comes_late_is_refused_with_its_line(tmp_path):
    data = tmp_path / "late.vw"
    data.write_text(spam_lines(12_000) + "7 |w never_seen\n")
    got = bearsketch("train", data, "-o", tmp_path / "m.bear")
    assert got.returncode == 3
    assert "error[LABEL-UNKNOWN]" in got.stderr
    assert "late.vw:12001: unknown label 7; the classes" in got.stderr
    assert "--classes" in got.stderr
    assert "--max-classes" in got.stderr
    assert not (tmp_path / "m.bear").exists()


@pytest.mark.parametrize("told", [["--classes", "0,1,7"], ["--max-classes", "5"]])
def test_a_class_that_comes_late_is_learned_when_told(told, tmp_path):
    data, model = tmp_path / "late.vw", tmp_path / "m.bear"
    data.write_text(spam_lines(12_000) + "7 |w never_seen\n" * 400)
    got = result("train", data, "-o", model, "--memory", "32KiB", *told)
    assert got["classes"] == [0, 1, 7]
    guess = good("predict", model, input=" |w never_seen\n").stdout.splitlines()[1]
    assert guess.split("\t")[2] == "7"


def test_more_classes_than_room_are_refused(tmp_path):
    data = tmp_path / "d.vw"
    data.write_text(spam_lines(12_000) + "7 |w a\n8 |w b\n")
    got = bearsketch("train", data, "-o", tmp_path / "m.bear", "--max-classes", "3")
    assert got.returncode == 6
    assert "room was kept for 3" in got.stderr


def test_numbers_are_learned_as_numbers(tmp_path):
    data = tmp_path / "d.vw"
    data.write_text("".join(f"{2.5 * (i % 7)} |f x:{i % 7}\n" for i in range(700)))
    got = result("train", data, "-o", tmp_path / "m.bear", "--memory", "8KiB")
    assert (got["loss"], got["classes"], got["progressive_accuracy"]) == ("squared", None, None)


def test_options_of_reading_are_remembered(tmp_path):
    reads = tmp_path / "reads.fa"
    bases = {"left": "ACGTTGCATGTC", "right": "GGGATCCCTTAA"}
    names = list(bases)
    reads.write_text(
        "".join(f">r{i} taxon={names[i % 2]}\n{bases[names[i % 2]]}\n" for i in range(100))
    )
    model = tmp_path / "m.bear"
    good("train", reads, "-o", model, "--kmer", "5", "--label-regex", r"taxon=(\w+)")
    assert load(model).naming == "kmer:5"
    assert load(model).run["options"] == {"kmer": 5, "label_regex": r"taxon=(\w+)"}
    assert result("evaluate", model, reads)["accuracy"] == 1.0
    fasta = good("features", model, "--format", "fasta", "-n", "2").stdout.splitlines()
    assert fasta[0].startswith(">1 weight=")
    assert set(fasta[1]) <= set("ACGT")
    assert len(fasta[1]) == 5


def test_the_output_is_checked_before_training(spam, tmp_path):
    for output in (tmp_path, tmp_path / "nowhere" / "m.bear"):
        got = bearsketch("train", spam, "-o", output)
        assert got.returncode == 4
        assert "error[IO-WRITE]" in got.stderr
        assert "examples" not in got.stderr
    got = bearsketch("train", spam, "-o", spam)
    assert got.returncode == 2
    assert "one of the inputs" in got.stderr
    assert Path(spam).read_text() == spam_lines()


@pytest.mark.parametrize("size", ["64", "999"])
def test_a_small_size_without_a_unit_is_questioned(size, spam, tmp_path):
    done = good("train", spam, "-o", tmp_path / "m.bear", "--memory", size, "-k", "2")
    told = f"note: --memory {size} is {size} bytes; did you mean {size}KiB or {size}MiB?"
    assert told in done.stderr


@pytest.mark.parametrize("size", ["1024", "64b", "1KiB"])
def test_a_size_that_can_be_meant_is_not_questioned(size, spam, tmp_path):
    done = good("train", spam, "-o", tmp_path / "m.bear", "--memory", size, "-k", "2")
    assert "did you mean" not in done.stderr
    small = ("--memory", "64", "-k", "2", "--quiet")
    assert good("train", spam, "-o", tmp_path / "m.bear", *small).stderr == ""


def test_a_model_does_not_go_to_standard_output(spam, tmp_path):
    done = bearsketch("train", spam, "-o", "-", cwd=tmp_path)
    assert done.returncode == 2
    assert "the output must be a file, got - for standard output" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_labels_that_are_true_or_false_are_numbers_unless_named(tmp_path):
    table, model = tmp_path / "t.csv", tmp_path / "m.bear"
    table.write_text("word,label\n" + "free,True\nlunch,False\n" * 50)
    assert result("train", table, "-o", model)["classes"] == [0, 1]
    assert result("evaluate", model, table)["accuracy"] == 1.0
    for workers in ([], ["--workers", 1]):
        told = result("train", table, "-o", model, "--classes", "False,True", *workers)
        assert told["classes"] == ["False", "True"]
    assert result("evaluate", model, table)["accuracy"] == 1.0


def test_advice_is_given_in_options(tmp_path):
    data = tmp_path / "t.vw"
    data.write_text("a | x\n" * 600 + "b | y\n" * 600)
    told = good("train", data, "-o", tmp_path / "m.bear", "--classes", "a,b").stderr
    assert "shuffle the examples (lines: shuf; tables with a header: (head -n 1 t.csv; tail" in told
    assert "| shuf) > shuffled.csv; reads: seqkit shuffle)\n" in told
    assert "passes=5" not in told


def test_options_that_are_lists_may_be_repeated_and_hold_an_empty_name(tmp_path):
    data, model = tmp_path / "t.csv", tmp_path / "m.bear"
    rows = "".join(f"{i},{i % 3},{i % 5},{i % 2},{'yes' if i % 2 else 'no'}\n" for i in range(200))
    data.write_text(",a,b,c,label\n" + rows)

    def columns(*options):
        told = good("train", data, "-o", model, *options).stderr
        return next(line for line in told.splitlines() if "numeric columns" in line)

    assert columns("--drop", "a", "--drop", "b").endswith(": (no name), c")
    assert columns("--drop", ",a").endswith(": b, c")
    assert columns("--drop", "", "--drop", "a,c").endswith(": b")
    told = good("train", data, "-o", model, "--categorical", "a", "--categorical", "b").stderr
    assert "categorical columns: a, b" in told
    good("predict", model, data, "--drop", "c", "--drop", "", "-o", tmp_path / "p.tsv")
    told = good("train", data, "-o", model, "--classes", "no", "--classes", "yes").stderr
    assert "2 classes: no, yes, as named" in told


def test_a_name_in_a_list_may_hold_a_comma(tmp_path):
    data = tmp_path / "t.csv"
    data.write_text('"size, cm",b,label\n' + "1,2,yes\n2,1,no\n" * 100)
    told = good("train", data, "-o", tmp_path / "m.bear", "--drop", '"size, cm"').stderr
    assert "numeric columns: b" in told


def test_a_table_of_many_columns_is_learned_and_read_back(tmp_path):
    data, model = tmp_path / "genes.csv", tmp_path / "m.bear"
    columns = [f"expression_of_gene_{i:05}" for i in range(12_000)]
    rows = [
        ",".join([("yes", "no")[i % 2], *(str((i * 31 + j * 17) % 97 / 8) for j in range(12_000))])
        for i in range(24)
    ]
    data.write_text("\n".join([",".join(["label", *columns]), *rows]) + "\n")
    good("train", data, "-o", model, "--memory", "1MiB", "-k", "50")
    assert load(model).run["options"]["numeric"] == columns
    got = good("predict", model, data).stdout.splitlines()
    assert len(got) == 25
    header = int.from_bytes(model.read_bytes()[:8], "little")
    assert header < 20_000  # nothing in it grows with the columns


def test_rows_too_long_for_a_first_look_are_looked_at_all_the_same(tmp_path):
    # Each has 50,000 features: 4 MiB of them, as of other data, would be a few examples.
    data, model = tmp_path / "wide.csv", tmp_path / "m.bear"
    cells = ",".join(str(i % 9 + 1) for i in range(50_000))
    names = ",".join(f"g{i}" for i in range(50_000))
    rows = "".join(f"{('no', 'yes')[i // 2 % 2]},{i % 5},{cells}\n" for i in range(24))
    data.write_text(f"label,x,{names}\n{rows}")
    told = good("train", data, "-o", model, "--memory", "1MiB", "-k", "5").stderr
    assert "2 classes: no, yes" in told
    assert "24 examples" in told
    assert "learned at mean 0 and size 1" in told
