"""The files of an FMU in a folder of their own, which is removed when nobody uses the FMU any more.

An FMU is a zip archive with a description, a library for each system, and resources.  The archive may come from a
stranger, so that it is looked through before anything is written: no path may lead out of the folder, nothing may be a
link, and number and size of the files are bounded.  The library is code all the same: whoever opens an FMU runs it.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
import tempfile
import weakref
import zipfile
from pathlib import Path, PurePosixPath
from xml.parsers import expat

from kinode.errors import ModelError

MOST_FILES = 20_000
MOST_BYTES = 2_000_000_000  # of all files together, unpacked
MOST_DESCRIPTION = 200_000_000  # bytes of modelDescription.xml
DESCRIPTION = "modelDescription.xml"
TAKEN = ("binaries/", "resources/")  # what else is unpacked; sources and documentation stay in the archive


class FmuFolder:
    """The unpacked files of one FMU."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.place = tempfile.mkdtemp(prefix="kinode-fmu-")
        self.remove = weakref.finalize(self, shutil.rmtree, self.place, ignore_errors=True)
        try:
            _unpack(path, self.place)
        except BaseException:
            self.remove()
            raise


def find_digest(path: str) -> str:
    """What tells the content of a file from that of others."""
    if os.path.exists(path) and not os.path.isfile(path):
        raise _fault(path, "cannot be read: it is no ordinary file")
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise _fault(path, f"cannot be read: {error.strerror or error}") from None


def _fault(path: str, message: str) -> ModelError:
    return ModelError(f"{os.path.basename(path)} {message}", field="file")


def _unpack(path: str, place: str) -> None:
    try:
        with zipfile.ZipFile(path) as archive:
            entries = _check_entries(path, archive)
            for entry in entries:
                archive.extract(entry, place)
    except ModelError:
        raise
    except OSError as error:
        raise _fault(path, f"cannot be unpacked: {error.strerror or error}") from None
    except Exception as error:  # zipfile and what it unpacks with raise many types of errors for damaged files
        raise _fault(path, f"is no FMU, or damaged: {error}") from None
    _refuse_entities(path, Path(place, DESCRIPTION).read_bytes())


def _refuse_entities(path: str, text: bytes) -> None:
    """Refuse a description that declares a document type, in whatever encoding."""

    def refuse(*_: object) -> None:
        raise _fault(path, f"is refused: its {DESCRIPTION} declares entities of its own")

    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = refuse
    try:
        parser.Parse(text, True)
    except expat.ExpatError as error:
        words = f"its {DESCRIPTION} is not XML: {expat.ErrorString(error.code)}, line {error.lineno}"
        raise _fault(path, f"cannot be read: {words}") from None
    except (LookupError, ValueError) as error:  # an encoding that is unknown, or none of single bytes
        raise _fault(path, f"cannot be read: its {DESCRIPTION} is not XML: {error}") from None


def _check_entries(path: str, archive: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    """The entries to unpack, after all of them were looked at."""
    entries = archive.infolist()
    if len(entries) > MOST_FILES:
        raise _fault(path, f"is refused: it holds {len(entries)} files, and {MOST_FILES} are the most")
    for entry in entries:
        name = entry.orig_filename
        outside = "\\" in name or ":" in name or "\0" in name or ".." in PurePosixPath(name).parts
        if outside or name.startswith("/"):
            raise _fault(path, f"is refused: it holds {name!r}, a path that may lead out of its folder")
        if stat.S_ISLNK(entry.external_attr >> 16):
            raise _fault(path, f"is refused: {name!r} in it is a link")
    chosen = [entry for entry in entries if entry.filename == DESCRIPTION or entry.filename.startswith(TAKEN)]
    size = sum(entry.file_size for entry in chosen)
    if size > MOST_BYTES:
        raise _fault(path, f"is refused: unpacked it has {size:.1e} bytes, and {MOST_BYTES:.0e} are the most")
    described = [entry for entry in chosen if entry.filename == DESCRIPTION]
    if not described:
        raise _fault(path, f"is no FMU: there is no {DESCRIPTION} in it")
    if described[0].file_size > MOST_DESCRIPTION:
        raise _fault(path, f"is refused: its {DESCRIPTION} is larger than {MOST_DESCRIPTION:.0e} bytes")
    return chosen
