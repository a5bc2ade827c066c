"""``bearsketch predict``."""

from __future__ import annotations

import contextlib
import json
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bearsketch.cli.checks import STANDARD, check_output
from bearsketch.cli.display import make_display, watch_reading
from bearsketch.cli.model import load_model, open_like
from bearsketch.cli.options import Data, Model, Quiet, takes_reading
from bearsketch.cli.told import Told
from bearsketch.escape import cell
from bearsketch.exceptions import ParameterError

if TYPE_CHECKING:
    from bearsketch.batch import Batch
    from bearsketch.learners import Learner

FORMS = ("tsv", "jsonl")


@takes_reading
def predict(
    model: Model,
    data: Data = None,
    *,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Where to write. [standard output]"),
    ] = None,
    proba: Annotated[
        bool, typer.Option("--proba", help="Add the probability of each class.")
    ] = False,
    selected_only: Annotated[
        bool, typer.Option("--selected-only", help="Predict with the k named features alone.")
    ] = False,
    to: Annotated[str, typer.Option(metavar="tsv|jsonl", help="Form of the output.")] = "tsv",
    quiet: Quiet = False,
    reading: dict[str, Any],
) -> None:
    """Predict the label of each example, in the order of the data.

    A line has the example's number, its tag (empty without one) and the prediction. Broken examples
    that are skipped have a number too, but no line. Data is read as the model's own data was,
    unless options say otherwise; labels are not needed. Examples of a pipe are answered as they
    come.

    **Examples**

    `bearsketch predict spam.bear new.vw.gz --proba > scores.tsv`

    `tail -n 100 log.jsonl | bearsketch predict log.bear --to jsonl`
    """
    if to not in FORMS:
        raise ParameterError(f"--to must be one of {', '.join(FORMS)}, got {to!r}")
    output = None if output == STANDARD else output
    if output is not None:
        check_output(output, [str(model), *(data or [])])
    learner = load_model(model)
    if proba and learner.config.loss == "squared":
        raise ParameterError("--proba needs classes, and this model predicts numbers")
    if selected_only and learner.config.k == 0:
        raise ParameterError("--selected-only needs selected features, and this model has none")
    form = _Tsv(learner, proba) if to == "tsv" else _JsonLines(learner, proba)
    # A bar would mix with predictions on the same terminal.
    live = output is not None or not sys.stdout.isatty()
    with (
        open_like(learner, data, reading, labelled=False) as stream,
        make_display(quiet or not live) as display,
        _writing(output) as write,
    ):
        watch, told, number = watch_reading(display, stream), Told(display, stream, learner), 0
        head = form.head
        if learner.naming != "id":
            write(head)  # whoever waits at a pipe sees it; columns by number may not fit the data
            head = ""
        for batch in stream:
            write("".join([head, *form.lines(batch, number, selected_only)]))
            head = ""
            number += len(batch)
            told.stream()
            watch(number)
        write(head)
        told.stream()
        told.skipped()
        told.blank()


class _Form(ABC):
    """How predictions look: a head, and a line for each example."""

    head = ""

    def __init__(self, learner: Learner, proba: bool) -> None:
        self._learner, self._proba = learner, proba
        numbers = range(learner.config.n_classes if proba else 0)
        self.labels = [learner.labels.label(number) for number in numbers]

    def lines(self, batch: Batch, first: int, selected_only: bool) -> Iterator[str]:
        """Lines of a batch that ``first`` examples came before, if it does not know better."""
        guesses = self._learner.predict(batch, selected_only=selected_only).tolist()
        shares: list[Any] = [None] * len(batch)
        if self._proba:
            shares = self._learner.predict_proba(batch, selected_only=selected_only).tolist()
        tags = batch.tags or [b""] * len(batch)
        numbers: Iterable[int] = range(first + 1, first + len(batch) + 1)
        if batch.places is not None and batch.places.numbers is not None:
            numbers = batch.places.numbers.tolist()
        for number, guess, tag, share in zip(numbers, guesses, tags, shares, strict=True):
            yield self._line(number, tag.decode("utf-8", "backslashreplace"), guess, share)

    @abstractmethod
    def _line(self, number: int, tag: str, guess: Any, share: list[float] | None) -> str:
        """One example's line."""


class _Tsv(_Form):
    def __init__(self, learner: Learner, proba: bool) -> None:
        super().__init__(learner, proba)
        shares = [cell(f"p({label})") for label in self.labels]
        self.head = "\t".join(["example", "tag", "prediction", *shares]) + "\n"

    def _line(self, number: int, tag: str, guess: Any, share: list[float] | None) -> str:
        shown = f"{guess:.10g}" if isinstance(guess, float) else cell(str(guess))
        parts = [str(number), cell(tag), shown, *(f"{p:.6g}" for p in share or ())]
        return "\t".join(parts) + "\n"


class _JsonLines(_Form):
    def _line(self, number: int, tag: str, guess: Any, share: list[float] | None) -> str:
        record = {"example": number, "tag": tag, "prediction": guess}
        if share is not None:
            record["probabilities"] = dict(zip(map(str, self.labels), share, strict=True))
        return json.dumps(record) + "\n"


def _answer(text: str) -> None:
    """Write to standard output, at once: someone may wait for it."""
    sys.stdout.write(text)
    sys.stdout.flush()


@contextlib.contextmanager
def _writing(output: Path | None) -> Iterator[Callable[[str], Any]]:
    """Give a function that writes to standard output, or to a file that is whole or not there."""
    if output is None:
        yield _answer
        return
    from bearsketch.files import open_whole

    with open_whole(output) as file:
        yield lambda text: file.write(text.encode("utf-8", "backslashreplace"))
