"""Faults in quantity: workers killed, any order of completion, drivers killed; one hash or fail.

    python tests/distributed/campaign.py --runs 50 [--out campaign.json]

Not collected by pytest: the suite has a few of each. Prints one JSON object.
"""

# ruff: noqa: E402
from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[2])]

from bearsketch.distributed import Pool, Serial
from faulty_partitions import Sleepy, as_kind, with_spans
from tests.distributed.conftest import Runs, write_rows

HANG = 300.0  # seconds after which a run counts as hung
EXAMPLES = 20_000


class Campaign:
    """Runs of one kind against the hash of a run without faults."""

    def __init__(self, name: str, wanted: str) -> None:
        self.name, self.wanted = name, wanted
        self.runs = self.kills = self.hung = self.failed = 0
        self.hashes: set[str] = set()
        self.examples: set[int] = set()
        self.slowest = 0.0

    def add(self, hash_: str | None, seconds: float, kills: int = 0, examples: int = 0) -> None:
        self.runs += 1
        self.kills += kills
        self.hung += seconds > HANG
        self.slowest = max(self.slowest, seconds)
        if hash_ is None:
            self.failed += 1
        else:
            self.hashes.add(hash_)
        if examples:
            self.examples.add(examples)
        print(self.name, self.runs, kills, round(seconds, 1), file=sys.stderr, flush=True)

    def told(self) -> dict:
        return {
            "runs": self.runs,
            "kills": self.kills,
            "distinct hashes": len(self.hashes),
            "as without faults": self.hashes == {self.wanted},
            "failed": self.failed,
            "hung": self.hung,
            "examples": sorted(self.examples),
            "slowest seconds": round(self.slowest, 1),
        }


@contextlib.contextmanager
def killer(pids, most: int, rng: random.Random):
    """Kill a random process every now and then, on a thread."""
    stop, killed = threading.Event(), []

    def work() -> None:
        while len(killed) < most and not stop.wait(rng.uniform(0.02, 0.5)):
            with contextlib.suppress(OSError, IndexError, ValueError, RuntimeError):
                pid = rng.choice(list(pids()))
                os.kill(pid, signal.SIGKILL)
                killed.append(pid)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    try:
        yield killed
    finally:
        stop.set()
        thread.join(5.0)


def one_run(runs: Runs, runner, pids=None, kills: int = 0, rng=None, plan=None):
    driver = runs.driver(plan)
    start = time.monotonic()
    with contextlib.ExitStack() as stack:
        killed = stack.enter_context(killer(pids, kills, rng)) if kills else []
        driver.run(runner)
    return runs.finish(driver), time.monotonic() - start, len(killed), driver.learned


def pool_kills(runs: Runs, wanted: str, n: int, rng) -> Campaign:
    campaign = Campaign("workers of a pool killed", wanted)
    for _ in range(n):
        with Pool(2, attempts=20, patience=60.0) as pool:
            campaign.add(*one_run(runs, pool, pool.pids, rng.randint(1, 3), rng))
    return campaign


def sleeps(runs: Runs, wanted: str, n: int) -> Campaign:
    campaign = Campaign("random sleeps", wanted)
    plan = with_spans(runs.prepared.plan, lambda _, span: as_kind(span, Sleepy))
    with Pool(3) as pool:
        for _ in range(n):
            campaign.add(*one_run(runs, pool, plan=plan))
    return campaign


def dask_kills(runs: Runs, wanted: str, n: int, rng) -> Campaign:
    """One or two of three workers; a nanny whose worker dies while it starts may give it up."""
    import dask

    import distributed
    from bearsketch.distributed.dask import Cluster

    campaign = Campaign("workers of a Dask cluster killed", wanted)
    dask.config.set({"distributed.scheduler.allowed-failures": 20})
    while campaign.runs < n:
        with (
            distributed.LocalCluster(
                n_workers=3, threads_per_worker=1, dashboard_address=":0", silence_logs=50
            ) as cluster,
            distributed.Client(cluster, set_as_default=False) as client,
        ):
            while campaign.runs < n and all_there(client):
                left = list(client.run(os.getpid, on_error="ignore").values())
                rng.shuffle(left)
                kills = rng.randint(1, 2)
                campaign.add(*one_run(runs, Cluster(client), lambda q=left: [q.pop()], kills, rng))
    return campaign


def all_there(client) -> bool:
    until = time.monotonic() + 30.0
    while len(client.nthreads()) < 3 and time.monotonic() < until:
        time.sleep(0.1)
    return len(client.nthreads()) == 3


def driver_kills(data: Path, folder: Path, n: int, rng) -> Campaign:
    command = [str(Path(sys.executable).parent / "bearsketch"), "train", "-q", str(data)]
    command += ["--memory", "2KiB", "-k", "20", "--workers", "2", "--shards", "3", "--rounds", "12"]
    whole, output = folder / "whole.bear", folder / "model.bear"
    begun = time.monotonic()
    subprocess.run([*command, "-o", str(whole)], check=True)
    length = time.monotonic() - begun
    campaign = Campaign("drivers killed", digest(whole))
    for i in range(n):
        output.unlink(missing_ok=True)
        rest = [*command, "-o", str(output), "--checkpoint", str(folder / f"c{i}"), "--resume"]
        start, kills = time.monotonic(), 0
        for _ in range(rng.randint(1, 3)):
            with subprocess.Popen(rest, start_new_session=True) as process:
                begun = time.monotonic()
                try:
                    process.wait(rng.uniform(0.3, 0.95) * length)
                    length = min(length, time.monotonic() - begun)
                except subprocess.TimeoutExpired:
                    process.kill()
                    kills += 1
        done = subprocess.run(rest, check=False, timeout=HANG)
        found = digest(output) if done.returncode == 0 else None
        campaign.add(found, time.monotonic() - start, kills)
    return campaign


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--kinds", nargs="+", default=["sleeps", "pool", "dask", "driver"])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    rng, n = random.Random(given.seed), given.runs
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        data = write_rows(folder / "rows.vw", EXAMPLES)
        runs = Runs(data, rounds=8)
        wanted = runs.hash(Serial())
        told = {"examples": EXAMPLES, "partitions": len(runs.prepared.plan.partitions)}
        campaigns = {
            "sleeps": lambda: sleeps(runs, wanted, n),
            "pool": lambda: pool_kills(runs, wanted, n, rng),
            "dask": lambda: dask_kills(runs, wanted, n, rng),
            "driver": lambda: driver_kills(data, folder, n, rng),
        }
        for kind in given.kinds:
            done = campaigns[kind]()
            told[done.name] = done.told()
            print(json.dumps({done.name: done.told()}), flush=True)
            if given.out:
                given.out.write_text(json.dumps(told, indent=1) + "\n")
    bad = [k for k, v in told.items() if isinstance(v, dict) and not v["as without faults"]]
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
