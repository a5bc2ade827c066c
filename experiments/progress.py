"""A bar with the time left, on a terminal only."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator


@contextlib.contextmanager
def work_left(what: str) -> Iterator[Callable[[float, float | None], None]]:
    """Give a function that takes the work done and the work known of, and shows both.

    The bar goes to stderr, and to nowhere unless that is a terminal.
    """
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn
    from rich.progress import TimeRemainingColumn as TimeLeftColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeLeftColumn(),
    )
    console = Console(stderr=True)
    with Progress(
        *columns,
        console=console,
        disable=not console.is_terminal,
        speed_estimate_period=600.0,
    ) as progress:
        task = progress.add_task(what, total=None)
        started = False

        def report(done: float, total: float | None) -> None:
            nonlocal started
            if started:
                progress.update(task, completed=done, total=total)
            else:  # work of an earlier run says nothing about the speed of this one
                progress.reset(task, completed=int(done), total=total)
                started = True

        yield report
