"""What operating systems differ in: locks, living processes, replacing files, peak memory, pipes.

Windows has no flush of a folder, so that a file that was just written may be the old one after a
power cut. Nothing else here promises less on one system than on another.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import signal
import stat
import sys
import time
from pathlib import Path
from typing import Any

WINDOWS = sys.platform == "win32"

# Flags that every file is opened with by number: bytes as they are, no links, not for children.
_PLAIN = getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _PLAIN
OWN_FILE = os.O_RDWR | _PLAIN

# Signals that ask a program to stop; Ctrl-Break is what Windows sends to a group of processes.
STOPPING = tuple(
    number
    for name in ("SIGINT", "SIGTERM", "SIGBREAK")
    if (number := getattr(signal, name, None)) is not None
)
BROKEN_PIPE_EXIT = 141  # 128 + SIGPIPE, also where there is no such signal

_LOCKED_BYTE = 1 << 30  # far behind the contents: Windows refuses to read what is locked
_STILL_RUNNING = 0x102  # WAIT_TIMEOUT
_SYNCHRONIZE = 0x00100000
_REPLACE_SECONDS = 2.0


def lock(handle: int) -> None:
    """Lock an open file for this process, until the handle is closed.

    Raises
    ------
    BlockingIOError
        Another process holds the lock.
    OSError
        The file system has no locks.
    """
    if not WINDOWS:
        fcntl = importlib.import_module("fcntl")
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return
    msvcrt = importlib.import_module("msvcrt")
    before = os.lseek(handle, 0, os.SEEK_CUR)
    os.lseek(handle, _LOCKED_BYTE, os.SEEK_SET)
    try:
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
    except PermissionError as error:  # how Windows says that it is taken
        raise BlockingIOError(*error.args) from None
    finally:
        os.lseek(handle, before, os.SEEK_SET)


def remove_locked(handle: int, path: Path) -> None:
    """Remove a file that is locked through ``handle``, and close that.

    While it is still locked where the system can: nobody else then takes a file that is going.
    """
    if not WINDOWS:
        try:
            path.unlink()
        finally:
            os.close(handle)
        return
    os.close(handle)
    with contextlib.suppress(PermissionError):  # another process has it open by now
        path.unlink()


def process_runs(pid: int) -> bool:
    """Whether a process is alive, or may be.

    ``os.kill(pid, 0)`` would send Ctrl-C on Windows.
    """
    if WINDOWS:
        return _windows_process_runs(pid)
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True


def _windows_process_runs(pid: int) -> bool:
    kernel = _kernel()
    if pid > 0xFFFFFFFF:
        return True
    handle = kernel.OpenProcess(_SYNCHRONIZE, False, pid)
    if not handle:
        # 87: no such process. Anything else, such as no permission: there is one.
        return bool(kernel.GetLastError() != 87)
    try:
        return bool(kernel.WaitForSingleObject(handle, 0) == _STILL_RUNNING)
    finally:
        kernel.CloseHandle(handle)


def _kernel() -> Any:
    import ctypes

    kernel = ctypes.windll.kernel32  # type: ignore[attr-defined]
    kernel.OpenProcess.restype = kernel.GetCurrentProcess.restype = ctypes.c_void_p
    for function in (kernel.WaitForSingleObject, kernel.CloseHandle):
        function.argtypes = None
    return kernel


def copy_mode(handle: int, path: Path) -> None:
    """Give an open file the permissions of another; Windows inherits them from the folder."""
    if not WINDOWS:
        os.fchmod(handle, stat.S_IMODE(path.stat().st_mode))


def replace(source: Path, target: Path) -> None:
    """Rename over a file, in one step.

    Windows refuses that while another program, such as a virus scanner, looks at the target: it is
    tried again for two seconds.
    """
    end = time.monotonic() + _REPLACE_SECONDS
    while True:
        try:
            source.replace(target)
        except PermissionError:
            if not WINDOWS or time.monotonic() >= end:
                raise
            time.sleep(0.05)
        else:
            return


def flush_folder(folder: Path) -> None:
    """Make the names in a folder safe from a power cut; Windows cannot."""
    if WINDOWS:
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def peak_rss_bytes() -> int:
    """Most memory the process ever had in RAM, in bytes.

    Linux keeps it as VmHWM, which unlike getrusage does not count what a parent had before this
    program was started.

    Examples
    --------
    >>> peak_rss_bytes() > 1 << 20
    True
    """
    if WINDOWS:
        return _windows_peak_memory()
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    resource = importlib.import_module("resource")
    scale = 1 if sys.platform == "darwin" else 1024
    return int(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss) * scale


def _windows_peak_memory() -> int:
    import ctypes

    class Counters(ctypes.Structure):
        _fields_ = (
            ("cb", ctypes.c_uint32),
            ("PageFaultCount", ctypes.c_uint32),
            ("PeakWorkingSetSize", ctypes.c_size_t),
            ("rest", ctypes.c_size_t * 7),
        )

    kernel, found = _kernel(), Counters()
    found.cb = ctypes.sizeof(found)
    process = ctypes.c_void_p(kernel.GetCurrentProcess())
    if not kernel.K32GetProcessMemoryInfo(process, ctypes.byref(found), found.cb):
        raise OSError("the system does not say how much memory this process uses")
    return int(found.PeakWorkingSetSize)


def poll_of(descriptor: int) -> Any:
    """``select.poll`` of what may wait for more bytes; None where that cannot be asked.

    Windows asks for sockets only: a read from a pipe waits there until it has bytes or the end.
    """
    select = importlib.import_module("select")
    if not hasattr(select, "poll"):
        return None
    poll = select.poll()
    poll.register(descriptor, select.POLLIN | select.POLLHUP | select.POLLERR)
    return poll


def limit_pipe_waits(descriptor: int, seconds: float) -> None:
    """Let no message of a pipe between processes that stops half way hold this one for ever.

    Pipes of Windows are no sockets, and have no such limit.
    """
    if WINDOWS:
        return
    import socket
    import struct

    with socket.fromfd(descriptor, socket.AF_UNIX, socket.SOCK_STREAM) as end:
        limit = struct.pack("ll", int(seconds) + 1, 0)
        for option in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
            end.setsockopt(socket.SOL_SOCKET, option, limit)
