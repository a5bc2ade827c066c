"""Both sides of every limit in docs/reference/limits.md."""

from __future__ import annotations

import io
import lzma
from pathlib import Path

import numpy as np
import pytest

from bearsketch import LimitError, ModelFileError, ParameterError, make_learner, model_file
from bearsketch.learners import state
from bearsketch.learners.parts import LIMITS, check_number
from bearsketch.reading import Limits, open_stream
from bearsketch.reading.account import LIMIT_CODES
from bearsketch.training.session import Session
from tests.cli.helpers import bearsketch, good

PAGE = (Path(__file__).resolve().parents[1] / "docs" / "reference" / "limits.md").read_text()


def read(text, form="vw", **limits):
    """Number of batches and examples of a text, and counts."""
    source = io.BytesIO(text if isinstance(text, bytes) else text.encode())
    with open_stream(source, form, limits=Limits(**limits)) as stream:
        sizes = [len(batch) for batch in stream]
    return sizes, stream.counts


LINE = "1 |w " + "x" * 95  # 100 bytes


@pytest.mark.parametrize(
    ("name", "form", "text", "value"),
    [
        ("line_bytes", "vw", LINE + "\n", 100),
        ("line_bytes", "svmlight", "1 5:1 77:2\n", 10),
        ("line_bytes", "csv", "a,label\nhello!,1\n", 8),
        ("line_bytes", "jsonl", '{"label": 1, "a": 2}\n', 20),
        ("name_bytes", "vw", LINE + "\n", 97),  # with the namespace and its mark
        ("name_bytes", "jsonl", '{"label": 1, "abc": 2}\n', 3),
        ("row_features", "vw", "1 |w a b c\n", 3),
        ("row_features", "svmlight", "1 1:1 2:1 3:1 4:1\n", 4),
        ("row_features", "csv", "a,b,label\n5,6,1\n", 2),
    ],
)
def test_a_line_at_its_limit_is_read_and_one_above_is_refused(name, form, text, value):
    sizes, _ = read(text, form, **{name: value})
    assert sizes == [1]
    with pytest.raises(LimitError) as caught:
        read(text, form, **{name: value - 1})
    assert LIMIT_CODES[caught.value.code] == name
    assert f"Raise the limit {name} (--limit)" in str(caught.value)
    assert caught.value.exit_code == 6


def test_a_batch_at_its_limit_is_whole_and_one_above_is_split():
    text = "1 |w a b c\n" * 4
    whole, counts = read(text, batch_entries=12)
    assert (whole, counts.other["split_batches"]) == ([4], 0)
    split, counts = read(text, batch_entries=11)
    assert (split, counts.other["split_batches"]) == ([3, 1], 1)
    whole, counts = read(text, batch_text_bytes=36)
    assert (whole, counts.other["split_batches"]) == ([4], 0)
    split, counts = read(text, batch_text_bytes=35)
    assert (split, counts.other["split_batches"]) == ([3, 1], 1)


def test_decoded_bytes_of_all_inputs():
    text = b"1 |w a\n" * 10
    assert read(text, input_bytes=70)[0] == [10]
    with pytest.raises(LimitError) as caught:
        read(text, input_bytes=69)
    assert caught.value.code == "SRC-SIZE"


def test_the_window_of_xz():
    data = lzma.compress(b"1 |w a\n" * 1000, preset=6)  # asks for 9 MiB
    assert sum(read(data, window_bytes=10 << 20)[0]) == 1000
    with pytest.raises(LimitError) as caught:
        read(data, window_bytes=8 << 20)
    assert caught.value.code == "SRC-WINDOW"


@pytest.mark.parametrize("name", LIMITS)
def test_both_ends_of_a_number(name):
    kind, low, high = LIMITS[name]
    step = 1 if kind is int else 0.5
    for good_value in (low, high):
        check_number(name, good_value)
    for bad in (low - step, high * 2 + step):
        with pytest.raises(ParameterError, match=f"{name} must be"):
            check_number(name, bad)


def train(labels, **options):
    text = "".join(f"{label} |w f{i}\n" for i, label in enumerate(labels))
    with open_stream(io.BytesIO(text.encode()), "vw", include_unlabelled=False) as stream:
        training = Session(stream, memory="1MiB", k=2, **options)
        training.run()
    return training


def test_classes():
    words = [f"c{i:04d}" for i in range(1001)]
    assert train(words[:1000]).task.loss == "softmax"
    with pytest.raises(LimitError) as caught:
        train(words)
    assert caught.value.code == "LABEL-CLASSES"
    assert train(words[:7], max_classes=7).learner.config.n_classes == 7
    with pytest.raises(LimitError):
        train(words[:8], max_classes=7)
    assert train(range(100)).task.loss == "softmax"
    assert train(range(101)).task.loss == "squared"
    with pytest.raises(ParameterError, match="2 to 65536"):
        train(words[:8], max_classes=65537)


def test_memory_of_a_model():
    least = 2 * 11 + 1
    with pytest.warns(UserWarning, match="more than half"):
        assert make_learner(k=2, memory=least).sizes.model_bytes == least
    with pytest.raises(LimitError) as caught:
        make_learner(k=2, memory=least - 1)
    assert caught.value.code == "MEM-BUDGET"


def test_the_header_of_a_model_file(tmp_path):
    learner = make_learner(k=2, memory="1KiB")
    arrays, record = state.dump(learner)

    def header(note):
        data = model_file.pack(arrays, {**record, "note": note})
        return int.from_bytes(data[:8], "little"), data

    room = model_file.LARGEST_HEADER - header("")[0]
    size, data = header("x" * room)
    assert size == model_file.LARGEST_HEADER
    assert model_file.unpack(data)[1]["note"] == "x" * room
    with pytest.raises(ModelFileError) as caught:
        header("x" * (room + 8))
    assert caught.value.code == "MODEL-LARGE"
    longer = (model_file.LARGEST_HEADER + 1).to_bytes(8, "little") + data[8:] + b" " * 100
    with pytest.raises(ModelFileError) as caught:
        model_file.unpack(longer)
    assert caught.value.code == "MODEL-FOREIGN"


def test_classes_with_a_selection_each():
    """The most there may be have room in the header, whatever the run and the labels."""
    labels = [f"{i:0100d}" for i in range(1000)]
    options = {"loss": "softmax", "per_class": True, "k": 1, "width": 1}
    learner = make_learner(classes=labels, **options)
    learner.run = {"n": "x" * (state.LARGEST_RUN - 9)}
    assert type(learner).from_bytes(learner.to_bytes()).labels.classes == tuple(labels)
    with pytest.raises(LimitError, match="at most 1000 classes, got 1001") as caught:
        make_learner(classes=1001, **options)
    assert caught.value.code == "LABEL-PER-CLASS"
    assert make_learner(classes=1001, **{**options, "per_class": False}).config.n_classes == 1001


def test_what_a_model_remembers():
    learner = make_learner(k=2, memory="1KiB")
    learner.run = {"n": "x" * (state.LARGEST_RUN - 9)}
    assert learner.to_bytes()
    learner.run = {"n": "x" * (state.LARGEST_RUN - 8)}
    with pytest.raises(LimitError) as caught:
        learner.to_bytes()
    assert caught.value.code == "MODEL-RUN"


def test_the_largest_weight():
    """A weight may be 1e15; a step beyond it is refused, and the model keeps its state."""
    from bearsketch import Batch, DivergedError

    for target, fits in ((9e14, True), (2e15, False)):
        learner = make_learner("sgd", loss="squared", dimension=1, step_size=1.0, batch_size=1)
        row = Batch([0, 1], [0], np.ones(1, dtype=np.float32), labels=[target])
        if fits:
            learner.learn(row)
            assert learner.weights_of([0])[0, 0] == pytest.approx(target, rel=1e-6)
        else:
            with pytest.raises(DivergedError):
                learner.learn(row)
            assert learner.weights_of([0])[0, 0] == 0.0


def test_limits_on_the_command_line(spam, tmp_path):
    good(
        "train",
        spam,
        "-o",
        tmp_path / "m",
        "--limit",
        "line_bytes=1KiB",
        "--limit",
        "name_bytes=20",
    )
    short = bearsketch("train", spam, "-o", tmp_path / "m", "--limit", "line_bytes=20")
    assert short.returncode == 6
    assert "error[COM-LINE-LONG]" in short.stderr
    for wrong in ("bytes=5", "line_bytes", "line_bytes=many", "line_bytes=0"):
        assert bearsketch("train", spam, "-o", tmp_path / "m", "--limit", wrong).returncode == 2


def test_the_page_has_every_limit():
    usual = Limits()
    shown = {
        "line_bytes": "64 MiB",
        "name_bytes": "64 KiB",
        "row_features": f"{usual.row_features:,}",
        "batch_entries": f"{usual.batch_entries:,}",
        "batch_text_bytes": "64 MiB",
        "input_bytes": "none",
        "window_bytes": "128 MiB",
    }
    assert set(shown) == set(Limits.__slots__)
    for name, default in shown.items():
        assert f"| `{name}` | {default} |" in PAGE
    for code in LIMIT_CODES:
        assert f"`{code}`" in PAGE


@pytest.fixture
def spam(tmp_path):
    from tests.cli.helpers import spam_lines

    path = tmp_path / "spam.vw"
    path.write_text(spam_lines())
    return path
