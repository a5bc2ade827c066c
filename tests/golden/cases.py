"""The cases of the golden table: every learner, loss, format and way to go on with a run."""

from __future__ import annotations

import functools
import io
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from bearsketch import LEARNERS, Learner, load, make_learner, model_file, open_stream
from bearsketch.batch import Batch
from bearsketch.learners import state
from tests.cli.helpers import good
from tests.golden import data
from tests.golden.table import Found, digest, digests_of
from tests.training.runs import StopError, trained

Case = Callable[[], Found]
LOSSES = ("logistic", "softmax", "squared")
KEYS = np.arange(data.POOL, dtype=np.uint64)


def _options(learner: str, loss: str) -> dict[str, Any]:
    """Give a learner a model much smaller than the data."""
    dense = learner in ("sgd", "olbfgs")
    return {
        "learner": learner,
        "loss": loss,
        "classes": data.CLASSES if loss == "softmax" else None,
        "intercept": True,
        **({"dimension": data.POOL} if dense else {"memory": "2KiB"}),
        **({} if dense or learner == "fh" else {"k": 12}),
    }


def _learned(options: dict[str, Any], *, passes: int = 2, weighted: bool = False) -> Learner:
    learner = make_learner(**options)
    for _ in range(passes):
        for batch in data.batches(options["loss"], weighted=weighted):
            learner.learn(batch)
        learner.finish_pass()
    return learner


def _found(learner: Learner, loss: str) -> Found:
    return digests_of(learner, KEYS, data.batches(loss))


def _learner(learner: str, loss: str, **more: Any) -> Found:
    passes, weighted = more.pop("passes", 2), more.pop("weighted", False)
    options = {**_options(learner, loss), **more}
    return _found(_learned(options, passes=passes, weighted=weighted), loss)


def _gone_on(learner: str, loss: str, *, exact: bool) -> Found:
    """Write and read the learner between batches: as a checkpoint does, or as a model file."""
    made = make_learner(**_options(learner, loss))
    for batch in data.batches(loss):
        made.learn(batch)
        packed = model_file.pack(*state.dump(made, exact=True)) if exact else made.to_bytes()
        made = Learner.from_bytes(packed)
    return _found(made, loss)


def _merged(learner: str) -> Found:
    """Merge learners of two halves of the data."""
    halves = [make_learner(**_options(learner, "logistic")) for _ in range(2)]
    for i, batch in enumerate(data.batches("logistic")):
        halves[i // 2].learn(batch)
    halves[0].merge(halves[1])
    return _found(halves[0], "logistic")


def _resumed(options: dict[str, Any], stops: tuple[int, ...]) -> Found:
    """Stop a run over lines of VW at some batches, and go on from its checkpoint."""
    text = data.vw(options.get("loss", "logistic")).encode()
    with tempfile.TemporaryDirectory() as folder:
        for stop in stops:
            try:
                trained(text, folder, stop_at=stop, every=80, **options)
            except StopError:
                continue
            raise AssertionError("the run ended before it was stopped")
        learner = Learner.from_bytes(trained(text, folder, every=80, **options))
    stream = open_stream(io.BytesIO(text), "vw", include_unlabelled=False)
    with stream:
        batches = list(stream)
    keys = np.unique(np.concatenate([batch.keys for batch in batches]))
    return digests_of(learner, keys, batches)


def _batches(text: str, form: str, options: dict[str, Any]) -> list[Batch]:
    with open_stream(io.BytesIO(text.encode()), form, **options) as stream:
        return list(stream)


def _read(text: str, form: str, options: dict[str, Any]) -> Found:
    """Keys and values stand in for cells, names for the selected, labels for predictions."""
    batches = _batches(text, form, options)
    labels = [str(label) for batch in batches for label in batch.labels]
    return {
        "cells": digest(*(a for b in batches for a in (b.indptr, b.keys, b.values))),
        "selected": digest(*(a for b in batches for a in b.names or ())),
        "predictions": digest(np.array([label.encode() for label in labels])),
    }


def _commanded(text: str, form: str, options: dict[str, Any], *arguments: object) -> Found:
    """Learn by the command line, which scales columns and decides what was not given."""
    flags = [part for flag, value in options.items() for part in (_flag(flag), str(value))]
    with tempfile.TemporaryDirectory() as folder:
        source, model = Path(folder, "d"), Path(folder, "m.bear")
        source.write_text(text, encoding="utf-8")
        good("train", source, "-o", model, "--format", form, "-q", *flags, *arguments)
        learner = load(model)
        predicted = good("predict", model, source).stdout
    batches = _batches(text, form, {k: v for k, v in options.items() if k != "k"})
    keys = np.unique(np.concatenate([batch.keys for batch in batches]))
    found = digests_of(learner, keys, batches)
    return {**found, "predictions": digest(found["predictions"].encode(), predicted.encode())}


def _flag(name: str) -> str:
    return "--" + name.replace("_", "-")


READS = {
    "vw": (data.vw, {}),
    "svmlight": (data.svmlight, {}),
    "csv": (data.csv, {"label_column": "label"}),
    "tsv": (functools.partial(data.csv, "\t"), {"label_column": "label"}),
    "jsonl": (data.jsonl, {"label_column": "label"}),
    "text": (data.text, {}),
    "fasta": (data.fasta, {"kmer": 5, "label_regex": r"taxon=(\w+)"}),
    "fastq": (data.fastq, {"kmer": 13, "label_regex": r"taxon=(\w+)"}),
}
VARIANTS: dict[str, dict[str, Any]] = {
    "bear+/per class": {"learner": "bear+", "loss": "softmax", "per_class": True},
    "bear+/weighted": {"learner": "bear+", "loss": "logistic", "weighted": True},
    "bear+/no selection": {"learner": "bear+", "loss": "logistic", "k": 0},
    "bear+/minibatch 7": {"learner": "bear+", "loss": "logistic", "batch_size": 7},
    "bear/weighted": {"learner": "bear", "loss": "softmax", "weighted": True},
    "bear/per class": {"learner": "bear", "loss": "softmax", "per_class": True},
    "bear/mean": {"learner": "bear", "loss": "logistic", "query": "mean"},
    "bear/bytes": {"learner": "bear", "loss": "logistic", "precision": "int8"},
    "bear/float64": {"learner": "bear", "loss": "logistic", "precision": "float64"},
    "mission/l2": {"learner": "mission", "loss": "logistic", "l2": 1e-3},
    "mission/constant step": {"learner": "mission", "loss": "logistic", "step_size": 0.05},
    "bear/another seed": {"learner": "bear", "loss": "logistic", "seed": 12345678901},
}
RESUMED: dict[str, dict[str, Any]] = {
    "bear+": {"classes": None},
    "bear+ of numbers": {"loss": "squared"},
    "bear, passes and holdout": {"learner": "bear", "passes": 2, "holdout": 0.2},
    "awm": {"learner": "awm"},
}


def _all() -> dict[str, Case]:
    cases: dict[str, Case] = {}
    for learner in LEARNERS:
        for loss in LOSSES:
            cases[f"learner/{learner}/{loss}"] = functools.partial(_learner, learner, loss)
        cases[f"checkpoint/{learner}"] = functools.partial(
            _gone_on, learner, "logistic", exact=True
        )
        cases[f"file/{learner}"] = functools.partial(_gone_on, learner, "logistic", exact=False)
        cases[f"merge/{learner}"] = functools.partial(_merged, learner)
    for name, more in VARIANTS.items():
        cases[f"variant/{name}"] = functools.partial(_learner, **more)
    for name, options in RESUMED.items():
        cases[f"resume/{name}"] = functools.partial(_resumed, options, (3, 2))
    for form in READS:
        cases[f"read/{form}"] = functools.partial(_read_form, form)
        cases[f"train/bear+/{form}"] = functools.partial(_train_form, form, "bear+")
    for form in ("vw", "csv"):
        cases[f"train/bear/{form}"] = functools.partial(_train_form, form, "bear")
    cases["train/bear+ by workers/vw"] = functools.partial(
        _train_form, "vw", "bear+", "--workers", 2, "--shards", 2
    )
    return cases


def _read_form(form: str) -> Found:
    make, options = READS[form]
    return _read(make(), form, options)


def _train_form(form: str, learner: str, *arguments: object) -> Found:
    make, options = READS[form]
    size = ("--memory", "8KiB", "-k", 15, "--learner", learner)
    return _commanded(make(), form, options, *size, *arguments)


CASES = _all()
