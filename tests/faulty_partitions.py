"""Spans that sleep, fall silent or kill whoever reads them; workers import this by its name."""

from __future__ import annotations

import os
import random
import signal
import time
from dataclasses import dataclass, fields, replace
from pathlib import Path

from bearsketch.distributed import Plan, Span


@dataclass(frozen=True, slots=True)
class Sleepy(Span):
    """Takes a random time."""

    def open(self):
        time.sleep(random.random() * 0.02)
        return Span.open(self)


@dataclass(frozen=True, slots=True)
class Deadly(Span):
    """Kills the process that opens it: always, or only once if there is a marker file to make."""

    marker: str = ""
    signal: int = signal.SIGKILL

    def open(self):
        if self.marker:
            try:
                Path(self.marker).touch(exist_ok=False)
            except FileExistsError:
                return Span.open(self)
        os.kill(os.getpid(), self.signal)
        time.sleep(60)
        raise AssertionError("still alive")


@dataclass(frozen=True, slots=True)
class Broken(Span):
    """Raises what no task should."""

    def open(self):
        raise RuntimeError("a fault of the test")


def as_kind(span: Span, kind, **more):
    """The same span as another kind of it."""
    return kind(**{spec.name: getattr(span, spec.name) for spec in fields(Span)}, **more)


def with_spans(plan: Plan, change) -> Plan:
    """A plan whose spans are replaced by ``change(partition, span)``."""
    parts = tuple(
        replace(part, spans=tuple(change(part, span) for span in part.spans))
        for part in plan.partitions
    )
    return replace(plan, partitions=parts)
