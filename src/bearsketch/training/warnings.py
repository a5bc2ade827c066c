"""Warnings: one table of what a run may find odd, and the texts made of the facts it found.

Whatever drives a session (``train``, an estimator, a worker) gets the same :class:`RunWarning`, and
shows it with :meth:`RunWarning.text` in its own terms.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from bearsketch.wording import Render, for_python

_SHUFFLE = "shuffle the examples{shuffle}"
_NAME_CLASSES = "name the classes ({classes=a,b})"


class RunWarning(NamedTuple):
    """Something odd that was accepted.

    Attributes
    ----------
    code : str
        A row of :data:`WARNINGS`, or a code of a reader.
    facts : dict
        What was found, as JSON takes it; of a reader the ``message``.
    source : str
        The input it is about; empty where it is about the whole run.

    Examples
    --------
    >>> print(RunWarning("LABEL-ONE", {"label": 1}))
    all examples have label 1: a model of one class tells nothing apart; check which column or \
field is the label, or name the classes (classes=['a', 'b'])
    """

    code: str
    facts: dict[str, Any]
    source: str = ""

    def text(self, render: Render = for_python) -> str:
        """Sentence for a reader, with the input in front."""
        row = WARNINGS.get(self.code)
        text = (
            row.text(**self.facts) if row and "message" not in self.facts else self.facts["message"]
        )
        return render(f"{self.source}: {text}" if self.source else text)

    def __str__(self) -> str:
        return self.text()

    @property
    def raised(self) -> bool:
        """Whether Python raises it as a UserWarning; else it is in the summary alone."""
        row = WARNINGS.get(self.code)
        return row is None or row.level == "warning"

    def to_json(self, render: Render = for_python) -> dict[str, str]:
        """Code and message, as a summary has them."""
        return {"code": self.code, "message": self.text(render)}


def of_stream(odd: Any) -> RunWarning:
    """Make a warning of one of :attr:`bearsketch.reading.stream.Stream.warnings`."""
    return RunWarning(odd.code, {"message": odd.message}, odd.source)


class Row(NamedTuple):
    """How loud a warning is, and its text.

    ``level`` is ``warning``, or ``note`` for what only a command and a summary say.
    """

    level: str
    text: Callable[..., str]


def _rare(
    labels: list[str],
    examples: int = 0,
    rest: int = 0,
    quantity: bool = False,
    alike: bool = False,
) -> str:
    """Labels that are written ``alike``, or rare ones.

    Each of those is a class, or (``rest`` > 0) they keep the rest from being classes.
    """
    if alike:
        return (
            f"labels {listed(labels)} differ only in case or blanks around them, and are different "
            "classes; write them alike"
        )
    one = len(labels) == 1
    if rest:
        what = f"alone make{'s' if one else ''} quantities of labels that would be {rest} classes"
    else:
        what = "is a class of its own" if one else "are classes of their own"
    told = (
        f"of the first {examples:,} examples, label{'' if one else 's'} {listed(labels)} {what}; "
        f"correct mistakes in the data, or {_NAME_CLASSES} to have other labels refused"
    )
    if quantity:
        told += "; if the labels are quantities, such as years, {loss=squared} predicts them"
    return told


def _leave_out(drops: bool) -> str:
    if drops:
        return "leave them out ({drop}; '' is a column without a name)"
    return "leave them out of the data"


def _scale(kind: str, columns: str, others: float = 1.0, drops: bool = False) -> str:
    values, leave_out = f"values of {columns}", _leave_out(drops)
    return {
        "growing": f"{values} grow along the data, as a row number or a time does, which can spoil "
        f"learning in one pass: {leave_out}, or {_SHUFFLE}",
        "large": f"{values} are far larger than the others (about {others:.3g}), which spoils the "
        f"learning of all: divide them, so that they are near 1, or {leave_out}",
        "small": f"{values} are far smaller than the others (about {others:.3g}), so one pass "
        "hardly learns their weights: multiply them, so that they are near 1",
        "far": f"{values} lie around a mean far from 0, which one pass learns slowly and may give "
        "the wrong sign: subtract the mean",
    }[kind]


def _target(value: float, place: str, far: int, known: int, low: float, high: float) -> str:
    return (
        f"the target {value:g}{f' of {place}' if place else ''} is far beyond the others (all but "
        f"{far} of {known:,} are between {low:g} and {high:g}), and may spoil all that is learned: "
        "if it is an error, leave the example out"
    )


def _features(empty: int, examples: int, reads: bool) -> str:
    why = ": are the reads shorter than the k-mers?" if reads else ""
    return f"{empty:,} of {examples:,} examples have no feature{why}"


def _one_label(label: Any) -> str:
    return (
        f"all examples have label {label}: a model of one class tells nothing apart; check which "
        f"column or field is the label, or {_NAME_CLASSES}"
    )


def _order(
    passes: int, runs: int = 0, examples: int = 0, expected: float = 0.0, rough: float | None = None
) -> str:
    """Labels in runs, or (``rough``) targets that hardly change from one to the next."""
    found = (
        f"labels come in long runs ({runs:,} runs in {examples:,} examples, about {expected:,.0f} "
        "in a random order)"
        if rough is None
        else "targets hardly change from one example to the next, as in sorted data (the mean "
        f"square of a step is {rough:.2g} of that in a random order)"
    )
    once, often = "one pass forgets what came first", "the model leans to what came last in a pass"
    return (
        f"{found}: {often if passes > 1 else once}, and the progressive figures say little; "
        f"{_SHUFFLE}"
    )


def _loss(what: str, found: float, guess: float) -> str:
    best = "the mean" if what == "RMSE" else "the shares of the labels"
    return (
        "in the second half of the data, predictions before learning were worse than always "
        f"giving {best} ({what} {found:.4g} against {guess:.4g}): numeric columns that grow along "
        "the data, data in a particular order, or features that tell nothing do this"
    )


def _small(verdict: str) -> str:
    return f"{verdict} ({{memory}}, {{k}}; {{planning}} says what a budget buys)"


def _format(learned: str, form: str, alike: bool) -> str:
    names = (
        "are called alike where numbers are numbers in both, and words are words: a number is "
        "another feature than a category of digits, and a text another than its words"
        if alike
        else "have different names"
    )
    return f"the model learned {learned} data and this is {form}: their features {names}"


def _ids(matrix: bool) -> str:
    if matrix:
        return (
            "the model learned ids of svmlight data, which begin with 1 as a rule, and takes the "
            "columns of X for them, which begin with 0: read X with load_svmlight_file(..., "
            "zero_based=True), or predict the batches of bearsketch.reading.open_like(model, file)"
        )
    return (
        "the model learned the columns of a matrix, which begin with 0, and takes the ids of this "
        "data for them, which begin with 1 as a rule: {zero-based ids}"
    )


def _unknown() -> str:
    return (
        "no example has one of the selected features: are the columns, fields, namespaces or words "
        "of this data called as those that the model learned?"
    )


def _missing(column: str, mean: bool) -> str:
    return (
        f"a missing number of column {column} is its mean in some of the models and 0 in others, "
        f"as their data had zeros there or not; here it is {'the mean' if mean else '0'}, as in "
        "the first"
    )


def _whole(busy: int, workers: int) -> str:
    return (
        f"compressed files and tables are not split: at most {busy} of {workers} workers have "
        "something to do at a time"
    )


def _lost(partitions: int) -> str:
    return f"{partitions} partitions were lost and are not in the model"


WARNINGS: dict[str, Row] = {
    "DATA-FEATURES": Row("warning", _features),
    "DATA-FORMAT": Row("warning", _format),
    "DATA-IDS": Row("warning", _ids),
    "DATA-LOSS": Row("warning", _loss),
    "DATA-ORDER": Row("warning", _order),
    "DATA-SCALE": Row("warning", _scale),
    "DATA-TARGET": Row("warning", _target),
    "DATA-UNKNOWN": Row("warning", _unknown),
    "DIST-PARTITION": Row("warning", _lost),
    "DIST-WHOLE": Row("note", _whole),
    # Python raises those of evidence where proven names are asked for.
    **{
        f"EVIDENCE-{what}": Row("note", str)
        for what in ("BATCH", "COPIES", "ORDER", "PASSES", "SORTED", "STRATA")
    },
    "LABEL-ONE": Row("warning", _one_label),
    "LABEL-RARE": Row("warning", _rare),
    "MEM-SMALL": Row("note", _small),  # Python asks for it: bearsketch.learners.noise.noise_of
    "MERGE-MISSING": Row("warning", _missing),
}


def listed(shown: list[str], most: int = 3) -> str:
    """Join some things in a sentence.

    Examples
    --------
    >>> listed(["a", "b", "c", "d"]), listed(["a"])
    ('a, b, c and 1 more', 'a')
    """
    few = shown[:most]
    if len(shown) > most:
        few.append(f"{len(shown) - most} more")
    return f"{', '.join(few[:-1])} and {few[-1]}" if len(few) > 1 else few[0]
