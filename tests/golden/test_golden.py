"""What every case of the golden table comes to is what is recorded, to the last bit."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__

from tests.conftest import REPOSITORY
from tests.golden.cases import CASES
from tests.golden.table import read

RECORDED = read()


@pytest.mark.parametrize("name", CASES)
def test_the_same_as_recorded(name):
    assert CASES[name]() == RECORDED[name].digests


def test_every_row_is_a_case_and_has_a_reason():
    assert list(RECORDED) == sorted(CASES)
    assert all(entry.reason for entry in RECORDED.values())


@pytest.mark.parametrize("learner", ["bear+", "bear", "sgd"])
def test_what_was_interrupted_or_read_back_is_the_same_as_straight(learner):
    """A file holds all that a learner without pairs needs; a checkpoint all of every one."""
    exact, file = (RECORDED[f"{way}/{learner}"].digests for way in ("checkpoint", "file"))
    assert (exact == file) == (learner != "bear")


_HIDDEN = "-FMA,-AVX2,-AVX512F,-FMA_Usable,-AVX2_Usable"  # by the C library's names, new and old


@pytest.mark.parametrize(
    "machine",
    [
        {"GLIBC_TUNABLES": f"glibc.cpu.hwcaps={_HIDDEN}"},
        {"OPENBLAS_CORETYPE": "Prescott", "OPENBLAS_NUM_THREADS": "1"},
        {
            "NPY_DISABLE_CPU_FEATURES": " ".join(
                name for name in __cpu_dispatch__ if __cpu_features__.get(name)
            )
        },
    ],
    ids=lambda machine: next(iter(machine)),
)
def test_the_same_on_a_processor_that_can_do_less(machine):
    """What the C library, NumPy's BLAS and NumPy itself choose by the processor."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.golden.record", "learner/*", "merge/*", "read/*"],
        cwd=REPOSITORY,
        env={
            **os.environ,
            "PYTHONPATH": f"{REPOSITORY}{os.pathsep}{REPOSITORY / 'tests'}",
            **machine,
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "no row changed\n"), done.stderr
