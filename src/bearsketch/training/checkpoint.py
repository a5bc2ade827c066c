"""Checkpoints: a folder of files, each enough to continue from, the newest two kept."""

from __future__ import annotations

import contextlib
import os
import re
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Self, TypeVar

from bearsketch import model_file, system
from bearsketch.exceptions import (
    IncompatibleError,
    ModelFileError,
    ParameterError,
    SourceError,
)
from bearsketch.learners import Learner, state

T = TypeVar("T")

KEPT = 2
RUN, ROUNDS = "checkpoint", "rounds"  # names of files, without workers and with them
_OTHER = {RUN: ROUNDS, ROUNDS: RUN}
_TRIES = 10  # to lock a folder whose lock others delete
_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0}


@dataclass(frozen=True, slots=True)
class Every:
    """How often a checkpoint is written: by seconds, or by examples learned."""

    seconds: float | None = None
    examples: int | None = None


def parse_every(text: str | int) -> Every:
    """``60s``, ``5m``, ``1h``, or a number of examples.

    Examples
    --------
    >>> parse_every("5m"), parse_every(10_000)
    (Every(seconds=300.0, examples=None), Every(seconds=None, examples=10000))
    """
    match = re.fullmatch(r"([0-9]{1,12}(?:\.[0-9]{1,6})?)([smh]?)", str(text).strip())
    if match and match[2]:
        return Every(seconds=float(match[1]) * _UNITS[match[2]])
    if match is None or "." in match[1] or int(match[1]) < 1:
        raise ParameterError(
            "checkpoint_every must be a time such as 60s, 5m or 1h, or a number of examples, "
            f"got {text!r}"
        )
    return Every(examples=int(match[1]))


class Saved(NamedTuple):
    """A checkpoint that was read: its file, the learner, and the arrays and record of the run."""

    path: Path
    learner: Learner
    arrays: model_file.Arrays
    record: dict[str, Any]


class Checkpoints:
    """A folder that one run at a time keeps its checkpoints in.

    Parameters
    ----------
    folder : str or path
        Made where it is missing.
    every : str or int
        ``60s``, ``5m``, ``1h``, or a number of examples.
    resume : bool
        Continue from the newest sound checkpoint, or start where there is none. Without it a folder
        that has checkpoints is refused, so that none is overwritten by mistake.
    name : str
        What the names of the files begin with: runs of another kind have another.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> with Checkpoints(folder) as checkpoints:
    ...     checkpoints.newest(read_run) is None
    True
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        every: str | int = "60s",
        *,
        resume: bool = False,
        name: str = RUN,
    ) -> None:
        self.folder, self.resume, self._name = Path(folder), resume, name
        self.every = parse_every(every)
        self.written: Path | None = None
        self._number = 0
        self._lock: int | None = None
        self._last = time.monotonic()

    def __enter__(self) -> Self:
        self._lock = _locked(self.folder)
        try:
            # Nobody else writes here while the lock is held: what is left is of a run that died.
            for left in self.folder.glob(f".{self._name}-*.tmp"):
                left.unlink()
            numbers = self._numbers()
            if numbers and not self.resume:
                raise ParameterError(
                    f"checkpoint: {self.folder} holds checkpoints of an earlier run",
                    code="CKPT-EXISTS",
                    hint="Continue from them ({resume=True}), or name another folder.",
                )
            self._refuse_others()
        except BaseException:
            self.__exit__()
            raise
        self._last = time.monotonic()
        return self

    def __exit__(self, *_: object) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def newest(self, read: Callable[[Path], T]) -> T | None:
        """Newest checkpoint that ``read`` takes, with a warning for each other; None: none yet."""
        numbers = self._numbers()
        for number in reversed(numbers):
            path = self._path(number)
            try:
                found = read(path)
            except (ModelFileError, SourceError) as error:
                warnings.warn(
                    f"checkpoint skipped, the previous one is tried: {error.message}",
                    UserWarning,
                    stacklevel=2,
                )
                continue
            self._number, self.written = number, path
            return found
        if numbers:
            raise ModelFileError(
                f"no checkpoint in {self.folder} is usable",
                code="CKPT-DAMAGED",
                hint="Start again in another folder.",
            )
        return None

    def due(self, examples: int) -> bool:
        """Whether it is time for the next one, ``examples`` after the last."""
        if self.every.seconds is not None:
            return time.monotonic() - self._last >= self.every.seconds
        return examples >= (self.every.examples or 1)

    def write(self, arrays: model_file.Arrays, record: dict[str, Any]) -> Path:
        """Write one more, whole or not at all, and delete all but the newest two."""
        path = self._path(self._number + 1)
        model_file.save(path, arrays, record)
        self._number += 1
        self.written = path
        for number in self._numbers()[:-KEPT]:
            self._path(number).unlink()
        self._last = time.monotonic()
        return path

    def forget(self) -> None:
        """Delete all checkpoints, once what they led to is safe, and the lock after the run."""
        with contextlib.ExitStack() as opened:
            if self._lock is None:
                lock = _locked(self.folder)
                opened.callback(system.remove_locked, lock, _lock_file(self.folder))
            for number in self._numbers():
                self._path(number).unlink()

    def _refuse_others(self) -> None:
        """Refuse checkpoints of the other kind, which would be skipped silently."""
        other = _OTHER[self._name]
        if any(self.folder.glob(f"{other}-*.bear")):
            those = "with workers" if other == ROUNDS else "without workers"
            raise IncompatibleError(
                f"checkpoint: {self.folder} holds checkpoints of a run {those}",
                code="CKPT-OTHER",
                hint="Continue as that run began, or name another folder.",
            )

    def _path(self, number: int) -> Path:
        return self.folder / f"{self._name}-{number:08d}.bear"

    def _numbers(self) -> list[int]:
        name = re.compile(re.escape(self._name) + r"-([0-9]{8,})\.bear")
        matches = [name.fullmatch(path.name) for path in self.folder.iterdir()]
        return sorted(int(match[1]) for match in matches if match)


def load(path: Path) -> tuple[model_file.Arrays, dict[str, Any]]:
    """Arrays and record of a checkpoint of any kind."""
    if path.is_symlink():
        raise SourceError(f"{path}: a checkpoint is never a link", code="CKPT-LINK")
    return model_file.load(path)


def read_run(path: Path) -> Saved:
    """Read a checkpoint of a single run."""
    arrays, plain = load(path)
    record, fill_in = state.read(arrays, plain, path)
    if not isinstance(plain.get("training"), dict):
        raise ModelFileError(
            f"{path} is a model and no checkpoint: there is no run to continue with",
            code="CKPT-MODEL",
        )
    learner = Learner(record.config, record.labels)
    fill_in(learner)
    return Saved(path, learner, arrays, plain["training"])


def _lock_file(folder: Path) -> Path:
    return folder / "lock"


def _locked(folder: Path) -> int:
    """Lock a folder for this process; closing the handle lets go."""
    for _ in range(_TRIES):
        handle = _try_lock(folder)
        # A run that ended may have deleted the file between our opening and locking it.
        with contextlib.suppress(OSError):
            if os.path.samestat(os.fstat(handle), _lock_file(folder).stat()):
                return handle
        os.close(handle)
    raise _busy(folder)


def _busy(folder: Path) -> SourceError:
    return SourceError(
        f"checkpoint: another run is using the folder {folder}",
        code="CKPT-BUSY",
        hint="Wait until it ends, or name another folder.",
    )


def _try_lock(folder: Path) -> int:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(_lock_file(folder), system.OWN_FILE | os.O_CREAT, 0o666)
    except OSError as error:
        raise SourceError(
            f"checkpoint: cannot use the folder {folder}: {error.strerror or error}",
            code="CKPT-FOLDER",
        ) from None
    try:
        system.lock(handle)
    except OSError as error:
        os.close(handle)
        if isinstance(error, BlockingIOError):
            raise _busy(folder) from None
        raise SourceError(
            f"checkpoint: cannot lock the folder {folder}: {error.strerror or error}",
            code="CKPT-FOLDER",
            hint="Name a folder on another file system.",
        ) from None
    return handle
