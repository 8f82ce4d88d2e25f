"""Work in the background of which only the newest counts: one under way, one waiting."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar

LOG = logging.getLogger("kinode.studio")
PATIENCE = 2.0  # s, for which work under way may go on though newer waits
T = TypeVar("T")
GoesOn = Callable[..., bool]


class NewestWork(Generic[T]):
    """A thread that does the newest of what it is asked for.

    What is under way may finish, otherwise someone who types would see nothing; after two seconds it is told to stop
    when newer work waits.

    Parameters
    ----------
    name : str
        Of the thread.
    work : function
        Of what is asked for, and of a function that says whether it is still wanted.
    """

    def __init__(self, name: str, work: Callable[[T, GoesOn], None]) -> None:
        self._work = work
        self._waiting: list[T] = []
        self._busy, self._ended, self._began = False, False, 0.0
        self._turn = threading.Condition()
        self._thread = threading.Thread(target=self._labor, name=name, daemon=True)
        self._thread.start()

    def ask(self, what: T) -> None:
        """Do this, in the place of what waits."""
        with self._turn:
            self._waiting = [what]
            self._turn.notify_all()

    def wait(self, seconds: float = 60.0) -> bool:
        """Wait until nothing is to be done; False if the time was over before."""
        with self._turn:
            return self._turn.wait_for(lambda: self._ended or (not self._waiting and not self._busy), seconds)

    def close(self) -> None:
        """End; what is under way is told to stop."""
        with self._turn:
            self._ended = True
            self._turn.notify_all()

    def _goes_on(self, *_: object) -> bool:
        late = time.monotonic() - self._began > PATIENCE
        return not self._ended and not (self._waiting and late)

    def _labor(self) -> None:
        while True:
            with self._turn:
                self._busy = False
                self._turn.notify_all()
                self._turn.wait_for(lambda: self._waiting or self._ended)
                if self._ended:
                    return
                what, self._busy = self._waiting.pop(), True
            self._began = time.monotonic()
            try:
                self._work(what, self._goes_on)
            except Exception as error:
                LOG.error("work in the background failed", exc_info=error)
