"""What a run of the tests cost, and what it did not try: printed before pytest's closing line.

The cost is told by the clock and in processor seconds of the workers and of the processes that they waited for
(compilers, browsers, servers), with the share of the processors that lay idle: a clock time alone says nothing of a
machine that is busy with something else.  The cache of machine code is told since a first run fills it.  Skipped tests
are counted by reason, each with the command that gets them tried where there is one.  A whole run also writes down
what each test took, for the choice of the fast ones.
"""

import os
import re
import time
from collections import Counter
from pathlib import Path

import pytest
from fast_set import write_record
from worker_order import count_cores

# What a reason speaks of, what the tests need, and how to get it.
CURES = (
    (r"Chromium", "in a browser", "apt-get install chromium"),
    (r"pdflatex|TeX", "of documents in LaTeX", "apt-get install texlive-latex-base"),
    (r"C compiler|compiler of the system|system's compiler", "of C and FMUs", "apt-get install gcc"),
    (r"wine", "of FMUs for Windows", "apt-get install wine64"),
    (r"octave", "of MAT files", "apt-get install octave"),
    (r"\bgit\b", "of files under version control", "apt-get install git"),
    (r"KINODE_FRAMEWORKS", "of functions for JAX and PyTorch", "make test-nightly ONLY=frameworks"),
    (r"KINODE_IMPORTERS", "of FMUs in other importers", "make test-nightly ONLY=importers"),
    (r"could not import|is not installed", "", "make test EXTRAS=test-all"),
    (r"player is not built", "of pages", "python tools/build_player.py"),
)


def processor_seconds():
    """Of this process and of its children that have ended."""
    spent = os.times()
    return spent.user + spent.system + spent.children_user + spent.children_system


def group_skips(reasons):
    """Lines for what was not tried, the largest group first: how many tests, why, and the cure."""
    groups = Counter()
    for reason in reasons:
        reason = reason.removeprefix("Skipped: ").strip()
        for pattern, about, cure in CURES:
            if match := re.search(pattern, reason):
                groups[about, reason.partition(":")[0], cure.format(*match.groups())] += 1
                break
        else:
            groups["", reason, ""] += 1
    lines = []
    for (about, reason, cure), count in sorted(groups.items(), key=lambda item: (-item[1], item[0])):
        tests = f"{count} test{'s' * (count > 1)}"
        lines.append("  " + " ".join(filter(None, [tests, about])) + f" ({reason})" + (f": {cure}" if cure else ""))
    return lines


def is_whole(config):
    """Whether all tests were asked for."""
    option = config.option
    chosen = option.markexpr or option.keyword or option.collectonly or option.maxfail or option.ignore
    return not chosen and config.args == config.getini("testpaths")


class RunSummary:
    """A plugin of pytest: in the controller, in a worker, or in the one process of a run without workers."""

    def __init__(self, cache):
        self.cache = Path(cache)
        self.start = time.time()
        self.cached = self.cache_entries()
        self.workers = 0.0
        self.nightly = 0
        self.seconds = {}  # of each test, with those of the processes that it waited for

    def cache_entries(self):
        """Name and time of each entry of the cache of machine code."""
        if not self.cache.is_dir():
            return {}
        with os.scandir(self.cache) as entries:
            return {entry.name: entry.stat().st_mtime for entry in entries if entry.is_file()}

    def pytest_deselected(self, items):
        self.nightly += sum(item.get_closest_marker("nightly") is not None for item in items)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item):
        before = processor_seconds()
        result = yield
        self.seconds[item.nodeid] = processor_seconds() - before
        return result

    @pytest.hookimpl(trylast=True)  # workers have ended by then
    def pytest_sessionfinish(self, session):
        config = session.config
        if hasattr(config, "workeroutput"):
            spent = {"processor_seconds": processor_seconds(), "nightly": self.nightly, "seconds": self.seconds}
            config.workeroutput.update(spent)
        elif is_whole(config) and self.seconds:
            write_record(self.seconds)

    @pytest.hookimpl(optionalhook=True)  # of pytest-xdist: a worker has ended
    def pytest_testnodedown(self, node):
        output = getattr(node, "workeroutput", {})
        self.workers += output.get("processor_seconds", 0.0)
        self.seconds.update(output.get("seconds", {}))
        self.nightly = max(self.nightly, output.get("nightly", 0))  # each worker collects all tests

    def pytest_terminal_summary(self, terminalreporter):
        skipped = group_skips(report.longrepr[2] for report in terminalreporter.stats.get("skipped", ()))
        if self.nightly:
            skipped.append(f"  {self.nightly} tests at night only: make test-nightly")
        if skipped:
            terminalreporter.ensure_newline()
            terminalreporter.write_line("Not tried here:")
            for line in skipped:
                terminalreporter.write_line(line)
        terminalreporter.write_line(self.describe_cost())

    def describe_cost(self):
        clock = time.time() - self.start
        here = os.times()
        # Workers are children too, but count by what they said: those that have not been waited for are missing there.
        busy = here.user + here.system + (self.workers or here.children_user + here.children_system)
        cores = count_cores()
        idle = max(0.0, 1.0 - busy / (clock * cores))
        now = self.cache_entries()
        made = sum(self.cached.get(name) != when for name, when in now.items())
        if not self.cached:
            cache = f"cache of machine code empty at the start, {made:,} entries made"
        else:
            cache = f"cache of machine code of {len(self.cached):,} entries at the start, {made:,} made"
        return f"{clock:.0f} s by the clock, {busy:.0f} processor s; {idle:.0%} of {cores} cores idle; {cache}"
