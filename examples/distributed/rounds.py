"""Rounds on files: what ``train --workers`` does, as separate jobs of any queue.

    python rounds.py learn DATA... --folder run --round R --shard S    # for every S of a round
    python rounds.py merge DATA... --folder run --round R              # then the next round

A job needs the data and the model of its round, ``run/00R.bear``; it finds the split by itself, as
the plan depends on the data and the numbers of shards and rounds alone. The model of the last
round has the weights that ``train --workers`` with the same numbers gives, bit for bit.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from bearsketch import Learner, load
from bearsketch.distributed import learn_partition
from bearsketch.distributed.prepare import Prepared, prepare
from bearsketch.files import write_whole
from bearsketch.learners.average import average


def model_of(given: argparse.Namespace, prepared: Prepared) -> Learner:
    """Model that a round begins with."""
    path = given.folder / f"{given.round:03d}.bear"
    return load(path) if given.round else prepared.learner


def shard_path(given: argparse.Namespace, number: int) -> Path:
    """Where the model of a shard after a round is."""
    return given.folder / f"{given.round:03d}-{number:05d}.bear"


def learn(given: argparse.Namespace, prepared: Prepared) -> None:
    """One shard of one round."""
    for part in prepared.plan.of_round(given.round):
        if part.shard == given.shard:
            model = model_of(given, prepared).to_bytes()
            result = learn_partition(model, part, prepared.job)
            write_whole(shard_path(given, part.shard), result.model)


def merge(given: argparse.Namespace, prepared: Prepared) -> None:
    """All shards of one round."""
    start = model_of(given, prepared)
    parts = [load(shard_path(given, p.shard)) for p in prepared.plan.of_round(given.round)]
    seen = start.counters["examples"]
    merged = average([part for part in parts if part.counters["examples"] > seen], start)
    if given.round + 1 == prepared.plan.rounds:
        merged.finish_pass()
    merged.save(given.folder / f"{given.round + 1:03d}.bear")


def main() -> None:
    """Read the arguments."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("step", choices=("learn", "merge"))
    parser.add_argument("data", nargs="+")
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--round", type=int, required=True)
    parser.add_argument("--shard", type=int, default=0)
    parser.add_argument("--shards", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=16)
    parser.add_argument("--memory", default="256KiB")
    parser.add_argument("-k", type=int, default=None)
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    sizes = {"shards": given.shards, "rounds": given.rounds}
    prepared = prepare(given.data, **sizes, memory=given.memory, k=given.k, options={"rows": 240})
    {"learn": learn, "merge": merge}[given.step](given, prepared)


if __name__ == "__main__":
    main()
