"""How a model stands: one record of one version of the text, from which pages draw every label that tells a state.

It is pushed whole, ``standing``, whenever a part of it changes:

======== ==========================================================================================
number   of two records the higher is the later one, also where a server came after another
version  the version of the text that all of it is of; where a page has a newer one, that is being checked
whole    whether all of the text could be built
problems all that is wrong
run      ``state`` and ``words``: running, shown, failed, empty (nothing to run), stale (the text is not whole)
proof    ``state``, ``words``, ``share``, ``seconds`` of the comparison of derivations (panes/verify_watch.py)
======== ==========================================================================================

A version that means the same as the one before keeps its run and its proof; any other begins without them.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from kinode.formats.editing.checked_text import CheckedText
from kinode.studio.drawing.kind_boxes import Plain

RUNS = "the model is compiled and run"


@dataclass(frozen=True)
class Standing:
    """How one version of a model stands."""

    number: int
    version: int
    whole: bool
    problems: tuple[Plain, ...]
    run: Plain
    proof: Plain

    def plain(self) -> Plain:
        """As it is sent."""
        return {
            "number": self.number, "version": self.version, "whole": self.whole, "problems": list(self.problems),
            "run": self.run, "proof": self.proof,
        }  # fmt: skip


class StandingBoard:
    """Keeps how the newest version stands, and tells the pages.

    Parameters
    ----------
    push : function
        What tells all pages.
    """

    def __init__(self, push: Callable[[Mapping[str, Any]], None]) -> None:
        self._push = push
        self._lock = threading.Lock()
        self._of: CheckedText | None = None
        self._now: Standing | None = None
        self._number = int(1000 * time.time())

    def begin(self, version: int, of: CheckedText, problems: Sequence[Plain]) -> None:
        """A version was checked: nothing else is known of it, unless it means the same as the one before."""
        with self._lock:
            self._number += 1
            if self._now is not None and self._of is of:
                self._now = replace(self._now, number=self._number, version=version, problems=tuple(problems))
            else:
                self._of, self._now = of, first_standing(self._number, version, of, problems)
            self._push({"kind": "standing", **self._now.plain()})

    def tell(
        self, of: CheckedText, *, problems: Sequence[Plain] | None = None, run: Plain | None = None,
        proof: Plain | None = None,
    ) -> None:  # fmt: skip
        """More is known of a text; it is left out where the newest version means something else."""
        with self._lock:
            now = self._now
            if now is None or self._of is not of:
                return
            self._number += 1
            self._now = replace(
                now, number=self._number, problems=now.problems if problems is None else tuple(problems),
                run=now.run if run is None else run, proof=now.proof if proof is None else proof,
            )  # fmt: skip
            self._push({"kind": "standing", **self._now.plain()})

    def now(self, version: int, of: CheckedText, problems: Sequence[Plain]) -> Plain:
        """How a version stands; of one that is still to be told of, what its text says."""
        with self._lock:
            if self._now is not None and self._now.version == version:
                return self._now.plain()
            return first_standing(self._number, version, of, problems).plain()

    def forget(self) -> None:
        """Another model comes."""
        with self._lock:
            self._of = self._now = None


def first_standing(number: int, version: int, of: CheckedText, problems: Sequence[Plain]) -> Standing:
    """What is known of a version when its text was read."""
    if of.complete:
        run, proof = {"state": "running", "words": RUNS}, {"state": "waiting", "words": ""}
    else:
        words = of.problems[0].message
        run, proof = {"state": "stale", "words": words}, {"state": "unfinished", "words": words}
    return Standing(number, version, of.complete, tuple(problems), run, proof)
