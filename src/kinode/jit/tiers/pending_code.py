"""Object code that a thread makes while its caller goes on: LLVM does not hold Python's lock."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import wraps
from typing import Generic, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class PendingCode(Generic[T]):
    """Code that is being made; ``at_once`` makes it before anything else."""

    def __init__(self, make: Callable[[], T], at_once: bool) -> None:
        self._make, self._code, self._error = make, list[T](), list[BaseException]()
        self._thread = None if at_once else threading.Thread(target=self._work, name="kinode code", daemon=True)
        if self._thread is None:
            self._work()
        else:
            self._thread.start()

    def _work(self) -> None:
        try:
            self._code.append(self._make())
        except BaseException as error:  # raised where the code is used
            self._error.append(error)

    def wait(self) -> T:
        """The code; what went wrong is raised here."""
        if self._thread is not None:
            self._thread.join()
        if self._error:
            raise self._error[0]
        return self._code[0]


def once(function: Callable[P, T]) -> Callable[P, T]:
    """The function, called once for each list of arguments; threads that come at the same time wait for the first."""
    lock, known = threading.RLock(), dict[tuple[object, ...], T]()

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        if args not in known:
            with lock:
                if args not in known:
                    known[args] = function(*args, **kwargs)
        return known[args]

    return call
