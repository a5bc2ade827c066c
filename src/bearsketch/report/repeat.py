"""The command that trains a model again, from what its file remembers."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from bearsketch.escape import visible
from bearsketch.learners.parts import Automatic, Constant
from bearsketch.learners.recipes import RECIPES

if TYPE_CHECKING:
    from bearsketch.learners import Learner

STDIN = "<stdin>"
# Options of reading that are switches: option -> (flag when true, flag when false).
SWITCHES = {
    "canonical": ("--canonical", "--no-canonical"),
    "presence": ("--presence", "--counts"),
    "lowercase": ("--lowercase", "--keep-case"),
    "header": ("--header", "--no-header"),
}


def repeat_command(
    learner: Learner, output: str = "model.bear", sources: Sequence[str] | None = None
) -> str | None:
    """Give a shell line that trains the same model; None where the file does not remember.

    Model files have no folders, so that inputs stand with their base names, unless ``sources``
    has them as they were given.

    Examples
    --------
    >>> from bearsketch import make_learner
    >>> learner = make_learner(k=10, memory="1KiB")
    >>> learner.run = {"sources": ["a.vw"], "n_sources": 1, "format": "vw"}
    >>> repeat_command(learner)
    'bearsketch train a.vw -o model.bear --loss logistic --width 914 --depth 1 -k 10 --format vw'
    """
    run, config = learner.run, learner.config
    repeatable = run.get("sources") and len(run["sources"]) == run.get("n_sources")
    if not repeatable or run.get("merged") or not _plain_step(config.step):
        return None
    inputs = ["-" if name == STDIN else name for name in sources or run["sources"]]
    words = ["bearsketch", "train", *inputs, "-o", output, *_learning(learner)]
    words += ["--format", str(run["format"]), *_reading(run.get("options", {}))]
    if run.get("holdout_share"):
        words += ["--holdout", repr(run["holdout_share"])]
    return " ".join(shlex.quote(visible(word)) for word in words)


def _plain_step(step: Any) -> bool:
    return isinstance(step, Constant) or step == Automatic()


def _learning(learner: Learner) -> list[str]:
    config, run = learner.config, learner.run
    passes = int(run.get("passes", 1))
    recipe = RECIPES[config.learner]
    words = ["--learner", config.learner] if config.learner != "bear+" else []
    words += ["--loss", config.loss, *_classes(learner)]
    if config.dimension:
        words += ["--dimension", str(config.dimension)]
    else:
        words += ["--width", str(config.width), "--depth", str(config.depth)]
    words += ["-k", str(config.k)] if config.learner != "fh" else []
    values = {
        "--passes": (passes, 1),
        "--batch-size": (config.batch_size, recipe.batch_size),
        "--query": (config.query, recipe.query),
        "--l2": (config.l2, 0.0),
        "--seed": (config.seed, 0),
    }
    if isinstance(config.step, Constant):
        values["--step-size"] = (config.step.eta, None)
    if config.update == "lbfgs":
        values["--history"] = (config.history, 5)
    for flag, (value, default) in values.items():
        words += [flag, str(value)] if value != default else []
    words += ["--per-class"] if config.per_class else []
    return words + ([] if config.intercept else ["--no-intercept"])


def _classes(learner: Learner) -> list[str]:
    """Labels that are words are named: late ones are no surprise the second time."""
    if learner.run.get("max_classes"):
        return ["--max-classes", str(learner.run["max_classes"])]
    labels = learner.labels.classes or ()
    if not labels or any(not isinstance(x, str) or "," in x or x != x.strip() for x in labels):
        return []
    return ["--classes", ",".join(map(str, labels))]


def _reading(options: dict[str, Any]) -> list[str]:
    words = []
    for name, value in options.items():
        if name in SWITCHES:
            words.append(SWITCHES[name][0 if value else 1])
        elif value is not None:
            words += [f"--{name.replace('_', '-')}", _value(name, value)]
    if "char_ngrams" in options and "ngrams" not in options:
        words += ["--ngrams", "1"]  # without it, characters would come instead of words
    return words


def _value(name: str, value: Any) -> str:
    if name in ("ngrams", "char_ngrams"):
        return f"{value[0]}-{value[1]}"
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)
