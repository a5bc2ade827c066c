"""Predictions of a pipe that is slow: each example is answered before the next one comes."""

from __future__ import annotations

import json
import select
import subprocess

import pytest

from tests.cli.helpers import COMMAND, ENVIRONMENT, good

EXAMPLES = [("prize", 1), ("meeting", 0)] * 100
TABLE = "word,size,label\n"


def vw(word, label):
    return f"{label} |w {word}\n"


def jsonl(word, label):
    return json.dumps({"text": f"a {word}", "label": label}) + "\n"


def csv(word, label):
    return f"{word},{label},{label}\n"


@pytest.mark.parametrize(
    ("form", "line", "head"), [("vw", vw, ""), ("jsonl", jsonl, ""), ("csv", csv, TABLE)]
)
def test_a_slow_pipe_is_answered_line_by_line(form, line, head, tmp_path):
    data, model = tmp_path / f"d.{form}", tmp_path / "m.bear"
    data.write_text(head + "".join(line(word, label) for word, label in EXAMPLES))
    good("train", data, "-o", model, "-k", "9", "--memory", "8KiB")
    whole = good("predict", model, data).stdout
    with subprocess.Popen(
        [COMMAND, "predict", str(model), "-q"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        bufsize=0,
        env=ENVIRONMENT,
    ) as process:
        assert process.stdin is not None
        answers = _answers(process, 1)
        process.stdin.write(head.encode())
        for word, label in EXAMPLES[:5]:
            process.stdin.write(line(word, label).encode())
            answers += _answers(process, 1)
        for word, label in EXAMPLES[5:8]:  # several at once, the last in two parts
            process.stdin.write(line(word, label).encode())
        last = line(*EXAMPLES[8]).encode()
        process.stdin.write(last[:4])
        answers += _answers(process, 3)
        process.stdin.write(last[4:])
        answers += _answers(process, 1)
        process.stdin.close()
        assert process.wait(60) == 0
    assert answers == whole.splitlines(keepends=True)[:10]


def _answers(process, n):
    """Give so many lines of output; fail where they do not come in time."""
    lines = []
    while len(lines) < n:
        ready, _, _ = select.select([process.stdout], [], [], 60)
        assert ready, f"no answer after {lines}"
        lines.append(process.stdout.readline().decode())
    return lines
