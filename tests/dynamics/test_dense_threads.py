"""Dense linear algebra uses one thread where it is told to, and as many as before afterwards."""

import numpy as np
import pytest

from kinode.dynamics.starts import dense_threads
from kinode.dynamics.starts.dense_threads import Library, find_library, one_thread


@pytest.fixture
def threads(monkeypatch):
    """The number of threads of a library that is not there."""
    known = [4]
    library = Library(lambda: known[0], lambda count: known.__setitem__(0, count))
    monkeypatch.setattr(dense_threads, "find_library", lambda package: library if package == "numpy" else None)
    return known


def test_one_thread_within_and_as_many_as_before_afterwards(threads):
    with one_thread():
        assert threads == [1]
        with one_thread():
            assert threads == [1]
        assert threads == [1]
    assert threads == [4]


def test_an_error_gives_the_threads_back(threads):
    with pytest.raises(ZeroDivisionError), one_thread():
        _ = 1 / 0
    assert threads == [4]


def test_the_library_of_this_numpy():
    library = find_library("numpy")
    if library is None:
        pytest.skip("this NumPy has no OpenBLAS of its own")
    before = library.threads()
    with one_thread():
        assert library.threads() == 1
        assert np.linalg.svd(np.eye(200), compute_uv=False) == pytest.approx(np.ones(200))
    assert library.threads() == before >= 1
