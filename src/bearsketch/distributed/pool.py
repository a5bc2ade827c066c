"""Local workers: processes of this machine, one task each at a time."""

from __future__ import annotations

import contextlib
import multiprocessing
import sys
import threading
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from typing import Any, NamedTuple, Self

from bearsketch.closing import Closes
from bearsketch.distributed.task import Beat, Result, Round, learn_partition
from bearsketch.distributed.worker import work
from bearsketch.exceptions import BearError, DistributedError
from bearsketch.system import limit_pipe_waits

PATIENCE = 60.0  # seconds of silence after which a worker counts as lost
ATTEMPTS = 3
_START_SECONDS = 120.0  # a new process imports first, on a machine that may be busy


class Lost(NamedTuple):
    """A partition that no worker could finish."""

    partition: Any
    reason: str


class Serial(Closes):
    """One worker: this process itself."""

    workers = 1

    def run(self, asked: Round) -> Iterator[Result | Lost]:
        """Learn partitions one after the other."""
        for part in asked.parts:
            noted = _noting(asked.beat, part.id)
            yield learn_partition(asked.model, part, asked.job, noted)

    def close(self) -> None:
        """Nothing to end."""


def _noting(beat: Any, number: int) -> Beat | None:
    return None if beat is None else lambda examples: beat(number, examples)


@dataclass
class _Worker:
    """A process, our end of its pipe, and what it is at."""

    process: Any
    pipe: Connection
    heard: float
    task: Any = None
    follows: Any = None
    model: bytes | None = None  # that it has
    answered: bool = False  # any task
    begun: bool = False  # the present one
    limit: float = field(default=_START_SECONDS)


class Pool(Serial):
    """Processes that learn partitions; one that dies or falls silent is replaced.

    Parameters
    ----------
    workers : int
    attempts : int
        How often a partition is tried when the worker at it is lost.
    patience : float
        Seconds of silence after which a worker counts as lost.
    forks : bool
        The first workers are copies of this process, which are there at once. Only for a process
        that has no threads yet, as a command at its start: a copy has their locks but not them.
    """

    def __init__(
        self,
        workers: int,
        *,
        attempts: int = ATTEMPTS,
        patience: float = PATIENCE,
        forks: bool = False,
    ) -> None:
        self.workers, self._attempts, self._patience = workers, attempts, patience
        alone = sys.platform == "linux" and threading.active_count() == 1
        self._forks = forks and alone
        self._pool: list[_Worker] = []

    def __enter__(self) -> Self:
        self._fill(self.workers)  # they start while the driver looks at the data
        self._forks = False
        return self

    def run(self, asked: Round) -> Iterator[Result | Lost]:
        """Learn partitions, in any order; yields each once.

        A worker that gets its last one for now also gets one of those coming next, which it begins
        to read while it waits for their model.
        """
        waiting, failures = deque(asked.parts), {part.id: 0 for part in asked.parts}
        open_ids, after = set(failures), deque(asked.coming)
        self._fill(len(open_ids))
        for worker in self._pool:
            if worker.follows not in waiting:  # it is of a run that ended early
                worker.follows = None
        self._hand_out(waiting, after, asked)
        while open_ids:
            ready = []
            for part, answer in self._listen(asked.beat):
                if isinstance(answer, BearError):
                    raise answer
                if answer is None:
                    waiting.append(part)
                    continue
                if isinstance(answer, str):
                    failures[part.id] += 1
                    if failures[part.id] < self._attempts:
                        waiting.append(part)
                        continue
                    answer = Lost(part, f"{answer}, {failures[part.id]} times")
                if part.id in open_ids:
                    open_ids.remove(part.id)
                    ready.append(answer)
            # First, so that no worker waits while the driver looks at the answers.
            self._fill(len(open_ids))
            self._hand_out(waiting, after, asked)
            yield from ready

    def _hand_out(self, waiting: deque[Any], after: deque[Any], asked: Round) -> None:
        for worker in self._pool:
            if worker.task is None and waiting:
                part = worker.follows if worker.follows in waiting else waiting[0]
                waiting.remove(part)
                if worker.follows == part:
                    worker.follows = None
                if worker.follows is None and after and len(waiting) < len(self._pool):
                    worker.follows = after.popleft()
                self._give(worker, asked, part)

    def _fill(self, wanted: int) -> None:
        context = multiprocessing.get_context("fork" if self._forks else "spawn")
        while len(self._pool) < min(self.workers, wanted):
            ours, theirs = context.Pipe()
            limit_pipe_waits(ours.fileno(), self._patience)
            # A copy also has our ends of all pipes, and would never see that we are gone.
            copied = [ours, *(worker.pipe for worker in self._pool)] if self._forks else []
            process = context.Process(target=work, args=(theirs, copied), daemon=True)  # type: ignore[attr-defined]
            process.start()
            theirs.close()
            self._pool.append(_Worker(process, ours, time.monotonic()))

    def _give(self, worker: _Worker, asked: Round, part: Any) -> None:
        worker.task, worker.begun, worker.heard = part, False, time.monotonic()
        # A model fills the pipe, and both ends wait for one another: it is sent once in a round.
        model = None if worker.model is asked.model else asked.model
        worker.model = asked.model
        with contextlib.suppress(OSError):  # it is dead, which listening will find out
            worker.pipe.send((model, part, asked.job, worker.follows))

    def _listen(self, beat: Any) -> list[tuple[Any, Any]]:
        """Wait for a word of any worker; results, errors, and reasons of losses by partition."""
        answers = []
        ready = wait([worker.pipe for worker in self._pool], timeout=1.0)
        for worker in list(self._pool):
            lost = ""
            if worker.pipe in ready:
                try:
                    kind, said = worker.pipe.recv()
                except (EOFError, OSError):
                    worker.process.join(5.0)
                    lost = f"its worker died ({_ending(worker.process.exitcode)})"
                else:
                    worker.heard, worker.limit = time.monotonic(), self._patience
                    if kind == "beat" and beat is not None:
                        beat(worker.task.id, said)
                    worker.begun |= kind == "begun"
                    if kind in ("done", "error", "failed"):
                        answers.append((worker.task, said))
                        worker.task, worker.answered = None, True
                    if kind == "failed":  # maybe by a model that was damaged on its way
                        worker.model = None
            elif worker.task is not None and time.monotonic() - worker.heard > worker.limit:
                lost = f"its worker said nothing for {worker.limit:g} s"
            if lost:
                self._pool.remove(worker)
                _end(worker)
                if worker.task is not None:
                    # One that was lost before it began was so by what it read ahead.
                    idle = worker.answered and not worker.begun
                    answers.append((worker.task, None if idle else lost))
        return answers

    def pids(self) -> list[int]:
        """Process ids of the workers at this moment."""
        return [worker.process.pid for worker in self._pool]

    def close(self) -> None:
        """End all workers."""
        while self._pool:
            _end(self._pool.pop())


def _ending(code: int | None) -> str:
    if code is None:
        return "no exit code"
    return f"signal {-code}" if code < 0 else f"exit code {code}"


def _end(worker: _Worker) -> None:
    worker.pipe.close()
    worker.process.kill()
    worker.process.join(10.0)
    if worker.process.exitcode is not None:
        worker.process.close()


def refuse_lost(lost: Lost) -> DistributedError:
    """Error for a partition that no worker could finish."""
    return DistributedError(
        f"{lost.partition.place} could not be learned: {lost.reason}",
        code="DIST-PARTITION",
        hint="Look at the data there and at the memory of the workers; "
        "{on_error=skip} continues without such a partition, and reports it.",
    )
