"""Each warning fires in whatever drives the session: train, fit, fit_stream and workers."""

from __future__ import annotations

import io
import json
import warnings

import numpy as np
import pytest

from bearsketch import SketchClassifier, SketchRegressor
from bearsketch.distributed import Serial
from cli.helpers import good

RNG = np.random.default_rng(0)


def table(rows):
    return "x,n,label\n" + "".join(f"{x},{n},{label}\n" for x, n, label in rows)


def in_runs():
    return [(f"w{i % 20}", i % 3, i // 1000) for i in range(2000)]


def growing():
    return [(f"w{i % 20}", i, i % 2) for i in range(2000)]


def far_target():
    return [(f"w{i % 20}", i % 3, 1e6 if i == 7 else 0.5 + i % 9) for i in range(2000)]


def worse_than_guessing():
    return [(f"w{RNG.integers(20)}", i % 3, RNG.integers(2)) for i in range(2000)]


def sorted_targets():
    return [(f"w{i % 20}", i % 3, i / 7) for i in range(2000)]


CASES = {
    "DATA-ORDER": (in_runs, {}),
    "DATA-ORDER of numbers": (sorted_targets, {"loss": "squared"}),
    "DATA-SCALE": (growing, {}),
    "DATA-TARGET": (far_target, {"loss": "squared"}),
    "DATA-LOSS": (worse_than_guessing, {"learner": "mission", "step_size": 4.0}),
}


def by_train(path, options, *more):
    flags = [str(part) for name, value in options.items() for part in (_flag(name), value)]
    out = path.with_suffix(".bear")
    shown = good("train", path, "-o", out, "--memory", "8KiB", "--json", *flags, *more)
    return [warning["code"] for warning in json.loads(shown.stdout)["warnings"]]


def _flag(name):
    return "--" + name.replace("_", "-")


def by_workers(path, options):
    return by_train(path, options, "--workers", "1", "--shards", "1", "--rounds", "1")


def estimator(options):
    given = {name: value for name, value in options.items() if name != "loss"}
    kind = SketchRegressor if options.get("loss") == "squared" else SketchClassifier
    return kind(memory="8KiB", shuffle=False, **given)


def raised(fit):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        fit()
    return [str(one.message).rsplit("[", 1)[-1].rstrip("]") for one in found]


def by_fit(path, options):
    rows = [line.split(",") for line in path.read_text().splitlines()[1:]]
    X = [{x: 1.0, "n": float(n)} for x, n, _ in rows]
    y = np.array([float(label) for *_, label in rows])
    return raised(lambda: estimator(options).fit(X, y))


def by_fit_stream(path, options):
    text = io.BytesIO(path.read_bytes())
    return raised(lambda: estimator(options).fit_stream(text, format="csv"))


def by_client(path, options):
    how = {"shards": 1, "rounds": 1, "client": Serial()}
    return raised(lambda: estimator(options).fit_stream(path, **how))


@pytest.mark.parametrize("drive", [by_train, by_workers, by_fit, by_fit_stream, by_client])
@pytest.mark.parametrize("case", CASES)
def test_it_fires_whatever_drives_the_session(case, drive, tmp_path):
    make, options = CASES[case]
    path = tmp_path / "d.csv"
    path.write_text(table(make()))
    assert case.split()[0] in drive(path, options)
