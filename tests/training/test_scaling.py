"""Columns of numbers: which are scaled, and that a model of them is linear in them as they are."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bearsketch import Batch, SketchClassifier, SketchRegressor, make_learner, model_file
from bearsketch.exceptions import ModelFileError
from bearsketch.learners import Learner
from bearsketch.learners.average import average, rescaled
from bearsketch.reading import open_stream
from bearsketch.reading.remember import open_like
from bearsketch.training.scaling import find_scaling
from bearsketch.training.session import Session


def batch_of(X, labels=None, weights=None):
    """Rows of an array with zeros left out, as readers do."""
    row, column = np.nonzero(X)
    indptr = np.searchsorted(row, np.arange(len(X) + 1))
    return Batch(indptr, column.astype(np.uint64), X[row, column], labels, weights)


def numbers(rows=400, columns=4, seed=0):
    return np.random.default_rng(seed).normal(size=(rows, columns)).astype(np.float32)


def columns_of(batch, **how):
    found = find_scaling([batch], **how)
    return [] if found is None else found.keys.tolist()


def test_columns_are_found_by_their_mean_and_size():
    X = numbers() * [1, 100, 1, 0.01] + [0, 0, 7, 0]
    found = find_scaling([batch_of(X)])
    np.testing.assert_array_equal(found.keys, [0, 1, 2, 3])
    assert found.changes().tolist() == [False, True, True, True]
    np.testing.assert_allclose(found.means[1:], X[:, 1:].mean(axis=0), rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(found.sizes[1:], X[:, 1:].std(axis=0), rtol=1e-3)
    only_divided = find_scaling([batch_of(X)], center=False)
    assert (only_divided.means == 0).all()
    divided = np.sqrt((X[:, 1:] ** 2).mean(axis=0))
    np.testing.assert_allclose(only_divided.sizes[1:], divided, rtol=1e-3)


@pytest.mark.parametrize("passes", [1, 3])
@pytest.mark.parametrize("wild", [1e4, 1e6, 1e30])
def test_a_wild_cell_harms_no_column_that_stays_as_it_is(wild, passes):
    """One that tells nothing: its weight would be thrown about, and with it all predictions."""
    X = numbers(4000)
    y = X @ [1.0, 2.0, 3.0, 0.0]
    clean = X[3500:], y[3500:].copy()
    X[3000, 3] = wild
    model = SketchRegressor(memory="64KiB", passes=passes, random_state=0).fit(X[:3500], y[:3500])
    assert model.score(*clean) > 0.99


def test_wide_tables_are_looked_at_in_rows_enough():
    X = numbers(200, 5000) * 50 + 300
    assert len(find_scaling([batch_of(X)]).keys) == 5000
    assert len(find_scaling([batch_of(part) for part in np.split(X, 10)]).keys) == 5000


def test_what_a_row_lacks_counts_as_0():
    X = 9 * np.abs(numbers(columns=1))
    X[::4] = 0
    found = find_scaling([batch_of(X)])
    np.testing.assert_allclose([found.means[0], found.sizes[0]], [X.mean(), X.std()], rtol=1e-3)


def test_large_numbers_that_few_rows_have_are_divided():
    rng = np.random.default_rng(0)
    X = (rng.random((1000, 30)) < 0.06) * rng.lognormal(3, 1.5, (1000, 30))
    found = find_scaling([batch_of(X)])
    assert len(found.keys) == 30
    assert not found.means.any()
    rms = np.sqrt((X**2).sum(axis=0) / (X > 0).sum(axis=0))
    np.testing.assert_allclose(found.sizes, rms, rtol=1e-6)
    assert columns_of(batch_of(X[:100])) == []  # too few
    assert columns_of(batch_of(X / 100)) == []  # small: as words by their importance are


def test_mostly_empty_amounts_are_learned():
    scores = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X = (rng.random((5000, 30)) < 0.06) * rng.lognormal(3, 1.5, (5000, 30))
        y = X @ (rng.normal(size=30) * 10) + 300 + 50 * rng.normal(size=5000)
        model = SketchRegressor(memory="64KiB", random_state=seed).fit(X[:4000], y[:4000])
        scores.append(model.score(X[4000:], y[4000:]))
    assert min(scores) > 0.85


def test_one_wild_value_does_not_undo_what_was_learned():
    X = numbers(4000) * 30 + 100
    y = X[:, 0] > 100
    X[2000, 1] = 1e9
    assert SketchClassifier(memory="8KiB", shuffle=False).fit(X, y).score(X, y) > 0.95


def test_a_spread_far_below_the_mean_is_one_all_the_same():
    rng = np.random.default_rng(0)
    time = 1_700_000_000 + rng.integers(0, 3600, 4000)  # float32 tells minutes apart
    y = time > 1_700_001_800
    assert SketchClassifier(memory="8KiB").fit(time[:, None], y).score(time[:, None], y) > 0.95


def test_where_0_is_no_value_what_a_row_lacks_is_missing():
    rng = np.random.default_rng(0)
    ages, children = rng.normal(40, 12, 1000).clip(1), rng.poisson(1.0, 1000)
    ages[::5] = 0.0
    rows = [{"age": a, "children": c} for a, c in zip(ages, children, strict=True)]
    rows = [{name: float(value) for name, value in row.items() if value} for row in rows]
    found = find_scaling([Batch.from_rows(rows)], missing_columns=["age", "other"])
    order = [found.shown().index(name) for name in ("age", "children")]
    assert found.missing[order].tolist() == [1, 0]
    means, sizes = found.means[order], found.sizes[order]
    np.testing.assert_allclose(means, [ages[ages > 0].mean(), children.mean()], rtol=1e-3)
    np.testing.assert_allclose(sizes, [ages[ages > 0].std(), children.std()], rtol=1e-3)
    assert found.absent_of(found.keys[order])[1] == 0.0


def written(table, form):
    """A table as a stream: text, or the table itself."""
    if form == "arrow":
        return table
    if form == "csv":
        return io.BytesIO(table.to_csv(index=False).encode())
    return io.BytesIO(table.to_json(orient="records", lines=True).encode())


@pytest.mark.parametrize("form", ["csv", "arrow", "jsonl"])
def test_missing_numbers_cost_little(form):
    rng = np.random.default_rng(1)
    X = rng.normal([40, 2.0], [12, 1], (6000, 2)).clip([1, 0])
    chance = (X[:, 0] - 40) / 12 - X[:, 1] + rng.normal(size=6000) > -2
    frame = pd.DataFrame(X.round(3), columns=["age", "amount"]).assign(label=chance.astype(int))
    holes = frame.copy()
    holes.loc[rng.random(6000) < 0.2, "age"] = np.nan
    scores = []
    for table in (frame, holes):
        table = table[:4000]
        source = written(table, form)
        model = SketchClassifier(memory="4KiB").fit_stream(source, label_column="label")
        scaling = model.learner_.scaling
        assert dict(zip(scaling.shown(), scaling.missing, strict=True)) == {"age": 1, "amount": 0}
        rest = io.BytesIO(frame[4000:].to_csv(index=False).encode())
        with open_like(model, rest, format="csv", labelled=True) as batches:
            right = [model.predict(batch) == batch.labels for batch in batches]
        scores.append(np.concatenate(right).mean())
    assert scores[1] > max(0.78, scores[0] - 0.01)


def test_rows_of_weight_0_count_for_nothing():
    X = np.vstack([numbers() + 9, np.full((400, 4), 1e6, np.float32)])
    found = find_scaling([batch_of(X, weights=np.repeat([1.0, 0.0], 400))])
    np.testing.assert_allclose(found.means, X[:400].mean(axis=0), rtol=1e-5)


@pytest.mark.parametrize(
    "rows",
    [
        pytest.param([["the", f"w{i % 7}"] for i in range(200)], id="words"),
        pytest.param(
            [{"the": 0.01 + i % 3 / 50, f"w{i}": 0.3, f"v{i}": 0.2} for i in range(200)],
            id="words by their importance",
        ),
        pytest.param([{"id": 10.0 + i, "x": 1.0} for i in range(200)], id="row number"),
        pytest.param([{"one": 1.0, "x": (-1.0) ** i} for i in range(200)], id="about size 1"),
        pytest.param([{"x": 100.0 + i % 5} for i in range(19)], id="too few rows"),
        pytest.param([{}] * 200, id="nothing"),
    ],
)
def test_other_rows_are_left_as_they_are(rows):
    assert find_scaling([Batch.from_rows(rows)]) is None


def test_numbers_beside_categories_are_columns_and_these_are_not():
    rows = [{"age": 30.0 + i % 9, f"city={i % 50}": 1.0, "member": 1.0} for i in range(300)]
    found = find_scaling([Batch.from_rows(rows)])
    assert found.shown() == ("age",)
    constant = find_scaling([Batch.from_rows([{**row, "version": 700.0} for row in rows])])
    assert sorted(constant.shown()) == ["age", "version"]
    assert 0.0 in constant.means  # that of the constant, which is only divided


# Powers of two, so that what is scaled is the same to the last bit.
@pytest.mark.parametrize("learner", ["bear+", "bear", "mission", "awm", "sgd"])
def test_units_of_columns_make_no_difference(learner):
    X, units = numbers(600), np.array([4.0, 1024.0, 2.0**-8, 16.0], np.float32)
    y = X[:, 0] + X[:, 1] > 0.3
    plain, other = (SketchClassifier(learner, k=3, memory="8KiB") for _ in range(2))
    plain.fit(X * units[0], y)
    other.fit(X * units, y)
    assert plain.learner_.scaling is not None
    np.testing.assert_array_equal(
        plain.decision_function(X * units[0]), other.decision_function(X * units)
    )
    if learner == "sgd":
        return
    np.testing.assert_array_equal(plain.selected_names_, other.selected_names_)
    at = other.selected_indices_
    np.testing.assert_allclose(
        plain.selected_weights_ * units[0], other.selected_weights_ * units[at], rtol=1e-12
    )


@pytest.mark.parametrize("selected_only", [False, True])
@pytest.mark.parametrize("classes", [2, 3])
def test_margins_are_linear_in_the_values_as_they_are(classes, selected_only):
    X = numbers(900) * [50, 1, 0.02, 3] + [0, 0, 0, -4]
    X[:, 0] = np.abs(X[:, 0]) * (np.arange(900) % 5 > 0)
    y = np.digitize(X[:, 3], [-5, -3][: classes - 1])
    fitted = SketchClassifier(k=3, memory="8KiB", selected_only=selected_only).fit(X, y)
    learner = fitted.learner_
    weights = learner.weights_of(np.arange(4, dtype=np.uint64))
    constant = learner.selected_intercept if selected_only else learner.intercept
    if selected_only:
        held = np.isin(np.arange(4), fitted.selected_indices_)
        weights = weights * held[:, None]
    got = learner.predict_margin(batch_of(X.astype(np.float32)), selected_only=selected_only)
    np.testing.assert_allclose(got, X @ weights + constant, rtol=1e-3, atol=1e-4)
    assert fitted.score(X, y) > (0.9 if classes == 2 else 0.75)


def test_a_raw_table_is_learned_as_well_as_a_standardized_one():
    X = numbers(3000, 12)
    y = X[:, :4].sum(axis=1)
    far = X * np.logspace(-3, 5, 12) + np.logspace(-2, 6, 12)
    noise = np.random.default_rng(1).normal(size=len(y))
    found = [
        SketchRegressor(memory="8KiB").fit(A[:2000], (y + noise)[:2000]).score(A[2000:], y[2000:])
        for A in (X, far)
    ]
    assert found[1] > max(0.9, found[0] - 0.01)
    found = [
        SketchClassifier(memory="8KiB").fit(A[:2000], y[:2000] > 0).score(A[2000:], y[2000:] > 0)
        for A in (X, far)
    ]
    assert found[1] > max(0.93, found[0] - 0.01)


@pytest.mark.parametrize("chunk", [1, 7, 19, 20])
def test_small_first_chunks_are_scaled_once_there_are_enough(chunk):
    X = numbers(3000) * [1000, 1, 1, 1] + [5000, 0, 0, 9]
    y = X[:, 0] + 1000 * X[:, 3] > 14_000
    model = SketchClassifier(memory="8KiB")
    for start in range(0, 2000, chunk):
        part = slice(start, min(start + chunk, 2000))
        model.partial_fit(X[part], y[part], classes=[False, True])
    assert model.learner_.scaling is not None
    assert model.learner_.counters["examples"] == 2000
    assert model.score(X[2000:], y[2000:]) > 0.93


def test_without_an_intercept_there_is_none():
    X = numbers() + 20
    fitted = SketchClassifier(memory="8KiB", fit_intercept=False).fit(X, X[:, 0] > 20)
    assert (fitted.learner_.scaling.means == 0).all()
    assert (fitted.intercept_ == 0).all()


def trained(X, y, memory="8KiB", k=3):
    learner = make_learner(memory=memory, k=k, classes=[0, 1])
    batch = batch_of(X, y.astype(float))
    learner.scaling = find_scaling([batch])
    learner.learn(batch)
    return learner


def test_a_model_file_keeps_the_scaling_and_learns_on_to_the_same_bytes():
    X = numbers() + 20
    learner = trained(X, X[:, 0] > 20)
    again = Learner.from_bytes(learner.to_bytes())
    batch = batch_of(numbers(seed=1) + 20, (numbers(seed=1)[:, 0] > 0).astype(float))
    for one in (learner, again):
        one.learn(batch)
    assert again.to_bytes() == learner.to_bytes()


@pytest.mark.parametrize(
    ("name", "changed"),
    [
        ("columns", lambda array: array[:0]),
        ("columns", lambda array: array[::-1]),
        ("means", lambda array: array[:-1]),
        ("sizes", lambda array: 0 * array),
        ("missing", lambda array: array.astype(np.float32)),
        ("names.offsets", lambda array: array + 1_000_000),
    ],
)
def test_a_scaling_that_does_not_fit_together_is_refused(name, changed):
    X = numbers() + 20
    arrays, record = model_file.unpack(trained(X, X[:, 0] > 20).to_bytes())
    arrays[f"scaling.{name}"] = np.ascontiguousarray(changed(arrays[f"scaling.{name}"]))
    with pytest.raises(ModelFileError, match="do not fit together"):
        Learner.from_bytes(model_file.pack(arrays, record))


@pytest.mark.parametrize("k", [0, 1, 3])
def test_models_of_other_scalings_are_averaged_as_what_they_predict(k):
    X, rest = numbers(800) + 20, numbers(200, seed=3) + 20
    parts = [trained(X[:400], X[:400, 0] > 20, k=k), trained(X[400:] * 1.5, X[400:, 0] > 20, k=k)]
    assert parts[0].scaling.means[0] != parts[1].scaling.means[0]
    test = batch_of(rest)
    same = rescaled(parts[1], parts[0].scaling)
    assert same.scaling is parts[0].scaling
    # Cells are rounded to a byte; of one row of them, where nothing is selected, none averages out.
    close = {"rtol": 0.03, "atol": 0.2 if k else 0.6}
    for only in (False, True)[: 2 if k else 1]:
        before = parts[1].predict_margin(test, selected_only=only)
        after = same.predict_margin(test, selected_only=only)
        np.testing.assert_allclose(after, before, **close)
    merged = average(parts)
    mean = np.mean([part.predict_margin(test) for part in parts], axis=0)
    np.testing.assert_allclose(merged.predict_margin(test), mean, **close)
    assert rescaled(parts[0], None).scaling is None


def test_a_stream_is_scaled_by_its_first_examples_and_read_the_same_in_any_chunks():
    X = numbers(2500) * [30, 1, 1, 1] + [100, 0, 0, 5]
    lines = [f"{a:.3f},{b:.3f},{c:.3f},{d:.3f},{int(d > 5)}" for a, b, c, d in X]
    data = ("a,b,c,d,label\n" + "\n".join(lines) + "\n").encode()
    models = []
    for threads in (1, 2):
        stream = open_stream(io.BytesIO(data), "csv", include_unlabelled=False)
        training = Session(stream, memory="8KiB", k=4, threads=threads)
        summary = training.run()
        models.append(training.learner.to_bytes())
    assert models[0] == models[1]
    scaling = training.learner.scaling
    assert sorted(np.array(scaling.shown())[scaling.changes()]) == ["a", "d"]
    assert summary.progressive_accuracy > 0.95
    best = training.learner.selected()[0]
    assert (best.name, best.weight > 0) == ("d", True)


def test_names_of_columns_that_rows_lack_are_known():
    rows = [{"x": 50.0 + i % 7} if i % 4 else {"other": 1.0} for i in range(400)]
    labels = [float(i % 4 == 0) for i in range(400)]
    batch = Batch.from_rows(rows, labels)
    learner = make_learner(memory="8KiB", k=2, classes=[0, 1])
    learner.scaling = find_scaling([batch])
    learner.learn(batch)
    assert sorted(learner.selected().names) == ["other", "x"]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.dictionaries(st.sampled_from("abcdef"), st.floats(-100, 100, width=32), max_size=6),
        min_size=1,
        max_size=8,
    ),
    st.integers(1, 5),
)
def test_parts_of_any_length_are_the_whole(rows, length):
    scaling = find_scaling(
        [Batch.from_rows([{"a": 50.0 + i, "c": i % 3 - 9.0} for i in (1, 5) * 20])]
    )
    batch = Batch.from_rows(rows)
    whole = scaling.apply(batch)
    Batch(whole.indptr, whole.keys, whole.values, names=whole.names)  # well formed
    parts = [part for _, part in scaling.parts(batch, length)]
    np.testing.assert_array_equal(np.concatenate([part.keys for part in parts]), whole.keys)
    np.testing.assert_array_equal(np.concatenate([part.values for part in parts]), whole.values)
    for entry in range(whole.n_entries):
        assert bytes(whole.names[entry]).decode() in "abcdef"
