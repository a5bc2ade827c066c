"""What is opened and must be closed."""

from __future__ import annotations

from typing import Self


class Closes:
    """Something with a ``close()``, which ``with`` calls at its end."""

    def close(self) -> None:
        """Let go of what was opened; safe to call twice."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
