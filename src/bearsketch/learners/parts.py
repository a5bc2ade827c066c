"""Descriptions of the parts a learner is made of, with their limits."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from bearsketch.exceptions import ParameterError


@dataclass(frozen=True, slots=True)
class Automatic:
    """Step phi * g.z / (kmax * mean (x.z)^2): dimensionless, nothing to tune.

    ``phi`` falls with the root of the pass number. On exact weights the loss of a minibatch
    cannot rise for phi below 2.
    """

    phi: float = 0.5


@dataclass(frozen=True, slots=True)
class Constant:
    """The same step ``eta`` for every minibatch."""

    eta: float


@dataclass(frozen=True, slots=True)
class Decaying:
    """Step ``eta0 / (t + t0)`` at minibatch t, as theorem 2 of the paper asks."""

    eta0: float
    t0: float


Step = Automatic | Constant | Decaying


def as_step(given: str | float | Step) -> Step:
    """Turn ``"auto"`` or a number into a step part, or refuse it.

    Examples
    --------
    >>> as_step("auto"), as_step(0.1)
    (Automatic(phi=0.5), Constant(eta=0.1))
    """
    if isinstance(given, Automatic | Constant | Decaying):
        step: Step = given
    elif given == "auto":
        step = Automatic()
    elif isinstance(given, int | float) and not isinstance(given, bool):
        # An int may be more than any float holds.
        step = Constant(math.inf if abs(given) > sys.float_info.max else float(given))
    else:
        raise ParameterError(f"step_size must be 'auto', a number or a step, got {given!r}")
    for name in step.__slots__:
        value = getattr(step, name)
        if not 0 < value <= sys.float_info.max:  # also of an int that no float can hold
            raise ParameterError(f"step_size: {name} must be finite and above 0, got {value!r}")
    return step


def step_fields(step: Step) -> dict[str, Any]:
    """Fields of a step as the compiled core takes them."""
    if isinstance(step, Automatic):
        return {"step": "automatic", "step_size": step.phi, "step_offset": 1.0}
    if isinstance(step, Constant):
        return {"step": "constant", "step_size": step.eta, "step_offset": 1.0}
    return {"step": "decaying", "step_size": step.eta0, "step_offset": step.t0}


class Limit(NamedTuple):
    """Type and closed range of a number."""

    kind: type
    low: float
    high: float


LIMITS: Mapping[str, Limit] = {
    "n_classes": Limit(int, 1, 2**16),
    "k": Limit(int, 0, 2**31 - 1),
    "width": Limit(int, 1, 2**48),
    "depth": Limit(int, 1, 16),
    "dimension": Limit(int, 1, 2**48),
    "compression": Limit(float, 1e-9, 1e18),
    "passes": Limit(int, 1, 2**31),
    "history": Limit(int, 0, 100),
    "batch_size": Limit(int, 1, 2**24),
    "l2": Limit(float, 0.0, 1e6),
    "seed": Limit(int, 0, 2**64 - 1),
}


def check_number(name: str, value: Any) -> None:
    """Refuse a number outside the table of limits; None passes.

    Examples
    --------
    >>> check_number("depth", 3)
    """
    if value is None:
        return
    limit = LIMITS[name]
    number = isinstance(value, int) or (limit.kind is float and isinstance(value, float))
    if isinstance(value, bool) or not number or not limit.low <= value <= limit.high:
        kind = "a whole number" if limit.kind is int else "a number"
        raise ParameterError(
            f"{name} must be {kind} from {limit.low:g} to {limit.high:g}, got {value!r}"
        )


def check_choice(name: str, value: Any, allowed: tuple[str, ...]) -> None:
    """Refuse a word that is not in the list."""
    if value not in allowed:
        raise ParameterError(f"{name} must be one of {', '.join(allowed)}, got {value!r}")
