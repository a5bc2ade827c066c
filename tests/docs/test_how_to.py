"""The how-to pages as a reader follows them: every shell and Python block, in order."""

from __future__ import annotations

import gzip
import json
import os
import random
import re
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"
HOW_TO = DOCS / "how-to"
# Fetching needs a network (tests/experiments serve one); the others show code of the repository,
# or have a test of their own (tests/estimators/test_docs.py).
ELSEWHERE = {"index", "datasets", "add-a-loss", "add-a-reader", "add-a-storage", "scikit-learn"}
PAGES = sorted(path.stem for path in HOW_TO.glob("*.md") if path.stem not in ELSEWHERE)
# Programs of others that a page names; a pipe that never ends does here.
PROGRAMS = {"seqkit": 'cat "${@: -1}"', "tail": '[ "$1" = -F ] && shift; exec /usr/bin/tail "$@"'}


def vw(n, word="w"):
    rng = random.Random(0)
    lines = []
    for i in range(n):
        label = i % 2
        told = ("prize", "meeting")[1 - label] if rng.random() < 0.9 else "free"
        lines.append(f"{label} |{word} {told} filler{rng.randrange(50)}\n")
    return "".join(lines)


def text_page(folder):
    rng = random.Random(0)
    words = {"sport": "goal match team", "city": "street council house"}
    with (folder / "news.jsonl").open("w") as file:
        for _ in range(300):
            topic = rng.choice(list(words))
            title, body = (" ".join(rng.choices(words[topic].split(), k=3)) for _ in range(2))
            file.write(json.dumps({"topic": topic, "title": title, "body": body}) + "\n")


def clicks_page(folder):
    rng = random.Random(0)
    for name in ("log", "tomorrow"):
        with gzip.open(folder / f"{name}.csv.gz", "wt") as file:
            file.write("id,hour,click,site,ad\n")
            for i in range(400):
                site = rng.randrange(5)
                click = int(rng.random() < 0.1 + 0.15 * site)
                file.write(f"{i},{i % 24},{click},s{site},{rng.randrange(9)}\n")


def genomes_page(folder):
    rng = random.Random(0)
    letters = {"e_coli": "AACG", "s_aureus": "AATT"}
    records = []
    for i in range(300):
        name = rng.choice(list(letters))
        records.append(
            f">{name}_HiSeq.{i} species={name}\n{''.join(rng.choices(letters[name], k=80))}\n"
        )
    for file in ("reads.fa", "sample.fa"):
        (folder / file).write_text("".join(records))
    with gzip.open(folder / "reads.fa.gz", "wt") as file:
        file.write("".join(records))


def tables_page(folder):
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    pytest.importorskip("polars", reason="polars is not installed")
    import pyarrow.csv
    import pyarrow.parquet

    rng = random.Random(0)
    lines = ["sold,price,weight,zip,review\n"]
    for _ in range(400):
        price = rng.randrange(1, 99)
        said = "too small" if price > 50 else "fits well"
        lines.append(f"{int(price < 50)},{price},{rng.random():.2f},{rng.randrange(9)},{said}\n")
    (folder / "shop.csv").write_text("".join(lines))
    table = pyarrow.csv.read_csv(folder / "shop.csv")
    pyarrow.parquet.write_table(table, folder / "shop.parquet")


def frames_page(folder):
    pandas = pytest.importorskip("pandas")
    for package in ("polars", "pyarrow", "sklearn"):
        pytest.importorskip(package)
    rng = random.Random(0)
    rows = [
        {
            "city": city,
            "age": rng.choice([None, float(rng.randrange(18, 80))]),
            "plan": rng.choice(["free", "pro"]),
            "seen": pandas.Timestamp("2024-01-01") + pandas.Timedelta(hours=rng.randrange(9000)),
            "sold": "yes" if city == "rome" else "no",
        }
        for city in (rng.choice(["rome", "oslo", None]) for _ in range(400))
    ]
    frame = pandas.DataFrame(rows)
    frame.to_parquet(folder / "shop.parquet")
    frame.to_csv(folder / "shop.csv", index=False)
    with sqlite3.connect(folder / "shop.sqlite") as base:
        frame.astype({"seen": str}).to_sql("shop", base)


def pipe_page(folder):
    lines = [json.dumps({"label": i % 2, "text": f"word{i % 2} x{i % 7}"}) for i in range(300)]
    (folder / "events.jsonl").write_text("\n".join(lines) + "\n")
    with gzip.open(folder / "events-1.jsonl.gz", "wt") as file:
        file.write("\n".join(lines) + "\n")


def models(folder, *names):
    """Train a model of each name on the same lines."""
    for name in names:
        (folder / "made.vw").write_text(vw(400))
        command = ["bearsketch", "train", "made.vw", "-o", name, "--memory", "8KiB", "-q"]
        subprocess.run(command, cwd=folder, env=environment(folder), check=True)


def memory_page(folder):
    models(folder, "model.bear")


def report_page(folder):
    models(folder, "small.bear", "large.bear")
    for name in ("data", "test"):
        with gzip.open(folder / f"{name}.vw.gz", "wt") as file:
            file.write(vw(400))


def export_page(folder):
    pytest.importorskip("onnx", reason="onnx is not installed")
    pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    models(folder, "spam.bear")
    shutil.copy(HOW_TO / "scorer.py", folder)


def edge_page(folder):
    (folder / "sensors.vw").write_text(vw(600))
    shutil.copy(HOW_TO / "scorer.py", folder)


def workers_page(folder):
    for day in range(4):
        (folder / f"day-{day}.vw").write_text(vw(2000))


def environment(folder):
    """The command of this Python first, and the programs that pages name."""
    place = folder / "programs"
    place.mkdir(exist_ok=True)
    for name, code in PROGRAMS.items():
        program = place / name
        program.write_text(f"#!/bin/bash\n{code}\n")
        program.chmod(0o755)
    path = f"{place}:{Path(sys.executable).parent}:{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "PYTHONWARNINGS": "ignore"}


def blocks(page):
    """(language, code) of the blocks that run, in order."""
    found = re.findall(
        r"^```(sh|python)\n(.*?)^```", (HOW_TO / f"{page}.md").read_text(), re.M | re.S
    )
    return [(language, code) for language, code in found if ">>>" not in code]


@pytest.fixture
def scheduler():
    """Address of a Dask cluster on this machine."""
    distributed = pytest.importorskip("distributed", reason="Dask is not installed")
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=True, dashboard_address=None
    ) as cluster:
        yield cluster.scheduler_address


@pytest.mark.parametrize("page", PAGES)
def test_a_how_to_page_runs_as_written(page, tmp_path, request):
    globals()[f"{page}_page"](tmp_path)
    address = request.getfixturevalue("scheduler") if page == "workers" else ""
    ran = 0
    for language, code in blocks(page):
        if page == "workers" and "dask." in code:
            continue  # forms of one call on collections; tests/distributed runs each
        code = code.replace("tcp://scheduler:8786", address)
        command = ["bash", "-euo", "pipefail"] if language == "sh" else [sys.executable, "-"]
        if page == "pipe" and language == "python":  # it reads its data from standard input
            (tmp_path / "page.py").write_text(code)
            command, code = [sys.executable, "page.py"], vw(100)
        if page == "workers" and language == "python":
            lines = code.replace("\n", "\n    ")
            code = f"if __name__ == '__main__':\n    {lines}\n"
            (tmp_path / "page.py").write_text(code)
            command, code = [sys.executable, "page.py"], ""
        done = subprocess.run(
            command,
            input=code,
            cwd=tmp_path,
            env=environment(tmp_path),
            capture_output=True,
            text=True,
            timeout=200,
            check=False,
        )
        assert done.returncode == 0, f"{code}\n{done.stderr}"
        ran += 1
    assert ran > 0


def test_every_page_has_data_to_run_on():
    assert all(f"{page}_page" in globals() for page in PAGES)
