"""What the estimators reach on real collections."""

import random
import tarfile

import numpy as np
import pytest
from sklearn.datasets import load_svmlight_files
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from bearsketch import SketchClassifier, SketchSelector
from bearsketch.reading import open_stream


@pytest.fixture(scope="module")
def rcv1(shared_data):
    folder = shared_data / "text" / "rcv1"
    if not folder.is_dir():
        pytest.skip("RCV1 is not among the shared data")
    files = [str(folder / f"rcv1_binary_{part}.svm.gz") for part in ("train", "test")]
    return load_svmlight_files(files)


def test_a_thousand_selected_features_do_for_logistic_regression(rcv1):
    X, y, X_test, y_test = rcv1
    full = LogisticRegression(C=10, max_iter=1000).fit(X, y).score(X_test, y_test)
    pipe = make_pipeline(SketchSelector(k=1000), LogisticRegression(C=10, max_iter=1000))

    selected = pipe.fit(X, y).score(X_test, y_test)

    print(f"logistic regression on {X.shape[1]} features {full:.4f}, on 1,000 {selected:.4f}")
    assert pipe[0].learner_.sizes.model_bytes <= 256 * 1024
    assert selected > full - 0.01


def test_one_pass_is_as_good_as_logistic_regression(rcv1):
    X, y, X_test, y_test = rcv1
    assert SketchClassifier().fit(X, y).score(X_test, y_test) > 0.96


@pytest.fixture(scope="module")
def newsgroups(shared_data, tmp_path_factory):
    """Both parts of 20 newsgroups as files of lines: group, tab, message."""
    archive = shared_data / "text" / "20news-bydate.tar.xz"
    if not archive.is_file():
        pytest.skip("20 newsgroups is not among the shared data")
    parts = {"train": [], "test": []}
    with tarfile.open(archive) as tar:
        for member in tar:
            if member.isfile():
                part, group, _ = member.name.split("/")
                text = " ".join(tar.extractfile(member).read().decode("latin-1").split())
                parts[part.rpartition("-")[2]].append(f"{group}\t{text}\n")
    folder = tmp_path_factory.mktemp("newsgroups")
    for part, lines in parts.items():
        random.Random(0).shuffle(lines)
        (folder / part).write_text("".join(lines), encoding="utf-8")
    return folder


def test_newsgroups_from_text_give_names(newsgroups):
    options = {"format": "text", "presence": True}

    got = SketchClassifier(k=1000, memory="4MiB").fit_stream(newsgroups / "train", **options)

    with open_stream(newsgroups / "test", **options) as batches:
        hits = np.concatenate([got.predict(batch) == batch.labels for batch in batches])
    print(f"20 newsgroups in one pass: {hits.mean():.4f}")
    assert len(got.classes_) == 20
    assert hits.mean() > 0.76
    assert got.learner_.sizes.model_bytes <= 4 << 20
    of_word = dict(zip(got.selected_names_, got.selected_classes_, strict=True))
    telling = {
        "motorcycles": "rec.motorcycles",
        "sale": "misc.forsale",
        "space": "sci.space",
        "hockey": "rec.sport.hockey",
        "car": "rec.autos",
    }
    found = {word: of_word.get(word) for word in telling}
    assert sum(found[word] == group for word, group in telling.items()) >= 4, found
