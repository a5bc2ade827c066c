"""The same bytes whatever the number of threads, the size of chunks and the compression."""

from __future__ import annotations

import bz2
import gzip
import lzma
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from reliability import data
from reliability.process import WRAPPER, sha256

THREADS = (1, 2, 4)
CHUNKS = (1000, 4097, 1 << 20)
RUNS = 20


def zstd(raw: bytes) -> bytes:
    if sys.version_info >= (3, 14):
        from compression import zstd as codec
    else:
        from backports import zstd as codec
    packed: bytes = codec.compress(raw)
    return packed


def members(raw: bytes) -> bytes:
    """Several gzip members, one after another."""
    return b"".join(gzip.compress(raw[at : at + 100_000]) for at in range(0, len(raw), 100_000))


COMPRESSIONS: dict[str, Callable[[bytes], bytes]] = {
    "plain": bytes,
    "gzip": gzip.compress,
    "gzip members": members,
    "zstd": zstd,
    "xz": lzma.compress,
    "bz2": bz2.compress,
}


def hashes(folder: Path) -> dict[str, Any]:
    """Hash of the model for each way to read the same examples; the file has one name."""
    plain = data.write(folder / "plain.vw", 10_000, 12, 1 << 40, names=True).read_bytes()
    found: dict[str, str] = {}
    for name, pack in COMPRESSIONS.items():
        place = folder / name.replace(" ", "-")
        place.mkdir(exist_ok=True)
        (place / "d.vw").write_bytes(pack(plain))
        for threads in THREADS:
            found[f"{name}, {threads} threads"] = _hash(place / "d.vw", threads, None)
    for chunk in CHUNKS:
        for threads in THREADS:
            place = folder / "gzip" / "d.vw"
            found[f"chunks of {chunk}, {threads} threads"] = _hash(place, threads, chunk)
    for number in range(len(found), RUNS):
        found[f"again {number}"] = _hash(folder / "plain" / "d.vw", 2, None)
    return {"runs": len(found), "distinct": len(set(found.values()))}


def _hash(path: Path, threads: int, chunk: int | None) -> str:
    output = path.with_name("m.bear")
    small = f"import bearsketch.reading.chunks as c; c.CHUNK_BYTES = {chunk}\n" if chunk else ""
    options = ["-o", output, "-q", "--threads", str(threads)]
    subprocess.run(
        [sys.executable, "-c", small + WRAPPER, "train", path, *options],
        check=True,
        capture_output=True,
        stdin=subprocess.DEVNULL,
    )
    return sha256(output)
