"""Tests beside programs that need not be installed: skipped with a word, or failing where everything is asked for.

``make test`` installs little; ``make test EXTRAS=test-all``, and CI, all programs that kinode is compared with, and a
browser's driver.  What of these is missing is known from ``pyproject.toml``.  A test, or a file of tests, that fails
since one is missing is skipped with its name; where ``KINODE_TESTS=all`` nothing is turned into a skip.
"""

from __future__ import annotations

import os
import re
import tomllib
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import NoReturn

import pytest

PROJECT = Path(__file__).resolve().parents[2] / "pyproject.toml"
MODULES = {
    "pin": "pinocchio", "scikit-sundae": "sksundae", "example-robot-data": "example_robot_data", "ipython": "IPython",
    "mujoco-core": "mujoco", "pycollada": "collada",
}  # fmt: skip


def all_are_asked() -> bool:
    """Whether what cannot be tried here fails."""
    return os.environ.get("KINODE_TESTS") == "all"


def cannot_try(reason: str) -> NoReturn:
    """Skip the test at hand, or fail it where everything is asked for."""
    (pytest.fail if all_are_asked() else pytest.skip)(reason)


def find_missing() -> dict[str, str]:
    """The packages of the whole set that are not installed, by the names of their modules."""
    extras = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    packages = [re.split(r"[<>=~\[]", need)[0] for need in extras["test-all"]]
    modules = {MODULES.get(package, package): package for package in packages if package != "kinode"}
    return {module: package for module, package in modules.items() if not _is_installed(package)}


def _is_installed(package: str) -> bool:
    try:
        return bool(distribution(package))
    except PackageNotFoundError:
        return False


class MissingPeers:
    """A plugin of pytest that skips what cannot run without a package of the whole set."""

    def __init__(self, missing: dict[str, str] | None = None) -> None:
        self.missing = ({} if all_are_asked() else find_missing()) if missing is None else missing

    def why(self, error: BaseException | None) -> str:
        """The reason for a skip; empty where the error has another cause."""
        while error is not None:
            if isinstance(error, ImportError):
                name = (error.name or "").partition(".")[0]
                package = self.missing.get(name, name)
                if package in self.missing.values():
                    return f"{package} is not installed"
            for module, package in self.missing.items():
                if "pip install" in str(error) and re.search(rf"\b({module}|{package})\b", str(error)):
                    return f"{package} is not installed"
            error = error.__cause__ or error.__context__
        return ""

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(self, collector):
        report = yield
        call = getattr(report, "call", None)
        if report.outcome == "failed" and call is not None and (why := self.why(call.excinfo and call.excinfo.value)):
            report.outcome, report.longrepr = "skipped", (str(collector.path), None, f"Skipped: {why}")
        return report

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item, call):
        report = yield
        if report.outcome == "failed" and call.excinfo is not None and (why := self.why(call.excinfo.value)):
            report.outcome, report.longrepr = "skipped", (str(item.path), None, f"Skipped: {why}")
        elif report.outcome == "skipped" and all_are_asked() and "could not import" in str(report.longrepr):
            report.outcome = "failed"
        return report
