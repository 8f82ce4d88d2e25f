"""Work that threads share: every piece is done once, by no more threads than may, and a fault comes to the caller."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from kinode.jit import threads


@pytest.mark.parametrize(
    ("count", "least", "most"), [(0, 1, 3), (1, 1, 3), (40, 1, 3), (41, 7, 2), (40, 50, 3), (9, 4, 1)]
)
def test_every_piece_is_done_once(count, least, most):
    done = []
    threads.share(lambda first, last: done.append((first, last)), count, least, most)
    assert sorted(k for piece in done for k in range(*piece)) == list(range(count))
    assert all(last - first >= min(least, count) for first, last in sorted(done)[:-1])


def test_no_more_threads_than_may(monkeypatch):
    """Of three beside the caller; a piece waits until as many threads as may take one have done so."""
    pool = ThreadPoolExecutor(3)
    monkeypatch.setattr(threads, "_executor", lambda: pool)
    for most in (2, 3):
        seen = set()

        def work(first, last, most=most, seen=seen):
            seen.add(threading.get_ident())
            patience = time.monotonic() + 60.0
            while len(seen) < most and time.monotonic() < patience:
                time.sleep(0.001)

        threads.share(work, 40, 1, most)
        assert len(seen) == most
    pool.shutdown()


def test_work_within_work_does_not_wait_for_threads_that_are_taken():
    done = []

    def work(first, last):
        threads.share(lambda a, b: done.append(b - a), 8, 1, 4)

    threads.share(work, 8, 1, 4)
    assert sum(done) == 64


@pytest.mark.parametrize("faulty", [0, 39])
def test_a_fault_comes_to_the_caller_when_nobody_works_any_more(faulty):
    working = []

    def work(first, last):
        working.append(first)
        try:
            time.sleep(0.002)
            if first <= faulty < last:
                raise RuntimeError("a fault")
        finally:
            working.remove(first)

    with pytest.raises(RuntimeError, match="a fault"):
        threads.share(work, 40, 1, 3)
    assert not working
