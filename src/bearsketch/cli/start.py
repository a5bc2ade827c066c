"""Where the ``bearsketch`` command starts: an interrupt is taken well from the first moment."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command."""
    try:
        from bearsketch.cli.app import main as run

        run()
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(130)
