"""The ``.bear`` file: arrays and one JSON record in a sealed safetensors container.

The container has a single metadata key, ``bearsketch``, whose value is JSON with sorted keys. It
holds the SHA-256 of the whole file, computed with the 64 digits of the digest itself set to zero:
so every byte of the file counts, and the same model always gives the same bytes.

Reading and writing keep no second copy of the arrays: they are views of the file's bytes, and are
written from where they lie. A file's header is checked against its length before anything is made
from it.
"""

from __future__ import annotations

import hashlib
import json
import math
import struct
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bearsketch.exceptions import ModelFileError, SourceError
from bearsketch.files import write_whole

FORMAT_VERSION = 8  # of the bytes of cells as of the arrays around them
OLD_VERSION = 7  # read as well; learners/format7.py says what becomes of it
LARGEST_HEADER = 1 << 20
METADATA_KEY = "bearsketch"
START = b'{"__metadata__":{"bearsketch":'  # of the header of every model file
NO_DIGEST = b"0" * 64
# The digest inside the header, where quotes of the inner JSON are escaped.
DIGEST_MARK = b'\\"sha256\\":\\"'
# In the order arrays have in a file: wide types first, so that each stands where its type may.
DTYPES = {
    "U64": np.uint64,
    "F64": np.float64,
    "F32": np.float32,
    "U32": np.uint32,
    "U16": np.uint16,
    "I8": np.int8,
    "U8": np.uint8,
}
_CODES = {np.dtype(kind): code for code, kind in DTYPES.items()}
_ALIGNED = 8

Arrays = dict[str, npt.NDArray[Any]]


def pieces(arrays: Arrays, record: dict[str, Any]) -> list[bytes | memoryview]:
    """Bytes of a model file, in order: its start, the digest, the rest of the header, the arrays.

    Parameters
    ----------
    arrays : dict of str to ndarray
    record : dict
        Anything JSON takes, with finite numbers.
    """
    sealed = {**record, "format": FORMAT_VERSION, "sha256": NO_DIGEST.decode()}
    text = _json(sealed, sort_keys=True)
    header: dict[str, Any] = {"__metadata__": {METADATA_KEY: text}}
    codes = list(_CODES)
    order = sorted(arrays, key=lambda name: (codes.index(arrays[name].dtype), name))
    body: list[bytes | memoryview] = []
    at = 0
    for name in order:
        array = np.ascontiguousarray(arrays[name])
        header[name] = {
            "dtype": _CODES[array.dtype],
            "shape": list(array.shape),
            "data_offsets": [at, at + array.nbytes],
        }
        at += array.nbytes
        body.append(array.reshape(-1).view(np.uint8).data)
    line = _json(header).encode()
    line += b" " * (-len(line) % _ALIGNED)
    if len(line) > LARGEST_HEADER:
        raise ModelFileError(
            f"the header of a model file must be at most {LARGEST_HEADER} bytes, got {len(line)}",
            code="MODEL-LARGE",
            hint="Labels of classes are in it: give shorter ones.",
        )
    start = struct.pack("<Q", len(line)) + line
    place = start.rfind(DIGEST_MARK) + len(DIGEST_MARK)
    digest = _digest(start, *body).encode()
    return [start[:place], digest, start[place + len(digest) :], *body]


def pack(arrays: Arrays, record: dict[str, Any]) -> bytes:
    """Bytes of a model file; see :func:`pieces`."""
    return b"".join(pieces(arrays, record))


def unpack(data: bytes, source: str = "model") -> tuple[Arrays, dict[str, Any]]:
    """Arrays and record of a model file, after its seal was checked; arrays are views of it.

    Raises
    ------
    ModelFileError
        When the bytes are not a model file, are damaged, or are of a later format.
    """
    at = _digest_place(data, source)
    view = memoryview(data)
    end = at + len(NO_DIGEST)
    if _digest(view[:at], NO_DIGEST, view[end:]).encode() != data[at:end]:
        raise _bad(source, "its checksum does not match: it was cut or changed", "MODEL-DAMAGED")
    start = 8 + _header_length(data, source)
    try:
        header = _parse(data[8:start])
        metadata = header.pop("__metadata__")
        record = _parse(metadata[METADATA_KEY])
        version = record.pop("format")
        del record["sha256"]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise _bad(source, f"its header is not readable ({error})", "MODEL-HEADER") from None
    if version not in (OLD_VERSION, FORMAT_VERSION):
        raise _bad(
            source,
            f"it has format {version!r}, this release reads formats {OLD_VERSION} and "
            f"{FORMAT_VERSION}",
            "MODEL-VERSION",
        )
    try:
        arrays = _arrays(header, data, start)
    except (KeyError, ValueError, TypeError, AttributeError) as error:
        raise _bad(source, f"its arrays are not readable ({error})", "MODEL-ARRAYS") from None
    return (
        (arrays, record) if version == FORMAT_VERSION else (arrays, {**record, "format": version})
    )


def _arrays(header: dict[str, Any], data: bytes, start: int) -> Arrays:
    """Give views of the arrays, which must fill the file without a gap or an overlap."""
    parts = sorted(header.items(), key=lambda part: tuple(part[1]["data_offsets"]))
    arrays: Arrays = {}
    at = 0
    for name, part in parts:
        if set(part) != {"dtype", "shape", "data_offsets"}:
            raise ValueError(f"{name} has other fields")
        dtype, shape = np.dtype(DTYPES[part["dtype"]]), part["shape"]
        first, last = part["data_offsets"]
        if not all(type(n) is int and n >= 0 for n in (*shape, first, last)):
            raise ValueError(f"{name} has a size that is no count")
        # Python's integers do not wrap, whatever a file multiplies.
        if first != at or last - first != math.prod(shape) * dtype.itemsize:
            raise ValueError(f"{name} does not stand where its shape says")
        if last > len(data) - start or (start + first) % dtype.itemsize:
            raise ValueError(f"{name} stands outside the file or across its grid")
        view = np.frombuffer(data, dtype, math.prod(shape), start + first if last > first else 0)
        arrays[name] = view.reshape(shape)
        at = last
    if at != len(data) - start:
        raise ValueError("bytes that belong to no array")
    return arrays


def save(path: str | Path, arrays: Arrays, record: dict[str, Any]) -> None:
    """Write a model file, whole or not at all."""
    write_whole(path, pieces(arrays, record))


def load(path: str | Path) -> tuple[Arrays, dict[str, Any]]:
    """Read a model file; runs no code from it and opens no other file."""
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise SourceError(
            f"cannot read model {path}: {error.strerror or error}", code="IO-READ"
        ) from error
    return unpack(data, str(path))


def _json(value: Any, *, sort_keys: bool = False) -> str:
    return json.dumps(value, sort_keys=sort_keys, separators=(",", ":"), allow_nan=False)


def _parse(text: bytes | str) -> dict[str, Any]:
    """JSON object without duplicate keys: two readers must not see two files in one."""

    def unique(items: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(items)) != len(items):
            raise ValueError("a key occurs twice")
        return dict(items)

    found = json.loads(text, object_pairs_hook=unique)
    if not isinstance(found, dict):
        raise ValueError("no object")
    return found


def _digest(*parts: bytes | memoryview) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    return digest.hexdigest()


def _header_length(data: bytes, source: str) -> int:
    if len(data) < 8:
        raise _bad(source, f"it has {len(data)} bytes, a header needs 8", "MODEL-FOREIGN")
    length: int = struct.unpack("<Q", data[:8])[0]
    begun = data[8 : 8 + len(START)]
    if len(data) - 8 < length <= LARGEST_HEADER and begun and START.startswith(begun):
        why = f"it was cut: it has {len(data)} bytes, its header alone {8 + length}"
        raise _bad(source, why, "MODEL-DAMAGED")
    if length > min(LARGEST_HEADER, len(data) - 8):
        raise _bad(source, "its first 8 bytes are not the length of a header", "MODEL-FOREIGN")
    return length


def _digest_place(data: bytes, source: str = "model") -> int:
    header_end = 8 + _header_length(data, source)
    mark = data.rfind(DIGEST_MARK, 8, header_end)
    at = mark + len(DIGEST_MARK)
    if mark < 0 or at + len(NO_DIGEST) > header_end:
        raise _bad(source, "it carries no bearsketch seal", "MODEL-FOREIGN")
    return at


def _bad(source: str, why: str, code: str) -> ModelFileError:
    hint = "Train the model again, or copy the file again from where it was made."
    if code == "MODEL-VERSION":
        hint = "Train the model again with this release, or use the one that wrote it."
    if code == "MODEL-FOREIGN":
        hint = "A model is what `bearsketch train -o` writes; a command takes it before the data."
    return ModelFileError(f"{source} is not a usable model file: {why}", code=code, hint=hint)
