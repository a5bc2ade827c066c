"""Progress: a live picture on a terminal, a line now and then elsewhere, nothing when quiet."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

from bearsketch.cli.guard import say
from bearsketch.escape import message, shown_name, visible
from bearsketch.sizes import format_bytes
from bearsketch.wording import for_command

if TYPE_CHECKING:
    from bearsketch.learners import Learner
    from bearsketch.reading import Stream
    from bearsketch.training.session import Session
    from bearsketch.training.warnings import RunWarning

_LIVE_SECONDS = 0.2
_PLAIN_EXAMPLES, _PLAIN_SECONDS = 10_000, 30.0
_BEST = 8
_LONGEST = 80  # characters of a name that are shown


@dataclass(frozen=True, slots=True)
class View:
    """What there is to see at one moment of reading a stream."""

    examples: int
    done: int
    total: int | None
    n_pass: int = 1
    passes: int = 1
    facts: Sequence[str] = ()
    best: Sequence[tuple[float, str]] = field(default_factory=tuple)

    @property
    def share(self) -> float | None:
        """Part of all passes that is done, by bytes; None where the size is not known.

        Bytes are read ahead of what is learned, so that the last ones are not the end.
        """
        if not self.total:
            return None
        return (self.n_pass - 1 + min(self.done / self.total, 0.99)) / self.passes


class Display:
    """Shows nothing: the display of ``--quiet``."""

    def __enter__(self) -> Self:
        self.begin(0)
        return self

    def begin(self, examples: int) -> None:
        """Measure rates from now on: so many examples were done before."""
        self._start, self._before = time.monotonic(), examples

    def __exit__(self, *_: object) -> None:
        """Take the display away."""

    def due(self, examples: int) -> bool:
        """Whether it is time to show something again."""
        return False

    def show(self, view: View) -> None:
        """Show how far the work is."""

    def note(self, text: str) -> None:
        """Say a line that stays."""

    def warn(self, warning: RunWarning) -> None:
        """Show a warning."""
        self.note(f"warning[{warning.code}] {warning.text(for_command)}")

    def _rate(self, view: View) -> tuple[float, float | None]:
        """Examples per second, and seconds left."""
        seconds = max(time.monotonic() - self._start, 1e-9)
        rate = (view.examples - self._before) / seconds
        share = view.share
        left = view.examples * (1.0 - share) / share / rate if share and rate > 0 else None
        return rate, left


class Plain(Display):
    """A line at 10,000 examples, 20,000, 40,000 ..., and at least every 30 seconds."""

    def __enter__(self) -> Self:
        self._next, self._last = _PLAIN_EXAMPLES, time.monotonic()
        return super().__enter__()

    def due(self, examples: int) -> bool:
        """Whether it is time to show something again."""
        return examples >= self._next or time.monotonic() - self._last >= _PLAIN_SECONDS

    def show(self, view: View) -> None:
        """Show how far the work is."""
        while self._next <= view.examples:
            self._next *= 2
        self._last = time.monotonic()
        rate, left = self._rate(view)
        parts = [f"{view.examples:,} examples", f"{rate:,.0f}/s"]
        if view.share is not None and left is not None:
            parts += [f"{view.share:.0%}", f"{_clock(left)} left"]
        self.note(", ".join([*parts, *view.facts]))

    def note(self, text: str) -> None:
        """Say a line that stays."""
        say(text)


class Live(Display):
    """A bar, the figures below it and the best features, drawn again several times a second."""

    def __enter__(self) -> Self:
        from rich.console import Console
        from rich.live import Live as RichLive

        self._console = Console(stderr=True, highlight=False)
        self._last = 0.0
        self._live = RichLive(console=self._console, auto_refresh=False, transient=True)
        self._live.start()
        return super().__enter__()

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def due(self, examples: int) -> bool:
        """Whether it is time to show something again."""
        return time.monotonic() - self._last >= _LIVE_SECONDS

    def show(self, view: View) -> None:
        """Show how far the work is."""
        self._last = time.monotonic()
        self._live.update(self._picture(view), refresh=True)

    def note(self, text: str) -> None:
        """Say a line that stays."""
        self._console.print(message(text), markup=False, soft_wrap=True)

    def _picture(self, view: View) -> Any:
        from rich.console import Group
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        rate, left = self._rate(view)
        top = Table.grid(padding=(0, 2))
        share = view.share
        told = [f"{view.examples:,} examples", f"{rate:,.0f}/s"]
        size = format_bytes(view.done)
        if share is not None and view.total is not None:
            size = f"{share:.0%} of {format_bytes(view.total)}"
            told.append(f"{_clock(left)} left" if left is not None else "")
        if view.passes > 1:
            told.insert(0, f"pass {view.n_pass} of {view.passes}")
        bar = ProgressBar(total=1.0, completed=share or 0.0, width=24, pulse=share is None)
        top.add_row(bar, size, *told)
        rows: list[Any] = [top]
        if view.facts:
            rows.append(Text("  ".join(view.facts), style="bold"))
        if view.best:
            rows.append(Text("best features so far", style="dim"))
            rows += [
                Text(f"{shown_weight(weight)}  {visible(name)}", overflow="ellipsis", no_wrap=True)
                for weight, name in view.best
            ]
        return Group(*rows)


def shown_weight(weight: float, places: int = 3) -> str:
    """Give a weight in a column of numbers; per unit of a large value it may be very small.

    Examples
    --------
    >>> shown_weight(1.5), shown_weight(-0.000012)
    ('   +1.500', ' -1.2e-05')
    """
    small = 0.0 < abs(weight) < 0.5 * 10.0**-places
    return f"{weight:+{places + 6}.1e}" if small else f"{weight:+{places + 6}.{places}f}"


def shown_weights(weights: Iterable[float], places: int = 3) -> list[str]:
    """Give weights as a column of numbers, all as wide as the widest.

    Examples
    --------
    >>> shown_weights([2045.14, -138377.25])
    ['  +2045.140', '-138377.250']
    """
    shown = [shown_weight(weight, places) for weight in weights]
    width = max(map(len, shown), default=0)
    return [text.rjust(width) for text in shown]


def make_display(quiet: bool) -> Display:
    """Make the display that fits: nothing if quiet, a live one on a terminal, else lines."""
    if quiet:
        return Display()
    terminal = sys.stderr.isatty() and os.environ.get("TERM", "") != "dumb"
    return Live() if terminal else Plain()


def watch_reading(display: Display, stream: Stream) -> Callable[[int], None]:
    """Give a function that shows how far a stream is read, when it is time to."""

    def watch(examples: int) -> None:
        if display.due(examples):
            done, total = stream.progress()
            display.show(View(examples, done, total))

    return watch


def best_features(
    learner: Learner, n: int = _BEST, session: Session | None = None
) -> list[tuple[float, str]]:
    """Best features at this moment, with the class where there are more than two.

    While room is kept for more classes, the labels of the model are their numbers: the session
    knows what these stand for.
    """
    if learner.config.k == 0:
        return []
    numbered = session.classes if session is not None and session.task.reserved else None
    shown = []
    for feature in list(learner.selected())[:n]:
        name = shown_name(feature.name)
        name = name if len(name) <= _LONGEST else f"{name[:_LONGEST]}..."
        if learner.config.columns > 1:
            label = feature.label
            if numbered and isinstance(label, int) and label < len(numbered):
                label = numbered[label]
            name = f"{name}  [{label}]"
        shown.append((feature.weight, name))
    return shown


def say_best(display: Display, learner: Learner, session: Session | None = None) -> None:
    """Say the ten best of what is selected, at the end of a run."""
    from bearsketch.learners.proof import proven_text

    best = best_features(learner, 10, session)
    if not best:
        return
    display.note(proven_text(learner))
    display.note(f"best of {len(learner.selected()):,} selected features{_sides(learner)}:")
    weights = shown_weights(weight for weight, _ in best)
    for weight, (_, name) in zip(weights, best, strict=True):
        display.note(f"  {weight}  {visible(name)}")


def _sides(learner: Learner) -> str:
    """Which of two classes weights above 0 speak for, where the labels are words."""
    classes = learner.labels.classes
    if learner.config.columns > 1 or classes is None or not isinstance(classes[0], str):
        return ""
    return f" (+ for {visible(str(classes[1]))}, - for {visible(str(classes[0]))})"


def _clock(seconds: float) -> str:
    minutes, rest = divmod(int(seconds + 0.5), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
