"""Feature names and 64-bit keys: one to the other, and how a key is shown.

A feature is a 64-bit key. How the key came about is the *naming* of a batch:

==============  ==================================================================
``id``          the integer id itself; its name is its decimal digits
``name``        a keyed hash of the name's bytes; the name travels with the batch
``kmer:K``      K bases of 2 bits each (A=0, C=1, G=2, T=3), first base highest
``iupac:K``     K IUPAC letters of 4 bits each, first letter highest
==============  ==================================================================
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from bearsketch import _core
from bearsketch.exceptions import ParameterError

BASES = "ACGT"
# A 4-bit letter is the set of bases it stands for, one bit each; 0 (no base) never occurs.
IUPAC_LETTERS = "-ACMGRSVTWYHKDBN"


def hash_names(names: Iterable[str | bytes], seed: int = 0) -> npt.NDArray[np.uint64]:
    """Keys of feature names under a seed.

    Parameters
    ----------
    names : iterable of str or bytes
        Strings are taken as UTF-8.
    seed : int
        The seed of the learner the keys are for.

    Returns
    -------
    ndarray of uint64, shape (n_names,)

    Examples
    --------
    >>> hash_names(["spam", "ham"], seed=1)
    array([..., ...], dtype=uint64)
    """
    return _core.hash_names([encode_name(name) for name in names], seed)


def encode_name(name: str | bytes) -> bytes:
    r"""Bytes of a name; numbers are no names.

    Examples
    --------
    >>> encode_name("é")
    b'\xc3\xa9'
    """
    if isinstance(name, str):
        return name.encode()
    if isinstance(name, bytes):
        return name
    raise ParameterError(
        f"names must be str or bytes, got {name!r}",
        hint="Whole numbers are keys as they are: give them as keys, or as str(number).",
    )


def key_name(key: int, naming: str = "id") -> str:
    """Name of a key that carries its name in itself.

    Parameters
    ----------
    key : int
        A 64-bit key.
    naming : str
        ``id``, ``kmer:K`` or ``iupac:K``; a key of naming ``name`` cannot be turned back and is
        shown as its hexadecimal digits.

    Examples
    --------
    >>> key_name(27, "kmer:4")
    'ACGT'
    >>> key_name(27)
    '27'
    """
    kind, length = parse_naming(naming)
    if kind == "id":
        return str(key)
    if kind == "name":
        return f"#{key:016x}"
    letters, bits = (BASES, 2) if kind == "kmer" else (IUPAC_LETTERS, 4)
    mask = (1 << bits) - 1
    return "".join(letters[(key >> (bits * i)) & mask] for i in reversed(range(length)))


def parse_naming(naming: str) -> tuple[str, int]:
    """Split a naming into its kind and length (0 where it has none), or refuse it."""
    kind, _, length = naming.partition(":")
    limit = {"id": 0, "name": 0, "kmer": 32, "iupac": 16}.get(kind, -1)
    n = int(length) if length.isdecimal() else 0
    if limit < 0 or n > limit or (limit > 0 and n < 1) or (limit == 0 and length):
        raise ParameterError(
            f"naming must be 'id', 'name', 'kmer:1' to 'kmer:32' or 'iupac:1' to 'iupac:16', "
            f"got {naming!r}"
        )
    return kind, n
