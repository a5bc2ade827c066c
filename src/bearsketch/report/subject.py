"""What a report is about: a model, and what is known of it beyond its file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from bearsketch.exceptions import IncompatibleError
from bearsketch.learners.describe import describe
from bearsketch.learners.labels import compare_classes

if TYPE_CHECKING:
    from bearsketch.learners import Learner
    from bearsketch.metrics import Scores


@dataclass(frozen=True)
class Subject:
    """One model of a report.

    Attributes
    ----------
    name : str
        How the page calls it: as a rule the name of its file.
    learner : Learner
    scores : dict
        Results on test data, under ``all`` and, where features are selected, ``selected``.
    extra : dict
        What the model file does not remember: ``file_bytes``, ``seconds``, ``peak_rss_bytes``,
        ``examples_per_second``, ``sources`` with their folders, each where known.
    """

    name: str
    learner: Learner
    scores: Mapping[str, Scores] | None = None
    extra: Mapping[str, Any] | None = None

    @cached_property
    def facts(self) -> dict[str, Any]:
        """See :func:`bearsketch.learners.describe.describe`."""
        return describe(self.learner)

    @property
    def run(self) -> dict[str, Any]:
        """What the model file remembers of its training."""
        return self.learner.run

    @property
    def selects(self) -> bool:
        """Whether it names features."""
        return self.learner.config.k > 0

    @property
    def learned(self) -> tuple[int, str]:
        """Examples of a pass, and what they are: ``examples``, or ``examples in 2 passes``.

        A model of passes of different lengths has all its examples counted.
        """
        examples, passes = (self.learner.counters[name] for name in ("examples", "passes"))
        if passes < 2:
            return examples, "examples"
        if examples % passes:
            return examples, f"examples, those of {passes} passes together"
        return examples // passes, f"examples in {passes} passes"

    def known(self, name: str) -> Any:
        """One of ``extra``, or None."""
        return (self.extra or {}).get(name)


def check_comparable(subjects: Sequence[Subject]) -> None:
    """Refuse models side by side that do not predict the same thing."""
    first = subjects[0]
    for other in subjects[1:]:
        mine, theirs = first.facts["classes"], other.facts["classes"]
        if mine == theirs:
            continue
        found, hint = "one predicts numbers and one classes", "Write a report for each."
        if mine is not None and theirs is not None:
            found, remedy = compare_classes(mine, theirs)
            hint = f"{remedy}\n  Or write a report for each."
        raise IncompatibleError(
            f"models in one report must predict alike: of {first.name} and {other.name}, {found}",
            code="REPORT-STRANGERS",
            hint=hint,
        )
