"""Where the ``bearsketch`` command starts: an interrupt is taken well from the first moment."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Run the command."""
    # Nothing here multiplies matrices, and the threads that NumPy would start for it wait busily.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        from bearsketch.cli.app import main as run

        run()
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(130)
