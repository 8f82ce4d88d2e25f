"""A model as it was committed to git, with the files that it named then.

git is asked for objects alone (``rev-parse``, ``cat-file``): no shell, no hooks, no filters, no pager, no network.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from kinode.atomic_files import write_bytes
from kinode.errors import ArgumentError
from kinode.formats.yaml_files import find_file_names
from kinode.formats.yaml_text import LARGEST_TEXT

SECONDS = 20.0
MOST_FILES = 200
QUIET = {"GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "GIT_NO_LAZY_FETCH": "1", "LC_ALL": "C"}


@dataclass(frozen=True)
class CommittedModel:
    """The text of a model in a commit, and the place where it and the files that it names were put."""

    text: str
    place: Path
    label: str


@contextmanager
def committed_model(path: Path, revision: str = "HEAD") -> Iterator[CommittedModel]:
    """A model as a commit has it, in a folder of its own that goes when the block ends.

    Parameters
    ----------
    path : path
        The model in the working tree.
    revision : str, default "HEAD"
        A commit, a branch or a tag.

    Raises
    ------
    ArgumentError
        There is no git, no repository, no such commit, or the commit does not have the file.
    """
    git = _Repository(path)
    commit = git.find_commit(revision)
    text = git.read(commit, path.name)
    if text is None:
        raise ArgumentError(f"{path.name} is not in the commit {revision} ({commit[:7]}): commit it first")
    with tempfile.TemporaryDirectory(prefix="kinode-") as folder:
        place = Path(folder) / path.name
        write_bytes(place, text)
        _place_named(git, commit, place)
        yield CommittedModel(_decode(text, path), place, f"{path.name} at {revision} ({commit[:7]})")


def _place_named(git: _Repository, commit: str, first: Path) -> None:
    """Put the files that the model names, and theirs, beside it."""
    folder, waiting, known = first.parent, [first], {first}
    while waiting and len(known) < MOST_FILES:
        here = waiting.pop()
        for name in find_file_names(here.read_text(encoding="utf-8", errors="replace")):
            inside = os.path.normpath(os.path.join(os.path.relpath(here.parent, folder), name))
            target = folder / inside
            if os.path.isabs(inside) or inside.startswith("..") or target in known:
                continue
            data = git.read(commit, PurePosixPath(inside).as_posix())
            if data is not None:
                target.parent.mkdir(parents=True, exist_ok=True)
                write_bytes(target, data)
                known.add(target)
                waiting.append(target)


def _decode(data: bytes, path: Path) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ArgumentError(f"{path.name} in the commit is not text in UTF-8") from None


class _Repository:
    """The repository that a file lies in, asked for objects."""

    def __init__(self, path: Path) -> None:
        self.folder = path.absolute().parent
        if not self.folder.is_dir():
            raise ArgumentError(f"there is no folder {self.folder}")
        found = self._ask("rev-parse", "--show-toplevel")
        if found.returncode:
            said = found.stderr.decode(errors="replace").strip().splitlines()
            why = "" if not said or "not a git repository" in said[0] else f": {said[0].removeprefix('fatal: ')}"
            raise ArgumentError(f"{path.name} is in no git repository{why}; name a second model to compare it with")

    def find_commit(self, revision: str) -> str:
        """The full name of a commit."""
        if not revision or revision.startswith("-") or not revision.isprintable():
            raise ArgumentError(f"{revision!r:.60} is no commit")
        found = self._ask("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
        if found.returncode:
            none = "the repository has no commit yet" if revision == "HEAD" else f"there is no commit {revision!r:.60}"
            raise ArgumentError(none)
        return found.stdout.decode().strip()

    def read(self, commit: str, name: str) -> bytes | None:
        """A file of a commit, by its path from the model's folder; None where there is none."""
        found = self._ask("cat-file", "-s", f"{commit}:./{name}")
        if found.returncode or not found.stdout.strip().isdigit():
            return None
        if int(found.stdout) > LARGEST_TEXT:
            raise ArgumentError(f"{name} in the commit is larger than {LARGEST_TEXT // 1_000_000} MB")
        found = self._ask("cat-file", "blob", f"{commit}:./{name}")
        return None if found.returncode else found.stdout

    def _ask(self, *words: str) -> subprocess.CompletedProcess[bytes]:
        command = ["git", "--no-pager", "-c", "core.fsmonitor=false", "-C", str(self.folder), *words]
        try:
            return subprocess.run(
                command, capture_output=True, timeout=SECONDS, check=False, stdin=subprocess.DEVNULL,
                env={**os.environ, **QUIET},
            )  # fmt: skip
        except FileNotFoundError:
            raise ArgumentError("git is not installed: name a second model to compare it with") from None
        except (OSError, subprocess.TimeoutExpired) as error:
            raise ArgumentError(f"git does not answer: {error}") from None
