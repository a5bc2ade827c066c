"""Every example runs where there is no real data, and draws its picture."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
DRAW = """
import runpy, sys
import matplotlib.pyplot as plt
sys.path.insert(0, ".")
plt.show = lambda: plt.savefig("picture.png")
runpy.run_path(sys.argv[1], run_name="__main__")
"""


@pytest.mark.parametrize("script", sorted(EXAMPLES.glob("plot_*.py")), ids=lambda path: path.stem)
def test_an_example_draws(script, tmp_path):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    for file in (script, EXAMPLES / "example_data.py"):
        shutil.copy(file, tmp_path)
    environment = {name: v for name, v in os.environ.items() if name != "BEARSKETCH_DATA"}
    done = subprocess.run(
        [sys.executable, "-c", DRAW, script.name],
        cwd=tmp_path,
        env={**environment, "MPLBACKEND": "Agg", "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "picture.png").stat().st_size > 10_000
