"""Writing a file so that it is whole or not there."""

from __future__ import annotations

import contextlib
import glob
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

from bearsketch import system
from bearsketch.exceptions import BearError, SourceError


def write_whole(path: str | os.PathLike[str], data: bytes | Sequence[bytes | memoryview]) -> None:
    """Write ``data``, or several parts of it in order, to ``path``, as :func:`open_whole` does."""
    parts = [data] if isinstance(data, bytes) else data
    with open_whole(path, sum(map(len, parts))) as file:
        for part in parts:
            file.write(part)


@contextlib.contextmanager
def open_whole(path: str | os.PathLike[str], size: int | None = None) -> Iterator[BinaryIO]:
    """Open a file to write so that a crash leaves the old file or the new one.

    A temporary file in the same folder is written, flushed to disk and renamed over the target,
    whose mode it takes; then the folder is flushed. Anything that fails removes the temporary
    file, and what a writer that was killed left of this target is removed too. What the system
    refuses is raised as :class:`SourceError`, which tells the ``size`` that is needed where it is
    known.
    """
    target = Path(path)
    # A device such as /dev/full or /dev/stdout: there is nothing to rename over.
    device = target.exists() and not target.is_file()
    temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        if device:
            with target.open("wb") as file:
                yield file
            return
        _remove_left(target)
        with os.fdopen(os.open(temporary, system.NEW_FILE, 0o666), "wb") as file:
            lock(file.fileno())
            if target.exists():
                system.copy_mode(file.fileno(), target)
            yield file
            file.flush()
            os.fsync(file.fileno())
        system.replace(temporary, target)
        system.flush_folder(target.parent)
    except BaseException as error:
        if not device:
            with contextlib.suppress(OSError):
                temporary.unlink()
        if isinstance(error, OSError) and not isinstance(error, BearError):
            needed = "" if size is None else f" ({size} bytes are needed)"
            raise SourceError(
                f"cannot write to {target}: {error.strerror or error}{needed}",
                code="IO-WRITE",
                hint="Check the folder, its permissions and the free space; nothing was replaced.",
            ) from error
        raise


def _remove_left(target: Path) -> None:
    """Remove temporary files of writers that are dead: their process is gone, and so its lock."""
    for left in target.parent.glob(f".{glob.escape(target.name)}.*.tmp"):
        pid = left.name.removesuffix(".tmp").rpartition(".")[2]
        if pid != str(os.getpid()) and (not pid.isdecimal() or system.process_runs(int(pid))):
            continue
        with contextlib.suppress(OSError):
            handle = os.open(left, system.OWN_FILE)
            if lock(handle):
                system.remove_locked(handle, left)
            else:
                os.close(handle)


def lock(handle: int) -> bool:
    """Whether a file is ours now; where a file system knows no locks, it is."""
    try:
        system.lock(handle)
    except OSError as error:
        return not isinstance(error, BlockingIOError)
    return True
