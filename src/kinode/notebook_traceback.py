"""What IPython and notebooks print of an error: the user's own lines and the message, without the lines of kinode.

IPython asks an error for its own rendering by the method ``_render_traceback_``, which plain Python never calls; there
a traceback is as always.  Nothing is installed and no handler replaced.  ``%xmode Verbose`` shows every frame, and so
does ``%debug``, because the traceback of the error itself is not changed.

Hidden are frames of kinode, and those of libraries between them.  Functions of the user that kinode calls stay.
"""

from __future__ import annotations

import os
import sys
import sysconfig
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any

PACKAGE = str(Path(__file__).resolve().parent)
LIBRARIES = tuple({sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")})
CELL = "<ipython-input"
EVERYTHING, MESSAGE_ALONE = (
    "Verbose",
    "Minimal",
)  # modes of IPython: nothing is hidden, and nothing but the message shown


def render(error: BaseException) -> list[str]:
    """The lines that IPython prints of an error."""
    ipython = sys.modules.get("IPython")
    shell: Any = ipython.get_ipython() if ipython is not None else None
    tb = getattr(shell, "InteractiveTB", None)
    if tb is None:
        return traceback.format_exception(error)
    if getattr(tb, "mode", "") == EVERYTHING:
        return list(tb.structured_traceback(type(error), error, error.__traceback__))
    hidden = sum(count_hidden(each.__traceback__) for each in _chain(error))
    with _shortened(error):
        lines = list(tb.structured_traceback(type(error), error, error.__traceback__))
    if hidden and getattr(tb, "mode", "") != MESSAGE_ALONE:
        lines.append(f"({hidden} frame{'s' * (hidden > 1)} of kinode hidden; %xmode Verbose shows them)")
    return lines


def shorten(tb: TracebackType | None) -> TracebackType | None:
    """A traceback without the frames that are hidden; None if none are left."""
    kept, inside = [], False
    while tb is not None:
        inside, shown = _follow(tb, inside)
        if shown:
            kept.append(tb)
        tb = tb.tb_next
    result: TracebackType | None = None
    for entry in reversed(kept):
        result = TracebackType(result, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return result


def count_hidden(tb: TracebackType | None) -> int:
    """How many frames ``shorten`` leaves out."""
    return len(list(traceback.walk_tb(tb))) - len(list(traceback.walk_tb(shorten(tb))))


def _follow(tb: TracebackType, inside: bool) -> tuple[bool, bool]:
    """Whether kinode is at work from this frame on, and whether the frame is shown."""
    name = tb.tb_frame.f_code.co_filename
    if name.startswith(PACKAGE + os.sep):
        return True, False
    strange = name.startswith(LIBRARIES) or (name.startswith("<") and not name.startswith(CELL))
    return (True, False) if inside and strange else (False, True)


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """An error, and those that led to it."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


@contextmanager
def _shortened(error: BaseException) -> Iterator[None]:
    """While it lasts, an error and those that led to it have shortened tracebacks."""
    whole = [(each, each.__traceback__) for each in _chain(error)]
    try:
        for each, tb in whole:
            each.__traceback__ = shorten(tb) or tb
        yield
    finally:
        for each, tb in whole:
            each.__traceback__ = tb
