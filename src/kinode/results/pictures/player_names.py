"""The quantities that a player file holds; all others need the model at hand."""

from __future__ import annotations

from kinode.model.circuit_links.circuit_topology import ENERGY, find_circuit_topology
from kinode.model.system import System
from kinode.structure.topology import find_topology

SYSTEM_ENERGIES = ("energy", "kinetic_energy", "potential_energy")


def player_names(system: System) -> list[str]:
    """States, coordinates, speeds, efforts, powers, signals, inputs, and the values at energy links.

    Loads of joints are not among them: ``RunFrames.loads`` has them.

    Parameters
    ----------
    system : System
        The system.

    Returns
    -------
    list of str

    Examples
    --------
    >>> from kinode.results.pictures.player_names import player_names
    >>> player_names(kn.load("examples/pendulum.yaml"))[:4]
    ['pivot.q', 'pivot.u', 'pivot.effort', 'pivot.power']
    """
    names = []
    for name, joint in system.joints.items():
        if joint.n_u:
            names += [f"{name}.{quantity}" for quantity in ("q", "u", "effort", "power")]
    names += [coordinate.name for coordinate in find_topology(system).coordinates if coordinate.role == "z"]
    for name, element in system.elements.items():
        offered = (quantity for quantity, (_, parts) in element.offered().items() if not parts)
        names += [f"{name}.{quantity}" for quantity in (*offered, *(("power",) if element.pushes else ()))]
    names += [f"{name}.reaction" for name in system.constraints]
    for name, node in system.nodes.items():
        names += [f"{name}.{word}" for word in node.domain.across if node.joint is None and not node.reference]
    names += [f"system.{energy}" for energy in SYSTEM_ENERGIES]
    for link in find_circuit_topology(system).links:
        if link.kind == ENERGY:
            names += [f"{link.name}.{word}" for word in (link.words.potential, link.words.flow)]
    return list(dict.fromkeys([*names, *system.signals, *system.inputs]))
