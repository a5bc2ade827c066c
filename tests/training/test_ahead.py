"""How far reading may be ahead; order, errors and ends are tested with the small parts."""

import threading

import pytest

from bearsketch.training.ahead import read_ahead


def counted(n, made, blocked=None):
    for i in range(n):
        made.append(i)
        if blocked is not None and len(made) > blocked[0]:
            blocked[1].set()
        yield i


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(("depth", "size"), [(1, 1), (3, 1), (4, 2), (2, 100)])
def test_all_items_in_order_however_many_may_wait(threads, depth, size):
    with read_ahead(range(50), threads, depth=depth, places=lambda _: size) as items:
        assert list(items) == list(range(50))


@pytest.mark.parametrize(("depth", "size", "waiting"), [(3, 1, 3), (6, 2, 3), (7, 3, 2), (2, 9, 1)])
def test_no_more_wait_than_there_is_room_for(depth, size, waiting):
    made, full = [], threading.Event()
    # One more is made, and held until there is room.
    source = counted(50, made, (waiting, full))
    with read_ahead(source, depth=depth, places=lambda _: size) as items:
        assert full.wait(10)
        assert len(made) == waiting + 1
        assert next(items) == 0
    assert len(made) <= waiting + 2
