"""Text that is not UTF-8 is read as bytes, and told."""

import io

import pytest

from bearsketch.reading import open_stream
from bearsketch.reading.encoding import LOOKED_AT, Encoding
from tests.cli.helpers import good
from tests.reading.helpers import named

FORMS = {
    "vw": b"1 | caf\xc3\xa9 x\n",
    "csv": b"1,caf\xc3\xa9\n",
    "text": b"1\tcaf\xc3\xa9 and more\n",
}
HEADS = {"csv": b"label,word\n"}


def told(data, form, **options):
    with open_stream(data, form, **options) as stream:
        assert sum(map(len, stream)) > 0
    return [odd for odd in stream.warnings if odd.code == "COM-ENCODING"]


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("form", FORMS)
def test_text_that_is_no_utf_8_is_told_with_its_line(form, threads):
    line, head = FORMS[form], HEADS.get(form, b"")
    good = named(head + line * 9, "good.x")
    latin = line.replace(b"\xc3\xa9", b"\xe9")
    bad = named(head + line * 3 + latin + line, "bad.x")
    assert told(good, form, threads=threads) == []
    (odd,) = told([good, bad, named(head + latin, "more.x")], form, threads=threads)
    assert odd.source == "bad.x"
    number = 4 + bool(head)
    assert odd.message.startswith(f"line {number} is no UTF-8 ('")
    assert "caf\\xe9" in odd.message
    assert "iconv -f latin1 -t utf8" in odd.message


def test_letters_may_be_cut_where_chunks_end():
    encoding = Encoding()
    for byte in "é€𝄞\n".encode() * 3:
        encoding.look(bytes([byte]))
    assert encoding.odd == ""
    encoding.look(b"a\xe9\x1b[31m\n")
    assert encoding.odd.startswith("line 4 is no UTF-8 ('a\\xe9\\x1b[31m')")


def test_only_the_first_bytes_are_looked_at():
    encoding = Encoding()
    encoding.look(b"x" * LOOKED_AT)
    encoding.look(b"\xe9")
    assert encoding.odd == ""


def test_titles_of_sequences_and_comments_may_be_anything():
    fasta = io.BytesIO(b">r\xe9 L=1\nACGTACGT\n")
    assert told(fasta, "fasta", kmer=4, label_regex=r"L=(\d)") == []
    assert told(io.BytesIO(b"1 1:1 # caf\xe9\n"), "svmlight") == []


def test_it_is_told_once_with_workers_too(tmp_path):
    data = tmp_path / "d.vw"
    data.write_bytes((b"1 | caf\xe9\n" + b"0 | the\n") * 2000)
    for more in ([], ["--workers", "2"]):
        said = good("train", data, "-o", tmp_path / "m.bear", "--memory", "4KiB", *more).stderr
        assert said.count("warning[COM-ENCODING]") == 1
        assert f"{data}: line 1 is no UTF-8 ('1 | caf\\xe9')" in said
