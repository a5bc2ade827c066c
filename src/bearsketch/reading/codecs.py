"""Decompression: gzip, zstd, xz and bz2 told by their first bytes, never cut short in silence."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from bearsketch.exceptions import LimitError, ParseError
from bearsketch.reading.limits import CHUNK_BYTES, Limits

_READ_BYTES = 1 << 16
_BZ2_BLOCKS = (b"1AY&SY", b"\x17\x72\x45\x38\x50\x90")
# Flags that no gzip file has; the decoder does not look at them.
_GZIP_RESERVED = 0xE0
# Enough to tell every kind of compression.
MAGIC_BYTES = 10


class _Decoder(Protocol):
    """What the four decoders have in common (that of :class:`bz2.BZ2Decompressor`)."""

    @property
    def eof(self) -> bool: ...

    @property
    def needs_input(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...

    def decompress(self, data: bytes, max_length: int, /) -> bytes: ...


# A decoder and what it raises on damage.
_Made: TypeAlias = "tuple[_Decoder, tuple[type[Exception], ...]]"


@dataclass(frozen=True, slots=True)
class Codec:
    """One kind of compression: how it starts, what its files are called, who decodes it."""

    name: str
    suffixes: tuple[str, ...]
    starts: Callable[[bytes], bool]
    decoder: Callable[[Limits], _Made]


def _gzip_decoder(limits: Limits) -> _Made:
    from isal import igzip_lib

    error: Any = igzip_lib.error
    return igzip_lib.IgzipDecompressor(flag=igzip_lib.DECOMP_GZIP), (error,)


def _zstd_decoder(limits: Limits) -> _Made:
    zstd = _zstd_module()
    option = zstd.DecompressionParameter.window_log_max
    window_log = max(10, limits.window_bytes.bit_length() - 1)
    return zstd.ZstdDecompressor(options={option: min(window_log, 31)}), (zstd.ZstdError,)


def _zstd_module() -> Any:
    if sys.version_info >= (3, 14):
        from compression import zstd  # type: ignore[import-not-found,unused-ignore]
    else:
        from backports import zstd
    return zstd


def _xz_decoder(limits: Limits) -> _Made:
    import lzma

    decoder = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=limits.window_bytes)
    return decoder, (lzma.LZMAError,)


def _bz2_decoder(limits: Limits) -> _Made:
    import bz2

    return bz2.BZ2Decompressor(), (OSError,)


def _agrees(magic: bytes) -> Callable[[bytes], bool]:
    """Whether bytes start with ``magic``, or are a beginning of it that was cut off."""
    return lambda head: head[: len(magic)] == magic[: len(head)]


def _is_zstd(head: bytes) -> bool:
    skippable = 0x50 <= head[0] <= 0x5F and _agrees(b"\x2a\x4d\x18")(head[1:])
    return skippable or _agrees(b"\x28\xb5\x2f\xfd")(head)


def _is_bz2(head: bytes) -> bool:
    level = head[3:4]
    return (
        _agrees(b"BZh")(head[:3])
        and (not level or level in b"123456789")
        and any(_agrees(block)(head[4:MAGIC_BYTES]) for block in _BZ2_BLOCKS)
    )


CODECS = (
    Codec("gzip", (".gz", ".bgz", ".bgzf"), _agrees(b"\x1f\x8b"), _gzip_decoder),
    Codec("zstd", (".zst", ".zstd"), _is_zstd, _zstd_decoder),
    Codec("xz", (".xz",), _agrees(b"\xfd7zXZ\x00"), _xz_decoder),
    Codec("bz2", (".bz2",), _is_bz2, _bz2_decoder),
)


def codec_of(head: bytes, name: str) -> Codec | None:
    """Codec that the first bytes of an input tell, or None for plain bytes.

    Fewer than four bytes can be the beginning of a compressed file that was cut off, or a very
    short text: the name decides then.
    """
    if not head:
        return None
    for codec in CODECS:
        if codec.starts(head) and (len(head) >= 4 or _unlike_text(head) or codec_named(name)):
            return codec
    return None


def codec_named(name: str) -> Codec | None:
    """Codec that the suffix of a name promises."""
    for codec in CODECS:
        if name.lower().endswith(codec.suffixes):
            return codec
    return None


def _unlike_text(head: bytes) -> bool:
    return head[0] < 0x20 or head[0] >= 0x80


def decode(
    codec: Codec, head: bytes, read: Callable[[int], bytes], name: str, limits: Limits
) -> Iterator[bytes]:
    """Decode all members of a compressed input, chunk by chunk.

    Zero bytes may stand after a member; anything else there, a cut or damage is an error with
    the compressed offset.
    """
    member = _Members(codec, head, read, name, limits)
    while member.open():
        yield from member.chunks()


class _Members:
    """The members (frames, streams) of one compressed input, one after the other."""

    def __init__(
        self, codec: Codec, head: bytes, read: Callable[[int], bytes], name: str, limits: Limits
    ) -> None:
        self._codec, self._read, self._name, self._limits = codec, read, name, limits
        self._data = head
        self._taken = len(head)
        self._start = 0  # of the member, in compressed bytes
        self._started = False

    def _more(self) -> bytes:
        got = self._read(_READ_BYTES)
        self._taken += len(got)
        return got

    def open(self) -> bool:
        """Stand at the start of the next member; False at the end of the input."""
        if self._started:
            self._data = self._data.lstrip(b"\0")
            while not self._data:
                if not (got := self._more()):
                    return False
                self._data = got.lstrip(b"\0")
        while len(self._data) < MAGIC_BYTES and (got := self._more()):
            self._data += got
        self._start = self._taken - len(self._data)
        if not self._codec.starts(self._data):
            raise self._error(
                "SRC-TRAILING",
                f"bytes that are not {self._codec.name} data follow the compressed data, at "
                f"compressed byte {self._start}",
                "Only zero bytes may follow; was something appended to the file?",
            )
        if self._codec.name == "gzip" and any(byte & _GZIP_RESERVED for byte in self._data[3:4]):
            raise self._damage(ValueError("reserved flags of its header are set"))
        self._started = True
        return True

    def chunks(self) -> Iterator[bytes]:
        decoder, errors = self._codec.decoder(self._limits)
        data = self._data
        while True:
            try:
                chunk = decoder.decompress(data, CHUNK_BYTES)
            except errors as error:
                raise self._damage(error) from None
            data = b""
            if chunk:
                yield chunk
            if decoder.eof:
                break
            if not decoder.needs_input:
                continue
            data = self._more()
            if not data:
                raise self._error(
                    "SRC-CUT",
                    f"the {self._codec.name} data ends before its end mark, at compressed byte "
                    f"{self._taken}",
                    "The file was cut off; fetch or write it again.",
                )
        self._data = decoder.unused_data

    def _damage(self, error: Exception) -> ParseError | LimitError:
        text = str(error)
        if "too much memory" in text or "usage limit" in text:
            limit = self._limits.window_bytes
            return LimitError(
                f"{self._name}: this {self._codec.name} data asks its reader for more than "
                f"{limit} bytes of memory",
                code="SRC-WINDOW",
                hint="Compress it with a smaller window, or raise window_bytes (--limit).",
            )
        # Where the member begins does not depend on how the bytes arrive, as all later places do.
        return self._error(
            "SRC-CORRUPT",
            f"the {self._codec.name} data that begins at compressed byte {self._start} is damaged "
            f"({text})",
            "Fetch or write the file again; nothing from that byte on can be trusted.",
        )

    def _error(self, code: str, message: str, hint: str) -> ParseError:
        return ParseError(message, code=code, hint=hint, source=self._name)
