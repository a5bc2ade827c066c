"""``report`` and ``train --report`` as a user runs them."""

from __future__ import annotations

import html
import re
import shlex

import pytest

from tests.cli.helpers import bearsketch, good, spam_lines


def test_a_page_about_a_model(model, spam, tmp_path):
    page = tmp_path / "r.html"
    done = good("report", model, "--data", spam, "-o", page)
    assert f"wrote {page}" in done.stderr
    text = page.read_text()
    for told in ("spam.bear", "Learning curve", "w^prize", "Noise and memory", "ROC", "confusion"):
        assert told in text
    assert "600 examples" in text


def test_train_writes_the_page_with_times(spam, tmp_path):
    page = tmp_path / "r.html"
    good("train", spam, "-o", tmp_path / "m.bear", "--memory", "16KiB", "--report", page)
    assert re.search(r"[\d.]+ s, [\d,]+ examples/s, process peak", page.read_text())


def test_several_models_are_compared(model, spam, tmp_path):
    other, page = tmp_path / "other.bear", tmp_path / "r.html"
    good("train", spam, "-o", other, "--learner", "mission", "-k", "10")
    good("report", model, other, "--data", spam, "-o", page, "--title", "Two & two")
    assert "<h1>Two &amp; two</h1>" in page.read_text()


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["{model}", "-o", "{model}"], 2, "is one of the inputs"),
        (["{model}", "-o", "{tmp}/no/such/r.html"], 4, "there is no such folder"),
        (["{model}", "{three}", "-o", "{tmp}/r.html"], 5, "must predict alike"),
        (["{model}", "{model}", "--data", "-", "-o", "{tmp}/r.html"], 2, "read only once"),
        (["{spam}", "-o", "{tmp}/r.html"], 5, "model"),
    ],
)
def test_what_cannot_be(arguments, code, told, model, three_classes, spam, tmp_path):
    places = {"model": model, "three": three_classes, "spam": spam, "tmp": tmp_path}
    done = bearsketch("report", *(text.format(**places) for text in arguments))
    assert done.returncode == code, done.stderr
    assert told in done.stderr
    assert not (tmp_path / "r.html").exists()


@pytest.mark.parametrize(
    "options",
    [
        [],
        ["--learner", "bear", "--passes", "2", "--history", "3", "--seed", "7"],
        ["--learner", "mission", "--step-size", "0.5", "--query", "mean", "--batch-size", "10"],
        ["--learner", "awm", "--l2", "0.001", "--no-intercept", "--holdout", "0.1"],
        ["--learner", "fh"],
        ["--max-classes", "4"],
    ],
)
def test_the_command_on_the_page_repeats_the_run(options, tmp_path):
    data, first, again = tmp_path / "d.vw", tmp_path / "m.bear", tmp_path / "again.bear"
    data.write_text(spam_lines())
    size = ["--memory", "16KiB"] + ([] if "fh" in options else ["-k", "20"])
    good("train", data, "-o", first, *size, *options)
    _repeat(first, again, tmp_path)


def test_reading_is_repeated_too(tmp_path):
    data, first, again = tmp_path / "d.jsonl", tmp_path / "m.bear", tmp_path / "again.bear"
    lines = [
        f'{{"text": "{("Free prize now", "see you, Bob")[i % 2]} {i % 9}", "kind": "{"ab"[i % 2]}"}}'
        for i in range(200)
    ]
    data.write_text("\n".join(lines))
    options = ["--label-column", "kind", "--char-ngrams", "3-4", "--ngrams", "1", "--keep-case"]
    good("train", data, "-o", first, "-k", "20", *options)
    _repeat(first, again, tmp_path)


def _command(page):
    text = re.search(r"<pre><code>(.*?)</code></pre>", page.read_text(), re.S)[1]
    return shlex.split(html.unescape(text).replace("\\\n", " "))


def _repeat(first, again, folder):
    page = folder / "r.html"
    good("report", first, "-o", page)
    words = _command(page)
    assert words[:2] == ["bearsketch", "train"]
    words[words.index("-o") + 1] = str(again)
    good(*words[1:], cwd=folder)
    assert again.read_bytes() == first.read_bytes()


@pytest.mark.parametrize("pipe", [False, True])
def test_the_command_on_the_page_of_a_run_has_the_data_as_it_was_given(spam, tmp_path, pipe):
    folder, again = tmp_path / "a folder", tmp_path / "again.bear"
    folder.mkdir()
    data, page, first = folder / "d.vw", folder / "r.html", folder / "m.bear"
    data.write_bytes(spam.read_bytes())
    source = {"input": data.read_bytes()} if pipe else {}
    good("train", "-" if pipe else data, "-o", first, "--report", page, **source)
    words = _command(page)
    assert words[2] == ("-" if pipe else str(data))
    assert "without folders" not in page.read_text()
    words[words.index("-o") + 1] = str(again)
    good(*words[1:], cwd=tmp_path, **source)
    assert again.read_bytes() == first.read_bytes()
    good("report", first, "-o", page)
    assert "without folders: run this where the data is" in page.read_text()
    assert _command(page)[2] == ("-" if pipe else "d.vw")


def test_a_page_on_standard_output(model, tmp_path):
    good("report", model, "-o", tmp_path / "page.html")
    done = good("report", model, "-o", "-", cwd=tmp_path)
    assert done.stdout == (tmp_path / "page.html").read_text()
    assert done.stderr == ""
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]
