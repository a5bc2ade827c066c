"""The tutorial as a reader follows it: every shell block, in order, in an empty folder."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_the_tutorial_runs(tmp_path):
    blocks = re.findall(r"```sh\n(.*?)```", (DOCS / "tutorial.md").read_text(), re.S)
    assert len(blocks) >= 8
    place = str(Path(sys.executable).parent)
    done = subprocess.run(
        ["bash", "-e"],
        input="\n".join(blocks),
        cwd=tmp_path,
        env={**os.environ, "PATH": f"{place}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "text^prize" in done.stdout
    assert (tmp_path / "messages.html").stat().st_size > 10_000
    assert (tmp_path / "demo" / "report.html").exists()
