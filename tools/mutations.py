"""What the tests notice: single faults put into the source, one at a time.

    python tools/mutations.py record          which tests run which line: the fast set once, under coverage
    python tools/mutations.py draw SEED       100 faults in lines that the fast set runs, as a table
    python tools/mutations.py try TABLE       each fault by the fast tests of its line and its room; who notices it
    python tools/mutations.py room TABLE      those that no fast test notices, by all tests of their rooms
    python tools/mutations.py whole TABLE     those that these do not notice either, by the whole suite
    python tools/mutations.py night SEED      all of this, for the faults by hand and those of a seed

A fault is one change of one line in the body of a function: a sign, a comparison, an index, a constant, a term that is
dropped.  To try it, a process in which the tests are collected is forked; the fork exchanges the code of the function,
and its text for the translator of loops, and runs the tests with an empty cache of machine code until one fails: those
of the same room first, quick files first.  A fault in what a module computes while it is imported goes into a copy of
the source, as all those of ``room`` and ``whole`` do; of the fast tests those of its room are tried then.  A fault
after which tests run more than ten times as long as they did counts as noticed.

Faults chosen by hand stand in ``tests/faults.tsv``: a file, a text that stands in it once, and what becomes of it.
"""

from __future__ import annotations

import argparse
import ast
import gc
import importlib
import json
import linecache
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from types import CodeType, FunctionType
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "kinode"
FOLDER = ROOT / ".cache" / "mutations"
LINES = FOLDER / "lines.json"
SECONDS = FOLDER / "seconds.json"
ROOMS = (
    "algebra", "structure", "multibody", "formulations", "model", "jit", "ode", "kernels", "dynamics", "simulation",
    "results", "formats", "editing", "studio",
)  # fmt: skip
CHOSEN = ROOT / "tests" / "faults.tsv"
FAST = ["-m", "not slow", "-p", "no:xdist", "-q", str(ROOT / "tests")]
MOST_MEMORY = 8_000_000_000  # bytes of addresses in a trial: a fault may fill memory without end
COMPARISONS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}


class Fault(NamedTuple):
    """A change of the text of a file between two places of a line."""

    file: str
    line: int
    kind: str
    before: str
    after: str
    column: int

    def apply(self, text: str) -> str:
        """The text of the file with the fault."""
        lines = text.splitlines(keepends=True)
        old = lines[self.line - 1]
        assert old[self.column :].startswith(self.before), f"{self.file}:{self.line} has no {self.before!r} there"
        lines[self.line - 1] = old[: self.column] + self.after + old[self.column + len(self.before) :]
        return "".join(lines)

    @staticmethod
    def by_hand(file: str, before: str, after: str) -> Fault:
        """The fault that a text of one line becomes another; it stands once in the file, wherever that is."""
        text = (SOURCE / file).read_text(encoding="utf-8")
        assert text.count(before) == 1, f"{file}: {before!r} stands there {text.count(before)} times, not once"
        above = text[: text.index(before)].split("\n")
        return Fault(file, len(above), "by hand", before, after, len(above[-1]))

    @property
    def room(self) -> str:
        return self.file.partition("/")[0]


# -- faults that there may be ------------------------------------------------------------------------------------------
def find_faults(file: str, text: str) -> Iterator[Fault]:
    """All faults of a file in the bodies of its functions, but for what is said and checked of types."""
    lines = text.splitlines()
    for function in ast.walk(ast.parse(text)):
        if isinstance(function, ast.FunctionDef):
            for statement in function.body:
                for node in _walk(statement):
                    for kind, start, end, after in _changes(node):
                        if start[0] == end[0]:
                            before = lines[start[0] - 1].encode()[start[1] : end[1]].decode()
                            column = len(lines[start[0] - 1].encode()[: start[1]].decode())
                            yield Fault(file, start[0], kind, before, after(before), column)


def _walk(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes that compute: not texts, messages of errors, annotations, functions within."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Raise | ast.Assert | ast.JoinedStr):
        return
    yield node
    for name, field in ast.iter_fields(node):
        if name != "annotation":
            for child in field if isinstance(field, list) else [field]:
                if isinstance(child, ast.AST):
                    yield from _walk(child)


def _changes(node: ast.AST):
    """Kind, start, end and the new text of each change at a node."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
        between = (node.left.end_lineno, node.left.end_col_offset), (node.right.lineno, node.right.col_offset)
        yield "sign", *between, lambda text: text.replace("+", "?").replace("-", "+").replace("?", "-")
        if isinstance(node.left, ast.BinOp | ast.Name | ast.Call | ast.Attribute | ast.Subscript):
            whole = between[0], (node.right.end_lineno, node.right.end_col_offset)
            yield "term", *whole, lambda text: ")" * max(0, text.count(")") - text.count("("))
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        yield "sign", _start(node), _start(node.operand), lambda text: "+"
    elif isinstance(node, ast.Compare) and len(node.ops) == 1:
        between = (node.left.end_lineno, node.left.end_col_offset), _start(node.comparators[0])
        yield "comparison", *between, _exchange
    elif isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) and type(node.slice.value) is int:
        yield "index", _start(node.slice), _end(node.slice), lambda text: "1" if text == "0" else str(int(text) - 1)
    elif isinstance(node, ast.Constant) and type(node.value) in (int, float):
        yield "constant", _start(node), _end(node), lambda text: "1" if float(node.value) == 0.0 else f"(2*{text})"


def _exchange(text: str) -> str:
    word = text.strip().strip("()").strip()
    return text.replace(word, COMPARISONS[word]) if word in COMPARISONS else text


def _start(node):
    return node.lineno, node.col_offset


def _end(node):
    return node.end_lineno, node.end_col_offset


def draw(seed: int, count: int) -> list[Fault]:
    """Faults in lines that fast tests run, each line as likely as any other."""
    run = {file: lines for file, lines in json.loads(LINES.read_text())["lines"].items() if file.split("/")[0] in ROOMS}
    found: dict[tuple[str, int], list[Fault]] = {}
    for file in sorted(run):
        text = (SOURCE / file).read_text(encoding="utf-8")
        for fault in find_faults(file, text):
            if fault.before != fault.after and str(fault.line) in run[file] and _compiles(fault, text):
                found.setdefault((file, fault.line), []).append(fault)
    chance = random.Random(seed)
    return [chance.choice(found[place]) for place in sorted(chance.sample(sorted(found), count))]


def _compiles(fault: Fault, text: str) -> bool:
    try:
        compile(fault.apply(text), fault.file, "exec")
    except SyntaxError:
        return False
    return True


# -- which test runs which line ----------------------------------------------------------------------------------------
class LineRecord:
    """A plugin: the lines of each test, and how long it takes."""

    def __init__(self) -> None:
        from coverage import Coverage

        FOLDER.mkdir(parents=True, exist_ok=True)
        self.coverage = Coverage(data_file=str(FOLDER / "coverage"), source=[str(SOURCE)], config_file=False)
        self.seconds: dict[str, float] = {}

    def pytest_runtestloop(self):
        self.coverage.erase()
        self.coverage.start()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item):
        self.coverage.switch_context(item.nodeid)
        began = time.process_time()
        result = yield
        self.seconds[item.nodeid] = time.process_time() - began
        return result

    def pytest_sessionfinish(self):
        self.coverage.stop()
        SECONDS.write_text(json.dumps(self.seconds))
        self.coverage.save()
        write_lines()


def write_lines() -> None:
    """The tests of each line from what coverage wrote; lines of a block have the same tests, which stand there once."""
    from coverage import CoverageData

    data = CoverageData(str(FOLDER / "coverage"))
    data.read()
    seconds = json.loads(SECONDS.read_text())
    number = {name: k for k, name in enumerate(seconds)}
    groups: dict[tuple[int, ...], int] = {}
    lines: dict[str, dict[int, int]] = {}
    for path in sorted(data.measured_files()):
        file = Path(path).relative_to(SOURCE).as_posix()
        for line, tests in data.contexts_by_lineno(path).items():
            if run := tuple(sorted(number[test] for test in tests if test)):
                lines.setdefault(file, {})[line] = groups.setdefault(run, len(groups))
    LINES.write_text(json.dumps({"lines": lines, "groups": [find_steps(run) for run in groups], "seconds": seconds}))


def read_lines() -> tuple[dict[tuple[str, int], list[str]], dict[str, float]]:
    """The tests of each line that tests run, and the seconds of each test."""
    known = json.loads(LINES.read_text())
    names = list(known["seconds"])
    groups = [[names[k] for k in accumulate(steps)] for steps in known["groups"]]
    lines = {(file, int(line)): groups[k] for file, each in known["lines"].items() for line, k in each.items()}
    return lines, known["seconds"]


def find_steps(numbers: Sequence[int]) -> list[int]:
    """Rising numbers, each as the step from the one before: the tests of a line stand together."""
    return [number - before for before, number in zip((0, *numbers), numbers)]


# -- trying faults -----------------------------------------------------------------------------------------------------
class Trial:
    """A plugin: instead of running the tests, try faults on those that run their lines."""

    def __init__(self, faults: list[Fault], workers: int, most: float) -> None:
        self.lines, self.seconds = read_lines()
        self.faults, self.workers, self.most = faults, workers, most
        self.caught: dict[Fault, str] = {}

    def pytest_runtestloop(self, session):
        items = {item.nodeid: item for item in session.items}
        running: dict[int, tuple[Fault, int, float]] = {}
        left = list(self.faults)
        while left or running:
            while left and len(running) < self.workers:
                fault = left.pop(0)
                tests = self.order(fault, items)
                reader, writer = os.pipe()
                child = os.fork()
                if not child:
                    os.close(reader)
                    _try_here(fault, [items[name] for name in tests], writer)
                os.close(writer)
                limit = 60.0 + 10.0 * sum(self.seconds[name] for name in tests) if tests else 1200.0
                running[child] = fault, reader, time.monotonic() + limit
            self._collect(running)
        return True

    def order(self, fault: Fault, items: Mapping[str, pytest.Item]) -> list[str]:
        """The tests of a line and then those of its room, which may run it as machine code, unseen by coverage.

        They come file by file, for what they set up together; as many as there is time for.
        """
        files: dict[str, list[str]] = {}
        room = f"tests/{fault.room}/"
        seen = self.lines.get((fault.file, fault.line), [])
        for name in dict.fromkeys([*seen, *(name for name in self.seconds if name.startswith(room))] if seen else []):
            if name in items:
                files.setdefault(name.partition("::")[0], []).append(name)
        cost = {file: sum(self.seconds[name] for name in tests) for file, tests in files.items()}
        runs = {name.partition("::")[0] for name in seen}
        near_first = sorted(files, key=lambda file: (file not in runs, not file.startswith(room), cost[file]))
        order = [name for file in near_first for name in files[file]]
        spent = accumulate(self.seconds[name] for name in order)
        return [name for name, so_far in zip(order, spent, strict=True) if so_far <= self.most]

    def _collect(self, running: dict[int, tuple[Fault, int, float]]) -> None:
        """Take up those that have ended; end those that hang."""
        time.sleep(0.05)
        for child, (fault, reader, limit) in list(running.items()):
            ended, status = os.waitpid(child, os.WNOHANG)
            if not ended and time.monotonic() > limit:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
                ended, status = child, -1
            if ended:
                said = os.read(reader, 10_000).decode()
                os.close(reader)
                self.caught[fault] = said or ("" if status == 0 else "the process ends or hangs")
                del running[child]
                tests = len(self.lines.get((fault.file, fault.line), []))
                say(fault, f"{tests} tests", self.caught[fault], len(self.caught))


def _try_here(fault: Fault, items: list[pytest.Item], writer: int) -> None:
    """In a fork: put in the fault, run tests until one fails, say which, and end."""
    folder = tempfile.mkdtemp(prefix="fault")
    os.environ["KINODE_CACHE_DIR"] = folder
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)
    noticed, status = "", 0
    try:
        if not put_in(fault):
            noticed = try_copy(fault, str(ROOT / "tests" / fault.room), "-m", "not slow", "-p", "no:xdist")
            items = []
        for item, following in zip(items, [*items[1:], None], strict=True):
            reports = pytest_protocol(item, following)
            if any(report.failed for report in reports):
                noticed = item.nodeid
                break
    except BaseException:
        status = 1
    os.write(writer, noticed.encode())
    shutil.rmtree(folder, ignore_errors=True)
    os._exit(status)


def pytest_protocol(item, following):
    from _pytest.runner import runtestprotocol

    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    return runtestprotocol(item, log=False, nextitem=following)


def say(fault: Fault, tried: str, noticed: str, *number: int) -> None:
    print(*number, fault.file, fault.line, fault.kind, f"({tried}) ->", noticed or "NOBODY", flush=True)


def put_in(fault: Fault) -> bool:
    """Exchange the code of the functions of a file by that of the text with the fault; False if none has it."""
    path = str(SOURCE / fault.file)
    right = Path(path).read_text(encoding="utf-8")
    text = fault.apply(right)
    linecache.cache[path] = (len(text), None, text.splitlines(keepends=True), path)
    name = Path("kinode", fault.file).with_suffix("").as_posix().removesuffix("/__init__").replace("/", ".")
    importlib.import_module(name)  # those that are imported late would be read from the file, without the fault
    pairs = zip(_codes(compile(right, path, "exec")), _codes(compile(text, path, "exec")), strict=True)
    codes = {_place(old): new for old, new in pairs if old != new}
    gc.unfreeze()  # what was there when the tests had been collected is among its objects again
    for function in gc.get_objects():
        if isinstance(function, FunctionType) and function.__code__.co_filename == path:
            function.__code__ = codes.get(_place(function.__code__), function.__code__)
    return bool(codes)


def _place(code: CodeType) -> tuple[str, int, bytes]:
    """What tells the functions of a file apart, also lambdas of one line; code that has run equals no fresh one."""
    return code.co_qualname, code.co_firstlineno, code.co_linetable


def _codes(code: CodeType) -> Iterator[CodeType]:
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield inner
            yield from _codes(inner)


def try_copy(fault: Fault, *arguments: str) -> str:
    """The first test of a run of pytest that notices, in a copy of the source."""
    with tempfile.TemporaryDirectory() as folder:
        copy = shutil.copytree(ROOT / "src", Path(folder) / "src", ignore=shutil.ignore_patterns("*.pyc.*"))
        file = copy / "kinode" / fault.file
        file.write_text(fault.apply(file.read_text(encoding="utf-8")), encoding="utf-8")
        environment = os.environ | {"PYTHONPATH": str(copy), "KINODE_CACHE_DIR": f"{folder}/cache"}
        command = [sys.executable, "-m", "pytest", "-x", "-q", *arguments]
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
        failed = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
        return failed[0] if failed else "" if done.returncode in (0, 5) else "the run ends"


def read_table(file: Path) -> list[Fault]:
    faults = []
    for line in file.read_text(encoding="utf-8").splitlines():
        if line and line[0] != "#":
            name, *rest = line.split("\t")
            if len(rest) == 2:
                faults.append(Fault.by_hand(name, *rest))
            else:
                faults.append(Fault(name, int(rest[0]), *rest[1:4], int(rest[4])))
    return faults


def write_table(faults: list[Fault], file: Path) -> None:
    file.write_text("".join("\t".join(map(str, fault)) + "\n" for fault in faults), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("do", choices=["record", "draw", "try", "room", "whole", "night"])
    parser.add_argument("what", nargs="?", help="a seed, or a table of faults")
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="most seconds of fast tests for a fault")
    parser.add_argument("--tests", nargs="*", help="the tests of ``room``: files, folders; tests/ROOM if not given")
    asked = parser.parse_args()
    table, steps = asked.what and FOLDER / f"faults-{asked.what}.tsv", [asked.do]
    if asked.do == "night":
        steps = ["record", "draw", "try", "room", "whole"]
    elif asked.do in ("try", "room", "whole"):
        table = Path(asked.what)
    for step in steps:
        if step == "record":
            # A process of its own, like each of the trials: nothing is compiled when they begin.
            subprocess.run([sys.executable, __file__, "record"]) if asked.do == "night" else record()
        elif step == "draw":
            write_table(draw(int(asked.what), asked.count), table)
            print(table)
        elif step == "try":
            faults = [*(read_table(CHOSEN) if asked.do == "night" else []), *read_table(table)]
            table = try_fast(faults, asked.workers, asked.seconds)
        else:
            table = try_copies(read_table(table), step, asked.workers, asked.tests)


def try_copies(faults: list[Fault], step: str, workers: int, tests: Sequence[str] | None) -> Path:
    """The table of those that no test of their rooms notices, or none of the whole suite."""
    left, parallel = [], ["-n", str(workers), "--dist", "worksteal"] if workers > 1 else ["-p", "no:xdist"]
    for fault in faults:
        where = (tests or [str(ROOT / "tests" / fault.room)]) if step == "room" else [str(ROOT / "tests")]
        noticed = try_copy(fault, *parallel, *where)
        say(fault, step, noticed)
        left += [] if noticed else [fault]
    return write_left(left, step)


def write_left(faults: list[Fault], step: str) -> Path:
    table = FOLDER / f"left-{step}.tsv"
    write_table(faults, table)
    print(f"nobody notices {len(faults)}: they are in {table}")
    return table


def record() -> None:
    """With an empty cache of machine code, as each trial has."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["KINODE_CACHE_DIR"] = folder
        pytest.main(FAST, plugins=[LineRecord()])


def try_fast(faults: list[Fault], workers: int, most: float) -> Path:
    """The table of those that no fast test notices."""
    trial = Trial(faults, workers, most)
    pytest.main(FAST, plugins=[trial])
    unseen = [fault for fault, test in trial.caught.items() if not test]
    print(f"fast tests notice {len(faults) - len(unseen)} of {len(faults)} faults")
    return write_left(unseen, "try")


if __name__ == "__main__":
    main()
