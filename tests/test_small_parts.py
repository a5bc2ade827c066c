"""Curve, reading ahead, safe text, places of examples, files written whole."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bearsketch import Batch, ParameterError, SourceError
from bearsketch.batch import Places, pack_names
from bearsketch.escape import cell, message, visible
from bearsketch.files import open_whole
from bearsketch.training.ahead import read_ahead
from bearsketch.training.curve import MOST_POINTS, Curve


@pytest.mark.parametrize("n", [1, MOST_POINTS, MOST_POINTS + 1, 10_000])
def test_a_curve_keeps_its_sums_in_few_points(n):
    curve = Curve()
    for i in range(n):
        curve.add(10, 10.0 * (1.0 if i < n // 2 else 0.5), 10.0, 5.0)
    points = curve.points()
    assert len(points) <= MOST_POINTS
    assert points[-1][0] == 10 * n
    counts = np.diff([0, *(point[0] for point in points)])
    mean = np.dot(counts, [point[1] for point in points]) / (10 * n)
    assert mean == pytest.approx((n // 2 + 0.5 * (n - n // 2)) / n, rel=1e-4)
    assert all(point[2] == 0.5 for point in points)


def test_a_curve_of_numbers_has_no_accuracy():
    curve = Curve()
    for _ in range(500):
        curve.add(1, 2.0, 1.0, None)
    assert {point[2] for point in curve.points()} == {None}


def test_reading_ahead_keeps_order_and_errors():
    def failing():
        yield from range(5)
        raise ValueError("broken")

    for threads in (1, 2):
        with read_ahead(failing(), threads) as items:
            assert [next(items) for _ in range(5)] == [0, 1, 2, 3, 4]
            with pytest.raises(ValueError, match="broken"):
                next(items)
        with read_ahead(range(1000), threads) as items:
            assert list(items) == list(range(1000))


def test_reading_ahead_stops_when_left_early():
    made = []

    def counting():
        for i in range(10**9):
            made.append(i)
            yield i

    before = threading.active_count()
    with read_ahead(counting()) as items:
        assert next(items) == 0
    assert threading.active_count() == before
    assert len(made) < 10


def test_reading_ahead_does_not_wait_for_a_silent_input():
    release = threading.Event()

    def silent():
        yield 1
        release.wait(30)

    start = time.monotonic()
    with read_ahead(silent()) as items:
        assert next(items) == 1
    assert time.monotonic() - start < 5
    release.set()


@given(st.text())
def test_visible_text_has_one_line_and_no_control_character(text):
    shown = visible(text)
    assert shown.isprintable()
    number = set(text) <= set("+-.0123456789eE")
    assert number or not cell(text).startswith(("=", "+", "-", "@"))
    if text.isprintable():
        assert shown == text


@pytest.mark.parametrize("number", ["-1", "+1", "-1.5", "-2.5e-07", "+3.E5"])
def test_numbers_are_no_formulas(number):
    assert cell(number) == number
    for formula in (f"{number}+1", f"{number}*A1", f"-{number}", f"={number}", f"@{number}"):
        assert cell(formula) == f"'{formula}"


def test_escapes_are_readable():
    assert visible("a\tb\x1b[0m\u202e") == r"a\tb\x1b[0m\u202e"
    assert visible(b"caf\xe9".decode("utf-8", "surrogateescape")) == r"caf\xe9"
    assert message("one\ntwo\r") == "one\ntwo\\r"


def test_kept_examples_keep_names_labels_and_places():
    batch = Batch(
        [0, 2, 3, 5],
        [1, 2, 3, 4, 5],
        [1.0, 2.0, 3.0, 4.0, 5.0],
        labels=[7, 8, 9],
        weights=[1.0, 2.0, 3.0],
        names=pack_names([b"a", b"bb", b"", b"cc", b"d"]),
        tags=[b"x", b"y", b"z"],
        places=Places(np.array([3, 5, 1]), [(0, "one"), (2, "two")]),
    )
    kept = batch.keep(np.array([True, False, True]))
    assert kept.keys.tolist() == [1, 2, 4, 5]
    assert [kept.names[i] for i in range(4)] == [b"a", b"bb", b"cc", b"d"]
    assert kept.labels.tolist() == [7, 9]
    assert kept.weights.tolist() == [1.0, 3.0]
    assert kept.tags == [b"x", b"z"]
    assert [kept.places.of(row) for row in range(2)] == [("one", 3), ("two", 1)]
    assert batch.rows(1, 3).places.of(1) == ("two", 1)
    assert len(batch.keep(np.zeros(3, dtype=bool))) == 0


def test_a_file_is_whole_or_not_there(tmp_path):
    path = tmp_path / "out"
    path.write_text("old")

    def stop_halfway():
        with open_whole(path) as file:
            file.write(b"half")
            raise RuntimeError("stop")

    with pytest.raises(RuntimeError):
        stop_halfway()
    assert path.read_text() == "old"
    with open_whole(path) as file:
        file.write(b"new")
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(SourceError, match="cannot write"), open_whole(tmp_path / "no" / "x"):
        pass


@pytest.mark.parametrize(("start", "stop"), [(-1, 2), (2, 1), (0, 4), (4, 4)])
def test_rows_of_a_batch_that_are_none(start, stop):
    batch = Batch([0, 1, 2, 3], [7, 8, 9], [1.0, 2.0, 3.0])
    with pytest.raises(ParameterError, match=rf"0 to 3.*got {start} to {stop}"):
        batch.rows(start, stop)
    assert len(batch.rows(3, 3)) == 0
