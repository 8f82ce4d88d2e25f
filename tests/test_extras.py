"""kinode without its extras: everything else works, and what needs one says which.

The packages of all extras are refused in a new process, as if they were not installed.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from small_fmus import make_fmu

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
TOOLS = {"test", "test-all", "bench", "docs", "lint"}  # for those who work on kinode
MODULES = {"mujoco-core": "mujoco", "pycollada": "collada"}  # where names differ
EXTRAS = {name: deps for name, deps in PROJECT["optional-dependencies"].items() if name not in TOOLS}
PACKAGES = sorted({re.split(r"[<>=~\[]", dep)[0] for deps in EXTRAS.values() for dep in deps} - {"kinode"})

WITHOUT = """
import sys
class Without:
    def __init__(self, finder):
        self.finder = finder
    def find_spec(self, name, path=None, target=None):
        return None if name.partition(".")[0] in {refused!r} else self.finder.find_spec(name, path, target)
    def __getattr__(self, name):
        return getattr(self.finder, name)
sys.meta_path[:] = [Without(finder) for finder in sys.meta_path]
import kinode as kn
"""
USE = """
system = kn.load("examples/pendulum.yaml")
run = kn.simulate(system, 0.05)
run["system.energy"]
kn.simulate(system, 0.05, method="stiff")
axis, kept = {list(system.parameters)[0]: [0.5, 0.6]}, ["system.energy|final"]
kn.sweep(system, axis, 0.02, keep=kept)
run.to_csv(sys.argv[1] + "/run.csv")
kn.export(system, "yaml", sys.argv[1] + "/model.yaml")
def said(do, *words):
    try:
        do()
    except kn.Error as error:
        text = str(error)
        assert all(word in text for word in words), text
    else:
        raise AssertionError(f"nothing was said of {words}")
said(lambda: kn.System("s").fmu("f", sys.argv[2], period=0.1), "f.file", "fmpy", "kinode[fmu]")
said(lambda: kn.sweep(system, axis, 0.02, keep=kept, store=sys.argv[1] + "/s"), "kinode[cluster]")
said(lambda: run.to_excel(sys.argv[1] + "/run.xlsx"), "openpyxl", "kinode[excel]")
said(lambda: kn.compile(system).to_casadi(), "casadi", "kinode[casadi]")
assert not {name.partition(".")[0] for name in sys.modules} & set(REFUSED)
"""


def test_everything_else_works_without_the_extras(tmp_path):
    refused = sorted(MODULES.get(name, name) for name in PACKAGES)
    script = WITHOUT.format(refused=refused) + f"REFUSED = {refused!r}\n" + USE
    command = [sys.executable, "-c", script, str(tmp_path), make_fmu("lag", 2)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env={**os.environ})
    assert done.returncode == 0, done.stderr[-2000:]


def test_all_names_every_extra():
    (everything,) = EXTRAS["all"]
    named = set(re.fullmatch(r"kinode\[(.*)\]", everything)[1].split(","))
    needed = {name for name, packages in EXTRAS.items() if packages}
    assert named == needed - {"all", "jax", "torch"}  # these two are several hundred MB


@pytest.mark.parametrize("page", ["docs/first-steps/install.md"])
def test_the_page_names_every_extra(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    assert [name for name in EXTRAS if f"`{name}`" not in text] == []
