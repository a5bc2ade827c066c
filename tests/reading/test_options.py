"""The table of reading options, and what derives from it."""

import io

import pytest

from bearsketch import _core
from bearsketch.exceptions import ParameterError
from bearsketch.reading import ReadOptions, open_stream
from bearsketch.reading.formats import FORMATS
from bearsketch.reading.native import parser_options
from bearsketch.reading.options import FIXED, REMEMBERED, TABLE, TABLES

DATA = {
    "vw": b"1 | a\n0 | b\n",
    "svmlight": b"1 3:1\n0 4:1\n",
    "csv": b"a,label\nx,1\ny,0\n",
    "jsonl": b'{"a": "x", "label": 1}\n{"a": "y", "label": 0}\n',
    "text": b"1\tsome words\n0\tother words\n",
    "fasta": b">a\nACGTACGT\n>b\nCCGTACGT\n",
}
OTHER = {
    "label_column": "a",
    "weight_column": "a",
    "categorical": ("a",),
    "numeric": ("a",),
    "time_columns": ("a",),
    "clock_columns": ("a",),
    "drop": ("a",),
    "header": False,
    "columns": ("a", "b"),
    "separator": ";",
    "decimal": ",",
    "text_columns": ("a",),
    "duplicates": "sum",
    "kmer": 3,
    "alphabet": "iupac",
    "canonical": False,
    "presence": True,
    "window": 5,
    "stride": 5,
    "label_from": "none",
    "label_regex": "(.)",
    "label_table": "t.tsv",
    "ngrams": (1, 2),
    "char_ngrams": (2, 2),
    "lowercase": False,
}


def test_every_row_says_what_it_is():
    for name, row in TABLE.items():
        assert row.doc.endswith("."), name
        assert row.kind.holds(row.default), name
        assert set(row.formats) <= {*FORMATS, *TABLES}, name
        assert f"{name} : " in ReadOptions.__doc__
        assert not row.fixed or row.remembered, name
    assert {name for name, row in TABLE.items() if row.formats} == set(OTHER)


@pytest.mark.parametrize("form", [form for form in FORMATS if form not in TABLES])
def test_parsers_take_the_options_of_their_format_and_no_other(form):
    given = parser_options(form, ReadOptions(kmer=5), "auto")
    _core.Parser(form, **given)
    own = {row.parser for row in TABLE.values() if row.applies(form) or form in row.parsed}
    assert set(given) - {"labels", "max_line_bytes", "max_name_bytes", "max_features"} <= own


@pytest.mark.parametrize("form", list(DATA))
@pytest.mark.parametrize("name", list(OTHER))
def test_an_option_that_means_nothing_for_the_data_is_refused(form, name):
    row = TABLE[name]
    more = {"window": 5} if name == "stride" else {}
    more |= {"kmer": 3} if form == "fasta" else {}
    unused = not row.applies(form) or (row.tables_need and form == "csv")
    if not unused:
        return
    with (
        pytest.raises(ParameterError, match=r"has no effect on \w+ data") as caught,
        open_stream(io.BytesIO(DATA[form]), form, **{**more, name: OTHER[name]}) as stream,
    ):
        list(stream)
    assert caught.value.code == "OPT-UNUSED"


def test_ngrams_of_a_table_need_columns_of_text():
    source = b"a,label\nx y,1\nz,0\n"
    with open_stream(io.BytesIO(source), "csv", text_columns="a", ngrams=(1, 2)) as stream:
        assert sum(batch.n_entries for batch in stream) == 4
    with (
        pytest.raises(ParameterError, match="on csv data without text_columns"),
        open_stream(io.BytesIO(source), "csv", ngrams=(1, 2)) as stream,
    ):
        list(stream)


def test_an_option_that_there_is_not_is_refused_with_the_nearest():
    with pytest.raises(ParameterError, match="'kmers' is no option of a stream") as caught:
        open_stream(io.BytesIO(b""), kmers=3)
    assert caught.value.hint == "Is kmer meant?"


def test_what_a_model_remembers():
    assert set(REMEMBERED) == set(OTHER) - {"label_table"}
    assert set(FIXED) == set(
        "kmer alphabet canonical presence ngrams char_ngrams lowercase".split()
    )
