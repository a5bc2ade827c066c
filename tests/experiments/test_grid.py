import os
from dataclasses import dataclass
from pathlib import Path

import pytest

from bearsketch.exceptions import SourceError
from experiments.grid import Store, run_all


@dataclass(frozen=True)
class Square:
    """A job that leaves a mark each time it runs, and may break."""

    number: int
    marks: str
    broken: bool = False

    @property
    def key(self) -> str:
        return f"square of {self.number}"

    @property
    def cost(self) -> float:
        return 1.0

    def run(self) -> int:
        with (Path(self.marks) / f"{self.number}").open("a") as file:
            file.write("x")
        if self.broken:
            raise RuntimeError("stopped here")
        return self.number**2


@pytest.fixture
def marks(tmp_path):
    folder = tmp_path / "marks"
    folder.mkdir()
    return folder


def runs(marks: Path) -> dict[int, int]:
    return {int(path.name): len(path.read_text()) for path in marks.iterdir()}


@pytest.mark.parametrize("workers", [1, 2])
def test_a_stopped_run_continues_and_repeats_nothing(tmp_path, marks, workers):
    path = tmp_path / "cells.jsonl"
    jobs = [Square(i, str(marks)) for i in range(6)]
    with pytest.raises(RuntimeError, match="stopped here"):
        run_all(lambda done: [*jobs[:3], Square(9, str(marks), broken=True)], Store(path), workers)
    finished = set(Store(path).done)
    run_all(lambda done: jobs, Store(path), workers)
    assert Store(path).done == {job.key: job.number**2 for job in jobs}
    for job in jobs:
        if job.key in finished:
            assert runs(marks)[job.number] == 1


def test_jobs_that_depend_on_results(tmp_path, marks):
    def plan(done):
        first = Square(3, str(marks))
        return [first] if first.key not in done else [first, Square(done[first.key], str(marks))]

    for workers in (1, 2):
        store = Store(tmp_path / f"{workers}.jsonl")
        run_all(plan, store, workers)
        assert store.done == {"square of 3": 9, "square of 9": 81}


def test_work_is_reported_and_ends_whole(tmp_path, marks):
    seen = []
    jobs = [Square(i, str(marks)) for i in range(4)]
    store = Store(tmp_path / "cells.jsonl")
    run_all(lambda done: jobs, store, 1, lambda *work: seen.append(work))
    assert seen == [(0.0, 4.0), (1.0, 4.0), (2.0, 4.0), (3.0, 4.0), (4.0, 4.0)]


def test_a_line_cut_short_is_run_again(tmp_path, marks):
    path = tmp_path / "cells.jsonl"
    store = Store(path)
    store.add("square of 1", 1)
    whole = path.stat().st_size
    store.add("square of 2", 4)
    os.truncate(path, path.stat().st_size - 3)
    store = Store(path)
    assert store.done == {"square of 1": 1}
    assert path.stat().st_size == whole
    run_all(lambda done: [Square(1, str(marks)), Square(2, str(marks))], store, 1)
    assert Store(path).done == {"square of 1": 1, "square of 2": 4}
    assert runs(marks) == {2: 1}


@pytest.mark.parametrize("text", ["not json\n", '{"other": 1}\n', "[1]\n"])
def test_a_file_that_is_something_else_is_left_alone(tmp_path, text):
    path = tmp_path / "cells.jsonl"
    path.write_text(text)
    with pytest.raises(SourceError, match="does not hold finished jobs"):
        Store(path)
    assert path.read_text() == text


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(SourceError, match="cannot use"):
        Store(tmp_path / "file" / "cells.jsonl")
