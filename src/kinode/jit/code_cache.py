"""Machine code kept on disk between sessions, by content.

An entry carries a mark, its length and a digest; whatever is cut short, altered or foreign counts as
absent and is written anew.  Writing goes through a temporary file and one rename, so that two processes
may write at once.  A directory that cannot be written is no cache, silently: nothing here may fail.
"""

from __future__ import annotations

import hashlib
import os
import sys
from contextlib import suppress
from functools import cache as remember
from pathlib import Path

from kinode.version import __version__

MAGIC = b"kinode kernel 1\n"
LIMIT = 500_000_000  # bytes in all; the entries that were not used for longest go first
# Packages that machine code comes from, with all that is in their folders.
SOURCES = ("algebra", "expressions", "jit", "model", "structure", "multibody", "formulations", "kernels", "dynamics")


def directory() -> Path | None:
    """Where entries are kept; None where the cache is turned off."""
    if os.environ.get("KINODE_CACHE") == "0":
        return None
    chosen = os.environ.get("KINODE_CACHE_DIR")
    if chosen:
        return Path(chosen)
    with suppress(RuntimeError):  # no home directory
        if sys.platform == "win32":
            base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
        elif sys.platform == "darwin":
            base = Path.home() / "Library" / "Caches"
        else:
            base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        return base / "kinode"
    return None


@remember
def source_digest() -> str:
    """Digest of the source that kernels come from; empty where it cannot be found.

    Files are told apart as Python does it for its own byte code, by size and time of change: reading them takes longer
    than loading a kernel.
    """
    root = Path(__file__).resolve().parents[1]
    total = hashlib.blake2b(__version__.encode(), digest_size=16)
    found = False
    try:
        for name in SOURCES:
            for folder, folders, files in os.walk(root / name):
                folders.sort()
                for file in sorted(x for x in files if x.endswith(".py")):
                    path = os.path.join(folder, file)
                    about = os.stat(path)
                    total.update(f"{path[len(str(root)) :]} {about.st_size} {about.st_mtime_ns}\n".encode())
                    found = True
    except OSError:
        return ""
    return total.hexdigest() if found else ""


def digest(*parts: str) -> str | None:
    """Name of the entry for these parts and this source; None where stale code could not be told apart."""
    source = source_digest()
    if not source:
        return None
    total = hashlib.blake2b(digest_size=20)
    for part in (source, *parts):
        data = part.encode()
        total.update(len(data).to_bytes(8, "little") + data)
    return total.hexdigest()


def load(name: str) -> bytes | None:
    """What was saved under a name, if it is there and whole."""
    place = directory()
    if place is None:
        return None
    try:
        path = place / name
        data = path.read_bytes()
    except OSError:
        return None
    head = len(MAGIC) + 8 + 20
    payload = data[head:]
    if data[: len(MAGIC)] != MAGIC or data[len(MAGIC) : head] != _seal(name, payload):
        return None
    with suppress(OSError):
        os.utime(path)  # used now: the last to be pruned
    return payload


def save(name: str, payload: bytes) -> None:
    """Keep a payload under a name, as far as the disk allows."""
    import tempfile

    place = directory()
    if place is None:
        return
    temporary = None
    try:
        place.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=place, prefix=".new-")
        with os.fdopen(handle, "wb") as file:
            file.write(MAGIC + _seal(name, payload) + payload)
        os.replace(temporary, place / name)
        if name.endswith("0"):  # one digest in sixteen: a look at many thousand entries takes longer than a kernel
            prune(place)
    except OSError:
        if temporary is not None:
            with suppress(OSError):
                os.unlink(temporary)


def _seal(name: str, payload: bytes) -> bytes:
    return len(payload).to_bytes(8, "little") + hashlib.blake2b(name.encode() + payload, digest_size=20).digest()


def prune(place: Path, limit: int = LIMIT) -> None:
    """Remove the entries that were not used for longest, until the rest is within the limit."""
    entries = []
    for entry in os.scandir(place):
        with suppress(OSError):  # another process may be faster
            status = entry.stat()
            entries.append((status.st_mtime, status.st_size, entry.path))
    total = sum(size for _, size, _ in entries)
    for _, size, path in sorted(entries):
        if total <= limit:
            break
        with suppress(OSError):
            os.unlink(path)
            total -= size
