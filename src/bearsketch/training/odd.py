"""What may be wrong with the labels of the first examples, in words."""

from __future__ import annotations

import re

from bearsketch.training.seen import Seen

_NUMBER = re.compile(r"\s*[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?\s*")
# Where so many of the labels are numbers, the others are taken for mistakes.
_MOSTLY = 0.75


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
    These look like numbers with a decimal comma, such as '1,5': give decimal=',' (--decimal ,).
    """
    squared = "use loss squared (--loss squared) to predict them"
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
        f"These look like numbers with a decimal comma, such as {comma!r}: give decimal=',' "
        "(--decimal ,)."
    )
