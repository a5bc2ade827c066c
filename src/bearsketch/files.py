"""Writing a file so that it is whole or not there."""

from __future__ import annotations

import contextlib
import fcntl
import glob
import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

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
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
        with os.fdopen(os.open(temporary, flags, 0o666), "wb") as file:
            lock(file.fileno())
            if target.exists():
                os.fchmod(file.fileno(), stat.S_IMODE(target.stat().st_mode))
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(target)
        flush_folder(target.parent)
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
        if pid != str(os.getpid()) and (not pid.isdecimal() or _runs(int(pid))):
            continue
        with contextlib.suppress(OSError):
            handle = os.open(left, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0))
            try:
                if lock(handle):
                    left.unlink()
            finally:
                os.close(handle)


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True


def lock(handle: int) -> bool:
    """Whether a file is ours now; where a file system knows no locks, it is."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return not isinstance(error, BlockingIOError)
    return True


def flush_folder(folder: Path) -> None:
    """Make the names in a folder safe from a crash."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
