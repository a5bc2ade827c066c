"""Numbers of examples along a stream, broken ones counted."""

from __future__ import annotations

import io

import pytest

from bearsketch.reading import open_stream
from bearsketch.reading.pieces import Numbering


@pytest.mark.parametrize("form", ["vw", "svmlight", "csv", "jsonl"])
def test_broken_lines_are_counted_and_not_kept(form, monkeypatch):
    kept = []
    number = Numbering.number

    def spy(self, piece):
        number(self, piece)
        kept.append(len(self._broken))

    monkeypatch.setattr(Numbering, "number", spy)
    good, bad, head = {
        "vw": (b"1 | a\n", b"x y z | a\n", b""),
        "svmlight": (b"1 3:1\n", b"1 3\n", b""),
        "csv": (b"1,2\n", b"1,2,3\n", b"label,n\n"),
        "jsonl": (b'{"label": 1, "n": 2}\n', b"{\n", b""),
    }[form]
    data = head + good + bad * 30_000 + good
    skip = {"on_error": "skip", "max_errors": 10**9}
    with open_stream(io.BytesIO(data), form, rows=50, **skip) as stream:
        numbers = [n for batch in stream for n in batch.places.numbers.tolist()]
    assert numbers == [1, 30_002]
    assert max(kept) < 30_000
    assert kept[-1] == 0
