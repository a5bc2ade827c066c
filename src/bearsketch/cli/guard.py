"""How a command ends: every error is one message and its documented exit code."""

from __future__ import annotations

import errno
import functools
import os
import signal
import sys
import warnings
from collections.abc import Callable
from typing import Any, NoReturn, TextIO

from bearsketch.escape import message
from bearsketch.exceptions import BearError, LimitError
from bearsketch.system import BROKEN_PIPE_EXIT
from bearsketch.wording import for_command

BUG = "internal error, please report it with the lines above"


def say(text: str) -> None:
    """Write a line to standard error; a reader that is gone does not stop the work."""
    try:
        print(message(text), file=sys.stderr, flush=True)
    except OSError:
        _silence(sys.stderr)


def guarded(command: Callable[..., None]) -> Callable[..., None]:
    """Wrap a command so that it ends with a message and an exit code, whatever happens."""

    @functools.wraps(command)
    def run(*args: Any, **kwargs: Any) -> None:
        quiet = kwargs.get("quiet", False)
        warnings.showwarning = _drop_warning if quiet else _show_warning  # type: ignore[assignment]
        try:
            command(*args, **kwargs)
            sys.stdout.flush()
        except Exception as error:
            _end(error)
        except KeyboardInterrupt as stopped:
            shown = for_command(str(stopped.args[0])) if stopped.args else ""
            say(shown or "interrupted; no file was changed")
            _leave(128 + getattr(stopped, "number", signal.SIGINT))

    return run


def _show_warning(text: Any, *_: Any) -> None:
    say(f"warning: {text}")


def _drop_warning(*_: Any) -> None:
    """Show nothing: ``--quiet`` leaves errors alone."""


def _end(error: Exception) -> NoReturn:
    if isinstance(error, BearError) and error.exit_code != 70:
        say(f"error[{error.code or 'USAGE'}] {error.text(for_command)}")
        _leave(error.exit_code)
    if isinstance(error, BrokenPipeError):
        # The reader of our output is gone: end as the signal would have, silently.
        _leave(BROKEN_PIPE_EXIT)
    if isinstance(error, OSError) and error.errno is not None:
        say(f"error[IO-WRITE] {error.filename or 'standard output'}: {os.strerror(error.errno)}")
        _leave(4)
    if isinstance(error, MemoryError):
        say("error[MEM-SYSTEM] the system has no more memory\n  Give a smaller model size.")
        _leave(LimitError.exit_code)
    if type(error).__module__.startswith(("typer", "click")):
        raise error  # usage errors and exits are for typer to show
    import traceback

    say("".join(traceback.format_exception(error)).rstrip())
    say(BUG)
    _leave(70)


def _leave(code: int) -> NoReturn:
    """Exit, and let no half-written output raise once more on the way."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            _silence(stream)
    sys.exit(code)


def _silence(stream: TextIO) -> None:
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, stream.fileno())
    os.close(null)


def open_standard_files() -> None:
    """Make sure of standard input, output and error before anything else is opened.

    Where one is closed it is opened on nothing, so that no data file takes its number. Standard
    output is UTF-8 whatever the locale, and buffered whatever the environment: without a buffer,
    what a pipe does not take at once would be lost without an error.
    """
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError as error:
            if error.errno == errno.EBADF:
                os.open(os.devnull, os.O_RDWR)
    sys.stdout = open(  # noqa: SIM115
        1, "w", encoding="utf-8", errors="backslashreplace", closefd=False
    )
    sys.stderr = sys.stderr or open(2, "w", closefd=False)  # noqa: SIM115
