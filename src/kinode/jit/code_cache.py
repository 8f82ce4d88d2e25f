"""A cache of machine code on disk, between sessions.

The name of an entry is a digest of everything that its code depends on.  An entry contains a magic number, its length
and a digest of its content; an incomplete, changed or foreign file counts as missing and is written again.  An entry is
written to a temporary file and then renamed, so several processes may write at once.  If the directory cannot be
written, nothing is cached, without a message: the cache must never make a program fail.
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
LARGEST_CACHE = 500_000_000  # bytes of all entries; the least recently used are removed first
# Packages whose source determines the machine code.
SOURCES = ("algebra", "expressions", "jit", "model", "structure", "multibody", "formulations", "kernels", "dynamics")


def directory() -> Path | None:
    """The folder of the cache; None if the cache is turned off or there is no home directory."""
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
    """Digest of the source code that determines the machine code; empty if the source is not available.

    It uses the size and the time of change of each file, as Python does for its byte code: reading the files takes
    longer than loading a kernel.
    """
    root = Path(__file__).resolve().parents[1]
    hasher = hashlib.blake2b(__version__.encode(), digest_size=16)
    has_source = False
    try:
        for package in SOURCES:
            for folder, folders, files in os.walk(root / package):
                folders.sort()
                for file in sorted(name for name in files if name.endswith(".py")):
                    path = os.path.join(folder, file)
                    status = os.stat(path)
                    hasher.update(f"{path[len(str(root)) :]} {status.st_size} {status.st_mtime_ns}\n".encode())
                    has_source = True
    except OSError:
        return ""
    return hasher.hexdigest() if has_source else ""


def digest(*parts: str) -> str | None:
    """Name of the entry for these parts and the present source; None if the source is not available to compare."""
    source = source_digest()
    if not source:
        return None
    hasher = hashlib.blake2b(digest_size=20)
    for part in (source, *parts):
        data = part.encode()
        hasher.update(len(data).to_bytes(8, "little") + data)
    return hasher.hexdigest()


def load(name: str) -> bytes | None:
    """The payload of an entry; None if there is no such entry or it is damaged."""
    folder = directory()
    if folder is None:
        return None
    try:
        path = folder / name
        data = path.read_bytes()
    except OSError:
        return None
    head = len(MAGIC) + 8 + 20
    payload = data[head:]
    if data[: len(MAGIC)] != MAGIC or data[len(MAGIC) : head] != _seal(name, payload):
        return None
    with suppress(OSError):
        os.utime(path)  # marks the entry as recently used
    return payload


def save(name: str, payload: bytes) -> None:
    """Write an entry; does nothing if the disk does not allow it."""
    import tempfile

    folder = directory()
    if folder is None:
        return
    temporary = None
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=folder, prefix=".new-")
        with os.fdopen(handle, "wb") as file:
            file.write(MAGIC + _seal(name, payload) + payload)
        os.replace(temporary, folder / name)
        if name.endswith("0"):  # one entry in sixteen: listing many thousand entries takes longer than making a kernel
            prune(folder)
    except OSError:
        if temporary is not None:
            with suppress(OSError):
                os.unlink(temporary)


def _seal(name: str, payload: bytes) -> bytes:
    """Length and digest of an entry."""
    return len(payload).to_bytes(8, "little") + hashlib.blake2b(name.encode() + payload, digest_size=20).digest()


def prune(folder: Path, limit: int = LARGEST_CACHE) -> None:
    """Remove the least recently used entries until the others have at most ``limit`` bytes."""
    entries = []
    for entry in os.scandir(folder):
        with suppress(OSError):  # another process may have removed it
            status = entry.stat()
            entries.append((status.st_mtime, status.st_size, entry.path))
    total = sum(size for _, size, _ in entries)
    for _, size, path in sorted(entries):
        if total <= limit:
            break
        with suppress(OSError):
            os.unlink(path)
            total -= size
