"""What a command says about its data and its results."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from bearsketch.escape import shown_name
from bearsketch.sizes import format_bytes
from bearsketch.training.warnings import RunWarning, of_stream
from bearsketch.wording import for_command

if TYPE_CHECKING:
    from bearsketch.cli.display import Display
    from bearsketch.learners import Learner
    from bearsketch.reading import Stream

# Formats that name features alike.
_FAMILIES = {"tsv": "csv", "parquet": "csv", "arrow": "csv", "fastq": "fasta"}
_SHOWN_COLUMNS = 5


def family(form: str) -> str:
    """Give the format whose features have the same names.

    Examples
    --------
    >>> family("parquet"), family("vw")
    ('csv', 'vw')
    """
    return _FAMILIES.get(form, form)


class StreamNotes:
    """Shows what is new about a stream: warnings, and lines that were skipped."""

    def __init__(self, display: Display, stream: Stream, learner: Learner | None = None) -> None:
        self._display, self._stream, self._learner = display, stream, learner
        self._format = False
        self._warnings = self._errors = 0

    def show(self) -> None:
        """Show warnings and skipped lines."""
        if not self._format and self._stream.format != "auto":
            self._format = True
            self._check_format()
        for odd in self._stream.warnings[self._warnings :]:
            self._display.warn(of_stream(odd))
        self._warnings = len(self._stream.warnings)
        self.show_skipped()

    def show_skipped(self) -> None:
        """Show lines that were skipped."""
        for error in self._stream.errors[self._errors :]:
            self._display.note(f"skipped[{error.code}] {error.text(for_command)}")
        self._errors = len(self._stream.errors)

    def _check_format(self) -> None:
        """Warn of data whose features are named otherwise than those of the model."""
        form = family(self._stream.format)
        learned = None if self._learner is None else self._learner.run.get("format")
        if learned is not None and family(learned) != form:
            alike = {family(learned), form} == {"csv", "jsonl"}
            facts = {"learned": learned, "form": form, "alike": alike}
            self._display.warn(RunWarning("DATA-FORMAT", facts))

    def count_skipped(self) -> None:
        """Show how many lines were skipped, where not all were shown."""
        if (n := self._stream.counts.skipped) > self._errors:
            self._display.note(f"{n:,} skipped in all, of which the first {self._errors} are shown")

    def count_blank(self) -> None:
        """Show how many lines were blank: they are no examples, and have no prediction."""
        if n := self._stream.counts.blank:
            lines = "line is no example" if n == 1 else "lines are no examples"
            self._display.note(
                f"{n:,} blank {lines}: what follows has the number of its example, not of its line"
            )


def scaled_columns(learner: Learner) -> dict[str, tuple[str, ...]]:
    """Columns of numbers by how they are learned, in words."""
    if learner.scaling is None:
        return {}
    found: dict[str, tuple[str, ...]] = {}
    scaling = learner.scaling
    columns = zip(scaling.shown(), scaling.changes(), scaling.means, scaling.missing, strict=True)
    for name, changes, mean, missing in columns:
        if not changes:
            continue
        absent = "the mean" if missing else "0"
        how = f"learned at mean 0 and size 1, a missing one counts as {absent}"
        how = how if mean else "learned at size 1"
        found[how] = (*found.get(how, ()), name)
    return found


def some_columns(columns: tuple[str, ...]) -> str:
    """Names of the first columns, and how many more there are."""
    shown = ", ".join(map(shown_name, columns[:_SHOWN_COLUMNS]))
    rest = len(columns) - _SHOWN_COLUMNS
    return shown + (f" and {rest} more" if rest > 0 else "")


def progressive_text(run: dict[str, Any]) -> str:
    """Progressive results in words, from the JSON of a summary or of a model."""
    results = {name.removeprefix("progressive_"): value for name, value in run.items()}
    if results.get("rmse") is not None:
        results.pop("loss", None)
    return results_text(results)


def results_text(results: dict[str, Any]) -> str:
    """Results of a test in words."""
    names = {"loss": "loss", "accuracy": "accuracy", "auc": "AUC", "log_loss": "log-loss"}
    names |= {"rmse": "RMSE", "r2": "R2"}
    return ", ".join(
        f"{name} {result_number(key, results[key])}"
        for key, name in names.items()
        if results.get(key) is not None
    )


def wrote_text(path: Path, learner: Learner) -> str:
    """Say that a model was written, and what makes its file larger than the memory asked for."""
    size, model = path.stat().st_size, learner.config.sizes.model_bytes
    if size <= model:
        return f"wrote {path} ({format_bytes(size)})"
    rest = format_bytes(size - model)
    return (
        f"wrote {path} ({format_bytes(size)}: {format_bytes(model)} of memory, {rest} for names, "
        "evidence and the record of the run)"
    )


def result_number(key: str, value: float) -> str:
    """Show a result: that of a regression has the size of its targets, which may be any.

    Examples
    --------
    >>> result_number("accuracy", 0.5), result_number("rmse", 82773.7), result_number("rmse", 1e-7)
    ('0.5000', '82,774', '1e-07')
    """
    if key not in ("rmse", "r2"):
        return f"{value:.4f}"
    return f"{value:,.0f}" if 1e4 <= abs(value) < 1e9 else f"{value:.4g}"
