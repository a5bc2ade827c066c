"""What systems differ in: this one for real, and Windows by stand-ins for what it offers."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import types

import pytest

from bearsketch import files, system


class Kernel:
    """The few functions of kernel32 that are called."""

    def __init__(self, *, handle=5, waited=0, error=87):
        self.handle, self.waited, self.error, self.closed = handle, waited, error, []
        self.OpenProcess = lambda access, inherit, pid: self.handle
        self.GetLastError = lambda: self.error
        self.WaitForSingleObject = lambda handle, wait: self.waited
        self.CloseHandle = self.closed.append

    def K32GetProcessMemoryInfo(self, process, found, size):
        found._obj.PeakWorkingSetSize = 123 << 20
        return int(size > 0)

    def GetCurrentProcess(self):
        return -1


class Locks(types.SimpleNamespace):
    """Locks as msvcrt gives them: of bytes from where the file stands."""

    LK_NBLCK = 2

    def __init__(self, *, taken=False):
        super().__init__(taken=taken, calls=[])

    def locking(self, handle, mode, size):
        self.calls.append((os.lseek(handle, 0, os.SEEK_CUR), mode, size))
        if self.taken:
            raise PermissionError(13, "Permission denied")


@pytest.fixture
def windows(monkeypatch):
    locks = Locks()
    monkeypatch.setattr(system, "WINDOWS", True)
    monkeypatch.setitem(sys.modules, "msvcrt", locks)
    return locks


def test_a_lock_keeps_others_out_until_it_is_closed(tmp_path):
    path = tmp_path / "lock"
    path.write_bytes(b"x")
    first, second = (os.open(path, system.OWN_FILE) for _ in range(2))
    system.lock(first)
    with pytest.raises(BlockingIOError):
        system.lock(second)
    os.close(first)
    system.lock(second)
    system.remove_locked(second, path)
    assert not path.exists()
    with pytest.raises(OSError, match="descriptor"):
        os.fstat(second)


def test_a_lock_on_windows_leaves_the_contents_readable(tmp_path, windows):
    path = tmp_path / "lock"
    path.write_bytes(b"abc")
    handle = os.open(path, system.OWN_FILE)
    os.lseek(handle, 2, os.SEEK_SET)
    system.lock(handle)
    assert windows.calls == [(1 << 30, 2, 1)]
    assert os.read(handle, 9) == b"c"  # still where it stood
    windows.taken = True
    with pytest.raises(BlockingIOError):
        system.lock(handle)
    os.close(handle)


def test_a_locked_file_is_closed_before_windows_removes_it(tmp_path, windows, monkeypatch):
    path = tmp_path / "lock"
    path.write_bytes(b"")
    handle = os.open(path, system.OWN_FILE)
    real, order = os.close, []
    monkeypatch.setattr(os, "close", lambda number: (order.append(path.exists()), real(number)))
    system.remove_locked(handle, path)
    assert order == [True]
    assert not path.exists()


def test_processes_that_run_and_that_ended():
    assert system.process_runs(os.getpid())
    with subprocess.Popen([sys.executable, "-c", ""]) as ended:
        ended.wait()
    assert not system.process_runs(ended.pid)
    assert system.process_runs(1)  # of another user, where this is not root


@pytest.mark.parametrize(
    ("kernel", "runs"),
    [
        (Kernel(waited=0x102), True),
        (Kernel(waited=0), False),
        (Kernel(handle=0, error=87), False),
        (Kernel(handle=0, error=5), True),
    ],
    ids=["waits", "ended", "unknown", "not ours"],
)
def test_processes_of_windows_are_asked_for_and_never_signalled(kernel, runs, windows, monkeypatch):
    monkeypatch.setattr(system, "_kernel", lambda: kernel)
    monkeypatch.setattr(os, "kill", lambda *_: pytest.fail("os.kill sends Ctrl-C on Windows"))
    assert system.process_runs(4711) is runs
    assert kernel.closed == ([5] if kernel.handle else [])


def test_a_model_is_written_whole_on_windows(tmp_path, windows, monkeypatch):
    """No mode, no flush of the folder; what is looked at meanwhile is replaced once it is free."""
    path = tmp_path / "m.bear"
    path.write_bytes(b"old")
    tries, real = [], type(path).replace

    def busy(source, target):
        tries.append(target)
        if len(tries) < 3:
            raise PermissionError(13, "The process cannot access the file")
        return real(source, target)

    monkeypatch.setattr(type(path), "replace", busy)
    monkeypatch.setattr(os, "fchmod", lambda *_: pytest.fail("Windows has no fchmod"))
    files.write_whole(path, b"new\n")
    assert path.read_bytes() == b"new\n"
    assert len(tries) == 3
    assert [entry.name for entry in tmp_path.iterdir()] == ["m.bear"]


def test_a_target_that_stays_busy_is_an_error_and_keeps_what_it_was(tmp_path, windows, monkeypatch):
    path = tmp_path / "m.bear"
    path.write_bytes(b"old")
    monkeypatch.setattr(system, "_REPLACE_SECONDS", 0.2)

    def busy(source, target):
        raise PermissionError(13, "The process cannot access the file")

    monkeypatch.setattr(type(path), "replace", busy)
    with pytest.raises(files.SourceError, match="cannot write"):
        files.write_whole(path, b"new")
    assert path.read_bytes() == b"old"


def test_peak_memory():
    # A process of its own: this one may have had more before.
    code = (
        "from bearsketch import system\n"
        "before = system.peak_rss_bytes()\n"
        "held = bytearray(64 << 20)\n"
        "print(system.peak_rss_bytes() - before)\n"
    )
    grown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert 32 << 20 < int(grown.stdout) < 128 << 20


def test_peak_memory_on_windows(windows, monkeypatch):
    monkeypatch.setattr(system, "_kernel", Kernel)
    assert system.peak_rss_bytes() == 123 << 20
    assert ctypes.sizeof(ctypes.c_size_t) == 8


def test_peak_memory_without_proc(monkeypatch):
    """macOS counts bytes, other systems KiB."""
    monkeypatch.setattr(system, "Path", lambda _: types.SimpleNamespace(read_text=_absent))
    kib = system.peak_rss_bytes()
    monkeypatch.setattr(sys, "platform", "darwin")
    assert kib == pytest.approx(1024 * system.peak_rss_bytes(), rel=0.1)


def _absent():
    raise FileNotFoundError(2, "No such file")


def test_what_cannot_be_polled_is_read_without(monkeypatch):
    reader, writer = os.pipe()
    assert system.poll_of(reader).poll(0) == []
    os.write(writer, b"x")
    assert system.poll_of(reader).poll(0)
    monkeypatch.setitem(sys.modules, "select", types.SimpleNamespace())
    assert system.poll_of(reader) is None
    os.close(reader)
    os.close(writer)


def test_files_are_opened_as_bytes_and_not_for_children(tmp_path):
    for flags in (system.NEW_FILE, system.OWN_FILE):
        assert flags & getattr(os, "O_BINARY", 0) == getattr(os, "O_BINARY", 0)
        assert flags & getattr(os, "O_CLOEXEC", 0) == getattr(os, "O_CLOEXEC", 0)
