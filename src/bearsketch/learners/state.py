"""A learner as arrays and a JSON record, and back."""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bearsketch import model_file
from bearsketch.batch import pack_names
from bearsketch.evidence import records
from bearsketch.exceptions import BearError, DivergedError, LimitError, ModelFileError
from bearsketch.keys import parse_naming
from bearsketch.learners.config import Config
from bearsketch.learners.format7 import translate
from bearsketch.learners.labels import Labels
from bearsketch.scaling import Scaling

if TYPE_CHECKING:
    from bearsketch.learners.learner import Learner

COUNTERS = ("examples", "batches", "passes")
# Bytes of what a model file may remember of its run: its header as a whole has 1 MiB.
LARGEST_RUN = 1 << 18
_BLOCK = 1 << 16
WEIGHTS = {1: "int8", 2: "uint16", 4: "float32", 8: "float64"}  # by their bytes
LARGEST_BYTE = 127  # of a weight, and of an exponent
# Arrays of a checkpoint that are the run's and not the learner's.
RUN_ARRAYS = "training."
WAYS = {"all": False, "selected_only": True}  # to predict, and whether with the selected alone
CALIBRATION = ("examples", "weight", "information", "pull")
SCALING = "scaling."  # arrays of scaled columns
COLUMNS = "columns."  # arrays of names of columns, by their use in the reader's options
COLUMN_LISTS = (
    "categorical",
    "clock_columns",
    "columns",
    "drop",
    "numeric",
    "text_columns",
    "time_columns",
)
STATE = "state."  # arrays of what the core keeps by name
GUARDS = ("uphill", "flat_pairs", "damped_pairs", "rejected_pairs", "stored_pairs")


@dataclass(frozen=True, slots=True)
class Record:
    """What the JSON part of a model file says."""

    config: Config
    labels: Labels
    naming: str | None


def save(learner: Learner, path: str | os.PathLike[str]) -> None:
    """Write a learner's model file."""
    model_file.save(os.fspath(path), *dump(learner))


def dump(learner: Learner, *, exact: bool = False) -> tuple[model_file.Arrays, dict[str, Any]]:
    """Arrays and record of a learner: all it needs to predict and to learn on.

    Pairs of L-BFGS are left out: they are worth a few minibatches and as large as those. With
    ``exact`` they are there, and so is whatever else a learner needs to continue to the same bytes
    as if it had never stopped; the learner itself is not touched.
    """
    core, config = learner._core, learner.config
    kept = core.raw_cells() if exact else core.cells()
    cells = np.frombuffer(kept, dtype=config.precision).reshape(-1, config.columns)
    arrays: model_file.Arrays = {"cells": cells, "intercept": np.array(core.intercept)}
    arrays |= {STATE + name: values for name, values in core.state(exact).items()}
    for g in range(core.groups):
        group = core.selected(g)
        arrays[f"selected.{g}.keys"] = group["keys"]
        arrays |= pack_weights(f"selected.{g}", group["weights"], config)
        if config.update == "posterior":
            arrays[f"selected.{g}.levels"] = group["levels"]
        for what in ("names", "aliases"):
            data, offsets = pack_names(group[what])
            arrays[f"selected.{g}.{what}.data"] = data
            arrays[f"selected.{g}.{what}.offsets"] = offsets
    arrays |= records.dump(core)
    if learner.scaling is not None:
        arrays |= {SCALING + name: array for name, array in learner.scaling.arrays().items()}
    run, columns = split_columns(learner.run)
    arrays |= columns
    for name, array in arrays.items():
        if not _finite(array):
            raise DivergedError(
                f"{name} holds a number that is not finite, and no such model is written",
                code="NUM-MODEL",
                hint="Train again with the automatic step size, or a smaller one.",
            )
    record = {
        "config": config.to_json(),
        "loss": config.loss,
        "classes": learner.labels.classes,
        **({} if learner.labels.negative is None else {"negative": learner.labels.negative}),
        "naming": learner.naming,
        **({"sources": learner.sources} if learner.sources else {}),
        "counters": {**learner.counters, **_weight(learner)},
        "guards": learner.guards,
        **_calibration(learner),
        # Whether rows are new: a run that continues may be in its second pass.
        **({"calibrating": core.calibrating} if exact else {}),
        "run": _checked_run(run),
    }
    return arrays, record


def split_columns(run: dict[str, Any]) -> tuple[dict[str, Any], model_file.Arrays]:
    """Take the names of columns out of a run's options: a table may have a million."""
    options = dict(run.get("options", {}))
    arrays: model_file.Arrays = {}
    for use in COLUMN_LISTS:
        names = options.get(use)
        if names:
            raw = [name.encode("utf-8", "surrogateescape") for name in names]
            data, offsets = pack_names(raw)
            arrays[f"{COLUMNS}{use}.data"] = data
            arrays[f"{COLUMNS}{use}.offsets"] = offsets
            del options[use]
    return ({**run, "options": options}, arrays) if arrays else (run, arrays)


def _join_columns(run: dict[str, Any], arrays: model_file.Arrays) -> None:
    """Undo :func:`split_columns`."""
    for use in COLUMN_LISTS:
        if f"{COLUMNS}{use}.data" in arrays:
            names = _unpack_names(arrays, f"{COLUMNS}{use}")
            run["options"][use] = [name.decode("utf-8", "surrogateescape") for name in names]
    run["options"] = dict(sorted(run["options"].items()))


def pack_weights(prefix: str, weights: npt.NDArray[Any], config: Config) -> model_file.Arrays:
    """Weights of selected features at the width they have.

    Two bytes are the first half of a float32; single ones are multiples of 2**exponent.
    """
    if config.weight_bytes > 2:
        return {f"{prefix}.weights": weights.astype(WEIGHTS[config.weight_bytes])}
    if config.weight_bytes == 2:
        halves = np.ascontiguousarray(weights, dtype=np.float32).view(np.uint32) >> 16
        return {f"{prefix}.weights": halves.astype(np.uint16)}
    part, exponents = np.frexp(np.abs(weights).max(axis=1, initial=0.0) / LARGEST_BYTE)
    exponents = np.clip(exponents - (part == 0.5), -LARGEST_BYTE, LARGEST_BYTE)
    return {
        f"{prefix}.weights": np.rint(np.ldexp(weights, -exponents[:, None])).astype(np.int8),
        f"{prefix}.exponents": exponents.astype(np.int8),
    }


def unpack_weights(prefix: str, arrays: model_file.Arrays) -> npt.NDArray[np.float64]:
    """Undo :func:`pack_weights`."""
    weights = arrays[f"{prefix}.weights"]
    if weights.dtype == np.uint16:
        weights = (weights.astype(np.uint32) << 16).view(np.float32)
        if not _finite(weights):
            raise ValueError(f"{prefix}.weights holds a number that is not finite")
    found = np.ascontiguousarray(weights, dtype=np.float64)
    exponents = arrays.get(f"{prefix}.exponents")
    return found if exponents is None else np.ldexp(found, exponents[:, None])


def _calibration(learner: Learner) -> dict[str, Any]:
    """Give the sums that probabilities are calibrated with, where there are any."""
    kept = {name: learner._core.calibration(only) for name, only in WAYS.items()}
    found = {
        name: {field: sums[field] for field in CALIBRATION}
        for name, sums in kept.items()
        if sums["examples"]
    }
    return {"calibration": found} if found else {}


def _restore_calibration(learner: Learner, sums: dict[str, Any]) -> None:
    if not isinstance(sums, dict):
        raise ValueError("calibration is no dict")
    for name, given in sums.items():
        examples, weight, *rest = (given[field] for field in CALIBRATION)
        if not isinstance(examples, int) or not 0 <= examples < 2**63:
            raise ValueError(f"{examples!r} calibrated predictions")
        learner._core.restore_calibration(WAYS[name], examples, float(weight), *rest)


def _weight(learner: Learner) -> dict[str, float]:
    """Count examples by their weights, where they have any: without, each counts one."""
    counters = learner._core.counters
    if counters.weight == counters.weighed == counters.examples:
        return {}
    return {"weighed": counters.weighed, "weight": counters.weight}


def _restore_weight(core: Any, counters: dict[str, Any]) -> None:
    weight = float(counters.get("weight", counters["examples"]))
    if not 0.0 <= weight < float("inf"):
        raise ValueError(f"examples cannot weigh {weight}")
    core.counters.weight = weight
    core.counters.weighed = int(counters.get("weighed", counters["examples"]))


def _checked_run(run: dict[str, Any]) -> dict[str, Any]:
    """Check what a run leaves to be remembered: any JSON object of at most 256 KiB.

    Equal runs must give equal bytes, so times and absolute paths have no place in it.
    """
    size = len(json.dumps(run, allow_nan=False))
    if size > LARGEST_RUN:
        raise LimitError(
            f"what a model remembers of its run must be at most {LARGEST_RUN} bytes of JSON, "
            f"got {size}",
            code="MODEL-RUN",
        )
    return run


def load(path: str | os.PathLike[str]) -> tuple[Record, Callable[[Learner], None]]:
    """Record of a model file, and a function that fills a new learner from it."""
    return read(*model_file.load(os.fspath(path)), path)


def read(
    arrays: model_file.Arrays, plain: dict[str, Any], path: str | os.PathLike[str]
) -> tuple[Record, Callable[[Learner], None]]:
    """As :func:`load`, from what a model file holds; ``path`` is for messages."""
    try:
        if plain.pop("format", None) is not None:
            arrays, plain = translate(arrays, plain)
        config = Config.from_json(plain["config"])
        labels = Labels(config.loss, plain["classes"], plain.get("negative"))
        naming = plain["naming"]
        if naming is not None:
            parse_naming(naming)
        if len(labels) != config.n_classes:
            raise ValueError("number of classes")
        expected = config.sizes.cell_bytes
        if arrays["cells"].nbytes != expected:
            raise ValueError(f"cells of {arrays['cells'].nbytes} bytes, {expected} expected")
        _check_arrays(arrays, config)
        groups = 0 if config.k == 0 else config.columns if config.per_class else 1
        heaps = sum(name.startswith("selected.") and name.endswith(".keys") for name in arrays)
        if heaps != groups:
            raise ValueError(f"selected features of {groups} heaps expected")
    except (BearError, KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise _nonsense(path, error) from None

    def fill_in(learner: Learner) -> None:
        try:
            restore(learner, arrays, plain)
        except (BearError, KeyError, TypeError, ValueError, IndexError, OverflowError) as error:
            raise _nonsense(path, error) from None

    return Record(config, labels, naming), fill_in


def _check_arrays(arrays: model_file.Arrays, config: Config) -> None:
    """Every array has the type its name says, and finite numbers."""
    weight = WEIGHTS[config.weight_bytes]
    types = {"cells": config.precision, "weights": weight, "intercept": "float64"}
    types |= {"exponents": "int8"} if weight == "int8" else {}
    types |= {"levels": "uint8", "keys": "uint64", "offsets": "uint64", "data": "uint8"}
    types |= {"columns": "uint64", "means": "float64", "sizes": "float64", "missing": "uint8"}
    for name, array in arrays.items():
        if name.startswith(RUN_ARRAYS):
            continue
        if name.startswith(records.PREFIX):
            records.check_types(name, array)
            continue
        own = name.startswith(STATE)  # numbers, or keys
        last = name.rpartition(".")[2]
        wanted = "float64" if own and last != "keys" else types[last]
        if array.dtype != wanted:
            raise ValueError(f"{name} has type {array.dtype}, {wanted} expected")
        if not _finite(array):
            raise ValueError(f"{name} holds a number that is not finite")


def _finite(array: npt.NDArray[Any]) -> bool:
    """Whether all numbers are finite, looked at in blocks: the answer to all at once is large."""
    if array.dtype.kind != "f":
        return True
    flat = array.reshape(-1)
    blocks = range(0, flat.size, _BLOCK)
    return all(bool(np.isfinite(flat[at : at + _BLOCK]).all()) for at in blocks)


def restore(learner: Learner, arrays: model_file.Arrays, plain: dict[str, Any]) -> None:
    """Fill a new learner from arrays and record; raises ValueError or KeyError on nonsense."""
    core = learner._core
    core.restore_cells(np.ascontiguousarray(arrays["cells"]).reshape(-1).view(np.uint8))
    core.intercept = arrays["intercept"].tolist()
    for g in range(core.groups):
        keys = arrays[f"selected.{g}.keys"]
        core.restore_selected(
            g,
            keys,
            unpack_weights(f"selected.{g}", arrays).ravel(),
            arrays[f"selected.{g}.levels"]
            if learner.config.update == "posterior"
            else np.zeros(len(keys), dtype=np.uint8),
            _unpack_names(arrays, f"selected.{g}.names"),
            _unpack_names(arrays, f"selected.{g}.aliases"),
        )
    records.restore(core, arrays, [arrays[f"selected.{g}.keys"] for g in range(core.groups)])
    core.restore({n.removeprefix(STATE): a for n, a in arrays.items() if n.startswith(STATE)})
    learner.scaling = _scaling(arrays)
    for name in COUNTERS:
        setattr(core.counters, name, int(plain["counters"][name]))
    _restore_weight(core, plain["counters"])
    for name in GUARDS:
        setattr(core.guards, name, int(plain["guards"][name]))
    core.name_collisions = int(plain["guards"]["name_collisions"])
    _restore_calibration(learner, plain.get("calibration", {}))
    core.calibrating = plain.get("calibrating", True) is True
    learner.naming = plain["naming"]
    learner.run = dict(plain.get("run", {}))
    learner.sources = [str(name) for name in plain.get("sources", [])]
    for name, kind in {"options": dict, "counts": dict, "sources": list, "curve": list}.items():
        if not isinstance(learner.run.get(name, kind()), kind):
            raise ValueError(f"run.{name} is no {kind.__name__}")
    if any(name.startswith(COLUMNS) for name in arrays):
        learner.run["options"] = dict(learner.run.get("options", {}))
        _join_columns(learner.run, arrays)


def _scaling(arrays: model_file.Arrays) -> Scaling | None:
    found = {
        name.removeprefix(SCALING): a for name, a in arrays.items() if name.startswith(SCALING)
    }
    return Scaling.from_arrays(found) if found else None


def _unpack_names(arrays: model_file.Arrays, prefix: str) -> list[bytes]:
    data: npt.NDArray[np.uint8] = arrays[f"{prefix}.data"]
    offsets = arrays[f"{prefix}.offsets"].tolist()
    if offsets != sorted(offsets) or offsets[0] != 0 or offsets[-1] != len(data):
        raise ValueError(f"{prefix}.offsets do not rise from 0 to {len(data)}")
    if not len(data):
        return [b""] * (len(offsets) - 1)
    raw = data.tobytes()
    return [raw[a:b] for a, b in itertools.pairwise(offsets)]


def _nonsense(path: str | os.PathLike[str], error: Exception) -> ModelFileError:
    return ModelFileError(
        f"{os.fspath(path)} is not a usable model file: its contents do not fit together ({error})",
        code="MODEL-CONTENTS",
    )
