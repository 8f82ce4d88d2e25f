"""What every test shares: reproducible hypothesis runs, a kernel cache of their own, plots without a screen."""

import gc
import os
import sys
from pathlib import Path

import pytest
from example_counts import is_fixed
from find_slow import is_listed
from hypothesis import HealthCheck, settings
from run_summary import RunSummary
from worker_order import choose_workers, count_cores, order

ROOT = Path(__file__).resolve().parent.parent
SLOW = frozenset((ROOT / "tests" / "slow_tests.txt").read_text(encoding="utf-8").splitlines())

# Set before kinode or matplotlib is imported; xdist workers inherit them.
os.environ.setdefault("KINODE_CACHE_DIR", str(ROOT / ".cache" / "kinode-tests"))
os.environ.setdefault("MPLBACKEND", "Agg")
os.environ.setdefault("KINODE_TIERS", "first")  # long code as users have it first; jit/test_tiers.py has better one

# Bytecode is kept, whatever the surroundings say: some tests start Python anew, and compiling all of kinode takes
# longer than most of them.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# "fixed" tries the same examples every time, so that a red run is red again; HYPOTHESIS_PROFILE=nightly and =explore
# seek new ones, the second many.  A test that says how many examples it takes keeps to that; where each of them makes
# many programs, ``examples`` of support/example_counts.py leaves more of them to the nightly run.
# No deadline: the first example of a kind pays for compiling its kernels.
COMMON = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("fixed", derandomize=True, database=None, max_examples=16, **COMMON)
settings.register_profile("nightly", max_examples=100, print_blob=True, **COMMON)
settings.register_profile("explore", max_examples=500, **COMMON)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fixed"))

# Python's collector looks at all objects that there are, which here are ten thousand tests and half of SciPy, and tapes
# are made of millions: with its own thresholds it takes a quarter of the time of a test that traces.
gc.set_threshold(100_000, 20, 10)


def pytest_configure(config):
    cache = Path(os.environ["KINODE_CACHE_DIR"]) / "kinode-kernels"
    config.pluginmanager.register(RunSummary(cache), "run summary")


@pytest.fixture(scope="session")
def shared_folder(tmp_path_factory, worker_id):
    """A folder that all workers of this test run have in common."""
    base = tmp_path_factory.getbasetemp()
    folder = (base if worker_id == "master" else base.parent) / "player_pages"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture(scope="session")
def pages(shared_folder):
    """Runs and pages of examples, which the first test makes that asks for them."""
    from player_pages import PageFolder

    return PageFolder(shared_folder)


@pytest.fixture
def loops(monkeypatch):
    """``loops("always")``: systems made from now on have loop code however small, with "never" however large."""
    from kinode.kernels import tree_size

    return lambda choice: monkeypatch.setattr(tree_size, "LOOPS", choice)


@pytest.fixture
def loops_always(loops):
    """Loop code for systems of any size."""
    loops("always")


@pytest.hookimpl(optionalhook=True)  # of pytest-xdist
def pytest_xdist_auto_num_workers(config):
    """A worker more than cores where there are tests that wait for a browser; the environment has the last word."""
    if "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ:
        return None
    asked = [Path(os.path.relpath(path.partition("::")[0], ROOT)).as_posix() for path in config.args]
    return choose_workers(count_cores(), config.option.markexpr, asked)


def pytest_collection_finish():
    """What is there now stays to the end, and is no longer looked at."""
    gc.collect()
    gc.freeze()


def pytest_collection_modifyitems(config, items):
    """Mark the slow tests, which ``support/find_slow.py`` lists; leave those for the night to runs at night."""
    for item in items:
        if is_listed(item.nodeid, SLOW):
            item.add_marker(pytest.mark.slow)
    if is_fixed():
        late = [item for item in items if item.get_closest_marker("nightly")]
        config.hook.pytest_deselected(items=late)
        gone = set(late)
        items[:] = [item for item in items if item not in gone]
    workers = getattr(config, "workerinput", {}).get("workercount", 1)
    if workers > 1:
        items[:] = [items[k] for k in order([item.nodeid for item in items], workers)]
