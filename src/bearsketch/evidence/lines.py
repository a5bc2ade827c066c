"""One finding, one line: features that stand for the same thing, and the k-mers of one stretch."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

LEAST_PHI = 0.4  # correlation of presence that links two features
LEAST_SHARED, LEAST_EITHER = 3, 4  # sampled rows, below which a correlation is a guess
LEAST_Z = 4.0  # of the shared rows, beyond what independent features share
_LOWER = np.uint64(2**32 - 1)
_GOLDEN = 0x9E3779B97F4A7C15
_COMPLEMENT = str.maketrans("ACGT", "TGCA")


class Samples(NamedTuple):
    """What links are found from, one element for each feature.

    ``rows`` counts those that had the feature since it was selected, ``since`` the rows of the
    stream before that, and ``total`` all of them; ``sampled`` are those of its rows with the
    smallest hashes, ``sizes`` of them, with their number in the lower half.
    """

    sampled: npt.NDArray[np.uint64]
    sizes: npt.NDArray[np.uint8]
    rows: npt.NDArray[np.uint64]
    since: npt.NDArray[np.uint64]
    total: int


def row_hashes(rows: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Hash rows as the core does."""
    x = rows + np.uint64(_GOLDEN)
    for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
        x = (x ^ x >> np.uint64(33)) * np.uint64(factor)
    return np.asarray(x ^ x >> np.uint64(33))


def correlations(samples: Samples, among: Sequence[int]) -> dict[tuple[int, int], float]:
    r"""Phi of every two features that share a sampled row.

    Samples by the smallest hashes share rows as often as the Jaccard index :math:`J` of the two
    sets says. With :math:`p_a, p_b` the shares of rows that have them,
    :math:`p_{ab} = J (p_a + p_b) / (1 + J)`.
    """
    own, hashes = {}, {}
    by_row: dict[int, list[int]] = defaultdict(list)
    for i in among:
        own[i] = samples.sampled[i, : samples.sizes[i]]
        hashes[i] = row_hashes(own[i])
        for row in own[i].tolist():
            by_row[row].append(i)
    pairs = {(a, b) for js in by_row.values() for n, a in enumerate(js) for b in js[n + 1 :]}
    full = samples.sampled.shape[1]
    most = {i: hashes[i].max() if len(own[i]) == full else np.uint64(2**64 - 1) for i in among}
    spans = np.maximum(samples.total - samples.since.astype(np.int64), 1)
    shares = np.clip(samples.rows / spans, 1e-12, 1.0)
    found = {}
    for a, b in sorted(pairs):
        start, limit = max(samples.since[a], samples.since[b]), min(most[a], most[b])
        kept = [((own[i] & _LOWER) >= start) & (hashes[i] <= limit) for i in (a, b)]
        sets = [set(own[i][keep].tolist()) for i, keep in zip((a, b), kept, strict=True)]
        both, either = len(sets[0] & sets[1]), len(sets[0] | sets[1])
        if both < LEAST_SHARED or either < LEAST_EITHER:
            continue
        index, p, q = both / either, float(shares[a]), float(shares[b])
        chance = p * q / (p + q - p * q)
        if both - either * chance < LEAST_Z * np.sqrt(either * chance * (1.0 - chance)):
            continue  # frequent features share rows without having anything in common
        joint = index / (1.0 + index) * (p + q)
        spread = max(p * (1.0 - p) * q * (1.0 - q), 1e-24)
        found[a, b] = float((joint - p * q) / np.sqrt(spread))
    return found


def overlaps(names: Sequence[str], among: Sequence[int]) -> list[tuple[int, int]]:
    """Give k-mers that follow one another: the last k - 1 bases of one are the first of the other.

    A k-mer stands for its reverse complement as well.

    Examples
    --------
    >>> overlaps(["ACGT", "CGTA", "GGGG"], [0, 1, 2])
    [(0, 1)]
    """
    starts = defaultdict(set)
    for i in among:
        for word in both_strands(names[i]):
            starts[word[:-1]].add(i)
    pairs = {
        (min(i, j), max(i, j))
        for i in among
        for word in both_strands(names[i])
        for j in starts[word[1:]]
        if i != j
    }
    return sorted(pairs)


def both_strands(word: str) -> tuple[str, ...]:
    """Give a k-mer and its reverse complement; IUPAC letters have none here."""
    if set(word) - set("ACGT"):
        return (word,)
    return word, word.translate(_COMPLEMENT)[::-1]


def find_lines(
    samples: Samples, order: Sequence[int], names: Sequence[str] | None = None
) -> dict[int, list[int]]:
    """Lines by their representative, which comes first in ``order``, with members in that order.

    Parameters
    ----------
    samples : Samples
    order : sequence of int
        The features to be joined into lines, best first.
    names : sequence of str, optional
        Of k-mers, where overlaps link as well.
    """
    links = [pair for pair, phi in correlations(samples, order).items() if phi >= LEAST_PHI]
    if names is not None:
        links += overlaps(names, order)
    rank = {i: n for n, i in enumerate(order)}
    leader = {i: i for i in order}

    def top(i: int) -> int:
        while leader[i] != i:
            leader[i] = leader[leader[i]]
            i = leader[i]
        return i

    for a, b in links:
        x, y = sorted((top(a), top(b)), key=rank.__getitem__)
        leader[y] = x
    lines: dict[int, list[int]] = {}
    for i in order:
        lines.setdefault(top(i), []).append(i)
    return lines


def contig(words: Sequence[str]) -> str:
    """Join the k-mers of a line, as far as they follow the first of them without a gap.

    Examples
    --------
    >>> contig(["CGTA", "ACGT", "GTAC", "TTTT"])
    'ACGTAC'
    """
    found, left = words[0], list(words[1:])
    k = len(found)
    while left:
        for i, word in enumerate(left):
            after = [w[-1] for w in both_strands(word) if w[:-1] == found[-k + 1 :]]
            before = [w[0] for w in both_strands(word) if w[1:] == found[: k - 1]]
            if after or before:
                found = found + after[0] if after else before[0] + found
                del left[i]
                break
        else:
            break
    return found
