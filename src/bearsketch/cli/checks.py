"""What ``bearsketch train`` refuses before it reads any data, and how it reads its options."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bearsketch.cli.guard import say
from bearsketch.cli.options import parse_names
from bearsketch.exceptions import ParameterError, SourceError

if TYPE_CHECKING:
    from bearsketch.learners.config import Config
    from bearsketch.reading.limits import Limits
    from bearsketch.training.checkpoint import Checkpoints
    from bearsketch.training.labelling import ModelLabels

# The name of standard output, for the commands that can write to it.
STANDARD = Path("-")
_SMALL = 1024


def note_plain_size(memory: str | None) -> None:
    """Say that a small size without a unit is one of bytes: it may be, but rarely is meant."""
    if memory is not None and memory.strip().isdecimal() and int(memory) < _SMALL:
        n = int(memory)
        say(f"note: --memory {n} is {n} bytes; did you mean {n}KiB or {n}MiB?")


def make_checkpoints(folder: Path | None, every: str | None, resume: bool) -> Checkpoints | None:
    """Checkpoints as the options ask for them."""
    from bearsketch.training.checkpoint import Checkpoints

    if folder is None:
        if every is not None or resume:
            given = "--resume" if resume else "--checkpoint-every"
            raise ParameterError(f"{given} needs --checkpoint DIR, the folder of the checkpoints")
        return None
    return Checkpoints(folder, every or "60s", resume=resume)


def rows_of_batch(learner: str, batch_size: int | None) -> int:
    """Examples to read at once: a few minibatches, always whole ones."""
    from bearsketch.learners.recipes import minibatch

    size = minibatch(learner, batch_size)
    return size * max(480 // size, 1)


def parse_step(text: str) -> str | float:
    """``auto`` or a number."""
    try:
        return text if text == "auto" else float(text)
    except ValueError:
        raise ParameterError(f"--step-size must be auto or a number, got {text!r}") from None


def parse_share(text: str) -> float:
    """Read a share below 1, or per cent.

    Examples
    --------
    >>> parse_share("10%"), parse_share("0.25")
    (0.1, 0.25)
    """
    number = text.strip().removesuffix("%")
    try:
        share = float(number) / (100 if number != text.strip() else 1)
    except ValueError:
        share = -1.0
    if not 0.0 <= share < 1.0:
        raise ParameterError(
            f"--holdout must be a share from 0 to below 1, such as 0.1 or 10%, got {text!r}"
        )
    return share


def parse_classes(given: Sequence[str]) -> list[str]:
    """Labels between commas, of an option that may be repeated."""
    labels = [name.strip() for name in parse_names(given)]
    if len(labels) < 2 or not all(labels):
        raise ParameterError(f"--classes must be labels between commas, got {','.join(given)!r}")
    return labels


def limits_under(wanted: dict[str, Any], config: Config, named: list[str]) -> Limits:
    """Limits of reading that keep the process under ``--max-memory``."""
    from bearsketch.training.memory import fit_limits, program_bytes

    windowed = any(name.endswith((".zst", ".xz")) for name in named)
    return fit_limits(
        config,
        wanted["max_memory"],
        program=program_bytes(),
        threads=wanted["threads"],
        windowed=windowed,
    )


def check_threads(threads: int) -> None:
    """Refuse a number of threads that is none."""
    from bearsketch.reading.options import MOST_THREADS

    if not 1 <= threads <= MOST_THREADS:
        raise ParameterError(f"--threads must be 1 to {MOST_THREADS}, got {threads}")


def check_parts(wanted: dict[str, Any], parts: dict[str, Any]) -> Config:
    """Refuse what no data could make good, before any is read; the learner as far as known."""
    from bearsketch.learners.config import resolve
    from bearsketch.training.task import LOSSES

    if wanted["loss"] not in LOSSES:
        raise ParameterError(f"--loss must be one of {', '.join(LOSSES)}, got {wanted['loss']!r}")
    check_threads(wanted["threads"])
    with warnings.catch_warnings(action="ignore"):  # they come when the learner is made
        named = len(wanted["classes"] or ()) or wanted["max_classes"] or 2
        likely = "softmax" if named > 2 else "logistic"
        loss = likely if wanted["loss"] == "auto" else wanted["loss"]
        n_classes = {"squared": 1, "logistic": 2}.get(loss, named)
        return resolve(loss=loss, n_classes=n_classes, **parts, reads=None, precision=None)


def check_output(output: Path, named: list[str]) -> None:
    """Refuse an output that could not be written, or that is one of the inputs."""
    if output == STANDARD:
        raise ParameterError("the output must be a file, got - for standard output")
    if output.is_dir():
        raise SourceError(f"{output}: this is a directory, not a file", code="IO-WRITE")
    folder = output.parent
    if not folder.is_dir():
        raise SourceError(f"{folder}: there is no such folder", code="IO-WRITE")
    if not os.access(output if output.exists() else folder, os.W_OK):
        raise SourceError(f"{output}: writing is not permitted", code="IO-WRITE")
    for source in named:
        if output.exists() and Path(source).exists() and output.samefile(source):
            raise ParameterError(f"the output {output} is one of the inputs")


def refuse_alone_only(**given: object) -> None:
    """Refuse what only one process can do, when there are several."""
    for name, value in given.items():
        if value is not None:
            flag = {"page": "--report"}.get(name, "--" + name.replace("_", "-"))
            hint = "Write it from the model: bearsketch report MODEL." if name == "page" else ""
            raise ParameterError(f"{flag} cannot be combined with several workers", hint=hint)


def was_typed(context: Any, name: str) -> bool:
    """Whether an option was on the command line."""
    source = context.get_parameter_source(name)
    return source is not None and bool(source.name == "COMMANDLINE")


def continue_from(path: Path, typed: dict[str, Any], wanted: dict[str, Any]) -> ModelLabels:
    """Labels of a model that training continues from; what was typed and disagrees is refused."""
    import hashlib

    from bearsketch.cli.model import load_model
    from bearsketch.training.from_model import check_agrees
    from bearsketch.training.labelling import ModelLabels

    learner = load_model(path)
    named = {name: wanted[name] for name in ("loss", "classes", "max_classes")}
    check_agrees(learner, typed, **named)
    learner.reopen_pass()
    return ModelLabels(learner, origin=hashlib.sha256(path.read_bytes()).hexdigest())
