"""The command line as a user runs it."""

from __future__ import annotations

import atexit
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from functools import cache
from pathlib import Path
from typing import IO, Any

COMMAND = str(Path(sys.executable).parent / "bearsketch")
ENVIRONMENT = {**os.environ, "PYTHONWARNINGS": "default", "COLUMNS": "100"}
SERVER = Path(__file__).parents[1] / "command_server.py"
SECONDS = 120

Done = subprocess.CompletedProcess[str]


def bearsketch(
    *arguments: Any, input: bytes | str | None = None, cwd: Any = None, **options: Any
) -> Done:
    """Run the command to its end; text in and out.

    It is forked from a process that has imported it. With ``environment`` or any option of
    ``subprocess.run`` it is a process started anew.
    """
    if options or not hasattr(os, "fork"):
        return process(*arguments, input=input, cwd=cwd, **options)
    data = input.encode() if isinstance(input, str) else input
    words = [str(word) for word in arguments]
    code, out, err = _server().run(words, str(cwd or Path.cwd()), data)
    return subprocess.CompletedProcess([COMMAND, *words], code, out.decode(), err.decode())


def process(
    *arguments: Any,
    input: bytes | str | None = None,
    environment: dict[str, str] | None = None,
    **options: Any,
) -> Done:
    """Run the command as a process of its own, with its own hash seed and its own imports."""
    data = input.encode() if isinstance(input, str) else input
    done = subprocess.run(
        [COMMAND, *map(str, arguments)],
        input=data,
        capture_output=True,
        env={**ENVIRONMENT, **(environment or {})},
        check=False,
        timeout=SECONDS,
        **({} if input is not None else {"stdin": subprocess.DEVNULL}),
        **options,
    )
    return subprocess.CompletedProcess(
        done.args, done.returncode, done.stdout.decode(), done.stderr.decode()
    )


class Server:
    """A process that forks commands; see ``tests/command_server.py``."""

    def __init__(self) -> None:
        self._connection, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, str(SERVER), str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                env={**ENVIRONMENT, "OPENBLAS_NUM_THREADS": "1"},
                stdin=subprocess.DEVNULL,
            )
        self._answers = self._connection.makefile("rb")

    def run(
        self, arguments: list[str], folder: str, data: bytes | None
    ) -> tuple[int, bytes, bytes]:
        """Exit code, standard output and standard error of a command."""
        pipes = [os.pipe() for _ in range(3)]
        if data is None:
            os.close(pipes[0][0])
            pipes[0] = (os.open(os.devnull, os.O_RDONLY), pipes[0][1])
        theirs = [pipes[0][0], pipes[1][1], pipes[2][1]]
        request = json.dumps({"arguments": arguments, "folder": folder}).encode()
        socket.send_fds(self._connection, [request], theirs)
        for descriptor in theirs:
            os.close(descriptor)
        child = int(self._answers.readline())
        late = threading.Timer(SECONDS, os.kill, (child, signal.SIGKILL))
        late.start()
        said: dict[int, bytes] = {}

        def collect(number: int) -> None:
            with os.fdopen(pipes[number][0], "rb") as file:
                said[number] = file.read()

        readers = [threading.Thread(target=collect, args=(number,)) for number in (1, 2)]
        for reader in readers:
            reader.start()
        _feed(os.fdopen(pipes[0][1], "wb"), data or b"")
        for reader in readers:
            reader.join()
        code = int(self._answers.readline())
        late.cancel()
        if code == -signal.SIGKILL:
            raise subprocess.TimeoutExpired(arguments, SECONDS)
        return code, said[1], said[2]

    def close(self) -> None:
        """End the server."""
        self._answers.close()
        self._connection.close()
        self._process.wait()


def _feed(file: IO[bytes], data: bytes) -> None:
    try:
        with file:
            file.write(data)
    except BrokenPipeError:
        pass  # the command did not want all of it


@cache
def _server() -> Server:
    server = Server()
    atexit.register(server.close)
    return server


def good(*arguments: Any, **options: Any) -> Done:
    """Run a command that must succeed."""
    done = bearsketch(*arguments, **options)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    return done


def result(*arguments: Any, **options: Any) -> Any:
    """Run a command with --json and give what it printed."""
    return json.loads(good(*arguments, "--json", **options).stdout)


def spam_lines(n: int = 600) -> str:
    """VW lines of two classes that three words tell apart, with tags."""
    lines = []
    for i in range(n):
        spam = i % 2
        word = ("prize", "meeting")[1 - spam]
        lines.append(f"{spam} 'mail{i}|w {word} filler{i % 17} noise{i % 29}")
    return "\n".join(lines) + "\n"
