"""What must hold for every document, whatever its bytes."""

import contextlib
import gzip
import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bearsketch.exceptions import BearError
from bearsketch.reading import Limits, open_stream

from .fault_rows import CASES
from .faults import GOOD, HEAD, OPTIONS, Fails
from .helpers import COMPRESS, Dribble, plain_batches, read

FORMATS = (*GOOD, "text")
WORDS = st.text("abcxyz", min_size=1, max_size=4).map(str.encode)
VALUES = st.integers(-9, 9).filter(bool).map(lambda n: b"%d" % n)
LABELS = st.sampled_from([b"0", b"1"])


def vw_line(label, words, values):
    return (
        label
        + b" |n "
        + b" ".join(b"%b:%b" % pair for pair in zip(words, values, strict=True))
        + b"\n"
    )


def svmlight_line(label, words, values):
    ids = dict(zip((sum(word) for word in words), values, strict=True))
    return b" ".join([label, *(b"%d:%b" % pair for pair in ids.items())]) + b"\n"


def fasta_record(label, words, values):
    letters = b"\n".join(word.translate(bytes.maketrans(b"abcxyz", b"ACGTNA")) for word in words)
    return b">r L=" + label + b"\n" + letters + b"\n"


def fastq_record(label, words, values):
    letters = b"".join(words).translate(bytes.maketrans(b"abcxyz", b"ACGTNA"))
    return b"@r L=%b\n%b\n+\n%b\n" % (label, letters, b"I" * len(letters))


def csv_line(label, words, values):
    return b'"%b",%b,%b\n' % (b'""\n'.join(words), values[0], label)


def jsonl_line(label, words, values):
    fields = b",".join(b'"%b":%b' % pair for pair in zip(words, values, strict=True))
    return b"{" + fields + b',"label":' + label + b"}\n"


def text_line(label, words, values):
    return label + b"\t" + b" ".join(words) + b"\n"


MAKE = {
    "vw": vw_line,
    "svmlight": svmlight_line,
    "fasta": fasta_record,
    "fastq": fastq_record,
    "csv": csv_line,
    "jsonl": jsonl_line,
    "text": text_line,
}


@st.composite
def records(draw, form: str, max_size: int = 12) -> list[bytes]:
    n = draw(st.integers(1, max_size))
    out = []
    for _ in range(n):
        words = draw(st.lists(WORDS, min_size=1, max_size=5))
        values = draw(st.lists(VALUES, min_size=len(words), max_size=len(words)))
        out.append(MAKE[form](draw(LABELS), words, values))
    return out


def document(form: str, parts: list[bytes]) -> bytes:
    return HEAD.get(form, b"") + b"".join(parts)


def outcome(source, form: str, **options):
    """Batches with the account, or the error, of a document."""
    told = OPTIONS.get(form, {}) | {"rows": 3} | options
    with open_stream(source, form, **told) as stream:
        try:
            batches = plain_batches(stream)
        except BearError as error:
            place = (getattr(error, "line", 0), getattr(error, "column", 0))
            return error.code, place, error.message
    stream.counts.check()
    codes = sorted(warned.code for warned in stream.warnings)
    return batches, stream.counts, codes


@pytest.mark.parametrize("form", FORMATS)
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_how_bytes_are_cut_into_chunks_does_not_matter(form, data):
    text = document(form, data.draw(records(form)))
    sizes = data.draw(st.lists(st.integers(1, 40), min_size=1, max_size=5))
    whole = outcome(io.BytesIO(text), form)
    assert outcome(Dribble(text, sizes), form) == whole
    assert outcome(Dribble(text, [1]), form) == whole


@pytest.mark.parametrize("form", FORMATS)
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_the_same_holds_for_any_bytes(form, data):
    """Nothing crashes, errors do not depend on chunks, and every line is accounted for."""
    lines = data.draw(records(form, 4))
    junk = st.one_of(
        st.binary(max_size=12),
        st.sampled_from([b"\r", b"\n", b"\0", b'"', b"|", b":", b",", b">", b"@", b"+\n", b"{"]),
    )
    parts = data.draw(st.lists(st.one_of(st.sampled_from(lines), junk), max_size=8))
    text = document(form, parts)
    sizes = data.draw(st.lists(st.integers(1, 9), min_size=1, max_size=4))
    limits = Limits(line_bytes=60, name_bytes=20, row_features=6, batch_entries=7)
    for policy in ("fail", "skip"):
        options = {"on_error": policy, "max_errors": 1000, "limits": limits}
        assert outcome(Dribble(text, sizes), form, **options) == outcome(
            io.BytesIO(text), form, **options
        )


@pytest.mark.parametrize("form", FORMATS)
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_crlf_is_lf_and_every_compression_is_plain(form, data):
    text = document(form, data.draw(records(form)))
    batches = outcome(io.BytesIO(text), form)[0]
    assert outcome(io.BytesIO(text.replace(b"\n", b"\r\n")), form)[0] == batches
    for compress in COMPRESS.values():
        assert outcome(io.BytesIO(compress(text)), form)[0] == batches


@pytest.mark.parametrize("form", FORMATS)
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_how_records_are_spread_over_files_does_not_matter(form, data):
    parts = data.draw(records(form))
    cut = data.draw(st.integers(1, len(parts)))
    files = [io.BytesIO(document(form, part)) for part in (parts[:cut], parts[cut:]) if part]
    whole = io.BytesIO(document(form, parts))
    limits = Limits(batch_entries=8)
    assert outcome(files, form, limits=limits)[0] == outcome(whole, form, limits=limits)[0]


@pytest.mark.parametrize("form", ["vw", "svmlight", "jsonl"])
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_order_of_features_does_not_matter(form, data):
    words = data.draw(st.lists(WORDS, min_size=1, max_size=6, unique_by=sum))
    values = data.draw(st.lists(VALUES, min_size=len(words), max_size=len(words)))
    pairs = data.draw(st.permutations(list(zip(words, values, strict=True))))
    one = MAKE[form](b"1", words, values)
    other = MAKE[form](b"1", [word for word, _ in pairs], [value for _, value in pairs])
    assert read(io.BytesIO(one), form) == read(io.BytesIO(other), form)


BROKEN = {
    form: [
        case.bad
        for case in CASES
        if case.form == form
        and isinstance(case.outcome, Fails)
        and not case.options
        and case.place == "middle"
    ]
    for form in GOOD
}


@pytest.mark.parametrize("form", GOOD)
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_skipping_broken_records_leaves_the_good_ones(form, data):
    # FASTQ counts broken records side by side as one: it cannot tell where each of them ends.
    parts = data.draw(records(form, 8))
    spots = data.draw(st.lists(st.integers(1, len(parts)), max_size=4, unique=True))
    mixed = list(parts)
    for spot in sorted(spots, reverse=True):
        mixed.insert(spot, data.draw(st.sampled_from(BROKEN[form])))
    alone = outcome(io.BytesIO(document(form, parts)), form)
    told = outcome(io.BytesIO(document(form, mixed)), form, on_error="skip", max_errors=100)
    assert told[0] == alone[0]
    assert told[1].skipped == len(spots)


@settings(max_examples=200, deadline=None)
@given(data=st.binary(max_size=200))
def test_no_bytes_crash_a_guessed_stream(data):
    with contextlib.suppress(BearError):
        read(io.BytesIO(data))
    with contextlib.suppress(BearError):
        read(io.BytesIO(b">" + data), kmer=3)
    with contextlib.suppress(BearError):
        read(io.BytesIO(gzip.compress(b"1 |a b\n") + data), "vw")


@settings(max_examples=50, deadline=None)
@given(ids=st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=8, unique=True))
def test_ids_stay_distinct_up_to_the_last(ids):
    line = b"1 " + b" ".join(b"%d:1" % i for i in ids) + b"\n"
    with open_stream(io.BytesIO(line), "svmlight") as stream:
        batch = next(iter(stream))
    assert batch.keys.tolist() == sorted(ids)
    assert batch.naming == "id"
    assert np.all(batch.values == 1)


@pytest.mark.parametrize(("form", "label"), [("vw", b"1 |n"), ("svmlight", b"1")])
def test_a_line_too_long_for_marks_reads_as_a_short_one(form, label):
    features = b" ".join(b"%d:%d.%d" % (i, i % 10, i) for i in range(1, 500)) + b" 9999:-2e-3"
    short = label + b" " + features + b"\n"
    long = label + b" " * (1 << 18) + features + b"\n"
    (batch,) = open_stream(io.BytesIO(short + long), form)
    half = batch.n_entries // 2
    assert len(batch) == 2
    assert (batch.keys[:half] == batch.keys[half:]).all()
    assert (batch.values[:half] == batch.values[half:]).all()
    assert half == 500


def test_text_that_looks_compressed_fails_the_same_however_it_arrives():
    text = b"(\xb5/\xfd0 |n a:1\n"
    whole = outcome(io.BytesIO(text), "vw")
    assert whole[0] == "SRC-CORRUPT"
    assert all(outcome(Dribble(text, [size]), "vw") == whole for size in (1, 3, 9, 40))
