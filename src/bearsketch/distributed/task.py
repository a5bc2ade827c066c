"""The task of a worker: a pure function of a model, a partition and how to read it."""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

from bearsketch import __version__
from bearsketch.batch import Batch
from bearsketch.distributed.shards import Partition
from bearsketch.exceptions import IncompatibleError, ParseError
from bearsketch.learners import Learner
from bearsketch.reading.encoding import NOT_UTF8
from bearsketch.reading.expected import Expected
from bearsketch.training.ahead import read_ahead
from bearsketch.training.labelling import ModelLabels
from bearsketch.training.session import LINE_COUNTS, Session, Sink

Found = tuple[dict[str, int], dict[str, int], list[str], list[tuple[str, str, str]]]
Beat = Callable[[int], None]
MOST_ERRORS = 2**62
# Batches that are read while models are merged: a place is for up to so many entries, about 1 MB.
_WAITING, _ENTRIES = 12, 1 << 16


@dataclass(frozen=True, slots=True)
class Job:
    """What all tasks of a run have in common.

    Attributes
    ----------
    format : str
        Format of the files, decided by whoever made the plan.
    options : dict
        Of :func:`bearsketch.reading.open_stream`, so complete that no worker has to detect
        anything.
    version : str
        Of bearsketch; a worker of another one refuses.
    expected : Expected, optional
        Labels that examples may have.
    alone : bool
        Whether there is one partition in all; others share the tests of their features.
    """

    format: str
    options: Mapping[str, Any]
    version: str = __version__
    expected: Expected | None = None
    alone: bool = False


@dataclass(frozen=True, slots=True)
class Result:
    """What a task gives back; equal tasks give equal results.

    ``counts`` are lines by what became of them; ``progressive`` are the bytes of a
    :class:`bearsketch.training.progressive.Progressive`.
    """

    partition: int
    examples: int
    counts: dict[str, int]
    skipped_by_code: dict[str, int]
    errors: list[str]
    warnings: list[tuple[str, str, str]]
    progressive: bytes = field(repr=False)
    model: bytes = field(repr=False)

    @property
    def digest(self) -> str:
        """Hash of all of it."""
        large = ("progressive", "model")
        plain = {name: value for name, value in asdict(self).items() if name not in large}
        text = json.dumps(plain, sort_keys=True).encode()
        return hashlib.sha256(text + self.progressive + self.model).hexdigest()


class Round(NamedTuple):
    """What a runner is asked for: the model that each of some partitions continues from.

    ``beat`` is called with a partition's number and its examples so far. Those ``coming`` in the
    next round may be got ready.
    """

    model: bytes
    parts: Sequence[Any]
    job: Job
    beat: Any = None
    coming: Sequence[Any] = ()


class Opened(NamedTuple):
    """A partition that can be learned now: batches, and what was found on the way to them."""

    partition: Any
    job: Job
    batches: Iterable[Batch]
    found: Callable[[int], Found]
    closing: contextlib.ExitStack


def open_partition(partition: Any, job: Job, *, ahead: bool = False) -> Opened:
    """Open a partition; ``ahead`` reads its first batches at once, on a thread."""
    with contextlib.ExitStack() as closing:
        batches, found = closing.enter_context(_batches_of(partition, job))
        if ahead:
            batches = closing.enter_context(
                read_ahead(batches, depth=_WAITING, places=lambda b: 1 + b.n_entries // _ENTRIES)
            )
        return Opened(partition, job, batches, found, closing.pop_all())


def learn_partition(
    model: bytes, partition: Any, job: Job, beat: Beat | None = None, opened: Opened | None = None
) -> Result:
    """Learn a partition, continuing from a model.

    Parameters
    ----------
    model : bytes
        A model file; its seal is checked, so that a damaged message is noticed.
    partition : Partition or Block
    job : Job
    beat : callable, optional
        Called after each batch with the number of examples so far.
    opened : Opened, optional
        The partition, where it has been opened before. It is closed in any case.

    Returns
    -------
    Result
        Its model is sealed in turn.
    """
    if job.version != __version__:
        raise IncompatibleError(
            f"the run was started by bearsketch {job.version}, this worker has {__version__}",
            code="DIST-VERSION",
            hint="Install the same version everywhere.",
        )
    opened = opened or open_partition(partition, job)
    with opened.closing:
        learner = Learner.from_bytes(model)
        if not job.alone:
            learner.share(partition.id)
        labelling = ModelLabels(learner, place=partition.place)
        session = Session(opened.batches, labelling, sinks=[_Beating(beat)], threads=1)
        session.learn_pass()
        found = opened.found(session.examples)
    progressive = session.progressive.to_bytes()
    return Result(partition.id, session.examples, *found, progressive, learner.to_bytes())


class _Beating(Sink):
    """Passes on how many examples were learned."""

    def __init__(self, beat: Beat | None) -> None:
        self._beat = beat

    def learned(self, session: Session) -> None:
        if self._beat is not None:
            self._beat(session.examples)


@contextlib.contextmanager
def _batches_of(
    partition: Any, job: Job
) -> Iterator[tuple[Iterable[Batch], Callable[[int], Found]]]:
    """Batches of a partition, and a function that gives what was found on the way to them."""
    if not isinstance(partition, Partition):
        batches = partition.batches(job.options["seed"], job.format, job.options)
        yield batches, lambda n: ({"lines": n, "examples": n}, {}, [], [])
        return
    from bearsketch.reading import open_stream

    with contextlib.ExitStack() as opened:
        sources = [span.open() for span in partition.spans]
        for source in sources:
            if not isinstance(source, str):
                opened.enter_context(source)
        # Whether errors are too many is for the driver to judge, who knows all of them.
        options = {**job.options, "allow_empty": True, "max_errors": MOST_ERRORS, "threads": 1}
        stream = opened.enter_context(open_stream(sources, job.format, **options))
        stream.expect(job.expected)
        try:
            yield stream, lambda _: _found_in(stream, partition)
        except ParseError as error:
            raise _placed(error, partition) from None


def _found_in(stream: Any, partition: Partition) -> Found:
    """Give counts, skipped lines by code, the first errors, and warnings of a stream."""
    names = {span.path: span.name for span in partition.spans}
    return (
        {name: getattr(stream.counts, name) for name in LINE_COUNTS},
        dict(sorted(stream.counts.skipped_by_code.items())),
        [f"[{error.code}] {_placed(error, partition).text(str)}" for error in stream.errors],
        [
            (odd.code, names.get(odd.source, odd.source), odd.message)
            for odd in stream.warnings
            if odd.code != NOT_UTF8  # told once for all, where the first examples were looked at
        ],
    )


def _placed(error: ParseError, partition: Partition) -> ParseError:
    """Give an error the name of the file as the user wrote it, and the line it has in there."""
    for span in partition.spans:
        if error.source in (span.name, span.path):
            error.source = span.name
            if error.line:
                error.line += span.lines_before()
            break
    return error
