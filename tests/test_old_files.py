"""Model files of format 7, written by the release before: read as long as weights mean the same.

``tests/format7`` has four of them, each learned from 400 rows, and what they predicted then.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from bearsketch import Batch, load
from tests.cli.helpers import bearsketch, good

FILES = Path(__file__).parent / "format7"
FACTS = json.loads((FILES / "facts.json").read_text())


def probe(kinds):
    rows = [
        {f"tell{i % kinds}": 1.0, f"word{i * 7 % 23}": 1.0, f"rest{i * 5 % 11}": 2.0}
        for i in range(6)
    ]
    return Batch.from_rows(rows)


@pytest.mark.parametrize("name", FACTS)
def test_they_predict_and_name_what_they_did(name):
    model, facts = load(FILES / f"{name}.bear"), FACTS[name]
    batch = probe(3 if name == "three" else 2)
    assert np.array_equal(model.predict_margin(batch), facts["margins"])
    alone = model.predict_margin(batch, selected_only=True)
    assert np.allclose(alone, facts["selected_only"], rtol=0, atol=1e-14)
    chosen = model.selected()
    then = dict(zip(facts["names"], facts["weights"], strict=True))
    now = dict(zip([f.name for f in chosen], np.asarray(chosen.weights).tolist(), strict=True))
    assert now == then


def test_commands_read_them():
    two = FILES / "two.bear"
    assert "names are not tested" in good("info", two).stdout
    assert "tell0" in good("features", two).stdout
    assert "tell0" in good("export", two, "--to", "json").stdout


@pytest.mark.parametrize("name", ["two", "three", "numbers"])
def test_the_staged_ones_do_not_learn_on(name, tmp_path):
    data = tmp_path / "more.vw"
    data.write_text(
        "1 | tell0\n" if name == "numbers" else f"{'a' if name == 'three' else 'ham'} | tell0\n"
    )
    model = tmp_path / "m.bear"
    for command in (
        ("train", data, "--init", FILES / f"{name}.bear", "-o", model),
        ("merge", FILES / f"{name}.bear", "-o", model, _copy(name, tmp_path)),
    ):
        run = bearsketch(*command)
        assert run.returncode == 5
        assert "Train it again to learn on." in run.stderr
        assert not model.exists()


def _copy(name, folder):
    copy = folder / "copy.bear"
    copy.write_bytes((FILES / f"{name}.bear").read_bytes())
    return copy
