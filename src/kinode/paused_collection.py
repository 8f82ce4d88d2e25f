"""A pause of Python's garbage collector while many objects are made that stay.

Each full collection looks at all objects that there are.  While the objects of a large model are made, it finds nothing
and takes a quarter of the time.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def paused_collection() -> Iterator[None]:
    """No garbage is collected within; afterwards as before.

    Where modules were imported within, the objects that there are then count as old ones: the next collection of young
    objects would look at all that the modules made, and find nothing.
    """
    if not gc.isenabled():
        yield
        return
    n_modules = len(sys.modules)
    gc.disable()
    try:
        yield
    finally:
        if len(sys.modules) > n_modules and not gc.get_freeze_count():  # what a program froze stays frozen
            gc.freeze()
            gc.unfreeze()  # into the oldest generation, without a look at them
        gc.enable()
