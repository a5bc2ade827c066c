"""Refuse phrases that read as translated, each with what to write instead.

    python tools/phrases.py

Looks at what people read: sources with their messages and comments, pages, README. The list holds
phrases, never single everyday words; see CONTRIBUTING.md.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PLACES = (
    "src docs core/src/parse experiments examples README.md CONTRIBUTING.md SECURITY.md".split()
)
SUFFIXES = {".py", ".md", ".hpp", ".cpp", ".html", ".js", ".sh", ".txt"}
PHRASES = {
    r"\bfound out\b": "detected",
    r"\btrips? over\b": "passes over",
    r"\b(?:is|are|was|were) told\b": "is reported, or name who tells whom",
    r"\btold (?:apart|from)\b": "distinguished (from)",
    r"\bleft aside\b": "skipped",
    r"\btaken apart\b": "split",
    r"\bas soon as may be\b": "as soon as possible",
    r"\b(?:was|were) met\b": "occurred",
    r"\bwithout a word\b": "silently",
    r"\b(?:goes|go|going|went) on\b": "continue",
    r"(?<!there )\b(?:is|are) no numbers?\b": "is not a number",
    r"\b(?:comes|come|came) twice\b": "occurs twice",
    r"\bnothing but\b": "only",
    r"\bis said of\b": "is reported about",
    r"\bsays? so\b": "reports it",
    r"(?:^|\. |\"\"\")Of one that\b": "start with the subject",
    r"\bnone of the classes of the model\b": "unknown label",
    r"\bnothing to tune, or a number\b": "`auto`, or a constant",
}
FOUND = re.compile("|".join(f"(?P<p{i}>{one})" for i, one in enumerate(PHRASES)), re.IGNORECASE)
CURES = list(PHRASES.values())


def phrases(text: str) -> list[tuple[int, str, str]]:
    """(line, phrase, what to write instead) of each phrase of a text."""
    found = []
    for number, line in enumerate(text.splitlines(), start=1):
        for match in FOUND.finditer(line):
            cure = CURES[int((match.lastgroup or "p0")[1:])]
            found.append((number, match[0].strip(), cure))
    return found


def main() -> None:
    listed = subprocess.run(
        ["git", "ls-files", *PLACES], cwd=ROOT, capture_output=True, text=True, check=True
    )
    refused = 0
    for name in listed.stdout.split():
        path = ROOT / name
        if path.suffix not in SUFFIXES or not path.exists():
            continue
        for line, phrase, cure in phrases(path.read_text()):
            print(f"{name}:{line}: '{phrase}' reads as translated; write: {cure}")
            refused += 1
    sys.exit(1 if refused else 0)


if __name__ == "__main__":
    main()
