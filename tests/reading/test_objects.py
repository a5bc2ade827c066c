"""Streams of Python objects: mappings, cursors, frames one after the other, endless generators."""

import datetime
import itertools
import sqlite3
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal

from bearsketch import SketchClassifier
from bearsketch.exceptions import DataError, ParameterError, SourceError
from bearsketch.reading import open_stream

from .helpers import labels_of, n_rows, rows_of


def people(n=400):
    for i in range(n):
        yield {"city": ("rome", "oslo")[i % 2], "age": 20 + i % 7, "label": ("yes", "no")[i % 2]}


def test_mappings_are_read_as_json_lines_are():
    rows = [
        {"city": "rome", "age": 3, "member": True, "gap": None, "label": 1},
        {"city": "oslo", "age": float("nan"), "day": datetime.date(2024, 5, 1), "label": 0},
        {"price": Decimal("2.5"), "n": np.float32(0.5), "tags": ["a", "b"], "label": 1},
    ]
    expected = [
        {"city=rome": 1.0, "age": 3.0, "member": 1.0},
        {"city=oslo": 1.0, "day=2024-05-01": 1.0},
        {"price": 2.5, "n": 0.5, "tags=a": 1.0, "tags=b": 1.0},
    ]
    assert rows_of(rows) == expected
    assert rows_of(iter(rows)) == expected
    assert labels_of(rows) == [1, 0, 1]


def test_a_classifier_learns_an_iterable_of_mappings_and_passes_over_a_list():
    one = SketchClassifier(memory="8KiB", k=4).fit_stream(people())
    assert "city=rome" in one.selected_names_
    again = SketchClassifier(memory="8KiB", k=4).fit_stream(list(people()))
    assert_array_equal(one.selected_weights_, again.selected_weights_)
    SketchClassifier(memory="8KiB", passes=2).fit_stream(list(people()))
    with pytest.raises(SourceError, match="read only once"):
        SketchClassifier(memory="8KiB", passes=2).fit_stream(people())


def test_a_generator_that_never_ends_is_read_as_far_as_is_asked():
    taken = 0

    def endless():
        nonlocal taken
        for row in itertools.cycle(people(10)):
            taken += 1
            yield row

    assert n_rows(endless(), max_examples=1234) == 1234
    assert taken < 10_000
    fitted = SketchClassifier(memory="8KiB").fit_stream(endless(), max_examples=500)
    assert fitted.learner_.counters["examples"] == 500


@pytest.mark.parametrize("form", ["csv", "vw", "jsonl"])
def test_files_end_after_so_many_examples(form, tmp_path):
    line = {"csv": "1,x\n", "vw": "1 | x\n", "jsonl": '{"label": 1, "a": "x"}\n'}[form]
    path = tmp_path / "d"
    path.write_text(("label,a\n" if form == "csv" else "") + line * 5000)
    for most in (1, 999, 1000, 4001, 9999):
        with open_stream(path, form, max_examples=most) as stream:
            assert sum(map(len, stream)) == min(most, 5000)
            assert stream.counts.examples == min(most, 5000)


def test_cursors_of_databases():
    base = sqlite3.connect(":memory:")
    base.execute("create table t (city text, age real, label text)")
    base.executemany("insert into t values (:city, :age, :label)", people())
    fitted = SketchClassifier(memory="8KiB", k=4).fit_stream(base.execute("select * from t"))
    assert "city=rome" in fitted.selected_names_
    rows = rows_of(base.execute("select * from t"))
    assert rows[:2] == [{"city=rome": 1, "age": 20}, {"city=oslo": 1, "age": 21}]
    with pytest.raises(ParameterError, match="it was not executed"):
        n_rows(base.cursor())


def test_frames_one_after_the_other(tmp_path):
    frame = pd.DataFrame(people())
    whole = rows_of(frame)
    assert rows_of([frame[:100], frame[100:]]) == whole
    assert rows_of(part for part in (frame[:100], frame[100:])) == whole
    frame.to_csv(tmp_path / "t.csv", index=False)
    assert rows_of(pd.read_csv(tmp_path / "t.csv", chunksize=90)) == whole
    assert rows_of(pl.from_pandas(frame).lazy()) == whole
    lazy = pl.scan_csv(tmp_path / "t.csv").filter(pl.col("age") > 0)
    one = SketchClassifier(memory="8KiB", k=4, passes=2).fit_stream(lazy)
    two = SketchClassifier(memory="8KiB", k=4, passes=2).fit_stream(frame)
    assert_array_equal(one.selected_weights_, two.selected_weights_)


def test_the_first_object_that_does_not_fit_is_named():
    rows = list(people(20))
    with pytest.raises(DataError, match="object 21 must be a mapping .*, got list") as caught:
        n_rows([*rows, ["a"], *rows])
    assert caught.value.code == "SRC-OBJECT"
    with pytest.raises(DataError, match="example 3 does not fit: .* is a complex"):
        n_rows([*rows[:2], {"a": 1j}])
    with pytest.raises(DataError, match="example 1 does not fit: a name must be str, got 7"):
        n_rows([{7: 1}])
    frame = pd.DataFrame(rows)
    with pytest.raises(DataError, match="object 2 must be a frame, as the first, got int"):
        n_rows([frame, 7])
    with pytest.raises(DataError, match=r"<frame 2>: its 2 columns differ from the 3 columns"):
        n_rows([frame, frame[["city", "label"]]])


def test_paths_may_come_from_a_generator(tmp_path):
    for name in "ab":
        (tmp_path / name).write_text("1 | x\n")
    assert n_rows(tmp_path / name for name in "ab") == 2
