"""Training: the loop over a stream, from the first batch to the summary."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bearsketch.batch import Batch
from bearsketch.exceptions import LimitError, ParameterError
from bearsketch.learners import Learner, make_learner
from bearsketch.learners.describe import class_labels
from bearsketch.learners.labels import Label
from bearsketch.learners.narrow import keep_classes
from bearsketch.metrics import ClassScores, NumberScores, Scores, make_scores
from bearsketch.reading.expected import shown_label
from bearsketch.training.ahead import read_ahead
from bearsketch.training.checks import check_weighed, last_warnings, without_features
from bearsketch.training.curve import Curve
from bearsketch.training.first_rows import read_first_rows
from bearsketch.training.keeper import Keeper
from bearsketch.training.memory import bounded, check_cap, program_bytes
from bearsketch.training.order import Order
from bearsketch.training.process import peak_rss_bytes
from bearsketch.training.resume import TrainingRun
from bearsketch.training.scaling import scale_values
from bearsketch.training.scored import held_out, learn_unscored
from bearsketch.training.summary import Summary
from bearsketch.training.task import Task, decide, found_labels, named_labels
from bearsketch.training.warnings import RunWarning

if TYPE_CHECKING:
    from pathlib import Path

    from bearsketch.reading import Stream
    from bearsketch.training.checkpoint import Checkpoints

Watch = Callable[["Training"], None]


class Training:
    r"""One training run over a stream.

    Parameters
    ----------
    stream : Stream
        From :func:`bearsketch.reading.open_stream`, with ``include_unlabelled=False``.
    loss, classes, max_classes
        See :func:`bearsketch.training.task.decide`; detected from the first examples by default.
    passes : int
        Passes over the stream.
    holdout : float
        Share of examples, chosen by a hash of their number, that is not learned. After the last
        pass the stream is read once more to test the model on them.
    threads : int
        With 2 or more, batches are read ahead while others are learned. How many read, the stream
        has as its option ``threads``. The model is the same.
    checkpoint : Checkpoints, optional
        Where to write checkpoints, how often, and whether to continue from one. The run then takes
        Ctrl-C and SIGTERM between two batches and writes a checkpoint first. When its result is
        safe, ``checkpoint.forget()`` deletes them.
    max_memory : int, optional
        Bytes the process may have. A run whose formula gives more is refused before it learns;
        see :mod:`bearsketch.training.memory` for limits of the stream that keep to a cap.
    **parts
        Of :func:`bearsketch.make_learner`.

    Attributes
    ----------
    learner : Learner
        There once the first examples have told the task.
    task : Task
    scores : ClassScores or NumberScores
        Of the present pass, each example predicted before it was learned.
    examples, n_pass : int
        Examples so far in this pass; number of the pass, from 1.
    done, batches : int
        Examples of the passes before this one; with checkpoints, batches so far in this pass.
    warnings : list of RunWarning
        What is odd about the data; some of it is known only at the end.
    resumed, resumed_at : Path or None, int
        The checkpoint this run continued from, and the examples done by then.

    Examples
    --------
    >>> import io
    >>> from bearsketch.reading import open_stream
    >>> table = io.BytesIO(b"word,label\n" + b"free,spam\nlunch,ham\n" * 50)
    >>> stream = open_stream(table, "csv", include_unlabelled=False)
    >>> training = Training(stream, memory="4KiB", k=2)
    >>> training.run().examples, training.task.loss
    (100, 'logistic')
    """

    def __init__(
        self,
        stream: Stream,
        *,
        loss: str = "auto",
        classes: Sequence[Label] | None = None,
        max_classes: int | None = None,
        passes: int = 1,
        holdout: float = 0.0,
        threads: int = 2,
        checkpoint: Checkpoints | None = None,
        max_memory: int | None = None,
        **parts: Any,
    ) -> None:
        _check_holdout(holdout, stream)
        self.stream, self.passes, self.holdout = stream, passes, holdout
        stream.expect(named_labels(loss, classes))
        self._wanted: dict[str, Any] = {
            "loss": loss,
            "classes": classes,
            "max_classes": max_classes,
        }
        self._threads, self._parts = threads, parts
        self._checkpoint = checkpoint
        self._max_memory, self._program = max_memory, program_bytes()
        self.resumed: Path | None = None
        self.n_pass = self.examples = self.held_out = self.done = self.batches = 0
        self.resumed_at = 0
        self.task: Task
        self.learner: Learner
        self.scores: Scores
        self._first_scores: Scores
        self._loss = self._weight = 0.0
        self._first_loss: float | None = None
        self.curve = Curve()
        self.warnings: list[RunWarning] = []
        self.order: Order | None = None
        self._numbers: dict[Any, int] = {}
        self._held_scores: dict[str, Scores] | None = None
        self._seconds = 0.0

    @property
    def loss(self) -> float | None:
        """Mean loss of the present pass, each example predicted before it was learned."""
        return self._loss / self._weight if self._weight else None

    @property
    def classes(self) -> list[Label] | None:
        """Labels of the classes seen or named so far, by number; None for regression."""
        if self.task.loss == "squared":
            return None
        return list(self._numbers) if self.task.reserved else class_labels(self.learner)

    def run(self, watch: Watch | None = None) -> Summary:
        """Train; ``watch`` is called with this object after each batch."""
        start = time.perf_counter()
        if self.passes > 1:
            self.stream.check_reopens()
        with Keeper(TrainingRun(self), self._checkpoint) as keeper:
            resumed = keeper.resume()
            if not resumed:
                self._begin_pass(1)
            over = self.n_pass > self.passes
            self.resumed_at = self.done + (0 if over else self.examples)
            for number in range(self.n_pass, self.passes + 1):
                self._pass(keeper, watch, goes_on=resumed)
                resumed = False
                with keeper.between():
                    self._finish_pass()
                    if number < self.passes:
                        keeper.begin_pass()
                        self._begin_pass(number + 1)
                    elif self.holdout:
                        keeper.finish()
            if self.task.reserved:
                self.learner = keep_classes(self.learner, list(self._numbers))
            if self.holdout:
                self._test_held_out()
        first = self._first_scores
        targets = first if isinstance(first, NumberScores) else None
        met = (self.order, self.passes, self.curve.points(), targets)
        counts = self.stream.counts
        self.warnings += without_features(counts.empty, counts.examples, self.stream.format)
        named = self._wanted["classes"] is not None
        self.warnings += last_warnings(self.learner, *met, named=named)
        self._seconds = time.perf_counter() - start
        self.learner.run = self.record()
        return self.summary()

    def _begin_pass(self, number: int) -> None:
        self.n_pass, self.batches = number, 0
        self.examples = self.held_out = 0
        self._loss = self._weight = 0.0
        if number > 1:
            self.scores = make_scores(self.task.loss, self.learner.config.n_classes)

    def _pass(self, keeper: Keeper, watch: Watch | None, *, goes_on: bool) -> None:
        """One pass over the stream, or the rest of one that a checkpoint was written in."""
        batches, first = iter(self.stream), deque[Batch]()
        if not goes_on and self.n_pass == 1:
            first = self._settle(batches)
        self._expect()
        with read_ahead(batches, self._threads) as rest:
            ready = keeper.skip(rest) if goes_on else _drain(first, rest)
            for batch in ready:
                with keeper.learning(batch):
                    before = self.examples
                    self._learn(batch)
                    keeper.learned(batch, self.examples - before)
                if watch is not None:
                    watch(self)

    def _expect(self) -> None:
        if self._wanted["classes"] is None:
            self.stream.expect(found_labels(self.task))

    def _finish_pass(self) -> None:
        check_weighed(self.learner, self.examples - self.held_out)
        self.learner.finish_pass()
        self.done += self.examples
        if self.n_pass == 1:
            self._first_scores, self._first_loss = self.scores, self.loss

    def _settle(self, batches: Iterator[Batch]) -> deque[Batch]:
        """Find out the task from the first batches, make the learner, give the batches back."""
        given = self._wanted["classes"] is not None or self._wanted["loss"] == "squared"
        seen, first = read_first_rows(batches, lambda _: given)
        self.task = decide(seen, **self._wanted)
        self.warnings += self.task.warnings
        if self.task.reserved:
            self._numbers = {label: number for number, label in enumerate(self.task.classes or ())}
        classes = self.task.reserved or self.task.classes
        self.learner = make_learner(loss=self.task.loss, classes=classes, **self._parts)
        self.warnings += scale_values(self.learner, first, self.stream)
        self.scores = make_scores(self.task.loss, self.learner.config.n_classes)
        self.order = None if self.classes is None else Order(self.learner.config.n_classes)
        if self._max_memory is not None:
            limits = self.stream.options.limits
            needed = bounded(self.learner.config, limits, self._program, self._threads)
            check_cap(needed, self._max_memory)
        return first

    def _learn(self, batch: Batch) -> None:
        if self.holdout:
            out = held_out(self.examples, len(batch), self.holdout)
            self.held_out += int(out.sum())
            self.examples += int(out.sum())
            batch = batch.keep(~out)
        numbers = self._encode(batch)
        n = len(batch)
        batch, numbers = learn_unscored(self.learner, batch, numbers)
        right = self._right()
        progress = self.learner.learn_numbers(batch, numbers)
        self.scores.add(numbers, progress.margins, batch.weights)
        self._loss += progress.loss * progress.weight
        self._weight += progress.weight
        self.examples += n
        if self.n_pass == 1:
            if self.order is not None:
                self.order.add(numbers, batch.weights, batch.places)
            gained = None if right is None else (self._right() or 0.0) - right
            self.curve.add(
                progress.examples, progress.loss * progress.weight, progress.weight, gained
            )

    def _right(self) -> float | None:
        return self.scores.right if isinstance(self.scores, ClassScores) else None

    def _encode(self, batch: Batch) -> npt.NDArray[np.float64]:
        """Class numbers (or targets) of a batch; a class that is new gets a reserved place."""
        assert batch.labels is not None
        if self.task.reserved:
            for label in sorted(set(batch.labels.tolist())):
                if label not in self._numbers:
                    self._admit(label, batch)
            return np.array([self._numbers[label] for label in batch.labels.tolist()], dtype=float)
        self.learner.labels.met(batch.labels)
        return self.learner.labels.encode(batch.labels)

    def _admit(self, label: Any, batch: Batch) -> None:
        if len(self._numbers) >= self.task.reserved:
            raise LimitError(
                f"{_place(batch, label)}label {shown_label(label)} would be class "
                f"{len(self._numbers) + 1}, and room was kept for {self.task.reserved}",
                code="LABEL-CLASSES",
                hint="Raise {max_classes}.",
            )
        plain = int(label) if isinstance(label, float) and label.is_integer() else label
        self._numbers[plain] = len(self._numbers)

    def _test_held_out(self) -> None:
        config = self.learner.config
        ways = {"all": False, **({"selected_only": True} if config.k else {})}
        self._held_scores = {way: make_scores(config.loss, config.n_classes) for way in ways}
        number = 0
        self._expect()
        with read_ahead(self.stream, self._threads) as batches:
            for batch in batches:
                out = held_out(number, len(batch), self.holdout)
                number += len(batch)
                part = batch.keep(out)
                assert part.labels is not None
                numbers = self.learner.labels.encode(part.labels)
                for way, only in ways.items():
                    margins = self.learner.predict_margin(part, selected_only=only)
                    self._held_scores[way].add(numbers, margins, part.weights)

    def summary(self) -> Summary:
        """Results so far, or of the run once it is over."""
        learner, counts = self.learner, self.stream.counts
        first = self._first_scores
        two = first if isinstance(first, ClassScores) else None
        return Summary(
            learner=learner.config.learner,
            loss=learner.config.loss,
            k=learner.config.k,
            passes=self.passes,
            examples=counts.examples,
            skipped=counts.skipped,
            unlabelled=counts.unlabelled,
            held_out=self.held_out,
            split_batches=counts.other["split_batches"],
            classes=self.classes,
            n_classes=learner.config.n_classes,
            progressive_loss=self._first_loss,
            progressive_accuracy=two.accuracy if two else None,
            progressive_auc=two.auc if two else None,
            progressive_rmse=getattr(first, "rmse", None),
            progressive_r2=getattr(first, "r2", None),
            holdout=self._held_results(),
            model_bytes=learner.sizes.model_bytes,
            peak_rss_bytes=peak_rss_bytes(),
            seconds=round(self._seconds, 3),
            examples_per_second=round((self.done - self.resumed_at) / max(self._seconds, 1e-9), 1),
            guards=learner.guards,
            warnings=list(self.warnings),
        )

    def _held_results(self) -> dict[str, Any] | None:
        if self._held_scores is None:
            return None
        results = self._held_scores["all"].to_json()
        only = self._held_scores.get("selected_only")
        return {**results, **({"selected_only": only.to_json()} if only else {})}

    def record(self) -> dict[str, Any]:
        """Tell the model file what to remember: no times, no folders, so equal runs are equal."""
        from bearsketch.reading.remember import read_record

        summary = self.summary().to_json()
        counts = self.stream.counts
        progressive = [name for name in summary if name.startswith("progressive_")]
        return {
            **{name: summary[name] for name in ("passes", "held_out", *progressive, "holdout")},
            **read_record(self.stream),
            "counts": {
                name: getattr(counts, name)
                for name in "lines examples unlabelled skipped blank comment header empty".split()
            },
            "skipped_by_code": dict(sorted(counts.skipped_by_code.items())),
            "holdout_share": self.holdout,
            "max_classes": self._wanted["max_classes"],
            "curve": self.curve.points(),
        }


def _check_holdout(holdout: float, stream: Stream) -> None:
    if not 0.0 <= holdout < 1.0:
        raise ParameterError(f"holdout must be a share from 0 to below 1, got {holdout!r}")
    if holdout and not stream.reopens:
        raise ParameterError(
            "holdout reads the data once more to test the model, and this input can be read "
            "only once",
            hint="Save the input as a file, or watch the progressive loss instead.",
        )


def _drain(first: deque[Batch], rest: Iterator[Batch]) -> Iterator[Batch]:
    while first:
        yield first.popleft()
    yield from rest


def _place(batch: Batch, label: Any) -> str:
    if batch.places is None or batch.labels is None:
        return ""
    source, line = batch.places.of(int(np.argmax(batch.labels == label)))
    return f"{source}:{line}: "
