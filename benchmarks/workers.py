"""Speed-up of local workers: the same run with one worker and with more, in turns.

    python -m benchmarks.workers [--formats vw svmlight] [--times 10 40] [--workers 1 2] [--repeats 3]

Workload (a) is RCV1 repeated, as VW text and as svmlight. What the cores give at most is measured beside it:
as many runs of one worker as there are workers, at the same time, do that many times the work. The machine should do nothing else: the load
before the first run is printed with the results.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.workloads import as_vw, rcv1_svmlight

FORMATS = ("vw", "svmlight")
COMMAND = str(Path(sys.executable).parent / "bearsketch")


def run(data: Path, outputs: list[Path], options: list[str]) -> tuple[float, float]:
    """Seconds on the clock, and of all processors together, of a run for each output at once."""
    start, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [COMMAND, "train", "-q", str(data), "--memory", "256KiB", *options]
    started = [subprocess.Popen([*command, "-o", str(output)]) for output in outputs]
    if any(process.wait() for process in started):
        raise SystemExit(f"{' '.join(command)} failed")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return time.perf_counter() - start, used


def measure(data: Path, folder: Path, workers: list[int], repeats: int) -> dict[str, object]:
    jobs = {"one process": []} | {f"{n} workers": ["--workers", str(n)] for n in workers}
    seconds: dict[str, list[tuple[float, float]]] = {name: [] for name in jobs}
    digests, at_once, most = set(), [], max(workers)
    for _ in range(repeats):
        for name, options in jobs.items():
            output = folder / "model.bear"
            seconds[name].append(run(data, [output], options))
            if options:
                digests.add(hashlib.sha256(output.read_bytes()).hexdigest())
        outputs = [folder / f"model-{i}.bear" for i in range(most)]
        at_once.append(run(data, outputs, ["--workers", "1"])[0])
    medians = {name: statistics.median(t for t, _ in times) for name, times in seconds.items()}
    used = {name: statistics.median(t for _, t in times) for name, times in seconds.items()}
    base = medians[f"{workers[0]} workers"]
    return {
        "bytes": data.stat().st_size,
        "seconds": {name: round(value, 2) for name, value in medians.items()},
        "CPU seconds": {name: round(value, 2) for name, value in used.items()},
        "times the first": {name: round(base / value, 2) for name, value in medians.items()},
        f"{most} runs of one worker at once": {
            "seconds": round(statistics.median(at_once), 2),
            "times the work of the first": round(most * base / statistics.median(at_once), 2),
        },
        "distinct models of workers": len(digests),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--formats", choices=FORMATS, nargs="+", default=FORMATS)
    parser.add_argument("--times", type=int, nargs="+", default=[10, 40])
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--folder", type=Path, default=None)
    given = parser.parse_args()
    print(json.dumps({"cores": os.cpu_count(), "load before": os.getloadavg()}))
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        for times, name in itertools.product(given.times, given.formats):
            data = rcv1_svmlight(folder, times)
            data = as_vw(data) if name == "vw" else data
            told = measure(data, folder, given.workers, given.repeats)
            print(json.dumps({"RCV1 times": times, "as": name, **told}), flush=True)


if __name__ == "__main__":
    main()
