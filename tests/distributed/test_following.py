"""What a worker reads while it waits: used if it comes next, left otherwise, never an error."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bearsketch.distributed.shards import make_plan
from bearsketch.distributed.task import learn_partition
from bearsketch.distributed.worker import _Following
from bearsketch.exceptions import ParseError, SourceError


@pytest.fixture
def plan(runs):
    """Model, partitions and job of a plan."""
    return runs.prepared.learner.to_bytes(), runs.prepared.plan.partitions, runs.prepared.job


def test_a_partition_read_ahead_gives_the_same_result(plan):
    model, parts, job = plan
    following = _Following()
    following.begin(parts[1], job)
    opened = following.take(parts[1], job)
    assert opened is not None
    ahead = learn_partition(model, parts[1], job, None, opened)
    assert ahead.digest == learn_partition(model, parts[1], job).digest


def test_it_is_given_once_and_only_to_its_own_task(plan):
    _, parts, job = plan
    following = _Following()
    assert following.take(parts[1], job) is None
    following.begin(parts[1], job)
    assert following.take(parts[2], job) is None
    assert following.take(parts[1], replace(job, format="svmlight")) is None
    opened = following.take(parts[1], job)
    assert opened is not None
    opened.closing.close()
    assert following.take(parts[1], job) is None


def test_another_one_takes_its_place_and_the_same_goes_on(plan):
    _, parts, job = plan
    closed = []
    following = _Following()
    following.begin(parts[1], job)
    first = following._opened
    first.closing.callback(lambda: closed.append(1))
    following.begin(parts[1], job)
    assert following._opened is first
    following.begin(parts[2], job)
    assert closed == [1]
    following.begin(None, job)
    assert following._opened is None


def test_a_file_that_is_gone_is_for_the_task_to_tell(plan, tmp_path):
    model, parts, job = plan
    gone = tuple(replace(span, path=str(tmp_path / "gone.vw")) for span in parts[0].spans)
    part = replace(parts[0], spans=gone)
    following = _Following()
    following.begin(part, job)
    with pytest.raises(SourceError, match=r"gone\.vw"):
        learn_partition(model, part, job, None, following.take(part, job))


def test_a_broken_line_is_told_as_without_reading_ahead(plan, tmp_path):
    model, _, job = plan
    path = tmp_path / "broken.vw"
    path.write_text("1 | a\nwhat | b c:x\n")
    (part,) = make_plan(str(path), "vw", shards=1, rounds=1).partitions
    told = []
    for ahead in (True, False):
        following = _Following()
        if ahead:
            following.begin(part, job)
        with pytest.raises(ParseError, match=r"broken\.vw:2:") as caught:
            learn_partition(model, part, job, None, following.take(part, job))
        told.append(str(caught.value))
    assert told[0] == told[1]
