"""fit_stream on what the readers open."""

import gzip
import io
import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from bearsketch import (
    Batch,
    DataError,
    IncompatibleError,
    ParameterError,
    SketchClassifier,
    SketchRegressor,
    SketchSelector,
    SourceError,
    load,
)
from bearsketch.reading import open_like, open_stream
from bearsketch.reading.remember import read_options

LINES = b"1 | buy now\n-1 | meet now\n1 | buy cheap\n-1 | meet lunch\n" * 50


def test_a_compressed_file_gives_names(tmp_path):
    path = tmp_path / "mails.vw.gz"
    path.write_bytes(gzip.compress(LINES))

    got = SketchClassifier(k=2, memory="8KiB", random_state=5).fit_stream(path)

    assert got.classes_.tolist() == [-1, 1]
    assert sorted(got.selected_names_) == ["buy", "meet"]
    assert got.learner_.counters["examples"] == 200
    assert_array_equal(got.predict([["buy"], ["meet"]]), [1, -1])
    with open_stream(path, seed=5) as batches:
        for batch in batches:
            assert_array_equal(got.predict(batch), batch.labels)


def test_a_file_is_read_again_for_each_pass_and_a_pipe_is_not(tmp_path):
    path = tmp_path / "mails.vw"
    path.write_bytes(LINES)
    got = SketchClassifier(k=4, memory="8KiB", passes=3).fit_stream([path])
    assert got.learner_.counters["passes"] == 3
    assert got.learner_.counters["examples"] == 600
    pipe = io.BufferedReader(NoSeek(LINES))
    with pytest.raises(SourceError, match="only once"):
        SketchClassifier(k=4, memory="8KiB", passes=3).fit_stream(pipe, format="vw")


def test_a_saved_model_remembers_how_its_data_was_read(tmp_path):
    table = tmp_path / "shop.csv"
    rows = [
        f"{i},{'good' if i % 2 else 'bad'} thing,{'yes' if i % 2 else 'no'}" for i in range(200)
    ]
    table.write_text("id,review,kept\n" + "\n".join(rows) + "\n")
    options = {"label_column": "kept", "text_columns": ["review"], "drop": ["id"]}
    got = SketchClassifier(k=5, memory="8KiB").fit_stream(table, **options)
    got.save(tmp_path / "m.bear")

    learner = load(tmp_path / "m.bear")
    again = read_options(learner.run)
    assert again["text_columns"] == ("review",)
    assert again["drop"] == ("id",)
    assert learner.run["format"] == "csv"
    with open_stream(table, **again, seed=learner.config.seed) as stream:
        for batch in stream:
            assert_array_equal(learner.predict(batch), batch.labels)


class NoSeek(io.RawIOBase):
    """Bytes as a pipe gives them."""

    def __init__(self, data):
        self._data = io.BytesIO(data)

    def readable(self):
        return True

    def seekable(self):
        return False

    def readinto(self, buffer):
        return self._data.readinto(buffer)


def test_ids_are_columns():
    text = b"1 3:1 900:2\n-1 5:1 900:2\n1 3:1 900:1\n-1 5:1 900:1\n" * 50
    got = SketchSelector(k=2, memory="8KiB").fit_stream(io.BytesIO(text), format="svmlight")
    assert_array_equal(got.get_support(indices=True), [3, 5])
    assert not hasattr(got, "coef_")
    X = np.zeros((2, 901))
    X[0, 3] = X[1, 5] = 1.0
    assert_array_equal(got.transform(X), [[1.0, 0.0], [0.0, 1.0]])


@pytest.mark.parametrize("sparse", [False, True])
def test_columns_from_0_for_ids_from_1_are_told(sparse, tmp_path):
    rng = np.random.default_rng(0)
    y = np.arange(400) % 2
    X = np.where(rng.random((400, 6)) < 0.3, 0.0, rng.normal(size=(400, 6)) + y[:, None])
    path = tmp_path / "d.svm"
    dump_svmlight_file(X, y, str(path), zero_based=False)
    kind = (lambda X: X) if sparse else (lambda X: X.toarray())
    shifted, right = (
        kind(load_svmlight_file(str(path), zero_based=how)[0]) for how in ("auto", True)
    )
    model = SketchClassifier(k=6, memory="8KiB").fit_stream(path, format="svmlight")
    with warnings.catch_warnings(action="error"):
        assert model.score(right, y) > 0.8
        model.fit(shifted, y).predict(shifted)
    model.fit_stream(path, format="svmlight")
    with pytest.warns(UserWarning, match=r"zero_based=True.*\[DATA-IDS\]"):
        model.predict(shifted)
    with pytest.warns(UserWarning, match="DATA-IDS"):
        model.transform(np.ones((2, 9)))
    with pytest.warns(UserWarning, match="DATA-IDS"):
        model.partial_fit(shifted, y)
    model.save(tmp_path / "m.bear")
    with pytest.warns(UserWarning, match="DATA-IDS"):
        SketchClassifier.load(tmp_path / "m.bear").predict(shifted)
    with warnings.catch_warnings(action="error"):
        open_like(model, path).close()
        model.fit(shifted, y)
    with pytest.warns(UserWarning, match=r"zero_based=True.*\[DATA-IDS\]"):
        open_like(model, path).close()


def test_a_frame_of_categories_is_a_stream():
    frame = pd.DataFrame({"city": ["paris", "rome"] * 100, "price": [3.0, 1.0] * 100})
    got = SketchRegressor(k=2, memory="8KiB").fit_stream(frame, label_column="price")
    assert sorted(got.selected_names_) == ["city=paris", "city=rome"]


def test_unlabelled_lines_are_left_out_and_errors_name_their_place(tmp_path):
    path = tmp_path / "mails.vw"
    path.write_bytes(b"| no label\n" + LINES)
    assert SketchClassifier().fit_stream(path).learner_.counters["examples"] == 200
    path.write_bytes(b"one two three | x\n" + LINES)
    with pytest.raises(DataError, match=r"mails.vw:1"):
        SketchClassifier().fit_stream(path)
    with pytest.raises(ParameterError, match="no option of a stream"):
        SketchClassifier().fit_stream(path, unknown=True)


def test_an_open_stream_is_read_as_its_source(tmp_path):
    path = tmp_path / "mails.vw"
    path.write_bytes(LINES)
    given = {"k": 2, "memory": "8KiB", "random_state": 5}
    wanted = SketchClassifier(**given).fit_stream(path)
    got = SketchClassifier(**given).fit_stream(open_stream(path, seed=5, rows=480))
    assert sorted(got.selected_names_) == sorted(wanted.selected_names_) == ["buy", "meet"]


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ([pd.DataFrame({"a": [1.0], "label": [1]}), 7], "object 2 must be a frame, as the first"),
        (np.eye(3), "an array has no labels"),
        ([{"a": 1.0, "label": 1}, "b"], "object 2 must be a mapping .*, got str"),
        ((row for row in [7]), "source must be a path, .* or an iterable of frames or mappings"),
        ([Batch([0, 1], [2], [1.0], labels=[1]), 7], "must give batches .* throughout, got int"),
    ],
)
def test_what_is_no_stream_is_said(source, told):
    with pytest.raises(ValueError, match=told):
        SketchClassifier(k=2, memory="8KiB").fit_stream(source)


def test_a_loaded_model_has_the_names_of_its_columns(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(300, 6)), columns=list("abcdef"))
    model = SketchClassifier(k=2, memory="8KiB").fit(frame, frame["c"] > 0)
    model.save(tmp_path / "m.bear")
    loaded = SketchClassifier.load(tmp_path / "m.bear")
    assert_array_equal(loaded.selected_names_, model.selected_names_)
    assert "c" in loaded.selected_names_


READS = b">r1 t=u\nACGTACGTTT\n>r2 t=v\nGGGCCCGGGA\n" * 30


@pytest.fixture
def of_reads(tmp_path):
    path = tmp_path / "reads.fa"
    path.write_bytes(READS)
    given = {"kmer": 5, "label_regex": r"t=(\w)"}
    return path, SketchClassifier(k=5, memory="8KiB").fit_stream(path, **given)


def test_a_source_is_opened_like_that_of_a_model(of_reads, tmp_path):
    path, model = of_reads
    model.save(tmp_path / "m.bear")
    for kept in (model, load(tmp_path / "m.bear")):
        with open_like(kept, path, labelled=True) as stream:
            for batch in stream:
                assert_array_equal(model.predict(batch), batch.labels)
        with open_like(kept, io.BytesIO(b">new\nACGTACGTTT\n")) as stream:
            assert [model.predict(batch).tolist() for batch in stream] == [["u"]]


@pytest.mark.parametrize(
    "option",
    [{"kmer": 6}, {"canonical": False}, {"presence": True}, {"alphabet": "iupac"}],
)
def test_options_that_make_other_features_are_refused(of_reads, option):
    path, model = of_reads
    told = f"the model was trained with {next(iter(option))} "
    with pytest.raises(ParameterError, match=told):
        open_like(model, path, **option)


def test_options_of_words_that_make_other_features_are_refused():
    lines = b"u\tcheap pills\nv\tlunch now\n" * 30
    given = {"format": "text", "ngrams": [1, 2]}
    model = SketchClassifier(k=5, memory="8KiB").fit_stream(io.BytesIO(lines), **given)
    for option in ({"ngrams": (1, 1)}, {"lowercase": False}, {"char_ngrams": (2, 3)}):
        with pytest.raises(ParameterError, match="other features of the same data"):
            open_like(model, io.BytesIO(lines), **option)
    with open_like(model, io.BytesIO(lines), ngrams=[1, 2]) as stream:
        assert len(next(iter(stream))) == 60


def test_named_classes_that_are_words_make_labels_words():
    table = b"a,label\n" + b"x,true\ny,false\n" * 30
    given = {"format": "csv"}
    model = SketchClassifier(k=2, memory="8KiB").fit_stream(io.BytesIO(table), **given)
    assert model.classes_.tolist() == [0, 1]
    named = {"classes": ["false", "true"], **given}
    model = SketchClassifier(k=2, memory="8KiB").fit_stream(io.BytesIO(table), **named)
    assert model.classes_.tolist() == ["false", "true"]


def test_a_frame_is_predicted_as_it_was_learned():
    frame = pd.DataFrame({"a": [1.0, 0.0] * 30, "label": [1, 0] * 30})
    streamed = SketchClassifier(memory="4KiB").fit_stream(frame, label_column="label")
    with pytest.raises(IncompatibleError, match="open_like"):
        streamed.predict(frame[["a"]].to_numpy())
    with pytest.raises(IncompatibleError, match="open_like"):
        streamed.transform(frame[["a"]].to_numpy())
    with open_like(streamed, frame[["a"]]) as batches:
        assert [*streamed.predict(next(iter(batches)))] == [1, 0] * 30
    fitted = SketchClassifier(memory="4KiB").fit(frame[["a"]], frame["label"])
    with pytest.raises(IncompatibleError, match="matrix or frame that fit took"):
        fitted.predict([{"a": 1.0}])
