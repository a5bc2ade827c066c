"""Speed and memory beside peers: all jobs in turns in one run, medians, ratios.

Usage: python -m benchmarks.run [--only text predict ...] [--repeats 9] [--times 20] [--rows 200000]
                                [--long-rows 3000] [--out build/benchmarks.json] [--page PAGE]

Each measurement is a process of its own, so that peak memory is that of the job alone. Without
``--only`` the run takes eight to ten minutes on two quiet cores. ``--page`` writes the table between
the markers of a page.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.jobs import JOBS, PAIRS, USUAL, WORKLOADS, Pair
from benchmarks.workloads import Data, Sizes, prepare
from tools.fill_numbers import fill

PROBE = """
import json, sys, time
said = {{}}
{setup}
start = time.perf_counter(); cpu = time.process_time()
{code}
wall = time.perf_counter() - start; cpu = time.process_time() - cpu
peak = [int(l.split()[1]) for l in open("/proc/self/status") if l.startswith("VmHWM")][0] * 1024
{after}
print(json.dumps(dict(wall=wall, cpu=cpu, peak=peak) | said))
"""
PACKAGES = ("bearsketch", "numpy", "scipy", "scikit-learn", "vowpalwabbit", "river")
# What ``train --json`` calls our figures.
SAID = {
    "accuracy": "progressive_accuracy",
    "loss": "progressive_loss",
    "model": "model_bytes",
}

Figures = dict[str, float]
Runs = dict[str, list[Figures]]


def run_once(name: str, data: Data, folder: Path) -> Figures | None:
    """What one process took for a job; None, and the reason on standard error, if it failed."""
    job = JOBS[name]
    places = {"path": str(data.path), "folder": str(folder)}
    parts = {key: getattr(job, key).format(**places) for key in ("setup", "code", "after")}
    script = PROBE.format(**parts)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    if done.returncode:
        print(f"\n{name} left out: {done.stderr.strip()[-300:]}", file=sys.stderr)
        return None
    *summaries, got = [json.loads(line) for line in done.stdout.splitlines()]
    for summary in summaries:
        got |= {ours: summary.get(theirs) for ours, theirs in SAID.items()}
    return {key: value for key, value in got.items() if value is not None}


def measure(data: dict[str, Data], names: list[str], folder: Path, repeats: int) -> Runs:
    """Figures of every run of every job, the jobs taking turns.

    The first turn only warms up: caches are filled and models to predict with are made.
    """
    seen: Runs = {name: [] for name in names}
    for turn in range(repeats + 1):
        for name in list(seen):
            print(f"\r{turn}/{repeats} {name:60s}", end="", file=sys.stderr, flush=True)
            got = run_once(name, data[JOBS[name].data], folder)
            if got is None:
                del seen[name]
            elif turn:
                seen[name].append(got)
    print(file=sys.stderr)
    return {name: runs for name, runs in seen.items() if runs}


def medians(runs: Runs, data: dict[str, Data]) -> dict[str, Figures]:
    """One row of figures per job, with rates."""
    found = {}
    for name, all_runs in runs.items():
        row = {key: statistics.median(run[key] for run in all_runs) for key in all_runs[0]}
        of = data[JOBS[name].data]
        row |= {"rows": of.rows, "seconds per row": row["wall"] / of.rows}
        row |= {"rows per second": of.rows / row["wall"], "MB/s": of.bytes / row["wall"] / 1e6}
        found[name] = row
    return found


def jobs_table(results: dict[str, Figures]) -> Iterator[str]:
    """Every job, as Markdown."""
    titles = ("job", "wall s", "CPU s", "examples/s", "MB/s", "peak MiB", "model KiB")
    yield f"| {' | '.join(titles)} | progressive loss | accuracy |"
    yield "|---|" + 8 * "---:|"
    for name, row in results.items():
        cells = [f"{row['wall']:.3g}", f"{row['cpu']:.3g}", f"{row['rows per second']:,.0f}"]
        cells += [f"{row['MB/s']:.3g}", f"{row['peak'] / 2**20:.1f}"]
        cells.append(f"{row['model'] / 1024:,.0f}" if "model" in row else "")
        cells += [f"{row[key]:.4f}" if key in row else "" for key in ("loss", "accuracy")]
        yield f"| {name} | {' | '.join(cells)} |"


def ratios(pair: Pair, runs: Runs, data: dict[str, Data]) -> list[float]:
    """How many times the rival's speed ours is, in each turn, by examples per second."""
    ours, rival = data[JOBS[pair.ours].data].rows, data[JOBS[pair.rival].data].rows
    return [
        (theirs["wall"] / rival) / (mine["wall"] / ours)
        for mine, theirs in zip(runs[pair.ours], runs[pair.rival], strict=True)
    ]


def pairs_table(runs: Runs, results: dict[str, Figures], data: dict[str, Data]) -> Iterator[str]:
    """Ours beside each rival, as Markdown; the rows that we lose too."""
    turns = max(len(all_runs) for all_runs in runs.values())
    titles = ("bearsketch", "rival", "settings", "ours s", "rival s", "times its speed")
    yield f"| {' | '.join(titles)} | in {turns} turns | peak memory |"
    yield "|---|---|---|---:|---:|---:|---:|---:|"
    for pair in PAIRS:
        if pair.ours in results and pair.rival in results:
            ours, rival = results[pair.ours], results[pair.rival]
            found = ratios(pair, runs, data)
            speed = rival["seconds per row"] / ours["seconds per row"]
            rows = ours["rows"] / rival["rows"]  # the rival's time is that of as many examples
            cells = [f"{ours['wall']:.2f}", f"{rival['wall'] * rows:.2f}", f"**{speed:.2f}**"]
            cells += [f"{min(found):.2f} to {max(found):.2f}"]
            cells += [f"{ours['peak'] / 2**20:.0f} and {rival['peak'] / 2**20:.0f} MiB"]
            name = rival_of(pair.rival)
            yield f"| {pair.title} | {name} | {pair.settings} | {' | '.join(cells)} |"


def rival_of(job: str) -> str:
    """Name of the program of a job."""
    known = {"vw": "Vowpal Wabbit", "scikit-learn": "scikit-learn", "river": "River"}
    return known.get(job.replace(",", "").split()[0], "scikit-learn")


def versions() -> dict[str, str]:
    """Versions of all that takes part."""
    found = {}
    for name in PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = "absent"
    return {**found, "python": platform.python_version(), "machine": platform.machine()}


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=WORKLOADS, default=USUAL)
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--times", type=int, default=Sizes.times, help="RCV1 repeated so often")
    parser.add_argument("--rows", type=int, default=Sizes.rows, help="rows of clicks")
    parser.add_argument("--reads", type=int, default=Sizes.reads, help="reads of genomes")
    parser.add_argument("--long-rows", type=int, default=Sizes.long_rows, help="long rows")
    parser.add_argument("--out", type=Path, default=Path("build/benchmarks.json"))
    parser.add_argument("--page", type=Path, help="page whose table is written anew")
    return parser.parse_args()


def main() -> None:
    given, start = parse(), time.monotonic()
    sizes = Sizes(given.times, given.rows, given.reads, given.long_rows)
    load = os.getloadavg()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        chosen = [name for name, job in JOBS.items() if job.workload in given.only]
        data = prepare({JOBS[name].data for name in chosen}, folder, sizes)
        present = [name for name in chosen if JOBS[name].data in data]
        for name in sorted(set(chosen) - set(present)):
            print(f"{name} left out: its data is absent", file=sys.stderr)
        runs = measure(data, present, folder, given.repeats)
    results = medians(runs, data)
    about = versions()
    named = ", ".join(f"{name} {version}" for name, version in about.items())
    head = f"{named}; {os.cpu_count()} cores, medians of {given.repeats} runs in turns."
    pairs = "\n".join(pairs_table(runs, results, data))
    jobs = "\n".join(jobs_table(results))
    print(f"{head}\n\n{pairs}\n\n{jobs}\n\n{time.monotonic() - start:.0f} s")
    record = {
        "versions": about,
        "cores": os.cpu_count(),
        "load before": load,
        "sizes": vars(sizes),
        "data": {name: {"rows": one.rows, "bytes": one.bytes} for name, one in data.items()},
        "medians": results,
        "runs": runs,
    }
    given.out.parent.mkdir(parents=True, exist_ok=True)
    given.out.write_text(json.dumps(record, indent=1) + "\n")
    if given.page:
        table = f"{head}\n\n{pairs}\n\n## Jobs\n\n{jobs}"
        given.page.write_text(fill(given.page.read_text(), "speed", table))


if __name__ == "__main__":
    main()
