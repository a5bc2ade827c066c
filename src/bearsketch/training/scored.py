"""Which examples score a model: those kept to test it, and not the very first of a regression."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bearsketch.batch import Batch
from bearsketch.learners import Learner

Numbers = npt.NDArray[np.float64]


def held_out(first: int, n: int, share: float) -> npt.NDArray[np.bool_]:
    """Which of the examples ``first`` to ``first + n`` are held out: a hash of the number decides.

    Examples
    --------
    >>> int(held_out(0, 10_000, 0.1).sum())
    1049
    """
    x = np.arange(first + 1, first + n + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        x = (x ^ (x >> np.uint64(shift))) * np.uint64(factor)
    return np.asarray((x ^ (x >> np.uint64(31))) < np.uint64(int(share * 2**64)))


def learn_unscored(learner: Learner, batch: Batch, numbers: Numbers) -> tuple[Batch, Numbers]:
    """Learn the first minibatch of a regression; give back the examples after it.

    Before it nothing is known of the size of targets: predicted as 0, such around a million would
    count for more than all that come after.
    """
    n = learner.config.batch_size
    if learner.config.loss != "squared" or learner.counters["examples"] or len(batch) <= n:
        return batch, numbers
    learner.learn_numbers(batch.rows(0, n), numbers[:n])
    return batch.rows(n, len(batch)), numbers[n:]
