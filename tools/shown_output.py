"""Run the shell blocks of the pages that show output, and write the output into them.

    python tools/shown_output.py [PAGE...]

A page shows the output of a block of ``sh`` where this follows it:

    <!-- output -->
    ```text
    ```

All blocks of a page run in order, in one empty folder, with the ``bearsketch`` of this Python.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGES = ("README.md", "docs/tutorial.md")
BLOCK = re.compile(
    r"^```sh\n(?P<code>.*?)^```\n(?P<shown>\n<!-- output -->\n```text\n.*?^```\n)?", re.M | re.S
)
END = "--- end of block ---"


def run(blocks: list[str], folder: Path) -> list[str]:
    """Output of each block; an error ends the run."""
    script = "".join(f"{code}\necho '{END}'\n" for code in blocks)
    place = str(Path(sys.executable).parent)
    done = subprocess.run(
        ["bash", "-eo", "pipefail"],
        input=script,
        cwd=folder,
        env={**os.environ, "PATH": f"{place}:{os.environ['PATH']}", "COLUMNS": "100"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if done.returncode:
        raise SystemExit(done.stdout)
    return [part.strip("\n") for part in done.stdout.split(f"{END}\n")[:-1]]


def filled(text: str, outputs: list[str]) -> str:
    """The page with the output of each block that shows it."""
    given = iter(outputs)

    def block(match: re.Match[str]) -> str:
        output = next(given)
        code = f"```sh\n{match['code']}```\n"
        if match["shown"] is None:
            return code
        lines = "\n".join(line.rstrip() for line in output.splitlines())
        return f"{code}\n<!-- output -->\n```text\n{lines}\n```\n"

    return BLOCK.sub(block, text)


def main() -> None:
    for name in sys.argv[1:] or PAGES:
        page = ROOT / name
        text = page.read_text()
        with tempfile.TemporaryDirectory() as folder:
            outputs = run([match["code"] for match in BLOCK.finditer(text)], Path(folder))
        page.write_text(filled(text, outputs))
        print(f"wrote the output of {len(outputs)} blocks into {name}")


if __name__ == "__main__":
    main()
