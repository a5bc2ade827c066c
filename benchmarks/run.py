"""Speed and memory beside peers: every job interleaved in one run, medians, ratios, goals.

Usage: python -m benchmarks.run [--only rcv1 clicks ...] [--repeats 5] [--times 20] [--rows 1000000]
                                [--reads 60000] [--long-rows 3000] [--out build/benchmarks.json]

Each measurement is a process of its own, so that peak memory is that of the job alone.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import operator
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.jobs import GOALS, JOBS, MEASURES, Goal
from benchmarks.workloads import Data, Sizes, prepare

PROBE = """
import json, sys, time
told = {{}}
{setup}
start = time.perf_counter(); cpu = time.process_time()
{code}
wall = time.perf_counter() - start; cpu = time.process_time() - cpu
peak = [int(l.split()[1]) for l in open("/proc/self/status") if l.startswith("VmHWM")][0] * 1024
{after}
print(json.dumps(dict(wall=wall, cpu=cpu, peak=peak, **told)))
"""
WORKLOADS = tuple(dict.fromkeys(one for job in JOBS.values() for one in job.workloads.split()))
PACKAGES = ("bearsketch", "numpy", "scipy", "scikit-learn", "vowpalwabbit", "river")
# What ``train --json`` calls our figures.
SAID = {
    "accuracy": "progressive_accuracy",
    "loss": "progressive_loss",
    "model": "model_bytes",
}

Figures = dict[str, float]


def run_once(name: str, data: Data, folder: Path) -> Figures | None:
    """What one process took for a job; None, and a word why, if it failed."""
    job = JOBS[name]
    places = {"path": str(data.path), "folder": str(folder)}
    parts = {key: getattr(job, key).format(**places) for key in ("setup", "code", "after")}
    script = PROBE.format(**parts)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    if done.returncode:
        print(f"\n{name} left out: {done.stderr.strip()[-300:]}", file=sys.stderr)
        return None
    *summaries, got = [json.loads(line) for line in done.stdout.splitlines()]
    for said in summaries:
        got |= {ours: said[theirs] for ours, theirs in SAID.items()}
    return {key: value for key, value in got.items() if value is not None}


def measure(data: dict[str, Data], names: list[str], folder: Path, repeats: int):
    """Figures of every run of every job, the jobs taking turns."""
    seen: dict[str, list[Figures]] = {name: [] for name in names}
    for turn in range(repeats):
        for name in [name for name in names if turn == 0 or seen[name]]:
            print(f"\r{turn + 1}/{repeats} {name:60s}", end="", file=sys.stderr, flush=True)
            got = run_once(name, data[JOBS[name].data], folder)
            if got is not None:
                seen[name].append(got)
    print(file=sys.stderr)
    return {name: runs for name, runs in seen.items() if runs}


def medians(runs: dict[str, list[Figures]], data: dict[str, Data]) -> dict[str, Figures]:
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
    titles = ("job", "wall s", "CPU s", "examples/s", "MB/s", "peak MiB", "model KiB")
    yield f"| {' | '.join(titles)} | progressive loss | accuracy |"
    yield "|---|" + 8 * "---:|"
    for name, row in results.items():
        cells = [f"{row['wall']:.2f}", f"{row['cpu']:.2f}", f"{row['rows per second']:,.0f}"]
        cells += [f"{row['MB/s']:.3g}", f"{row['peak'] / 2**20:.1f}"]
        cells.append(f"{row['model'] / 1024:,.0f}" if "model" in row else "")
        cells += [f"{row[key]:.4f}" if key in row else "" for key in ("loss", "accuracy")]
        yield f"| {name} | {' | '.join(cells)} |"


def judged(results: dict[str, Figures]) -> Iterator[tuple[Goal, float, str]]:
    """Every goal whose jobs were run, with its figure and whether it is met."""
    for goal in GOALS:
        if goal.ours in results and (not goal.peer or goal.peer in results):
            _, sign, figure = MEASURES[goal.measure]
            got = figure(results[goal.ours], results.get(goal.peer, {}))
            better = operator.ge if sign == ">=" else operator.le
            if goal.limit is None:
                yield goal, got, ""
            elif better(got, goal.limit):
                yield goal, got, "met"
            else:
                bar = goal.bar is not None and better(got, goal.bar)
                yield goal, got, "bar met, goal **missed**" if bar else "**missed**"


def goals_table(results: dict[str, Figures]) -> Iterator[str]:
    yield "| ours | peer | measured | | goal | |"
    yield "|---|---|---:|---|---|---|"
    for goal, got, verdict in judged(results):
        title, sign, _ = MEASURES[goal.measure]
        wanted = f"{'at least' if sign == '>=' else 'at most'} {goal.limit:g}" if goal.limit else ""
        wanted += f" (bar {goal.bar:g})" if goal.bar else ""
        yield f"| {goal.ours} | {goal.peer} | {got:.3g} | {title} | {wanted} | {verdict} |"


def versions() -> dict[str, str]:
    found = {}
    for name in PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = "absent"
    return {**found, "python": platform.python_version(), "machine": platform.machine()}


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=WORKLOADS, default=WORKLOADS)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--times", type=int, default=Sizes.times, help="RCV1 repeated so often")
    parser.add_argument("--rows", type=int, default=Sizes.rows, help="rows of clicks")
    parser.add_argument("--reads", type=int, default=Sizes.reads, help="reads of genomes")
    parser.add_argument("--long-rows", type=int, default=Sizes.long_rows, help="long rows")
    parser.add_argument("--out", type=Path, default=Path("build/benchmarks.json"))
    return parser.parse_args()


def main() -> None:
    given = parse()
    sizes = Sizes(given.times, given.rows, given.reads, given.long_rows)
    load = os.getloadavg()
    with tempfile.TemporaryDirectory() as place:
        folder, wanted = Path(place), set(given.only)
        chosen = [name for name, job in JOBS.items() if wanted & set(job.workloads.split())]
        data = prepare({JOBS[name].data for name in chosen}, folder, sizes)
        present = [name for name in chosen if JOBS[name].data in data]
        for name in sorted(set(chosen) - set(present)):
            print(f"{name} left out: its data is absent", file=sys.stderr)
        runs = measure(data, present, folder, given.repeats)
    results = medians(runs, data)
    about = versions()
    print(f"{', '.join(f'{name} {version}' for name, version in about.items())}; ", end="")
    print(f"{os.cpu_count()} cores, medians of {given.repeats}\n")
    print("\n".join(jobs_table(results)), "\n")
    print("\n".join(goals_table(results)))
    record = {
        "versions": about,
        "cores": os.cpu_count(),
        "load before": load,
        "sizes": vars(sizes),
        "data": {name: {"rows": one.rows, "bytes": one.bytes} for name, one in data.items()},
        "medians": results,
        "runs": runs,
        "goals": [
            {**vars(goal), "measured": got, "verdict": said} for goal, got, said in judged(results)
        ],
    }
    given.out.parent.mkdir(parents=True, exist_ok=True)
    given.out.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
