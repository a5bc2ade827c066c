"""``python -m experiments datasets``."""

from __future__ import annotations

import dataclasses
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from bearsketch.cli.guard import guarded, say
from bearsketch.sizes import format_bytes

_PLAIN_SECONDS = 30.0

datasets = typer.Typer(
    name="datasets",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="""List and fetch the public data sets of the paper.

    **Examples**

    `python -m experiments datasets list`

    `python -m experiments datasets fetch rcv1 --to data`
    """,
)

Folder = Annotated[Path, typer.Option("--to", help="Folder of the data sets.")]


def list_sets(
    to: Folder = Path("data"),
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")] = False,
) -> None:
    """List the data sets that can be fetched, and those that are there.

    **Examples**

    `python -m experiments datasets list`

    `python -m experiments datasets list --to data --json`
    """
    from experiments.datasets.public import PUBLIC

    there = {name: all(p.exists() for p in data.paths(to)) for name, data in PUBLIC.items()}
    if as_json:
        plain = {
            name: {**dataclasses.asdict(data), "fetched": there[name]}
            for name, data in PUBLIC.items()
        }
        print(json.dumps({"datasets": plain}))
        return
    for name, data in PUBLIC.items():
        print(f"{name}: {data.title}{' (fetched)' if there[name] else ''}")
        print(f"  {data.rows} rows, {data.features:,} features; for {data.use}")
        for file, path in zip(data.files, data.paths(to), strict=True):
            size = "size not known" if file.size is None else format_bytes(file.size)
            print(f"  {path}, {size}")
        print(f"  from {data.url}\n  {data.licence}")


def fetch(
    names: Annotated[list[str], typer.Argument(metavar="NAME...", help="rcv1, webspam, kdd12.")],
    to: Folder = Path("data"),
    base: Annotated[
        str | None,
        typer.Option("--from", metavar="URL", help="Address of a mirror's folder of the files."),
    ] = None,
    sha256: Annotated[
        list[str] | None,
        typer.Option(metavar="FILE=SHA256", help="Checksum a file must have; several times."),
    ] = None,
) -> None:
    """Fetch data sets, verify them, and print where their files are.

    A fetch that was cut continues where it was; a file that is there is verified, not fetched
    again. Where no checksum is known, the first whole download is trusted, and its SHA-256 is
    kept beside it, as FILE.sha256, for the next time.

    **Examples**

    `python -m experiments datasets fetch rcv1 --to data`

    `python -m experiments datasets fetch webspam kdd12 --from https://mirror.example/libsvm/`
    """
    from experiments.datasets.download import fetch_file
    from experiments.datasets.public import address, public_sets, read_checksums
    from experiments.progress import work_left

    sets = public_sets(names)
    given = read_checksums(sha256 or (), sets)
    wanted = [
        (file, address(data, file, base), path)
        for data in sets
        for file, path in zip(data.files, data.paths(to), strict=True)
    ]
    for file, url, path in wanted:
        known = given.get(file.name, file.sha256)
        try:
            with work_left(file.name) as bar:
                report = bar if sys.stderr.isatty() else _lines(file.name)
                fetch_file(url, path, size=file.size, sha256=known, report=report, note=say)
        except KeyboardInterrupt as stopped:
            stopped.args = (f"stopped; the same command continues where {file.name} was",)
            raise
        print(path, flush=True)


def _lines(name: str) -> Callable[[float, float | None], None]:
    """Give a function that says how far a fetch is, every half minute."""
    start = last = time.monotonic()
    first: float | None = None

    def report(done: float, total: float | None) -> None:
        nonlocal first, last
        now = time.monotonic()
        first = done if first is None else first
        if now - last < _PLAIN_SECONDS:
            return
        last, text = now, f"{name}: {format_bytes(done)}"
        if total and done > first:
            left = (total - done) * (now - start) / (done - first)
            text += f" of {format_bytes(total)}, {left / 60:.0f} minutes left"
        say(text)

    return report


datasets.command("list")(guarded(list_sets))
datasets.command("fetch")(guarded(fetch))
