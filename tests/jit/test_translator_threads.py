"""Loops that several threads translate at once."""

import gc
import threading
import time
from pathlib import Path

from kinode.jit.loop import translator
from kinode.ode import loops

FILES = sorted(map(str, Path(loops.__file__).parent.glob("*.py")))


def test_threads_read_syntax_trees_side_by_side():
    """The collector hands the interpreter to another thread in the middle of a tree, which Python 3.11 did not bear."""
    errors, threshold = [], gc.get_threshold()

    def hand_over(phase, info):
        time.sleep(1e-4)

    def read(files):
        for file in files:
            try:
                translator._tree.__wrapped__(file)
            except SystemError as error:
                errors.append(error)

    gc.set_threshold(200)
    gc.callbacks.append(hand_over)
    try:
        threads = [threading.Thread(target=read, args=(FILES[k::4],)) for k in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        gc.callbacks.remove(hand_over)
        gc.set_threshold(*threshold)
    assert len(FILES) > 8 and not errors
