"""Speed and memory beside peers: every pair interleaved in one run, medians, ratios.

Usage: python benchmarks/run.py [--repeats 5] [--times 20] [--rows 1000000] [--out benchmarks.json]

Each measurement is a process of its own, so that peak memory is that of the job alone.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import platform
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import workloads

PROBE = """
import json, resource, sys, time
{setup}
start = time.perf_counter(); cpu = time.process_time()
{job}
wall = time.perf_counter() - start; cpu = time.process_time() - cpu
peak = [int(l.split()[1]) for l in open("/proc/self/status") if l.startswith("VmHWM")][0] * 1024
print(json.dumps(dict(wall=wall, cpu=cpu, peak=peak)))
"""

VW = "import vowpalwabbit"
JOBS: dict[str, tuple[str, str]] = {
    "bearsketch reads svmlight": (
        "from bearsketch import open_stream",
        "for batch in open_stream({svm!r}, seed=0): pass",
    ),
    "bearsketch reads vw": (
        "from bearsketch import open_stream",
        "for batch in open_stream({vw!r}, seed=0): pass",
    ),
    "scikit-learn load_svmlight_file": (
        "from sklearn.datasets import load_svmlight_file",
        "load_svmlight_file({svm!r})",
    ),
    "bearsketch train bear+ svmlight": ("", "{train} {svm!r}"),
    "bearsketch train bear+ vw": ("", "{train} {vw!r}"),
    "bearsketch train bear+ vw, 1 thread": ("", "{train} {vw!r} --threads 1"),
    "bearsketch train mission svmlight": ("", "{train} {svm!r} --learner mission"),
    "vw logistic -b 18": (
        VW,
        "vowpalwabbit.Workspace('-d {vw} --loss_function logistic -b 18 --quiet').finish()",
    ),
    "vw logistic -b 18 --sgd": (
        VW,
        "vowpalwabbit.Workspace('-d {vw} --loss_function logistic -b 18 --sgd --quiet').finish()",
    ),
    "bearsketch train bear+ clicks": ("", "{train} {clicks!r}"),
    "vw --invert_hash clicks": (
        VW,
        "vowpalwabbit.Workspace('-d {clicks} --loss_function logistic -b 18 --quiet "
        "--invert_hash {folder}/readable.txt').finish()",
    ),
}
RATIOS = (
    ("bearsketch reads svmlight", "scikit-learn load_svmlight_file", "goal: 10x"),
    ("bearsketch reads vw", "vw logistic -b 18", "goal: 3x its whole pass"),
    ("bearsketch train bear+ vw", "vw logistic -b 18", "bar 1x, goal 2x"),
    ("bearsketch train bear+ vw", "vw logistic -b 18 --sgd", "bar 1x, goal 2x"),
    ("bearsketch train bear+ vw", "bearsketch train bear+ vw, 1 thread", "goal: 1.4x"),
    (
        "bearsketch train bear+ svmlight",
        "bearsketch train mission svmlight",
        "goal: at least 1/1.5",
    ),
    ("bearsketch train bear+ clicks", "vw --invert_hash clicks", "goal: 40x"),
)


def command(name: str, places: dict[str, str]) -> list[str]:
    """The process that does a job."""
    setup, job = JOBS[name]
    if job.startswith("{train}"):
        words = job.format(**{**places, "train": ""}).split()
        arguments = [
            "train",
            *(word.strip("'") for word in words),
            "-o",
            f"{places['folder']}/m.bear",
        ]
        job = f"sys.argv = ['bearsketch', *{[*arguments, '--quiet']!r}]\ntry: main()\nexcept SystemExit: pass"
        setup = "from bearsketch.cli.app import main"
    else:
        job = job.format(**places)
    return [sys.executable, "-c", PROBE.format(setup=setup, job=job)]


def measure(names: list[str], places: dict[str, str], repeats: int) -> dict[str, dict[str, float]]:
    """Medians of every job, the jobs taking turns."""
    seen: dict[str, list[dict[str, float]]] = {name: [] for name in names}
    for turn in range(repeats):
        for name in names:
            print(f"\r{turn + 1}/{repeats} {name:50s}", end="", file=sys.stderr)
            done = subprocess.run(command(name, places), capture_output=True, text=True)
            if done.returncode == 0 and done.stdout.strip():
                seen[name].append(json.loads(done.stdout.strip().splitlines()[-1]))
            elif turn == 0:
                print(f"\nleft out: {done.stderr.strip()[-200:]}", file=sys.stderr)
    print(file=sys.stderr)
    return {
        name: {key: statistics.median(run[key] for run in runs) for key in runs[0]}
        for name, runs in seen.items()
        if runs
    }


def versions() -> dict[str, str]:
    names = ("bearsketch", "numpy", "scikit-learn", "vowpalwabbit")
    found = {}
    for name in names:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = "absent"
    return {**found, "python": platform.python_version(), "machine": platform.machine()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--times", type=int, default=20, help="RCV1 repeated so many times")
    parser.add_argument("--rows", type=int, default=1_000_000, help="rows of clicks")
    parser.add_argument("--out", type=Path, default=Path("build/benchmarks.json"))
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        svm = workloads.rcv1_svmlight(folder, given.times)
        places = {"svm": str(svm), "vw": str(workloads.as_vw(svm)), "folder": name}
        places["clicks"] = str(workloads.clicks(folder, given.rows))
        results = measure(list(JOBS), places, given.repeats)
        sizes = {key: Path(places[key]).stat().st_size for key in ("svm", "vw", "clicks")}
    report(results, sizes)
    given.out.parent.mkdir(parents=True, exist_ok=True)
    given.out.write_text(json.dumps({"versions": versions(), "results": results}, indent=1) + "\n")


def report(results: dict[str, dict[str, float]], sizes: dict[str, int]) -> None:
    print("| job | wall s | CPU s | MB/s | peak MiB |\n|---|---:|---:|---:|---:|")
    for name, run in results.items():
        key = "clicks" if "clicks" in name else "svm" if "svmlight" in name else "vw"
        rate = sizes[key] / run["wall"] / 1e6
        print(
            f"| {name} | {run['wall']:.2f} | {run['cpu']:.2f} | {rate:.0f} | {run['peak'] / 2**20:.0f} |"
        )
    print("\n| ours | peer | times its speed | |\n|---|---|---:|---|")
    for ours, peer, goal in RATIOS:
        if ours in results and peer in results:
            print(
                f"| {ours} | {peer} | {results[peer]['wall'] / results[ours]['wall']:.2f} | {goal} |"
            )


if __name__ == "__main__":
    main()
