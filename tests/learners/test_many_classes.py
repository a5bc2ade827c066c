"""Three classes and more: labels that are partly noise, and room for classes that never come."""

from __future__ import annotations

import numpy as np
import pytest

from bearsketch import Batch, SketchClassifier, make_learner
from bearsketch.learners.narrow import keep_classes

NOISE = 50


def marked(n, seed, classes):
    """Draw rows of five noise words; all classes but the first have a word of their own.

    It is in most of their rows, and in a few of the others.
    """
    rng = np.random.default_rng(seed)
    shares = np.full(classes, 0.5 / (classes - 1))
    shares[0] = 0.5
    labels = rng.choice(classes, n, p=shares)
    rows = []
    for label in labels:
        row = {f"noise{word}" for word in rng.integers(0, NOISE, 5)}
        own = rng.random(classes) < np.where(np.arange(classes) == label, 0.8, 0.1)
        rows.append(sorted(row | {f"mark{c}" for c in np.flatnonzero(own) if c > 0}))
    return rows, labels


def best_accuracy(rows, labels, classes):
    """Accuracy of the probabilities that the rows were drawn with."""
    odds = np.log(0.8 / 0.1), np.log(0.2 / 0.9)
    first = np.log(np.r_[0.5, np.full(classes - 1, 0.5 / (classes - 1))])
    marks = [[0.0, *(odds[f"mark{c}" not in row] for c in range(1, classes))] for row in rows]
    return np.mean(np.argmax(first + np.array(marks), axis=1) == labels)


@pytest.mark.parametrize(("classes", "most"), [(3, 0.02), (6, 0.045)])
def test_a_class_without_a_feature_of_its_own_is_learned(classes, most):
    """A batch holds as many rows of it as chance will: that is no news about every word there."""
    lost = []
    for seed in range(4):
        rows, labels = marked(6000, seed, classes)
        learner = make_learner(loss="softmax", classes=range(classes), k=8, seed=seed)
        learner.learn(Batch.from_rows(rows[:4000], labels[:4000], seed=seed))
        test = Batch.from_rows(rows[4000:], labels[4000:], seed=seed)
        accuracy = np.mean(np.argmax(learner.predict_margin(test), axis=1) == labels[4000:])
        lost.append(best_accuracy(rows[4000:], labels[4000:], classes) - accuracy)
    assert np.mean(lost) < most


def test_steps_get_shorter_where_labels_are_noise_however_many_classes():
    rng = np.random.default_rng(1)
    n, fields, values, classes = 20_000, 10, 100, 5
    columns = rng.integers(0, values, (n, fields)) + values * np.arange(fields)
    margins = rng.normal(0, 0.3, (fields * values, classes))[columns].sum(axis=1)
    labels = np.argmax(margins + rng.gumbel(size=margins.shape), axis=1)
    indptr = np.arange(0, n * fields + 1, fields)
    data = Batch(indptr, columns.ravel(), np.full(n * fields, fields**-0.5), labels=labels)
    learner = make_learner(loss="softmax", classes=range(classes), k=100, memory="16KiB")
    learner.learn(data.rows(0, 16_000))
    found = learner.predict_proba(data.rows(16_000, n))
    loss = -np.log(found[np.arange(len(found)), labels[16_000:]]).mean()
    shares = np.bincount(labels[:16_000]) / 16_000
    assert loss < -np.log(shares[labels[16_000:]]).mean() - 0.05


class TestRoomForMoreClasses:
    @pytest.fixture
    def data(self):
        return marked(5000, 1, 2)

    def fitted(self, rows, labels):
        words = np.where(labels, "yes", "no")
        roomy = SketchClassifier(k=8)
        named = SketchClassifier(k=8)
        for start in range(0, 4000, 100):
            part = slice(start, start + 100)
            roomy.partial_fit(rows[part], words[part])
            named.partial_fit(rows[part], words[part], classes=["no", "yes"])
        return roomy, named

    def test_it_costs_little(self, data):
        rows, labels = data
        roomy, named = self.fitted(rows, labels)
        words = np.where(labels, "yes", "no")[4000:]
        assert roomy.score(rows[4000:], words) > named.score(rows[4000:], words) - 0.01

    def test_the_best_comes_first_once_saved(self, data, tmp_path):
        rows, labels = data
        roomy, _ = self.fitted(rows, labels)
        roomy.save(tmp_path / "m.bear")
        loaded = SketchClassifier.load(tmp_path / "m.bear")
        assert loaded.selected_names_[0] == roomy.selected_names_[0] == "mark1"
        sizes = abs(loaded.selected_weights_)  # in this order but for how often each occurred
        assert (sizes[:-1] > 0.9 * sizes[1:]).all()
        assert set(loaded.selected_names_) == set(roomy.selected_names_)
        np.testing.assert_allclose(
            loaded.predict_proba(rows), roomy.predict_proba(rows), atol=0.002
        )
        assert abs(loaded.learner_.intercept.sum()) < 1e-9


@pytest.mark.parametrize("learner", ["bear+", "awm"])
def test_what_the_classes_that_stay_have_in_common_is_no_size(learner):
    rows, labels = marked(2000, 0, 3)
    wide = make_learner(learner, loss="softmax", classes=range(9), k=8, seed=0)
    wide.learn(Batch.from_rows(rows, labels))
    narrow = keep_classes(wide, [0, 1, 2])
    weights = narrow.selected().all_weights
    assert abs(weights.sum(axis=1)).max() < 0.05 * abs(weights).max()
    batch = Batch.from_rows(rows)
    before, after = (made.predict_margin(batch) for made in (wide, narrow))
    before, after = (margins - margins[:, :1] for margins in (before[:, :3], after))
    np.testing.assert_allclose(after, before, atol=0.02 * abs(before).max())


def test_a_word_that_all_texts_of_a_class_have_is_kept_before_one_that_some_have():
    found = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        labels = rng.integers(0, 3, 10_000)
        rows = [
            {f"all{label}", *(f"noise{word}" for word in rng.integers(0, 200, 8))}
            | ({f"some{label}"} if rng.random() < 2 / 3 else set())
            for label in labels
        ]
        learner = make_learner(loss="softmax", classes=range(3), k=3, memory="64KiB", seed=seed)
        learner.learn(Batch.from_rows([sorted(row) for row in rows], labels, seed=seed))
        found.append(set(learner.selected().names) == {"all0", "all1", "all2"})
    assert sum(found) >= 8


def reads(n: int, seed: int, *, classes=15, features=50_000, length=60) -> Batch:
    """Rows that hold features of their class a little more often than others."""
    own = np.random.default_rng(1).random((classes, features)) < 0.5
    pools = np.array([np.flatnonzero(row)[: features // 3] for row in own])
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, classes, n)
    drawn = pools[labels[:, None], rng.integers(0, pools.shape[1], (n, length))]
    drawn = np.where(rng.random((n, length)) < 0.35, drawn, rng.integers(0, features, (n, length)))
    rows = [np.unique(row) for row in drawn]
    indptr = np.concatenate([[0], np.cumsum([len(row) for row in rows])])
    keys = np.concatenate(rows).astype(np.uint64)
    return Batch(indptr, keys, np.ones(len(keys)), labels.astype(float))


def test_late_rows_count_where_many_keys_share_a_cell():
    train, test = reads(30_000, seed=2), reads(10_000, seed=3)
    right = []
    for seed in range(3):
        learner = make_learner(memory="16KiB", k=0, loss="softmax", classes=15, seed=seed)
        learner.learn(train)
        right.append(np.mean(learner.predict(test) == test.labels))
    assert np.mean(right) > 0.095  # .092 when early rows counted for more than late ones
