"""Every malformation in every format, from a file, a gzip file and standard input."""

import contextlib
import gzip
import io
import os
import sys
import threading

import pytest

from bearsketch.exceptions import BearError, ParseError
from bearsketch.io import open_stream

from .fault_rows import CASES, GOOD, HEAD, OPTIONS, Accepts, Case, Fails, Stops
from .helpers import plain_batches, read

CHANNELS = ("plain", "gzip", "stdin")
TEXT_FORMATS = tuple(GOOD)
SUFFIX = {"svmlight": ".svm"}


def good(form: str) -> bytes:
    return HEAD.get(form, b"") + b"".join(GOOD[form])


@contextlib.contextmanager
def opened(data: bytes, form: str, channel: str, folder, **options):
    """A stream over the bytes, as they come through a channel."""
    name = f"data{SUFFIX.get(form, '.' + form)}"
    options = OPTIONS.get(form, {}) | options
    if channel == "stdin":
        with piped(data), open_stream("-", form, **options) as stream:
            yield stream
        return
    path = folder / (name + (".gz" if channel == "gzip" else ""))
    path.write_bytes(gzip.compress(data) if channel == "gzip" else data)
    with open_stream(path, form, **options) as stream:
        yield stream


@contextlib.contextmanager
def piped(data: bytes):
    """Standard input as a pipe that another thread writes to."""
    reading, writing = os.pipe()

    def write() -> None:
        with contextlib.suppress(BrokenPipeError), os.fdopen(writing, "wb") as pipe:
            pipe.write(data)

    writer = threading.Thread(target=write)
    writer.start()
    before, sys.stdin = sys.stdin, os.fdopen(reading)
    try:
        yield
    finally:
        sys.stdin.close()
        sys.stdin = before
        writer.join()


def shown(channel: str, form: str) -> str:
    if channel == "stdin":
        return "<stdin>"
    return f"data{SUFFIX.get(form, '.' + form)}" + (".gz" if channel == "gzip" else "")


@pytest.mark.parametrize("channel", CHANNELS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.row}-{case.form}-{case.what}")
def test_malformed_record(case: Case, channel: str, tmp_path):
    outcome = case.outcome
    if isinstance(outcome, Accepts):
        check_accepted(case, outcome, channel, tmp_path)
    elif isinstance(outcome, Fails):
        check_failing(case, outcome, channel, tmp_path)
        check_skipping(case, outcome, channel, tmp_path)


def check_accepted(case: Case, outcome: Accepts, channel: str, folder) -> None:
    with opened(case.document(), case.form, channel, folder, **case.options) as stream:
        got = plain_batches(stream)
    assert sum(len(batch["indptr"]) - 1 for batch in got) == outcome.rows
    stream.counts.check()
    assert stream.counts.skipped == 0
    for name, value in outcome.counts.items():
        assert getattr(stream.counts, name, stream.counts.other[name]) == value, name
    codes = [warned.code for warned in stream.warnings]
    assert codes == ([] if outcome.warns is None else [outcome.warns])
    if outcome.like is not None:
        document = case.document(outcome.like)
        with opened(document, case.form, channel, folder, **case.options) as stream:
            assert plain_batches(stream) == got


def check_failing(case: Case, outcome: Fails, channel: str, folder) -> None:
    with (
        opened(case.document(), case.form, channel, folder, **case.options) as stream,
        pytest.raises(ParseError) as caught,
    ):
        plain_batches(stream)
    error = caught.value
    place = (error.code, error.line, error.column)
    assert place == (outcome.code, case.line(outcome.line), outcome.column)
    assert error.exit_code == outcome.exit_code
    assert error.source.endswith(shown(channel, case.form))
    assert error.message.isprintable()


def check_skipping(case: Case, outcome: Fails, channel: str, folder) -> None:
    """The good records remain, and nothing else."""
    options = case.options | {"on_error": "skip", "max_errors": 10}
    with opened(case.document(), case.form, channel, folder, **options) as stream:
        got = plain_batches(stream)
    with opened(good(case.form), case.form, channel, folder, **case.options) as alone:
        assert got == plain_batches(alone)
    assert stream.counts.skipped == 1 + outcome.more
    assert outcome.code in stream.counts.skipped_by_code
    stream.counts.check()


@pytest.mark.parametrize("channel", CHANNELS)
@pytest.mark.parametrize("form", TEXT_FORMATS)
def test_row_21_crlf_is_lf(form, channel, tmp_path):
    with opened(good(form), form, channel, tmp_path) as stream:
        expected = plain_batches(stream)
    with opened(good(form).replace(b"\n", b"\r\n"), form, channel, tmp_path) as stream:
        assert plain_batches(stream) == expected
        assert stream.warnings == []


@pytest.mark.parametrize("channel", CHANNELS)
@pytest.mark.parametrize("form", TEXT_FORMATS)
def test_row_23_byte_order_marks(form, channel, tmp_path):
    with opened(good(form), form, channel, tmp_path) as stream:
        expected = plain_batches(stream)
    with opened(b"\xef\xbb\xbf" + good(form), form, channel, tmp_path) as stream:
        assert plain_batches(stream) == expected
        assert [warned.code for warned in stream.warnings] == ["COM-BOM"]
    for encoding in ("utf-16-le", "utf-16-be"):
        text = ("\ufeff" + good(form).decode()).encode(encoding)
        for policy in ("fail", "skip"):
            check_stops(Stops("COM-UTF16"), text, form, channel, tmp_path, on_error=policy)


def check_stops(outcome: Stops, data: bytes, form: str, channel: str, folder, **options) -> None:
    with (
        opened(data, form, channel, folder, **options) as stream,
        pytest.raises(BearError) as caught,
    ):
        plain_batches(stream)
    assert (caught.value.code, caught.value.exit_code) == (outcome.code, outcome.exit_code)


@pytest.mark.parametrize("channel", CHANNELS)
@pytest.mark.parametrize("form", TEXT_FORMATS)
def test_row_24_empty_alone(form, channel, tmp_path):
    for policy in ("fail", "skip"):
        check_stops(Stops("SRC-EMPTY"), b"", form, channel, tmp_path, on_error=policy)
    with opened(b"", form, channel, tmp_path, allow_empty=True) as stream:
        assert plain_batches(stream) == []


@pytest.mark.parametrize("form", TEXT_FORMATS)
def test_row_24_empty_among_others(form, tmp_path):
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "full").write_bytes(good(form))
    with open_stream(
        [tmp_path / "empty", tmp_path / "full"], form, **OPTIONS.get(form, {})
    ) as stream:
        assert sum(len(batch) for batch in stream) == 2
    assert [warned.code for warned in stream.warnings] == ["SRC-EMPTY"]


@pytest.mark.parametrize("policy", ["fail", "skip"])
@pytest.mark.parametrize("form", TEXT_FORMATS)
@pytest.mark.parametrize("channel", ["file", "stdin"])
class TestCompressedStreams:
    """Rows 25, 26, 28 and 29, from a gzip file and from gzip on standard input."""

    @pytest.fixture
    def outcome(self, tmp_path, form, policy, channel):
        def of(data: bytes):
            options = OPTIONS.get(form, {}) | {"on_error": policy}
            with contextlib.ExitStack() as stack:
                source = tmp_path / "x.gz"
                source.write_bytes(data)
                if channel == "stdin":
                    stack.enter_context(piped(data))
                    source = "-"
                try:
                    return read(source, form, **options)
                except BearError as error:
                    return error.code

        return of

    def test_row_25_truncated(self, outcome, form):
        packed = gzip.compress(good(form))
        for cut in (len(packed) - 1, len(packed) - 8, len(packed) // 2, 12, 3):
            assert outcome(packed[:cut]) == "SRC-CUT"

    def test_row_26_damaged(self, outcome, form):
        packed = bytearray(gzip.compress(good(form)))
        packed[-6] ^= 1
        assert outcome(bytes(packed)) == "SRC-CORRUPT"

    def test_row_28_concatenated(self, outcome, form):
        first, second = GOOD[form]
        head = HEAD.get(form, b"")
        parts = gzip.compress(head + first) + gzip.compress(b"") + gzip.compress(second)
        assert outcome(parts) == outcome(gzip.compress(good(form)))

    def test_row_29_trailing(self, outcome, form):
        packed = gzip.compress(good(form))
        assert outcome(packed + bytes(512)) == outcome(packed)
        assert outcome(packed + b"more") == "SRC-TRAILING"


@pytest.mark.parametrize("form", TEXT_FORMATS)
def test_row_30_wrong_extension(form, tmp_path):
    options = OPTIONS.get(form, {})
    expected = read(io.BytesIO(good(form)), form, **options)
    suffix = SUFFIX.get(form, "." + form)
    (tmp_path / f"packed{suffix}").write_bytes(gzip.compress(good(form)))
    (tmp_path / f"plain{suffix}.gz").write_bytes(good(form))
    for name in (f"packed{suffix}", f"plain{suffix}.gz"):
        with open_stream(tmp_path / name, form, **options) as stream:
            assert plain_batches(stream) == expected
        assert [warned.code for warned in stream.warnings] == ["SRC-SUFFIX"]


LOOKS_LIKE = [
    (form, given)
    for form in ("fasta", "fastq", "svmlight", "jsonl")
    for given in ("vw", "svmlight", "fasta", "fastq", "jsonl")
    if form != given
]


@pytest.mark.parametrize("channel", CHANNELS)
@pytest.mark.parametrize(("form", "given"), LOOKS_LIKE)
def test_row_31_wrong_format(form, given, channel, tmp_path):
    with (
        opened(good(form), given, channel, tmp_path) as stream,
        pytest.raises(ParseError) as caught,
    ):
        plain_batches(stream)
    assert (caught.value.line, caught.value.column) == (1, 1)
    assert form in caught.value.hint


@pytest.mark.parametrize("form", [*TEXT_FORMATS, "parquet"])
def test_row_32_missing_and_directory(form, tmp_path):
    for path, code in ((tmp_path / "none", "SRC-MISSING"), (tmp_path, "SRC-DIRECTORY")):
        with pytest.raises(BearError) as caught:
            open_stream(path, form)
        assert (caught.value.code, caught.value.exit_code) == (code, 4)


@pytest.mark.parametrize("form", TEXT_FORMATS)
def test_row_33_a_read_that_fails_in_the_middle(form):
    class Failing(io.RawIOBase):
        turns = iter((good(form), None))

        def read(self, size=-1):
            got = next(self.turns)
            if got is None:
                raise OSError(5, "Input/output error")
            return got

        def readable(self):
            return True

    with pytest.raises(BearError) as caught:
        read(Failing(), form, **OPTIONS.get(form, {}))
    assert (caught.value.code, caught.value.exit_code) == ("SRC-READ", 4)
