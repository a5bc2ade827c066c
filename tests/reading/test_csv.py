import pytest

from bearsketch.exceptions import DataError, ParameterError, ParseError
from bearsketch.keys import hash_names
from bearsketch.reading import Limits, open_stream
from bearsketch.reading.account import LineLimitError
from bearsketch.reading.options import ReadOptions
from bearsketch.reading.schema import NUMBER, make_schema

from .helpers import Dribble, broken_table, labels_of, named, read, rows_of, table


def test_categories_are_column_and_value_and_numbers_are_values():
    assert rows_of(table(b"city,age\nparis,30\nrome,-2.5\n")) == [
        {"city=paris": 1.0, "age": 30.0},
        {"city=rome": 1.0, "age": -2.5},
    ]


def test_keys_are_the_hashes_of_the_names_under_the_seed():
    with open_stream(table(b"a,b\nx,2\n"), "csv", seed=5) as stream:
        batch = next(iter(stream))
    names = [batch.names[i] for i in range(2)]
    assert batch.keys.tolist() == hash_names(names, 5).tolist() == sorted(batch.keys.tolist())
    assert (batch.naming, batch.seed) == ("name", 5)


def test_empty_cells_and_zeros_give_no_feature():
    assert rows_of(table(b"a,b\nx,1\n,0\n,\n")) == [{"a=x": 1.0, "b": 1.0}, {}, {}]


def test_quotes_delimiters_and_line_ends_inside_quotes():
    text = b'a,b\n"x,""y""\r\nz",1\n"",2\n'
    assert rows_of(table(text)) == [{'a=x,"y"\nz': 1.0, "b": 1.0}, {"b": 2.0}]


def test_tsv():
    assert rows_of(named(b"a\tb\nx,y\t2\n", "t.tsv")) == [{"a=x,y": 1.0, "b": 2.0}]


def test_label_and_weight_columns():
    text = b"a,y,w\nx,1,2\nz,0,\n"
    with open_stream(table(text), "csv", label_column="y", weight_column="w") as stream:
        batch = next(iter(stream))
    assert batch.labels.tolist() == [1.0, 0.0]
    assert batch.weights.tolist() == [2.0, 1.0]


def test_a_column_named_label_is_the_label():
    assert labels_of(table(b"a,label\nx,spam\ny,ham\n"), "csv") == ["spam", "ham"]


def test_declared_kinds_win_over_the_first_rows():
    text = b"id,n,label\n7,1,0\n8,2,1\n"
    assert rows_of(table(text), categorical=["id"])[0] == {"id=7": 1.0, "n": 1.0}
    assert rows_of(table(text), categorical=["*"])[0] == {"id=7": 1.0, "n=1": 1.0}
    assert rows_of(table(text), drop=["n"])[0] == {"id": 7.0}
    assert rows_of(table(text), categorical=["*"], numeric=["n"])[0] == {"id=7": 1.0, "n": 1.0}


def test_the_first_thousand_rows_fix_the_type():
    numbers = b"".join(b"%d,1\n" % i for i in range(1, 1001))
    error = broken_table(b"n,label\n" + numbers + b"abc,1\n")
    assert (error.code, error.line, error.column) == ("TAB-VALUE", 1002, 1)
    assert "categorical=['n']" in error.hint
    assert "'abc'" in error.message
    late = rows_of(table(b"n,label\n" + b"abc,1\n" + numbers), "csv")
    assert late[1] == {"n=1": 1.0}


def test_header_can_be_missing_or_replaced():
    assert rows_of(table(b"x,2\n"), "csv", header=False) == [{"c1=x": 1.0, "c2": 2.0}]
    named_columns = rows_of(table(b"x,2\n"), "csv", header=False, columns=["p", "q"])
    assert named_columns == [{"p=x": 1.0, "q": 2.0}]
    assert rows_of(table(b"a,b\nx,2\n"), "csv", columns=["p", "q"]) == named_columns


@pytest.mark.parametrize(
    ("text", "options", "told"),
    [
        (b"x,1\ny,2\n", {}, True),  # the first example is lost, so this must be said
        (b"x,1\ny,2\n", {"header": False}, False),
        (b"p,q\ny,2\n", {}, False),
    ],
)
def test_a_first_line_that_is_replaced_is_told(text, options, told):
    with open_stream(table(text), "csv", columns=["p", "q"], **options) as stream:
        assert sum(map(len, stream)) == (2 if "header" in options else 1)
        said = [odd.message for odd in stream.warnings if odd.code == "TAB-HEADER"]
    assert len(said) == told
    assert all("(--no-header)" in message for message in said)


@pytest.mark.parametrize(
    ("row", "code", "column"),
    [
        (b"x", "CSV-COLUMNS", 2),
        (b"x,1,1,9", "CSV-COLUMNS", 8),
        (b'"x"y,1,1', "CSV-QUOTE", 4),
        (b"x,1\0,1", "COM-NUL", 4),
        (b"x,1,1\rx,1,1", "COM-CR", 6),
        (b"x,1e400,1", "TAB-VALUE-RANGE", 3),
        (b"x,1e308,1", "TAB-VALUE-RANGE", 3),
        (b"x,nan,1", "TAB-VALUE-FINITE", 3),
        (b"x,-inf,1", "TAB-VALUE-FINITE", 3),
        (b'x,"1,5",1', "TAB-VALUE", 3),
        (b"x,0x10,1", "TAB-VALUE", 3),
        (b"x,1_0,1", "TAB-VALUE", 3),
        (b"x,1,nan", "TAB-LABEL", 5),
        (b"x,1,yes", "TAB-LABEL", 5),
    ],
)
def test_a_broken_row_is_named_by_line_and_column(row, code, column):
    # The types are declared, so that the broken row cannot make its column categorical.
    text = b"a,n,label\nx,1,1\n" + row + b"\ny,2,0\n"
    error = broken_table(text, numeric=["n"])
    assert (error.code, error.source, error.line, error.column) == (code, "t.csv", 3, column)
    with open_stream(table(text), "csv", numeric=["n"], on_error="skip", max_errors=1) as stream:
        assert sum(len(batch) for batch in stream) == 2
    assert stream.counts.skipped_by_code == {code: 1}


def test_numbers_too_small_for_a_double_are_zero_and_too_large_are_refused():
    assert rows_of(table(b"n,m\n1e-400,1\n"), "csv", numeric=["n"]) == [{"m": 1.0}]
    long = b"0" * 10 + b"." + b"0" * 400 + b"1"
    assert rows_of(table(b"n,m\n" + long + b",1\n"), "csv", numeric=["n"]) == [{"m": 1.0}]
    assert broken_table(b"n\n" + b"9" * 400 + b"e-2\n", numeric=["n"]).code == "TAB-VALUE-RANGE"


def test_open_quotes_are_told_where_they_open():
    error = broken_table(b'a,label\nx,1\n"y,1\nz,1\n')
    assert (error.code, error.line, error.column) == ("CSV-QUOTE-OPEN", 3, 1)


def test_a_broken_header_stops_even_when_errors_are_skipped():
    assert broken_table(b'a,"b"c\n1,2\n', on_error="skip").code == "CSV-QUOTE"


def test_repeated_column_is_refused():
    with pytest.raises(DataError) as caught:
        read(table(b"a,a\n1,2\n"), "csv")
    assert caught.value.code == "TAB-COLUMN-TWICE"


@pytest.mark.parametrize("option", ["label_column", "weight_column"])
def test_missing_column_lists_those_there_are(option):
    with pytest.raises(ParameterError, match=r"no column 'z'.*'a', 'b'"):
        read(table(b"a,b\n1,2\n"), "csv", **{option: "z"})


def test_files_must_have_the_same_columns():
    with pytest.raises(DataError) as caught:
        read([named(b"a,b\n1,2\n", "1.csv"), named(b"a,c\n1,2\n", "2.csv")], "csv")
    assert caught.value.code == "TAB-SCHEMA"


def test_long_record_is_refused_in_bounded_memory_and_reading_goes_on():
    text = b"a,label\n" + b"x" * 5000 + b",1\ny,1\n"
    limits = Limits(line_bytes=1000)
    error = broken_table(text, limits=limits)
    assert isinstance(error, LineLimitError)
    assert (error.code, error.line, error.exit_code) == ("COM-LINE-LONG", 2, 6)
    rows = rows_of(table(text), "csv", limits=limits, on_error="skip", max_errors=1)
    assert rows == [{"a=y": 1.0}]


def test_long_name_is_refused():
    error = broken_table(b"a,label\n" + b"x" * 70_000 + b",1\n")
    assert (error.code, error.line, error.column, error.exit_code) == ("TAB-NAME-LONG", 2, 1, 6)
    assert "text_columns=['a'] (--text-columns a)" in error.hint
    assert "name_bytes (--limit)" in error.hint


def test_names_are_bytes_whatever_their_encoding():
    with open_stream(table(b"abc\xe9,label\n\xff,1\n"), "csv") as stream:
        batch = next(iter(stream))
    assert batch.names[0] == b"abc\xe9=\xff"


def test_accounting_of_blank_lines_header_and_missing_newline():
    with open_stream(table(b"\xef\xbb\xbfa,label\r\n\r\nx,1\r\n\n,\ny,0"), "csv") as stream:
        assert sum(len(batch) for batch in stream) == 3
    counts = stream.counts
    assert (counts.lines, counts.header, counts.blank) == (6, 1, 2)
    assert (counts.examples, counts.unlabelled, counts.empty) == (2, 1, 1)
    assert {warned.code for warned in stream.warnings} == {"COM-BOM", "COM-NO-NEWLINE"}


def test_position_is_the_end_of_the_last_row():
    text = b'a,label\nx,1\n"p\nq",1\nz,0\n'
    with open_stream(table(text), "csv", rows=2) as stream:
        ends = [(batch.position.line, batch.position.byte) for batch in stream]
    assert ends == [(4, text.index(b"z")), (5, len(text))]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (b'a,label\nx,1\n"y,1\nz,1\n', "so the rest of the file is one cell: '\"y,1'"),
        (b'a,label\nx,1\ny,"1\nz,1\n', "so the rest of the file is one cell: '\"1'"),
        (b"a,label\nx,1\ny,1,2,3\n", "more cells than the 2 columns there are: 'y,1,2'"),
        (b"a,label\nx,1\ny\n", "1 cell where there are 2 columns: 'y'"),
        (b'a,label\nx,1\ny,"1"2\n', "a quote inside quotes is written twice: 'y,1'"),
    ],
)
def test_a_broken_record_is_shown_as_it_is_written(text, told):
    error = broken_table(text)
    assert str(error).partition("\n")[0].endswith(told)
    assert error.hint


@pytest.mark.parametrize("separator", [";", "|", "\t", ","])
def test_the_separator_is_found_out(separator):
    text = b"city;age;label\nparis;30;1\nrome;-2.5;0\n".replace(b";", separator.encode())
    rows = [{"city=paris": 1.0, "age": 30.0}, {"city=rome": 1.0, "age": -2.5}]
    assert rows_of(table(text), "csv") == rows
    # However few bytes come at a time.
    assert rows_of(Dribble(text, [1]), "csv") == rows


def test_a_separator_is_not_taken_from_cells():
    assert rows_of(table(b"a,b\nx;y,1\nz;w,2\n")) == [
        {"a=x;y": 1.0, "b": 1.0},
        {"a=z;w": 1.0, "b": 2.0},
    ]
    # One column of texts, whose number of semicolons differs.
    assert rows_of(table(b"a\nx;y\nz\n")) == [{"a=x;y": 1.0}, {"a=z": 1.0}]
    # A decimal comma is no separator either.
    assert rows_of(table(b"a;b\n1,5;2\n2,5;3\n")) == [
        {"a=1,5": 1.0, "b": 2.0},
        {"a=2,5": 1.0, "b": 3.0},
    ]


COMMAS = b"price;item;label\n1,5;tea;0,5\n-2;rum;1\n;gin;2,25\n"


def test_decimal_commas_are_read_where_they_are_named():
    with open_stream(table(COMMAS), decimal=",") as stream:
        batches = list(stream)
        assert not stream.warnings
    assert [label for batch in batches for label in batch.labels] == [0.5, 1.0, 2.25]
    first, second, third = rows_of(table(COMMAS), decimal=",")
    assert first == {"price": 1.5, "item=tea": 1.0}
    assert second == {"price": -2.0, "item=rum": 1.0}
    assert third == {"item=gin": 1.0}


def test_decimal_commas_are_told_where_they_are_words():
    with open_stream(table(COMMAS)) as stream:
        list(stream)
        told = [warning.message for warning in stream.warnings if warning.code == "TAB-DECIMAL"]
    assert [message.split("'")[1] for message in told] == ["price", "label"]
    with open_stream(table(COMMAS.replace(b"-2;", b"two;"))) as stream:
        list(stream)
        assert len([w for w in stream.warnings if w.code == "TAB-DECIMAL"]) == 1


def test_commas_between_thousands_are_read_and_told():
    text = b"n;label\n12;1\n1,234;1\n1,234,567.5;0\nNA;0\n"
    with open_stream(table(text)) as stream:
        values = [batch.values.tolist() for batch in stream]
    assert values == [[12.0, 1234.0, 1234567.5]]
    (told,) = stream.warnings
    assert told.code == "TAB-MARKS"
    assert "'1,234' is read as the number 1234; if its comma is a decimal one" in told.message
    # One that cannot group digits is a decimal one throughout.
    with open_stream(table(b"n;label\n12;1\n1,234;1\n1,5;1\n")) as stream:
        list(stream)
    assert [warning.code for warning in stream.warnings] == ["TAB-DECIMAL"]


def test_points_between_thousands_beside_decimal_commas():
    text = "price;label\n1.234,5;1\n99,5 \u20ac;0\n7;1\n".encode()
    assert rows_of(table(text), decimal=",") == [{"price": 1234.5}, {"price": 99.5}, {"price": 7}]


def test_points_are_no_numbers_beside_decimal_commas():
    with pytest.raises(ParseError, match=r"t\.csv:3:1: .* got '1\.50'"):
        rows_of(table(b"price;label\n1,5;1\n1.50;0\n"), decimal=",", numeric=("price",))
    with pytest.raises(ParameterError, match="decimal must be"):
        open_stream(table(COMMAS), decimal=";")


def test_a_given_separator_is_used():
    assert rows_of(table(b"a:b\nx:1\n"), separator=":") == [{"a=x": 1.0, "b": 1.0}]
    assert rows_of(table(b"a;b\nx;1\n"), separator=",") == [{"a;b=x;1": 1.0}]
    for wrong in ("", ";;", '"', "\n", "\u2192"):
        with pytest.raises(ParameterError, match="separator must be one character"):
            open_stream(table(b"a\n"), separator=wrong)


def test_named_columns_are_read_as_n_grams():
    text = b"plan,review,label\npro,Good good TEA,1\nfree,,0\n"
    rows = rows_of(table(text), text_columns=["review"], presence=False)
    assert rows == [{"plan=pro": 1.0, "review^good": 2.0, "review^tea": 1.0}, {"plan=free": 1.0}]
    options = {"ngrams": (1, 2), "lowercase": False, "drop": ["plan"]}
    rows = rows_of(table(text), text_columns=["review"], **options)
    words = ["Good", "good", "TEA", "Good good", "good TEA"]
    assert rows[0] == {f"review^{words}": 1.0 for words in words}
    chars = {"ngrams": None, "char_ngrams": (3, 3), "presence": False}
    assert rows_of(table(text), text_columns=["review"], **chars)[0]["review^#goo"] == 2.0
    # The same names as JSON Lines give.
    line = named(b'{"plan":"pro","review":"Good good TEA","label":1}\n', "t.jsonl")
    assert (
        rows_of(line, text_columns=["review"])[0]
        == rows_of(table(text), text_columns=["review"])[0]
    )


def test_only_n_grams_count_once():
    line = b'{"n": 5, "n": 2, "tags": ["a", "a"], "text": "Tea tea"}\n'
    expected = {"n": 7.0, "tags=a": 2.0, "text^tea": 1.0}
    assert rows_of(named(line, "t.jsonl")) == [expected]
    counted = rows_of(named(line, "t.jsonl"), presence=False)
    assert counted == [expected | {"text^tea": 2.0}]


def test_columns_of_text_are_told_and_known():
    with open_stream(table(b"a,b\nx y,1\n"), text_columns=["a"], categorical=["*"]) as stream:
        assert len(next(iter(stream))) == 1
    found = {use: names for use, names in stream.columns.items() if names}
    assert found == {"categorical": ("b",), "text_columns": ("a",)}
    with pytest.raises(ParameterError, match="there is no column 'c'"):
        read(table(b"a,b\nx y,1\n"), text_columns=["c"])
    with pytest.raises(
        ParameterError, match="categorical, numeric, text or of times, not two of them"
    ):
        open_stream(table(b"a,b\n"), text_columns=["a"], categorical=["a"])


def test_labels_that_are_true_or_false_are_numbers_as_in_arrow():
    for words in ((b"true", b"false"), (b"True", b"False"), (b"TRUE", b"FALSE")):
        text = b"a,label\nx,%s\ny,%s\nz,\n" % words
        labels = labels_of(table(text))
        assert labels[:2] == [1.0, 0.0]
        assert labels_of(table(text), labels="name")[:2] == [word.decode() for word in words]


def test_true_beside_other_words_is_a_word():
    assert labels_of(table(b"a,label\nx,true\ny,half-true\n")) == ["true", "half-true"]
    assert "not a finite number" in broken_table(b"a,label\nx,1\ny,half-true\n").message


def test_a_table_of_many_columns_costs_their_number_and_not_its_square():
    class Counted(bytes):
        compared = 0

        def __eq__(self, other):
            Counted.compared += 1
            return bytes.__eq__(self, other)

        __hash__ = bytes.__hash__

        def decode(self, *how):
            return CountedText(bytes.decode(self, *how))

    class CountedText(str):
        __slots__ = ()

        def __eq__(self, other):
            Counted.compared += 1
            return str.__eq__(self, other)

        __hash__ = str.__hash__

    columns = tuple(Counted(b"c%d" % i) for i in range(2000))
    make_schema(columns, (NUMBER,) * 2000, "t.csv", ReadOptions())
    assert Counted.compared < 20 * 2000


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        ("$5.20", 5.2),
        ("-$1,300.00", -1300),
        ("$-7", -7),
        ("38.9%", 38.9),
        ("4 %", 4),
        ("12 \u20ac", 12),
        ("\u00a35", 5),
        ("13,540", 13540),
        ("+1,000,000", 1e6),
    ],
)
def test_numbers_with_marks(cell, value):
    text = f"n;label\n1;1\n{cell};0\n".encode()
    assert rows_of(table(text))[1] == pytest.approx({"n": value})


@pytest.mark.parametrize(
    "cell",
    ["0,123", "1,23", "12,3456", "1,,234", ",123", "$", "%", "5%%", "$5$", "1,234,5", "5 5", "--5"],
)
def test_what_looks_like_a_mark_and_is_none(cell):
    assert rows_of(table(f"n;label\n1;1\n{cell};0\n".encode()))[1] == {f"n={cell}": 1.0}


def test_lists_of_columns_may_be_patterns():
    text = b"id_a,id_b,x1,x2,label\n1,2,3,4,1\n5,6,7,8,0\n"
    assert rows_of(table(text), drop="id_*")[0] == {"x1": 3, "x2": 4}
    assert rows_of(table(text), drop="id_?", categorical=["x[12]"])[0] == {"x1=3": 1, "x2=4": 1}
    # A name says more than a pattern, and a column may be called like one.
    assert rows_of(table(text), drop="id_*", numeric="id_b")[0] == {"id_b": 2, "x1": 3, "x2": 4}
    assert rows_of(table(b"a*,ab,label\n1,2,1\n"), drop="a*") == [{"ab": 2}]
    with pytest.raises(ParameterError, match=r"there is no column 'z\*'"):
        rows_of(table(text), drop="z*")


def test_a_mixed_column_says_what_share_is_no_number():
    text = b"n;label\n" + b"7;1\n" * 60 + b"x;0\n" * 40
    with open_stream(table(text)) as stream:
        list(stream)
    (told,) = [warning for warning in stream.warnings if warning.code == "TAB-STRAY"]
    assert "of 100 cells looked at 40 (40.0%) are not numbers (line 62, column 1: 'x')" in (
        told.message
    )
