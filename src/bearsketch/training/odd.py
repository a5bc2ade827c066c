"""What may be wrong with the labels of the first examples, in words."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import Any

from bearsketch.advice import either
from bearsketch.training.seen import Seen, plain_label

_NUMBER = re.compile(r"\s*[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?\s*")
# Where so many of the labels are numbers, the others are taken for mistakes.
_MOSTLY = 0.75
# A class of so few examples is odd where there are enough and another class has many.
_RARE, _FREQUENT, _ENOUGH = 2, 100, 200
# Rare labels beyond this share of the examples are what the labels are like.
_RARE_SHARE = 0.01
_SHOWN = 3


def some_word(seen: Seen) -> str:
    """One of the labels that are words, if possible one that looks like no number."""
    words = sorted(seen.counts)
    return str(next((word for word in words if not _NUMBER.fullmatch(word)), words[0]))


def number_hint(seen: Seen, *, quantity: bool) -> str:
    """Say what to do about labels that look like numbers; empty where they do not.

    Parameters
    ----------
    seen : Seen
    quantity : bool
        Whether labels that are numbers are so many, or such, that they are no names of classes.

    Examples
    --------
    >>> import numpy as np
    >>> seen = Seen()
    >>> seen.add(np.array(["1,5", "2,25", "3"]))
    >>> print(number_hint(seen, quantity=False))
    These look like numbers with a decimal comma, such as '1,5': decimal=',' reads them.
    """
    squared = f"use {either('loss squared', '--loss squared')} to predict them"
    if not seen.words:
        return f"These look like numbers: {squared}." if quantity else ""
    words = sorted(seen.counts)
    others = [word for word in words if not _NUMBER.fullmatch(word)]
    if len(others) > (1 - _MOSTLY) * len(words):
        return ""
    if others:
        return (
            f"Most look like numbers, and {others[0]!r} does not: write NA where a number is "
            f"missing, and {squared}."
        )
    comma = next((word for word in words if "," in word), None)
    if comma is None:
        return ""
    return (
        f"These look like numbers with a decimal comma, such as {comma!r}: "
        + either("decimal=','", "--decimal ,")
        + " reads them."
    )


def odd_classes(seen: Seen) -> list[str]:
    """Say which labels may be mistakes, where each is a class.

    Examples
    --------
    >>> import numpy as np
    >>> seen = Seen()
    >>> seen.add(np.array(["no"] * 300 + ["No"]))
    >>> print(odd_classes(seen)[0])
    labels 'No' (1 example) and 'no' (300 examples) differ only in case or blanks around them, and \
are different classes; write them alike
    """
    alike = _alike(seen)
    told = [
        f"labels {_listed(seen, group)} differ only in case or blanks around them, and are "
        "different classes; write them alike"
        for group in alike
    ]
    known = {label for group in alike for label in group}
    rare = [label for label in _rare(seen) if label not in known]
    if rare:
        own = _told(seen, rare, "is a class of its own", "are classes of their own")
        squared = either("loss='squared'", "--loss squared")
        quantity = (
            f"; if the labels are quantities, such as years, {squared} predicts them as numbers"
        )
        told.append(own + (quantity if seen.whole and len(seen.counts) > 2 else ""))
    return told


def odd_numbers(seen: Seen, most_classes: int) -> list[str]:
    """Say which labels alone keep the others from being classes."""
    rare = set(_rare(seen))
    rest = [plain_label(label) for label in seen.counts if label not in rare]
    few = sum(seen.counts[label] for label in rare) <= _RARE_SHARE * seen.examples
    classes = 2 <= len(rest) <= most_classes and all(isinstance(label, int) for label in rest)
    if not rare or not few or not classes:
        return []
    why = f"quantities of labels that would be {len(rest)} classes"
    return [_told(seen, sorted(rare), f"alone makes {why}", f"alone make {why}")]


def _alike(seen: Seen) -> list[list[str]]:
    groups: defaultdict[str, list[str]] = defaultdict(list)
    for label in sorted(seen.counts) if seen.words else ():
        groups[label.strip().casefold()].append(label)
    return [group for group in groups.values() if len(group) > 1]


def _rare(seen: Seen) -> list[Any]:
    most = max(seen.counts.values(), default=0)
    # Of the usual two classes, one may be rare.
    usual = not seen.words and set(seen.counts) in ({0, 1}, {-1, 1})
    if usual or seen.examples < _ENOUGH or most < _FREQUENT:
        return []
    return [label for label in sorted(seen.counts) if seen.counts[label] <= _RARE]


def _told(seen: Seen, rare: list[Any], one: str, many: str) -> str:
    labels, what = ("label", one) if len(rare) == 1 else ("labels", many)
    return (
        f"of the first {seen.examples:,} examples, {labels} {_listed(seen, rare)} {what}; mend "
        "mistakes in the data, or name the classes "
        f"({either('classes=[...]', '--classes a,b')}) to have other labels refused"
    )


def _listed(seen: Seen, labels: list[Any]) -> str:
    shown = [_counted(seen, label) for label in labels[:_SHOWN]]
    if len(labels) > _SHOWN:
        shown.append(f"{len(labels) - _SHOWN} more")
    return ", ".join(shown[:-1]) + " and " + shown[-1] if len(shown) > 1 else shown[0]


def _counted(seen: Seen, label: Any) -> str:
    n, place = seen.counts[label], seen.places.get(label)
    first = "" if place is None else f", first at {place[0]}:{place[1]}"
    name = repr(label) if seen.words else f"'{plain_label(label)}'"
    return f"{name} ({n:,} example{'' if n == 1 else 's'}{first})"
