"""``python -m experiments``, run from the root of the repository."""

from __future__ import annotations

import os
import sys

if __name__ == "__main__":
    # Small matrices only: the threads that NumPy would start for them busy-wait.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from bearsketch.cli.guard import open_standard_files
    from experiments.commands import make_app

    open_standard_files()
    try:
        make_app()()
    except KeyboardInterrupt:
        sys.exit(130)
