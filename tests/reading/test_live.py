"""Streams of a pipe that end a batch where there is no more for now."""

from __future__ import annotations

import os

import pytest

from bearsketch.reading import open_stream

pytestmark = pytest.mark.timeout(30)


@pytest.fixture
def pipe():
    read, write = os.pipe()
    with os.fdopen(read, "rb"), os.fdopen(write, "wb", buffering=0) as sink:
        yield f"/dev/fd/{read}", sink


def test_a_table_keeps_cells_whose_rest_is_to_come(pipe):
    source, sink = pipe
    declared = {"categorical": ("w",), "numeric": ("n",), "live": True}
    with open_stream(source, "csv", **declared) as stream:
        batches = iter(stream)
        sink.write(b"w,n,label\nfoo,1,1\nbar,2,0\nbu")
        assert next(batches).labels.tolist() == [1, 0]
        sink.write(b'z,3,1\n"two\n')
        sink.write(b'lines",4,0\n')
        labels, names = [], []
        while len(labels) < 2:
            batch = next(batches)
            labels += batch.labels.tolist()
            names += [batch.names[i] for i in range(batch.n_entries)]
        assert labels == [1, 0]
        assert {b"w=buz", b"w=two\nlines"} < set(names)
        sink.write(b"last,5,1")
        sink.close()
        assert [batch.labels.tolist() for batch in batches] == [[1]]


def test_columns_that_are_not_declared_wait_for_their_rows(pipe):
    source, sink = pipe
    with open_stream(source, "csv", live=True) as stream:
        sink.write(b"n,label\n" + b"1,1\n" * 5)
        sink.write(b"x,1\n")
        sink.close()
        assert sum(len(batch) for batch in stream) == 6
        assert stream.columns["categorical"] == ("n",)


def test_without_it_batches_do_not_depend_on_time(pipe):
    source, sink = pipe
    with open_stream(source, "vw", rows=2) as stream:
        for i in range(5):
            sink.write(b"1 | a%d\n" % i)
        sink.close()
        assert [len(batch) for batch in stream] == [2, 2, 1]
