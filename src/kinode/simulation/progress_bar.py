"""A progress bar on the terminal for runs that take longer than a second."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any

SHOWN_AFTER = 1.0  # s of wall time


class Progress:
    """Called with the time reached; shows a bar after a second, by default only on a terminal.

    ``shown`` is True (always), False (never), None (on a terminal) or a function that is called with the fraction
    done and may return False to stop the run.  ``words`` says how far it is.
    """

    def __init__(
        self, t0: float, t1: float, shown: bool | Callable[[float], Any] | None,
        words: Callable[[float], str] = "t = {:.4g} s".format,
    ) -> None:  # fmt: skip
        self.words = words
        self.span, self.began = (t0, max(t1 - t0, 1e-300)), time.perf_counter()
        self.callback = shown if callable(shown) else None
        self.wanted = sys.stderr is not None and sys.stderr.isatty() if shown is None else shown is True
        self._bar: Any = None
        self._task: Any = None

    def __call__(self, t: float) -> bool:
        """Show how far the run is; False stops the run."""
        done = (t - self.span[0]) / self.span[1]
        if self.callback is not None:
            return self.callback(done) is not False
        if self.wanted and self._bar is None and time.perf_counter() - self.began > SHOWN_AFTER:
            self._begin()
        if self._bar is not None:
            self._bar.update(self._task, completed=done, description=self.words(t))
        return True

    def _begin(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

        columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
        self._bar = Progress(*columns, console=Console(stderr=True), transient=True)
        self._bar.start()
        self._task = self._bar.add_task("", total=1.0)

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()
