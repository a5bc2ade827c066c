"""Data sets of the paper that can be fetched from where they are published."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bearsketch.exceptions import ParameterError
from experiments.datasets.download import check_url

LIBSVM = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/binary/"


@dataclass(frozen=True, slots=True)
class PublicFile:
    """A file as it is published; size and SHA-256 where they are known for certain."""

    name: str
    size: int | None = None
    sha256: str | None = None


@dataclass(frozen=True, slots=True)
class PublicSet:
    """Where a data set is published, what it is, and its folder below the data folder."""

    title: str
    folder: str
    files: tuple[PublicFile, ...]
    url: str
    rows: str
    features: int
    use: str
    licence: str

    def paths(self, to: Path) -> list[Path]:
        """Where the files are, or will be."""
        return [to / self.folder / file.name for file in self.files]


TERMS = "its terms are not known here: see the LIBSVM data page for them and for what to cite"
PUBLIC: Mapping[str, PublicSet] = {
    "rcv1": PublicSet(
        "RCV1, two groups of topics",
        "text/rcv1",
        (PublicFile("rcv1_train.binary.bz2"), PublicFile("rcv1_test.binary.bz2")),
        LIBSVM,
        "20,242 / 677,399",
        47_236,
        "reproduce, train",
        "for research; cite Lewis et al., JMLR 5 (2004) 361-397",
    ),
    "webspam": PublicSet(
        "Webspam, byte trigrams",
        "text/webspam",
        (PublicFile("webspam_wc_normalized_trigram.svm.xz"),),
        LIBSVM,
        "350,000",
        16_609_143,
        "train",
        TERMS,
    ),
    "kdd12": PublicSet(
        "KDD Cup 2012, track 2, clicks",
        "clicks/kdd12",
        (PublicFile("kdd12.tr.xz"), PublicFile("kdd12.val.xz")),
        LIBSVM,
        "119.7 / 29.9 million",
        54_686_452,
        "train",
        TERMS,
    ),
}


def public_sets(names: Sequence[str]) -> list[PublicSet]:
    """Public data sets by name, each once.

    Examples
    --------
    >>> [file.name for file in public_sets(["webspam"])[0].files]
    ['webspam_wc_normalized_trigram.svm.xz']
    """
    for name in names:
        if name not in PUBLIC:
            raise ParameterError(
                f"the data set must be one of {', '.join(PUBLIC)}, got {name!r}", code="EXP-DATASET"
            )
    return [PUBLIC[name] for name in dict.fromkeys(names)]


def address(data: PublicSet, file: PublicFile, base: str | None = None) -> str:
    """Where a file is fetched from: below ``base``, a mirror, if there is one.

    Examples
    --------
    >>> rcv1 = PUBLIC["rcv1"]
    >>> address(rcv1, rcv1.files[0], "https://mirror.example/svm")
    'https://mirror.example/svm/rcv1_train.binary.bz2'
    """
    url = f"{(base or data.url).rstrip('/')}/{file.name}"
    check_url(url)
    return url


def read_checksums(given: Sequence[str], sets: Sequence[PublicSet]) -> dict[str, str]:
    """Checksums by file name from words ``FILE=SHA256``.

    Examples
    --------
    >>> list(read_checksums(["rcv1_test.binary.bz2=" + 64 * "A"], [PUBLIC["rcv1"]]).values())
    ['aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa']
    """
    names = [file.name for data in sets for file in data.files]
    found = {}
    for word in given:
        name, _, digits = word.rpartition("=")
        if name not in names or not re.fullmatch(r"[0-9a-fA-F]{64}", digits):
            raise ParameterError(
                f"a checksum must be FILE=SHA256, 64 hexadecimal digits for one of "
                f"{', '.join(names)}, got {word!r}",
                code="EXP-SHA256",
            )
        found[name] = digits.lower()
    return found
