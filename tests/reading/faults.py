"""Cases of the fault matrix: a malformation in a format, and what becomes of it.

A case is one malformation in one format. Its document is the bad record between two good ones,
unless it says otherwise. Each case is run from a plain file, a gzip file and standard input, once
with ``on_error="fail"`` and once with ``"skip"``.
"""

from dataclasses import dataclass, field
from typing import Any

HEAD = {"csv": b"a,n,label\n"}
GOOD = {
    "vw": (b"1 |a x y:2\n", b"-1 |a z\n"),
    "svmlight": (b"1 1:1 2:2\n", b"-1 3:1\n"),
    "fasta": (b">r1 L=1\nACGTAC\n", b">r3 L=0\nTTTACG\n"),
    "fastq": (b"@r1 L=1\nACGTAC\n+\nIIIIII\n", b"@r3 L=0\nTTTACG\n+\nIIIIII\n"),
    "csv": (b"x,2,1\n", b"y,3,0\n"),
    "jsonl": (b'{"a":"x","n":2,"label":1}\n', b'{"a":"y","n":3,"label":0}\n'),
}
OPTIONS: dict[str, dict[str, Any]] = {
    "fasta": {"kmer": 3, "label_regex": r"L=(\S+)"},
    "fastq": {"kmer": 3, "label_regex": r"L=(\S+)"},
    "csv": {"numeric": ["n"]},
}
# Line at which the record between the two good ones begins.
LINE = {"vw": 2, "svmlight": 2, "fasta": 3, "fastq": 5, "csv": 3, "jsonl": 2}


@dataclass(frozen=True)
class Fails:
    """A record error: with ``skip`` it is counted and the good records remain."""

    code: str
    line: int  # counted from the first line of the bad record, from 0
    column: int
    exit_code: int = 3
    more: int = 0  # further errors that follow from it


@dataclass(frozen=True)
class Stops:
    """An error of the whole stream, whatever the policy."""

    code: str
    exit_code: int = 3


@dataclass(frozen=True)
class Accepts:
    """Read with the stated meaning."""

    rows: int = 3
    like: bytes | None = None  # the same batches as with this record
    warns: str | None = None
    counts: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Case:
    row: int  # of the list of malformations
    what: str
    form: str
    bad: bytes
    outcome: Fails | Stops | Accepts
    place: str = "middle"  # or "end", "whole"
    options: dict[str, Any] = field(default_factory=dict)

    def document(self, record: bytes | None = None) -> bytes:
        bad = self.bad if record is None else record
        if self.place == "whole":
            return bad
        first, second = GOOD[self.form]
        parts = (first, second, bad) if self.place == "end" else (first, bad, second)
        return HEAD.get(self.form, b"") + b"".join(parts)

    def line(self, offset: int) -> int:
        if self.place == "whole":
            return 1 + offset
        second = GOOD[self.form][1].count(b"\n") if self.place == "end" else 0
        return LINE[self.form] + second + offset


def cases(row: int, what: str, cells: dict[str, tuple[Any, ...]], **common: Any) -> list[Case]:
    """A row of the matrix: for each format the record, what becomes of it, and options."""
    out = []
    for form, (bad, outcome, *rest) in cells.items():
        options = common.get("options", {}) | (rest[0] if rest else {})
        place = common.get("place", "middle")
        out.append(Case(row, what, form, bad, outcome, place, options))
    return out
