"""What the server hands out: pages from memory with their headers, and files below one folder."""

from __future__ import annotations

import base64
import hashlib
import os
import re
import stat
from dataclasses import dataclass
from pathlib import Path

from kinode.errors import ArgumentError

TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".woff2": "font/woff2",
}
DATA = "application/octet-stream"
LARGEST_FILE = 1 << 28
_SCRIPT = re.compile(r"<script\b([^>]*)>(.*?)</script\s*>", re.DOTALL | re.IGNORECASE)
_NOT_INLINE = re.compile(r"\bsrc\s*=|\btype\s*=(?!\s*[\"']?(?:module\b|text/javascript\b))", re.IGNORECASE)
ALWAYS = (
    ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "no-referrer"),
    ("Cache-Control", "no-store"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("X-Frame-Options", "DENY"),
)
"""Headers of every answer."""
NOTHING = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'; sandbox"
"""The policy of all that is not a page."""


@dataclass(frozen=True)
class Resource:
    """Something that is served: its bytes, their type, and what a browser may do with them."""

    body: bytes
    content_type: str = DATA
    policy: str = NOTHING


def page(text: str, authority: str) -> Resource:
    """A page that may run its own scripts, inline or served beside it, and speak to its own server alone.

    Inline scripts are allowed by their hashes; blocks of data, which are never run, need none.  There is neither
    ``unsafe-inline`` nor ``unsafe-eval`` for scripts.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")  # as browsers read it before they hash
    hashes = [
        f"'sha256-{base64.b64encode(hashlib.sha256(body.encode()).digest()).decode()}'"
        for attributes, body in _SCRIPT.findall(text)
        if not _NOT_INLINE.search(attributes)
    ]
    policy = "; ".join(
        [
            "default-src 'none'",
            " ".join(["script-src 'self'", *hashes]),
            "style-src 'self' 'unsafe-inline'",
            "img-src 'self' data: blob:",
            "font-src 'self' data:",
            "media-src 'self' blob:",
            "worker-src 'self' blob:",
            f"connect-src 'self' ws://{authority} data: blob:",
            "base-uri 'none'",
            "form-action 'none'",
            "frame-ancestors 'none'",
        ]
    )
    return Resource(text.encode(), TYPES[".html"], policy)


def resource(path: str, body: str | bytes, authority: str) -> Resource:
    """What is served under a path; its type follows from the ending, and that of ``/`` is a page."""
    suffix = Path(path).suffix or (".html" if path == "/" else "")
    if suffix == ".html":
        if isinstance(body, bytes):
            try:
                body = body.decode()
            except UnicodeDecodeError:
                raise ArgumentError(f"{path}: a page is a text in UTF-8") from None
        return page(body, authority)
    return Resource(body.encode() if isinstance(body, str) else body, TYPES.get(suffix, DATA))


def read_below(folder: Path, path: str) -> Resource | None:
    """A file of a folder; None if there is none, if it is hidden, outside (links are followed), or no plain file.

    Pictures keep their type; everything else, pages and scripts above all, goes out as data that no browser runs.
    """
    try:
        top = folder.resolve(strict=True)
        file = (top / path).resolve(strict=True)
    except (OSError, ValueError, RuntimeError):
        return None
    if not file.is_relative_to(top) or any(
        x.startswith(".") for x in (*Path(path).parts, *file.relative_to(top).parts)
    ):
        return None
    try:
        handle = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode) or status.st_size > LARGEST_FILE:
            return None
        with open(handle, "rb", closefd=False) as stream:
            body = stream.read(LARGEST_FILE)
    finally:
        os.close(handle)
    kind = TYPES.get(file.suffix.lower(), DATA)
    return Resource(body, kind if kind in ("image/png", "image/jpeg") else DATA)
