"""Tests that count what is alive run in a process of their own, where nothing of other tests is."""

from __future__ import annotations

import functools
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

CALL = "import pickle, sys; sys.path[:0] = {0}; import {1}; {1}.{2}.__wrapped__(**pickle.loads({3}))"


def in_own_process(test: Callable[..., None]) -> Callable[..., None]:
    """The test, whose arguments can be pickled, in a new Python that has imported no more than its file."""

    @functools.wraps(test)
    def call(**given: object) -> None:
        file = Path(test.__code__.co_filename)
        folders = [str(file.parent), str(Path(__file__).parent)]
        code = CALL.format(folders, file.stem, test.__name__, pickle.dumps(given))
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr

    return call
