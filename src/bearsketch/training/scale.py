"""Values far from the others in size, or growing: found in the first examples, and said."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from bearsketch.advice import either, how_to_shuffle
from bearsketch.batch import Batch
from bearsketch.training.look import LARGE, Look, Naming

# A step that suits a value of 40 is 1,600 times too small for one of 1.
TIMES_OTHERS, SHARE = 4.0, 0.5
# And one that suits a value of 1 is 400 times too small for one of 0.05.
TIMES_SMALLER = 20.0
_FAR = (
    "lie around a mean far from 0, which one pass learns slowly and may give the wrong sign: "
    "subtract the mean"
)


def odd_scale(
    batches: Collection[Batch],
    any_scale: bool = False,
    naming: Naming | None = None,
    *,
    drops: bool = True,
) -> str | None:
    """Say which features have values that spoil the learning, or None.

    They are those with values above 4 that grow from one example to the next, as the number of a
    row does; those 4 times above the median of all values, if they make more than half of the sum
    of squares; and where these do no harm, those that lie around a mean far from 0. Then there are
    those that nearly every example has with a value 20 times below the median.

    Parameters
    ----------
    batches : collection of Batch
        The first examples.
    any_scale : bool
        Whether the learner allows for large values.
    naming : callable, optional
        From a key to its name, where batches do not know it.
    drops : bool
        Whether an option can leave features of this data out.

    Examples
    --------
    >>> small = Batch.from_rows([["a", "b", "c"]] * 5)
    >>> odd_scale([small]) is None
    True
    >>> print(odd_scale([small, Batch.from_rows([{"income": 50_000.0, "a": 1.0}])])[:73])
    values of 'income' (about 5e+04) are far larger than the others (about 1)
    """
    if not any(batch.n_entries for batch in batches):
        return None
    look = Look(batches, naming)
    typical = look.typical()
    if any(np.abs(batch.values).max(initial=0.0) > LARGE for batch in batches):
        found = _too_large(look, typical, any_scale, _leave_out(drops))
        if found is not None:
            return found
    small = look.common() & (look.rms < typical / TIMES_SMALLER) & (look.spreads > 0.0)
    if not small.any():
        return None
    return (
        f"values of {look.shown(small)} are far smaller than the others (about {typical:.3g}), so "
        "that one pass hardly learns their weights: multiply them, so that they are near 1"
    )


def _too_large(look: Look, typical: float, any_scale: bool, leave_out: str) -> str | None:
    grow = look.growing()
    if grow.any():
        return (
            f"values of {look.shown(grow)} grow along the data, as a row number or a time does, "
            f"which can spoil learning in one pass: {leave_out}, or shuffle the "
            "examples" + how_to_shuffle()
        )
    if any_scale:
        far = look.far_from_zero()
        return f"values of {look.shown(far)} {_FAR}" if far.any() else None
    large = look.rms > max(LARGE, TIMES_OTHERS * typical)
    if not large.any() or large.all() or look.share(large) <= SHARE:
        return None
    return (
        f"values of {look.shown(large)} are far larger than the others "
        f"(about {look.typical(~large):.3g}), "
        f"which spoils the learning of all: divide them, so that they are near 1, or {leave_out}"
    )


def _leave_out(drops: bool) -> str:
    if not drops:
        return "leave them out of the data"
    option = either("drop", "--drop, with '' for a column without a name")
    return f"leave them out ({option})"
