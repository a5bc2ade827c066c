"""What a run finds odd about its data or its result, said once."""

from __future__ import annotations

from typing import NamedTuple

from bearsketch.training.order import Order


class Doubt(NamedTuple):
    """Something odd that was accepted; a user is told ``warning[code] message``."""

    code: str
    message: str


def last_doubts(order: Order | None, passes: int) -> list[Doubt]:
    """Doubts that only the end of a run can tell.

    Parameters
    ----------
    order : Order or None
        Of the labels of the first pass; None for regression.
    passes : int
    """
    doubts = []
    runs = None if order is None else order.warning(passes)
    if runs is not None:
        doubts.append(Doubt("DATA-ORDER", runs))
    return doubts
