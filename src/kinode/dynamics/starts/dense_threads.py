"""One thread for dense linear algebra while many small matrices are factorized.

OpenBLAS, which the wheels of NumPy and SciPy bring along, gives even small matrices to a thread for each core.  Where
other programs use the cores too, these threads wait for each other: closing 60 four-bars then takes ten times the
processor time.  Why our own: ``threadpoolctl`` does this for many libraries; here two calls of one library are enough.
Another BLAS than OpenBLAS is left as it is.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from threading import Lock
from typing import NamedTuple

USERS = ("numpy.linalg", "scipy.linalg")  # modules that call a BLAS of their package's own


class Library(NamedTuple):
    """The number of threads of one BLAS."""

    threads: Callable[[], int]
    use: Callable[[int], object]


@cache
def find_library(package: str) -> Library | None:
    """The OpenBLAS in the wheel of a package, which is loaded already; None where there is none."""
    place = Path(sys.modules[package].__file__ or "").parent
    folders = (place.parent / f"{package}.libs", place / ".dylibs")
    for path in (path for folder in folders for path in folder.glob("*openblas*")):
        try:
            library = ctypes.CDLL(str(path))
        except OSError:
            continue
        for prefix in ("scipy_openblas", "openblas"):
            for suffix in ("64_", ""):
                names = (f"{prefix}_get_num_threads{suffix}", f"{prefix}_set_num_threads{suffix}")
                if all(hasattr(library, name) for name in names):
                    return Library(*(getattr(library, name) for name in names))
    return None


class _Users:
    """How many are within ``one_thread``, and the numbers of threads before the first."""

    def __init__(self) -> None:
        self.lock, self.count, self.before = Lock(), 0, list[tuple[Library, int]]()

    def enter(self) -> None:
        with self.lock:
            self.count += 1
            if self.count == 1:
                packages = [module.partition(".")[0] for module in USERS if module in sys.modules]
                libraries = [library for library in map(find_library, packages) if library is not None]
                self.before = [(library, library.threads()) for library in libraries]
                for library, threads in self.before:
                    if threads > 1:
                        library.use(1)

    def leave(self) -> None:
        with self.lock:
            self.count -= 1
            if self.count == 0:
                for library, threads in self.before:
                    if threads > 1:
                        library.use(threads)


_users = _Users()


@contextmanager
def one_thread() -> Iterator[None]:
    """Dense linear algebra uses one thread within; afterwards as many as before."""
    _users.enter()
    try:
        yield
    finally:
        _users.leave()
