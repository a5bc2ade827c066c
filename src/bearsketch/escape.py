"""Names and other text from data, made safe to show: no control byte reaches a terminal."""

from __future__ import annotations

import re

_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]+)?")
_FORMULA = ("=", "+", "-", "@")


def visible(text: str) -> str:
    r"""Text on one line with nothing in it that a terminal would obey.

    Control characters, line ends, marks that turn the direction of writing and lone surrogates
    (bytes that are not UTF-8) become escapes.

    Examples
    --------
    >>> print(visible("red\x1b[31m\tcaf\u00e9"))
    red\x1b[31m\tcafé
    """
    if text.isprintable():
        return text
    return "".join(_escape(c) for c in text)


def shown_name(name: str) -> str:
    """Name of a feature for a reader; a column without a header has an empty one.

    Examples
    --------
    >>> shown_name(""), shown_name("price")
    ('(no name)', 'price')
    """
    return visible(name) or "(no name)"


def cell(text: str) -> str:
    """Text as a cell of a tab-separated table; a spreadsheet takes none for a formula.

    What starts with ``=``, ``+``, ``-`` or ``@`` gets an apostrophe in front, but for numbers.

    Examples
    --------
    >>> cell("=SUM(A1)"), cell("plain"), cell("-1")
    ("'=SUM(A1)", 'plain', '-1')
    """
    shown = visible(text)
    formula = shown.startswith(_FORMULA) and not _NUMBER.fullmatch(shown)
    return f"'{shown}" if formula else shown


def message(text: str) -> str:
    """Text of a message, which may have several lines, made safe for a terminal."""
    return "\n".join(visible(line) for line in text.split("\n"))


def _escape(c: str) -> str:
    if c.isprintable():
        return c
    if "\udc80" <= c <= "\udcff":  # a byte that surrogateescape kept
        return f"\\x{ord(c) - 0xDC00:02x}"
    return c.encode("unicode_escape", "surrogatepass").decode()
