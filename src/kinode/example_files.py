"""The examples that come with kinode: in a folder of the installed package, or beside ``src`` in a checkout."""

from __future__ import annotations

import re
from pathlib import Path

from kinode.atomic_files import write_bytes
from kinode.errors import Error
from kinode.model.base.fields import unknown

PACKAGE = Path(__file__).resolve().parent
ENDINGS = (".yaml", ".xml", ".py")


def find_examples() -> list[Path]:
    """The files of all examples, models first."""
    for folder in (PACKAGE / "examples", PACKAGE.parent.parent / "examples"):
        files = [path for ending in ENDINGS for path in sorted(folder.glob(f"*{ending}"))]
        if files:
            return files
    raise Error("the examples were not installed with this copy of kinode")


def find_example(name: str) -> Path:
    """The file of an example by its name, with or without the ending."""
    files = find_examples()
    for path in files:
        if name in (path.name, path.stem):
            return path
    raise Error(unknown("no example is called", name, [path.stem for path in files]))


def list_examples() -> list[tuple[str, str]]:
    """Name and first sentence of each example."""
    return [(path.name, first_words(path)) for path in find_examples()]


def first_words(path: Path) -> str:
    """The first sentence of an example."""
    first = path.read_text(encoding="utf-8").lstrip().splitlines()[0]
    return first.removeprefix("<!--").strip('#" ').strip()


def copy_examples(folder: Path, name: str | None = None) -> list[Path]:
    """Write all examples, or one and what it is made of, into a folder; nothing is overwritten."""
    files = find_examples() if name is None else _with_parts(find_example(name))
    folder.mkdir(parents=True, exist_ok=True)
    targets = [folder / path.name for path in files]
    there = [str(target) for target in targets if target.exists()]
    if there:
        raise Error(f"{', '.join(there)}: there already; remove it or choose another folder")
    for path, target in zip(files, targets):
        write_bytes(target, path.read_bytes())
    return targets


def _with_parts(path: Path) -> list[Path]:
    """An example and the examples that it names, such as the file of a subsystem."""
    known = {other.name: other for other in find_examples()}
    files = [path]
    for name in re.findall(r"[\w-]+\.(?:yaml|py|urdf|xml|csv)", path.read_text(encoding="utf-8")):
        if name in known and known[name] not in files:
            files.append(known[name])
    return files
