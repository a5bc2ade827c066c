from functools import partial

import pytest

from experiments import plans
from experiments.grid import Store, run_all
from experiments.plans import LADDER, SEARCH_SEED, Line, cells, rows
from experiments.simulation import Setting

SMALL = {"p": 60, "n": 80, "k": 3, "passes": 15, "query": "median", "automatic": False}


def trial(seed: int, success: bool) -> list:
    return [seed, success, 0.0 if success else 1.0, 5, success, False]


def pretend(lines: list[Line], trials: int, good_step: float) -> dict:
    """Run a plan as if only steps within a factor 1.1 of the good one succeeded."""
    done: dict = {}
    while missing := [cell for cell in cells(lines, trials, done) if cell.key not in done]:
        for cell in missing:
            near = 1 / 1.1 < cell.setting.step / good_step < 1.1
            done[cell.key] = [trial(cell.first_seed + i, near) for i in range(cell.n_seeds)]
            if not near:  # errors that point towards the good step
                distance = abs(
                    plans.nearest_rung(cell.setting.step) - plans.nearest_rung(good_step)
                )
                for one in done[cell.key]:
                    one[2] = 1.0 + distance
    return done


@pytest.mark.parametrize("good", [1e-6, 1e-3, 3e-3, 1.0])
def test_a_search_climbs_until_its_best_is_inside(good):
    line = Line("mission", Setting("mission", **SMALL), search=True)
    table = list(rows([line], 10, pretend([line], 10, good)))
    tried = [row["step"] for row in table if row["stage"] == "search"]
    (result,) = [row for row in table if row["stage"] == "result"]
    assert result["step"] == pytest.approx(good)
    assert tried == sorted(tried)
    assert tried[0] < result["step"] < tried[-1]
    assert {row["first_seed"] for row in table if row["stage"] == "search"} == {SEARCH_SEED}
    assert result["first_seed"] == 0


@pytest.mark.parametrize("good", [LADDER[0], LADDER[-1]])
def test_a_search_ends_where_the_ladder_ends(good):
    line = Line("mission", Setting("mission", **SMALL), search=True)
    table = list(rows([line], 10, pretend([line], 10, good)))
    assert table[-1]["step"] == good


def test_nothing_is_searched_where_the_step_is_automatic():
    assert [line.search for line in plans.recovery() if line.series == "bear+"] == [False] * 6


def test_every_method_and_query_stands_in_the_figure():
    series = {line.series for line in plans.recovery()}
    assert series == {
        "bear+",
        "olbfgs, dense",
        "sgd, dense",
        *(
            f"{name}, {query}"
            for name in ("bear", "newton", "mission")
            for query in ("median", "mean")
        ),
    }
    for line in [*plans.recovery(), *plans.steps(), *plans.noise(), *plans.checks()]:
        line.setting.check()


def test_more_trials_use_the_finished_ones(tmp_path):
    line = Line("bear", Setting("bear", **SMALL, step=0.1), search=True)
    store = Store(tmp_path / "cells.jsonl")
    run_all(partial(cells, [line], 10), store, 1)
    finished = set(store.done)
    run_all(partial(cells, [line], 20), store, 1)
    assert finished < set(store.done)
    few, many = (list(rows([line], n, store.done))[-1] for n in (10, 20))
    assert (few["trials"], many["trials"]) == (10, 20)
    assert few["version"] == many["version"]


def test_the_order_of_methods_at_one_compression(tmp_path):
    """The paper's ranking on a small problem: the recommended learner finds most."""
    common = {"p": 200, "n": 200, "k": 4, "passes": 30, "compression": 4.0}
    plus = plans.simulate(Setting(**common), 10)
    first = plans.simulate(
        Setting("mission", **common, query="median", step=0.01, automatic=False), 10
    )
    assert plus.success >= 0.9
    assert plus.success > first.success


def test_the_first_trials_of_every_line_come_first():
    lines = [Line("a", Setting(**{**SMALL, "passes": n})) for n in (3, 4)]
    assert [cell.first_seed for cell in cells(lines, 20, {})] == [0, 0, 10, 10]
