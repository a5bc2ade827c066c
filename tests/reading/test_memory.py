"""Memory while reading does not grow with rows, ids or names."""

import gzip
import subprocess
import sys

import pytest

READ = """
import sys
from bearsketch.reading import open_stream, Limits
rows = 0
options = eval(sys.argv[2])
with open_stream(sys.argv[1], **options) as stream:
    for batch in stream:
        rows += len(batch)
peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(rows, peak.split()[1])
"""
SLACK_KIB = 2048

pytestmark = pytest.mark.unsanitized


def read_peak(path, **options) -> tuple[int, int]:
    """Rows, and the peak of resident memory in KiB, of a process that reads a file."""
    out = subprocess.run(
        [sys.executable, "-c", READ, str(path), repr(options)],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    return int(out[0]), int(out[1])


def write_rows(path, n_rows: int, line, header: bytes = b"") -> None:
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(header)
        for start in range(0, n_rows, 10_000):
            file.write(b"".join(line(i) for i in range(start, min(start + 10_000, n_rows))))


def csv_line(i: int) -> bytes:
    return b"%d,w%d,x%d\n" % (i % 2, i * 7919 % 100_003, i)


def vw_line(i: int) -> bytes:
    return b"%d |a w%d x%d:2\n" % (i % 2, i * 7919 % 100_003, i)


def svmlight_line(i: int) -> bytes:
    return b"%d %d:1 %d:2\n" % (i % 2, i * 7919 % 100_003, 200_000 + i)


def text_line(i: int) -> bytes:
    return b"%d\tw%d x%d\n" % (i % 2, i * 7919 % 100_003, i)


CASES = {
    "csv": (b"label,a,b\n", csv_line),
    "vw": (b"", vw_line),
    "svmlight": (b"", svmlight_line),
    "text": (b"", text_line),
}


@pytest.mark.parametrize("form", CASES)
def test_peak_does_not_grow_with_rows(tmp_path, form):
    header, line = CASES[form]
    peaks = []
    for n_rows in (10_000, 1_000_000):
        path = tmp_path / f"{n_rows}.gz"
        write_rows(path, n_rows, line, header)
        rows, peak = read_peak(path, format=form)
        assert rows == n_rows
        peaks.append(peak)
    assert abs(peaks[1] - peaks[0]) <= SLACK_KIB


def test_peak_does_not_grow_with_the_range_of_ids(tmp_path):
    peaks = []
    for bits in (10, 63):
        path = tmp_path / f"{bits}.gz"
        modulus = (1 << bits) // 8
        write_rows(
            path,
            20_000,
            lambda i, modulus=modulus: (
                b"%d %b\n"
                % (
                    i % 2,
                    b" ".join(
                        b"%d:1" % (j * modulus + i * 0x9E3779B97F4A7C15 % modulus) for j in range(8)
                    ),
                )
            ),
        )
        rows, peak = read_peak(path, format="svmlight")
        assert rows == 20_000
        peaks.append(peak)
    assert abs(peaks[1] - peaks[0]) <= SLACK_KIB


BOMBS = {"csv": b"a,label\n", "vw": b"1 |a b\n", "svmlight": b"1 1:1\n", "jsonl": b'{"a":1}\n'}


@pytest.mark.parametrize("form", BOMBS)
def test_a_bomb_of_one_line_is_refused_in_bounded_memory(tmp_path, form):
    path = tmp_path / "bomb.gz"
    member = gzip.compress(bytes([120]) * (1 << 20))  # 1 GiB as 1,024 members of one stream
    path.write_bytes(gzip.compress(BOMBS[form]) + member * (1 << 10))
    assert path.stat().st_size < 2 << 20
    code = (
        "from bearsketch.reading import open_stream\n"
        "from bearsketch.exceptions import LimitError\n"
        "import sys\n"
        "try:\n"
        "    list(open_stream(sys.argv[1], sys.argv[2]))\n"
        "except LimitError as error:\n"
        "    peak = next(l for l in open('/proc/self/status') if l.startswith('VmHWM'))\n"
        "    print(error.code, error.exit_code, peak.split()[1])\n"
    )
    out = subprocess.run(
        [sys.executable, "-c", code, str(path), form], capture_output=True, text=True, check=True
    ).stdout.split()
    assert out[:2] == ["COM-LINE-LONG", "6"]
    # The line is kept up to its limit of 64 MiB, once in the parser and once while it grows.
    assert int(out[2]) < 300 * 1024
