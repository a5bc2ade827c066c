"""Labels of sequences, from headers, tables and files; and labels of text."""

import io

import pytest

from bearsketch.exceptions import DataError, ParameterError, ParseError, SourceError
from bearsketch.keys import key_name
from bearsketch.reading import Limits, ReadOptions, open_stream
from bearsketch.reading.labels import SequenceLabels, file_stem

from .helpers import COMPRESS, labels_of, named, read

FASTA = b">r1 taxon=ecoli\nACGTA\n>r2 taxon=suis\nTTTAC\nGG\n"


def fasta(**options):
    return labels_of(named(FASTA, "reads/sample_7.fa"), "fasta", kmer=3, **options)


def test_from_the_header_by_expression():
    assert fasta(label_regex=r"taxon=(\w+)") == ["ecoli", "suis"]


def test_from_a_table_of_record_names(tmp_path):
    (tmp_path / "t.tsv").write_bytes(b"# note\nr1\t1\nr2\t0\tmore\n\n")
    assert fasta(label_table=tmp_path / "t.tsv") == [1.0, 0.0]


def test_from_a_table_by_what_the_expression_finds(tmp_path):
    (tmp_path / "t.tsv").write_bytes(b"ecoli\tgood\nsuis\tbad\n")
    assert fasta(label_table=tmp_path / "t.tsv", label_regex="taxon=(.*)") == ["good", "bad"]


def test_from_the_file_name(tmp_path):
    assert fasta(label_from="file") == ["sample_7", "sample_7"]
    assert fasta(label_from="file", label_regex=r"_(\d)") == ["7", "7"]
    assert fasta(label_from="file", label_regex=r"_(\d)", labels="number") == [7.0, 7.0]
    (tmp_path / "t.tsv").write_bytes(b"sample_7\tcase\n")
    assert fasta(label_from="file", label_table=tmp_path / "t.tsv") == ["case", "case"]


def test_labels_of_a_file_each_end_in_one_batch(tmp_path):
    for name in ("a", "b"):
        (tmp_path / f"{name}.fna").write_bytes(b">x\nACGT\n")
    with open_stream(str(tmp_path / "*.fna"), kmer=2, label_from="file") as stream:
        (batch,) = list(stream)
    assert batch.labels.tolist() == ["a", "b"]
    assert batch.tags == [b"x", b"x"]


def test_without_a_source_of_labels_records_are_unlabelled():
    with open_stream(named(FASTA, "r.fa"), kmer=3) as stream:
        assert sum(len(batch) for batch in stream) == 2
    assert (stream.counts.examples, stream.counts.unlabelled) == (0, 2)


def test_identifiers_stay_as_they_are_written(tmp_path):
    for first, second in (("0562", "562"), ("1.1", "1.10"), ("1e3", "1000")):
        (tmp_path / "t.tsv").write_text(f"r1\t{first}\nr2\t{second}\n")
        assert fasta(label_table=tmp_path / "t.tsv") == [first, second]


def test_a_record_without_a_label_is_broken(tmp_path):
    with pytest.raises(ParseError, match="the header of this record does not match") as caught:
        fasta(label_regex="taxon=(e.*)")
    assert (caught.value.code, caught.value.line) == ("FA-LABEL", 3)
    assert "--label-regex" in caught.value.hint
    (tmp_path / "t.tsv").write_text("r1\tgood\n")
    with pytest.raises(ParseError, match="the header of this record has no name in .*t.tsv"):
        fasta(label_table=tmp_path / "t.tsv")
    with pytest.raises(ParseError, match="the name of the file does not match"):
        fasta(label_from="file", label_regex="zzz(.)")
    assert fasta(label_regex="taxon=(e.*)", on_error="skip", max_errors=1) == ["ecoli"]


@pytest.mark.parametrize(
    ("table", "line"), [(b"r1\n", 1), (b"r1\t1\nr2\t \n", 2), (b"r1\t1\nr1\t0\n", 2)]
)
def test_a_broken_table_is_told_by_line(tmp_path, table, line):
    (tmp_path / "t.tsv").write_bytes(table)
    with pytest.raises(ParseError) as caught:
        fasta(label_table=tmp_path / "t.tsv")
    assert (caught.value.code, caught.value.line) == ("COM-LABEL-TABLE", line)


@pytest.mark.parametrize("kind", COMPRESS)
def test_a_table_may_be_compressed(tmp_path, kind):
    table = tmp_path / "t.tsv"  # its first bytes tell, not its name
    table.write_bytes(COMPRESS[kind](b"\xef\xbb\xbfr1\ta\r\nr2\tb\r\n"))
    assert fasta(label_table=table) == ["a", "b"]


def test_a_damaged_table_is_told_by_its_name(tmp_path):
    table = tmp_path / "t.tsv.gz"
    table.write_bytes(COMPRESS["gzip"](b"r1\ta\nr2\tb\n")[:-4])
    with pytest.raises(ParseError, match="ends before its end mark") as caught:
        fasta(label_table=table)
    assert (caught.value.code, caught.value.source) == ("SRC-CUT", str(table))


def test_a_missing_table_is_told_as_a_source():
    with pytest.raises(SourceError, match="label table"):
        fasta(label_table="none.tsv")


def test_kmer_must_be_given():
    with pytest.raises(ParameterError, match="kmer must be given"):
        read(named(FASTA, "r.fa"))


def test_kmers_carry_their_names_in_their_keys():
    with open_stream(named(b">r\nACGTT\n", "r.fa"), kmer=3) as stream:
        batch = next(iter(stream))
    assert batch.names is None
    found = {
        key_name(int(key), batch.naming): float(value)
        for key, value in zip(batch.keys, batch.values, strict=True)
    }
    assert found == {"ACG": 2.0, "AAC": 1.0}
    with open_stream(named(b">r\nACGTT\n", "r.fa"), kmer=3, canonical=False) as stream:
        batch = next(iter(stream))
    assert [key_name(int(key), batch.naming) for key in batch.keys] == ["ACG", "CGT", "GTT"]


@pytest.mark.parametrize("alphabet", ["acgt", "iupac"])
def test_rna_is_read_as_dna(alphabet):
    dna, rna = (
        read(named(letters, "x.fa"), "fasta", kmer=3, alphabet=alphabet)
        for letters in (b">a\nACGTTRACT\n", b">a\nACGUuracU\n")
    )
    assert rna == dna


def test_windows_cut_records_into_reads():
    text = named(b">r\n" + b"ACGT" * 10 + b"\n", "r.fa")
    with open_stream(text, kmer=4, window=16, stride=8) as stream:
        assert sum(len(batch) for batch in stream) == 4
        assert stream.counts.other["records"] == 1


@pytest.mark.parametrize(
    ("name", "stem"),
    [("a/b.fna.gz", "b"), ("b.x.fa", "b.x"), ("b.gz", "b"), ("b.other", "b.other"), ("b", "b")],
)
def test_file_stem(name, stem):
    assert file_stem(name) == stem


def test_header_without_words():
    assert SequenceLabels(ReadOptions(label_regex="(x*)")).of(b"", "f") is None


TEXT = b"spam\tBuy now now\nham\tHello you\n\thidden\n"


def test_text_labels_and_ngrams():
    with open_stream(io.BytesIO(TEXT), "text", ngrams=(1, 2), presence=False) as stream:
        batch = next(iter(stream))
    assert batch.labels.tolist() == ["spam", "ham", ""]
    first = {batch.names[i]: float(batch.values[i]) for i in range(int(batch.indptr[1]))}
    assert first == {b"buy": 1, b"now": 2, b"buy now": 1, b"now now": 1}


def test_text_without_labels_and_by_presence():
    with open_stream(io.BytesIO(TEXT), "text", label_from="none") as stream:
        batch = next(iter(stream))
    assert set(batch.values.tolist()) == {1.0}
    assert stream.counts.unlabelled == 3


def test_characters_and_case():
    options = {"ngrams": None, "char_ngrams": (3, 3), "lowercase": False, "label_from": "none"}
    with open_stream(io.BytesIO(b"ABcd\n"), "text", **options) as stream:
        batch = next(iter(stream))
    assert sorted(batch.names[i] for i in range(2)) == [b"#ABc", b"#Bcd"]


def test_first_label_decides_for_all_files():
    files = [io.BytesIO(b"1 |a b\n"), io.BytesIO(b"spam |a b\n")]
    with pytest.raises(ParseError) as caught:
        read(files, "vw")
    assert caught.value.code == "VW-LABEL"
    files = [io.BytesIO(b"|a b\n"), io.BytesIO(b"spam |a b\n"), io.BytesIO(b"|a\n")]
    assert labels_of(files, "vw") == ["", "spam", ""]
    assert labels_of([io.BytesIO(b"1 |a\n")], "vw", labels="name") == ["1"]


def test_fields_of_json_lines():
    line = b'{"y": 1, "w": 2, "t": "Free stuff", "city": "rome", "id": 7, "m": {"u": 2}}\n'
    options = {"label_column": "y", "weight_column": "w", "text_columns": ["t"], "drop": ["id"]}
    with open_stream(io.BytesIO(line), "jsonl", **options) as stream:
        batch = next(iter(stream))
    names = {batch.names[i]: float(batch.values[i]) for i in range(batch.n_entries)}
    assert names == {b"t^free": 1, b"t^stuff": 1, b"city=rome": 1, b"m^u": 2}
    assert (batch.labels.tolist(), batch.weights.tolist()) == ([1.0], [2.0])


FIELDS = [
    io.BytesIO,
    lambda data: [io.BytesIO(), *(io.BytesIO(line) for line in data.splitlines(keepends=True))],
]


@pytest.mark.parametrize("cut", FIELDS, ids=["one input", "an input for each line"])
@pytest.mark.parametrize("names", [True, False])
@pytest.mark.parametrize(
    ("option", "fields"),
    [
        ("text_columns", ["text", "title", "body"]),
        ("drop", ["text", "title", "body"]),
        ("weight_column", "title"),
        ("label_column", "title"),
    ],
)
def test_a_named_field_that_never_comes_is_told(cut, names, option, fields):
    lines = cut(b'{"label": 1, "text": "free", "a": "title"}\n{"label": 0, "body": "lunch"}\n')
    with open_stream(lines, "jsonl", rows=1, names=names, **{option: fields}) as stream:
        assert len(list(stream)) == 2
    (odd,) = [odd for odd in stream.warnings if odd.code == "JSL-FIELD-MISSING"]
    flag = "--" + option.replace("_", "-")
    assert odd.message.startswith(f"no example has the field 'title', which {option} ({flag})")


def test_fields_that_need_not_be_there_are_not_told():
    named = {"label_column": "y", "weight_column": "w", "drop": ["id"]}
    line = b'{"label": 1, "a": "b"}\n'
    with open_stream(io.BytesIO(line), "jsonl", labels_needed=False, **named) as stream:
        assert len(list(stream)) == 1
    assert stream.warnings == []
    with pytest.raises(DataError) as caught:
        read(io.BytesIO(line), "jsonl", include_unlabelled=False, label_column="y")
    assert caught.value.hint.startswith("No line has the field 'y', which label_column")
    with open_stream(io.BytesIO(b'{"label": 1, "a": "b"}\n'), "jsonl") as stream:
        assert len(list(stream)) == 1
    assert stream.warnings == []


@pytest.mark.parametrize("value", [b'{"b": {"c": 1}}', b'{"b": [1]}', b"[[1]]", b'[{"b": 1}]'])
def test_a_field_that_is_nested_too_deep_is_named_with_what_to_do(value):
    line = b'{"x": 1, "meta": %b, "label": 1}\n' % value
    with pytest.raises(ParseError) as caught:
        read(io.BytesIO(line), "jsonl")
    assert caught.value.message == "field 'meta' is nested deeper than one level"
    assert "--drop FIELD" in caught.value.hint
    assert labels_of(io.BytesIO(line), "jsonl", drop=["meta"]) == [1.0]


def test_a_text_too_long_for_a_name_is_told_as_text():
    line = b'{"body": "%b", "label": 1}\n' % (b"word " * 20)
    limits = Limits(name_bytes=50)
    with pytest.raises(ParseError) as caught:
        read(io.BytesIO(line), "jsonl", limits=limits)
    assert caught.value.code == "COM-NAME-LONG"
    told = "the value of field 'body' makes a feature name of 105 bytes, above the limit of 50"
    assert caught.value.message == told
    assert "--text-columns FIELD" in caught.value.hint
    assert "--limit" in caught.value.hint
    assert len(read(io.BytesIO(line), "jsonl", limits=limits, text_columns=["body"])) == 1


@pytest.mark.parametrize("line", [b'{"a": "b', b'{"a": 1', b'{"a":', b'{"a": [1', b'{"a'])
def test_a_cut_line_of_json_is_told_as_such(line):
    with pytest.raises(ParseError) as caught:
        read(io.BytesIO(b'{"a": 1, "label": 1}\n' + line), "jsonl")
    told = "the line ends inside its object: it is cut, or the object is on several lines: "
    assert f"{told}'{line.decode()}'" in str(caught.value)


def test_labels_of_sequences_are_numbers_where_numbers_are_to_be_predicted():
    text = b">r1 t=0562\nACGT\n>r2 t=37\nACGT\n"

    def read(kind):
        return labels_of(named(text, "r.fa"), "fasta", kmer=3, label_regex=r"t=(\d+)", labels=kind)

    assert read("auto") == ["0562", "37"]
    assert read("quantity") == [562.0, 37.0]
    assert labels_of(named(b"a | x\nb | y\n", "t.vw"), "vw", labels="quantity") == ["a", "b"]


def test_what_comes_twice_in_a_line_of_json():
    line = b'{"n": 1, "n": 2, "tags": ["new", "new"], "label": 1}\n'
    with open_stream(io.BytesIO(line), "jsonl") as stream:
        batch = next(iter(stream))
    names = {batch.names[i]: float(batch.values[i]) for i in range(batch.n_entries)}
    assert names == {b"n": 3, b"tags=new": 2}
    with pytest.raises(ParseError) as caught:
        read(io.BytesIO(b'{"n": 1, "label": 1, "label": 0}\n'), "jsonl")
    assert (caught.value.code, caught.value.line) == ("JSL-LABEL", 1)
