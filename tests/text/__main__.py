"""``python -m tests.text [FILE...]`` records anew what commands print; read the difference."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.text.cases import FOLDER, run

for path in [Path(name) for name in sys.argv[1:]] or sorted(FOLDER.rglob("*.txt")):
    with tempfile.TemporaryDirectory() as folder:
        before = path.read_text()
        after = run(before, Path(folder))
    if after != before:
        path.write_text(after)
        print(path.relative_to(FOLDER) if path.is_absolute() else path)
