"""What the tests of reading share."""

import bz2
import gzip
import io
import lzma
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bearsketch.exceptions import ParseError
from bearsketch.reading import Stream, open_stream

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd


def zstd_with_checksum(data: bytes) -> bytes:
    return zstd.compress(data, options={zstd.CompressionParameter.checksum_flag: 1})


COMPRESS: dict[str, Callable[[bytes], bytes]] = {
    "plain": lambda data: data,
    "gzip": lambda data: gzip.compress(data, mtime=0),
    "zstd": zstd_with_checksum,
    "xz": lzma.compress,
    "bz2": bz2.compress,
}
SUFFIX = {"plain": "", "gzip": ".gz", "zstd": ".zst", "xz": ".xz", "bz2": ".bz2"}


def named(data: bytes, name: str) -> io.BytesIO:
    file = io.BytesIO(data)
    file.name = name
    return file


class Dribble(io.RawIOBase):
    """A file that gives its bytes in pieces of the given sizes, again and again."""

    def __init__(self, data: bytes, sizes: list[int]) -> None:
        self._data, self._sizes, self._at, self._turn = data, sizes, 0, 0

    def read(self, size: int = -1) -> bytes:
        step = self._sizes[self._turn % len(self._sizes)]
        self._turn += 1
        got = self._data[self._at : self._at + min(step, size)]
        self._at += len(got)
        return got

    def readable(self) -> bool:
        return True


def plain_batches(stream: Stream) -> list[dict[str, Any]]:
    """Batches of a stream as plain data that can be compared."""
    out = []
    for batch in stream:
        names = batch.names
        out.append(
            {
                "indptr": batch.indptr.tolist(),
                "keys": batch.keys.tolist(),
                "values": batch.values.tobytes(),
                "labels": None if batch.labels is None else batch.labels.astype(str).tolist(),
                "weights": None if batch.weights is None else batch.weights.tolist(),
                "names": None if names is None else [names[i] for i in range(batch.n_entries)],
                "tags": batch.tags,
            }
        )
    return out


def read(source: Any, format: str = "auto", **options: Any) -> list[dict[str, Any]]:
    with open_stream(source, format, **options) as stream:
        return plain_batches(stream)


def rows_of(source: Any, format: str = "auto", **options: Any) -> list[dict[str, float]]:
    """Examples as mappings from shown name to value."""
    rows = []
    with open_stream(source, format, **options) as stream:
        for batch in stream:
            assert batch.names is not None
            for i in range(len(batch)):
                at = range(int(batch.indptr[i]), int(batch.indptr[i + 1]))
                rows.append({batch.names[j].decode(): float(batch.values[j]) for j in at})
    return rows


def n_rows(source: Any, format: str = "auto", **options: Any) -> int:
    with open_stream(source, format, **options) as stream:
        return sum(len(batch) for batch in stream)


def labels_of(source: Any, format: str = "auto", **options: Any) -> list[Any]:
    with open_stream(source, format, **options) as stream:
        parts = [batch.labels for batch in stream]
    return np.concatenate(parts).tolist()


def table(text: bytes):
    """Text under the name of a CSV file."""
    return named(text, "t.csv")


def broken_table(text: bytes, **options) -> ParseError:
    """Return what reading a broken CSV table raises."""
    with pytest.raises(ParseError) as caught:
        read(table(text), "csv", **options)
    return caught.value
