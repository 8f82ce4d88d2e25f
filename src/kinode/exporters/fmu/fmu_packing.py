"""The archive of an FMU: files in order of their names, without dates, so that equal contents are equal bytes."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping

EARLIEST = (1980, 1, 1, 0, 0, 0)
"""The date of every file: the first that archives know."""


def pack(files: Mapping[str, bytes]) -> bytes:
    """The archive of files by their paths."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for path in sorted(files, key=lambda path: (path != "modelDescription.xml", path)):
            entry = zipfile.ZipInfo(path, EARLIEST)
            entry.compress_type, entry.create_system = zipfile.ZIP_DEFLATED, 3
            entry.external_attr = (0o755 if path.startswith("binaries/") else 0o644) << 16
            archive.writestr(entry, files[path])
    return stream.getvalue()
