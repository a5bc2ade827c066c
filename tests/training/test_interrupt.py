"""Signals: a checkpoint first, and never in the middle of something."""

from __future__ import annotations

import io
import signal

import pytest

from bearsketch import load
from bearsketch.reading import open_stream
from bearsketch.training.checkpoint import Checkpoints
from bearsketch.training.interrupt import Interrupted, Interrupts
from bearsketch.training.session import Session
from tests.training.test_checkpoint import lines, trained


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_writes_a_checkpoint_first(number, tmp_path, request):
    # Where tests run in the background, interrupts are ignored, and would stay so.
    before = signal.signal(number, signal.default_int_handler)
    request.addfinalizer(lambda: signal.signal(number, before))
    data, seen = lines(), []

    def watch(training):
        seen.append(training.examples)
        if len(seen) == 30:
            signal.raise_signal(number)

    kept = Checkpoints(tmp_path, "1h", resume=True)
    with open_stream(io.BytesIO(data), "vw", rows=60, include_unlabelled=False) as opened:
        training = Session(opened, memory="8KiB", k=20, checkpoint=kept)
        with pytest.raises(Interrupted, match="continue from .*checkpoint-00000001") as caught:
            training.run(watch)
    assert caught.value.number == number
    assert load(tmp_path / "checkpoint-00000001.bear").counters["examples"] == 1800
    assert trained(data, tmp_path) == trained(data)


def test_a_signal_waits_for_the_end_of_a_held_block():
    before = signal.getsignal(signal.SIGTERM)
    with Interrupts() as interrupts:
        reached = []
        with pytest.raises(Interrupted), interrupts.held():
            reached.append(signal.raise_signal(signal.SIGTERM))
        assert len(reached) == 1
    assert signal.getsignal(signal.SIGTERM) is before


def test_an_ignored_signal_stays_ignored():
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        with Interrupts():
            signal.raise_signal(signal.SIGTERM)
    finally:
        signal.signal(signal.SIGTERM, before)
