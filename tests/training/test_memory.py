"""The formula of memory: above what a process really has, and a cap that is kept to."""

from __future__ import annotations

import io

import pytest

from bearsketch import LimitError, load, make_learner
from bearsketch.reading import open_stream
from bearsketch.reading.limits import Limits
from bearsketch.training.memory import (
    LEAST_ENTRIES,
    PROGRAM_STEP,
    active_bytes,
    bounded,
    fit_limits,
    program_bytes,
    selected_bytes,
    terms,
)
from bearsketch.training.session import Session
from reliability import data, memory
from reliability.process import good, run
from tests.cli.helpers import bearsketch, result

pytestmark = pytest.mark.unsanitized

MIB = 1 << 20


def config(**options):
    return make_learner(**{"memory": "64KiB", "k": 100, **options}).config


def test_the_formula_holds_on_a_few_cells(tmp_path):
    cells = [
        ("bear+", "256KiB", None, 20, 20, True),
        ("bear+", "64MiB", 1000, 20, 20, False),
        ("bear", "4MiB", 1000, 60, 200, False),
    ]
    for cell in memory.grid(tmp_path, cells):
        assert 0.6 * cell["predicted"] <= cell["measured"] <= cell["predicted"], cell


def test_the_formula_holds_for_many_selected_with_long_names(tmp_path):
    k, n = 262_144, 14_000
    path = tmp_path / "long.vw"
    with path.open("w") as file:
        for i in range(n):
            words = " ".join(f"{20 * i + j:046d}" for j in range(20))
            file.write(f"{i % 2} |w {words}\n")
    options = ["--learner", "mission", "--memory", "8MiB", "-k", k]
    ran = good("train", path, "-o", tmp_path / "m.bear", "-q", *options)
    assert len(load(tmp_path / "m.bear").selected()) == k
    found = terms(
        memory.make_config("mission", "8MiB", k, 20),
        program=memory.program_peak(tmp_path),
        entries=240 * 20,
        active=20 * 20,
        text=240 * 20 * 48,
        line=path.stat().st_size // n,
    )
    assert 0.75 * sum(found.values()) <= ran.rss <= sum(found.values())


def test_limits_under_a_cap_fill_it_and_no_more():
    for cap in (80, 128, 512):
        found = fit_limits(config(), cap * MIB, program=48 * MIB)
        total = sum(bounded(config(), found, 48 * MIB, 2).values())
        assert total <= cap * MIB
        assert total > 0.95 * cap * MIB
        assert found.row_features == found.batch_entries
    assert fit_limits(config(), 1 << 40, program=0).batch_entries == Limits().batch_entries


def test_both_sides_of_the_least_cap():
    smallest = 48 * MIB
    with pytest.raises(LimitError) as caught:
        fit_limits(config(), smallest, program=48 * MIB)
    needed = next(cap for cap in range(smallest, 100 * MIB, 4096) if not _refused(cap))
    assert fit_limits(config(), needed, program=48 * MIB).batch_entries >= LEAST_ENTRIES
    assert caught.value.code == "MEM-CAP"
    for term in ("program", "cells", "selected features", "batches", "minibatch"):
        assert term in str(caught.value)


def _refused(cap):
    try:
        fit_limits(config(), cap, program=48 * MIB)
    except LimitError:
        return True
    return False


def test_more_costs_more():
    assert active_bytes(config(learner="bear", history=9)) > active_bytes(config(learner="bear"))
    softmax = config(loss="softmax", classes=9)
    assert active_bytes(softmax) > active_bytes(config())
    assert selected_bytes(config(k=200)) > selected_bytes(config())
    assert selected_bytes(config(loss="softmax", classes=9, per_class=True)) > selected_bytes(
        softmax
    )
    assert selected_bytes(config(k=0)) == 0


def test_the_program_is_counted_in_steps():
    assert program_bytes() % PROGRAM_STEP == 0
    assert program_bytes() > 0


def test_a_capped_process_stays_under_its_cap(tmp_path):
    path = data.write(tmp_path / "wide.vw", 300, 4000, 1 << 40, names=True)
    free = good("train", path, "-o", tmp_path / "a", "--json")
    capped = good("train", path, "-o", tmp_path / "b", "--json", "--max-memory", "90MiB")
    assert free.rss > 90 * MIB
    assert capped.rss < 90 * MIB
    assert free.json["split_batches"] < capped.json["split_batches"]
    # Where nothing is split, a cap changes nothing.
    narrow = data.write(tmp_path / "narrow.vw", 300, 10, 1 << 40, names=True)
    models = []
    for extra in ([], ["--max-memory", "90MiB"]):
        found = result("train", narrow, "-o", tmp_path / "c", *extra)
        assert found["split_batches"] == 0
        models.append((tmp_path / "c").read_bytes())
    assert models[0] == models[1]


def test_a_run_above_its_cap_is_refused_before_it_reads(tmp_path):
    refused = run(
        "train", "-", "-o", tmp_path / "m", "--memory", "1GiB", "--max-memory", "500MiB", stdin=0
    )
    assert refused.code == 6
    assert "error[MEM-CAP] max_memory must be at least 2" in refused.err
    assert "1024.0 MiB" in refused.err or "1.0 GiB" in refused.err
    assert refused.rss < 60 * MIB
    assert not (tmp_path / "m").exists()
    wrong = bearsketch("train", "-", "-o", tmp_path / "m", "--max-memory", "lots", input="")
    assert wrong.returncode == 2


def test_classes_that_were_not_foreseen_are_refused_before_learning():
    lines = "\n".join(f"c{i % 200} |w a{i} b{i}" for i in range(1000)) + "\n"
    cap = program_bytes() + 40 * MIB
    limits = fit_limits(config(), cap, program=program_bytes())
    opened = open_stream(io.BytesIO(lines.encode()), "vw", limits=limits, include_unlabelled=False)
    training = Session(opened, memory="64KiB", k=10, max_memory=cap)
    with opened, pytest.raises(LimitError, match="max_memory must be at least"):
        training.run()
    assert training.learner.counters["examples"] == 0


def test_an_example_too_large_for_the_cap_is_refused(tmp_path):
    path = data.write(tmp_path / "row.svm", 2, 30_000, 1 << 40, names=False)
    refused = bearsketch("train", path, "-o", tmp_path / "m", "--max-memory", "75MiB")
    assert refused.returncode == 6
    assert "error[COM-FEATURES]" in refused.stderr
