import gzip
import io
import os
import struct
import zlib

import pytest

from bearsketch.exceptions import BearError, LimitError, ParseError
from bearsketch.reading import Limits, open_stream
from bearsketch.reading.chunks import Chunks
from bearsketch.reading.source import resolve

from .helpers import COMPRESS, SUFFIX, Dribble, named, read, zstd

TABLE = b"word,n,label\n" + b"".join(b"w%d,%d,%d\n" % (i % 7, i, i % 2) for i in range(60))
KINDS = [kind for kind in COMPRESS if kind != "plain"]


def decoded(data: bytes, name: str = "x", limits: Limits | None = None) -> tuple[bytes, str]:
    with Chunks(resolve(named(data, name))[0], limits or Limits()) as chunks:
        return b"".join(chunks), chunks.compression


@pytest.mark.parametrize("kind", COMPRESS)
def test_magic_bytes_decide_whatever_the_name(kind):
    for name in ("x.csv", "x.gz", "x.zst", "-"):
        assert decoded(COMPRESS[kind](TABLE), name) == (TABLE, kind)


@pytest.mark.parametrize("kind", KINDS)
def test_all_members_are_read_and_zeros_may_follow(kind):
    member = COMPRESS[kind](TABLE)
    empty = COMPRESS[kind](b"")
    assert decoded(member + empty + member + bytes(1000))[0] == TABLE * 2


def bgzf(data: bytes, size: int = 100) -> bytes:
    """Blocks with the extra field of BGZF, an empty one in the middle and one at the end."""
    blocks = [data[i : i + size] for i in range(0, len(data), size)]
    blocks.insert(len(blocks) // 2, b"")
    out = b""
    for block in [*blocks, b""]:
        deflate = zlib.compressobj(6, zlib.DEFLATED, -15)
        body = deflate.compress(block) + deflate.flush()
        length = len(body) + 25
        head = struct.pack("<4BI2BH2B2H", 31, 139, 8, 4, 0, 0, 255, 6, 66, 67, 2, length)
        out += head + body + struct.pack("<2I", zlib.crc32(block), len(block))
    return out


def test_bgzf_with_an_empty_block_inside():
    assert decoded(bgzf(TABLE * 5)) == (TABLE * 5, "gzip")


def test_zstd_skippable_frame():
    frame = struct.pack("<II", 0x184D2A50, 4) + b"note"
    assert decoded(frame + zstd.compress(TABLE)) == (TABLE, "zstd")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("tail", [b"x", b"\0\0junk", b"\n" * 30])
def test_other_bytes_after_the_last_member_are_an_error(kind, tail):
    with pytest.raises(ParseError) as caught:
        decoded(COMPRESS[kind](TABLE) + tail)
    assert caught.value.code == "SRC-TRAILING"


@pytest.mark.parametrize("kind", KINDS)
def test_a_cut_at_every_byte_is_noticed(kind):
    data = COMPRESS[kind](TABLE)
    for cut in range(len(data)):
        with pytest.raises(BearError) as caught:
            read(named(data[:cut], "x.csv" + SUFFIX[kind]), rows=7)
        assert caught.value.code == "SRC-CUT", cut
        assert caught.value.exit_code == 3


def test_a_cut_of_bgzf_at_every_byte_inside_a_block_is_noticed():
    data = bgzf(TABLE, 300)
    starts = [i for i in range(len(data)) if data.startswith(b"\x1f\x8b\x08\x04", i)]
    for cut in range(1, len(data)):
        if cut in starts:
            continue  # a whole number of blocks is a whole file as far as gzip goes
        with pytest.raises(ParseError) as caught:
            decoded(data[:cut], "x.csv.gz")
        assert caught.value.code == "SRC-CUT"


@pytest.mark.parametrize("kind", KINDS)
def test_every_flipped_byte_is_noticed_or_harmless(kind):
    data = COMPRESS[kind](TABLE)
    for i in range(len(data)):
        for bit in range(8):
            flipped = bytearray(data)
            flipped[i] ^= 1 << bit
            assert noticed_or_harmless(bytes(flipped), kind), (i, bit)


@pytest.mark.parametrize("flag", [0x20, 0x40, 0x80])
def test_gzip_with_flags_that_no_file_has_is_refused(flag):
    member = COMPRESS["gzip"](TABLE)
    other = bytearray(member)
    other[3] |= flag
    for data in (bytes(other), member + bytes(other)):
        with pytest.raises(ParseError, match="reserved flags") as caught:
            decoded(data, "x.csv.gz")
        assert caught.value.code == "SRC-CORRUPT"


def noticed_or_harmless(data: bytes, kind: str) -> bool:
    try:
        text, compression = decoded(data, "x.csv" + SUFFIX[kind])
    except BearError as error:
        return error.code in ("SRC-CORRUPT", "SRC-CUT", "SRC-TRAILING", "SRC-WINDOW")
    # Without its first bytes a file is not compressed, and no parser takes the rest.
    return text == TABLE or (compression == "plain" and data[:10] != COMPRESS[kind](TABLE)[:10])


def test_the_error_tells_the_compressed_byte_and_the_last_good_line(tmp_path):
    path = tmp_path / "cut.csv.gz"
    rows = b"".join(b"%d,1\n" % i for i in range(200_000))
    path.write_bytes(gzip.compress(b"n,label\n" + rows)[:-20])
    with open_stream(path) as stream, pytest.raises(ParseError) as caught:
        for _ in stream:
            pass
    error = caught.value
    assert error.source == str(path)
    assert error.line == stream.counts.lines or error.line > 190_000
    assert f"compressed byte {path.stat().st_size}" in error.message
    assert "last good line" in error.message


@pytest.mark.parametrize("kind", KINDS)
def test_a_damaged_member_is_told_by_its_first_byte_however_it_arrives(kind):
    first, second = COMPRESS[kind](TABLE), bytearray(COMPRESS[kind](TABLE * 3))
    second[len(second) // 2] ^= 255
    data = first + bytes(second)
    told = set()
    for file in (io.BytesIO(data), *(Dribble(data, [size]) for size in (1, 7, 100))):
        with pytest.raises(ParseError) as caught:
            b"".join(Chunks(resolve(file)[0], Limits()))
        told.add(caught.value.message)
    assert len(told) == 1
    assert f"begins at compressed byte {len(first)} is damaged" in told.pop()


def test_lines_of_damaged_data_are_not_called_good():
    rows = b"".join(b"%d,1\n" % i for i in range(50_000))
    data = bytearray(COMPRESS["gzip"](b"n,label\n" + rows))
    data[-6] ^= 1
    with pytest.raises(ParseError, match="noticed after line") as caught:
        read(named(bytes(data), "x.csv.gz"))
    assert "good line" not in caught.value.message
    assert "nothing from that byte on can be trusted" in caught.value.hint


def test_zstd_window_above_the_limit_is_refused():
    level = zstd.CompressionParameter
    options = {level.window_log: 24, level.enable_long_distance_matching: 1}
    maker = zstd.ZstdCompressor(options=options)
    data = maker.compress(os.urandom(1 << 10) * 2) + maker.flush()
    assert len(decoded(data)[0]) == 2048
    with pytest.raises(LimitError) as caught:
        decoded(data, limits=Limits(window_bytes=1 << 20))
    assert (caught.value.code, caught.value.exit_code) == ("SRC-WINDOW", 6)


def test_xz_memory_above_the_limit_is_refused():
    with pytest.raises(LimitError) as caught:
        decoded(COMPRESS["xz"](TABLE), limits=Limits(window_bytes=1 << 16))
    assert caught.value.code == "SRC-WINDOW"


def test_decoded_bytes_are_limited():
    with pytest.raises(LimitError) as caught:
        decoded(gzip.compress(b"x" * 10_000), limits=Limits(input_bytes=9_999))
    assert (caught.value.code, caught.value.exit_code) == ("SRC-SIZE", 6)
    exact = Limits(input_bytes=10_000)
    assert len(decoded(gzip.compress(b"x" * 10_000), limits=exact)[0]) == 10_000


def test_short_texts_that_begin_like_a_magic_are_text():
    assert decoded(b"BZ") == (b"BZ", "plain")
    assert decoded(b"(") == (b"(", "plain")
    assert decoded(b"BZh9 is a word") == (b"BZh9 is a word", "plain")


def test_head_consumes_nothing():
    with Chunks(resolve(io.BytesIO(TABLE * 10_000))[0], Limits()) as chunks:
        assert chunks.head(300_000) == (TABLE * 10_000)[:300_000]
        assert b"".join(chunks) == TABLE * 10_000


def test_a_fault_that_head_meets_is_raised_where_it_is_reached():
    packed = gzip.compress(os.urandom(300_000))[:250_000]
    with Chunks(resolve(io.BytesIO(packed))[0], Limits()) as chunks:
        head = chunks.head(400_000)
        assert 100_000 < len(head) < 300_000
        assert chunks.head(400_000) == head
        got = chunks.next()
        while len(got) < len(head):
            got += chunks.next()
        assert got == head
        for _ in range(2):  # again: there is no end to mistake it for
            with pytest.raises(ParseError, match="ends before its end mark"):
                chunks.next()
