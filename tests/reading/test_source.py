import io
import os
import sys
import tempfile
import threading
from pathlib import Path

import pytest

from bearsketch.exceptions import DataError, ParameterError, SourceError
from bearsketch.reading import open_stream
from bearsketch.reading.source import resolve

from .helpers import n_rows, read

TABLE = b"a,label\nx,1\ny,0\n"


@pytest.fixture
def folder(tmp_path):
    for name in ("b.csv", "a.csv"):
        (tmp_path / name).write_bytes(TABLE)
    return tmp_path


def test_path_and_list_and_glob_give_the_same_files(folder):
    one = resolve(folder / "a.csv") + resolve(str(folder / "b.csv"))
    assert one == resolve([folder / "a.csv", folder / "b.csv"]) == resolve(str(folder / "*.csv"))


def test_a_file_whose_name_looks_like_a_glob_is_that_file(tmp_path):
    odd = tmp_path / "part[1].csv"
    odd.write_bytes(TABLE)
    assert [found.name for found in resolve(str(odd))] == [str(odd)]


@pytest.mark.parametrize(
    ("make", "code"),
    [
        (lambda folder: folder / "none.csv", "SRC-MISSING"),
        (lambda folder: folder, "SRC-DIRECTORY"),
        (lambda folder: str(folder / "*.none"), "SRC-MISSING"),
        (lambda folder: folder / "a.csv" / "below", "SRC-OPEN"),
    ],
)
def test_what_cannot_be_opened_is_told_before_anything_is_read(folder, make, code):
    with pytest.raises(SourceError) as caught:
        open_stream([folder / "a.csv", make(folder)])
    assert caught.value.code == code
    assert caught.value.exit_code == 4


def test_unreadable_file():
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        path = Path(folder) / "a.csv"
        path.write_bytes(TABLE)
        path.chmod(0)
        child = os.fork()
        if child == 0:  # root may read every file, so that the child must be somebody else
            if os.geteuid() == 0:
                os.setuid(65534)
            try:
                open_stream(path)
            except SourceError as error:
                os._exit(0 if error.code == "SRC-UNREADABLE" else 1)
            os._exit(2)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_file_object_stays_open_and_can_be_read_twice():
    file = io.BytesIO(b"skipped" + TABLE)
    file.seek(7)
    with open_stream(file, "csv") as stream:
        assert [len(batch) for batch in stream] == [2]
        assert [len(batch) for batch in stream] == [2]
    assert not file.closed


def test_text_file_object_is_refused_with_the_remedy():
    with pytest.raises(ParameterError, match="binary") as caught:
        open_stream(io.StringIO("a,b"))
    assert '"rb"' in caught.value.hint


def test_closed_file_object_is_refused():
    file = io.BytesIO(TABLE)
    file.close()
    with pytest.raises(SourceError, match="closed"):
        open_stream(file)


@pytest.mark.parametrize("source", [[], 7, b"a.csv", None])
def test_other_sources_are_refused(source):
    with pytest.raises(ParameterError, match="source must"):
        open_stream(source)


def test_stdin_is_read_once(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(TABLE)))
    with open_stream("-", "csv") as stream:
        assert [len(batch) for batch in stream] == [2]
        with pytest.raises(SourceError) as caught:
            iter(stream)
    assert caught.value.code == "SRC-ONCE"


def test_stdin_can_be_named_once_only(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(TABLE)))
    with pytest.raises(ParameterError, match="once"):
        open_stream(["-", "-"])


def test_closed_stdin(monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(SourceError) as caught:
        open_stream("-")
    assert caught.value.code == "SRC-STDIN"


def test_url_through_fsspec():
    fsspec = pytest.importorskip("fsspec")
    with fsspec.open("memory://data/a.csv", "wb") as file:
        file.write(TABLE)
    assert n_rows("memory://data/a.csv") == 2
    with pytest.raises(SourceError) as caught:
        open_stream("memory://data/none.csv")
    assert caught.value.code == "SRC-MISSING"


def test_unknown_protocol_is_told():
    pytest.importorskip("fsspec")
    with pytest.raises(SourceError) as caught:
        open_stream("nosuch://data/a.csv")
    assert caught.value.code == "SRC-OPEN"


def test_named_pipe(tmp_path):
    pipe = tmp_path / "pipe.csv"
    os.mkfifo(pipe)
    if os.fork() == 0:
        pipe.write_bytes(TABLE)
        os._exit(0)
    assert n_rows(pipe) == 2
    os.wait()


def test_stopping_early_ends_the_reading_thread(tmp_path):
    path = tmp_path / "long.csv"
    path.write_bytes(b"a,label\n" + b"x,1\n" * 1_000_000)
    before = threading.active_count()
    with open_stream(path, rows=10) as stream:
        for _ in stream:
            break
    assert threading.active_count() == before


def test_stopping_while_a_pipe_is_silent_does_not_hang():
    reading, writing = os.pipe()
    os.write(writing, TABLE * 1000)
    with open_stream(f"/dev/fd/{reading}", "csv", rows=2, on_error="skip") as stream:
        assert len(next(iter(stream))) == 2
    os.close(reading)
    os.close(writing)


def test_a_failing_read_names_the_file_and_the_byte():
    class Broken(io.RawIOBase):
        name = "broken.csv"
        given = False

        def read(self, size=-1):
            if self.given:
                raise OSError(5, "Input/output error")
            self.given = True
            return TABLE

        def readable(self):
            return True

    with pytest.raises(SourceError, match=r"broken.csv.*byte 16") as caught:
        read(Broken(), "csv")
    assert caught.value.code == "SRC-READ"
    assert caught.value.exit_code == 4


def test_a_file_that_changed_between_passes_is_refused(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(TABLE)
    with open_stream(path) as stream:
        list(stream)
        path.write_bytes(TABLE.replace(b"x", b"z"))
        with pytest.raises(DataError) as caught:
            list(stream)
    assert caught.value.code == "SRC-CHANGED"
