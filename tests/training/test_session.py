"""The loop over a stream, as a library."""

from __future__ import annotations

import io

import numpy as np
import pytest

from bearsketch import ParameterError, SketchClassifier, SketchRegressor, load, make_learner
from bearsketch.exceptions import DataError, LimitError
from bearsketch.reading import open_stream
from bearsketch.training.first_rows import PEEK_EXAMPLES
from bearsketch.training.session import Session, held_out


def lines(n, classes=("a", "b")):
    texts = [f"{classes[i % len(classes)]} |w k{i % len(classes)} n{i % 31}" for i in range(n)]
    return io.BytesIO(("\n".join(texts) + "\n").encode())


def stream(n, classes=("a", "b"), rows=240):
    return open_stream(lines(n, classes), "vw", rows=rows, include_unlabelled=False)


def test_it_is_the_learner_fed_batch_by_batch():
    training = Session(stream(900), memory="8KiB", k=20)
    training.run()
    learner = make_learner(classes=["a", "b"], memory="8KiB", k=20)
    for batch in stream(900):
        learner.learn(batch)
    probe = next(iter(stream(50)))
    assert np.array_equal(training.learner.predict_margin(probe), learner.predict_margin(probe))


def test_progressive_scores_are_of_unseen_examples():
    training = Session(stream(480, rows=20), memory="8KiB", k=20, batch_size=20)
    first = []
    summary = training.run(lambda seen: first.append(seen.progressive.scores.accuracy))
    assert first[0] == 0.5  # nothing is known of the first minibatch
    assert summary.progressive_accuracy > 0.9
    assert summary.progressive_accuracy == first[-1]
    # Minibatches of 20 are predicted before they are learned, whatever the batch.
    whole = Session(stream(480, rows=480), memory="8KiB", k=20, batch_size=20).run()
    assert whole.progressive_accuracy == summary.progressive_accuracy


def test_scores_of_later_passes_are_not_reported_as_progressive():
    once = Session(stream(300), memory="8KiB", k=20, passes=1)
    thrice = Session(stream(300), memory="8KiB", k=20, passes=3)
    assert once.run().passes == 1
    summary = thrice.run()
    assert summary.examples == 300
    assert thrice.learner.counters["examples"] == 900
    assert thrice.first.curve.points()[-1][0] == 300


def test_the_first_examples_are_kept_within_bounds(monkeypatch):
    for module in ("memory", "first_rows"):
        monkeypatch.setattr(f"bearsketch.training.{module}.PEEK_BYTES", 1 << 12)
    data = stream(PEEK_EXAMPLES, rows=100)
    training = Session(data, memory="8KiB", k=20)
    positions = []
    training.run(lambda seen: positions.append(seen.examples))
    assert positions[0] == 100
    assert training.task.classes == ("a", "b")


def test_late_classes_take_reserved_places_and_the_rest_is_dropped(tmp_path):
    texts = [f"{c} |w k{c}" for c in "ab" * 5100 + "abc" * 700]
    data = open_stream(
        io.BytesIO("\n".join(texts).encode() + b"\n"), "vw", rows=240, include_unlabelled=False
    )
    training = Session(data, max_classes=6, memory="16KiB", k=10)
    summary = training.run()
    assert summary.classes == ["a", "b", "c"]
    learner = training.learner
    assert learner.config.n_classes == 3
    probe = next(iter(open_stream(io.BytesIO(b"|w kc\n|w ka\n|w kb\n"), "vw")))
    assert learner.predict(probe).tolist() == ["c", "a", "b"]
    assert learner.predict_proba(probe).sum(axis=1) == pytest.approx(1.0)
    learner.save(tmp_path / "m.bear")
    again = load(tmp_path / "m.bear")
    assert np.array_equal(again.predict_proba(probe), learner.predict_proba(probe))
    assert {f.name: f.label for f in again.selected()}["w^kc"] == "c"


def test_held_out_examples_are_the_same_ones_in_every_pass_and_cut():
    whole = held_out(0, 1000, 0.2)
    parts = np.concatenate([held_out(start, 100, 0.2) for start in range(0, 1000, 100)])
    assert np.array_equal(whole, parts)
    assert 150 < whole.sum() < 250
    assert not held_out(0, 1000, 0.0).any()
    small, large = (Session(stream(600, rows=r), holdout=0.3, memory="8KiB", k=9) for r in (20, 60))
    assert small.run().held_out == large.run().held_out == int(held_out(0, 600, 0.3).sum())


def test_held_out_examples_are_scored_by_the_probabilities_that_are_predicted():
    rng = np.random.default_rng(5)
    likely = rng.random(3000) < 0.7
    texts = [f"{'ab'[i % 2]} |w k{i % 2 if ok else 1 - i % 2}" for i, ok in enumerate(likely)]
    data = ("\n".join(texts) + "\n").encode()
    source = open_stream(io.BytesIO(data), "vw", rows=100, include_unlabelled=False)
    session = Session(source, holdout=0.3, memory="8KiB", k=9)
    reported = session.run().holdout["log_loss"]
    whole = next(iter(open_stream(io.BytesIO(data), "vw", rows=3000)))
    kept = whole.keep(held_out(0, 3000, 0.3))
    predicted = session.learner.predict_proba(kept)
    own = predicted[np.arange(len(kept)), session.learner.labels.encode(kept.labels).astype(int)]
    assert reported == pytest.approx(-np.log(own).mean())


def test_what_a_model_remembers_is_bounded():
    learner = make_learner(k=2, memory="1KiB")
    learner.run = {"note": "x" * (1 << 18)}
    with pytest.raises(LimitError, match="at most 262144 bytes"):
        learner.save("never-written.bear")


def test_nonsense_is_refused():
    with pytest.raises(ParameterError, match="holdout must be a share"):
        Session(stream(10), holdout=1.0)


WEIGHTLESS = b"word,n,label\n" + b"free,0,1\nlunch,0,0\n" * 100


@pytest.mark.parametrize("loss", ["auto", "squared"])
def test_examples_that_all_have_weight_0_are_refused(loss):
    how = {"weight_column": "n", "include_unlabelled": False}
    with open_stream(io.BytesIO(WEIGHTLESS), "csv", **how) as stream:
        training = Session(stream, loss=loss, memory="4KiB", k=2)
        with pytest.raises(DataError, match="all 200 examples have weight 0") as refused:
            training.run()
    assert refused.value.exit_code == 3
    for model in (SketchClassifier, SketchRegressor):
        with pytest.raises(DataError, match="examples have weight 0"):
            model().fit_stream(io.BytesIO(WEIGHTLESS), format="csv", weight_column="n")
    one = WEIGHTLESS + b"free,1,1\n"
    with open_stream(io.BytesIO(one), "csv", **how) as stream:
        assert Session(stream, loss=loss, memory="4KiB", k=2).run().examples == 201
