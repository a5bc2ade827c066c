"""One task, three libraries: code, memory, time and accuracy side by side.

The 20 newsgroups messages, by date, are learned in one pass from a file of lines, each a group, a
tab and a message, and the later messages are predicted. Every contender is one function below;
each runs in a process of its own, so that its peak memory is its own. Prints a Markdown table.

    python -m benchmarks.compare_sklearn_river [--examples N] [--data FOLDER]
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import json
import os
import pickle
import random
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Outcome = tuple[object, list[str], list[str]]  # model, predicted labels, names of features


def with_scikit_learn(train: str, test: str) -> Outcome:
    from itertools import islice

    from sklearn.feature_extraction.text import HashingVectorizer
    from sklearn.linear_model import SGDClassifier

    vectorizer = HashingVectorizer(n_features=2**18)
    model = SGDClassifier(loss="log_loss")
    with Path(train).open() as file:
        classes = sorted({line.split("\t", 1)[0] for line in file})
    with Path(train).open() as file:
        while lines := list(islice(file, 1000)):
            labels, texts = zip(*(line.split("\t", 1) for line in lines), strict=True)
            model.partial_fit(vectorizer.transform(texts), labels, classes=classes)
    predicted: list[str] = []
    with Path(test).open() as file:
        while lines := list(islice(file, 1000)):
            texts = [line.split("\t", 1)[1] for line in lines]
            predicted.extend(model.predict(vectorizer.transform(texts)))
    return model, predicted, []


def with_river(train: str, test: str) -> Outcome:
    from river import feature_extraction, linear_model, preprocessing

    words = feature_extraction.BagOfWords(lowercase=True)
    model = words | preprocessing.Normalizer() | linear_model.SoftmaxRegression()
    with Path(train).open() as file:
        for line in file:
            label, text = line.split("\t", 1)
            model.learn_one(text, label)
    with Path(test).open() as file:
        predicted = [str(model.predict_one(line.split("\t", 1)[1])) for line in file]
    largest: dict[str, float] = {}
    for weights in model["SoftmaxRegression"].weights.values():
        for name, weight in weights.items():
            largest[name] = max(largest.get(name, 0.0), abs(weight))
    return model, predicted, sorted(largest, key=largest.__getitem__, reverse=True)[:1000]


def with_bearsketch(train: str, test: str) -> Outcome:
    from bearsketch import SketchClassifier
    from bearsketch.reading import open_stream

    model = SketchClassifier(k=1000, memory="4MiB").fit_stream(train, format="text")
    with open_stream(test, format="text") as batches:
        predicted = [label for batch in batches for label in model.predict(batch)]
    return model, predicted, list(model.selected_names_)


CONTENDERS = {
    "HashingVectorizer + SGDClassifier": with_scikit_learn,
    "River": with_river,
    "bearsketch": with_bearsketch,
}


# What any of them imports; memory is counted from there.
IMPORTED = ("bearsketch.reading", "bearsketch.estimators", "sklearn.feature_extraction.text")
IMPORTED += ("sklearn.linear_model", "river.feature_extraction", "river.linear_model")


def write_lines(archive: Path, folder: Path, examples: int | None) -> tuple[Path, Path]:
    """Both parts of the collection as files of lines, in a seeded order."""
    parts: dict[str, list[str]] = {"train": [], "test": []}
    with tarfile.open(archive) as tar:
        for member in tar:
            if member.isfile() and (file := tar.extractfile(member)) is not None:
                part, group, _ = member.name.split("/")
                text = " ".join(file.read().decode("latin-1").split())
                parts[part.rpartition("-")[2]].append(f"{group}\t{text}\n")
    for part, lines in parts.items():
        random.Random(0).shuffle(lines)
        (folder / part).write_text("".join(lines[:examples]), encoding="utf-8")
    return folder / "train", folder / "test"


def peak_bytes() -> int:
    with Path("/proc/self/status").open() as status:
        return 1024 * next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))


def run(name: str, train: str, test: str) -> None:
    """Run one contender here and print what it took as JSON."""
    for module in IMPORTED:
        importlib.import_module(module)
    before, start = peak_bytes(), time.perf_counter()
    model, predicted, names = CONTENDERS[name](train, test)
    seconds = time.perf_counter() - start
    with Path(test).open() as file:
        truth = [line.split("\t", 1)[0] for line in file]
    hits = sum(a == b for a, b in zip(truth, predicted, strict=True))
    print(
        json.dumps(
            {
                "name": name,
                "lines of code": code_lines(name),
                "seconds": seconds,
                "peak memory": peak_bytes() - before,
                "model": len(pickle.dumps(model)),
                "accuracy": hits / len(truth),
                "names": names[:5],
            }
        )
    )


def code_lines(name: str) -> int:
    body = inspect.getsource(CONTENDERS[name]).splitlines()[1:]
    return sum(1 for line in body if line.strip())


def table(results: list[dict[str, Any]]) -> Iterator[str]:
    yield "| | code | seconds | peak memory over imports | pickled model | accuracy | best names |"
    yield "|---|---|---|---|---|---|---|"
    for got in results:
        sizes = [f"{got[size] / 2**20:.1f} MiB" for size in ("peak memory", "model")]
        names = ", ".join(got["names"][:3]) or "none"
        yield (
            f"| {got['name']} | {got['lines of code']} lines | {got['seconds']:.1f} | {sizes[0]} | "
            f"{sizes[1]} | {got['accuracy']:.3f} | {names} |"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    default = os.environ.get("BEARSKETCH_DATA", Path(__file__).parents[2] / "shared" / "data")
    parser.add_argument("--data", type=Path, default=Path(default), help="folder of data sets")
    parser.add_argument("--examples", type=int, help="messages of each part; default: all")
    parser.add_argument("--run", nargs=3, metavar=("NAME", "TRAIN", "TEST"), help="one contender")
    given = parser.parse_args()
    if given.run:
        run(*given.run)
        return
    with tempfile.TemporaryDirectory() as folder:
        archive = given.data / "text" / "20news-bydate.tar.xz"
        train, test = write_lines(archive, Path(folder), given.examples)
        results = []
        for name in CONTENDERS:
            command = [sys.executable, __file__, "--run", name, str(train), str(test)]
            done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
            results.append(json.loads(done.stdout))
    print("\n".join(table(results)))


if __name__ == "__main__":
    main()
