"""The page as bytes: whole, escaped, and asking nothing of any network."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest

from bearsketch import Batch, IncompatibleError, ParameterError, make_learner
from bearsketch.metrics import make_scores
from bearsketch.report import Subject, render
from tests.cli.helpers import good
from tests.report.conftest import HOSTILE, learned


class Parsed(HTMLParser):
    """Elements, and the text of those that scripts and titles are made of."""

    def __init__(self, page):
        super().__init__(convert_charrefs=True)
        self.elements, self.raw, self.text, self._inside = [], {}, [], None
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self._inside = tag

    def handle_endtag(self, tag):
        self._inside = None

    def handle_data(self, data):
        self.text.append(data)
        if self._inside in ("script", "style"):
            self.raw.setdefault(self._inside, []).append(data)


def data_of(page):
    return json.loads(Parsed(page).raw["script"][0])


def test_hostile_names_stay_text(hostile):
    page = render([Subject("</h1><script>alert(3)</script>", hostile)], marks={HOSTILE[0]: "<i>"})
    parsed = Parsed(page)
    assert sum(tag == "script" for tag, _ in parsed.elements) == 2
    assert not any(tag in ("img", "i", "b") and "src" in attrs for tag, attrs in parsed.elements)
    assert not any(name.startswith("on") for _, attrs in parsed.elements for name in attrs)
    told = "".join(parsed.text)
    assert all(name in told for name in HOSTILE[:2])
    assert "spam\\x00" in told
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f]", page)


def test_control_bytes_are_shown_as_escapes():
    model = learned([HOSTILE[2], "plain"], [1, -1] * 100)
    page = render([Subject("m.bear", model)])
    assert r"bell\x07\x1b[31m" in page
    assert "\x1b" not in page


def test_nothing_is_loaded(hostile):
    page = render([Subject("m.bear", hostile)])
    parsed = Parsed(page)
    assert not re.search(r"https?://", page)
    assert not any({"src", "href"} & set(attrs) for _, attrs in parsed.elements)
    policy = next(a["content"] for _, a in parsed.elements if "http-equiv" in a)
    assert policy.startswith("default-src 'none'")


def test_weights_of_every_class_are_there(three):
    data = data_of(render([Subject("m.bear", three)]))
    assert data["kind"] == "many"
    assert data["labels"] == ["ant", "bee", "cow"]
    selected = three.selected()
    assert len(data["weights"]) == len(selected)
    np.testing.assert_allclose(data["weights"][0][0], selected.all_weights[0], rtol=1e-4)


def test_a_heap_per_class_joins_names():
    labels = ["ant", "bee", "cow"] * 100
    model = learned(
        ["alpha", "beta", "gamma"],
        labels,
        classes=["ant", "bee", "cow"],
        loss="softmax",
        per_class=True,
        k=8,
    )
    data = data_of(render([Subject("m.bear", model)]))
    names = [f.name for f in model.selected()]
    assert len(data["weights"]) == len(set(names)) < len(names)
    kept = sum(w is not None for row in data["weights"] for w in row[0])
    assert kept == len(names)


def test_models_side_by_side(hostile):
    other = learned(
        HOSTILE[:2],
        ["</title>", "spam\x00"] * 150,
        classes=["</title>", "spam\x00"],
        learner="mission",
    )
    page = render([Subject("a.bear", hostile), Subject("b.bear", other)])
    assert "a.bear and b.bear share" in page
    assert len(data_of(page)["scales"]) == 2
    names = {f.name for f in hostile.selected()} | {f.name for f in other.selected()}
    assert len(data_of(page)["weights"]) == len(names)


def test_strangers_are_refused(hostile, three):
    with pytest.raises(IncompatibleError, match="must predict alike: of a and b, the classes"):
        render([Subject("a", hostile), Subject("b", three)])
    with pytest.raises(ParameterError, match="1 to 6 models, got 7"):
        render([Subject(str(i), hostile) for i in range(7)])


@pytest.mark.parametrize("learner", ["fh", "sgd"])
def test_models_that_cannot_name(learner):
    parts = {"dimension": 100} if learner == "sgd" else {"memory": "4KiB"}
    model = make_learner(learner, **parts)
    model.learn(Batch([0, 1, 2], [3, 4], [1.0, 1.0], labels=[1, -1]))
    page = render([Subject("m.bear", model)])
    assert 'id="features"' not in page
    both = render([Subject("a.bear", model), Subject("b.bear", model)])
    assert "cannot name features" in both


def test_numbers_instead_of_classes():
    model = make_learner(k=4, memory="4KiB", loss="squared")
    batch = Batch([0, 1, 2], [3, 4], [1.0, 1.0], labels=[1.5, -2.5])
    model.learn(batch)
    scores = make_scores("squared", 1)
    scores.add(np.array([1.5, -2.5]), model.predict_margin(batch))
    page = render([Subject("m.bear", model, {"all": scores})])
    assert "RMSE" in page
    assert data_of(page)["kind"] == "number"
    assert 'id="class"' not in page


def test_errors_of_numbers_are_told_as_such():
    model = make_learner(k=4, memory="4KiB", loss="squared")
    model.learn(Batch([0, 1, 2], [3, 4], [1.0, 1.0], labels=[1.5, -2.5]))
    model.run = {
        "progressive_loss": 2555.48,
        "progressive_rmse": 71.4911,
        "progressive_r2": 0.8588,
        "curve": [[100, 5000.0, None], [200, 110.96, None]],
    }
    page = render([Subject("m.bear", model)])
    assert "RMSE&nbsp;71.4911" in page
    assert "R²&nbsp;0.8588" in page
    assert "RMSE, by examples seen" in page
    assert "100 examples, RMSE 100, so far 100" in page
    assert "200 examples, RMSE 14.9, so far 71.49" in page
    assert "2555" not in page


def test_examples_of_several_passes_count_once():
    model = make_learner(k=4, memory="4KiB")
    for _ in range(2):
        model.learn(Batch.from_rows([["a"], ["b"]] * 700, [1, 0] * 700))
        model.finish_pass()
    page = render([Subject("m.bear", model)])
    assert "learned from 1,400 examples in 2 passes" in page
    assert "<dd>1,400</dd><dt>examples in 2 passes</dt>" in page
    assert "<th>Examples</th><td>1,400 in 2 passes</td>" in page
    assert "2,800" not in page
    model.learn(Batch.from_rows([["a"]], [1]))
    page = render([Subject("m.bear", model)])
    assert "learned from 2,801 examples, those of 2 passes together" in page


def test_an_untrained_model_has_a_page():
    page = render([Subject("m.bear", make_learner(k=4, memory="4KiB"))])
    assert "learned from 0 examples" in page


def test_many_classes_list_what_is_confused_most():
    scores = make_scores("softmax", 40, confusion=True)
    model = make_learner(k=4, memory="64KiB", loss="softmax", classes=40)
    margins = np.zeros((5, 40))
    margins[:, 7] = 1.0
    scores.add(np.array([3, 3, 3, 7, 9]), margins)
    page = render([Subject("m.bear", model, {"all": scores})])
    told = "".join(Parsed(page).text)
    assert re.search(r"true\s*predicted\s*examples\s*373\s*971", told)


def test_columns_in_any_units_have_bars_by_their_spread(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 2)) * [1e6, 1e-3] + [5e6, 0]
    lines = [f"{a:.6g},{b:.6g},{int(a / 1e6 + 1e3 * b > 5)}" for a, b in X]
    data, model = tmp_path / "d.csv", tmp_path / "m.bear"
    data.write_text("large,small,label\n" + "\n".join(lines) + "\n")
    good("train", data, "-o", model, "--memory", "4KiB")
    good("report", model, "-o", tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text()
    widths = [float(width) for width in re.findall(r'style="width:([0-9.]+)%"', page)][:2]
    assert min(widths) > 40
    assert re.search(r"\+[0-9.]+e&minus;0[5-7]", page)
    assert "bars are weights by the spread of their column" in page
    assert "means and sizes of 2 columns" in page


@pytest.mark.parametrize("classes", [2, 5])
def test_the_reliability_curve_has_counts_and_intervals(classes):
    rng = np.random.default_rng(0)
    loss = "logistic" if classes == 2 else "softmax"
    model = make_learner(k=4, memory="4KiB", loss=loss, classes=[f"<{c}>" for c in range(classes)])
    margins = rng.normal(size=(3000, 1 if classes == 2 else classes))
    scores = make_scores(loss, classes, probabilities=True)
    scores.add(rng.integers(0, classes, 3000), margins)
    page = render([Subject("m.bear", model, {"all": scores})])
    dots = re.findall(
        r"<title>([\d,]+) examples: predicted (\S+), came true (\S+) \((\S+) to (\S+)\)</title>",
        page,
    )
    curve = scores.reliability.curve()
    assert len(dots) == len(curve) == 15
    for (n, p, share, low, high), row in zip(dots, curve, strict=True):
        assert int(n.replace(",", "")) == row.examples
        assert [float(p), float(share), float(low), float(high)] == pytest.approx(
            [row.probability, row.share, row.low, row.high], abs=5e-5
        )
    polygon = re.search(r'<polygon class="interval s0" points="([^"]+)"', page)[1]
    assert len(polygon.split()) == 30
    told = "".join(Parsed(page).text)
    assert ("of <1>: 15 bins" if classes == 2 else "of the predicted class: 15 bins") in told
    assert f"Calibration error {scores.reliability.error:.4f}" in told
    assert f"ECE&nbsp;{scores.reliability.error:.4f}" in page


def test_without_probabilities_there_is_no_reliability_curve():
    model = make_learner(k=4, memory="4KiB")
    page = render([Subject("m.bear", model, {"all": make_scores("logistic", 2)})])
    assert "reliability" not in "".join(Parsed(page).text)
    empty = make_scores("logistic", 2, probabilities=True)
    page = render([Subject("m.bear", model, {"all": empty})])
    assert "reliability" not in "".join(Parsed(page).text)


def test_the_page_says_what_is_proven(tmp_path):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 2000)
    words = [["good"] if label else ["bad"] for label in y]
    rows = [[*own, f"w{i}"] for i, own in enumerate(words)]
    for labels, said in (
        (y, "2 of 10 names are proven"),
        (rng.permutation(y), "Nothing is proven"),
    ):
        learner = make_learner(k=10, memory="8KiB")
        learner.learn(Batch.from_rows(rows, labels))
        page = render([Subject("m.bear", learner)])
        assert said in page
        assert ("At most 10 % of these names" in page) == ("2 of" in said)
    silent = make_learner(k=10, memory="8KiB", evidence=False)
    silent.learn(Batch.from_rows(rows, y))
    assert "The names are not tested" in render([Subject("m.bear", silent)])
