"""Runs at equal bytes: what is charged, how steps are searched, what a table says."""

import itertools
import json
from dataclasses import replace

import numpy as np
import pytest

from experiments import equal_bytes, real
from experiments.datasets import Prepared, prepare
from experiments.equal_bytes import LADDER, Line, Run, jobs, rows, tuned
from experiments.grid import Store, run_all


@pytest.fixture(scope="module")
def folder(made_up, tmp_path_factory):
    out = tmp_path_factory.mktemp("prepared")
    for name in ("rcv1", "avazu"):
        prepare(name, made_up, out)
    return out


@pytest.mark.parametrize(
    ("learner", "precision"),
    [("bear+", "int8"), *itertools.product(["fh", "mission", "bear", "awm"], ["float32", "int8"])],
)
def test_nobody_has_more_bytes_than_the_budget(learner, precision, folder):
    run = Run("rcv1", learner, precision, 100.0, step=None if learner == "bear+" else 1.0)
    result = replace(run, folder=folder).run()
    budget = 4 * 47236 // 100
    assert budget - 24 <= result["bytes"] <= budget  # five rows of cells may leave 20 bytes over
    assert result["k"] == (0 if learner == "fh" else budget // 4 // 12)
    assert 0.6 < result["all"] <= 1.0
    assert (result["selected"] is None) == (learner == "fh")


def test_clicks_are_scored_by_auc_with_an_intercept_for_all(folder):
    run = Run("avazu", "fh", "float32", 0.01, step=1.0, folder=folder)
    prepared = Prepared.load(equal_bytes.prepared_path("avazu", folder))
    assert run.make(prepared).config.intercept
    assert run.run()["all"] == 1.0
    assert not replace(run, dataset="rcv1").make(prepared).config.intercept


def test_validation_never_looks_at_test_rows(folder, monkeypatch):
    run = Run("rcv1", "fh", "int8", 10.0, step=1.0, validation=True, folder=folder)
    expected = run.run()
    whole = equal_bytes._load(equal_bytes.prepared_path("rcv1", folder))
    spoiled = replace(whole, test=whole.train.rows(0, 1))
    equal_bytes._rows.cache_clear()
    monkeypatch.setattr(equal_bytes, "_load", lambda path: spoiled)
    assert run.run()["all"] == expected["all"]
    equal_bytes._rows.cache_clear()


def test_what_does_not_fit_or_diverges_has_no_score(folder):
    small = Run("rcv1", "mission", "float32", 1e5, step=1.0, folder=folder).run()
    assert small["all"] is None
    assert small["bytes"] is None


def pretend(line, seeds, peaks):
    """Results of a search whose best step is known for each read-out."""
    done = {}
    while missing := [run for run in jobs([line], seeds, done) if run.key not in done]:
        for run in missing:
            away = {name: abs(np.log(run.step / peak)) for name, peak in peaks.items()}
            result = {name: 0.9 - 0.01 * far for name, far in away.items()}
            done[run.key] = {**result, "bytes": 100, "k": 2, "seconds": 0.5}
    return done


def test_each_read_out_gets_its_own_best_step_and_never_an_edge():
    line = tuned(Run("rcv1", "mission", "float32", 10.0))
    done = pretend(line, 3, {"all": 100.0, "selected": 0.03})
    found = {row["read_out"]: row for row in rows([line], 3, done)}
    assert found["all"]["step"] == 100.0
    assert found["selected"]["step"] == 0.03
    tried = sorted(run.step for run in jobs([line], 3, done) if run.validation)
    assert tried[0] < 0.03
    assert tried[-1] > 100.0
    assert set(tried) <= set(LADDER)
    assert found["all"]["seeds"] == 3
    assert found["all"]["sd"] == pytest.approx(0.0)


def test_a_diverged_step_is_never_the_best():
    line = tuned(Run("rcv1", "bear", "float32", 10.0))
    done = pretend(line, 1, {"all": 0.3, "selected": 0.3})
    for run in jobs([line], 1, done):
        if run.validation and run.step >= 0.3:
            done[run.key] = dict.fromkeys(done[run.key])
    steps = {run.step for run in jobs([line], 1, done) if not run.validation}
    assert all(step < 0.3 for step in steps)


def test_a_stopped_run_continues_with_the_same_rows(folder, tmp_path):
    run = Run("avazu", "awm", "int8", 4.0, folder=folder)
    some = [tuned(run), Line("bear+", replace(run, learner="bear+"), False)]
    store = Store(tmp_path / "cells.jsonl")
    run_all(lambda done: jobs(some, 2, done), store, 1)
    whole = list(rows(some, 2, store.done))
    kept = (tmp_path / "cells.jsonl").read_text().splitlines()
    assert len({json.loads(line)["key"] for line in kept}) == len(kept)
    (tmp_path / "half.jsonl").write_text("\n".join(kept[: len(kept) // 2]) + "\n")
    store = Store(tmp_path / "half.jsonl")
    run_all(lambda done: jobs(some, 2, done), store, 1)
    for one, other in zip(whole, rows(some, 2, store.done), strict=True):
        assert {**one, "seconds": 0} == {**other, "seconds": 0}


def test_keys_do_not_depend_on_folders(tmp_path):
    run = Run("rcv1", "fh", "int8", 10.0)
    assert run.key == replace(run, folder=tmp_path).key
    assert run.key != replace(run, seed=1).key


@pytest.mark.parametrize("name", list(real.REAL))
def test_every_experiment_asks_for_runs_of_its_data_sets(name, tmp_path):
    found = real.REAL[name].make(real.REAL[name].datasets, tmp_path, tmp_path).jobs(2, {})
    assert {getattr(job, "dataset", "dna") for job in found} == set(real.REAL[name].datasets)
    assert all(job.cost > 0 for job in found)
    assert len({job.key for job in found}) == len(found)


def test_known_results_are_compared_with_what_is_required(tmp_path):
    experiment = real.REAL["acceptance"].make(["rcv1"], tmp_path, tmp_path)
    done = {
        run.key: {"all": 0.93, "selected": 0.8, "bytes": 1, "k": 1, "seconds": 1.0}
        for run in experiment.jobs(3, {})
    }
    met = {(row["compression"], row["read_out"]): row["met"] for row in experiment.rows(3, done)}
    assert met[95.0, "all"]
    assert not met[10.0, "all"]
    assert not met[95.0, "selected"]
    assert met[300.0, "selected"]


def row_of(series, score, learner="bear+", precision="int8"):
    place = {"dataset": "rcv1", "compression": 10.0, "read_out": "all", "version": "1"}
    return {**place, "series": series, "score": score, "learner": learner, "precision": precision}


@pytest.mark.parametrize(
    ("ours", "float32", "int8", "met"),
    [(0.9, 0.9, 0.902, True), (0.9, 0.901, 0.5, False), (0.9, 0.8, 0.904, False)],
)
def test_the_verdict_asks_for_the_best_baseline_of_each_cell_type(ours, float32, int8, met):
    table = [
        row_of("bear+", ours),
        row_of("bear+, k=0", 0.7),
        row_of("fh, float32", float32, "fh", "float32"),
        row_of("awm, float32", 0.3, "awm", "float32"),
        row_of("fh, int8", None, "fh"),
        row_of("awm, int8", int8, "awm"),
    ]
    (found,) = real.compare(table)
    assert found["met"] is met
    assert (found["float32_best"], found["int8_best"]) == ("fh", "awm")
    assert found["k0"] == 0.7
