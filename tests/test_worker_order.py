"""Who does what in a run of the tests by several workers."""

import pytest
from worker_order import BROWSER, choose_workers, order

NAMES = [f"tests/a.py::{k}" for k in range(5)] + [f"{BROWSER}b.py::{k}" for k in range(3)] + ["tests/z.py::0"]


@pytest.mark.parametrize("workers", [1, 2, 3, 4, 20])
def test_browser_tests_begin_the_last_stretch(workers):
    places = order(NAMES, workers)
    assert sorted(places) == list(range(len(NAMES)))
    ordered = [NAMES[k] for k in places]
    first = ordered.index(f"{BROWSER}b.py::0")
    assert ordered[first : first + 3] == NAMES[5:8]
    if workers <= 3:
        assert first == (workers - 1) * (len(NAMES) // workers)
    others = [name for name in ordered if not name.startswith(BROWSER)]
    assert others == [name for name in NAMES if not name.startswith(BROWSER)]


def test_runs_with_a_browser_have_a_worker_more_than_cores():
    with_browser = (["tests"], ["."], ["tests/studio"], ["tests/ode", "tests/studio/pages"], [f"{BROWSER}test_x.py"])
    assert [choose_workers(2, "", asked) for asked in with_browser] == [3] * 5
    assert [choose_workers(2, "", asked) for asked in (["tests/ode"], ["tests/studio/test_gate.py"], [])] == [2] * 3
    assert choose_workers(2, "not slow", ["tests"]) == 2  # which leaves the browser out
