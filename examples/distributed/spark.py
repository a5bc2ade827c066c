"""Spark: rounds of ``mapPartitions``, merged on the driver.

    spark-submit spark.py lines.vw model.bear

The unit of exchange is the bytes of a model file: each partition continues from the broadcast model
and gives back one model. ``learn_lines`` knows nothing of Spark, and takes any iterable of lines.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Iterable, Iterator

from bearsketch import Learner, load, make_learner
from bearsketch.learners.average import average
from bearsketch.reading import open_stream

FORMAT = "vw"


def learn_lines(model: bytes, lines: Iterable[str]) -> Iterator[bytes]:
    """Model after some lines of text; nothing for no lines."""
    text = "".join(f"{line}\n" for line in lines).encode()
    if not text:
        return
    learner = Learner.from_bytes(model)
    options = {"include_unlabelled": False, "seed": learner.config.seed, "rows": 240}
    with open_stream(io.BytesIO(text), FORMAT, **options) as stream:
        for batch in stream:
            learner.learn(batch)
    yield learner.to_bytes()


def merge(model: bytes, numbered: Iterable[tuple[int, bytes]]) -> bytes:
    """Average what came back, by partition number: a task that ran twice counts once."""
    parts = dict(numbered)
    learners = [Learner.from_bytes(parts[number]) for number in sorted(parts)]
    return average(learners, Learner.from_bytes(model)).to_bytes()


def train(rdd, learner: Learner, rounds: int = 16) -> Learner:
    """Cut every partition into rounds by line number, learn and merge them one after the other."""
    model = learner.to_bytes()
    for number in range(rounds):
        sent = rdd.context.broadcast(model)

        def learn(index, lines, number=number, sent=sent):
            mine = (line for i, line in enumerate(lines) if i % rounds == number)
            return ((index, part) for part in learn_lines(sent.value, mine))

        model = merge(model, rdd.mapPartitionsWithIndex(learn).collect())
        sent.destroy()
    return Learner.from_bytes(model)


def main() -> None:
    """Train on the lines of a file and write the model."""
    from pyspark.sql import SparkSession

    spark = SparkSession.builder.appName("bearsketch").getOrCreate()
    source, output = sys.argv[1:3]
    rdd = spark.sparkContext.textFile(source, minPartitions=4).cache()
    learner = train(rdd, make_learner(memory="256KiB", classes=[-1, 1]))
    learner.save(output)
    print(f"{load(output).counters['examples']} examples, best: {learner.selected().names[:10]}")
    spark.stop()


if __name__ == "__main__":
    main()
