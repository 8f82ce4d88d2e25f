"""The command line, called within this process or as one of its own."""

import contextlib
import os
import subprocess
import sys
from pathlib import Path

from typer.testing import CliRunner

from kinode.cli.commands import app

ROOT = Path(__file__).resolve().parents[2]
PENDULUM = """kinode: 1
name: pendulum
parameters: {L: 1 m}
inputs: {push: 0}
bodies:
  rod: {shape: {rod: {length: L, mass: 1}}}
joints:
  pivot: {kind: revolute, between: [world, rod], axis: y, q: 20 deg, effort: push}
run: {until: 2 s, method: dop853}
"""


def kinode(*args, **environment):
    """Run the command; stdout and stderr are no terminals."""
    with contextlib.chdir(ROOT / "tests"):
        done = CliRunner().invoke(app, [str(arg) for arg in args], env=environment, prog_name="kinode")
    if not isinstance(done.exception, SystemExit | None):
        raise done.exception
    return subprocess.CompletedProcess(args, done.exit_code, done.stdout, done.stderr)


def process(*args, **environment):
    """Run the command as a user does."""
    env = {**os.environ, **environment}
    command = [sys.executable, "-m", "kinode.cli", *map(str, args)]
    return subprocess.run(command, capture_output=True, text=True, env=env, cwd=ROOT / "tests", check=False)
