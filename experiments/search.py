"""The search for a constant step on a ladder of steps that all methods share."""

from __future__ import annotations

from collections.abc import Callable, Sequence


def climb(
    start: Sequence[int], size: int, best: Callable[[Sequence[int]], int | None]
) -> tuple[list[int], int | None]:
    """Try neighbouring rungs, and one more wherever the best is at an edge.

    So the best always has a worse neighbour on both sides, unless the ladder ends.

    Parameters
    ----------
    start : sequence of int
        The first rungs to try, neighbours in rising order.
    size : int
        Rungs of the ladder.
    best : callable
        From rungs to the place of the best among them, or None while some are not finished.

    Returns
    -------
    (list of int, int or None)
        Rungs tried so far, and the place of the best among them once the search is over.

    Examples
    --------
    >>> climb([3, 4, 5], 10, lambda rungs: rungs.index(max(r for r in rungs if r < 8)))
    ([3, 4, 5, 6, 7, 8], 4)
    """
    rungs = list(start)
    while True:
        place = best(rungs)
        if place == 0 and rungs[0] > 0:
            rungs.insert(0, rungs[0] - 1)
        elif place == len(rungs) - 1 and rungs[-1] + 1 < size:
            rungs.append(rungs[-1] + 1)
        else:
            return rungs, place
