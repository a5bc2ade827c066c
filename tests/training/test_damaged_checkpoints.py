"""Checkpoints that are damaged, or say what cannot be, are refused."""

from __future__ import annotations

import numpy as np
import pytest

from bearsketch import IncompatibleError, ModelFileError, model_file
from tests.training.runs import StopError, lines, trained


def test_sealed_nonsense_in_a_checkpoint_is_refused(tmp_path):
    with pytest.raises(StopError):
        trained(lines(), tmp_path, stop_at=40)
    newest = max(tmp_path.glob("checkpoint-*"))
    arrays, record = model_file.load(newest)
    other = min(tmp_path.glob("checkpoint-*"))
    other.unlink()
    nonsense = [None, -1, 1.5, "x", [], {}, [1, 2], [[1], 2], 2**70, [10**400, 1, 1], True]
    tried = refused = 0
    for name in record["training"]:
        for value in nonsense:
            changed = {**record, "training": {**record["training"], name: value}}
            newest.write_bytes(model_file.pack(arrays, changed))
            tried += 1
            try:
                trained(lines(300), tmp_path, every=10**9)
            except (ModelFileError, IncompatibleError):
                refused += 1
            finally:
                for path in tmp_path.glob("checkpoint-*"):
                    if path != newest:
                        path.unlink()
    assert tried == refused  # lines(300) are too few: even what is sound ends there


@pytest.mark.parametrize("factor", [1e-63, 4e62])
def test_a_common_factor_that_would_leave_the_range_of_the_cells_is_refused(factor, tmp_path):
    with pytest.raises(StopError):
        trained(lines(), tmp_path, stop_at=40, learner="mission", precision="float32")
    for path in tmp_path.glob("checkpoint-*"):
        arrays, record = model_file.load(path)
        path.write_bytes(model_file.pack(arrays | {"state.factor": np.array([factor])}, record))
    with (
        pytest.warns(UserWarning, match="common factor of cells must be from 1e-20 to 1"),
        pytest.raises(ModelFileError, match="no checkpoint in .* is usable"),
    ):
        trained(lines(), tmp_path, learner="mission", precision="float32")


def test_every_cut_and_every_flipped_bit_of_a_checkpoint_is_refused(tmp_path):
    with pytest.raises(StopError):
        trained(lines(), tmp_path, stop_at=20, memory="256", k=2, evidence=False)
    sound = max(tmp_path.glob("checkpoint-*")).read_bytes()
    assert len(sound) < 12_000
    changed = bytearray(sound)
    for at in range(len(sound)):
        with pytest.raises(ModelFileError):
            model_file.unpack(sound[:at])
        bit = 1 << at % 8  # the campaign tries all eight
        changed[at] ^= bit
        with pytest.raises(ModelFileError):
            model_file.unpack(bytes(changed))
        changed[at] ^= bit
    model_file.unpack(bytes(changed))


def test_arrays_of_a_checkpoint_that_do_not_fit_are_refused(tmp_path):
    with pytest.raises(StopError):
        trained(lines(), tmp_path, stop_at=40, learner="bear")
    newest = max(tmp_path.glob("checkpoint-*"))
    arrays, record = model_file.load(newest)
    min(tmp_path.glob("checkpoint-*")).unlink()
    numbers = arrays["state.update.pairs.numbers"]
    changes = {
        "state.update.pairs.numbers": numbers[:-1],
        "state.update.pairs.keys": arrays["state.update.pairs.keys"][:-1],
        "state.gradient_norm": np.zeros(2),
        "state.factor": np.zeros(1),
        "training.now.bins": arrays["training.now.bins"] + np.uint64(2**40),
        "training.now.mass": arrays["training.now.mass"][:-1],
    }
    for name, change in changes.items():
        newest.write_bytes(model_file.pack({**arrays, name: change}, record))
        quiet = "ignore" if name.startswith("training") else "always"
        with pytest.raises(ModelFileError):
            _read_quietly(quiet, tmp_path)


def _read_quietly(action, folder):
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore" if action == "always" else action)
        trained(lines(), folder, learner="bear")
