"""Every malformation in every format, from a file, a gzip file and standard input."""

import contextlib
import gzip
import io
import os
import sys
import threading

import pytest

from bearsketch.exceptions import BearError, ParseError
from bearsketch.reading import Limits, open_stream

from .fault_rows import CASES
from .faults import GOOD, HEAD, OPTIONS, Accepts, Case, Fails, Stops
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


def parquet_rows():
    """Malformations in row 2 of column x: (row, what, column, options, reason code or "")."""
    pa = pytest.importorskip("pyarrow")
    inf, nan = float("inf"), float("nan")
    pairs = pa.map_(pa.string(), pa.float64())
    small = {"limits": Limits(name_bytes=20, row_features=4)}
    return [
        (4, "NUL in a name", pa.array(["x", "a\0b", "y"]), {}, ""),
        (5, "not UTF-8", pa.array([b"x", b"\xff", b"y"]).view(pa.string()), {}, "TAB-UTF8"),
        (5, "not UTF-8, binary", pa.array([b"x", b"\xff", b"y"]), {}, ""),
        (7, "name above the limit", pa.array(["x", "n" * 30, "y"]), small, "TAB-NAME-LONG"),
        (7, "too many features", pa.array([[1], [1, 2, 3, 4, 5], [2]]), small, "TAB-FEATURES"),
        (8, "above float32", pa.array([1.0, 1e308, 2.0]), {}, "TAB-VALUE-RANGE"),
        (10, "NaN", pa.array([1.0, nan, 2.0]), {}, "TAB-VALUE-FINITE"),
        (10, "infinite", pa.array([1.0, -inf, 2.0]), {}, "TAB-VALUE-FINITE"),
        (10, "null", pa.array([1.0, None, 2.0]), {}, ""),
        (11, "text as a number", pa.array(["1", "zz", "2"]), {"numeric": ["x"]}, "TAB-VALUE"),
        (12, "label NaN", pa.array([1.0, nan, 0.0]), {"label_column": "x"}, "TAB-LABEL"),
        (12, "label null", pa.array([1, None, 0]), {"label_column": "x"}, ""),
        (16, "feature twice", pa.array([[], [("u", 1), ("u", 2)], []], pairs), {}, ""),
        (18, "ids above 2^63", pa.array([1, 2**64 - 1, 2**63], pa.uint64()), {}, ""),
        (38, "weight below zero", pa.array([1, -1, 1]), {"weight_column": "x"}, "TAB-WEIGHT"),
    ]


@contextlib.contextmanager
def parquet_source(data: bytes, channel: str, folder):
    """A Parquet file, by its name or as standard input; it must be there to seek in."""
    path = folder / "data.parquet"
    path.write_bytes(data)
    if channel == "plain":
        yield path
        return
    before, sys.stdin = sys.stdin, path.open()
    try:
        yield "-"
    finally:
        sys.stdin.close()
        sys.stdin = before


@pytest.mark.parametrize("channel", ["plain", "stdin"])
def test_malformed_parquet(channel, tmp_path):
    pa = pytest.importorskip("pyarrow")
    pytest.importorskip("pyarrow.parquet")
    for row, what, column, options, code in parquet_rows():
        data = io.BytesIO()
        pa.parquet.write_table(pa.table({"x": column}), data, row_group_size=1)
        check_parquet(f"{row} {what}", data.getvalue(), options, code, channel, tmp_path)


def check_parquet(what, data, options, code, channel, folder) -> None:
    skip = options | {"on_error": "skip", "max_errors": 1}
    with parquet_source(data, channel, folder) as source, open_stream(source, **skip) as stream:
        rows = sum(len(batch) for batch in stream)
    assert (rows, stream.counts.skipped) == ((2, 1) if code else (3, 0)), what
    if code:
        with (
            parquet_source(data, channel, folder) as source,
            pytest.raises(ParseError, match=r"row group 1, ") as caught,
        ):
            read(source, **options)
        error = caught.value
        assert (error.code, error.line) == (code, 2), what
        assert error.exit_code == (6 if code in ("TAB-NAME-LONG", "TAB-FEATURES") else 3)


def test_parquet_that_is_cut_damaged_packed_or_piped(tmp_path):
    pa = pytest.importorskip("pyarrow")
    whole = io.BytesIO()
    pa.parquet.write_table(
        pa.table({"x": range(1000)}), whole, write_page_checksum=True, compression="none"
    )
    data = whole.getvalue()
    damaged = bytearray(data)
    damaged[200] ^= 1
    # Damage inside a page shows when it is read, through the checksum that the page carries.
    for bad, code in (
        (data[:-10], "PQ-FILE"),
        (data[: len(data) // 2], "PQ-FILE"),
        (bytes(damaged), "TAB-STREAM"),
        (gzip.compress(data), "PQ-COMPRESSED"),
        (b"", "SRC-EMPTY"),
        (b"1 |a b\n", "PQ-FILE"),
    ):
        path = tmp_path / "bad.parquet"
        path.write_bytes(bad)
        for policy in ("fail", "skip"):
            with pytest.raises(BearError) as caught:
                read(path, "parquet", on_error=policy)
            assert (caught.value.code, caught.value.exit_code) == (code, 3)
    with piped(data), pytest.raises(BearError) as caught:
        read("-", "parquet")
    assert (caught.value.code, caught.value.exit_code) == ("PQ-SEEK", 4)


def test_row_30_parquet_named_csv(tmp_path):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pa.table({"x": [1, 2]}), tmp_path / "data.csv")
    with open_stream(tmp_path / "data.csv") as stream:
        assert sum(len(batch) for batch in stream) == 2
    assert [warned.code for warned in stream.warnings] == ["SRC-SUFFIX"]
