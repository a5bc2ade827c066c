"""Rows that all hold the same keys take a faster path, which must not change a single bit."""

import numpy as np
import pytest

from bearsketch import Batch, Learner, ParameterError, make_learner

N_ROWS, N_KEYS, BATCH = 60, 40, 20
KEYS = np.arange(N_KEYS, dtype=np.uint64)
# bear+ has no path of its own for full rows.
LEARNERS = ("bear", "mission", "sgd", "olbfgs")


def full_rows(seed: int) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    X = random.standard_normal((N_ROWS, N_KEYS)).astype(np.float32)
    return X, X[:, 3] - 0.7 * X[:, 11] + 0.1 * random.standard_normal(N_ROWS)


def minibatch(X: np.ndarray, y: np.ndarray, empty_row: bool) -> Batch:
    """Rows as a batch; an empty row of weight 0 at the end changes nothing but the path taken."""
    indptr = np.arange(len(X) + 1) * N_KEYS
    if empty_row:
        indptr, y = np.append(indptr, indptr[-1]), np.append(y, y[0])
    weights = np.append(np.ones(len(X)), np.zeros(int(empty_row)))
    return Batch(indptr, np.tile(KEYS, len(X)), X.ravel(), y, weights)


def learn(learner: Learner, y: np.ndarray, X: np.ndarray, empty_rows: list[bool]) -> Learner:
    for t, empty_row in enumerate(empty_rows):
        rows = slice(t * BATCH % N_ROWS, t * BATCH % N_ROWS + BATCH)
        learner.learn(minibatch(X[rows], y[rows], empty_row))
    return learner


def weights_after(name: str, empty_rows: list[bool], loss: str = "squared") -> np.ndarray:
    size = {"dimension": N_KEYS} if name in ("sgd", "olbfgs") else {"width": 9, "depth": 3}
    options = {"step_size": 0.02, **size}
    learner = make_learner(name, k=4, batch_size=BATCH + 1, loss=loss, **options)
    X, y = full_rows(1)
    labels = (y > 0).astype(float) if loss == "logistic" else y
    return learn(learner, labels, X, empty_rows).weights_of(KEYS)


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_full_rows_equal_the_general_path_to_the_bit(name, loss):
    full = weights_after(name, [False] * 9, loss)
    general = weights_after(name, [True] * 9, loss)
    assert np.any(full != 0)
    assert full.tobytes() == general.tobytes()


def test_newton_solves_the_same_system():
    full = weights_after("newton", [False] * 9)
    general = weights_after("newton", [True] * 9)  # its ridge of 1e-9 is a mean over the rows
    assert np.any(full != 0)
    np.testing.assert_allclose(full, general, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", LEARNERS)
def test_full_rows_between_general_ones(name):
    mixed = weights_after(name, [False, True, False, False, True, True, False])
    assert mixed.tobytes() == weights_after(name, [True] * 7).tobytes()


def test_full_rows_of_several_classes():
    X, y = full_rows(2)
    labels = np.digitize(y, [-0.5, 0.5])
    after = []
    for empty_rows in ([False] * 7, [True] * 7, [False, True, False, True, True, False, False]):
        learner = make_learner(
            "bear",
            k=4,
            width=9,
            depth=3,
            loss="softmax",
            classes=3,
            step_size=0.05,
            batch_size=BATCH + 1,
        )
        after.append(learn(learner, labels, X, empty_rows).weights_of(KEYS).tobytes())
    assert after[0] == after[1] == after[2]


def test_a_longer_batch_after_a_shorter_one():
    X, y = full_rows(3)
    made = [
        make_learner("bear", k=4, width=9, depth=3, loss="squared", batch_size=61, step_size=0.02)
        for _ in range(2)
    ]
    for learner, empty_row in zip(made, (False, True), strict=True):
        for n_rows in (5, 60, 17):
            learner.learn(minibatch(X[:n_rows], y[:n_rows], empty_row))
    assert made[0].weights_of(KEYS).tobytes() == made[1].weights_of(KEYS).tobytes()


def test_keys_that_are_refused_are_refused_again():
    learner = make_learner("sgd", dimension=N_KEYS - 1, loss="squared", step_size=0.02)
    X, y = full_rows(4)
    for _ in range(3):
        with pytest.raises(ParameterError, match="below the dimension"):
            learner.learn(minibatch(X, y, empty_row=False))
