"""Writing a file so that it is whole or not there."""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path

from bearsketch.exceptions import SourceError


def write_whole(path: str | os.PathLike[str], data: bytes) -> None:
    """Write ``data`` to ``path`` so that a crash leaves the old file or the new one.

    A temporary file in the same folder is written, flushed to disk and renamed over the target,
    whose mode it takes; then the folder is flushed. Anything that fails removes the temporary
    file and raises :class:`SourceError`.
    """
    target = Path(path)
    if target.exists() and not target.is_file():
        # A device such as /dev/full or /dev/stdout: there is nothing to rename over.
        _write_in_place(target, data)
        return
    temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        with contextlib.suppress(FileNotFoundError):
            temporary.unlink()
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
        with os.fdopen(os.open(temporary, flags, 0o666), "wb") as file:
            if target.exists():
                os.fchmod(file.fileno(), stat.S_IMODE(target.stat().st_mode))
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(target)
        _flush_folder(target.parent)
    except BaseException as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        if isinstance(error, OSError):
            raise _cannot_write(target, len(data), error) from error
        raise


def _write_in_place(target: Path, data: bytes) -> None:
    try:
        with target.open("wb") as file:
            file.write(data)
            file.flush()
    except OSError as error:
        raise _cannot_write(target, len(data), error) from error


def _cannot_write(target: Path, size: int, error: OSError) -> SourceError:
    return SourceError(
        f"cannot write {size} bytes to {target}: {error.strerror or error}",
        code="IO-WRITE",
        hint="Check the folder, its permissions and the free space; nothing was replaced.",
    )


def _flush_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
