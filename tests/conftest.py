"""What every test shares: reproducible hypothesis runs, a kernel cache of their own, plots without a screen."""

import gc
import os
import sys
from pathlib import Path

import pytest
from c_compiler import find_compiler
from example_counts import is_fixed
from fast_set import SlowTests, find_uses
from hypothesis import HealthCheck, settings
from peers import MissingPeers, cannot_try
from run_summary import RunSummary
from worker_order import choose_workers, count_cores, order

ROOT = Path(__file__).resolve().parent.parent

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
    config.pluginmanager.register(MissingPeers(), "missing peers")


@pytest.fixture(scope="session")
def compiler():
    """The command of a C compiler: the system's, or zig's."""
    if not (command := find_compiler()):
        cannot_try("no C compiler on this machine")
    return command


@pytest.fixture(scope="session")
def shared_folder(tmp_path_factory):
    """A folder that all workers of this test run have in common."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "player_pages"
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
    """Mark what tests use and which are slow, by ``support/fast_set.py``; leave the night's to the night."""
    slow = SlowTests()
    for item in items:
        definitions = item._fixtureinfo.name2fixturedefs
        fixtures = {name: definitions[name][-1].func for name in item.fixturenames if definitions.get(name)}
        uses = find_uses(item.function, fixtures)
        for name in (*uses, *(["slow"] if uses or slow.took_long(item.nodeid) else [])):
            item.add_marker(name)
    if is_fixed():
        late = [item for item in items if item.get_closest_marker("nightly")]
        config.hook.pytest_deselected(items=late)
        gone = set(late)
        items[:] = [item for item in items if item not in gone]
    workers = getattr(config, "workerinput", {}).get("workercount", 1)
    if workers > 1:
        items[:] = [items[k] for k in order([item.nodeid for item in items], workers)]
