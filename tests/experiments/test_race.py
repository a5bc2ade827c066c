"""Run time: passes in turns, and the time until all are equally good."""

import numpy as np
import pytest

from experiments import race
from experiments.datasets import prepare
from experiments.equal_bytes import Run, prepared_rows, tuned
from experiments.grid import Store, run_all
from experiments.race import PARTS, Race


@pytest.fixture(scope="module")
def team(made_up, tmp_path_factory):
    folder = tmp_path_factory.mktemp("prepared")
    prepare("rcv1", made_up, folder)
    return [tuned(Run("rcv1", name, "float32", 10.0, folder=folder)) for name in ("bear", "fh")]


def test_parts_are_learned_as_one_pass(team):
    run = Run("rcv1", "fh", "float32", 10.0, step=1.0, validation=True, folder=team[1].run.folder)
    prepared, fit, rest = prepared_rows(run)
    learner = run.make(prepared)
    for part in race.parts(fit):
        learner.learn(part)
    whole = run.make(prepared)
    whole.learn(fit)
    np.testing.assert_array_equal(learner.predict_margin(rest), whole.predict_margin(rest))
    assert Race((run,), 1).run()[0]["scores"][-1] == run.run()["all"]


def test_a_race_begins_when_all_steps_are_known_and_fills_a_table(team, tmp_path):
    assert not any(isinstance(job, Race) for job in race.jobs([team], 2, {}))
    store = Store(tmp_path / "cells.jsonl")
    run_all(lambda done: race.jobs([team], 2, done), store, 1)
    assert [isinstance(job, Race) for job in race.jobs([team], 2, store.done)][-1]
    bear, fh = race.rows([team], 2, store.done)
    assert bear["series"] == "bear, float32"
    assert bear["equal_score"] == fh["equal_score"] == min(bear["score"], fh["score"])
    assert fh["times_the_last"] == 1.0
    for row in (bear, fh):
        assert 1 / PARTS <= row["equal_share_of_pass"] <= 1.0
        assert 0.0 < row["equal_cpu_seconds"] <= row["pass_cpu_seconds"]


def test_the_first_part_that_is_as_good_counts(team):
    runs = tuple(Run("rcv1", name, "float32", 10.0, step=1.0) for name in ("bear", "fh"))
    seconds = [[1.0] * PARTS, [3.0] * PARTS, [2.0] * PARTS]
    late = [0.1] * (PARTS - 1) + [0.6]
    early = [0.5, 0.7] + [0.8] * (PARTS - 2)
    lines = [race.Line(run.learner, run, False) for run in runs]
    key = race._race(lines, 3, {}).key
    done = {key: [{"seconds": seconds, "scores": s} for s in (late, early)]}
    first, second = race.rows([lines], 3, done)
    assert first["equal_share_of_pass"] == 1.0
    assert second["equal_share_of_pass"] == 2 / PARTS
    assert (first["pass_cpu_seconds"], second["equal_cpu_seconds"]) == (2.0 * PARTS, 4.0)
