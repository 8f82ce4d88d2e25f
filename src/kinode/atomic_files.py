"""The one way in which kinode writes a file: as a whole, or not at all.

The contents go to a temporary file beside the target, to the disk, and then under the target's name in one step.  A
full disk, an error or a kill on the way leaves the old file as it was.  A temporary file is removed on every error; one
that a killed process left is hidden (``.kinode-....part``), and harmless.

A link is followed, and stays a link.  Mode and owner of a file that is replaced are kept; one that is write-protected
is not replaced.  What is no ordinary file (a terminal, a pipe, ``/dev/stdout``) is written as it is.
"""

from __future__ import annotations

import os
import stat
from codecs import StreamWriter, getwriter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from shutil import rmtree
from typing import BinaryIO

from kinode.errors import Error


def is_below(path: Path, folder: Path) -> bool:
    """Whether a path lies in a folder, or below it, when links are followed; False where it leads nowhere."""
    try:
        return path.resolve().is_relative_to(folder.resolve())
    except (OSError, ValueError, RuntimeError):
        return False


@contextmanager
def replacing(path: str | os.PathLike[str], *, durable: bool = True, mode: int = 0o666) -> Iterator[BinaryIO]:
    """A stream whose contents become the file when the block ends, and are dropped when it fails.

    Parameters
    ----------
    path : str or path
    durable : bool, default True
        Whether the contents are on the disk before they replace the file: for what cannot be made anew.
    mode : int, default 0o666
        Who may read and write a new file, less what the user's mask takes away.

    Raises
    ------
    OSError
        Its ``filename`` is the path.
    """
    target = os.path.realpath(path)
    try:
        old = _status(target)
        if old is not None and not stat.S_ISREG(old.st_mode):
            with open(target, "wb") as stream:
                yield stream
            return
        if old is not None and not os.access(target, os.W_OK):
            raise PermissionError(13, os.strerror(13))
        temporary = os.path.join(os.path.dirname(target), f".kinode-{os.urandom(8).hex()}.part")
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
        descriptor = os.open(temporary, flags, mode)
        try:
            with open(descriptor, "wb") as stream:
                yield stream
                stream.flush()
                _keep_mode(descriptor, old)
                if durable:
                    os.fsync(descriptor)
            os.replace(temporary, target)  # closed: Windows renames no file that is open
        except BaseException:
            with suppress(OSError):
                os.unlink(temporary)
            raise
    except OSError as error:
        error.filename, error.filename2 = os.fspath(path), None
        raise


@contextmanager
def writing(path: str | os.PathLike[str]) -> Iterator[StreamWriter]:
    """A stream of text in UTF-8 whose contents become the file; a failure is an ``Error`` that names the file."""
    with naming_failures(path), replacing(path) as stream:
        yield getwriter("utf-8")(stream)


@contextmanager
def naming_failures(path: str | os.PathLike[str]) -> Iterator[None]:
    """Make an ``Error`` of what the system says about a file that cannot be written."""
    try:
        yield
    except (OSError, ValueError) as error:
        if isinstance(error, Error):
            raise
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise Error(f"{os.fspath(path)}: cannot be written: {reason}") from None


def write_bytes(path: str | os.PathLike[str], data: bytes | memoryview) -> None:
    """Write a file; a failure is an ``Error`` that names it."""
    with naming_failures(path), replacing(path) as stream:
        stream.write(data)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a file of text in UTF-8; a failure is an ``Error`` that names it."""
    with naming_failures(path):
        write_bytes(path, text.encode())


def write_folder(path: str | os.PathLike[str], files: Mapping[str, bytes]) -> None:
    """Write the files of a folder, which may have others; a failure is an ``Error`` that names the folder.

    All contents are on the disk, in a temporary folder beside it, before the first file gets its name.

    Parameters
    ----------
    path : str or path
        The folder; its parent must be there.
    files : mapping
        Contents by file name; a slash leads into a folder within.
    """
    with naming_failures(path):
        target = os.path.realpath(path)
        staged = os.path.join(os.path.dirname(target), f".kinode-{os.urandom(8).hex()}.folder")
        try:
            for name, contents in files.items():
                place = os.path.join(staged, *name.split("/"))
                os.makedirs(os.path.dirname(place), exist_ok=True)
                with open(place, "wb") as stream:
                    stream.write(contents)
                    stream.flush()
                    os.fsync(stream.fileno())
            if not os.path.lexists(target):
                os.replace(staged, target)
                return
            for name in files:
                place = os.path.join(target, *name.split("/"))
                os.makedirs(os.path.dirname(place), exist_ok=True)
                if os.path.isdir(place):  # before the first file is replaced
                    raise IsADirectoryError(21, f"{name} in it is a folder")
            for name in files:
                parts = name.split("/")
                os.replace(os.path.join(staged, *parts), os.path.join(target, *parts))
        finally:
            rmtree(staged, ignore_errors=True)


@contextmanager
def locking(path: str | os.PathLike[str]) -> Iterator[bool]:
    """Hold a lock while the block runs; False where another process or thread holds it.

    The lock is of the file with this name, which is made here and removed at the end.  A killed process leaves the file
    but not its lock.  True also where no lock can be had: in a folder that is read-only, and on Windows.
    """
    descriptor = None
    while descriptor is None:
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o666)
        except OSError:
            yield True
            return
        free = _lock(descriptor)
        if free and not os.fstat(descriptor).st_nlink:  # its last holder removed it meanwhile
            os.close(descriptor)
            descriptor = None
    try:
        yield free
    finally:
        if free:
            with suppress(OSError):
                os.unlink(path)
        os.close(descriptor)


def _lock(descriptor: int) -> bool:
    """Whether the lock was free; true too on a system or a file system without locks."""
    try:
        import fcntl
    except ImportError:
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True


def _status(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)
    except FileNotFoundError:
        return None


def _keep_mode(descriptor: int, old: os.stat_result | None) -> None:
    """Give a file the owner and mode of the one that it replaces, as far as this is allowed."""
    if old is None or not hasattr(os, "fchmod"):
        return
    now = os.fstat(descriptor)
    with suppress(OSError):
        if (now.st_uid, now.st_gid) != (old.st_uid, old.st_gid):
            os.fchown(descriptor, old.st_uid, old.st_gid)
    with suppress(OSError):
        os.fchmod(descriptor, stat.S_IMODE(old.st_mode))
