"""``predict``, ``evaluate``, ``features`` and ``info``."""

from __future__ import annotations

import csv
import io
import json
import math

import numpy as np
import pandas as pd
import pytest

from bearsketch import SketchClassifier, load
from bearsketch.reading import open_stream
from bearsketch.reading.remember import open_like
from tests.cli.helpers import bearsketch, good, result


def rows(text):
    return list(csv.reader(io.StringIO(text), delimiter="\t", quoting=csv.QUOTE_NONE))


def test_predictions_are_those_of_the_library(model, spam):
    got = rows(good("predict", model, spam, "--proba").stdout)
    assert got[0] == ["example", "tag", "prediction", "p(0)", "p(1)"]
    assert len(got) == 601
    assert got[8][:3] == ["8", "mail7", "1"]
    learner = load(model)
    batch = next(iter(open_stream(spam, rows=600)))
    expected = learner.predict_proba(batch)
    for i, row in enumerate(got[1:]):
        assert float(row[4]) == pytest.approx(expected[i, 1], rel=1e-4)


def test_predictions_need_no_labels_and_stream(model):
    got = rows(good("predict", model, "-", input=" |w prize\n'tag|w meeting\n").stdout)
    assert [row[1:] for row in got[1:]] == [["", "1"], ["tag", "0"]]


def test_predictions_as_json_lines_into_a_file(model, spam, tmp_path):
    output = tmp_path / "out.jsonl"
    done = good("predict", model, spam, "-o", output, "--to", "jsonl", "--proba", "-q")
    assert (done.stdout, done.stderr) == ("", "")
    first = json.loads(output.read_text().splitlines()[0])
    assert (first["example"], first["tag"], first["prediction"]) == (1, "mail0", 0)
    assert sum(first["probabilities"].values()) == pytest.approx(1.0)


def test_selected_only_predicts_with_the_named_features_alone(spam, tmp_path):
    model = tmp_path / "m.bear"
    good("train", spam, "-o", model, "--memory", "16KiB", "-k", "2")
    everything = good("predict", model, spam, "--proba").stdout
    selected = good("predict", model, spam, "--proba", "--selected-only").stdout
    assert everything != selected
    batch = next(iter(open_stream(spam, rows=600)))
    expected = load(model).predict_proba(batch, selected_only=True)
    assert float(rows(selected)[1][3]) == pytest.approx(expected[0, 0], rel=1e-4)


def test_predicted_numbers(tmp_path):
    data, model = tmp_path / "d.vw", tmp_path / "m.bear"
    data.write_text("".join(f"{2.5 * (i % 7)} |f x:{i % 7}\n" for i in range(2000)))
    good("train", data, "-o", model, "--memory", "8KiB")
    assert float(rows(good("predict", model, input=" |f x:4\n").stdout)[1][2]) == pytest.approx(
        10, abs=0.5
    )
    got = result("evaluate", model, data)
    assert got["r2"] > 0.95
    assert got["rmse"] < 1.0
    assert got["selected_only"]["r2"] > 0.95
    refused = bearsketch("predict", model, data, "--proba")
    assert refused.returncode == 2


def test_results_of_two_classes(model, spam):
    got = result("evaluate", model, spam)
    assert list(got) == [
        "examples", "weight", "skipped", "unlabelled", "classes", "accuracy", "auc", "log_loss",
        "brier", "calibration_error", "calibration_error_by_chance", "answered", "reliability",
        "confusion", "selected_only",
    ]  # fmt: skip
    assert (got["examples"], got["accuracy"], got["auc"]) == (600, 1.0, 1.0)
    assert got["confusion"] == [[300, 0], [0, 300]]
    assert 0 < got["log_loss"] < 0.2
    assert got["selected_only"]["accuracy"] == 1.0
    table = good("evaluate", model, spam).stdout
    assert table.splitlines()[0] == "600 examples"
    assert "accuracy          1.0000      1.0000" in table


def test_a_label_the_model_does_not_know(model, tmp_path):
    (tmp_path / "d.vw").write_text("1 |w prize\n5 |w prize\n")
    got = bearsketch("evaluate", model, tmp_path / "d.vw")
    assert got.returncode == 3
    assert "error[LABEL-UNKNOWN]" in got.stderr
    assert "d.vw:2: unknown label 5; the classes of the model are 0, 1" in got.stderr
    assert "--on-error skip" in got.stderr
    skipped = result(
        "evaluate", model, tmp_path / "d.vw", "--on-error", "skip", "--max-errors", "1"
    )
    assert (skipped["examples"], skipped["skipped"]) == (1, 1)


def test_features_as_a_table(model):
    proven, head, *lines = good("features", model, "-n", "2").stdout.splitlines()
    assert "names are proven at" in proven
    assert head.split()[:4] == ["rank", "weight", "class", "fdr"]
    assert head.split()[-1] == "name"
    shown = [line.split() for line in lines]
    assert {row[-1] for row in shown} == {"w^prize", "w^meeting"}
    # The class beside a weight is the one that it speaks for, here as in the other forms.
    table = good("features", model, "-n", "2", "--format", "tsv").stdout.splitlines()
    rows = [line.split("\t") for line in table[1:]]
    assert [(row[1], row[2]) for row in rows] == [(row[-1], row[2]) for row in shown]
    assert {row[-1]: (row[2], row[1][0]) for row in shown} == {
        "w^prize": ("1", "+"),
        "w^meeting": ("0", "-"),
    }


def test_features_as_json(model):
    got = json.loads(good("features", model, "--format", "json").stdout)
    assert list(got[0])[:6] == ["rank", "name", "class", "weight", "fdr", "log10_e"]
    assert [row["rank"] for row in got] == list(range(1, 21))
    worths = load(model).selected().worths
    values = [abs(row["weight"]) * worth for row, worth in zip(got, worths, strict=True)]
    assert values == sorted(values, reverse=True)


def test_features_of_one_class(three_classes, model):
    got = json.loads(good("features", three_classes, "--class", "cow", "--format", "json").stdout)
    assert got[0]["name"] == "w^café"
    assert got[0]["class"] == "cow"
    weights = [row["weight"] for row in got]
    assert weights == sorted(weights, reverse=True)
    two = json.loads(good("features", model, "--class", "0", "--format", "json").stdout)
    assert (two[0]["name"], two[0]["weight"] > 0) == ("w^meeting", True)


def test_hostile_names_reach_no_terminal_and_no_spreadsheet(three_classes, tmp_path):
    for form in ("table", "tsv", "json"):
        shown = good("features", three_classes, "--format", form).stdout
        assert "\x1b" not in shown
        assert "red" in shown
    assert r"w^red\x1b[31m" in good("features", three_classes, "--format", "tsv").stdout
    data, model = tmp_path / "d.vw", tmp_path / "m.bear"
    data.write_text("".join(f"{i % 2} |{' =1+1' if i % 2 else ' @cmd'}\n" for i in range(100)))
    good("train", data, "-o", model, "--memory", "8KiB", "-k", "5")
    names = {row[1] for row in rows(good("features", model, "--format", "tsv").stdout)[1:]}
    assert names == {"'=1+1", "'@cmd"}
    exact = {row["name"] for row in json.loads(good("features", model, "--format", "json").stdout)}
    assert exact == {"=1+1", "@cmd"}


def test_info_tells_sizes_data_and_noise(model):
    text = good("info", model).stdout
    for told in ("bear+, loss logistic", "2 classes: 0, 1", "600 examples", "spam.vw", "verdict"):
        assert told in text
    facts = json.loads(good("info", model, "--json").stdout)
    assert facts["model_bytes"] <= 16384
    assert facts["run"]["counts"]["examples"] == 600
    noise = facts["noise"]
    learner = load(model)
    expected = learner.fill()["rms"] / math.sqrt(learner.config.depth)
    assert noise["floor"] == pytest.approx(expected)
    sizes = (
        abs(learner.selected_weights()[:, 0]) * learner.selected_worths() / learner.fill()["worth"]
    )
    assert noise["smallest"] == pytest.approx(np.quantile(sizes, 0.05, method="lower"))
    assert noise["verdict"] == "ample"


def test_info_says_when_the_memory_is_too_small(tmp_path):
    data, model = tmp_path / "d.vw", tmp_path / "m.bear"
    lines = [
        f"{i % 2} |w " + " ".join(f"n{(i * 7919 + j * 104729) % 9973}" for j in range(30))
        for i in range(3000)
    ]
    data.write_text("\n".join(lines) + "\n")
    good("train", data, "-o", model, "--memory", "1KiB", "-k", "30", "--learner", "mission")
    assert "the memory is too small" in good("info", model).stdout


def test_columns_keep_their_kind_in_other_data(tmp_path):
    train, test, model = tmp_path / "a.csv", tmp_path / "b.csv", tmp_path / "m.bear"
    train.write_text("city,zip,click\n" + "rome,x1,1\nparis,22,0\n" * 100)
    test.write_text("city,zip\nrome,22\nparis,22\n")
    good("train", train, "-o", model, "--label-column", "click", "--memory", "8KiB")
    names = {row["name"] for row in json.loads(good("features", model, "--format", "json").stdout)}
    assert names == {"city=rome", "city=paris", "zip=x1", "zip=22"}
    got = rows(good("predict", model, test).stdout)
    assert [row[2] for row in got[1:]] == ["0", "0"] or [row[2] for row in got[1:]] == ["1", "0"]
    learner = load(model)
    options = {"categorical": ("city", "zip"), "names": False}
    batch = next(iter(open_stream(test, "csv", **options)))
    assert [str(label) for label in learner.predict(batch)] == [row[2] for row in got[1:]]


def test_reads_without_a_label_are_predicted(tmp_path):
    reads, model = tmp_path / "reads.fa", tmp_path / "m.bear"
    bases = {"left": "ACGTTGCATGTC", "right": "GGGATCCCTTAA"}
    texts = [f">r{i} taxon={name}\n{bases[name]}\n" for i in range(50) for name in bases]
    reads.write_text("".join(texts))
    good("train", reads, "-o", model, "--kmer", "5", "--label-regex", r"taxon=(\w+)")
    got = rows(good("predict", model, input=">new one\nACGTTGCATGTC\n").stdout)
    assert got[1] == ["1", "new one", "left"]


@pytest.fixture
def reads(tmp_path):
    """Reads of two taxa with numbers for names, and a model of them."""
    path, model = tmp_path / "reads.fa", tmp_path / "reads.bear"
    bases = {"0562": "ACGTTGCATGTC", "1280": "GGGATCCCTTAA"}
    path.write_text("".join(f">r{i}.{n} t={n}\n{bases[n]}\n" for i in range(50) for n in bases))
    good("train", path, "-o", model, "--kmer", "5", "--label-regex", r"t=(\w+)")
    return path, model


def test_taxa_that_are_numbers_are_names(reads):
    path, model = reads
    assert load(model).labels.classes == ("0562", "1280")
    assert (
        json.loads(good("evaluate", model, path, "--json").stdout)["selected_only"]["accuracy"]
        == 1.0
    )


def test_fasta_of_a_class_has_what_speaks_for_it(reads):
    _, model = reads
    good_for = good("features", model, "--class", "0562", "--format", "fasta").stdout
    both = good("features", model, "--format", "fasta").stdout
    weights = [float(line.split("weight=")[1].split()[0]) for line in good_for.splitlines()[::2]]
    assert min(weights) > 0.0
    assert len(both) > len(good_for) > 0


def test_labels_told_anew_replace_those_remembered(reads, tmp_path):
    path, model = reads
    table = tmp_path / "labels.tsv"
    names = [line[1:].split()[0] for line in path.read_text().splitlines()[::2]]
    table.write_text("".join(f"{name}\t{name.split('.')[1]}\n" for name in names))
    done = good("evaluate", model, path, "--label-table", table, "--json")
    assert json.loads(done.stdout)["selected_only"]["accuracy"] == 1.0


@pytest.mark.parametrize("option", ["--no-canonical", "--presence"])
def test_options_that_make_other_features_are_refused(reads, option):
    path, model = reads
    done = bearsketch("evaluate", model, path, option)
    assert done.returncode == 2
    assert "the model was trained with" in done.stderr


def test_a_window_shorter_than_a_kmer_is_refused(reads, tmp_path):
    done = bearsketch("train", reads[0], "-o", tmp_path / "m", "--kmer", "31", "--window", "20")
    assert done.returncode == 2
    assert "window must be at least as long as a k-mer (31), got 20" in done.stderr


@pytest.mark.parametrize("workers", [(), ("--workers", "1")])
def test_reads_shorter_than_the_kmers_are_told(reads, tmp_path, workers):
    options = ("--kmer", "21", "--label-regex", r"t=(\w+)", *workers)
    told = good("train", reads[0], "-o", tmp_path / "m.bear", *options).stderr
    assert "warning[DATA-FEATURES] 100 of 100 examples have no feature: are the reads" in told


def test_reads_of_the_other_format_come_through_a_pipe(reads):
    got = rows(good("predict", reads[1], input="@r\nACGTTGCATGTC\n+\nIIIIIIIIIIII\n").stdout)
    assert got[1][2] == "0562"


def test_labels_of_another_kind_do_not_matter_to_predictions(model):
    got = rows(good("predict", model, input="unknown |w prize\n").stdout)
    assert got[1][2] == "1"


@pytest.mark.parametrize("command", ["predict", "export"])
def test_a_bar_is_standard_output(command, model, spam, tmp_path):
    arguments = [model, spam] if command == "predict" else [model, "--to", "json"]
    plain = good(command, *arguments, "-q")
    named = good(command, *arguments, "-q", "-o", "-", cwd=tmp_path)
    assert named.stdout == plain.stdout != ""
    assert list(tmp_path.iterdir()) == []


def test_skipped_examples_keep_their_numbers(model, tmp_path):
    lines = [f"{i % 2} |w prize x{i}" for i in range(1, 1201)]
    for broken in (1, 2, 500, 960, 961, 1200):
        lines[broken - 1] = "1 |w:nonsense a"
    data, more = tmp_path / "d.vw", tmp_path / "e.vw"
    data.write_text("\n".join(lines[:700]) + "\n")
    more.write_text("\n".join(["", *lines[700:]]) + "\n")  # a blank line is no example
    done = good("predict", model, data, more, "--on-error", "skip")
    found = [int(line.split("\t")[0]) for line in done.stdout.splitlines()[1:]]
    assert found == [i for i in range(1, 1201) if i not in (1, 2, 500, 960, 961, 1200)]


def test_skipped_rows_of_a_table_keep_their_numbers(tmp_path):
    rows = [f"{i % 7},w{i % 3},{i % 2}" for i in range(1, 1201)]
    data, broken = tmp_path / "d.csv", tmp_path / "e.csv"
    data.write_text("\n".join(["n,w,label", *rows]) + "\n")
    good("train", data, "-o", tmp_path / "m.bear")
    rows[2], rows[479], rows[480], rows[899] = "1,2", "x,w1,1", "1,w,2,2,2", '1,"a\nb"c,1'
    broken.write_text("\n".join(["n,w,label", *rows]) + "\n")
    done = good("predict", tmp_path / "m.bear", broken, broken, "--on-error", "skip")
    found = [int(line.split("\t")[0]) for line in done.stdout.splitlines()[1:]]
    kept = [i for i in range(1, 1201) if i not in (3, 480, 481, 900)]
    assert found[: len(kept)] == kept
    assert len(found) == 2 * len(kept)


def test_info_says_nothing_of_data_that_a_model_does_not_remember(tmp_path):
    X = np.random.default_rng(0).normal(size=(200, 5))
    fitted = SketchClassifier("mission", k=2, memory="1KiB", selected_only=True).fit(X, X[:, 0] > 0)
    fitted.save(tmp_path / "m.bear")
    told = good("info", tmp_path / "m.bear").stdout
    assert "not remembered" in told
    assert "progressive   loss" in told  # fit scores as it learns
    stream = io.BytesIO(b"1 | a\n0 | b\n" * 50)
    SketchClassifier(k=2, memory="1KiB").fit_stream(stream, format="vw").save(tmp_path / "s.bear")
    told = good("info", tmp_path / "s.bear").stdout
    assert "(vw)" in told
    assert "\n0 examples" not in told


@pytest.mark.parametrize("command", ["predict", "evaluate"])
def test_a_model_of_a_frame_is_no_model_of_its_file(command, tmp_path):
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(50, 3)), columns=list("abc"))
    y = (frame["a"] > 0).astype(int)
    SketchClassifier(memory="4KiB").fit(frame, y).save(tmp_path / "df.bear")
    frame.assign(label=y).to_csv(tmp_path / "df.csv", index=False)
    got = bearsketch(command, tmp_path / "df.bear", tmp_path / "df.csv", "--label-column", "label")
    assert got.returncode == 5
    assert got.stdout == ""  # not even a head
    assert "numbers of columns" in got.stderr
    assert "bearsketch train" in got.stderr


@pytest.fixture
def prices(tmp_path):
    """Prices that follow from square metres, and a model of them."""
    data = tmp_path / "houses.csv"
    rng = np.random.default_rng(0)
    size, other = rng.normal(0, 100, (2, 3000))
    rows = (f"{s:.1f},{o:.1f},{2000 * s:.0f}" for s, o in zip(size, other, strict=True))
    data.write_text("metres,other,price\n" + "\n".join(rows) + "\n")
    good("train", data, "-o", tmp_path / "houses.bear", "--label-column", "price")
    return data, tmp_path / "houses.bear"


@pytest.mark.parametrize("label", ["TBD", "", "12", "nan"])
def test_predictions_ask_for_no_label_and_mind_none(prices, tmp_path, label):
    _, model = prices
    rows = [f"{i},{-i},{label if i % 7 == 0 else 10 * i}" for i in range(1, 50)]
    (tmp_path / "new.csv").write_text("metres,other,price\n" + "\n".join(rows) + "\n")
    assert len(good("predict", model, tmp_path / "new.csv").stdout.splitlines()) == 1 + 49
    with open_like(load(model), tmp_path / "new.csv") as stream:
        assert sum(len(batch) for batch in stream) == 49


def test_labels_of_vw_text_are_not_minded_either(model, tmp_path):
    (tmp_path / "d.vw").write_text("maybe |w prize\n1 |w prize\n|w meeting\n")
    assert len(good("predict", model, tmp_path / "d.vw").stdout.splitlines()) == 1 + 3


def test_a_column_that_is_nearly_there_is_named(prices, tmp_path):
    data, _ = prices
    got = bearsketch("train", data, "-o", tmp_path / "m.bear", "--label-column", "Prices")
    assert got.returncode == 2
    assert "there is no column 'Prices'; the columns are 'metres', 'other', 'price'" in got.stderr
    assert "Is 'price' meant?" in got.stderr
    got = bearsketch("train", data, "-o", tmp_path / "m.bear")
    assert "None is called 'label'; they are 'metres', 'other', 'price'" in got.stderr


def test_large_weights_stand_in_a_column(prices):
    _, model = prices
    _, head, first, *_ = good("features", model).stdout.splitlines()
    assert head.split()[:2] == ["rank", "weight"]
    assert head.split()[-1] == "name"
    assert first.split()[0] == "1"
    assert float(first.split()[1]) == pytest.approx(2000, rel=0.05)
    assert head.index("name") == first.index("metres")


def test_what_speaks_for_a_class_counts_by_the_size_of_its_values(tmp_path):
    rng = np.random.default_rng(0)
    size, word = rng.normal(0, 1000, 3000), rng.random(3000) < 0.5
    label = size / 500 + word + rng.logistic(size=3000) > 0
    rows = (f"{s:.0f},{w},{y}" for s, w, y in zip(size, word, label, strict=True))
    (tmp_path / "d.csv").write_text("size,word,label\n" + "\n".join(rows) + "\n")
    good("train", tmp_path / "d.csv", "-o", tmp_path / "m.bear")
    for label in ([], ["--class", "1"]):
        rows = good("features", tmp_path / "m.bear", *label).stdout.splitlines()
        head = next(i for i, row in enumerate(rows) if row.split()[0] == "rank")
        assert rows[head + 1].endswith("size")


def test_what_an_evaluation_leaves_out_is_told(model, tmp_path):
    (tmp_path / "d.vw").write_text("1 |w prize\n|w prize\n0 |w meeting\n")
    told = good("evaluate", model, tmp_path / "d.vw").stdout.splitlines()[0]
    assert told == "2 examples, 1 without a label"
