"""The hashes: the plain twin against the world, the core against the twin."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from bearsketch import make_learner
from bearsketch.keys import hash_names
from reference.hashing import name_key, siphash13
from reference.storage import CountSketch
from reference.streams import key_pool


def test_the_twin_gives_the_published_value():
    """The 16-byte key 00 01 ... 0f and no data, as in the vectors other projects carry."""
    k0, k1 = (int.from_bytes(bytes(range(at, at + 8)), "little") for at in (0, 8))
    assert siphash13(k0, k1, b"").to_bytes(8, "little").hex() == "dcc40f055801acab"


@pytest.mark.skipif(sys.hash_info.algorithm != "siphash13", reason="Python hashes otherwise here")
def test_the_twin_agrees_with_python_s_own_siphash():
    """Python hashes bytes by SipHash-1-3, with a key of zeros under PYTHONHASHSEED=0."""
    code = "print([hash(bytes(range(n))) % 2**64 for n in range(1, 200)])"
    ran = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONHASHSEED": "0"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout.strip() == str([siphash13(0, 0, bytes(range(n))) for n in range(1, 200)])


def test_names_hash_as_the_twin_says():
    names = [b"", b"a", "ü".encode(), b"\x00\xff", *(b"x" * n for n in range(1, 300, 7))]
    for seed in (0, 1, 2**64 - 1):
        assert hash_names(names, seed).tolist() == [name_key(name, seed) for name in names]


def test_text_is_hashed_as_utf8():
    assert (
        hash_names(["ü", "漢字"]).tolist() == hash_names(["ü".encode(), "漢字".encode()]).tolist()
    )


@pytest.mark.parametrize("seed", [0, 1, 2**64 - 1])
@pytest.mark.parametrize(("width", "depth"), [(1, 1), (2, 16), (17, 3), (1000, 5)])
def test_keys_stand_in_the_cells_the_twin_says(width, depth, seed):
    keys = key_pool(60)
    cells = np.random.default_rng(1).normal(size=(depth, width, 1))
    learner = make_learner(
        "mission", k=1, width=width, depth=depth, query="mean", seed=seed, precision="float64"
    )
    learner._core.restore_cells(cells.ravel().view(np.uint8))
    twin = CountSketch(width, depth, 1, "mean", seed, np.float64)
    twin.cells = cells
    wanted = twin.query([int(key) for key in keys])
    np.testing.assert_allclose(learner.weights_of(keys), wanted, atol=1e-14)
