"""Pieces of HTML: text that is data goes through :func:`text`, always."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from bearsketch.escape import visible


def text(value: Any) -> str:
    r"""Any value as text of a page: control characters shown as escapes, markup as letters.

    Examples
    --------
    >>> text("</script>\x1b")
    '&lt;/script&gt;\\x1b'
    """
    return escape(visible(str(value)))


def section(name: str, title: str, body: str, lead: str = "") -> str:
    """Give a part of the page; nothing where there is no body."""
    if not body:
        return ""
    told = f'<p class="lead">{lead}</p>' if lead else ""
    return f'<section id="{name}"><h2>{title}</h2>{told}{body}</section>'


def card(title: str, body: str, note: str = "", style: str = "") -> str:
    """Give a framed piece with a small title; ``title`` and ``note`` are HTML."""
    head = f"<h3>{title}</h3>" if title else ""
    foot = f'<p class="note">{note}</p>' if note else ""
    return f'<div class="card {style}">{head}{body}{foot}</div>' if body else ""


def grid(cards: Sequence[str], style: str = "") -> str:
    """Cards side by side, below each other where there is no room."""
    inside = "".join(cards)
    return f'<div class="cards {style}">{inside}</div>' if inside else ""


def facts_list(rows: Sequence[tuple[str, str]]) -> str:
    """Names and values; the values are HTML."""
    pairs = "".join(f"<div><dt>{text(k)}</dt><dd>{v}</dd></div>" for k, v in rows)
    return f"<dl>{pairs}</dl>"


def swatch(place: int, name: str) -> str:
    """Name of a model with its colour."""
    return f'<span class="swatch s{place}"></span>{text(name)}'


def number(value: float | None, form: str = ".4f") -> str:
    """Figure, or a dash where there is none."""
    return "&ndash;" if value is None else format(value, form)
