"""Twins of the hashes, on Python's own integers."""

from __future__ import annotations

MASK = (1 << 64) - 1
GOLDEN = 0x9E3779B97F4A7C15


def mix64(x: int) -> int:
    """Finaliser of MurmurHash3."""
    x ^= x >> 33
    x = x * 0xFF51AFD7ED558CCD & MASK
    x ^= x >> 33
    x = x * 0xC4CEB9FE1A85EC53 & MASK
    return x ^ x >> 33


def key_hash(key: int, seed: int) -> int:
    return mix64(key ^ mix64((seed + GOLDEN) & MASK))


def row_hash(hashed: int, row: int) -> int:
    return hashed if row == 0 else mix64((hashed + row * GOLDEN) & MASK)


def bucket_of(hashed: int, width: int) -> int:
    """Bits 1..63 as a fraction of one, times the width."""
    return (hashed >> 1) * width >> 63


def uniform(bits: int) -> float:
    """A draw from [0, 1)."""
    return (bits >> 11) * 2.0**-53


def sign_of(hashed: int) -> int:
    return -1 if hashed & 1 else 1


def siphash13(k0: int, k1: int, data: bytes) -> int:
    """SipHash with one round per word and three at the end."""
    v = [
        k0 ^ 0x736F6D6570736575,
        k1 ^ 0x646F72616E646F6D,
        k0 ^ 0x6C7967656E657261,
        k1 ^ 0x7465646279746573,
    ]
    whole = len(data) // 8 * 8
    words = [int.from_bytes(data[i : i + 8], "little") for i in range(0, whole, 8)]
    words.append(int.from_bytes(data[whole:], "little") | (len(data) & 0xFF) << 56)
    for word in words:
        v[3] ^= word
        _sip_round(v)
        v[0] ^= word
    v[2] ^= 0xFF
    for _ in range(3):
        _sip_round(v)
    return v[0] ^ v[1] ^ v[2] ^ v[3]


def name_key(name: bytes, seed: int) -> int:
    return siphash13(mix64(seed ^ 0x6265617273656564), mix64((seed + GOLDEN) & MASK), name)


def _rotl(x: int, bits: int) -> int:
    return (x << bits | x >> (64 - bits)) & MASK


def _sip_round(v: list[int]) -> None:
    v[0] = (v[0] + v[1]) & MASK
    v[1] = _rotl(v[1], 13) ^ v[0]
    v[0] = _rotl(v[0], 32)
    v[2] = (v[2] + v[3]) & MASK
    v[3] = _rotl(v[3], 16) ^ v[2]
    v[0] = (v[0] + v[3]) & MASK
    v[3] = _rotl(v[3], 21) ^ v[0]
    v[2] = (v[2] + v[1]) & MASK
    v[1] = _rotl(v[1], 17) ^ v[2]
    v[2] = _rotl(v[2], 32)
