"""The parts of a run's document that take seconds: a large circuit, and the equations written out.

They are made in a process of their own, since a page could hardly be answered meanwhile; it is ended when they are not
wanted any more.
"""

from __future__ import annotations

import pickle
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from kinode.dynamics.compile import compile as compile_system
from kinode.errors import Error
from kinode.model.circuit_topology import find_circuit_topology
from kinode.model.system import System
from kinode.player.diagram_data import MOST_COMPONENTS, DiagramRecord, diagram_data
from kinode.player.equation_data import EquationRecord, equation_data
from kinode.results.trajectory import Trajectory

QUICK = 24  # components that are drawn at once
LONGEST = 120.0  # s
LOOK = 0.05  # s between looks at whether the parts are still wanted


class LaterParts(NamedTuple):
    """The circuit and the equations; None where there is none, or it was not asked for."""

    diagram: DiagramRecord | None
    equations: EquationRecord | None


def is_quick(system: System) -> bool:
    """Whether a circuit is drawn in a moment, or not at all."""
    count = len(find_circuit_topology(system.as_declared()).components)
    return count <= QUICK or count > MOST_COMPONENTS


def find_later_parts(
    run: Trajectory, *, diagram: bool, equations: bool, goes_on: Callable[[], bool] = lambda: True
) -> LaterParts:
    """The parts that are asked for, made by another process; by this one where that does not work.

    ``goes_on`` says whether they are still wanted: where they are not, the process is ended and there are none.
    """
    own = dict(zip(run.dynamics.topology.parameters, run.p.tolist()))
    task = {
        "system": run.system, "t": run.t, "y": run.y, "p": own, "inputs": run.inputs, "diagram": diagram,
        "equations": equations,
    }  # fmt: skip
    try:
        answer = _ask_process(pickle.dumps(task), goes_on)
        if answer is None:
            return LaterParts(None, None)
        drawn, written = pickle.loads(answer)  # of this program's own making
        return LaterParts(drawn and DiagramRecord(*drawn), written and EquationRecord(*written))
    except (OSError, subprocess.SubprocessError, pickle.PickleError, AttributeError, TypeError, EOFError):
        return LaterParts(
            diagram_data(run.system) if diagram else None,
            equation_data(run) if equations else None,
        )


def _ask_process(task: bytes, goes_on: Callable[[], bool]) -> bytes | None:
    """What another process answers; None if it was ended, since the answer is not wanted any more."""
    command = [sys.executable, "-m", "kinode.studio.live.later_parts"]
    pipe, end = subprocess.PIPE, time.monotonic() + LONGEST
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL) as process:
        given: bytes | None = task
        while True:
            try:
                answer, _ = process.communicate(given, timeout=LOOK)
            except subprocess.TimeoutExpired:
                given = None  # it goes on with what it was given first
                late = time.monotonic() > end
                if not late and goes_on():
                    continue
                process.kill()
                process.communicate()
                if late:
                    raise
                return None
            except BaseException:
                process.kill()
                raise
            if process.returncode:
                raise subprocess.CalledProcessError(process.returncode, command)
            return answer


def make_parts(task: Mapping[str, Any]) -> tuple[Any, Any]:
    """What the other process does."""
    drawn = written = None
    if task["equations"]:
        try:
            dynamics = compile_system(task["system"])
            p = [task["p"][name] for name in dynamics.topology.parameters]
            written = equation_data(Trajectory(dynamics, task["t"], task["y"], p=p, inputs=task["inputs"]))
        except Error:  # a model that is wrong is told where it is shown
            written = None
    if task["diagram"]:
        drawn = diagram_data(task["system"])
    return (
        None if drawn is None else tuple(drawn),
        None if written is None else (written.data, written.infos, written.values),
    )


if __name__ == "__main__":
    made = make_parts(pickle.loads(sys.stdin.buffer.read()))
    sys.stdout.buffer.write(pickle.dumps(made))
