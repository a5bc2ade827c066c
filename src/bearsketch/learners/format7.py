"""Model files of format 7, of releases whose ``bear+`` learned by staged steps.

Weights mean what they did, so that such a model predicts, lists features, is described and
exported. What it knew beside them, by position, means nothing to this release: ``bear+`` does not
learn on from it. Other learners continue as if nothing had changed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bearsketch.model_file import Arrays

_ZEROS = (
    "scale followed unit squares rows bend noise known_selected known_cells selected_square "
    "cells_square product doubt"
).split()


def translate(arrays: Arrays, record: dict[str, Any]) -> tuple[Arrays, dict[str, Any]]:
    """Arrays and record of format 8; raises KeyError, ValueError or TypeError on nonsense."""
    config = dict(record["config"])
    direction = config.pop("direction")
    config["update"] = "posterior" if direction == "staged" else direction
    kept = {
        name: array
        for name, array in arrays.items()
        if not name.startswith(("numbers.", "resume.")) and not name.endswith(".magnitudes")
    }
    if len(arrays["numbers.storage"]):
        kept["state.cells"] = arrays["numbers.storage"]
    if direction == "staged":
        columns = arrays["intercept"].size
        # The last numbers: offsets of the constant of the selected by class, then shares.
        own = arrays["numbers.direction"][-2 * columns : -columns]
        offset = own if config["intercept"] else np.zeros(columns)
        kept |= {f"state.update.{name}": np.zeros(1) for name in _ZEROS}
        kept["state.update.offset"] = np.array(offset, dtype=np.float64)
        for name in [name for name in arrays if name.endswith(".keys")]:
            levels = np.zeros(len(arrays[name]), dtype=np.uint8)
            kept[name.removesuffix("keys") + "levels"] = levels
    return kept, {**record, "config": config}
