"""The ``.bear`` file: arrays and one JSON record in a sealed safetensors container.

The container has a single metadata key, ``bearsketch``, whose value is JSON with sorted keys. It
holds the SHA-256 of the whole file, computed with the 64 digits of the digest itself set to zero:
so every byte of the file counts, and the same model always gives the same bytes.
"""

from __future__ import annotations

import hashlib
import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bearsketch.exceptions import ModelFileError, SourceError
from bearsketch.files import write_whole

FORMAT_VERSION = 1
LARGEST_HEADER = 1 << 20
METADATA_KEY = "bearsketch"
NO_DIGEST = b"0" * 64
# The digest inside the header, where quotes of the inner JSON are escaped.
DIGEST_MARK = b'\\"sha256\\":\\"'
DTYPES = {"F32": np.float32, "F64": np.float64, "U8": np.uint8, "U64": np.uint64, "I8": np.int8}

Arrays = dict[str, npt.NDArray[Any]]


def pack(arrays: Arrays, record: dict[str, Any]) -> bytes:
    """Bytes of a model file.

    Parameters
    ----------
    arrays : dict of str to ndarray
    record : dict
        Anything JSON takes, with finite numbers.
    """
    import safetensors.numpy

    sealed = {**record, "format": FORMAT_VERSION, "sha256": NO_DIGEST.decode()}
    text = json.dumps(sealed, sort_keys=True, separators=(",", ":"), allow_nan=False)
    ordered = {name: np.ascontiguousarray(arrays[name]) for name in sorted(arrays)}
    blank = safetensors.numpy.save(ordered, metadata={METADATA_KEY: text})
    at = _digest_place(blank)
    digest = hashlib.sha256(blank).hexdigest().encode()
    return blank[:at] + digest + blank[at + len(digest) :]


def unpack(data: bytes, source: str = "model") -> tuple[Arrays, dict[str, Any]]:
    """Arrays and record of a model file, after its seal was checked.

    Raises
    ------
    ModelFileError
        When the bytes are not a model file, are damaged, or are of a later format.
    """
    import safetensors

    at = _digest_place(data, source)
    digest = data[at : at + len(NO_DIGEST)]
    if hashlib.sha256(data[:at] + NO_DIGEST + data[at + len(digest) :]).hexdigest().encode() != (
        digest
    ):
        raise _bad(source, "its checksum does not match: it was cut or changed", "MODEL-DAMAGED")
    try:
        header = json.loads(data[8 : 8 + _header_length(data, source)])
        record = json.loads(header["__metadata__"][METADATA_KEY])
        version = record.pop("format")
        del record["sha256"]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise _bad(source, f"its header is not readable ({error})", "MODEL-HEADER") from None
    if version != FORMAT_VERSION:
        raise _bad(
            source,
            f"it has format {version!r}, this release reads format {FORMAT_VERSION}",
            "MODEL-VERSION",
        )
    try:
        arrays = {
            name: np.frombuffer(part["data"], dtype=DTYPES[part["dtype"]]).reshape(part["shape"])
            for name, part in safetensors.deserialize(data)  # type: ignore[no-untyped-call]
        }
    except (safetensors.SafetensorError, KeyError, ValueError) as error:
        raise _bad(source, f"its arrays are not readable ({error})", "MODEL-ARRAYS") from None
    return arrays, record


def save(path: str | Path, arrays: Arrays, record: dict[str, Any]) -> None:
    """Write a model file, whole or not at all."""
    write_whole(path, pack(arrays, record))


def load(path: str | Path) -> tuple[Arrays, dict[str, Any]]:
    """Read a model file; runs no code from it and opens no other file."""
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise SourceError(
            f"cannot read model {path}: {error.strerror or error}", code="IO-READ"
        ) from error
    return unpack(data, str(path))


def _header_length(data: bytes, source: str) -> int:
    if len(data) < 8:
        raise _bad(source, f"it has {len(data)} bytes, a header needs 8", "MODEL-FOREIGN")
    length: int = struct.unpack("<Q", data[:8])[0]
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
    return ModelFileError(
        f"{source} is not a usable model file: {why}",
        code=code,
        hint="Train the model again, or copy the file again from where it was made.",
    )
