"""Which tests are slow, by measured durations: writes ``tests/slow_tests.txt``, which ``conftest.py`` marks by.

    python -m pytest -n 2 --dist worksteal --durations=0 > durations.txt
    python tests/support/find_slow.py durations.txt

The slowest tests are listed until what is left takes ``FAST`` of the time of the whole suite: a share does not depend
on how busy the machine was.  Lines of the same form with processor seconds serve better where others work on the
machine; a test that costs more in a run of the fast ones, where nobody made its kernels before, has those.  A function
most of whose cases are slow is listed without them; tests in a browser are listed as a folder, whatever they take.
Without a file of durations it takes those tests off the list that are no longer there, and finds those again that have
another file.
"""

import re
import sys
from collections import defaultdict
from collections.abc import Collection
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
LIST = ROOT / "tests" / "slow_tests.txt"
FAST = 0.05  # of the seconds of the whole suite; run alone, these tests also make kernels that slow ones share
BROWSER = "tests/studio/pages/"
LINE = re.compile(r"([\d.]+)s (?:call|setup|teardown) +(\S.*)$")


def read_durations(text: str) -> dict[str, float]:
    """Seconds of each test, set-up included, from what pytest prints."""
    seconds: dict[str, float] = defaultdict(float)
    for line in text.splitlines():
        if found := LINE.match(line):
            seconds[found[2].strip()] += float(found[1])
    return dict(seconds)


def find_slow(seconds: dict[str, float], share: float = FAST) -> list[str]:
    """The slowest tests, so that the others take a share of the time; whole functions where most cases are slow."""
    left, slow = sum(seconds.values()), set()
    room = share * left
    for test in sorted(seconds, key=lambda test: -seconds[test]):
        if left <= room:
            break
        slow.add(test)
        left -= seconds[test]
    cases: dict[str, list[str]] = defaultdict(list)
    for test in seconds:
        cases[test.partition("[")[0]].append(test)
    most = {name for name, tests in cases.items() if 2 * sum(test in slow for test in tests) > len(tests)}
    return sorted(most | {test for test in slow if test.partition("[")[0] not in most})


def is_listed(test: str, listed: Collection[str]) -> bool:
    """Whether a test is in the list: by its own name, that of its function, or that of its folder."""
    return test in listed or test.partition("[")[0] in listed or (test.startswith(BROWSER) and BROWSER in listed)


def exists(name: str) -> bool:
    """Whether there is a test, or a folder, of that name."""
    file, _, function = name.partition("[")[0].partition("::")
    if not function:
        return (ROOT / file).is_dir()
    return (ROOT / file).exists() and f"def {function}(" in (ROOT / file).read_text(encoding="utf-8")


def find_again(name: str) -> str:
    """The name of a listed test, which may have another file by now; empty where there is no such test."""
    if exists(name):
        return name
    function = name.partition("::")[2]
    files = [str(path.relative_to(ROOT)) for path in sorted((ROOT / "tests").rglob("test_*.py"))]
    found = [other for other in files if exists(f"{other}::{function}")]
    return f"{found[0]}::{function}" if len(found) == 1 else ""


if __name__ == "__main__":
    if len(sys.argv) > 1:
        names = find_slow(read_durations(Path(sys.argv[1]).read_text(encoding="utf-8")))
    else:
        names = LIST.read_text(encoding="utf-8").splitlines()
    names = sorted({BROWSER, *(again for name in names if (again := find_again(name)))})
    names = [name for name in names if name == BROWSER or not name.startswith(BROWSER)]
    LIST.write_text("".join(f"{name}\n" for name in names), encoding="utf-8")
    print(f"{len(names)} entries in {LIST.name}")
