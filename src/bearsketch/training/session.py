"""A session: one run of learning over examples, whoever drives it.

    first rows -> task, labels, scaling -> each batch: predict, score, learn -> warnings, summary

``train``, ``fit``, ``fit_stream``, ``partial_fit`` and the task of a worker drive the same object.
What they want to hear of it, they hear as a :class:`Sink`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bearsketch.batch import Batch
from bearsketch.exceptions import ParameterError
from bearsketch.learners import Learner
from bearsketch.learners.labels import Label
from bearsketch.learners.parts import check_number
from bearsketch.metrics import Scores, make_scores
from bearsketch.reading.account import Counts
from bearsketch.training.ahead import read_ahead
from bearsketch.training.checks import check_weighed, last_warnings, without_features
from bearsketch.training.first_rows import FirstRows, read_first_rows
from bearsketch.training.labelling import Labelling, NewLabels
from bearsketch.training.memory import bounded, check_cap, program_bytes
from bearsketch.training.process import peak_rss_bytes
from bearsketch.training.progressive import Numbers, Progressive
from bearsketch.training.resuming import Checkpointing
from bearsketch.training.scaling import Naming, scale_values
from bearsketch.training.summary import Summary
from bearsketch.training.task import Task
from bearsketch.training.warnings import RunWarning, of_stream

if TYPE_CHECKING:
    from pathlib import Path

    from bearsketch.reading import Stream
    from bearsketch.training.checkpoint import Checkpoints

# Examples that are learned and scored at a time, in whole minibatches: a point of the curve.
PART_EXAMPLES = 480
LINE_COUNTS = "lines examples unlabelled skipped blank comment header empty".split()


class Sink:
    """Hears of a session; each method does nothing."""

    def begun(self, session: Session) -> None:
        """Hear that the task is decided, and the learner made or restored."""

    def warned(self, warning: RunWarning) -> None:
        """Hear of something odd, once."""

    def pass_begun(self, session: Session) -> None:
        """Hear that a pass begins."""

    def reading(self, session: Session) -> None:
        """Hear that a batch has come and will be learned."""

    def learned(self, session: Session) -> bool | None:
        """Hear that a batch was learned; true ends the pass."""

    def pass_read(self, session: Session) -> None:
        """Hear that all batches of a pass were learned."""

    def pass_ended(self, session: Session) -> bool | None:
        """Hear that a pass is over; true ends the run."""

    def ended(self, session: Session) -> None:
        """Hear that all is over."""


class _Watching(Sink):
    """A function that is called after each batch."""

    def __init__(self, watch: Callable[[Session], Any]) -> None:
        self._watch = watch

    def learned(self, session: Session) -> None:
        self._watch(session)


class Session:
    r"""One run of learning.

    Parameters
    ----------
    source : Stream or iterable of Batch
        Iterated once for each pass. A stream is opened with ``include_unlabelled=False``.
    labelling : Labelling, optional
        Decides the task and turns labels into numbers. Default: :class:`NewLabels` of ``wanted``.
    passes : int
    holdout : float
        Share of examples, chosen by a hash of their number, that is not learned. After the last
        pass the stream is read once more to test the model on them.
    threads : int
        With 2 or more, batches are read ahead while others are learned. The model is the same.
    checkpoint : Checkpoints, optional
        Where to write checkpoints, how often, and whether to continue from one. The run then takes
        Ctrl-C and SIGTERM between two batches and writes a checkpoint first. When its result is
        safe, ``checkpoint.forget()`` deletes them.
    max_memory : int, optional
        Bytes the process may have. A run whose formula gives more is refused before it learns;
        see :mod:`bearsketch.training.memory` for limits of the stream that keep to a cap.
    sinks : sequence of Sink
    naming : callable, optional
        From a key to its name, where batches do not know it.
    stream : Stream, optional
        What the batches come from, where ``source`` is not the stream itself.
    **wanted
        ``loss``, ``classes`` and ``max_classes`` of :func:`bearsketch.training.task.decide`, and
        parts of :func:`bearsketch.make_learner`.

    Attributes
    ----------
    learner : Learner
        There once the task is decided.
    task : Task
    progressive, first : Progressive
        Results of the present pass, and of the first.
    examples, held_out : int
        Examples so far in this pass, and those of them that were not learned.
    n_pass, done, batches : int
        Number of the pass, from 1; examples of the passes before; batches of this one.
    warnings : list of RunWarning
    counts : Counts
        Lines of the pass by what became of them.
    resumed, resumed_at : Path or None, int
        The checkpoint this run continued from, and the examples done by then.

    Examples
    --------
    >>> import io
    >>> from bearsketch.reading import open_stream
    >>> table = io.BytesIO(b"word,label\n" + b"free,spam\nlunch,ham\n" * 50)
    >>> stream = open_stream(table, "csv", include_unlabelled=False)
    >>> session = Session(stream, memory="4KiB", k=2)
    >>> session.run().examples, session.task.loss
    (100, 'logistic')
    """

    def __init__(
        self,
        source: Iterable[Batch],
        labelling: Labelling | None = None,
        *,
        passes: int = 1,
        holdout: float = 0.0,
        threads: int = 2,
        checkpoint: Checkpoints | None = None,
        max_memory: int | None = None,
        sinks: Sequence[Sink] = (),
        naming: Naming | None = None,
        stream: Stream | None = None,
        **wanted: Any,
    ) -> None:
        self.source: Any = source
        self.stream: Any = self.source if hasattr(source, "check_reopens") else stream
        _check_holdout(holdout, self.stream)
        check_number("passes", passes)
        self.labelling = labelling or NewLabels(**wanted)
        self.passes, self.holdout, self.sinks = passes, holdout, list(sinks)
        self._threads, self._naming = threads, naming
        self._checkpointing = Checkpointing(self, checkpoint)
        self._max_memory, self._program = max_memory, program_bytes()
        self.learner: Learner
        self.task: Task
        self.progressive: Progressive
        self.first: Progressive
        self.warnings: list[RunWarning] = []
        self.resumed: Path | None = None
        self.n_pass = self.examples = self.held_out = self.done = self.batches = 0
        self.resumed_at, self.begun = 0, False
        self.seconds, self.data_format = 0.0, ""
        self._counts = Counts()
        self._held_scores: dict[str, Scores] | None = None
        self._stream_warnings = 0
        self._expect()

    # What is known at any moment

    @property
    def classes(self) -> list[Label] | None:
        """Labels of the classes seen or named so far, by number; None for regression."""
        return None if self.task.loss == "squared" else self.labelling.classes()

    @property
    def counts(self) -> Counts:
        """Lines of the pass by what became of them."""
        # A frame is read before its session, and its labels stand beside it.
        own = self.stream is None or self.stream.options.labels == "none"
        return self._counts if own else self.stream.counts

    # The run

    def run(self, watch: Callable[[Session], Any] | None = None) -> Summary:
        """Learn all passes; ``watch`` is called with this object after each batch."""
        start = time.perf_counter()
        if watch is not None:
            self.sinks.append(_Watching(watch))
        if self.passes > 1 and self.stream is not None:
            self.stream.check_reopens()
        with self._checkpointing as keeping:
            resumed = keeping.resume()
            if resumed:
                self.resumed_at = self.done + (0 if self.n_pass > self.passes else self.examples)
            else:
                self.begin_pass(1)
            for number in range(self.n_pass, self.passes + 1):
                self.learn_pass(goes_on=resumed)
                resumed = False
                with keeping.between():
                    self.finish_pass()
                    stopped = self._emit("pass_ended")
                    if number < self.passes and not stopped:
                        self.begin_pass(number + 1)
                    elif self.holdout:
                        keeping.finish()
                if stopped:
                    break
            self.learner = self.labelling.settle(self.learner, over=True)
            if self.holdout:
                self._test_held_out()
        self.conclude()
        self.seconds = time.perf_counter() - start
        self.learner.run = self.record()
        self._emit("ended")
        return self.summary()

    def begin(self, first: FirstRows | None = None) -> None:
        """Decide the task by the first rows, make the learner, scale it, and warn."""
        self.task, self.learner = self.labelling.start(first)
        self._new_progressive()
        found = list(self.task.warnings)
        if first is not None:
            found += scale_values(self.learner, first.batches, self.stream, self._naming)
        if self._max_memory is not None:
            limits = self.stream.options.limits
            needed = bounded(self.learner.config, limits, self._program, self._threads)
            check_cap(needed, self._max_memory)
        self.begun = True
        self._emit("begun")
        for warning in found:
            self.warn(warning)

    def scale(self, batches: Collection[Batch]) -> None:
        """Scale a new learner by its first examples, and warn of values that do harm."""
        for warning in scale_values(self.learner, batches, self.stream, self._naming):
            self.warn(warning)

    def begin_pass(self, number: int) -> None:
        """Begin a pass; the first one still has to find the task."""
        self.n_pass, self.batches = number, 0
        self.examples = self.held_out = 0
        self._checkpointing.begin_pass()
        if number > 1:
            self._new_progressive()

    def learn_pass(self, *, goes_on: bool = False) -> None:
        """Learn one pass, or the rest of one that a checkpoint was written in."""
        batches = iter(self.source)
        first: FirstRows | None = None
        if not goes_on and self.n_pass <= 1:
            if self.labelling.needs_rows:
                capped = self._max_memory is not None
                first = read_first_rows(batches, self.labelling.enough, capped=capped)
            if not self.begun:
                self.begin(first)
        self._expect()
        self._emit("pass_begun")
        with read_ahead(batches, self._threads) as rest:
            ready = self._checkpointing.skip(rest) if goes_on else _drain(first, rest)
            if goes_on:
                self._emit("begun")
            for batch in ready:
                if self.learn(batch):
                    break
        self._hear_stream()
        self._emit("pass_read")

    def learn(self, batch: Batch) -> bool:
        """Learn a batch, each example predicted and scored before; true: end the pass."""
        self._emit("reading")
        with self._checkpointing.learning(batch):
            before, kept = self.examples, batch
            if self.holdout:
                out = held_out(self.examples, len(batch), self.holdout)
                self.held_out += int(out.sum())
                self.examples += int(out.sum())
                kept = batch.keep(~out)
            numbers = self.labelling.encode(kept)
            for rows in _parts(len(kept), self._part_rows):
                self._learn_part(kept.rows(rows.start, rows.stop), numbers[rows])
            self._checkpointing.learned(batch, self.examples - before)
        self._hear_stream()
        return self._emit("learned")

    def _learn_part(self, part: Batch, numbers: Numbers) -> None:
        n, minibatch = len(part), self.learner.config.batch_size
        first = self.task.loss == "squared" and not self.learner.counters["examples"]
        if first and n > minibatch:
            # Before the first minibatch nothing is known of the size of targets: predicted as 0,
            # such around a million would count for more than all that come after.
            self.learner.learn_numbers(part.rows(0, minibatch), numbers[:minibatch])
            part, numbers = part.rows(minibatch, n), numbers[minibatch:]
        progress = self.learner.learn_numbers(part, numbers)
        self.progressive.add(part, numbers, progress)
        self.examples += n

    def finish_pass(self) -> None:
        """Tell the learner that a pass is over."""
        self.labelling.settle(self.learner, over=False)
        check_weighed(self.learner, self.examples - self.held_out)
        self.learner.finish_pass()
        self.done += self.examples
        if self.n_pass == 1:
            self.first = self.progressive

    def conclude(self) -> None:
        """Warn of what only the end of a run tells."""
        if not self._counts.lines:
            self._counts.lines = self._counts.examples = self.examples
        self._hear_stream()
        counts = self.counts
        form = self.data_format if self.stream is None else self.stream.format
        for warning in without_features(counts.empty, counts.examples, form):
            self.warn(warning)
        for warning in last_warnings(self.learner, self.first, self.passes, self.labelling):
            self.warn(warning)

    def _new_progressive(self) -> None:
        self.progressive = Progressive(self.task.loss, self.learner.config.n_classes)
        if self.n_pass <= 1:
            self.first = self.progressive

    @property
    def _part_rows(self) -> int:
        size = self.learner.config.batch_size
        return size * max(PART_EXAMPLES // size, 1)

    def _expect(self) -> None:
        if self.stream is not None:
            self.stream.expect(self.labelling.expected())

    # What sinks hear

    def warn(self, warning: RunWarning) -> None:
        """Keep a warning, and let the sinks hear it: the only place that warns."""
        self.warnings.append(warning)
        for sink in self.sinks:
            sink.warned(warning)

    def _hear_stream(self) -> None:
        if self.stream is not None:
            new = self.stream.warnings[self._stream_warnings :]
            self._stream_warnings += len(new)
            for odd in new:
                self.warn(of_stream(odd))

    def _emit(self, event: str) -> bool:
        asked = [getattr(sink, event)(self) for sink in self.sinks]
        return any(asked)

    # The results

    def _test_held_out(self) -> None:
        config = self.learner.config
        ways = {"all": False, **({"selected_only": True} if config.k else {})}
        self._held_scores = {
            way: make_scores(config.loss, config.n_classes, probabilities=True) for way in ways
        }
        number = 0
        self._expect()
        with read_ahead(self.source, self._threads) as batches:
            for batch in batches:
                out = held_out(number, len(batch), self.holdout)
                number += len(batch)
                part = batch.keep(out)
                assert part.labels is not None
                numbers = self.learner.labels.encode(part.labels)
                for way, only in ways.items():
                    margins = self.learner.predict_margin(part, selected_only=only)
                    calibrated = self.learner.calibrated(margins, selected_only=only)
                    self._held_scores[way].add(numbers, calibrated, part.weights)

    def _held_results(self) -> dict[str, Any] | None:
        if self._held_scores is None:
            return None
        results = self._held_scores["all"].to_json()
        only = self._held_scores.get("selected_only")
        return {**results, **({"selected_only": only.to_json()} if only else {})}

    def summary(self) -> Summary:
        """Results so far, or of the run once it is over."""
        learner, counts = self.learner, self.counts
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
            **self.first.results(),
            holdout=self._held_results(),
            model_bytes=learner.sizes.model_bytes,
            peak_rss_bytes=peak_rss_bytes(),
            seconds=round(self.seconds, 3),
            examples_per_second=round((self.done - self.resumed_at) / max(self.seconds, 1e-9), 1),
            guards=learner.guards,
            warnings=list(self.warnings),
        )

    def record(self) -> dict[str, Any]:
        """Tell the model file what to remember: no times, no folders, so equal runs are equal."""
        from bearsketch.reading.remember import read_record

        counts = self.counts
        own = {
            "passes": self.passes,
            "held_out": self.held_out,
            **self.first.results(),
            "holdout": self._held_results(),
            **({} if self.stream is None else read_record(self.stream)),
            "counts": {name: getattr(counts, name) for name in LINE_COUNTS},
            "skipped_by_code": dict(sorted(counts.skipped_by_code.items())),
            "holdout_share": self.holdout,
            "curve": self.first.curve.points(),
        }
        return self.labelling.record(own)


def held_out(first: int, n: int, share: float) -> npt.NDArray[np.bool_]:
    """Which of the examples ``first`` to ``first + n`` are held out: a hash of the number decides.

    Examples
    --------
    >>> int(held_out(0, 10_000, 0.1).sum())
    1049
    """
    x = np.arange(first + 1, first + n + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        x = (x ^ (x >> np.uint64(shift))) * np.uint64(factor)
    return np.asarray((x ^ (x >> np.uint64(31))) < np.uint64(int(share * 2**64)))


def _check_holdout(holdout: float, stream: Any) -> None:
    if not 0.0 <= holdout < 1.0:
        raise ParameterError(f"holdout must be a share from 0 to below 1, got {holdout!r}")
    if holdout and (stream is None or not stream.reopens):
        raise ParameterError(
            "holdout reads the data once more to test the model, and this input can be read "
            "only once",
            hint="Save the input as a file, or watch the progressive loss instead.",
        )


def _drain(first: FirstRows | None, rest: Iterator[Batch]) -> Iterator[Batch]:
    """Batches that were kept, each let go when it is given, and those that follow."""
    while first is not None and first.batches:
        yield first.batches.popleft()
    yield from rest


def _parts(n: int, rows: int) -> Iterator[slice]:
    for start in range(0, max(n, 1), rows):
        yield slice(start, min(start + rows, n))
