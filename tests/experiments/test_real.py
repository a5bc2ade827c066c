"""Experiments on real data from the command to the picture, on made-up files."""

import csv
import json

import numpy as np
import pytest

from bearsketch.exceptions import ParameterError
from experiments import figures, interest, real, reproduce
from experiments.datasets import genomes, prepared_path
from experiments.datasets.prepared import Prepared
from experiments.reproduce import write_table
from tests.experiments.command import run

MANY = ("fig2", "fig3", "equal-bytes")
TWO = ("rcv1", "hashed24")


def pretend_rows(name, tmp_path):
    """A whole table with made-up scores."""
    experiment = real.REAL[name].make(TWO, tmp_path, tmp_path)
    done, random = {}, np.random.default_rng(2)
    while missing := [job for job in experiment.jobs(2, done) if job.key not in done]:
        for job in missing:
            near = 0.0 if job.step is None else abs(np.log10(job.step))
            score = 0.9 - 0.05 * near + 0.001 * random.random()
            scores = dict.fromkeys(("all", "selected"), score)
            done[job.key] = {**scores, "bytes": 100, "k": job.k or 3, "seconds": 1.0}
    return list(experiment.rows(2, done))


@pytest.mark.parametrize("name", MANY)
def test_every_figure_is_drawn_from_its_table_alone(name, tmp_path):
    table = tmp_path / f"{name}.csv"
    write_table(table, pretend_rows(name, tmp_path))
    png, svg = figures.draw(name, table, tmp_path)
    assert png.read_bytes().startswith(b"\x89PNG")
    drawn = svg.read_text()
    for word in ("bear+", "mission", *TWO):
        assert word in drawn


def test_the_command_writes_a_table_and_continues(made_up, tmp_path):
    words = ["reproduce", "fig3", "--data", str(made_up), "--dataset", "rcv1"]
    words += ["--seeds", "2", "--out", str(tmp_path), "--workers", "1", "--json"]
    done = run(*words)
    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout)
    assert record["seeds"] == 2
    with (tmp_path / "fig3.csv").open() as file:
        table = list(csv.DictReader(file))
    assert len(table) == record["figures"]["fig3"]["rows"] == 15
    assert {row["series"] for row in table} == {"bear+", "mission, float32", "bear, float32"}
    assert [row["k"] for row in table if row["series"] == "bear+"] == "10 30 100 300 1000".split()
    finished = (tmp_path / "cells.jsonl").read_text()
    assert run(*words).returncode == 0
    assert (tmp_path / "cells.jsonl").read_text() == finished


def test_what_is_required_is_told(made_up, tmp_path):
    words = ["reproduce", "acceptance", "--data", str(made_up), "--dataset", "rcv1"]
    words += ["--seeds", "1", "--out", str(tmp_path), "--workers", "1"]
    done = run(*words)
    assert done.returncode == 0, done.stderr
    with (tmp_path / "acceptance.csv").open() as file:
        met = [row["met"] == "True" for row in csv.DictReader(file)]
    n, missed = len(met), met.count(False)
    counted = f"{n - missed} as required and {missed} not (column met)"
    told = counted if missed else "all as required"
    assert f"acceptance: {n} rows, {told}; wrote acceptance.csv" in done.stdout
    found = json.loads(run(*words, "--json").stdout)["figures"]["acceptance"]
    assert (found["rows"], found["met"]) == (n, n - missed)


@pytest.mark.parametrize(("met", "told"), [(10, ", all as required"), (None, "")])
def test_nothing_is_counted_where_all_is_well_or_nothing_required(met, told, tmp_path, capsys):
    from experiments.commands.reproduce import _say_what_was_written

    outcome = reproduce.Outcome("acceptance", 10, tmp_path / "acceptance.csv", [], met)
    _say_what_was_written(outcome, tmp_path)
    assert capsys.readouterr().out.startswith(f"acceptance: 10 rows{told}; wrote acceptance.csv")


def test_real_experiments_need_the_folder_and_their_own_data_sets(tmp_path):
    done = run("reproduce", "fig2", "--out", str(tmp_path))
    assert done.returncode == 2
    assert "error[EXP-DATA]" in done.stderr
    with pytest.raises(ParameterError, match="data sets of acceptance are rcv1"):
        reproduce.reproduce("acceptance", trials=1, out=tmp_path, data=tmp_path, datasets=["avazu"])


@pytest.mark.parametrize("name", ["20news", "spam", "imdb"])
def test_words_that_tell_the_label_come_first(name, made_up):
    words = [word for word, _ in interest.Words(name, made_up).run()]
    assert set(words[:6]) == {"great", "lovely", "superb", "awful", "boring", "dreadful"}


def test_selected_kmers_are_counted_at_home_and_elsewhere(made_up, tmp_path):
    paths = genomes.genome_paths(made_up)
    strands = [genomes.read_genome(path) for path in paths]
    reads = [genomes.draw_reads(strands, n, seed) for n, seed in ((600, 1), (30, 2))]
    Prepared(*reads, 4**12, 3).save(prepared_path("dna", tmp_path))
    found = interest.Kmers(made_up, tmp_path).run()
    assert [species for species, *_ in found] == ["Species 0", "Species 1", "Species 2"]
    assert all(home > 5 * elsewhere for _, _, home, elsewhere in found)
    experiment = interest.table2(["dna"], made_up, tmp_path)
    done = {experiment.jobs(1, {})[0].key: found}
    assert [row["per_million"] for row in experiment.rows(1, done)] == [row[2] for row in found]
