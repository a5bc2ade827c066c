"""A call that fails leaves the estimator as it was before."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

Method = TypeVar("Method", bound=Callable[..., Any])


def all_or_nothing(method: Method) -> Method:
    """Put fitted attributes back when a method fails, unless its learner had learned on.

    Minibatches before one that diverged stay learned, and so do the classes they brought.
    """

    @functools.wraps(method)
    def wrapped(self: Any, *args: Any, **kwargs: Any) -> Any:
        before = _fitted(self)
        learned = _learned(before)
        try:
            return method(self, *args, **kwargs)
        except Exception:
            now = _fitted(self)
            if now.get("learner_") is not before.get("learner_") or _learned(now) == learned:
                for name in now:
                    delattr(self, name)
                vars(self).update(before)
            raise

    return wrapped  # type: ignore[return-value]


def _fitted(estimator: Any) -> dict[str, Any]:
    """Attributes that a fit sets."""
    known = vars(estimator).items()
    return {
        name: value
        for name, value in known
        if name in ("_class_numbers", "_first_batches")
        or (name.endswith("_") and not name.startswith("_"))
    }


def _learned(fitted: dict[str, Any]) -> int:
    return fitted["learner_"].counters["batches"] if "learner_" in fitted else 0
