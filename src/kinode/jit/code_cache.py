"""A cache of machine code on disk, between sessions.

Entries lie in a folder of their own, which nobody else may write: its owner and mode are checked before code is loaded
from it.  An entry is an ordinary file whose name is a digest and which begins with a mark, that name, its length and a
digest of the whole; whatever is cut short, altered, foreign, a link or a pipe counts as absent.  Only entries are ever
removed.  Writing goes through a temporary file and one rename, so that two processes may write at once.  A directory
that cannot be written is no cache, silently: nothing here may fail.
"""

from __future__ import annotations

import os
import re
import stat
import sys
import warnings
from collections.abc import Iterable
from contextlib import suppress
from functools import cache as remember
from pathlib import Path

try:  # hashlib's own, without the libraries that it loads for other digests
    from _blake2 import blake2b
except ImportError:
    from hashlib import blake2b

from kinode.version import __version__

MAGIC = b"kinode kernel 2\n"
FOLDER = "kinode-kernels"
NAME = re.compile(r"[0-9a-f]{40}\Z")
HEAD = len(MAGIC) + 40 + 8 + 20  # mark, name, length, digest
LARGEST_CACHE = 500_000_000  # bytes in all; the entries that were not used for longest go first
OTHERS = stat.S_IWGRP | stat.S_IWOTH
NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
ROOT = Path(__file__).resolve().parents[1]
IMPORT = re.compile(r"^[ \t]*(?:from|import)[ \t]+kinode(?:\.(\w+)|[ \t]+import[ \t]+([\w, \t]+))", re.MULTILINE)


def directory() -> Path | None:
    """The folder of the entries; None where the cache is turned off."""
    if os.environ.get("KINODE_CACHE") == "0":
        return None
    chosen = os.environ.get("KINODE_CACHE_DIR")
    if chosen:
        return Path(chosen) / FOLDER
    with suppress(RuntimeError):  # no home directory
        if sys.platform == "win32":
            base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
        elif sys.platform == "darwin":
            base = Path.home() / "Library" / "Caches"
        else:
            base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        return base / FOLDER
    return None


def _list_files(names: Iterable[str]) -> list[tuple[str, os.stat_result]]:
    """The source files of packages and modules, with what the system knows of them; FileNotFoundError for others."""
    files, folders = list[tuple[str, os.stat_result]](), list[str]()
    for name in names:
        path = str(ROOT / name)
        if os.path.isdir(path):
            folders.append(path)
        else:
            files.append((f"{path}.py", os.stat(f"{path}.py")))
    while folders:
        with os.scandir(folders.pop()) as entries:
            for entry in entries:
                if entry.name.endswith(".py"):
                    files.append((entry.path, entry.stat()))
                elif "." not in entry.name and entry.name != "__pycache__" and entry.is_dir():
                    folders.append(entry.path)
    return sorted(files)


def _digest_lines(lines: Iterable[str]) -> str:
    return blake2b("\n".join([__version__, *lines]).encode(), digest_size=20).hexdigest()


def _stamp(names: Iterable[str]) -> str:
    """Changes with the size or the time of change of any file, as Python has it for its byte code."""
    return _digest_lines(f"{path} {about.st_size} {about.st_mtime_ns}" for path, about in _list_files(names))


def find_sources(first: str = "dynamics") -> list[str]:
    """The packages and modules of kinode that one imports, and those that they import; with itself, in order."""
    found, seen = list[str](), {first}
    while len(found) < len(seen):
        name = min(seen.difference(found))
        found.append(name)
        for path, _ in _list_files([name]):
            for package, names in IMPORT.findall(Path(path).read_text(encoding="utf-8")):
                mentioned = [package] if package else [word.strip() for word in names.split(",")]
                seen.update(word for word in mentioned if (ROOT / word).is_dir() or (ROOT / f"{word}.py").is_file())
    return sorted(found)


@remember
def source_digest(*packages: str) -> str:
    """Digest of the source code that determines the machine code; empty if the source is not available.

    It is that of the contents of these packages, or of all that ``dynamics`` imports.  Reading them takes longer than
    loading a kernel: an entry of the cache holds the digest with the packages, their sizes and times, and is
    written anew where one of these has changed.
    """
    if not (ROOT / "__init__.py").is_file():
        return ""
    entry = _digest_lines(["sources", str(ROOT), *packages])
    known = (load(entry) or b"").decode().split()
    with suppress(FileNotFoundError):  # a package that was there has moved
        if known and _stamp(known[2:]) == known[0]:
            return known[1]
    names = list(packages) or find_sources()
    stamp = _stamp(names)
    contents = _digest_lines(
        f"{os.path.relpath(path, ROOT)} {blake2b(Path(path).read_bytes(), digest_size=20).hexdigest()}"
        for path, _ in _list_files(names)
    )
    save(entry, " ".join([stamp, contents, *names]).encode())
    return contents


def digest(*parts: str) -> str | None:
    """Name of the entry for these parts and the present source; None without a cache, or without source to compare."""
    source = source_digest() if directory() is not None else ""
    if not source:
        return None
    hasher = blake2b(digest_size=20)
    for part in (source, *parts):
        data = part.encode()
        hasher.update(len(data).to_bytes(8, "little") + data)
    return hasher.hexdigest()


def load(name: str) -> bytes | None:
    """What was saved under a name, if it is there, whole, and in a folder that is safe."""
    place = directory()
    try:
        if place is None or not is_safe(place):
            return None
        data = _read(place / name)
    except OSError:
        return None
    payload = data[HEAD:]
    if data[:HEAD] != _head(name, payload):
        return None
    with suppress(OSError):
        os.utime(place / name)  # used now: the last to be pruned
    return payload


def save(name: str, payload: bytes) -> None:
    """Keep a payload under a name, as far as the disk allows."""
    from kinode.atomic_files import replacing

    place = directory()
    if place is None or not NAME.match(name):
        return
    with suppress(OSError):
        if not place.is_dir():
            place.parent.mkdir(parents=True, exist_ok=True)
            place.mkdir(mode=0o700, exist_ok=True)
        if not is_safe(place) or not _may_replace(place / name):
            return
        with replacing(place / name, durable=False, mode=0o600) as file:
            file.write(_head(name, payload) + payload)
        if name.endswith("00"):  # one digest in 256: a look at many thousand entries takes longer than many kernels
            prune(place)


def is_safe(place: Path) -> bool:
    """Whether a folder is a folder and only this user, or the administrator, can write it.

    Others could put machine code there that this process would run.
    """
    about = os.lstat(place)
    if not stat.S_ISDIR(about.st_mode):
        return False
    if is_ours(about):
        return True
    _warn(str(place))
    return False


def is_ours(about: os.stat_result) -> bool:
    """Whether a file or folder belongs to this user or the administrator, and others cannot write it."""
    if not hasattr(os, "geteuid"):
        return True  # the folder of a user is closed to others by the system
    return about.st_uid in (os.geteuid(), 0) and not about.st_mode & OTHERS


@remember
def _warn(place: str) -> None:
    warnings.warn(
        f"{place}: others can write this folder, so no compiled code is read from it or kept there; remove it, or give "
        "it to you alone (chmod 700)",
        RuntimeWarning,
        stacklevel=2,
    )


def _read(path: Path, size: int = -1) -> bytes:
    """The bytes of an ordinary file that is ours; an OSError for anything else."""
    descriptor = os.open(path, os.O_RDONLY | NO_FOLLOW)
    with open(descriptor, "rb") as file:
        about = os.fstat(descriptor)
        if not stat.S_ISREG(about.st_mode) or not is_ours(about):
            raise PermissionError(str(path))
        return file.read(size)


def _may_replace(path: Path) -> bool:
    """Whether nothing has the name of an entry yet, or an ordinary file that can only be a damaged entry."""
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except FileNotFoundError:
        return True


def _head(name: str, payload: bytes) -> bytes:
    length = len(payload).to_bytes(8, "little")
    return MAGIC + name.encode() + length + blake2b(name.encode() + payload, digest_size=20).digest()


def prune(place: Path, limit: int = LARGEST_CACHE) -> None:
    """Remove the entries that were not used for longest, until the rest is within the limit.

    What is no entry by its name and its first bytes stays, whoever put it there.
    """
    entries = []
    with os.scandir(place) as files:
        for entry in files:
            with suppress(OSError):  # another process may be faster
                if NAME.match(entry.name) and entry.is_file(follow_symlinks=False):
                    status = entry.stat(follow_symlinks=False)
                    entries.append((status.st_mtime, status.st_size, entry.path))
    total = sum(size for _, size, _ in entries)
    for _, size, path in sorted(entries):
        if total <= limit:
            break
        with suppress(OSError):
            mark = MAGIC + os.path.basename(path).encode()
            if _read(Path(path), len(mark)) == mark:
                os.unlink(path)
                total -= size
