"""Which code there is: from the name of a kernel to the program that computes it.

Each kernel is a function of a snapshot of traced numbers.  ``x`` holds what a kernel takes besides the
state: accelerations, added efforts and wrenches, or a direction.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from kinode.algebra.scalars import Array, Dual, Scalar
from kinode.algebra.trace import Tape, replay
from kinode.expressions.parser import parse
from kinode.jit.program import Block, Program
from kinode.model.base.parameters import Input, Parameter
from kinode.model.quantity_names import find_quantity
from kinode.multibody import instant_events, power
from kinode.multibody.dependent_joints import measures
from kinode.multibody.restraints import loop_constraints
from kinode.multibody.restraints.loop_statics import Support
from kinode.multibody.snapshot import Snapshot
from kinode.structure.evaluation_point import EvaluationPoint
from kinode.structure.topology import Topology

Outputs = Sequence[Any] | Array
RARE = frozenset({"closure", "measures"})  # what brings a model together asks for these, some dozens of times


class Kernel(NamedTuple):
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
        "holding_of_motion": topology.n_u,
        "loaded_acceleration": topology.n_u + 6 * len(topology.system.bodies),
        "loaded_roots": topology.n_u + 6 * len(topology.system.bodies),
        "direction": topology.n_q + topology.n_u + topology.n_z,
        "slope": topology.n_q + topology.n_u + topology.n_z + len(topology.inputs),
        "jump": 0 if topology.events is None else len(topology.events.roots),
        "sample": 0 if topology.events is None else len(topology.events.samplers),
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


def make_program(topology: Topology, kernel: Kernel, kind: type[Snapshot] = Snapshot) -> Program:
    """The straight-line program of a kernel; ``kind`` is the formulation that it is traced from."""
    count = sizes(topology, kernel)
    outputs = trace(topology, kernel, kind)
    stores = [("out", i, x) for i, x in enumerate(outputs)]
    rare = kernel.name in RARE
    return Program("kernel", {**count, "out": len(outputs)}, {}, [Block(1, {}, [stores])], rare)


def trace(topology: Topology, kernel: Kernel, kind: type[Snapshot] = Snapshot) -> list[Scalar]:
    """The outputs of a kernel as nodes of a tape."""
    tape, count = Tape(), sizes(topology, kernel)
    point = topology.layout.traced_point(tape)
    make = partial(kind, topology, point)
    x = tape.inputs("x", count["x"])
    if kernel.name == "jacobian":
        return _flat(_jacobian(partial(kind, topology), point, kernel.options[0]))
    if kernel.name in ("direction", "slope"):
        roles = ("q", "u", "z") if kernel.name == "direction" else ("q", "u", "z", "inputs")
        return _direction(make(), tape, count, roles, kernel.options)
    if kernel.name in AT_EVENTS:
        return _flat(AT_EVENTS[kernel.name](make(), x))
    given: dict[str, Any] = {}
    if kernel.name in ("loaded_acceleration", "loaded_roots"):
        given = added_loads(topology, x)
    elif kernel.name in ("effort", "reactions_of_motion", "holding_of_motion"):
        given = {"u_dot": x}
    elif kernel.name == "bias":
        given = {"u_dot": np.zeros(topology.n_u), "friction": {}}
    return outputs_of(kernel, make(**given))


def outputs_of(kernel: Kernel, snapshot: Snapshot) -> list[Scalar]:
    """What a kernel wants of a snapshot, as a flat list."""
    return _flat(WRITERS[kernel.name](snapshot, kernel.options))


def _flat(values: Any) -> list[Scalar]:
    return list(np.asarray(values, dtype=object).ravel())


def added_loads(topology: Topology, x: Array) -> dict[str, Any]:
    """Efforts and wrenches (force, moment for each body) that ``x`` adds."""
    n = topology.n_u
    at = {body: n + 6 * i for i, body in enumerate(topology.system.bodies)}
    return {"effort": x[:n], "wrenches": {body: (x[i : i + 3], x[i + 3 : i + 6]) for body, i in at.items()}}


def _rate(snapshot: Snapshot, options: tuple[str, ...]) -> Outputs:
    return np.concatenate([snapshot.q_dot, snapshot.u_dot, snapshot.z_dot])


def _power(snapshot: Snapshot, options: tuple[str, ...]) -> Outputs:
    """Rate of the state, and the power of all that changes the energy."""
    return [*_rate(snapshot, ()), *power.powers(snapshot)]


def _evaluate(snapshot: Snapshot, options: tuple[str, ...]) -> Outputs:
    names = [find_quantity(snapshot.system, name) for name in options]
    return [x for name in names for x in _flat(snapshot.quantity(name))]


def _law(snapshot: Snapshot, options: tuple[str, ...]) -> Outputs:
    """The value of a law given as text."""
    return [snapshot.resolve(parse(options[0], snapshot.system.call_counts()))]


def hold_option(hold: Support) -> str:
    """Held freedoms as an option of a kernel."""
    return "-" if hold is None else ",".join(["held", *(f"{name}:{k}" for name, k in hold)])


def _hold(option: str) -> Support:
    pairs = [text.rpartition(":") for text in option.split(",")[1:]]
    return None if option == "-" else tuple((name, int(k)) for name, _, k in pairs)


def _reactions(snapshot: Snapshot, options: tuple[str, ...]) -> Outputs:
    """Force, moment of the joints named after the options part, hold, whole, on, about, expressed_in (- for none).

    Behind them stands how far held freedoms are in doubt, where there are any.
    """
    part, held, whole, on, about, axes, *joints = options
    find, hold = snapshot.system.find_frame, _hold(held)
    outputs: list[Scalar] = []
    for name in joints:
        moment, force = snapshot.reaction(
            name,
            part,
            hold=hold,
            whole=whole == "whole",
            on=None if on == "-" else on,
            about=None if about == "-" else find(about),
            expressed_in=None if axes == "-" else find(axes),
        )
        outputs += [*force, *moment]
    return outputs if hold is None else [*outputs, snapshot.statics(hold).doubt]


def _contributions(snapshot: Snapshot, options: tuple[str, ...]) -> Outputs:
    """Force, moment of all that makes up the kinetic part of a joint: by what, hold, about, expressed_in, joint.

    Behind them stands how far held freedoms are in doubt, where there are any.
    """
    from kinode.formulations.reaction_contributions import contributions  # with all formulations, which few runs need

    by, held, about, axes, joint = options
    hold, (point, frame) = _hold(held), (None if x == "-" else snapshot.system.find_frame(x) for x in (about, axes))
    outputs: list[Scalar] = []
    for wrench in contributions(snapshot, joint, by, hold).values():
        moment, force = snapshot.seen(joint, wrench, None, point, frame)
        outputs += [*force, *moment]
    return outputs if hold is None else [*outputs, snapshot.statics(hold).doubt]


def _tiers(snapshot: Snapshot, options: tuple[str, ...]) -> Outputs:
    """The acceleration of a point by cause and tier."""
    from kinode.formulations.acceleration_contributions import by_tier

    return by_tier(snapshot, snapshot.system.find_frame(options[0]))


def _segments(snapshot: Snapshot, options: tuple[str, ...]) -> Outputs:
    """The same along the radius vectors."""
    from kinode.formulations.acceleration_contributions import by_segment

    return by_segment(snapshot, snapshot.system.find_frame(options[0]))


def _holding(snapshot: Snapshot, options: tuple[str, ...]) -> Outputs:
    """All that holds bodies, in the order of ``topology.holding``, for the options part and hold."""
    part, held = (*options, "-")[:2]
    return [x for name in snapshot.topology.holding for x in snapshot.holding(name, part, _hold(held))]


def _unit_wrench(snapshot: Snapshot, options: tuple[str, ...]) -> Outputs:
    """What a constraint does to a body for each unit multiplier; the option is the quantity's name."""
    return snapshot.unit_wrenches(find_quantity(snapshot.system, options[0]))


def _pose(snapshot: Snapshot, options: tuple[str, ...]) -> Outputs:
    X = snapshot.pose(snapshot.system.find_frame(options[0]))
    return np.concatenate([np.asarray(X.R, dtype=object).ravel(), X.p])


def _jacobian(make: Callable[[EvaluationPoint], Snapshot], point: EvaluationPoint, of: str) -> Outputs:
    """Angular and linear velocity of a frame for unit speeds, 6 x n_u."""

    def velocity(u: Array) -> Array:
        there = make(point.replaced(u=u))
        return np.concatenate(there.velocity(there.system.find_frame(of)))

    n = len(point.u)
    still = velocity(np.zeros(n))
    columns = [velocity(np.eye(n)[k]) - still for k in range(n)]
    return np.array(columns, dtype=object).T if columns else np.zeros((6, 0))


def _direction(
    snapshot: Snapshot, tape: Tape, count: Mapping[str, int], roles: Sequence[str], names: tuple[str, ...]
) -> list[Scalar]:
    """Change along a direction of the rate of the state, or of quantities by name: columns of the Jacobian."""
    outputs = _flat(_evaluate(snapshot, names) if names else _rate(snapshot, ()))
    seeds: dict[tuple[str, int], Any] = {}
    for name in roles:
        for i in range(count[name]):
            seeds[name, i] = Dual(tape.input(name, i), tape.input("x", len(seeds)))
    return [x.rate if isinstance(x, Dual) else 0.0 for x in replay(outputs, seeds)]


def _closure(snapshot: Snapshot, options: tuple[str, ...]) -> Outputs:
    """Residuals and rates of all constraint rows, and the entries of their Jacobian that need not be zero."""
    constraints = snapshot.constraints
    rates = [x for f in (loop_constraints.residual, loop_constraints.drift) for x in constraints.every(f)]
    return [*rates, *(x for row in constraints.all_rows for x in row.values())]


def _measures(snapshot: Snapshot, options: tuple[str, ...]) -> Outputs:
    """Coordinates, speeds and Jacobian of the joints that are not in the state."""
    return np.concatenate([part.ravel() for part in measures(snapshot)])


def _projection(snapshot: Snapshot, options: tuple[str, ...]) -> Outputs:
    """The state on its constraints, and their effective mass."""
    q, u, mass = snapshot.constraints.projected()
    return np.concatenate([q, u, snapshot.z, [mass]])


AT_EVENTS = {"jump": instant_events.after_event, "sample": instant_events.after_tick}
WRITERS: dict[str, Callable[[Snapshot, tuple[str, ...]], Outputs]] = {
    "acceleration": lambda s, _: s.u_dot,
    "loaded_acceleration": lambda s, _: s.u_dot,
    "rate": _rate,
    "effort": lambda s, _: s.inverse_effort,
    "bias": lambda s, _: s.inverse_effort,
    "mass_matrix": lambda s, _: s.mass_matrix,
    "energy": lambda s, _: [s.energies[0], s.energies[1] + s.energies[2]],
    "evaluate": _evaluate,
    "law": _law,
    "power": _power,
    "reactions": _reactions,
    "reactions_of_motion": _reactions,
    "contributions": _contributions,
    "tiers": _tiers,
    "segments": _segments,
    "holding": _holding,
    "holding_of_motion": _holding,
    "unit_wrench": _unit_wrench,
    "unit_loads": lambda s, _: s.constraints.unit_loads(),
    "pose": _pose,
    "closure": _closure,
    "measures": _measures,
    "projection": _projection,
    "roots": lambda s, _: instant_events.roots(s),
    "loaded_roots": lambda s, _: instant_events.roots(s),
    "glance": lambda s, _: instant_events.glance(s),
    "settled": lambda s, _: instant_events.settled_held(s),
}


def fingerprint(topology: Topology) -> str:
    """All of a model that its machine code depends on; values of parameters and initial values are not among it."""
    system = topology.system
    parts: list[Any] = [system.gravity, system.world.frames]
    for component in system.components.values():
        if isinstance(component, Parameter | Input):
            fixed = isinstance(component, Parameter) and not isinstance(component.value, float)
            parts.append((component.name, component.section, component.value if fixed else None))
        elif component.specs():
            specs = component.specs()
            given = {k: v for k, v in component.given().items() if not specs[k][1].aside}
            parts.append((component.name, component.section, component.kind, given))
            parts.append(getattr(component, "declaration", None))  # of a kind that a file or a call declares
            axes = [given.get("axis"), given.get("normal"), *given.get("axes", ())]
            # Which helper axis serves depends on the values.
            parts += [[system.nominal(x) for x in v] for v in axes if v is not None and not isinstance(v, str)]
        else:
            parts.append(component)
    if topology.network is not None:  # which of several states serve depends on the initial values that are given
        parts.append(topology.network.states)
    foreign = {type(c) for c in system.components.values() if not type(c).__module__.startswith("kinode.")}
    return repr(parts) + "".join(sorted(map(_source, foreign)))


def _source(cls: type) -> str:
    """The text of a plug-in's module, so that changed code is compiled anew; without text it always is."""
    import inspect

    module = sys.modules.get(cls.__module__)
    try:
        if module is not None and getattr(module, "__file__", None):
            return inspect.getsource(module)
    except OSError:
        pass
    return os.urandom(16).hex()
