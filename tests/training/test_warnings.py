"""What a run warns of."""

from __future__ import annotations

import io

import numpy as np
import pytest

from bearsketch.batch import Batch
from bearsketch.exceptions import SourceError
from bearsketch.learners.noise import VERDICTS
from bearsketch.metrics import NumberScores
from bearsketch.reading import open_stream
from bearsketch.training.checkpoint import Checkpoints
from bearsketch.training.order import Order, smooth_targets
from bearsketch.training.scaling import scale_warning
from bearsketch.training.session import Session
from bearsketch.wording import for_command

SHUFFLE = (
    "(lines: shuf; tables with a header: (head -n 1 t.csv; tail -n +2 t.csv | shuf) > "
    "shuffled.csv; reads: seqkit shuffle)"
)


def texts(labels):
    return [f"{label} |w k{label} n{i % 31}" for i, label in enumerate(labels)]


def trained(labels, rows=240, **options):
    """Run a training on a label for each example; give it and its summary."""
    data = io.BytesIO(("\n".join(texts(labels)) + "\n").encode())
    stream = open_stream(data, "vw", rows=rows, include_unlabelled=False)
    training = Session(stream, memory="8KiB", k=9, **options)
    return training, training.run()


def codes(summary):
    """Codes of what a run warns of, but for what error rates leave out."""
    return [w.code for w in summary.warnings if not w.code.startswith("EVIDENCE-")]


def test_labels_in_long_runs_are_told():
    _, summary = trained(["a"] * 600 + ["b"] * 600)
    assert codes(summary)[0] == "DATA-ORDER"
    told = str(summary.warnings[0])
    assert "(2 runs in 1,200 examples, about 600 in a random order)" in told
    assert told.endswith("shuffle the examples")
    told = summary.warnings[0].text(for_command)
    assert told.endswith(f"shuffle the examples {SHUFFLE}")
    _, again = trained(["a"] * 600 + ["b"] * 600, passes=2)
    assert codes(again)[0] == "DATA-ORDER"
    assert "one pass" not in str(again.warnings[0])
    assert "the model leans to what came last" in str(again.warnings[0])
    assert "several passes" not in str(again.warnings[0])


def test_the_size_of_the_others_is_theirs_alone():
    rng = np.random.default_rng(0)
    large = 100.0 * rng.normal(size=(300, 3))
    rows = [{"a": 1.0, "b": 1.0, **dict(zip("xyz", x, strict=True))} for x in large.tolist()]
    assert "are far larger than the others (about 1)," in str(
        scale_warning([Batch.from_rows(rows)])
    )


@pytest.mark.parametrize(
    "labels",
    [
        ["a", "b"] * 600,
        ["a"] * 450 + ["b"] * 450,  # too few to tell
        [label for label in "ab" * 60 for _ in range(10)],  # runs of ten: a fifth of chance
        ["0.5", "1.5", "2.5"] * 400,
    ],
)
def test_labels_in_a_fair_order_are_not(labels):
    _, summary = trained(labels)
    assert codes(summary) == []


def windows(records):
    """Train on sequences of 1,600 letters, a label each, cut into 100 pieces."""
    text = "".join(f">r{i} y={y}\n{'ACGTTGCA' * 200}\n" for i, y in enumerate(records))
    reading = {"kmer": 4, "window": 16, "stride": 16, "label_regex": "y=(.)"}
    stream = open_stream(io.BytesIO(text.encode()), "fasta", include_unlabelled=False, **reading)
    return codes(Session(stream, memory="8KiB", k=9, classes=["a", "b"]).run())


def test_pieces_of_one_record_are_no_long_run():
    assert "DATA-ORDER" not in windows("ab" * 600)
    assert "DATA-ORDER" in windows("a" * 600 + "b" * 600)
    assert "DATA-ORDER" in windows("abba" * 10)  # too few records to tell: runs of 100


def test_rare_labels_may_be_far_apart():
    labels = np.where(np.random.default_rng(0).random(5000) < 0.01, "b", "a")
    assert codes(trained(labels.tolist())[1]) == []
    assert codes(trained(np.sort(labels)[::-1].tolist())[1]) == ["DATA-ORDER"]


def test_changes_are_counted_across_batches():
    numbers = np.random.default_rng(1).integers(0, 3, 1000)
    whole, parts = Order(3), Order(3)
    whole.add(numbers)
    for start in range(0, 1000, 7):
        parts.add(numbers[start : start + 7])
    parts.add(numbers[:0])
    assert np.array_equal(whole.to_array(), parts.to_array())
    assert whole.changes == int((np.diff(numbers) != 0).sum())


def test_a_resumed_run_counts_on(tmp_path):
    path = tmp_path / "d.vw"
    path.write_text("\n".join(texts(["a"] * 600 + ["b"] * 600)) + "\n")

    def run(stop_at, resume):
        stream = open_stream(path, "vw", rows=240, include_unlabelled=False)
        kept = Checkpoints(tmp_path / "ckpt", 240, resume=resume)
        training = Session(stream, memory="8KiB", k=9, checkpoint=kept)

        def watch(seen):
            if seen.examples == stop_at:
                raise ZeroDivisionError

        return training, training.run(watch)

    with pytest.raises(ZeroDivisionError):
        run(720, False)
    training, summary = run(None, True)
    assert training.resumed_at == 720
    assert codes(summary)[0] == "DATA-ORDER"
    assert training.first.order.changes == 1


def table(rows, **parts):
    """Train on rows of a table; give the summary."""
    data = io.BytesIO(("\n".join(["id,word,label", *rows]) + "\n").encode())
    stream = open_stream(data, "csv", rows=240, include_unlabelled=False)
    return Session(stream, memory="8KiB", k=9, **parts).run()


def test_predictions_worse_than_guessing_are_told():
    rng = np.random.default_rng(1)
    rows = [f"1,w{rng.integers(20)},{'ab'[rng.integers(2)]}" for i in range(2000)]
    summary = table(rows, learner="mission", step_size=4.0)
    assert codes(summary) == ["DATA-LOSS"]
    told = str(summary.warnings[0])
    assert "worse than always giving the shares of the labels (loss " in told
    assert "against 0.69" in told
    numbers = rng.normal(3, 1, 2000)
    summary = table(
        [f"1,w{i % 2},{y:.3f}" for i, y in enumerate(numbers)], learner="mission", step_size=0.6
    )
    assert codes(summary) == ["DATA-LOSS"]
    assert "worse than always giving the mean (RMSE " in str(summary.warnings[0])
    assert f"against {numbers.std():.3g}" in str(summary.warnings[0])


def test_where_guessing_is_never_wrong_there_is_nothing_to_beat():
    for target in ("7", "0.1", "1e6"):
        rows = [f"1,w{i % 9},{target}" for i in range(2000)]
        assert "DATA-LOSS" not in codes(table(rows, loss="squared"))
    rows = [f"1,w{i % 9},no" for i in range(2000)]
    assert "DATA-LOSS" not in codes(table(rows, classes=["no", "yes"]))


def test_wrong_first_examples_and_rare_labels_are_no_reason():
    years = np.random.default_rng(0).normal(2000, 3, 2000)
    assert codes(table([f"1,w{i % 2},{y:.2f}" for i, y in enumerate(years)])) == []
    rare = np.random.default_rng(3).random(3000) < 0.005
    assert codes(table([f"1,w{i % 97},{'ab'[int(y)]}" for i, y in enumerate(rare)])) == []
    labels = np.array([0] * 9 + [1])
    order = Order(2)
    order.add(labels, np.where(labels, 9.0, 1.0))
    assert order.guessing() == pytest.approx((np.log(2), 0.0), abs=1e-9)


def test_a_memory_that_is_too_small_is_told_in_the_words_of_info():
    lines = [
        f"{'ab'[i % 2]} | {'xy'[i % 2]} " + " ".join(f"w{i * j}" for j in range(1, 40))
        for i in range(400)
    ]

    def run(memory):
        stream = open_stream(
            io.BytesIO(("\n".join(lines) + "\n").encode()), "vw", include_unlabelled=False
        )
        return Session(stream, memory=memory).run()

    small = run("1KiB")
    assert codes(small) == ["MEM-SMALL"]
    assert str(small.warnings[0]).startswith(VERDICTS["too small"])
    assert codes(run("1MiB")) == []


def rows(n, value):
    return Batch.from_rows([{"n": value(i), "a": 1.0, "b": 1.0} for i in range(n)])


def test_values_that_grow_are_found_from_all_along_the_batches():
    assert "values of 'n' (about 57.3) grow along" in str(scale_warning([rows(100, float)]))
    batches = [rows(20, lambda i, b=b: 20.0 * b + i) for b in range(5)]
    assert scale_warning(batches) == scale_warning([rows(100, float)])
    others = [rows(40, float), rows(100, lambda i: i % 10 + 0.0), rows(100, lambda i: 100.0 - i)]
    # Too few to tell, or not growing: large beside the others, that is all.
    assert [scale_warning([one]).facts["kind"] for one in others] == ["large"] * 3


def test_counts_that_fit_no_classes_are_refused():
    with pytest.raises(ValueError, match="counted once for each class"):
        Order(2).restore(np.zeros(3))


@pytest.mark.parametrize("label", [1, 0, -1])
def test_one_label_in_all_of_the_data_is_told(label):
    _, summary = trained([label] * 100)
    assert codes(summary) == ["LABEL-ONE"]
    assert f"all examples have label {label}:" in str(summary.warnings[0])
    assert "--classes" not in str(summary.warnings[0])
    _, named = trained([label] * 100, classes=[label, 7])
    assert codes(named) == []


def test_a_column_far_smaller_than_the_others_is_told():
    rng = np.random.default_rng(0)

    def rows(size, holes=0):
        drawn = enumerate(rng.normal(size=(300, 2)))
        return [
            {"x": x, "word": 1.0, **({"rate": size * z} if i % 10 >= holes else {})}
            for i, (x, z) in drawn
        ]

    told = str(scale_warning([Batch.from_rows(rows(0.001))]))
    assert "values of 'rate' (about 0.00" in told
    assert "are far smaller than the others (about 0." in told
    assert "multiply them" in told
    assert scale_warning([Batch.from_rows(rows(0.2))]) is None
    assert scale_warning([Batch.from_rows(rows(0.001, holes=5))]) is None  # rare
    all_small = [{name: 1e-3 * value for name, value in row.items()} for row in rows(1.0)]
    assert scale_warning([Batch.from_rows(all_small)]) is None  # none is beside another
    constant = [{**row, "rate": 0.001} for row in rows(1.0)]
    assert scale_warning([Batch.from_rows(constant)]) is None  # there is nothing to learn


def test_numbers_are_not_scored_before_anything_is_known_of_them():
    rng = np.random.default_rng(0)
    far = [f"{1e6 + z:.3f}" for z in rng.normal(size=600)]
    _, summary = trained(far, loss="squared")
    assert 0.5 < summary.progressive_rmse < 50.0
    assert summary.examples == 600
    _, few = trained(far[:15], loss="squared")  # no more than a minibatch: scored all the same
    assert few.progressive_rmse > 1e5


def test_a_column_around_a_large_mean_is_told_where_its_scale_does_no_harm():
    rng = np.random.default_rng(0)
    rows = [{"year": 1990 + x, "income": 3e3 * z} for x, z in rng.normal(size=(200, 2)) * [9, 1]]
    told = str(scale_warning([Batch.from_rows(rows)]))
    assert "values of 'year' (about 1.99e+03) lie around a mean far from 0" in told
    assert "subtract the mean" in told
    rare = [row if i % 3 else {"income": row["income"]} for i, row in enumerate(rows)]
    assert scale_warning([Batch.from_rows(rare)]) is None


@pytest.mark.parametrize(("order", "told"), [("random", False), ("sorted", True), ("waves", True)])
def test_targets_in_an_order_of_their_own_are_told(order, told):
    y = np.random.default_rng(1).normal(1000.0, 5.0, 3000)
    y = {"random": y, "sorted": np.sort(y), "waves": 5 * np.sin(np.arange(3000) / 50)}[order]
    scores = NumberScores()
    for part in np.array_split(y, 7):
        scores.add(part, np.zeros(len(part)))
    assert scores.roughness == pytest.approx(np.mean(np.diff(y) ** 2) / 2 / y.var(), rel=1e-6)
    warning = smooth_targets(scores)
    assert (warning is not None) == told
    if told:
        assert "targets hardly change from one example to the next" in str(warning)
        assert "shuffle the examples" in str(warning)


def test_a_second_pass_over_a_pipe_is_refused_before_the_first():
    lines = Pipe(b"1 | a\n-1 | b\n" * 100)
    with open_stream(lines, "vw") as stream:
        with pytest.raises(SourceError, match="read only once"):
            Session(stream, memory="4KiB", passes=2).run()
        assert stream.passes == 0


class Pipe(io.RawIOBase):
    """Bytes that can be read once."""

    def __init__(self, data):
        self._data = io.BytesIO(data)

    def readable(self):
        return True

    def readinto(self, buffer):
        return self._data.readinto(buffer)

    def seekable(self):
        return False
