"""What a command says about its data and results, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bearsketch.sizes import format_bytes

if TYPE_CHECKING:
    from bearsketch.cli.display import Display
    from bearsketch.io import Stream
    from bearsketch.training.loop import Training


class Told:
    """Says what was decided and what is odd, once, as soon as it is known."""

    def __init__(self, display: Display, stream: Stream) -> None:
        self._display, self._stream = display, stream
        self._task = False
        self._warnings = self._errors = 0

    def __call__(self, training: Training) -> None:
        """Say what is new."""
        if not self._task:
            self._task = True
            config, task = training.learner.config, training.task
            self._display.note(
                f"{self._stream.format} data; {task.reason}: loss {task.loss}; "
                f"{config.learner} in {format_bytes(config.sizes.model_bytes)}, k {config.k:,}"
            )
            if training.resumed is not None:
                self._display.note(
                    f"resumed from {training.resumed}, {training.resumed_at:,} examples done"
                )
        self.stream()

    def stream(self) -> None:
        """Say what is new of the stream alone."""
        for odd in self._stream.warnings[self._warnings :]:
            self._display.note(f"warning[{odd.code}] {odd.source}: {odd.message}")
        for error in self._stream.errors[self._errors :]:
            self._display.note(f"skipped[{error.code}] {error}")
        self._warnings = len(self._stream.warnings)
        self._errors = len(self._stream.errors)


def results_text(results: dict[str, Any]) -> str:
    """Results of a test in words."""
    names = {"loss": "loss", "accuracy": "accuracy", "auc": "AUC", "log_loss": "log-loss"}
    names |= {"rmse": "RMSE", "r2": "R2"}
    return ", ".join(
        f"{name} {results[key]:.4f}" for key, name in names.items() if results.get(key) is not None
    )
