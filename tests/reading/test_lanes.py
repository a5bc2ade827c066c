"""Lines parsed side by side: the same batches, errors and accounts as one after the other."""

from __future__ import annotations

import gzip
import io
import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bearsketch import open_stream
from bearsketch.exceptions import BearError
from bearsketch.reading import chunks, lanes

LINES = {
    "vw": (b"1 |a x:2 y", b"-1 tag| z :3", b"| unlabelled", b"", b"1 | bad:1e", b"1 | p:0 |q r"),
    "svmlight": (b"1 3:1 9:2", b"-1 # none", b"# note", b"", b"1 4:x", b"1 qid:3 8:1 7:2"),
    "text": (b"1\tsome words", b"-1\tother words here", b"", b"no label", b"1\t", b"x\ty"),
    "jsonl": (
        b'{"label": 1, "text": "some words"}',
        b'{"label": -1, "city": "rome"}',
        b"",
        b'{"text": "unlabelled"}',
        b'{"label": 1, "city": ',
        b'{"label": "x"}',
    ),
}


def seen(data: Any, form: str, **options: Any) -> dict[str, Any]:
    """Everything that a stream tells, up to its end or to its error."""
    stream = open_stream(io.BytesIO(data), form, rows=4, **options)
    batches, failure = [], None
    try:
        for batch in stream:
            assert batch.places is not None
            assert batch.position is not None
            batches.append(
                (
                    batch.indptr.tolist(),
                    batch.keys.tolist(),
                    batch.values.tolist(),
                    None if batch.labels is None else list(map(str, batch.labels)),
                    None
                    if batch.names is None
                    else [batch.names[i] for i in range(len(batch.keys))],
                    batch.tags,
                    batch.position.source_index,
                    batch.places.lines.tolist(),
                )
            )
    except BearError as error:
        failure = str(error)
    # How far the account got by the time of an error is left open.
    counts = stream.counts if failure is None else None
    errors = [str(error) for error in stream.errors]
    return {
        "batches": batches,
        "failure": failure,
        "told": (errors, stream.warnings, counts),
    }


def small_parts(monkeypatch: pytest.MonkeyPatch, chunk: int, run: int = 1 << 21) -> None:
    monkeypatch.setattr(chunks, "CHUNK_BYTES", chunk)
    monkeypatch.setattr(lanes, "RUN_BYTES", run)


@pytest.mark.parametrize("form", LINES)
@pytest.mark.parametrize("on_error", ["fail", "skip"])
@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_any_lines_in_any_parts_are_read_alike(form: str, on_error: str, data: Any) -> None:
    good = st.sampled_from(LINES[form][:3])
    line = st.one_of(good, good, good, good, st.sampled_from(LINES[form]))
    lines = data.draw(st.lists(line, min_size=1, max_size=60))
    end = data.draw(st.sampled_from([b"\n", b"\r\n"]))
    text = end.join(lines) + data.draw(st.sampled_from([b"", end]))
    options = {"on_error": on_error, "max_errors": 1000, "allow_empty": True}
    if data.draw(st.booleans()):
        text = gzip.compress(text)
    with pytest.MonkeyPatch.context() as patch:
        alone = seen(text, form, threads=1, **options)
        small_parts(patch, data.draw(st.integers(2, 90)), data.draw(st.integers(20, 400)))
        together = seen(text, form, threads=data.draw(st.integers(2, 3)), **options)
    assert together == alone


@pytest.mark.parametrize("unlabelled", [3, 4, 5, 9])
@pytest.mark.parametrize("packed", [False, True])
def test_batches_before_the_first_label_have_none(unlabelled: int, packed: bool) -> None:
    lines = [b"| a"] * unlabelled + [b"", b"| b", b"1 | c", *[b"| d"] * 9]
    text = gzip.compress(b"\n".join(lines)) if packed else b"\n".join(lines)
    alone = seen(text, "vw", threads=1)
    assert [batch[3] is None for batch in alone["batches"]].count(True) == (unlabelled + 1) // 4
    with pytest.MonkeyPatch.context() as patch:
        for chunk in (2, 7, 40):
            small_parts(patch, chunk, 20)
            assert seen(text, "vw", threads=2) == alone


def test_a_cut_file_fails_after_the_same_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [b"%d | w%d x" % (i % 2, i) for i in range(3000)]
    cut = gzip.compress(b"\n".join(lines) + b"\n")[:-3000]
    small_parts(monkeypatch, 500)
    alone, together = (seen(cut, "vw", threads=threads) for threads in (1, 2))
    assert together == alone
    assert alone["failure"] is not None
    assert "line" in alone["failure"]
    assert len(alone["batches"]) > 100


def test_lines_that_are_too_long_go_to_one_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    started = []
    monkeypatch.setattr(lanes, "work", lambda parser, *_: started.append(parser))
    small_parts(monkeypatch, 1000, 2000)
    long = b"1 | " + b" ".join(b"w%d" % i for i in range(500)) + b"\n"
    assert len(seen(long * 30, "vw", threads=2)["batches"]) == 8
    assert not started


def test_threads_end_with_the_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    ended = []
    work = lanes.work

    def watched(parser: Any, *rest: Any) -> None:
        work(parser, *rest)
        ended.append(parser)

    monkeypatch.setattr(lanes, "work", watched)
    small_parts(monkeypatch, 300)
    with open_stream(io.BytesIO(b"1 | a b\n" * 1000), "vw", rows=10, threads=3) as stream:
        batches = iter(stream)
        for _ in range(5):
            next(batches)
    assert len(ended) == 3


def test_what_a_lane_raises_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    parse = lanes.parse

    def broken(parser: Any, run: lanes.Run, *most: Any, **how: Any) -> Any:
        if run.line >= 40:
            raise MemoryError("no room")
        return parse(parser, run, *most, **how)

    monkeypatch.setattr(lanes, "parse", broken)
    batches = []
    with (
        pytest.raises(MemoryError, match="no room"),
        open_stream(io.BytesIO(b"1 | a b\n" * 100), "vw", rows=10) as stream,
    ):
        batches.extend(stream)
    assert len(batches) == 4


def test_fields_are_met_by_any_of_the_parsers() -> None:
    rows = [{"label": i % 2, "text": "a b", "late" if i == 70 else "city": "x"} for i in range(80)]
    data = "".join(json.dumps(row) + "\n" for row in rows).encode()
    options = {"rows": 8, "drop": ["late"], "text_columns": ["text", "never"]}
    for threads in (1, 2):
        with open_stream(io.BytesIO(data), "jsonl", threads=threads, **options) as stream:
            assert sum(map(len, stream)) == 80
        missing = [warned.message for warned in stream.warnings]
        assert len(missing) == 1
        assert "'never'" in missing[0]


def test_real_work_is_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    users: set[int] = set()
    work = lanes.work

    def watched(parser: Any, *rest: Any) -> None:
        users.add(id(parser))
        work(parser, *rest)

    monkeypatch.setattr(lanes, "work", watched)
    small_parts(monkeypatch, 5000)
    draw = random.Random(0)
    data = b"".join(
        b"%d | %s\n" % (i % 2, b" ".join(b"w%d" % draw.randrange(999) for _ in range(20)))
        for i in range(2000)
    )
    with open_stream(io.BytesIO(data), "vw", rows=100, threads=2) as stream:
        total = sum(int(np.sum(batch.values)) for batch in stream)
    assert total == 2000 * 20
    assert len(users) == 2


def test_a_program_may_end_in_the_middle(tmp_path: Path) -> None:
    path = tmp_path / "long.vw"
    path.write_bytes(b"1 | %s\n" % b" ".join(b"w%d" % i for i in range(300)) * 3000)
    code = (
        "from bearsketch import open_stream\n"
        f"batches = iter(open_stream({str(path)!r}, rows=100))\n"
        "for _ in range(5): next(batches)\n"
    )
    for ending in ("", "raise SystemExit(0)", "stream = batches; del batches"):
        for _ in range(3):
            done = subprocess.run(
                [sys.executable, "-c", code + ending], capture_output=True, text=True, check=False
            )
            assert (done.returncode, done.stderr) == (0, "")
