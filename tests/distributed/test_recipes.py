"""The scripts for job arrays and Spark, run with plain local processes."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from bearsketch import load, make_learner
from bearsketch.distributed import Serial

from .conftest import Runs

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "distributed"
COMMAND = Path(sys.executable).parent / "bearsketch"
TRAIN = "--memory 2KiB -k 10 --classes -1,1"


@pytest.fixture
def parts(rows, tmp_path):
    lines = rows.read_text().splitlines(keepends=True)
    paths = []
    for i in range(3):
        paths.append(tmp_path / f"part {i}.vw")
        paths[-1].write_text("".join(lines[i::3]))
    return paths


def shell(*arguments, **environment):
    told = {**os.environ, "BEARSKETCH": str(COMMAND), "TRAIN": TRAIN, **environment}
    done = subprocess.run(
        [*map(str, arguments)], env=told, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return done


def test_a_job_array_of_files_is_merged(parts, tmp_path):
    shell(FOLDER / "array.sh", tmp_path / "all.bear", *parts)
    learner = load(tmp_path / "all.bear")
    assert learner.counters["examples"] == 3000
    assert learner.run["merged"] == 3
    assert set(learner.selected().names) == {f"w{i}" for i in range(10)}


def test_slurm_tasks_are_the_steps_of_the_array(parts, tmp_path):
    # A stand-in for sbatch that runs a task of the array, or the merge, at once.
    fake = tmp_path / "sbatch"
    fake.write_text(
        "#!/usr/bin/env bash\n"
        "while [[ $1 == --* ]]; do case $1 in --array=*) n=${1#*-} n=${n##*-};; esac; shift; done\n"
        'if [[ $2 == --part ]]; then for i in $(seq 0 "$n"); do\n'
        '  SLURM_ARRAY_TASK_ID=$i "$@" || exit 1; done; echo 17; else "$@"; fi\n'
    )
    fake.chmod(0o755)
    shell(FOLDER / "array.sh", tmp_path / "one.bear", *parts)
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    shell(FOLDER / "slurm.sh", tmp_path / "two.bear", *parts, PATH=path)
    assert (tmp_path / "one.bear").read_bytes() == (tmp_path / "two.bear").read_bytes()


def test_rounds_on_files_are_the_rounds_of_workers(rows, tmp_path):
    sizes = ["--shards", 3, "--rounds", 2, "--memory", "2KiB", "-k", 20, "--folder", tmp_path]

    def step(what, *more):
        shell(sys.executable, FOLDER / "rounds.py", what, rows, *sizes, *more)

    for number in range(2):
        for shard in (2, 0, 1):
            step("learn", "--round", number, "--shard", shard)
        step("merge", "--round", number)
    driver = Runs(rows, shards=3, rounds=2, options={"rows": 240}).driver()
    driver.run(Serial())
    driver.learner.run = {}
    assert load(tmp_path / "002.bear").to_bytes() == driver.learner.to_bytes()


class Lines:
    """As much of an RDD as the recipe uses, with every task run twice."""

    def __init__(self, parts):
        self.parts, self.context = parts, self

    def broadcast(self, value):
        self.value = value
        return self

    def destroy(self):
        self.value = None

    def mapPartitionsWithIndex(self, learn):
        self.results = [
            list(learn(i, iter(part))) for _ in range(2) for i, part in enumerate(self.parts)
        ]
        return self

    def collect(self):
        return [result for results in self.results for result in results]


def test_spark_rounds_are_merged_by_partition(rows):
    spec = importlib.util.spec_from_file_location("spark_recipe", FOLDER / "spark.py")
    spark = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(spark)
    lines = rows.read_text().splitlines()
    new = make_learner(memory="2KiB", k=10, classes=[-1, 1])
    learner = spark.train(Lines([lines[:1400], lines[1400:], []]), new, rounds=4)
    assert learner.counters["examples"] == 3000
    assert set(learner.selected().names) == {f"w{i}" for i in range(10)}
    assert np.isfinite(learner.selected().weights).all()
