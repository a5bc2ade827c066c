"""Rates and times left."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from bearsketch.cli import display, terminal
from bearsketch.metrics import NumberScores


@pytest.fixture
def clock(monkeypatch):
    """A clock that stands still until it is set."""
    now = SimpleNamespace(time=0.0)
    monkeypatch.setattr(display.time, "monotonic", lambda: now.time)
    return now


class Kept(display.Display):
    """A display that keeps what it was shown."""

    def due(self, examples):
        return True

    def show(self, view):
        self.rate, self.left = self._rate(view)


def session(examples, resumed, done_bytes):
    return SimpleNamespace(
        examples=examples,
        done=0,
        resumed=resumed,
        resumed_at=800_000,
        n_pass=1,
        passes=1,
        progressive=SimpleNamespace(loss=0.5, scores=NumberScores()),
        stream=SimpleNamespace(progress=lambda: (done_bytes, 1000)),
        task=SimpleNamespace(reason="numbers", loss="squared"),
        learner=SimpleNamespace(
            config=SimpleNamespace(k=0, learner="bear+", sizes=SimpleNamespace(model_bytes=64)),
            sizes=SimpleNamespace(model_bytes=64),
        ),
    )


@pytest.mark.parametrize("resumed", [None, "checkpoint-00000001.bear"])
def test_a_resumed_run_counts_what_it_learned_itself(resumed, clock, monkeypatch):
    monkeypatch.setattr(terminal, "scaled_columns", lambda learner: {})
    monkeypatch.setattr(terminal, "best_features", lambda learner, session: [])
    monkeypatch.setattr(terminal.StreamNotes, "show_skipped", lambda self: None)
    stream = SimpleNamespace(format="vw", columns={})
    with Kept() as kept:
        sink = terminal.Terminal(kept, stream)
        clock.time = 100.0  # what was done before is read again
        sink.begun(session(800_000, resumed, 800))
        sink.learned(session(800_000, resumed, 800))
        clock.time = 110.0
        sink.learned(session(801_000, resumed, 801))
    rate = 801_000 / 110 if resumed is None else 1000 / 10
    assert kept.rate == pytest.approx(rate)
    assert kept.left == pytest.approx(199_000 / rate)
