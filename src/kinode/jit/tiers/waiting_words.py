"""Says on a terminal what is being compiled, if that takes longer than a moment."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

MOMENT = 0.3  # s


@contextmanager
def waiting_words(words: str) -> Iterator[None]:
    """A stretch that is announced on stderr, if that is a terminal, when it lasts longer than a moment."""
    stream = sys.stderr
    if not words or stream is None or not _is_terminal(stream):
        yield
        return

    def tell() -> None:
        with suppress(OSError, ValueError):  # it was closed
            stream.write(f"kinode: compiling {words}\n")
            stream.flush()

    timer = threading.Timer(MOMENT, tell)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _is_terminal(stream: object) -> bool:
    with suppress(AttributeError, ValueError):
        return bool(stream.isatty())  # type: ignore[attr-defined]
    return False
