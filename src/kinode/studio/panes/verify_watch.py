"""Derivations compared in the background: after each change, when the text is whole and quiet for a moment.

All pages are told how that stands as part of the one record (drawing/standing.py), and what was found by
``verification``, with ``state``:

========== =================================================================================
waiting    the text was changed; it is compared when it is quiet
running    derivations are compared; ``share`` says how far that is
agrees     all do
differs    some do not: ``failures``
none       nothing can be compared: ``words`` has the reason
unfinished the model is not whole
asleep     it is compared when that is asked for
========== =================================================================================

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
UNDER_WAY = ("waiting", "running", "asleep")
ASLEEP = "derivations are compared when you ask for it"
STANDING = ("state", "words", "share", "seconds")  # what the record of how the model stands has of it
STOPPED = "the comparison was stopped"
EMPTY = "there is nothing to derive yet"


class VerifyWatch:
    """Follows the versions of a document that were checked.

    Parameters
    ----------
    push : function
        What tells all pages.
    automatic : bool, default True
        Whether each change is followed by a comparison; else `compare_now` begins one.
    stand : function, optional
        What takes the state into the record of how the model stands.
    quiet : float
        Seconds without a change before derivations are compared.
    """

    def __init__(
        self, push: Callable[[Mapping[str, Any]], None], automatic: bool = True, quiet: float = QUIET,
        stand: Callable[[CheckedVersion, Plain], None] = lambda *_: None,
    ) -> None:  # fmt: skip
        self._push, self._automatic, self._quiet, self._stand = push, automatic, quiet, stand
        self._stopped: CheckedVersion | None = None
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
            before, self._newest, done = self._newest, found, self._done
        if before is not None and before.checked is found.checked and self._now["state"] in UNDER_WAY:
            return  # parts were moved, nothing else
        if not found.checked.complete:
            problem = found.checked.problems[0]
            self._tell(found, "unfinished", problem.message)
        elif not (found.system.bodies or found.system.elements):
            self._tell(found, "none", EMPTY)
        elif done is not None and done[0].system == found.system:
            self._tell(found, **done[1])
        elif self._automatic:
            self._tell(found, "waiting")
            self._work.ask(found)
        else:
            self._tell(found, "asleep", ASLEEP)

    def compare_now(self, found: CheckedVersion) -> None:
        """Compare a version, though it was before or was stopped."""
        with self._lock:
            self._newest, self._done, self._stopped = found, None, None
        if not found.checked.complete or not (found.system.bodies or found.system.elements):
            self.checked(found)
            return
        self._tell(found, "running", share=0.0)
        self._work.ask(found)

    def stop(self) -> None:
        """End the comparison that is under way."""
        with self._lock:
            self._stopped = self._newest

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
        if self._ended or newest is None or newest.checked is not found.checked:
            return False
        return self._stopped is None or self._stopped.checked is not found.checked

    def _compare(self, found: CheckedVersion, _: Callable[..., bool]) -> None:
        quiet = time.monotonic() + (self._quiet if self._now["state"] == "waiting" else 0.0)
        while time.monotonic() < quiet:
            if not self._is_newest(found):
                self._tell(found, "asleep", STOPPED)
                return
            time.sleep(LOOK)
        self._tell(found, "running", share=0.0)

        def tell(share: float, words: str) -> None:
            self._tell(found, "running", words, share=share)

        try:
            goes_on = lambda: self._is_newest(found)  # noqa: E731
            answer = self._process.ask("verify", found.of.text, found.of.place, goes_on=goes_on, tell=tell)
        except StoppedError:
            self._tell(found, "asleep", STOPPED)
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
            self._now = now = {"rows": [], **more, "state": state, "words": words, "version": version}
        self._stand(found, {name: value for name, value in now.items() if name in STANDING})
        if state not in ("waiting", "running"):
            self._push({"kind": "verification", **now})
