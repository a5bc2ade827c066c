"""The split plan: every byte in one partition, cut between examples, the same every time."""

from __future__ import annotations

import gzip
import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bearsketch.distributed import make_plan
from bearsketch.distributed.shards import RangeFile, example_after
from bearsketch.exceptions import DataError, ParameterError
from bearsketch.reading import open_stream
from bearsketch.reading.source import resolve


def bytes_of(plan):
    return b"".join(
        span.open().read() if span.length is not None else Path(span.path).read_bytes()
        for part in plan.partitions
        for span in part.spans
    )


@pytest.mark.parametrize(("shards", "rounds"), [(1, 1), (3, 1), (4, 5), (7, 3)])
def test_partitions_hold_every_byte_once_in_order(rows, shards, rounds):
    plan = make_plan(str(rows), "vw", shards=shards, rounds=rounds)
    assert bytes_of(plan) == rows.read_bytes()
    assert [part.id for part in plan.partitions] == list(range(len(plan.partitions)))
    for part in plan.partitions:
        for span in part.spans:
            assert span.open().read().endswith(b"\n")


def test_partitions_are_about_equal(rows):
    plan = make_plan(str(rows), "vw", shards=4, rounds=2)
    sizes = [part.size for part in plan.partitions]
    assert len(sizes) == 8
    assert max(sizes) - min(sizes) < 200


def test_several_files_are_one_stream_of_bytes(rows, tmp_path):
    parts = []
    for i, size in enumerate((100, 1, 3000, 40)):
        parts.append(tmp_path / f"{i}.vw")
        parts[-1].write_bytes(b"1 | a\n" * size)
    plan = make_plan([str(path) for path in parts], "vw", shards=3, rounds=2)
    assert bytes_of(plan) == b"".join(path.read_bytes() for path in parts)
    assert plan.sources == [str(path) for path in parts]


def test_compressed_files_and_tables_stay_whole(tmp_path):
    for i in range(6):
        (tmp_path / f"{i}.vw.gz").write_bytes(gzip.compress(b"1 | a b\n" * 5000))
    plan = make_plan(str(tmp_path / "*.gz"), "vw", shards=2, rounds=3)
    assert [len(part.spans) for part in plan.partitions] == [1] * 6
    assert all(span.length is None for part in plan.partitions for span in part.spans)
    table = tmp_path / "t.csv"
    table.write_text("a,label\n" + "x,1\ny,0\n" * 20_000)
    plan = make_plan(str(table), "csv", shards=2)
    assert [span.length for part in plan.partitions for span in part.spans] == [None]


def test_small_data_has_few_rounds(rows, tmp_path):
    assert make_plan(str(rows), "vw", shards=2).rounds == rows.stat().st_size // (2 << 14)
    for i in range(6):
        (tmp_path / f"{i}.vw.gz").write_bytes(gzip.compress(rows.read_bytes()))
    assert make_plan(str(tmp_path / "*.gz"), "vw", shards=4).rounds == 1


def test_the_plan_depends_on_nothing_else(rows):
    one, two = (make_plan(str(rows), "vw", shards=3, rounds=2) for _ in range(2))
    assert one == two
    assert one.digest == two.digest
    assert one.digest != make_plan(str(rows), "vw", shards=3, rounds=3).digest


def test_a_changed_file_is_refused(tmp_path):
    path = tmp_path / "a.vw"
    path.write_bytes(b"1 | a\n" * 1000)
    plan = make_plan(str(path), "vw", shards=2, rounds=1)
    path.write_bytes(b"1 | a\n" * 499 + b"1 | b\n" + b"1 | a\n" * 500)
    assert plan.partitions[1].spans[0].open().read() == b"1 | a\n" * 500
    with pytest.raises(DataError, match="is not the one that was planned with") as caught:
        plan.partitions[0].spans[0].open()
    assert caught.value.code == "SRC-CHANGED"


def test_a_file_that_is_cut_while_it_is_read_is_noticed(tmp_path):
    path = tmp_path / "a.vw"
    path.write_bytes(b"1 | a\n" * 10)
    part = RangeFile(resolve(str(path))[0], "a.vw", 0, 61)
    assert part.read(100) == b"1 | a\n" * 10
    with pytest.raises(DataError, match="ends 1 bytes before"):
        part.read(100)


def test_what_workers_cannot_open_is_refused():
    with pytest.raises(ParameterError, match="workers need files they can open themselves"):
        make_plan(io.BytesIO(b"1 | a\n"), "vw")


@pytest.mark.parametrize("what", ["shards", "rounds"])
def test_numbers_out_of_range_are_refused(rows, what):
    with pytest.raises(ParameterError, match=f"{what} must be an integer from 1 to 65536, got 0"):
        make_plan(str(rows), "vw", **{what: 0})


def fastq(records):
    return b"".join(b"@r%d\n%b\n+\n%b\n" % (i, b"ACGT"[: len(q)], q) for i, q in enumerate(records))


QUALITIES = st.lists(
    st.sampled_from([b"@@@@", b"+IIA", b"@+II", b"IIII", b"+@+@"]), min_size=1, max_size=12
)


@given(QUALITIES, st.integers(0, 400))
def test_fastq_is_cut_before_a_record_whatever_its_qualities(qualities, at):
    text = fastq(qualities)
    starts = {len(fastq(qualities[:i])) for i in range(len(qualities))}
    found = example_after(io.BytesIO(text), min(at, len(text)), len(text), "fastq")
    wanted = min((start for start in starts if start >= at), default=len(text))
    assert found == wanted


@given(st.integers(0, 120))
def test_fasta_is_cut_before_a_header(at):
    text = b">a\nACGT\nACGT\n>b\nAC\n>c\n" + b"ACGT\n" * 20
    found = example_after(io.BytesIO(text), min(at, len(text)), len(text), "fasta")
    assert found == min((s for s in (0, 13, 19) if s >= at), default=len(text))


def test_the_search_goes_on_past_its_buffer():
    text = b"1 |" + b" a" * 100_000 + b"\n0 | b\n"
    assert example_after(io.BytesIO(text), 5, len(text), "vw") == len(text) - 6


def test_sequences_in_partitions_are_those_of_the_file(tmp_path):
    path = tmp_path / "reads.fq"
    path.write_bytes(b"".join(b"@%d\nACGTACGTAC\n+\n@@@@IIII++\n" % i for i in range(500)))
    plan = make_plan(str(path), "fastq", shards=3, rounds=2)
    total = 0
    for part in plan.partitions:
        options = {"kmer": 5, "label_from": "none"}
        with open_stream([span.open() for span in part.spans], "fastq", **options) as stream:
            total += sum(len(batch) for batch in stream)
    assert total == 500
