import gzip
import shutil
import subprocess
import sys

import numpy as np
import pytest

from bearsketch.exceptions import DataError, ParameterError, ParseError
from bearsketch.reading import Limits, ReadOptions, open_stream

from .helpers import COMPRESS, Dribble, named, plain_batches, read


def table(n: int, start: int = 0, header: bytes = b"a,n,label\n") -> bytes:
    return header + b"".join(b"w%d,%d,%d\n" % (i, i + 1, i % 2) for i in range(start, start + n))


def sizes(source, **options) -> list[int]:
    with open_stream(source, "csv", **options) as stream:
        return [len(batch) for batch in stream]


def test_batches_have_exactly_so_many_rows():
    assert sizes(named(table(25), "t"), rows=10) == [10, 10, 5]
    assert sizes(named(table(20), "t"), rows=10) == [10, 10]


@pytest.mark.parametrize("cuts", [(13, 12), (10, 15), (1, 24), (7, 7, 11)])
def test_where_batches_end_does_not_depend_on_the_files(cuts):
    files, start = [], 0
    for n in cuts:
        files.append(named(table(n, start), f"{start}.csv"))
        start += n
    assert read(files, "csv", rows=10) == read(named(table(25), "t"), "csv", rows=10)


@pytest.mark.parametrize("cut", range(1, 12))
def test_entries_of_a_batch_are_bounded_whatever_the_files(cut):
    widths = [2, 2, 2, 2, 9, 1, 3, 3, 3, 0, 2, 4]
    lines = [b",".join(b"x" if i < width else b"" for i in range(9)) + b",1\n" for width in widths]
    header = b",".join(b"c%d" % i for i in range(9)) + b",label\n"
    limits = Limits(batch_entries=6)
    whole = read(named(header + b"".join(lines), "t"), "csv", limits=limits, rows=5)
    parts = [
        named(header + b"".join(part), f"{i}.csv")
        for i, part in enumerate((lines[:cut], lines[cut:]))
    ]
    assert read(parts, "csv", limits=limits, rows=5) == whole
    ends = [[int(size) for size in np.diff(batch["indptr"])] for batch in whole]
    assert ends == [[2, 2, 2], [2], [9], [1, 3], [3, 3, 0], [2, 4]]


def test_text_of_a_batch_is_bounded():
    limits = Limits(batch_text_bytes=64)
    text = b"a,label\n" + b"".join(b"x" * n + b",1\n" for n in (20, 20, 20, 62, 100, 1, 1))
    assert sizes(named(text, "t"), limits=limits) == [2, 1, 1, 1, 2]


def test_unlabelled_are_left_out_to_train_and_batches_are_still_full():
    text = b"a,label\n" + b"".join(b"x,%b\n" % (b"1" if i % 3 else b"") for i in range(30))
    assert sizes(named(text, "t"), rows=10, include_unlabelled=False) == [10, 10]
    with open_stream(named(text, "t"), "csv", rows=10) as stream:
        batches = list(stream)
    assert [len(batch) for batch in batches] == [10, 10, 10]
    assert int(np.isnan(batches[0].labels).sum()) == 4
    assert (stream.counts.examples, stream.counts.unlabelled) == (20, 10)


def test_every_pass_gives_the_same_and_counts_anew(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(table(25))
    with open_stream(path, rows=10) as stream:
        first = plain_batches(stream)
        assert stream.counts.examples == 25
        assert plain_batches(stream) == first
        assert (stream.counts.examples, stream.passes) == (25, 2)


def test_a_pass_left_early_can_be_begun_again(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(table(25))
    with open_stream(path, rows=10) as stream:
        next(iter(stream))
        assert sum(len(batch) for batch in stream) == 25


def test_progress_counts_compressed_bytes(tmp_path):
    paths = []
    for i, kind in enumerate(("gzip", "plain")):
        paths.append(tmp_path / f"{i}.csv")
        paths[-1].write_bytes(COMPRESS[kind](table(100)))
    total = sum(path.stat().st_size for path in paths)
    with open_stream(paths) as stream:
        assert stream.progress() == (0, total)
        list(stream)
        assert stream.progress() == (total, total)
    assert {warned.code for warned in stream.warnings} == {"SRC-SUFFIX"}


def test_progress_without_a_known_total():
    with open_stream(Dribble(table(10), [50]), "csv") as stream:
        list(stream)
        assert stream.progress() == (len(table(10)), None)


def test_position_names_the_source(tmp_path):
    for i in range(2):
        (tmp_path / f"{i}.csv").write_bytes(table(3))
    with open_stream(str(tmp_path / "*.csv"), rows=2) as stream:
        places = [(batch.position.source_index, batch.position.line) for batch in stream]
    assert places == [(0, 3), (1, 2), (1, 4)]


def test_empty_file_alone_and_among_others(tmp_path):
    (tmp_path / "empty.csv").write_bytes(b"")
    (tmp_path / "full.csv").write_bytes(table(3))
    with pytest.raises(DataError) as caught:
        read(tmp_path / "empty.csv")
    assert caught.value.code == "SRC-EMPTY"
    assert read(tmp_path / "empty.csv", allow_empty=True) == []
    with open_stream([tmp_path / "empty.csv", tmp_path / "full.csv"]) as stream:
        assert sum(len(batch) for batch in stream) == 3
    assert [warned.code for warned in stream.warnings] == ["SRC-EMPTY"]


def test_no_labelled_example_is_told_with_the_likely_reason():
    with pytest.raises(DataError) as caught:
        read(named(b"a,y\nx,1\n", "t"), "csv", include_unlabelled=False)
    assert caught.value.code == "SRC-EMPTY"
    assert "label column" in caught.value.hint


@pytest.mark.parametrize(
    ("data", "options", "counted", "remedy"),
    [
        (b">a\nACGT\n>b\nACGT\n", {"kmer": 3}, "2 records", "--label-regex"),
        (b"@a\nACGT\n+\nIIII\n", {"kmer": 3}, "1 records", "--label-regex"),
        (b">a\nACGTACGTACGT\n", {"kmer": 3, "window": 4}, "3 reads", "--label-regex"),
        (b"| a\n| b\n", {}, "2 lines", "starts with its label: 1 | words"),
        (b"a,y\nx,1\n", {}, "1 rows", "--label-column"),
        (b"0.9,1,0\n0.5,0,1\n", {}, "1 rows", "--no-header"),
    ],
)
def test_examples_are_called_what_they_are(data, options, counted, remedy):
    with pytest.raises(DataError, match=f"no labelled example in {counted}\n") as caught:
        read(named(data, "t"), include_unlabelled=False, **options)
    assert remedy in caught.value.hint


UNLABELLED = {
    "csv": (b"a,y\n", b"x,1\n", "None is called 'label'; they are 'a', 'y'"),
    "jsonl": (b"", b'{"a": "x", "y": 1}\n', "Name the label column"),
    "vw": (b"", b"| x\n", "A line starts with its label: 1 | words"),
    "fasta": (b"", b">r\nACGT\n", "--label-regex"),
}


@pytest.mark.parametrize("form", UNLABELLED)
@pytest.mark.parametrize("threads", [1, 2])
def test_that_no_example_has_a_label_is_told_before_the_end(form, threads):
    head, line, remedy = UNLABELLED[form]
    data = named(head + line * 50_000, "t")
    options = {"threads": threads, "kmer": 3 if form == "fasta" else None, "rows": 480}
    with open_stream(data, form, include_unlabelled=False, **options) as stream:
        with pytest.raises(
            DataError, match=r"^t: none of the first 10,\d\d\d (rows|lines|rec)"
        ) as e:
            list(stream)
        counts = stream.counts
    counts.check()
    assert counts.examples == 0
    assert 10_000 <= counts.unlabelled < 11_000
    assert counts.read == counts.unlabelled
    assert e.value.code == "SRC-EMPTY"
    assert remedy in e.value.hint
    assert "let them come first" in e.value.hint


def test_a_field_that_is_absent_is_named_before_the_end():
    data = named(b'{"a": "x", "y": 1}\n' * 20_000, "t")
    with pytest.raises(DataError, match="None has the field 'z', which label_column") as caught:
        read(data, "jsonl", include_unlabelled=False, label_column="z")
    assert caught.value.code == "SRC-EMPTY"


def test_examples_without_a_label_may_be_many_where_one_has_one_or_none_is_needed():
    rows = b"| x\n" * 9_999 + b"1 | y\n" + b"| x\n" * 20_000
    assert len(read(named(rows, "t"), "vw", include_unlabelled=False)) == 1
    assert len(read(named(b"| x\n" * 20_000, "t"), "vw", rows=1000)) == 20
    assert (
        read(named(b"| x\n" * 20_000, "t"), "vw", include_unlabelled=False, allow_empty=True) == []
    )


def test_too_many_broken_records_are_told_with_what_is_allowed():
    data = named(b">a\nACGT\n" + b">b\nAC-GT\n" * 2, "t")
    with pytest.raises(DataError, match=r"2 of 3 records are broken \(FA-LETTER 2\)") as caught:
        read(data, kmer=3, on_error="skip")
    assert "max_errors allows: 1%" in caught.value.message
    assert "t:4:3: '-' is not a nucleotide letter" in caught.value.hint
    assert "or raise max_errors (--max-errors)" in caught.value.hint


@pytest.mark.parametrize("options", [{}, {"kmer": 3}, {"kmer": 3, "format": "fastq"}])
@pytest.mark.parametrize(
    ("kind", "data"),
    [
        ("SAM", b"@HD\tVN:1.6\tSO:coordinate\n@SQ\tSN:c\tLN:9\nr1\t0\tc\t1\t60\t3M\n"),
        ("SAM", b"@SQ\tSN:c\tLN:9\n"),
        ("BAM", gzip.compress(b"BAM\x01\0\0\0\0", mtime=0)),
        ("CRAM", b"CRAM\x03\x00"),
    ],
)
def test_alignments_are_refused_with_the_remedy(kind, data, options):
    with pytest.raises(DataError, match=f"x: this is a {kind} file") as caught:
        read(named(data, "x"), **options)
    assert caught.value.code == "SRC-ALIGNMENTS"
    assert f"samtools fasta reads.{kind.lower()} > reads.fa" in caught.value.hint


def test_alignments_may_be_text_where_that_is_asked_for():
    assert read(named(b"@SQ\tSN:c\tLN:9\n", "x"), format="text")


@pytest.mark.parametrize("data", [b"seq\tlabel\nACGT\tx\n", b"ACGT\n", b"1 | ACGT\n"])
def test_kmers_of_what_has_no_sequences_are_refused(data):
    with pytest.raises(ParameterError, match=r"kmer \(--kmer\) has no effect on \w+ data") as got:
        read(named(data, "x"), kmer=3)
    assert "Use it with fasta and fastq data" in got.value.hint


def test_a_last_record_without_a_sequence_is_broken_as_any_other():
    data = b">a\nACGT\n>b\n"
    with pytest.raises(ParseError, match="x:3:1: last record has no sequence") as caught:
        read(named(data, "x"), kmer=3)
    assert "--on-error skip" in caught.value.hint
    with open_stream(named(data, "x"), kmer=3, on_error="skip", max_errors=1) as stream:
        assert sum(len(batch) for batch in stream) == 1
    assert stream.counts.skipped_by_code == {"FA-EMPTY": 1}


@pytest.mark.parametrize("mark", [b"\xff\xfe", b"\xfe\xff"])
def test_utf16_is_refused_with_the_remedy(mark):
    with pytest.raises(DataError) as caught:
        read(named(mark + "a,b\n".encode("utf-16-le"), "t.csv"))
    assert caught.value.code == "COM-UTF16"
    assert "iconv" in caught.value.hint


def test_archives_are_refused_with_the_remedy(tmp_path):
    (tmp_path / "a.csv").write_bytes(table(3))
    for kind in ("tar", "zip", "gztar"):
        path = shutil.make_archive(str(tmp_path / "packed"), kind, tmp_path, "a.csv")
        with pytest.raises(DataError) as caught:
            read(path)
        assert caught.value.code == "SRC-ARCHIVE"


ARRAY = b'[{"a": "x", "label": 1},\n {"a": "y", "label": 0}]\n'


@pytest.mark.parametrize("data", [ARRAY, b"\xef\xbb\xbf \n[\n  {\n" + ARRAY[2:], b"[1]", b"[\n"])
@pytest.mark.parametrize("name", ["a.json", "A.JSON", "a.json.gz", "a.jsonl", "-"])
def test_a_json_array_is_refused_with_the_remedy(data, name):
    packed = gzip.compress(data) if name.endswith(".gz") else data
    if b"{" not in data and "json" not in name.lower():
        assert len(read(named(packed, name), label_from="none")) == 1
        return
    with pytest.raises(DataError) as caught:
        read(named(packed, name))
    sure = b"{" in data or name != "a.jsonl"
    assert caught.value.code == ("JSL-ARRAY" if sure else "JSL-OBJECT")
    assert "one object a line, for example with: jq -c '.[]'" in caught.value.hint


def test_a_format_that_is_given_is_believed():
    assert len(read(named(ARRAY, "a.json"), "text", label_from="none")) == 1
    with pytest.raises(ParseError) as caught:
        read(named(ARRAY, "a.json"), "jsonl")
    assert caught.value.code == "JSL-OBJECT"
    assert "jq -c" in caught.value.hint


BAD = b"a,n,label\n" + b"x,1,1\ny,zz,1\nz,3,0\nw,4\n" + b"v,5,1\n" * 96


def test_skip_counts_by_code_and_keeps_the_first_errors():
    with open_stream(
        named(BAD, "t"), "csv", numeric=["n"], on_error="skip", max_errors=2
    ) as stream:
        assert sum(len(batch) for batch in stream) == 98
    assert stream.counts.skipped_by_code == {"TAB-VALUE": 1, "CSV-COLUMNS": 1}
    assert sorted(error.line for error in stream.errors) == [3, 5]


@pytest.mark.parametrize(
    ("allowed", "passes"), [(1, False), (2, True), (0.01, False), (0.03, True)]
)
def test_too_many_errors_stop_the_stream(allowed, passes):
    def go():
        return read(named(BAD, "t"), "csv", numeric=["n"], on_error="skip", max_errors=allowed)

    if passes:
        assert go()
        return
    with pytest.raises(DataError) as caught:
        go()
    assert caught.value.code == "COM-MAX-ERRORS"


def test_fail_raises_at_the_first_error():
    with pytest.raises(ParseError) as caught:
        read(named(BAD, "bad.csv"), "csv", numeric=["n"])
    assert str(caught.value).startswith(
        "bad.csv:3:3: value of column 'n' must be a number, got 'zz'"
    )


def test_bytes_of_the_input_never_reach_a_terminal_raw():
    text = b"n,label\n1,1\n\x1b[31mred,1\n"
    with pytest.raises(ParseError) as caught:
        read(named(text, "t"), "csv", numeric=["n"])
    assert "\x1b" not in str(caught.value)


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("rows", 0),
        ("rows", True),
        ("seed", -1),
        ("labels", "words"),
        ("on_error", "warn"),
        ("max_errors", 1.0),
        ("max_errors", -1),
        ("kmer", 33),
        ("alphabet", "dna"),
        ("label_regex", "("),
        ("label_regex", "no group"),
        ("ngrams", (2, 1)),
        ("ngrams", (0, 1)),
        ("categorical", b"city"),
        ("limits", 5),
        ("columns", [1]),
        ("names", None),
    ],
)
def test_options_say_what_is_allowed(option, value):
    with pytest.raises(ParameterError, match=rf"^{option} must be .*, got "):
        ReadOptions(**{option: value})


def test_options_that_do_not_go_together():
    for bad in (
        {"kmer": 17, "alphabet": "iupac"},
        {"stride": 5},
        {"label_from": "header"},
        {"categorical": ["a"], "numeric": ["a"]},
    ):
        with pytest.raises(ParameterError):
            ReadOptions(**bad)


def test_unknown_option_and_format():
    with pytest.raises(ParameterError, match="no option"):
        open_stream("-", shape=3)
    with pytest.raises(ParameterError, match="format must be"):
        open_stream("-", "xml")


@pytest.mark.parametrize("value", [0, -1, True, 1.5, None])
def test_limits_are_checked(value):
    with pytest.raises(ParameterError, match=r"limits\.line_bytes"):
        Limits(line_bytes=value)


def test_reading_imports_nothing_heavy():
    code = (
        "import sys, io, bearsketch.reading as b\n"
        "list(b.open_stream(io.BytesIO(b'a,label\\nx,1\\n'), 'csv'))\n"
        "heavy = {'pyarrow', 'sklearn', 'scipy', 'fsspec', 'lzma', 'bz2', 'isal', 'backports'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


def test_inputs_of_different_formats_are_told_to_be_so(tmp_path):
    (tmp_path / "a.vw").write_text("1 | a\n")
    (tmp_path / "b.jsonl").write_text('{"label": 1}\n')
    with pytest.raises(ParseError, match="not VW text") as caught:
        list(open_stream([tmp_path / "a.vw", tmp_path / "b.jsonl"]))
    assert "all inputs must have one format, as the first: vw" in str(caught.value)
