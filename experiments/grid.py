"""Run the jobs of an experiment on several processes and keep every finished one on disk."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from itertools import islice
from multiprocessing import connection
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from bearsketch.exceptions import SourceError

Done = Mapping[str, Any]
ONE_THREAD = "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"


class Job(Protocol):
    """A piece of an experiment that runs alone: the same job gives the same result."""

    @property
    def key(self) -> str:
        """Everything the result depends on, as one line of text."""

    @property
    def cost(self) -> float:
        """Work in any unit, for the time left."""

    def run(self) -> Any:
        """Run it; the result is plain enough for JSON."""


class Experiment(NamedTuple):
    """What a table needs: jobs from (trials, results so far), and rows from the same."""

    title: str
    jobs: Callable[[int, Done], Sequence[Job]]
    rows: Callable[[int, Done], Iterable[Mapping[str, Any]]]


class Store:
    """Results of finished jobs as JSON lines; a line cut short by a crash is left out.

    Parameters
    ----------
    path : Path
        Read when it exists; every finished job is appended and flushed at once.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "cells.jsonl"
    >>> Store(path).add("a job", [1, 2])
    >>> Store(path).done
    {'a job': [1, 2]}
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.done: dict[str, Any] = {}
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            whole = [line for line in _lines(path) if line.endswith("\n")]
            for line in whole:
                record = json.loads(line)
                self.done[record["key"]] = record["result"]
            if path.exists():
                os.truncate(path, sum(len(line.encode()) for line in whole))
        except OSError as error:
            raise _cannot("use", path, error) from error
        except (ValueError, KeyError, TypeError) as error:
            raise SourceError(
                f"{path} does not hold finished jobs: {error}",
                code="SIM-STORE",
                hint="Give another --out, or remove the file to start again.",
            ) from error

    def add(self, key: str, result: Any) -> None:
        """Keep a result."""
        line = json.dumps({"key": key, "result": result}, allow_nan=False) + "\n"
        try:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(line)
        except OSError as error:
            raise _cannot("write to", self.path, error) from error
        self.done[key] = result


def run_all(
    plan: Callable[[Done], Sequence[Job]],
    store: Store,
    workers: int,
    report: Callable[[float, float], None] = lambda done, total: None,
) -> None:
    """Run what a plan asks for until it asks for nothing new.

    Parameters
    ----------
    plan : callable
        From the results so far to all jobs known to be needed, finished or not. Later jobs may
        depend on earlier results: a step is searched first and used then.
    store : Store
        Finished jobs are taken from it and put into it.
    workers : int
        Processes; 1 runs everything in this one.
    report : callable
        Called with the work done and the work known of, at the start and after every job.
    """
    report(*_work(plan, store))
    waiting = list(_missing(plan, store))
    if not waiting:
        return
    if workers == 1:
        while waiting:
            for job in waiting:
                store.add(job.key, job.run())
                report(*_work(plan, store))
            waiting = list(_missing(plan, store))
        return
    with _OneThreadEach(), _pool(workers) as pool:
        try:
            _drive(pool, 2 * workers, plan, store, report)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _drive(
    pool: ProcessPoolExecutor,
    most: int,
    plan: Callable[[Done], Sequence[Job]],
    store: Store,
    report: Callable[[float, float], None],
) -> None:
    """Keep at most ``most`` jobs at the pool, so that the plan's order holds as it changes."""
    running: dict[Future[Any], str] = {}
    while True:
        started = set(running.values())
        waiting = (job for job in _missing(plan, store) if job.key not in started)
        for job in islice(waiting, most - len(running)):
            running[pool.submit(_run, job)] = job.key
        if not running:
            return
        finished, _ = wait(running, return_when=FIRST_COMPLETED)
        for future in finished:
            store.add(running.pop(future), future.result())
        report(*_work(plan, store))


def _run(job: Job) -> Any:
    return job.run()


def _missing(plan: Callable[[Done], Sequence[Job]], store: Store) -> Iterator[Job]:
    seen = set()
    for job in plan(store.done):
        if job.key not in store.done and job.key not in seen:
            seen.add(job.key)
            yield job


def _work(plan: Callable[[Done], Sequence[Job]], store: Store) -> tuple[float, float]:
    jobs = {job.key: job for job in plan(store.done)}
    done = sum(job.cost for key, job in jobs.items() if key in store.done)
    return done, sum(job.cost for job in jobs.values())


def _pool(workers: int) -> ProcessPoolExecutor:
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(workers, mp_context=context, initializer=_prepare_worker)


def _prepare_worker() -> None:
    """End at once on Ctrl-C, and when the parent is gone in any other way."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    parent = multiprocessing.parent_process()
    if parent is None:
        return
    sentinel = parent.sentinel

    def watch() -> None:
        connection.wait([sentinel])
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


class _OneThreadEach:
    """Environment in which the numeric libraries of new processes use one thread."""

    def __enter__(self) -> None:
        self._before = {name: os.environ.get(name) for name in ONE_THREAD}
        os.environ.update(dict.fromkeys(ONE_THREAD, "1"))

    def __exit__(self, *_: object) -> None:
        for name, value in self._before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _lines(path: Path) -> Iterable[str]:
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="\n") as file:
        return list(file)


def _cannot(what: str, path: Path, error: OSError) -> SourceError:
    return SourceError(
        f"cannot {what} {path}: {error.strerror or error}",
        code="IO-WRITE",
        hint="Give --out a folder that can be written.",
    )
