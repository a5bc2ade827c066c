"""Training that goes on from a model."""

from __future__ import annotations

import json

import numpy as np
import pytest

from bearsketch import load
from bearsketch.learners import state
from bearsketch.reading.remember import open_like
from cli.helpers import bearsketch, good


def lines(n, seed, classes):
    rng = np.random.default_rng(seed)
    for _ in range(n):
        label = classes[rng.integers(len(classes))]
        word = label if rng.random() < 0.8 else classes[0]
        yield f"{label},{word},{rng.integers(300)},{rng.normal(40, 9):.2f}\n"


@pytest.fixture(scope="module", params=[("0", "1"), ("a", "b", "c"), ("1.5", "2.5", "9")])
def files(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("init")
    loss = "squared" if "1.5" in request.param else "auto"
    for name, n, seed in (("one.csv", 10_400, 1), ("two.csv", 3000, 2)):
        head = "label,word,id,age\n"
        (folder / name).write_text(head + "".join(lines(n, seed, request.param)))
    options = ["--memory", "4KiB", "--loss", loss, "--categorical", "id"]
    good("train", folder / "one.csv", "-o", folder / "one.bear", "-q", *options)
    both = [folder / "one.csv", folder / "two.csv"]
    good("train", *both, "-o", folder / "both.bear", "-q", *options)
    good("train", "--init", folder / "one.bear", both[1], "-o", folder / "two.bear", "-q")
    return folder


def test_it_is_one_run_over_both_files(files):
    one, two = load(files / "both.bear"), load(files / "two.bear")
    arrays = [state.dump(model)[0] for model in (one, two)]
    assert set(arrays[0]) == set(arrays[1])
    for name, array in arrays[0].items():
        np.testing.assert_array_equal(array, arrays[1][name], err_msg=name)
    assert one.selected().names == two.selected().names
    assert one.counters == two.counters
    with open_like(one, files / "two.csv") as stream:
        batch = next(iter(stream))
    np.testing.assert_array_equal(one.predict(batch), two.predict(batch))
    if one.config.loss != "squared":
        np.testing.assert_array_equal(one.predict_proba(batch), two.predict_proba(batch))


def test_info_lists_both_runs(files):
    shown = good("info", files / "two.bear").stdout
    first, second = shown.index("one.csv (csv)"), shown.index("two.csv (csv)")
    assert first < shown.index("10,400 examples") < second < shown.index("3,000 examples")
    run = json.loads(good("info", files / "two.bear", "--json").stdout)["run"]
    assert [before["sources"] for before in run["before"]] == [["one.csv"]]
    assert run["sources"] == ["two.csv"]


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--memory", "64KiB"),
        ("-k", "3"),
        ("--seed", "7"),
        ("--max-classes", "9"),
        ("--batch-size", "50"),
    ],
)
def test_options_that_disagree_are_refused_by_name(files, option, value, tmp_path):
    out = tmp_path / "m.bear"
    told = bearsketch(
        "train", "--init", files / "one.bear", files / "two.csv", "-o", out, option, value
    )
    assert (told.returncode, out.exists()) == (5, False)
    assert "error[INIT-OTHER]" in told.stderr
    assert f"Leave {option} out" in told.stderr


def test_options_that_agree_are_taken(files, tmp_path):
    out = tmp_path / "m.bear"
    good(
        *("train", "--init", files / "one.bear", files / "two.csv", "-o", out, "-q"),
        *("--memory", "4KiB", "--learner", "bear+", "--seed", "0"),
    )
    assert out.read_bytes() == (files / "two.bear").read_bytes()


def test_another_label_and_another_model_are_refused(files, tmp_path):
    other = tmp_path / "other.csv"
    other.write_text("label,word,id,age\nunknown,a,1,40\n")
    told = bearsketch("train", "--init", files / "one.bear", other, "-o", tmp_path / "m.bear")
    assert told.returncode == 3
    assert "LABEL" in told.stderr


def test_it_resumes(files, tmp_path):
    broken = tmp_path / "two.csv"
    text = (files / "two.csv").read_text()
    broken.write_text(text[: len(text) // 2].rpartition("\n")[0] + '\n"never closed\n')
    run = ["train", "--init", files / "one.bear", broken, "-o", tmp_path / "m.bear", "-q"]
    kept = ["--checkpoint", tmp_path / "c", "--checkpoint-every", "480"]
    assert bearsketch(*run, *kept).returncode == 3
    assert any((tmp_path / "c").glob("*.bear"))
    told = bearsketch(*run, *kept, "--resume", "--memory", "4KiB")
    assert told.returncode == 3  # the broken line is met again, after the part that was learned
