"""Record the golden table anew: ``python -m tests.golden.record --reason "..." [CASE...]``.

Rows that come out as recorded keep their reason; each one that changed, or is new, takes the one
given, and nothing is written without it.
"""

from __future__ import annotations

import argparse
import fnmatch

from tests.golden.cases import CASES
from tests.golden.table import FILE, PARTS, Entry, read, write


def main() -> int:
    """Say which rows changed, and record them if there is a reason."""
    parser = argparse.ArgumentParser(prog="python -m tests.golden.record", description=__doc__)
    parser.add_argument("--reason", help="why the rows change: one plain sentence")
    parser.add_argument("cases", nargs="*", default=["*"], help="such as 'learner/bear+/*'")
    given = parser.parse_args()
    before = read() if FILE.exists() else {}
    after = {name: entry for name, entry in before.items() if name in CASES}
    changed = [f"{name}: gone" for name in before if name not in CASES]
    for name, case in CASES.items():
        if not any(fnmatch.fnmatch(name, pattern) for pattern in given.cases):
            continue
        found, known = case(), before.get(name)
        if known is not None and known.digests == found:
            continue
        parts = [p for p in PARTS if known is None or known.digests.get(p) != found.get(p)]
        changed.append(f"{name}: {'new' if known is None else ', '.join(parts)}")
        after[name] = Entry(found, given.reason or "")
    print("\n".join(changed) or "no row changed")
    if changed and not given.reason:
        print("nothing recorded: say why with --reason")
        return 1
    if changed:
        write(after)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
