"""How many workers pytest-xdist starts, and in which order they get the tests.

A test in a browser waits for pictures, answers and timers for a good part of its time, and its worker computes nothing
meanwhile.  So a run that has such tests gets a worker more than there are cores.  ``--dist worksteal`` gives every
worker a stretch of the list, and one without work takes the end of what another has left: the browser tests are the
beginning of the last stretch.  One worker is then at them from the start, while the others compute.
"""

import os

BROWSER = "tests/studio/pages/"


def count_cores():
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def choose_workers(cores, marked, asked):
    """The number of workers for ``-n auto``, by the expression of marks and the files and folders asked for."""
    browser = any(path == "." or BROWSER.startswith(f"{path}/") or path.startswith(BROWSER) for path in asked)
    return cores + 1 if browser and "not slow" not in marked else cores


def order(names, workers):
    """The places of tests in the order for the workers: those of the browser begin the last stretch."""
    browser = [k for k, name in enumerate(names) if name.startswith(BROWSER)]
    others = [k for k, name in enumerate(names) if not name.startswith(BROWSER)]
    start = min((workers - 1) * (len(names) // workers), len(others))
    return others[:start] + browser + others[start:]
