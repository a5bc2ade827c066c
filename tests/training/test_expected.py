"""Examples whose label is no class: broken lines like others, refused or skipped and counted."""

from __future__ import annotations

import io

import numpy as np
import pytest

from bearsketch import SketchClassifier
from bearsketch.distributed import Driver, Serial
from bearsketch.distributed.prepare import prepare
from bearsketch.exceptions import DataError, ParseError
from bearsketch.learners import state
from bearsketch.reading import open_stream
from bearsketch.reading.expected import Expected
from bearsketch.training.first_rows import PEEK_EXAMPLES
from bearsketch.training.session import Session

LINES = {
    "vw": lambda label, i: f"{label} |w {'prize' if label == '1' else 'lunch'} n{i % 97}\n",
    "svmlight": lambda label, i: f"{label} {7 if label == '1' else 8}:1 {100 + i % 97}:0.5\n",
    "csv": lambda label, i: f"{'prize' if label == '1' else 'lunch'},n{i % 97},{label}\n",
    "jsonl": lambda label, i: f'{{"word": "n{i % 97}{label}", "label": {label}}}\n',
}
HEADS = {"csv": "word,other,label\n"}


def data_of(form, labels):
    lines = (LINES[form](label, i) for i, label in enumerate(labels))
    return io.BytesIO((HEADS.get(form, "") + "".join(lines)).encode())


def mixed(n, wrong, seed=0):
    """Labels 0 and 1, some of them replaced; and which are."""
    labels = np.random.default_rng(seed).integers(0, 2, n).astype(str)
    labels[wrong] = "7"
    return labels.tolist()


def trained(form, labels, *, on_error="skip", max_errors=0.5, **options):
    options = {"k": 5, "memory": "2KiB", **options}
    source = data_of(form, labels)
    reading = {"on_error": on_error, "include_unlabelled": False}
    with open_stream(source, form, max_errors=max_errors, **reading) as stream:
        training = Session(stream, **options)
        return training.run(), training.learner, stream


@pytest.mark.parametrize("form", LINES)
@pytest.mark.parametrize("threads", [1, 2])
def test_skipped_ones_leave_the_model_of_the_others(form, threads):
    labels = mixed(3000, [0, 5, 6, 1500, 2999])
    # Evidence holds the lines of rows, and those of the rest are other ones.
    options = {"classes": ["0", "1"], "threads": threads, "evidence": False}
    summary, learner, stream = trained(form, labels, **options)
    rest = [label for label in labels if label != "7"]
    # The words of the rest keep their numbers.
    lines = [LINES[form](label, i) for i, label in enumerate(labels) if label != "7"]
    source = io.BytesIO((HEADS.get(form, "") + "".join(lines)).encode())
    with open_stream(source, form, include_unlabelled=False) as good:
        alone = Session(good, k=5, memory="2KiB", **options)
        alone.run()
    learner.run = alone.learner.run = {}
    (arrays, record), (others, other) = state.dump(learner), state.dump(alone.learner)
    assert record == other
    for name in set(arrays) | set(others):
        if name != "evidence.places":  # lines, which the others have elsewhere
            np.testing.assert_array_equal(arrays[name], others[name], err_msg=name)
    assert (summary.examples, summary.skipped) == (len(rest), 5)
    counts = stream.counts
    counts.check()
    assert dict(counts.skipped_by_code) == {"LABEL-UNKNOWN": 5}
    assert "unknown label 7; the classes that were named are 0, 1" in str(stream.errors[0])


def test_a_class_that_comes_late_is_skipped_alike_for_any_number_of_threads():
    labels = mixed(PEEK_EXAMPLES + 3000, [PEEK_EXAMPLES + 1000, PEEK_EXAMPLES + 1001])
    runs = [trained("vw", labels, threads=threads) for threads in (1, 2)]
    for summary, learner, stream in runs:
        assert (summary.examples, summary.skipped) == (len(labels) - 2, 2)
        assert "the classes of the first examples" in str(stream.errors[0])
        learner.run = {}
    assert runs[0][1].to_bytes() == runs[1][1].to_bytes()


@pytest.mark.parametrize("passes", [1, 2])
def test_they_stay_out_of_every_pass_and_of_the_test(passes):
    labels = mixed(2000, [3, 700])
    summary, _, _ = trained("vw", labels, classes=["0", "1"], passes=passes)
    assert (summary.examples, summary.skipped) == (1998, 2)
    again = [*labels, *labels]
    summary, _, stream = trained("svmlight", again, classes=["0", "1"])
    assert summary.skipped == 4
    assert stream.counts.lines == len(again)


def test_refused_with_the_line_unless_they_are_to_be_skipped():
    labels = mixed(1000, [321])
    with pytest.raises(ParseError, match=r"unknown label 7; the classes that were named") as met:
        trained("vw", labels, on_error="fail", max_errors=None, classes=["0", "1"])
    assert (met.value.line, met.value.code) == (322, "LABEL-UNKNOWN")
    assert "on_error='skip'" in str(met.value)


def test_too_many_are_too_many():
    labels = mixed(1000, np.arange(0, 1000, 20))
    with pytest.raises(DataError, match=r"50 of 1000 lines so far are broken \(LABEL-UNKNOWN 50\)"):
        trained("vw", labels, classes=["0", "1"], max_errors=0.01)


def test_estimators_skip_them_too():
    labels = mixed(1000, [2, 3, 4])
    options = {"format": "vw", "on_error": "skip", "classes": [0, 1]}
    model = SketchClassifier(memory="2KiB").fit_stream(data_of("vw", labels), **options)
    assert model.classes_.tolist() == [0, 1]
    assert model.learner_.counters["examples"] == 997


def test_workers_skip_and_count_them(tmp_path):
    path = tmp_path / "d.vw"
    labels = mixed(4000, [10, 2000, 3999])
    path.write_bytes(data_of("vw", labels).getvalue())
    options = {"on_error": "skip"}
    prepared = prepare(str(path), shards=3, options=options, classes=[0, 1], k=5, memory="2KiB")
    driver = Driver(prepared)
    driver.run(Serial())
    assert driver.session.counts.examples == 3997
    assert driver.session.counts.skipped_by_code == {"LABEL-UNKNOWN": 3}
    prepared = prepare(str(path), shards=3, classes=[0, 1], k=5, memory="2KiB")
    with pytest.raises(ParseError, match=r"d.vw:11: unknown label 7; the classes"):
        Driver(prepared).run(Serial())


def test_windows_of_a_read_count_one_by_one_as_examples_do():
    records = "".join(f">r{i} L={'abx'[i % 3]}\n{'ACGT' * 40}\n" for i in range(300))
    options = {"kmer": 4, "window": 20, "label_regex": r"L=(\w)", "rows": 7}
    source = io.BytesIO(records.encode())
    skipping = {"on_error": "skip", "max_errors": 0.5, "include_unlabelled": False}
    with open_stream(source, "fasta", **options, **skipping) as stream:
        stream.expect(Expected(("a", "b"), "of the test", ""))
        seen = [label for batch in stream for label in batch.labels.tolist()]
    assert set(seen) == {"a", "b"}
    assert (stream.counts.examples, stream.counts.skipped) == (200 * 8, 100 * 8)


def test_labels_of_another_kind_are_for_others_to_judge():
    words, numbers = Expected(("spam", "ham"), "", ""), Expected((0, "1"), "", "")
    assert words.among(np.array([1.0])) is None
    assert words.among(np.array(["ham", "eggs"])).tolist() == [True, False]
    assert numbers.among(np.array([1.0, 2.0])).tolist() == [True, False]
    assert numbers.among(np.array(["1"])) is None


BOTH = ["1"] * (PEEK_EXAMPLES + 2000) + ["1", "-1", "0", "1", "-1", "0"] * 50


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("passes", [1, 2])
def test_both_labels_of_the_negative_class_are_refused_with_their_line(threads, passes):
    options = {"threads": threads, "passes": passes}
    with pytest.raises(ParseError, match=r"unknown label 0; the classes so far are -1, 1") as met:
        trained("vw", BOTH, on_error="fail", max_errors=None, **options)
    assert (met.value.line, met.value.code) == (PEEK_EXAMPLES + 2003, "LABEL-UNKNOWN")
    assert "classes=[-1, 0, 1]" in str(met.value)
    assert "loss='squared'" in str(met.value)
    summary, _, stream = trained("vw", BOTH, **options)
    assert (summary.classes, summary.skipped) == ([-1, 1], 100)
    stream.counts.check()


def test_either_label_of_the_negative_class_may_follow():
    for other in ("0", "-1"):
        labels = ["1"] * (PEEK_EXAMPLES + 2000) + ["1", other] * 50
        assert trained("vw", labels, on_error="fail")[0].classes == [int(other), 1]


@pytest.mark.parametrize("where", ["one partition", "two partitions", "two rounds"])
def test_workers_refuse_both_labels_of_the_negative_class(tmp_path, where):
    path = tmp_path / "d.vw"
    labels = ["1"] * (3 * PEEK_EXAMPLES)
    places = {"one partition": -3, "two partitions": -18_000, "two rounds": -18_000}
    labels[places[where]], labels[-1] = "-1", "0"
    path.write_bytes(data_of("vw", labels).getvalue())
    rounds = 2 if where == "two rounds" else 1
    shards = 1 if where == "two rounds" else 2
    prepared = prepare(str(path), shards=shards, rounds=rounds, k=5, memory="2KiB")
    place = {
        "one partition": f"d.vw:{len(labels)}: unknown label 0; the classes so far",
        "two partitions": "labels must be -1 and 1, got 0",
        "two rounds": r"partition 1 \(.*d.vw:\d+\): labels must be -1 and 1, got 0",
    }[where]
    with pytest.raises(DataError, match=place) as met:
        Driver(prepared).run(Serial())
    assert met.value.code == "LABEL-UNKNOWN"
    assert "classes=[-1, 0, 1]" in str(met.value)
