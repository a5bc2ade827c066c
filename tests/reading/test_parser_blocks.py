"""Parsers and blocks as Python sees them."""

import gc
import threading

import numpy as np
import pytest

from bearsketch import _core
from bearsketch.keys import hash_names


def take_all(parser: _core.Parser, data: object) -> _core.Block:
    parser.feed(data, True)
    return parser.take(100, 1000)


def test_arrays_of_a_block() -> None:
    block = take_all(_core.Parser("vw", seed=3), b"1 2 'tag |n a:2 b\n| c\n-1 | c d\n")
    assert len(block) == 3
    assert block.done
    assert block.indptr.tolist() == [0, 2, 3, 5]
    assert [array.dtype for array in (block.indptr, block.keys, block.values)] == [
        np.int64,
        np.uint64,
        np.float32,
    ]
    names = [
        block.name_data[a:b].tobytes()
        for a, b in zip(block.name_offsets[:-1], block.name_offsets[1:], strict=True)
    ]
    assert set(names) == {b"n^a", b"n^b", b"c", b"d"}
    assert block.keys.tolist() == hash_names(names, 3).tolist()
    np.testing.assert_array_equal(block.labels, [1, np.nan, -1])
    assert block.weights.tolist() == [2, 1, 1]
    assert block.tags == [b"tag", b"", b""]
    assert block.line_of_row.tolist() == [1, 2, 3]
    assert block.label_names is None
    assert block.fatal is None
    assert block.counts["unlabelled"] == 1


def test_what_does_not_apply_is_none() -> None:
    block = take_all(_core.Parser("svmlight"), b"spam 1:1\nham 2:1\n")
    assert block.label_names == [b"spam", b"ham"]
    assert (block.labels, block.weights, block.tags) == (None, None, None)
    assert (block.name_data, block.name_offsets) == (None, None)
    assert take_all(_core.Parser("vw", names=False), b"1 | a\n").name_data is None


@pytest.mark.parametrize("labels", ["auto", "number", "name"])
def test_sequences_have_titles_and_no_labels(labels: str) -> None:
    block = take_all(_core.Parser("fasta", k=2, labels=labels), b">one x\nACGT\n>two\nAC\n")
    assert (block.labels, block.label_names) == (None, None)
    assert block.tags == [b"one x", b"two"]
    assert block.counts["examples"] == 2


def test_arrays_outlive_their_block() -> None:
    block = take_all(_core.Parser("svmlight"), b"1 1:1 2:2\n" * 50)
    keys, expected = block.keys, block.keys.tolist()
    del block
    gc.collect()
    assert keys.tolist() == expected


def test_errors_and_warnings() -> None:
    block = take_all(_core.Parser("vw"), b"\xef\xbb\xbf1 | a:1,5\nx\n1 | b")
    assert [error[:3] for error in block.errors] == [(1, 7, "VW-VALUE"), (2, 1, "VW-NO-BAR")]
    assert block.errors[1][4] == b"x"
    assert block.warnings == {"COM-BOM": 1, "COM-NO-NEWLINE": 1}
    fatal = take_all(_core.Parser("vw"), b"\xff\xfe1\x00").fatal
    assert fatal is not None
    assert fatal[2] == "COM-UTF16"


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_any_buffer_is_taken(kind: type) -> None:
    assert take_all(_core.Parser("svmlight"), kind(b"1 1:1\n")).keys.tolist() == [1]


def test_a_buffer_may_change_after_feed() -> None:
    chunk = bytearray(b"1 1:1\n")
    parser = _core.Parser("svmlight")
    parser.feed(chunk, True)
    chunk[:] = b"2 2:2 3:3\n" * 100
    assert parser.take(10, 10).keys.tolist() == [1]


def test_position_is_that_of_the_block() -> None:
    parser = _core.Parser("svmlight")
    parser.feed(b"1 1:1\n1 2:2\n# end\n", True)
    blocks = [parser.take(1, 10) for _ in range(3)]
    places = [(block.done, block.byte, block.line) for block in blocks]
    assert places == [(False, 6, 1), (False, 12, 2), (True, 18, 3)]


@pytest.mark.parametrize(
    ("form", "options", "message"),
    [
        ("parquet", {}, "format must be"),
        ("vw", {"k": 3}, "no option k"),
        ("vw", {"labels": "words"}, "labels must be one of"),
        ("vw", {"seed": -1}, "seed has a value of the wrong type"),
        ("fasta", {"k": 40}, "k must be 1 to 32"),
        ("text", {"words": (2, 1)}, "words must be"),
        ("svmlight", {"duplicates": "last"}, "duplicates must be one of"),
    ],
)
def test_options_are_checked(form: str, options: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        _core.Parser(form, **options)


def test_wrong_use_is_refused() -> None:
    parser = _core.Parser("vw")
    with pytest.raises(ValueError, match="max_rows"):
        parser.take(0, 10)
    with pytest.raises(TypeError):
        parser.feed("text", True)
    parser.feed(b"1 | a\n", False)
    with pytest.raises(RuntimeError, match="not been read"):
        parser.feed(b"1 | b\n", False)


def test_options_of_text_and_json() -> None:
    text = _core.Parser("text", words=(1, 2), chars=(0, 0), lower=False, labelled=False)
    assert take_all(text, b"New York\n").name_data.tobytes().count(b"New") == 2
    fields = {"label_field": "y", "text_fields": ["t"], "skip_fields": ["z"], "tag_field": "id"}
    block = take_all(
        _core.Parser("jsonl", **fields), b'{"y": "a", "t": "x x", "z": [[]], "id": "7"}\n'
    )
    assert block.name_data.tobytes() == b"t^x"
    assert block.values.tolist() == [2]
    assert (block.label_names, block.tags) == ([b"a"], [b"7"])


def test_parsers_run_side_by_side() -> None:
    data = b"1 | " + b" ".join(b"f%d:%d" % (i, i + 1) for i in range(2000)) + b"\n"
    found: list[int] = []

    def work() -> None:
        found.append(len(take_all(_core.Parser("vw"), data * 20).keys))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [2000] * 4
