"""Which tests are slow, so that ``make test-fast`` leaves them out: by what they use, and by what they took.

A test that has a browser, a C compiler or a process of its own is marked so, by its fixtures and by the names in its
code and in the functions of the tests that it calls.  A whole run writes down how many processor seconds each test
took, in ``.cache``, which no commit has; from then on a test above ``MOST`` is slow too.  Without such a record the
files listed in ``tests/slow_files.txt`` are.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

TESTS = Path(__file__).resolve().parents[1]
RECORD = TESTS.parent / ".cache" / "test-seconds.json"
FILES = TESTS / "slow_files.txt"
MOST = 0.1  # processor seconds, set-up included


def find_uses(test: Any, fixtures: Mapping[str, Any]) -> set[str]:
    """The marks of a test with these fixtures: functions by name."""
    uses = {name for name in ("browser", "compiler") if name in fixtures}
    if any(_starts_processes(function) for function in (test, *fixtures.values())):
        uses.add("subprocess")
    return uses


def _starts_processes(start: Any) -> bool:
    """Whether a function, or one of the tests' own that it leads to, names ``subprocess``."""
    left, seen = [start], set()
    while left:
        function = left.pop()
        if isinstance(function, FunctionType) and function not in seen:
            seen.add(function)
            named = _values_named(function)
            if any(value is subprocess for value in named):
                return True
            left += [*named, getattr(function, "__wrapped__", None)]
    return False


@cache
def _values_named(function: FunctionType) -> tuple[Any, ...]:
    """What the names of a function of the tests stand for, methods of its classes among them; empty for others."""
    if not Path(function.__code__.co_filename).is_relative_to(TESTS):
        return ()
    values = [function.__globals__[name] for name in _names(function.__code__) if name in function.__globals__]
    ours = [value for value in values if isinstance(value, type) and value.__module__ == function.__module__]
    return (*values, *(method for each in ours for method in vars(each).values()))


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _names(inner)


class SlowTests:
    """Which tests took long, by the record of the last whole run or by the list of files."""

    def __init__(self, record: Path = RECORD, files: Path = FILES):
        self.seconds = json.loads(record.read_text(encoding="utf-8")) if record.is_file() else None
        self.files = set(files.read_text(encoding="utf-8").split())

    def took_long(self, name: str) -> bool:
        if self.seconds is None:
            return name.partition("::")[0] in self.files
        return self.seconds.get(name, 0.0) > MOST


def find_slow_files(seconds: Mapping[str, float], most: int = 40) -> list[str]:
    """The files, at most so many, in which the tests above ``MOST`` take longest."""
    files: dict[str, float] = {}
    for name, spent in seconds.items():
        if spent > MOST:
            file = name.partition("::")[0]
            files[file] = files.get(file, 0.0) + spent
    return sorted(sorted(files, key=lambda file: -files[file])[:most])


def write_record(seconds: Mapping[str, float], record: Path = RECORD) -> None:
    """Whole or not at all: another run may read it now."""
    record.parent.mkdir(exist_ok=True)
    new = record.with_suffix(".new")
    new.write_text(json.dumps({name: round(spent, 3) for name, spent in sorted(seconds.items())}, indent=0))
    new.replace(record)


if __name__ == "__main__":  # the list of files anew, from the record
    slow = find_slow_files(json.loads(RECORD.read_text(encoding="utf-8")))
    FILES.write_text("".join(f"{name}\n" for name in slow), encoding="utf-8")
