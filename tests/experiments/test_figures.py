import struct

import numpy as np
import pytest

from experiments import figures, plans, theory
from experiments.reproduce import EXPERIMENTS, write_table


def pretend_rows(name: str) -> list[dict]:
    """A whole table with made-up results."""
    random = np.random.default_rng(1)
    trials, done = 10, {}
    while missing := [j for j in EXPERIMENTS[name].jobs(trials, done) if j.key not in done]:
        for job in missing:
            if isinstance(job, plans.Cell):
                done[job.key] = [
                    [i, bool(random.random() < 0.5), random.random(), 9, True, False]
                    for i in range(job.n_seeds)
                ]
            elif isinstance(job, theory.SketchError):
                names = ("error", "error_95", "error_all", "within", "within_all", "found")
                done[job.key] = {key: random.random() for key in names}
            else:
                gaps = [1.0 / t * random.lognormal(0, 0.1) for t in job.times()]
                done[job.key] = {"gaps": gaps, "least": 0.5, "largest": 2.0}
    return list(EXPERIMENTS[name].rows(trials, done))


@pytest.mark.parametrize("name", list(EXPERIMENTS))
def test_every_figure_is_drawn_from_its_table_alone(name, tmp_path):
    table = tmp_path / f"{name}.csv"
    write_table(table, pretend_rows(name))
    png, svg = figures.draw(name, table, tmp_path)
    data = png.read_bytes()
    assert data.startswith(b"\x89PNG")
    width, height = struct.unpack(">II", data[16:24])
    assert width > 400
    assert height > 300
    text = svg.read_text()
    assert "<svg" in text
    for word in {"fig1a": "bear+", "theorem2": "mission"}.get(name, "e").split():
        assert word in text


def test_the_same_table_gives_the_same_picture(tmp_path):
    table = tmp_path / "noise.csv"
    write_table(table, pretend_rows("noise"))
    first = [path.read_bytes() for path in figures.draw("noise", table, tmp_path)]
    assert first == [path.read_bytes() for path in figures.draw("noise", table, tmp_path)]
