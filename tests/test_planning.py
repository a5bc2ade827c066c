"""A plan tells beforehand what is measured afterwards."""

from __future__ import annotations

import io
import math
import subprocess
import sys

import numpy as np
import pytest

from bearsketch import LimitError, ParameterError, make_learner
from bearsketch.learners.noise import noise_of
from bearsketch.planning import KMER_TAIL, needed_bytes, plan, sum_of_powers
from bearsketch.reading import open_stream
from bearsketch.sizes import format_bytes
from bearsketch.training.session import Session
from tests.cli.helpers import COMMAND, bearsketch, good, result

# A small process in between: the peak of a child counts what its parent had when it was forked.
MEASURE = """
import os, sys
child = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ)
_, status, used = os.wait4(child, 0)
print(used.ru_maxrss)
sys.exit(os.waitstatus_to_exitcode(status))
"""


def sketch_error(width, depth, query, weights, tested=2000, seed=3):
    """Root mean square error of reading keys that are not in a sketch of these weights."""
    rng = np.random.default_rng(seed)
    errors = np.empty((tested, depth))
    for row in range(depth):
        cells = np.bincount(
            rng.integers(0, width, len(weights)),
            weights * rng.choice([-1.0, 1.0], len(weights)),
            minlength=width,
        )
        errors[:, row] = cells[rng.integers(0, width, tested)] * rng.choice([-1.0, 1.0], tested)
    read = errors.mean(axis=1) if query == "mean" else np.median(errors, axis=1)
    return float(np.sqrt((read**2).mean()))


@pytest.mark.parametrize("learner", ["bear+", "bear", "awm"])
@pytest.mark.parametrize("tail", [0.0, 0.5, 0.8])
def test_the_noise_floor_is_that_of_a_sketch(learner, tail):
    made = plan("32KiB", k=100, learner=learner, features=40_000, tail=tail)
    first = 101 if learner == "bear+" else 1  # the selected of others are in the cells too
    weights = (100.0 / np.arange(first, 40_001)) ** tail
    query = "median" if learner == "bear" else "mean"
    measured = sketch_error(made.width, made.depth, query, weights)
    # A bound: few large weights make errors that are mostly small and rarely large.
    low = {"bear+": 0.9, "bear": 0.7, "awm": 0.4}[learner]
    assert low * made.noise_floor < measured < 1.1 * made.noise_floor


def test_the_shape_is_that_of_the_learner():
    made = plan("64KiB", k=500, features=10**6)
    learner = make_learner(k=500, memory="64KiB")
    assert (made.width, made.depth) == (learner.config.width, learner.config.depth)
    assert made.model_bytes == learner.sizes.model_bytes


@pytest.mark.parametrize("classes", [1, 2, 15])
@pytest.mark.parametrize("k", [10, 1000])
@pytest.mark.parametrize("tail", [0.0, 0.5, 1.0])
def test_the_needed_budget_is_just_enough(classes, k, tail):
    made = plan(k=k, classes=classes, features=100_000, tail=tail)
    assert made.verdict == "ample"
    parts = {"learner": "bear+", "classes": classes}
    need = needed_bytes(k, features=100_000, tail=tail, **parts)
    assert made.model_bytes == pytest.approx(need, abs=64)
    smaller = plan(int(need * 0.9) - 100, k=k, classes=classes, features=100_000, tail=tail)
    assert smaller.verdict != "ample"


@pytest.mark.parametrize("power", [0.0, 0.7, 1.0, 2.0])
@pytest.mark.parametrize("first", [0, 5, 4000])
def test_sums_of_powers(power, first):
    slow = math.fsum(i**-power for i in range(first + 1, 20_001))
    assert sum_of_powers(first, 20_000, power) == pytest.approx(slow, rel=1e-6)


@pytest.mark.unsanitized
@pytest.mark.parametrize(
    "options", [["--memory", "48MiB", "-k", "100"], ["--memory", "8MiB", "-k", "100000"]]
)
def test_the_process_peak_is_as_planned(options, tmp_path):
    data = tmp_path / "d.vw"
    rare = (" ".join(f"{i}x{j}" for j in range(10)) for i in range(3000))
    data.write_text("".join(f"{i % 2} | {words}\n" for i, words in enumerate(rare)))
    told = result("plan", *options)["plans"][0]["peak_bytes"]
    run = [COMMAND, "train", str(data), "-o", str(tmp_path / "m.bear"), "--quiet", *options]
    done = subprocess.run(
        [sys.executable, "-S", "-c", MEASURE, *run], capture_output=True, text=True, check=True
    )
    # A bound: small examples need less, and of the room for k features a third is filled.
    assert 0.4 * told < int(done.stdout) * 1024 < 1.05 * told


def test_the_table_has_a_column_a_budget():
    text = good("plan", "--memory", "64KiB", "--memory", "1MiB", "-k", "500").stdout
    assert "64.0 KiB" in text.splitlines()[1]
    assert "1.0 MiB" in text.splitlines()[1]
    assert "too small" in text


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ([], "give memory, or a k"),
        (["-k", "10", "--features", "many"], "must be a whole number"),
        (["-k", "10", "--features", "10"], "k must be below"),
        (["-k", "10", "--tail", "-1"], "tail must be from 0"),
        (["-k", "10", "--learner", "fh"], "one that selects"),
        (["-k", "10", "--memory", "lots"], "a size must be"),
    ],
)
def test_what_cannot_be_planned(options, told):
    done = bearsketch("plan", *options)
    assert done.returncode in (2, 6)
    assert told in done.stderr


def test_limits_are_errors_of_the_package():
    with pytest.raises(LimitError):
        plan("1KiB", k=10_000)
    with pytest.raises(ParameterError):
        plan("1KiB", k=1, classes=0)


def test_the_memory_of_kmers_is_judged_beside_that_of_words():
    told = good("plan", "-k", 1000, "--features", "1.5e6").stdout
    assert [line.split()[-1] for line in told.splitlines() if "memory is" in line] == ["ample"]
    assert "  k-mers, S 0.1" in told
    assert "too small" in told
    enough = good("plan", "-k", 1000, "--features", "1.5e6", "--tail", "0.1").stdout
    assert "k-mers" not in enough
    assert "too small" not in enough


@pytest.mark.parametrize("kmer", [12, 15])
def test_a_plan_for_kmers_agrees_with_what_is_measured(kmer):
    """Reads of two random genomes: what is ample for words is not for them."""
    rng = np.random.default_rng(4)
    genomes = rng.choice(np.frombuffer(b"ACGT", dtype=np.uint8), (2, 60_000))
    reads = [(i % 2, int(rng.integers(0, 59_900))) for i in range(3000)]
    text = b"".join(b">r y=%d\n%b\n" % (y, genomes[y, at : at + 100].tobytes()) for y, at in reads)
    made = plan(k=300, features=110_000, tail=KMER_TAIL)
    # What is planned is ample for eight of eight seeds, 45 KiB for none, and 55 KiB for some.
    less = {"fair", "too small"}
    for memory, verdict, seed in (
        (made.model_bytes, {"ample"}, 1),
        ("45KiB", less, 1),
        ("55KiB", less, 0),
    ):
        options = {"kmer": kmer, "label_regex": "y=(.)", "include_unlabelled": False}
        stream = open_stream(io.BytesIO(text), "fasta", **options)
        training = Session(stream, memory=memory, k=300, seed=seed)
        training.run()
        assert noise_of(training.learner).verdict in verdict
    assert plan("55KiB", k=300, features=110_000).verdict == "ample"
    assert plan("55KiB", k=300, features=110_000, tail=KMER_TAIL).verdict == "too small"


def test_the_file_is_as_large_as_planned(tmp_path):
    data, model = tmp_path / "d.vw", tmp_path / "m.bear"
    words = [f"a_word_of_{i:05d}_letters" for i in range(4000)]
    lines = (f"{i % 2} | {words[2 * (i * 7919 % 2000) + i % 2]}" for i in range(8000))
    data.write_text("\n".join(lines) + "\n")
    said = good("train", data, "-o", model, "--memory", "64KiB", "-k", "1000").stderr
    planned = plan("64KiB", k=1000).file_bytes
    assert model.stat().st_size == pytest.approx(planned, rel=0.1)
    assert f"({format_bytes(model.stat().st_size)}: 64.0 KiB of memory, " in said
    assert " for names, evidence and the record of the run)" in said
