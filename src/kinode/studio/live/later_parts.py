"""The parts of a run's document that take seconds: a large circuit, and the equations written out.

They are made by a worker, since a page could hardly be answered meanwhile; it is ended when they are not wanted.
"""

from __future__ import annotations

import base64
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from kinode.dynamics.compile import compile as compile_system
from kinode.errors import Error
from kinode.model.circuit_topology import find_circuit_topology
from kinode.model.system import System
from kinode.player.diagram_data import MOST_COMPONENTS, DiagramRecord, diagram_data
from kinode.player.equation_data import EquationRecord, equation_data
from kinode.results.trajectory import Trajectory
from kinode.studio.server.worker import DerivationProcess, StoppedError

QUICK = 24  # components that are drawn at once


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
    worker = DerivationProcess()
    try:
        answer = worker.ask("run_parts", "", Path(), {"run": pack(task)}, goes_on)
        drawn, written = unpack(answer["parts"])
        return LaterParts(drawn and DiagramRecord(*drawn), written and EquationRecord(*written))
    except StoppedError:
        return LaterParts(None, None)
    except (Error, OSError, pickle.PickleError, AttributeError, TypeError):
        return LaterParts(
            diagram_data(run.system) if diagram else None,
            equation_data(run) if equations else None,
        )
    finally:
        worker.close()


def pack(data: object) -> str:
    """Data of this program's own making as text."""
    return base64.b64encode(pickle.dumps(data)).decode()


def unpack(text: str) -> Any:
    """The data again."""
    return pickle.loads(base64.b64decode(text))


def make_parts(packed: str) -> dict[str, str]:
    """What the worker does."""
    task = unpack(packed)
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
    parts = (
        None if drawn is None else tuple(drawn),
        None if written is None else (written.data, written.infos, written.values),
    )
    return {"parts": pack(parts)}
