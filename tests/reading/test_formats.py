import io

import pytest

from bearsketch.exceptions import ParameterError
from bearsketch.reading import open_stream
from bearsketch.reading.formats import format_named, guess_format, separator_of
from bearsketch.reading.remember import _format_like

CONTENT = {
    "vw": [b"1 |a b c\n", b"-1 2.0 'tag|ns x:1\n", b"| a b\n", b"1 1.0 first|u p:2 |v q\n"],
    "svmlight": [b"+1 1:0.5 7:1\n-1 2:1\n", b"# note\n3 qid:2 1:1\n", b"1 5:1e-3 # info\n"],
    "fasta": [b">r1 x\nACGT\n", b"\n>r1\n"],
    "fastq": [b"@r1\nACGT\n+\nIIII\n"],
    "csv": [b"a,b\n1,2\n", b'a,b\n"x,y",2\n', b"a;b\n1,5;2\n"],
    "tsv": [b"a\tb\n1\t2\n"],
    "parquet": [b"PAR1\x15\x04"],
    "jsonl": [b'{"a": 1}\n', b"{}\n"],
    "text": [b"just some words\nand more, of them\n", b"@home\nwords\nwords\n", b"{braces\n"],
}


@pytest.mark.parametrize("form", CONTENT)
def test_content_tells(form):
    for head in CONTENT[form]:
        assert guess_format(head) == form, head
        assert guess_format(b"\xef\xbb\xbf" + head.replace(b"\n", b"\r\n")) == form, head


@pytest.mark.parametrize("form", ["svmlight", "fasta", "fastq", "parquet", "jsonl"])
def test_sure_content_wins_over_the_name(form):
    for head in CONTENT[form]:
        assert guess_format(head, "data.csv") == form


def test_the_name_wins_over_likely_content():
    assert guess_format(b"a,b\n1,2\n", "notes.txt") == "text"
    assert guess_format(b"a|b,c\n", "data.csv") == "csv"


def test_a_cut_line_at_the_end_is_not_looked_at():
    assert guess_format(b"1 2:1 3:1\n1 2:1 3") == "svmlight"
    assert guess_format(b"1 2:1 3:1 4") == "svmlight"


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("a/b.svm.gz", "svmlight"),
        ("x.FNA.GZ", "fasta"),
        ("x.tsv.zst", "tsv"),
        ("x.gz", None),
        ("noext", None),
        ("x.unknown", None),
    ],
)
def test_suffixes(name, form):
    assert format_named(name) == form


def test_line_ends_in_quotes_do_not_hide_a_table():
    assert guess_format(b'city,note,sold\nrome,fine,1\nparis,"two\nlines, or so",0\n') == "csv"


def test_commas_of_numbers_are_no_separators():
    head = b"1,5;2,5;a\n2,0;3,0;b\n"
    assert separator_of(head) == ","
    assert separator_of(head, decimal=",") == ";"


@pytest.mark.parametrize(
    ("remembered", "name", "form"),
    [
        ("text", "mails.tsv", "text"),
        ("vw", "day.csv", "vw"),
        ("csv", "day.tsv", "tsv"),
        ("csv", "day.parquet", "parquet"),
        ("vw", "day.jsonl", "jsonl"),
        ("fasta", "reads.fastq.gz", "fastq"),
        ("fasta", "-", "auto"),
        ("vw", "-", "vw"),
    ],
)
def test_a_model_reads_files_as_its_own_unless_their_names_tell(remembered, name, form):
    assert _format_like({"format": remembered}, [name]) == form


def test_a_frame_has_no_name():
    assert _format_like({"format": "auto"}, object()) == "auto"


def test_long_names_of_columns_are_cut_in_messages():
    table = io.BytesIO(b"a" * 5000 + b",b\n1,2\n")
    with pytest.raises(ParameterError) as caught:
        next(iter(open_stream(table, "csv", label_column="c")))
    assert len(str(caught.value)) < 300


def test_labelled_text_is_text_in_a_file_of_tsv_too():
    first = b"rec.autos\tFrom: a reader, who asks what car this could be\n"
    rest = b"sci.space\tthe orbit of the moon\nrec.autos\tmy car is for sale\n"
    assert guess_format(first + rest, "posts.tsv") == "text"
    assert guess_format(first + rest, "posts.tsv.gz") == "text"
    # A label that comes again is no name of a column.
    assert guess_format(b"sci.space\twhat is an orbit\n" + rest, "posts.tsv") == "text"
    # What could be a header is one.
    assert guess_format(b"group\ttext of the post\n" + rest, "posts.tsv") == "tsv"
    assert guess_format(b"group\ttext\n" + rest, "posts.tsv") == "tsv"
    assert guess_format(first + rest, "posts.csv") == "csv"


def test_short_texts_are_told_by_a_label_that_recurs():
    urls = b"good\thttp://a.org/x\nbad\thttp://b.ru/login\ngood\thttp://c.org\n"
    for name in ("urls.tsv", "", "urls"):
        assert guess_format(urls, name) == "text", name
    assert guess_format(b"ham\tok\nham\tsee you at the station\nspam\twin\n") == "text"
    # A header does not recur, and numbers are those of a table.
    assert guess_format(b"label\ttext\n" + urls, "urls.tsv") == "tsv"
    assert guess_format(b"1\t2.5\n0\t1.5\n1\t3\n") == "tsv"
