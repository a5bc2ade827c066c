"""Build and test the core for every platform that this machine can build for and run.

``make portability`` (or this file, with names of platforms). Each platform's C++ tests run, and
``bear_golden``, whose digests must be those of ``core/tests/golden.txt``. A missing tool skips a
platform; anything else that goes wrong fails.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / "build" / "portability"
EXPECTED = ROOT / "core" / "tests" / "golden.txt"
BINARIES = Path(sys.executable).parent


@dataclass(frozen=True)
class Platform:
    """How to build for a platform, and how to run what was built; no runner: it is built only."""

    tools: tuple[str, ...]
    cmake: dict[str, str]
    run: tuple[str, ...] | None = ()
    suffix: str = ""
    configure: tuple[str, ...] = ("cmake",)
    environment: dict[str, str] = field(default_factory=dict)


def _zig(target: str, system: str, processor: str, **more: str) -> dict[str, str]:
    return {
        "CMAKE_SYSTEM_NAME": system,
        "CMAKE_SYSTEM_PROCESSOR": processor,
        "CMAKE_CXX_COMPILER": str(_wrapper("c++", target)),
        "CMAKE_AR": str(_wrapper("ar")),
        "CMAKE_RANLIB": str(_wrapper("ranlib")),
        **more,
    }


def _wrapper(command: str, target: str = "") -> Path:
    """Write a script that calls zig, which CMake takes for one compiler."""
    path = BUILD / "zig" / f"{command}-{target or 'any'}"
    path.parent.mkdir(parents=True, exist_ok=True)
    aim = f" -target {target}" if target else ""
    path.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m ziglang {command}{aim} "$@"\n')
    path.chmod(0o755)
    return path


def platforms() -> dict[str, Platform]:
    """Give all platforms by name."""
    found = {
        "gcc": Platform(("g++",), {"CMAKE_CXX_COMPILER": "g++"}),
        "gcc, fallbacks": Platform(("g++",), {"CMAKE_CXX_COMPILER": "g++", "BEAR_PLAIN": "ON"}),
        "gcc, 32 bits": Platform(
            ("/usr/lib/gcc/x86_64-linux-gnu/12/32/libstdc++.a",),
            {"CMAKE_CXX_COMPILER": "g++", "CMAKE_CXX_FLAGS": "-m32 -msse2 -mfpmath=sse"},
        ),
        "gcc, processor of 2013": Platform(
            ("g++",), {"CMAKE_CXX_COMPILER": "g++", "CMAKE_CXX_FLAGS": "-march=haswell"}
        ),
        "clang, libc++": Platform(
            ("clang++-14", "/usr/lib/llvm-14/include/c++/v1/vector"),
            {
                "CMAKE_CXX_COMPILER": "clang++-14",
                "CMAKE_CXX_FLAGS": "-stdlib=libc++",
                "CMAKE_EXE_LINKER_FLAGS": "-stdlib=libc++",
            },
        ),
        "aarch64": Platform(
            ("aarch64-linux-gnu-g++", "qemu-aarch64"),
            {
                "CMAKE_SYSTEM_NAME": "Linux",
                "CMAKE_SYSTEM_PROCESSOR": "aarch64",
                "CMAKE_CXX_COMPILER": "aarch64-linux-gnu-g++",
            },
            run=("qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"),
        ),
        "Windows (mingw)": Platform(
            ("x86_64-w64-mingw32-g++-posix", "wine"),
            {
                "CMAKE_SYSTEM_NAME": "Windows",
                "CMAKE_CXX_COMPILER": "x86_64-w64-mingw32-g++-posix",
                "CMAKE_EXE_LINKER_FLAGS": "-static",
            },
            run=("wine",),
            suffix=".exe",
            environment={"WINEDEBUG": "-all"},
        ),
        # Its runtime takes the fetch of newer Nodes for that of a page.
        "wasm32 (Node)": Platform(
            ("emcc", "node", "/usr/share/nodejs/acorn"),
            {},
            run=("node", "--no-experimental-fetch"),
            suffix=".js",
            configure=("emcmake", "cmake"),
            environment={"NODE_PATH": "/usr/share/nodejs"},
        ),
    }
    for name, target, system, processor in (
        ("musl x86-64", "x86_64-linux-musl", "Linux", "x86_64"),
        ("musl aarch64", "aarch64-linux-musl", "Linux", "aarch64"),
        ("macOS arm64", "aarch64-macos.13.3", "Darwin", "arm64"),
        ("macOS x86-64", "x86_64-macos.13.3", "Darwin", "x86_64"),
    ):
        run: tuple[str, ...] | None = None
        if name == "musl x86-64":
            run = ()
        elif name == "musl aarch64":
            run = ("qemu-aarch64",)
        more = {"CMAKE_OSX_SYSROOT": ""} if system == "Darwin" else {}
        found[name] = Platform(
            (f"python:{'ziglang'}", *run[:1]) if run else ("python:ziglang",),
            _zig(target, system, processor, **more),
            run,
        )
    return found


def missing(platform: Platform) -> list[str]:
    """Tools that are not here."""
    return [tool for tool in platform.tools if not _there(tool)]


def _there(tool: str) -> bool:
    if tool.startswith("python:"):
        command = [sys.executable, "-c", f"import {tool.removeprefix('python:')}"]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    return Path(tool).exists() if tool.startswith("/") else shutil.which(tool) is not None


def build(name: str, platform: Platform) -> Path:
    """Configure and compile; returns where the programs are."""
    folder = BUILD / "".join(c if c.isalnum() else "-" for c in name)
    include = BUILD / "include"
    (include / "doctest").mkdir(parents=True, exist_ok=True)
    shutil.copy("/usr/include/doctest/doctest.h", include / "doctest" / "doctest.h")
    settings = {
        "CMAKE_BUILD_TYPE": "Release",
        "BEAR_DOCTEST": str(include),
        **platform.cmake,
    }
    flags = [f"-D{key}={value}" for key, value in settings.items()]
    _checked(
        [*platform.configure, "-G", "Ninja", "-S", str(ROOT), "-B", str(folder), *flags], platform
    )
    _checked(["cmake", "--build", str(folder), "-j", "2"], platform)
    return folder / "core" / "tests"


def _checked(command: list[str], platform: Platform) -> None:
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **platform.environment},
    )
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}\n{done.stdout[-6000:]}\n{done.stderr[-6000:]}")


def check(name: str, platform: Platform) -> str:
    """Build a platform, run its tests and compare its digests; say what was done."""
    folder = build(name, platform)
    if platform.run is None:
        return "built only"
    tests = _run(platform, folder / f"bear_tests{platform.suffix}")
    if "Status: SUCCESS!" not in tests:
        raise RuntimeError(f"C++ tests fail:\n{tests[-6000:]}")
    found = _run(platform, folder / f"bear_golden{platform.suffix}").replace("\r\n", "\n")
    if found != EXPECTED.read_text():
        raise RuntimeError(f"digests differ:\n{found}")
    count = next(line for line in tests.splitlines() if "test cases:" in line).split("|")[0].split()
    return f"{count[-1]} C++ tests pass, same digests"


def _run(platform: Platform, program: Path) -> str:
    done = subprocess.run(
        [*(platform.run or ()), str(program)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **platform.environment},
        cwd=program.parent,
    )
    return done.stdout + (f"\nexit code {done.returncode}" if done.returncode else "")


def main(wanted: list[str]) -> int:
    """Check the platforms, all or those named; 1 if one fails."""
    failed = False
    for name, platform in platforms().items():
        if wanted and name not in wanted:
            continue
        absent = missing(platform)
        try:
            outcome = f"skipped: no {', '.join(absent)}" if absent else check(name, platform)
        except RuntimeError as error:
            outcome, failed = f"FAILED: {error}", True
        print(f"{name:24} {outcome}", flush=True)
    return int(failed)


if __name__ == "__main__":
    os.environ["PATH"] = f"{BINARIES}{os.pathsep}{os.environ['PATH']}"
    raise SystemExit(main(sys.argv[1:]))
