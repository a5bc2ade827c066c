"""A session shown on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bearsketch.cli.display import Display, View, best_features
from bearsketch.cli.notes import StreamNotes, result_number, scaled_columns, some_columns
from bearsketch.metrics import ClassScores
from bearsketch.sizes import format_bytes
from bearsketch.training.process import peak_rss_bytes
from bearsketch.training.session import Session, Sink
from bearsketch.training.warnings import RunWarning

if TYPE_CHECKING:
    from bearsketch.reading import Stream


class Terminal(Sink):
    """Shows a session on a display: what was decided, warnings, how far it is."""

    def __init__(self, display: Display, stream: Stream | None = None) -> None:
        self._display, self._stream = display, stream
        self._notes = None if stream is None else StreamNotes(display, stream)

    def begun(self, session: Session) -> None:
        """Show what was decided."""
        if self._stream is None:
            return
        display, config, task = self._display, session.learner.config, session.task
        display.note(
            f"{self._stream.format} data; {task.reason}: loss {task.loss}; "
            f"{config.learner} in {format_bytes(config.sizes.model_bytes)}, k {config.k:,}"
        )
        for use in ("numeric", "categorical", "text_columns", "time_columns", "clock_columns"):
            columns = self._stream.columns.get(use, ())
            if columns:
                display.note(f"{use.removesuffix('_columns')} columns: {some_columns(columns)}")
        for how, columns in scaled_columns(session.learner).items():
            display.note(f"{how}: {some_columns(columns)}")
        if session.resumed is not None:
            done = session.resumed_at
            display.note(f"resumed from {session.resumed}, {done:,} examples done")
            # What a resumed run reads again was not learned now.
            display.begin(done)

    def warned(self, warning: RunWarning) -> None:
        """Show a warning."""
        self._display.warn(warning)

    def learned(self, session: Session) -> None:
        """Show how far the session is, when it is time to."""
        self.ended(session)
        if self._display.due(session.done + session.examples):
            self._display.show(session_view(session))

    def ended(self, session: Session) -> None:
        """Show the last lines that were skipped."""
        if self._notes is not None:
            self._notes.show_skipped()


def session_view(session: Session) -> View:
    """Make the picture of a session at this moment."""
    scores = session.progressive.scores
    if isinstance(scores, ClassScores):
        loss = session.progressive.loss or 0.0
        facts = [f"loss {loss:.4f}", f"accuracy {scores.accuracy or 0.0:.4f}"]
        if scores.skewed and scores.auc is not None:
            facts.append(f"AUC {scores.auc:.4f}")
    else:
        facts = [f"RMSE {result_number('rmse', scores.rmse or 0.0)}"]
    facts.append(f"model {format_bytes(session.learner.sizes.model_bytes)}")
    facts.append(f"process peak {format_bytes(peak_rss_bytes())}")
    done, total = session.stream.progress()
    return View(
        session.done + session.examples,
        done,
        total,
        session.n_pass,
        session.passes,
        facts,
        best_features(session.learner, session=session),
    )
