"""Runs ``bearsketch`` in forks of one process that has imported it already.

A command then takes the time of its work, not that of its imports, and still has descriptors, a
working folder and an end of its own. ``tests/cli/helpers.py`` is the client.
"""

from __future__ import annotations

import atexit
import importlib
import json
import os
import socket
import sys
import threading
import traceback
from pathlib import Path

PACKAGES = ("", "cli", "distributed", "learners", "reading", "report", "training")
LEFT_OUT = ("start.py", "dask.py")  # the first runs the command, the second needs Dask
HEAVY = ("sklearn", "scipy", "pyarrow", "pandas", "dask")  # what only some commands import


def load() -> None:
    """Import what any command may import, but for heavy libraries."""
    import rich.console  # noqa: F401
    import typer.rich_utils  # noqa: F401

    import bearsketch

    root = Path(bearsketch.__path__[-1])
    for package in PACKAGES:
        for path in (root / package).glob("*.py"):
            if path.name not in LEFT_OUT:
                parts = ["bearsketch", package, path.stem.replace("__init__", "")]
                importlib.import_module(".".join(part for part in parts if part))
    loaded = [name for name in HEAVY if name in sys.modules]
    if loaded or threading.active_count() != 1:
        raise RuntimeError(f"importing commands loads {loaded} or starts threads: forks lack them")


def run(arguments: list[str], folder: str, descriptors: list[int]) -> int:
    """Be the command: its exit code."""
    for number, descriptor in enumerate(descriptors):
        os.dup2(descriptor, number)
        os.close(descriptor)
    os.chdir(folder)
    sys.argv = ["bearsketch", *arguments]
    code: object = 0
    try:
        from bearsketch.cli.start import main

        main()
    except SystemExit as left:
        code = left.code
    except BaseException:
        traceback.print_exc()
        code = 1
    threading._shutdown()  # as at the end of any process: threads first, then what is registered
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    return code if isinstance(code, int) else 0 if code is None else 1


def serve(connection: socket.socket) -> None:
    """Answer requests until the client is gone."""
    while True:
        message, descriptors, _, _ = socket.recv_fds(connection, 1 << 20, 3)
        if not message:
            return
        request = json.loads(message)
        child = os.fork()
        if child == 0:
            connection.close()
            os._exit(run(request["arguments"], request["folder"], descriptors))
        for descriptor in descriptors:
            os.close(descriptor)
        connection.sendall(b"%d\n" % child)
        _, status = os.waitpid(child, 0)
        connection.sendall(b"%d\n" % os.waitstatus_to_exitcode(status))


if __name__ == "__main__":
    load()
    with socket.socket(fileno=int(sys.argv[1])) as connection:
        serve(connection)
