"""Derivations compared in the background: after each change, when the text is whole and quiet for a moment.

All pages are told, ``verification``, with ``state``:

=========  =================================================================================
waiting    the text was changed; it is compared when it is quiet
running    derivations are compared; ``share`` says how far that is
agrees     all do
differs    some do not: ``failures``
none       nothing can be compared: ``words`` has the reason
unfinished the model is not whole
=========  =================================================================================

A newer text ends the work at once.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

from kinode.errors import Error
from kinode.studio.drawing.checked_model import CheckedVersion
from kinode.studio.drawing.newest_work import NewestWork
from kinode.studio.panes.derivation_process import DerivationProcess, Plain, StoppedError

QUIET = 1.5  # s without a change
LOOK = 0.05  # s between looks at whether there was one
EMPTY = "there is nothing to derive yet"


class VerifyWatch:
    """Follows the versions of a document that were checked.

    Parameters
    ----------
    push : function
        What tells all pages.
    quiet : float
        Seconds without a change before derivations are compared.
    """

    def __init__(self, push: Callable[[Mapping[str, Any]], None], quiet: float = QUIET) -> None:
        self._push, self._quiet = push, quiet
        self._process = DerivationProcess()
        self._lock = threading.Lock()
        self._newest: CheckedVersion | None = None
        self._done: tuple[CheckedVersion, Plain] | None = None
        self._ended = False
        self._now: Plain = {"state": "waiting", "version": -1, "words": "", "rows": []}
        self._work: NewestWork[CheckedVersion] = NewestWork("kinode verify", self._compare)

    @property
    def now(self) -> Plain:
        """How it stands."""
        return self._now

    def checked(self, found: CheckedVersion) -> None:
        """A version was checked: compare it, unless it means the same as the last."""
        with self._lock:
            self._newest, done = found, self._done
        if not found.checked.complete:
            problem = found.checked.problems[0]
            self._tell(found, "unfinished", problem.message)
        elif not (found.system.bodies or found.system.elements):
            self._tell(found, "none", EMPTY)
        elif done is not None and done[0].system == found.system:
            self._tell(found, **done[1])
        else:
            self._tell(found, "waiting")
            self._work.ask(found)

    def wait(self, seconds: float = 60.0) -> bool:
        """Wait until nothing is to be compared."""
        return self._work.wait(seconds)

    def close(self) -> None:
        """End; what is under way is stopped."""
        self._ended = True
        self._work.close()
        self._process.close()

    def _is_newest(self, found: CheckedVersion) -> bool:
        newest = self._newest
        return not self._ended and newest is not None and newest.checked is found.checked

    def _compare(self, found: CheckedVersion, _: Callable[..., bool]) -> None:
        quiet = time.monotonic() + self._quiet
        while time.monotonic() < quiet:
            if not self._is_newest(found):
                return
            time.sleep(LOOK)
        self._tell(found, "running", share=0.0)

        def tell(share: float, words: str) -> None:
            self._tell(found, "running", words, share=share)

        try:
            goes_on = lambda: self._is_newest(found)  # noqa: E731
            answer = self._process.ask("verify", found.of.text, found.of.place, goes_on=goes_on, tell=tell)
        except StoppedError:
            return
        except Error as error:
            answer = {"state": "none", "words": str(error), "rows": []}
        with self._lock:
            if self._is_newest(found):
                self._done = found, answer
        self._tell(found, **answer)

    def _tell(self, found: CheckedVersion, state: str, words: str = "", **more: Any) -> None:
        with self._lock:
            if self._newest is None or self._newest.checked is not found.checked:
                return
            version = self._newest.of.version
            self._now = {"rows": [], **more, "state": state, "words": words, "version": version}
        self._push({"kind": "verification", **self._now})
