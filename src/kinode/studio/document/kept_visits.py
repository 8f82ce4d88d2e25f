"""The browsers that a studio let in: remembered, so that a server that comes after one that was killed knows them.

A page that is open when its server ends comes back to the same address with the cookie that it has.  So the ports of a
model's studio, and digests of the cookies that were good there, stand in a file of the user's state folder: one for
each model or folder, which nobody else may read.  A cookie cannot be made from its digest.  What is older than a week,
or in a file that others could have written, is not believed.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import stat
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kinode.atomic_files import replacing
from kinode.errors import Error
from kinode.studio.document.journal import state_folder

MOST_PORTS = 4
LONGEST_SECONDS = 7 * 24 * 3600.0
LARGEST = 100_000


class KeptVisits:
    """Ports and browsers of the studio of one model, or of one folder.

    Parameters
    ----------
    place : path
        The model, or the folder where no model was named.
    """

    def __init__(self, place: Path) -> None:
        number = hashlib.sha256(os.fspath(place.resolve()).encode(errors="surrogateescape")).hexdigest()[:16]
        self.path = state_folder() / f"visits-{number}.json"

    def ports(self) -> list[int]:
        """Ports of earlier servers, the last one first."""
        kept = self._read()
        return sorted(kept, key=lambda port: -kept[port][0])

    def admitted(self, port: int) -> Sequence[str]:
        """Digests of the cookies that are good at a port."""
        return self._read().get(port, (0.0, []))[1]

    def admit(self, port: int, digests: Sequence[str]) -> None:
        """Keep them; where that cannot be, pages of a killed server have to be opened anew."""
        kept = {**self._read(), port: (time.time(), list(digests))}
        newest = sorted(kept, key=lambda one: -kept[one][0])[:MOST_PORTS]
        data = {str(one): {"when": kept[one][0], "digests": kept[one][1]} for one in newest}
        with contextlib.suppress(OSError, Error):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with replacing(self.path, mode=0o600) as stream:
                stream.write(json.dumps(data).encode())

    def _read(self) -> dict[int, tuple[float, list[str]]]:
        try:
            handle = os.open(self.path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
            with open(handle, "rb") as stream:
                if not _is_own(os.fstat(handle)):
                    return {}
                data = json.loads(stream.read(LARGEST))
            entries = [(port, given["when"], given["digests"]) for port, given in data.items()]
            kept = {int(port): (float(when), _texts(digests)) for port, when, digests in entries}
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return {}
        now = time.time()
        return {
            port: entry for port, entry in kept.items() if 0 < port < 65536 and 0 <= now - entry[0] <= LONGEST_SECONDS
        }


def _is_own(status: os.stat_result) -> bool:
    """Whether a file is this user's, and no other's to read or write; where that cannot be asked, yes."""
    if os.name != "posix":
        return True
    return status.st_uid == os.getuid() and not stat.S_IMODE(status.st_mode) & 0o077


def _texts(raw: Any) -> list[str]:
    if not isinstance(raw, list) or not all(isinstance(text, str) for text in raw):
        raise TypeError("digests are texts")
    return raw
