"""Pages of the player for tests in a browser: one for each example, made once for all workers."""

from __future__ import annotations

import fcntl
import io
import os
import runpy
import tempfile
from contextlib import ExitStack, chdir, contextmanager, redirect_stdout
from pathlib import Path

import kinode as kn
from kinode.player.film import find_chromium

ROOT = Path(__file__).resolve().parent.parent.parent
EXAMPLES = sorted(path.stem for path in (ROOT / "examples").glob("*.yaml"))
PLAYER = ROOT / "src" / "kinode" / "studio" / "static" / "player.js"
SCRIPTS = [
    "arm.py",
    "elastic_study.py",
    "six_axis.py",
    "ur5_path.py",
]  # ship_at_sea.py has the model of ship_gimbal.yaml
SAMPLES = 301
PATIENCE = 90_000  # ms: no wait in a browser lasts longer, however busy the machine is


@contextmanager
def locked(file):
    """A stretch in which no other worker is."""
    with open(file, "w") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        yield


@contextmanager
def one_of(files):
    """A stretch in which as many workers are as there are files: the first that is free, else the first in line."""
    with ExitStack() as stack:
        streams = [stack.enter_context(open(file, "w")) for file in files]
        for stream in streams:
            try:
                fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            break
        else:
            fcntl.flock(streams[os.getpid() % len(streams)], fcntl.LOCK_EX)
        yield


def what_is_missing():
    """Why there can be no test in a browser, or an empty text."""
    try:
        import playwright  # noqa: F401

        find_chromium()
    except (ImportError, kn.Error) as error:
        return "playwright is not installed" if isinstance(error, ImportError) else str(error)
    return "" if PLAYER.exists() else "the player is not built: python tools/build_player.py"


def simulated(example):
    """The run of an example over its own span, or the one that a script makes."""
    if example.endswith(".py"):
        with tempfile.TemporaryDirectory() as folder, chdir(folder), redirect_stdout(io.StringIO()):
            return runpy.run_path(str(ROOT / "examples" / example), run_name="__main__")["run"]
    system = kn.load(ROOT / "examples" / f"{example}.yaml")
    return kn.simulate(system, samples=SAMPLES)


class PageFolder:
    """The folder of the pages, one file for each example; runs are stored beside them."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)

    def page(self, example):
        """The page of an example; the first who asks makes it."""
        file = self.folder / f"{example}.html"
        with locked(self.folder / f"{example}.lock"):
            if not file.exists():
                run = simulated(example)
                run.save(self.folder / f"{example}.nc")
                run.view(file)
        return file

    def run(self, example):
        """The run that the page of an example shows."""
        self.page(example)
        return kn.Trajectory.load(self.folder / f"{example}.nc")
