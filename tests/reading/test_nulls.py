"""Which numbers of JSON Lines are missing where they are not there."""

from __future__ import annotations

import io
import json

import numpy as np
import pytest

from bearsketch.reading import open_stream
from bearsketch.reading.nulls import missing_fields


def head_of(*rows):
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def ages(n=100):
    return [40.0 + i * 7 % 30 for i in range(n)]


@pytest.mark.parametrize(
    ("values", "missing"),
    [
        ([3, 0, 5, None], True),
        ([3, 0, 0, None], False),
        ([3, 1, 5, 2], True),  # every line has it, and none has 0
        ([3, 0, 5, 2], False),
        ([True, None, True, True], True),
        ([True, None, False, False], False),
        ([None, None], False),  # no number at all
        (["a", None, "b"], False),
    ],
)
def test_null_says_that_a_number_may_be_missing(values, missing):
    rows = [{"x": value, "label": 1} for value in values]
    assert ("x" in missing_fields(head_of(*rows))) == missing


def test_what_is_left_out_is_missing_only_where_0_is_far():
    near = np.random.default_rng(0).exponential(3.0, 100).tolist()
    counts = [1, 2, 1, 1] * 25
    rows = [{"age": a, "near": b, "the": c} for a, b, c in zip(ages(), near, counts, strict=True)]
    assert missing_fields(head_of(*rows, {"label": 1})) == ("age",)
    # A null says what is missing, so that the rest is 0.
    assert missing_fields(head_of(*rows, {"age": 0}, {"the": None}, {})) == ("the",)


def test_numbers_without_end_are_left_to_the_parser():
    huge = b'{"x": 1e400}\n{"x": ' + b"9" * 9000 + b'}\n{"x": NaN}\n'
    assert missing_fields(huge) == ()
    assert missing_fields(huge + head_of(*({"x": 1e308 * (-1) ** i} for i in range(50)))) == ()


def test_fields_of_objects_have_the_names_of_their_features():
    rows = [{"user": {"age": a, "tags": {"deep": 1}}} for a in ages(9)]
    assert missing_fields(head_of(*rows, {"user": {"age": None}})) == ("user^age",)


@pytest.mark.parametrize(
    "bad", [b"[1, 2]\n", b"{\n", b"\xff\xfe\n", b"7\n", b"[" * 9999 + b"\n", b""]
)
def test_lines_that_are_no_objects_are_left_to_the_parser(bad):
    assert missing_fields(bad + head_of({"x": 1})[:-2]) == ()
    assert missing_fields(bad + head_of({"x": 1})) == ("x",)


@pytest.mark.parametrize("threads", [1, 2])
def test_a_stream_tells_by_its_first_input(threads):
    first, second = ({"x": 1 + i % 3, "label": i % 2} for i in range(2)), [{"x": 0, "label": 1}]
    files = [io.BytesIO(head_of(*rows)) for rows in (first, second)]
    with open_stream(files, format="jsonl", threads=threads) as stream:
        assert sum(len(batch) for batch in stream) == 3
        assert stream.missing_columns == ("x",)
