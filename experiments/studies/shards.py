"""What shards and rounds do to a model, what they send, and what that means for large clusters.

    python -m experiments.studies.shards accuracy DATA --folder prepared --out shards.jsonl
    python -m experiments.studies.shards messages DATA --folder prepared --out messages.jsonl
    python -m experiments.studies.shards simulate messages.jsonl
    python -m experiments.studies.shards tables shards.jsonl

``DATA`` holds the folders text and genomes; prepared rows are kept in ``--folder``. Every run goes
through the driver that ``train --workers`` uses, on partitions of rows in memory.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from bearsketch.distributed import Driver, Job, Serial, learn_partition
from bearsketch.distributed.blocks import Block, BlockPlan
from bearsketch.distributed.prepare import Prepared as Start
from bearsketch.learners import Learner
from bearsketch.learners.average import average
from bearsketch.training.task import Task
from experiments.datasets import prepare
from experiments.datasets.prepared import Prepared, take
from experiments.equal_bytes import Run, score

DATA = {"rcv1": (10.0, 95.0), "urls": (10.0, 100.0), "dna": (22.0,)}
SEEDS = {"rcv1": (0, 1, 2), "urls": (0,), "dna": (0,)}
SHARDS = (1, 2, 4, 8, 16)
ROUNDS = {"rcv1": (1, 4, 16, 64), "urls": (1, 4, 16, 64), "dna": (1, 4, 16)}
JOB = Job("memory", {"seed": 0})


def new_learner(name: str, prepared: Prepared, compression: float, seed: int) -> Learner:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return Run(name, "bear+", "int8", compression, seed=seed).make(prepared)


def plan(batch, shards: int, rounds: int) -> BlockPlan:
    """Rows in order, cut at multiples of 20, the minibatch."""
    n = shards * rounds
    bounds = [round(len(batch) * i / n / 20) * 20 for i in range(n)] + [len(batch)]
    parts = []
    for i in range(n):
        if bounds[i + 1] > bounds[i]:
            mask = np.zeros(len(batch), dtype=bool)
            mask[bounds[i] : bounds[i + 1]] = True
            parts.append(Block(len(parts), i // shards, i % shards, (str(i),), (batch.keep(mask),)))
    return BlockPlan(shards, rounds, tuple(parts))


def scores(prepared: Prepared, learner: Learner) -> dict[str, float]:
    found = {}
    for name, only in (("all", False), ("selected", True)):
        margins = learner.predict_margin(prepared.test, selected_only=only)
        found[name] = score(prepared.test, margins, auc=False)
    return found


def overlap(a: Learner, b: Learner) -> float:
    one, two = set(a.selected().keys.tolist()), set(b.selected().keys.tolist())
    return len(one & two) / max(len(one | two), 1)


def accuracy(given: argparse.Namespace) -> None:
    with given.out.open("a") as out:
        for name in given.datasets:
            prepared = Prepared.load(prepare(name, given.data, given.folder))
            for compression in given.compressions or DATA[name]:
                for seed in SEEDS[name]:
                    rounds = given.rounds or ROUNDS[name]
                    study(name, prepared, compression, seed, rounds, out)


def study(
    name: str, prepared: Prepared, compression: float, seed: int, many: Sequence[int], out
) -> None:
    about = {"data": name, "compression": compression, "seed": seed}
    single = new_learner(name, prepared, compression, seed)
    single.learn(prepared.train)
    say(out, {**about, "shards": 0, "rounds": 0, **scores(prepared, single), "overlap": 1.0})
    order = np.random.default_rng(1).permutation(len(prepared.train))
    shuffled = new_learner(name, prepared, compression, seed)
    for start in range(0, len(order), 1000):
        mask = order[start : start + 1000]
        shuffled.learn(take(prepared.train, mask))
    found = {**scores(prepared, shuffled), "overlap": overlap(single, shuffled)}
    say(out, {**about, "shards": -1, "rounds": 0, **found})
    for shards in SHARDS:
        for rounds in many:
            start = time.perf_counter()
            learner = new_learner(name, prepared, compression, seed)
            task = Task(learner.config.loss, learner.labels.classes, 0, "")
            driver = Driver(Start(plan(prepared.train, shards, rounds), learner, JOB, task))
            driver.run(Serial())
            found = {**scores(prepared, driver.learner), "overlap": overlap(single, driver.learner)}
            seconds = round(time.perf_counter() - start, 2)
            where = {"shards": shards, "rounds": rounds}
            say(out, {**about, **where, **found, "seconds": seconds})


def say(out, row: dict) -> None:
    out.write(json.dumps(row) + "\n")
    out.flush()


def messages(given: argparse.Namespace) -> None:
    """Size of a whole model and of the change since the round began; seconds of each step."""
    prepared = Prepared.load(prepare("rcv1", given.data, given.folder))
    with given.out.open("a") as out:
        for memory in (64 << 10, 256 << 10, 4 << 20):
            compression = 4.0 * prepared.dimension / memory
            for examples in (20, 100, 1000, 4000):
                say(out, {"memory": memory, "examples": examples, **message(
                    prepared, compression, examples)})  # fmt: skip


def message(prepared: Prepared, compression: float, examples: int) -> dict[str, float]:
    start = new_learner("rcv1", prepared, compression, 0)
    start.learn(prepared.train.rows(0, 8000))
    before = start.to_bytes()
    parts, seconds = [], []
    for i in range(4):
        first = 8000 + i * min(examples, 1250)
        rows = prepared.train.rows(first, first + examples)
        clock = time.process_time()
        block = Block(i, 0, i, (str(i),), (rows,))
        parts.append(learn_partition(before, block, JOB).model)
        seconds.append(time.process_time() - clock)
    learners = [Learner.from_bytes(part) for part in parts]
    clock = time.process_time()
    for _ in range(5):
        average(learners, start)
    merging = (time.process_time() - clock) / 5
    clock = time.process_time()
    learner = Learner.from_bytes(before)
    learner.to_bytes()
    packing = time.process_time() - clock
    change = xor(before, parts[0])
    return {
        "whole": len(before),
        "packed": len(zlib.compress(before, 1)),
        "change": len(zlib.compress(change, 1)),
        "learn_seconds": float(np.median(seconds)),
        "merge_seconds_of_4": merging,
        "pack_seconds": packing,
    }


def xor(a: bytes, b: bytes) -> bytes:
    """Bytes that differ, from the end, where the cells are; the rest as it is."""
    n = min(len(a), len(b))
    x, y = (np.frombuffer(part[len(part) - n :], dtype=np.uint8) for part in (a, b))
    return b[: len(b) - n] + (x ^ y).tobytes()


def simulate(given: argparse.Namespace) -> None:
    """Seconds of a pass: measured work of each step, times what a link of some speed adds."""
    rows = [json.loads(line) for line in given.table.read_text().splitlines()]
    print("| memory | workers | link | learning | merging | sending, whole | as changes | limit |")
    print("|---|---|---|---|---|---|---|---|")
    total, rounds = given.examples, given.rounds
    for memory in sorted({row["memory"] for row in rows}):
        known = {row["examples"]: row for row in rows if row["memory"] == memory}
        most = known[max(known)]
        per_example = (most["learn_seconds"] - known[min(known)]["learn_seconds"]) / (
            max(known) - min(known)
        )
        for workers in (64, 256, 1024):
            examples = total / rounds / workers
            learning = rounds * (examples * per_example + most["pack_seconds"])
            merging = rounds * workers * most["merge_seconds_of_4"] / 4
            nearest = min(known, key=lambda n: abs(n - examples))
            for link in (1e9, 10e9):
                # Models go out from worker to worker, in as many steps as doubling takes; what
                # comes back all goes through the one link of the driver.
                out = rounds * np.ceil(np.log2(workers)) * most["whole"] * 8 / link
                whole = out + rounds * workers * most["whole"] * 8 / link
                change = out + rounds * workers * known[nearest]["change"] * 8 / link
                parts = {"learning": learning, "merging": merging, "sending": min(whole, change)}
                print(
                    f"| {memory >> 10} KiB | {workers:,} | {link / 1e9:g} Gbit/s | {learning:.1f} s "
                    f"| {merging:.1f} s | {whole:.1f} s | {change:.1f} s | {max(parts, key=parts.get)} |"
                )


def tables(given: argparse.Namespace) -> None:
    rows = [json.loads(line) for line in given.table.read_text().splitlines()]
    for data, compression in sorted({(row["data"], row["compression"]) for row in rows}):
        mine = [r for r in rows if (r["data"], r["compression"]) == (data, compression)]
        print(f"\n{data}, CF {compression:g}\n")
        rounds = sorted({r["rounds"] for r in mine if r["rounds"]})
        print("| shards | " + " | ".join(f"{n} rounds" for n in rounds) + " |")
        print("|---" * (len(rounds) + 1) + "|")
        for shards in sorted({r["shards"] for r in mine}):
            cells = []
            for n in rounds if shards > 0 else [0]:
                some = [r for r in mine if (r["shards"], r["rounds"]) == (shards, n)]
                if some:
                    mean = [np.mean([r[k] for r in some]) for k in ("all", "selected", "overlap")]
                    cells.append(" / ".join(f"{value:.3f}".lstrip("0") for value in mean))
            title = {0: "single stream", -1: "single stream, shuffled"}.get(shards, str(shards))
            print(f"| {title} | " + " | ".join(cells) + " |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    jobs = parser.add_subparsers(required=True)
    for name, job in (("accuracy", accuracy), ("messages", messages)):
        one = jobs.add_parser(name)
        one.add_argument("data", type=Path)
        one.add_argument("--folder", type=Path, default=Path("prepared"))
        one.add_argument("--out", type=Path, required=True)
        one.add_argument("--datasets", nargs="+", default=list(DATA))
        one.add_argument("--compressions", nargs="+", type=float)
        one.add_argument("--rounds", nargs="+", type=int)
        one.set_defaults(job=job)
    one = jobs.add_parser("simulate")
    one.add_argument("table", type=Path)
    one.add_argument("--examples", type=float, default=1e9)
    one.add_argument("--rounds", type=int, default=16)
    one.set_defaults(job=simulate)
    one = jobs.add_parser("tables")
    one.add_argument("table", type=Path)
    one.set_defaults(job=tables)
    given = parser.parse_args()
    given.job(given)


if __name__ == "__main__":
    main()
