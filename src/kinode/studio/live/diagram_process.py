"""Draws a large circuit in a process of its own: routing takes seconds, in which a page could not be answered."""

from __future__ import annotations

import pickle
import subprocess
import sys

from kinode.errors import Error
from kinode.model.circuit_links.circuit_topology import find_circuit_topology
from kinode.model.system import System
from kinode.studio.diagram_data import MOST_COMPONENTS, DiagramRecord, diagram_data

QUICK = 24  # components that are drawn at once
LONGEST = 120.0  # s


def is_quick(system: System) -> bool:
    """Whether a circuit is drawn in a moment, or not at all."""
    count = len(find_circuit_topology(system.as_declared()).components)
    return count <= QUICK or count > MOST_COMPONENTS


def draw_apart(system: System) -> DiagramRecord | None:
    """The diagram, drawn by another process; None if that does not work, as with components of plug-ins."""
    command = [sys.executable, "-m", "kinode.studio.live.diagram_process"]
    try:
        done = subprocess.run(command, input=pickle.dumps(system), capture_output=True, timeout=LONGEST, check=True)
        drawn = pickle.loads(done.stdout)  # written by this program alone
    except (OSError, subprocess.SubprocessError, pickle.PickleError, AttributeError, TypeError, EOFError):
        return None
    return None if drawn is None else DiagramRecord(*drawn)


def _draw() -> None:
    try:
        drawn = diagram_data(pickle.loads(sys.stdin.buffer.read()))
    except Error:
        drawn = None
    sys.stdout.buffer.write(pickle.dumps(None if drawn is None else (drawn.data, drawn.names)))


if __name__ == "__main__":
    _draw()
