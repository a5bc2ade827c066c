"""``bearsketch predict``."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bearsketch.cli.checks import STANDARD, check_output, check_threads
from bearsketch.cli.display import make_display, watch_reading
from bearsketch.cli.model import load_model, open_like
from bearsketch.cli.notes import StreamNotes
from bearsketch.cli.options import Data, Model, Quiet, takes_reading
from bearsketch.escape import cell
from bearsketch.exceptions import ParameterError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from bearsketch.batch import Batch
    from bearsketch.learners import Learner

FORMS = ("tsv", "jsonl")
_UNCALIBRATED = (
    "probabilities are not calibrated: the model predicted fewer than 200 examples before it "
    "learned them"
)


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
    why: Annotated[
        int | None,
        typer.Option(
            "--why", metavar="N", help="Add the N features that move each prediction most."
        ),
    ] = None,
    min_proba: Annotated[
        float | None,
        typer.Option(
            metavar="P", help="Leave the prediction empty where its probability is below P."
        ),
    ] = None,
    to: Annotated[str, typer.Option(metavar="tsv|jsonl", help="Form of the output.")] = "tsv",
    threads: Annotated[
        int, typer.Option(metavar="N", help="Threads: one predicts, the rest read.")
    ] = 2,
    quiet: Quiet = False,
    reading: dict[str, Any],
) -> None:
    """Predict the label of each example, in the order of the data.

    A line has the example's number, its tag (empty without one) and the prediction. Broken examples
    that are skipped have a number too, but no line. Data is read as the model's own data was,
    unless options say otherwise; labels are not needed. Examples of a pipe are answered as they
    come.

    Probabilities are calibrated: in the first pass of training, each example is predicted before
    it is learned, and how often such predictions come true corrects those to come.

    --why adds the margin, its intercept, the N largest parts (weight times value) by the name of
    their feature, and the rest, so that the parts of a line add up to its margin. Each says whether
    its feature is proven to be associated with the label, at an FDR of 10 %. With two classes
    a positive part speaks for the second; with more, for the predicted class against the mean of
    all. Columns of numbers that were learned at mean 0 and size 1 count from their mean.

    **Examples**

    `bearsketch predict spam.bear new.vw.gz --proba > scores.tsv`

    `bearsketch predict spam.bear new.vw.gz --why 5`

    `bearsketch predict genomes.bear reads.fastq.gz --min-proba 0.9 -o named.tsv`

    `tail -n 100 log.jsonl | bearsketch predict log.bear --to jsonl`
    """
    from bearsketch.learners.learner import check_most
    from bearsketch.training.ahead import read_ahead

    if to not in FORMS:
        raise ParameterError(f"--to must be one of {', '.join(FORMS)}, got {to!r}")
    if min_proba is not None and not 0.0 < min_proba <= 1.0:
        raise ParameterError(f"--min-proba must be above 0 and at most 1, got {min_proba:g}")
    if why is not None:
        check_most(why, "--why")
    check_threads(threads)
    output = None if output == STANDARD else output
    if output is not None:
        check_output(output, [str(model), *(data or [])])
    learner = load_model(model)
    if proba and learner.config.loss == "squared":
        raise ParameterError("--proba needs classes, and this model predicts numbers")
    if min_proba is not None and learner.config.loss == "squared":
        raise ParameterError("--min-proba needs classes, and this model predicts numbers")
    if selected_only and learner.config.k == 0:
        raise ParameterError("--selected-only needs selected features, and this model has none")
    lines = Lines(learner, Wanted(to, proba, selected_only, why or 0, min_proba or 0.0))
    # A bar would mix with predictions on the same terminal.
    live = output is not None or not sys.stdout.isatty()
    options = {"names": why is not None, "threads": max(threads - 1, 1)}
    with (
        open_like(learner, data, reading, labelled=False, **options) as stream,
        make_display(quiet or not live) as display,
        _writing(output) as write,
        read_ahead(stream, threads) as batches,
    ):
        watch, notes = watch_reading(display, stream), StreamNotes(display, stream, learner)
        way = "selected_only" if selected_only else "all"
        if (proba or min_proba is not None) and learner.calibration[way] is None:
            display.note(_UNCALIBRATED)
        number, head = 0, lines.head
        if learner.naming != "id":
            write(head)  # whoever waits at a pipe sees it; columns by number may not fit the data
            head = ""
        for batch in batches:
            write(head + lines.lines(batch, number))
            head = ""
            number += len(batch)
            notes.show()
            watch(number)
        write(head)
        notes.show()
        notes.count_skipped()
        notes.count_blank()


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be said of each example."""

    to: str
    proba: bool
    selected_only: bool
    why: int
    min_proba: float


class Lines:
    """Lines of a batch of examples, each number formatted once: no call for each example."""

    def __init__(self, learner: Learner, wanted: Wanted) -> None:
        self._learner, self._wanted = learner, wanted
        self._json = wanted.to == "jsonl"
        labels = [learner.labels.label(number) for number in range(learner.config.n_classes)]
        classified = learner.config.loss != "squared"
        self._answers = [self._answer(label) for label in labels] if classified else []
        self._answers.append("null" if self._json else "")  # number -1: unknown
        self._shown = labels if wanted.proba else []
        self._proven = learner.proven_keys() if wanted.why else None
        self._quote = quoted if self._json else named_cell
        self.head = "" if self._json else self._make_head()
        self._form = self._make_form()

    def _answer(self, label: Any) -> str:
        return json.dumps(label) if self._json else cell(_plain(label))

    def _make_head(self) -> str:
        heads = ["example", "tag", "prediction", *(cell(f"p({x})") for x in self._shown)]
        if self._wanted.why:
            heads += ["margin", "intercept"]
            for i in range(1, self._wanted.why + 1):
                heads += [f"feature {i}", f"part {i}"]
                heads += [f"proven {i}"] if self._proven is not None else []
            heads.append("rest")
        return "\t".join(heads) + "\n"

    def _make_form(self) -> str:
        """Form of a line for ``%``: number, tag, answer, probabilities, reasons."""
        regression = not self._answers[:-1]
        if not self._json:
            answer = "%.10g" if regression else "%s"
            return "%d\t%s\t" + answer + "\t%.6g" * len(self._shown) + self._reasons + "\n"
        shares = ", ".join(f"{_escaped(json.dumps(str(x)))}: %r" for x in self._shown)
        shares = f', "probabilities": {{{shares}}}' if self._shown else ""
        answer = "%r" if regression else "%s"
        start = '{"example": %d, "tag": %s, "prediction": '
        return start + answer + shares + self._reasons + "}\n"

    @property
    def _reasons(self) -> str:
        return "%s" if self._wanted.why else ""

    def lines(self, batch: Batch, first: int) -> str:
        """Lines of a batch that ``first`` examples came before, if it does not know better."""
        wanted, texts = self._wanted, []
        if wanted.why:
            margins, reasons = self._learner.explained(
                batch,
                wanted.why,
                self._quote,
                json=self._json,
                selected_only=wanted.selected_only,
                proven=self._proven,
            )
            texts.append(reasons)
        else:
            margins = self._learner.predict_margin(batch, selected_only=wanted.selected_only)
        numbers: Iterable[int] = range(first + 1, first + len(batch) + 1)
        if batch.places is not None and batch.places.numbers is not None:
            numbers = batch.places.numbers.tolist()
        answers, shares = self._predicted(margins)
        rows = zip(numbers, self._tags(batch), answers, *shares, *texts, strict=True)
        return "".join(map(self._form.__mod__, rows))

    def _predicted(
        self, margins: npt.NDArray[np.float64]
    ) -> tuple[Iterable[Any], list[list[float]]]:
        """Answers, and columns of probabilities that are wanted."""
        wanted, learner = self._wanted, self._learner
        if learner.config.loss == "squared":
            return margins[:, 0].tolist(), []
        calibrated = learner.calibrated(margins, selected_only=wanted.selected_only)
        numbers = learner.class_numbers(calibrated)
        shares: list[list[float]] = []
        if wanted.proba or wanted.min_proba:
            p = learner.probabilities(margins, selected_only=wanted.selected_only)
            numbers[p.max(axis=1) < wanted.min_proba] = -1
            shares = p.T.tolist() if wanted.proba else []
        return map(self._answers.__getitem__, numbers.tolist()), shares

    def _tags(self, batch: Batch) -> Iterable[str]:
        if batch.tags is None:
            return repeat('""' if self._json else "", len(batch))
        return map(self._quote, batch.tags)


def _plain(label: Any) -> str:
    return f"{label:.10g}" if isinstance(label, float) else str(label)


def _escaped(text: str) -> str:
    return text.replace("%", "%%")


def named_cell(name: bytes) -> str:
    """Bytes of data as a cell of a table."""
    return cell(name.decode("utf-8", "backslashreplace"))


def quoted(name: bytes) -> str:
    """Bytes of data as text of JSON."""
    return json.dumps(name.decode("utf-8", "backslashreplace"))


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
