"""Which code there is: from the name of a kernel to the program that computes it.

Each kernel is a function of a snapshot of traced numbers.  ``x`` holds what a kernel takes besides the
state: accelerations, added efforts and wrenches, or a direction.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array, Dual
from kinode.algebra.trace import Tape, replay
from kinode.compile.program import Block, Program
from kinode.formulations.snapshot import Snapshot
from kinode.model.names import find_quantity
from kinode.topology import Topology

Outputs = Sequence[Any] | Array


@dataclass(frozen=True)
class Kernel:
    """A kernel by name: ``options`` tell kernels of one name apart (frames, names, parts)."""

    name: str
    options: tuple[str, ...] = ()

    def __str__(self) -> str:
        return " ".join((self.name, *self.options))


def sizes(topology: Topology, kernel: Kernel) -> dict[str, int]:
    """Sizes of the arguments that a kernel reads."""
    extra = {
        "effort": topology.n_u,
        "reactions_of_motion": topology.n_u,
        "loaded_acceleration": topology.n_u + 6 * len(topology.system.bodies),
        "direction": topology.n_q + topology.n_u + topology.n_z,
    }
    return {
        "t": 1,
        "q": topology.n_q,
        "u": topology.n_u,
        "z": topology.n_z,
        "p": len(topology.parameters),
        "inputs": len(topology.inputs),
        "x": extra.get(kernel.name, 0),
    }


def traced_snapshot(topology: Topology, tape: Tape, count: Mapping[str, int], **given: Any) -> Snapshot:
    """A snapshot whose numbers are the kernel's arguments."""
    q, u, z, p, inputs = (tape.inputs(name, count[name]) for name in ("q", "u", "z", "p", "inputs"))
    given = {"q": q, "u": u, "z": z, "p": p, "inputs": inputs, **given}
    return Snapshot(topology, tape.input("t", 0), **given)


def trace(topology: Topology, kernel: Kernel) -> Outputs:
    """The outputs of a kernel as nodes of a tape."""
    tape = Tape()
    count = sizes(topology, kernel)
    write = WRITERS[kernel.name]
    return write(topology, tape, count, kernel.options)


def make_program(topology: Topology, kernel: Kernel) -> Program:
    """The straight-line program of a kernel."""
    outputs = [x for x in np.asarray(trace(topology, kernel), dtype=object).ravel()]
    count = sizes(topology, kernel)
    count["out"] = len(outputs)
    stores = [("out", i, x) for i, x in enumerate(outputs)]
    return Program("kernel", count, {}, [Block(1, {}, [stores])])


def _acceleration(topology: Topology, tape: Tape, count: Mapping[str, int], options: tuple[str, ...]) -> Outputs:
    return traced_snapshot(topology, tape, count).u_dot


def _loaded_acceleration(topology: Topology, tape: Tape, count: Mapping[str, int], options: tuple[str, ...]) -> Outputs:
    x = tape.inputs("x", count["x"])
    n = topology.n_u
    wrenches = {body: (x[n + 6 * i : n + 6 * i + 3], x[n + 6 * i + 3 : n + 6 * i + 6]) for i, body in enumerate(topology.system.bodies)}
    return traced_snapshot(topology, tape, count, effort=x[:n], wrenches=wrenches).u_dot


def _rate(topology: Topology, tape: Tape, count: Mapping[str, int], options: tuple[str, ...]) -> Outputs:
    snapshot = traced_snapshot(topology, tape, count)
    return np.concatenate([snapshot.q_dot, snapshot.u_dot, snapshot.z_dot])


def _effort(topology: Topology, tape: Tape, count: Mapping[str, int], options: tuple[str, ...]) -> Outputs:
    return traced_snapshot(topology, tape, count, u_dot=tape.inputs("x", count["x"])).inverse_effort


def _bias(topology: Topology, tape: Tape, count: Mapping[str, int], options: tuple[str, ...]) -> Outputs:
    return traced_snapshot(topology, tape, count, u_dot=np.zeros(topology.n_u)).inverse_effort


def _mass_matrix(topology: Topology, tape: Tape, count: Mapping[str, int], options: tuple[str, ...]) -> Outputs:
    return traced_snapshot(topology, tape, count).mass_matrix


def _energy(topology: Topology, tape: Tape, count: Mapping[str, int], options: tuple[str, ...]) -> Outputs:
    snapshot = traced_snapshot(topology, tape, count)
    return [snapshot.kinetic_energy, snapshot.potential_energy]


def _evaluate(topology: Topology, tape: Tape, count: Mapping[str, int], options: tuple[str, ...]) -> Outputs:
    snapshot = traced_snapshot(topology, tape, count)
    names = [find_quantity(topology.system, name) for name in options]
    values = [np.asarray(snapshot.quantity(name), dtype=object).ravel() for name in names]
    return np.concatenate(values) if values else []


def _reactions(topology: Topology, tape: Tape, count: Mapping[str, int], options: tuple[str, ...]) -> Outputs:
    """Force, moment of the joints named after the options part, whole, on, about, expressed_in (- for none)."""
    part, whole, on, about, axes, *joints = options
    given = {"u_dot": tape.inputs("x", count["x"])} if count["x"] else {}
    snapshot = traced_snapshot(topology, tape, count, **given)
    find = topology.system.find_frame
    outputs: list[Any] = []
    for name in joints:
        moment, force = snapshot.reaction(
            name,
            part,
            whole=whole == "whole",
            on=None if on == "-" else on,
            about=None if about == "-" else find(about),
            expressed_in=None if axes == "-" else find(axes),
        )
        outputs += [*force, *moment]
    return outputs


def _pose(topology: Topology, tape: Tape, count: Mapping[str, int], options: tuple[str, ...]) -> Outputs:
    X = traced_snapshot(topology, tape, count).pose(topology.system.find_frame(options[0]))
    return np.concatenate([np.asarray(X.R, dtype=object).ravel(), X.p])


def _jacobian(topology: Topology, tape: Tape, count: Mapping[str, int], options: tuple[str, ...]) -> Outputs:
    """Angular and linear velocity of a frame for unit speeds, 6 x n_u."""
    frame = topology.system.find_frame(options[0])

    def velocity(u: Array) -> Array:
        return np.concatenate(traced_snapshot(topology, tape, count, u=u).velocity(frame))

    n = topology.n_u
    still = velocity(np.zeros(n))
    columns = [velocity(np.eye(n)[k]) - still for k in range(n)]
    return np.array(columns, dtype=object).T if columns else np.zeros((6, 0))


def _direction(topology: Topology, tape: Tape, count: Mapping[str, int], options: tuple[str, ...]) -> Outputs:
    """Change of the rate of the state along a direction: one column of the Jacobian for each unit direction."""
    outputs = list(np.asarray(_rate(topology, tape, count, options), dtype=object))
    seeds: dict[tuple[str, int], Any] = {}
    k = 0
    for name in ("q", "u", "z"):
        for i in range(count[name]):
            seeds[name, i] = Dual(tape.input(name, i), tape.input("x", k))
            k += 1
    return [x.rate if isinstance(x, Dual) else 0.0 for x in replay(outputs, seeds)]


Writer = Callable[[Topology, Tape, Mapping[str, int], tuple[str, ...]], Outputs]
WRITERS: dict[str, Writer] = {
    "acceleration": _acceleration,
    "loaded_acceleration": _loaded_acceleration,
    "rate": _rate,
    "effort": _effort,
    "bias": _bias,
    "mass_matrix": _mass_matrix,
    "energy": _energy,
    "evaluate": _evaluate,
    "reactions": _reactions,
    "reactions_of_motion": _reactions,
    "pose": _pose,
    "jacobian": _jacobian,
    "direction": _direction,
}


def fingerprint(topology: Topology) -> str:
    """All of a model that its machine code depends on; values of parameters and initial values are not among it."""
    system = topology.system
    skip = {"q", "u", "guess", "limits", "position", "rotation", "velocity", "angular_velocity", "meshes"}
    parts: list[Any] = [system.gravity, system.world.frames]
    for component in system.components.values():
        if component.section in ("parameters", "inputs"):
            value = getattr(component, "value", 0.0)
            free = isinstance(value, float) or component.section == "inputs"
            parts.append((component.name, component.section, None if free else value))
        elif component.specs():
            given = {k: v for k, v in component.given().items() if k not in skip}
            parts.append((component.name, component.section, component.kind, given))
        else:
            parts.append(component)
    return repr(parts)
