"""Sources: what a user may name as input, checked before anything is read."""

from __future__ import annotations

import glob
import io
import os
import re
import stat
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, Protocol, TypeAlias

from bearsketch.exceptions import DataError, ParameterError, SourceError

Source: TypeAlias = "str | os.PathLike[str] | BinaryIO | Iterable[Any]"

_URL = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]+://")
_END_BYTES = 4096


class Fingerprint(NamedTuple):
    """What tells a file from a changed one: size, time of change, its first and last bytes."""

    size: int
    changed_ns: int
    ends: bytes


@dataclass(frozen=True, slots=True)
class FileInput:
    """A file of the file system."""

    path: Path
    size: int | None
    reopens: bool

    @property
    def name(self) -> str:
        """The path as it was given."""
        return str(self.path)

    def open(self) -> BinaryIO:
        """Open for reading, unbuffered."""
        try:
            return self.path.open("rb", buffering=0)
        except OSError as error:
            raise _cannot_open(self.name, error) from None

    def fingerprint(self) -> Fingerprint | None:
        """Fingerprint of the file as it is now; None for pipes and devices."""
        if not self.reopens:
            return None
        with self.open() as file:
            info = os.fstat(file.fileno())
            try:
                head = file.read(_END_BYTES)
                file.seek(max(0, info.st_size - _END_BYTES))
                ends = head + file.read(_END_BYTES)
            except OSError as error:
                reason = error.strerror or error
                raise SourceError(
                    f"{self.name}: reading failed ({reason})", code="SRC-READ"
                ) from None
            return Fingerprint(info.st_size, info.st_mtime_ns, ends)


@dataclass(frozen=True, slots=True)
class StdinInput:
    """Standard input."""

    size: int | None
    name: str = "<stdin>"
    reopens: bool = False

    def open(self) -> BinaryIO:
        """Open a second handle, so that closing it leaves standard input as it was."""
        try:
            return os.fdopen(os.dup(sys.stdin.fileno()), "rb", buffering=0)
        except (OSError, ValueError):
            return _Borrowed(sys.stdin.buffer)  # a stand-in without a descriptor

    def fingerprint(self) -> Fingerprint | None:
        """Nothing to compare with: it is read once."""
        return None


@dataclass(frozen=True, slots=True)
class ObjectInput:
    """A binary file object of the caller, which stays open."""

    file: BinaryIO
    name: str
    start: int | None

    @property
    def size(self) -> int | None:
        """Unknown: finding it out would move the caller's position."""
        return None

    @property
    def reopens(self) -> bool:
        """Whether the object can go back to where it stood."""
        return self.start is not None

    def open(self) -> BinaryIO:
        """Go back to where the object stood when it was given."""
        if self.start is not None:
            self.file.seek(self.start)
        return _Borrowed(self.file)

    def fingerprint(self) -> Fingerprint | None:
        """Nothing to compare with."""
        return None


@dataclass(frozen=True, slots=True)
class UrlInput:
    """A remote file, through fsspec."""

    name: str
    size: int | None
    reopens: bool = True

    def open(self) -> BinaryIO:
        """Open through fsspec."""
        try:
            opened: BinaryIO = _fsspec().open(self.name, "rb").open()
        except (OSError, ValueError, ImportError) as error:
            raise _cannot_open(self.name, error) from None
        return opened

    def fingerprint(self) -> Fingerprint | None:
        """Size alone; remote stores differ in what else they tell."""
        return None if self.size is None else Fingerprint(self.size, 0, b"")


class Input(Protocol):
    """What one input can do, whatever it is."""

    @property
    def name(self) -> str:
        """For messages."""

    @property
    def size(self) -> int | None:
        """Bytes, where they are known."""

    @property
    def reopens(self) -> bool:
        """Whether another pass is possible."""

    def open(self) -> BinaryIO:
        """Begin to read."""

    def fingerprint(self) -> Fingerprint | None:
        """Tell it from a changed one, where that is possible."""


class _Borrowed(io.RawIOBase, BinaryIO):
    """A file object that is read but never closed."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._read = getattr(file, "read1", file.read)

    def read(self, size: int = -1) -> bytes:
        """Read what is there, at most ``size`` bytes."""
        got = self._read(size)
        if not isinstance(got, bytes | bytearray | memoryview):
            raise ParameterError(
                f"a file object must give bytes, got {type(got).__name__}",
                hint='Open it with mode "rb".',
            )
        return bytes(got)

    def seekable(self) -> bool:
        return bool(getattr(self._file, "seekable", lambda: False)())

    def seek(self, offset: int, whence: int = 0) -> int:
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()

    def readable(self) -> bool:
        return True


def resolve(source: Source) -> list[Input]:
    """Find the inputs a source stands for, in order, each there and readable.

    Parameters
    ----------
    source : str, path, binary file object, or an iterable of them
        ``-`` is standard input. A text with ``*``, ``?`` or ``[`` that names no file is a glob,
        whose matches are taken in sorted order. A URL needs the extra ``remote``.

    Examples
    --------
    >>> import io
    >>> [found.name for found in resolve([io.BytesIO(b"1 |a b")])]
    ['<file object>']
    """
    inputs = list(_resolve(source))
    if not inputs:
        raise ParameterError("source must name at least one input, got an empty list")
    if sum(isinstance(found, StdinInput) for found in inputs) > 1:
        raise ParameterError("standard input ('-') can be named only once")
    return inputs


def _resolve(source: Any) -> Iterable[Input]:
    if isinstance(source, str) and source == "-":
        return [_stdin()]
    if isinstance(source, str) and _URL.match(source):
        return [_url(source)]
    if isinstance(source, str | os.PathLike):
        return _paths(source)
    if hasattr(source, "read"):
        return [_object(source)]
    if isinstance(source, Iterable) and not isinstance(source, bytes | bytearray):
        return [found for part in source for found in _resolve(part)]
    raise ParameterError(
        "source must be a path, glob, URL, '-', binary file object or a list of them; a frame; or "
        f"an iterable of frames or mappings, got {type(source).__name__}"
    )


def _paths(source: str | os.PathLike[str]) -> list[Input]:
    path = Path(source)
    text = str(source)
    if glob.has_magic(text) and not path.exists():
        found = sorted(glob.glob(text, recursive=True))  # noqa: PTH207 (patterns may be absolute)
        files = [match for match in found if not Path(match).is_dir()]
        if not files:
            raise SourceError(f"{text}: no file matches this pattern", code="SRC-MISSING")
        return [_file(Path(match)) for match in files]
    return [_file(path)]


def _file(path: Path) -> FileInput:
    try:
        info = path.stat()
        if stat.S_ISDIR(info.st_mode):
            raise SourceError(
                f"{path}: this is a directory, not a file",
                code="SRC-DIRECTORY",
                hint=f"Name its files, for example '{path / '*'}'.",
            )
        regular = stat.S_ISREG(info.st_mode)
        # A pipe waits for its writer when opened, so that only its mode is looked at here.
        if regular:
            path.open("rb", buffering=0).close()
        elif not os.access(path, os.R_OK):
            raise PermissionError(13, "Permission denied")
    except SourceError:
        raise
    except (OSError, ValueError) as error:
        raise _cannot_open(str(path), error) from None
    return FileInput(path, info.st_size if regular else None, regular)


def _stdin() -> StdinInput:
    if sys.stdin is None or sys.stdin.closed:
        raise SourceError("standard input is closed", code="SRC-STDIN")
    try:
        info = os.fstat(sys.stdin.fileno())
    except (OSError, ValueError):
        return StdinInput(None)
    if stat.S_ISDIR(info.st_mode):
        raise SourceError("standard input is a directory", code="SRC-DIRECTORY")
    return StdinInput(info.st_size if stat.S_ISREG(info.st_mode) else None)


def _object(file: Any) -> ObjectInput:
    if isinstance(file, io.TextIOBase):
        raise ParameterError(
            "a file object must be binary, got a text file", hint='Open it with mode "rb".'
        )
    if getattr(file, "closed", False):
        raise SourceError("the file object is closed", code="SRC-CLOSED")
    name = getattr(file, "name", None)
    try:
        start = file.tell() if file.seekable() else None
    except (AttributeError, OSError):
        start = None
    return ObjectInput(file, name if isinstance(name, str) else "<file object>", start)


def _url(url: str) -> UrlInput:
    try:
        fs, path = _fsspec().core.url_to_fs(url)
        info = fs.info(path)
    except (OSError, ValueError, ImportError) as error:
        raise _cannot_open(url, error) from None
    if info.get("type") == "directory":
        raise SourceError(f"{url}: this is a directory, not a file", code="SRC-DIRECTORY")
    size = info.get("size")
    return UrlInput(url, size if isinstance(size, int) else None)


def _fsspec() -> Any:
    try:
        import fsspec
    except ImportError:
        raise SourceError(
            "a URL needs the package fsspec, which is not installed",
            code="SRC-EXTRA",
            hint="Install it with: pip install 'bearsketch[remote]'",
        ) from None
    return fsspec


def _cannot_open(name: str, error: Exception) -> SourceError:
    if isinstance(error, FileNotFoundError):
        return SourceError(f"{name}: no such file", code="SRC-MISSING")
    if isinstance(error, PermissionError):
        return SourceError(f"{name}: reading is not permitted", code="SRC-UNREADABLE")
    reason = getattr(error, "strerror", None) or str(error)
    return SourceError(f"{name}: cannot be opened ({reason})", code="SRC-OPEN")


def check_unchanged(found: Input, before: Fingerprint | None) -> None:
    """Refuse a file that is not what it was on the first pass."""
    if before is not None and found.fingerprint() != before:
        raise DataError(
            f"{found.name}: the file changed between two passes",
            code="SRC-CHANGED",
            hint="Train on a file that nothing writes to.",
        )
