"""Trees of all joints and systems with constraints, for tests of loop code."""

import numpy as np
from mechanisms import ring

import kinode as kn
from kinode.multibody.snapshot import Snapshot
from kinode.structure.loop_closure import choose_rows
from kinode.structure.state_layout import EvaluationPoint
from kinode.structure.topology import find_topology

KINDS = ("revolute", "prismatic", "screw", "cylindrical", "universal", "planar", "spherical", "free", "driven")


def random_tree(n, seed, kinds=KINDS, branches=True):
    rng = np.random.default_rng(seed)
    system = kn.System("tree", gravity=(0.3, 1.0, -9.81))
    mass = system.parameter("m", 1.3)
    bodies = [system.world]
    for i in range(n):
        new = system.body(
            f"b{i}",
            mass=mass * (1 + rng.random()),
            com=rng.normal(size=3) * 0.1,
            inertia=(0.3, 0.4, 0.5, 0.01, 0.02, 0.03),
        )
        kind, parent = kinds[rng.integers(len(kinds))], bodies[rng.integers(len(bodies)) if branches else -1]
        place, axis = parent.at(*rng.normal(size=3) * 0.3), tuple(rng.normal(size=3))
        match kind:
            case "revolute" | "prismatic":
                getattr(system, kind)(f"j{i}", place, new, axis=axis, stiffness=2.0 + i, damping=0.3)
            case "screw":
                system.screw(f"j{i}", place, new, axis=axis, lead=0.3)
            case "cylindrical":
                system.cylindrical(f"j{i}", place, new, axis=axis, damping=(0.1, 0.2))
            case "universal":
                system.universal(f"j{i}", place, new, axes=((1, 0.2, 0), (0, 0.3, 1)))
            case "driven":
                system.revolute(f"j{i}", place, new, axis=axis, motion="0.3*sin(2*t)")
            case _:
                getattr(system, kind)(f"j{i}", place, new)
        bodies.append(new)
    return find_topology(system)


def chain(n):
    system = kn.System("chain")
    body = system.world
    for i in range(n):
        mass = 1 + 0.1 * (i % 7)
        new = system.body(f"b{i}", mass=mass, com=(0.01, 0.02, 0.05), inertia=(0.003, 0.004, 0.005, 1e-4, 0, 0))
        system.revolute(f"j{i}", body.at(0.005, 0.01, 0.1), new, axis="xyz"[i % 3])
        body = new
    return find_topology(system)


def carriage():
    """A loop on a slide with a spring in its cut joint, a driven arm with a ball, a force, a parameter."""
    system = kn.System("carriage", gravity=(0, -9.81, 0))
    mass = system.parameter("m", 0.7)
    base = system.body("base", mass=5, com=(0.1, 0, 0.2), inertia=(1, 2, 2.5))
    system.prismatic("slide", system.world, base, axis="x", stiffness=20, damping=1)
    inner = base
    for i in range(4):
        rod = system.body(f"rod{i}", mass=mass, com=(0.2, 0.01, 0), inertia=(0.01, 0.02, 0.02))
        system.revolute(f"j{i}", inner.at(0.4 if i else 0, 0, 0), rod, guess=-0.4 if i else 0.6, damping=0.05)
        inner = rod
    system.revolute("close", inner.at(0.4, 0, 0), base.at(1, 0, 0), stiffness=3, damping=0.1)
    arm = system.body("arm", mass=1, com=(0.1, 0.2, 0), inertia=(0.1, 0.2, 0.2))
    tip = system.body("tip", mass=1, com=(0.1, 0.2, 0.1), inertia=(0.1, 0.2, 0.2))
    system.revolute("turn", base.at(0, 0, 0.5), arm, axis="y", speed="1 + 0.3*sin(t)")
    system.spherical("ball", arm.at(0.1, 0.5, 0), tip)
    system.force("push", system["rod2"].at(0.1, 0, 0), ("3*sin(t)", 0, 1), expressed_in="world")
    return system


def wheel_and_rod():
    """Slips and residuals of constraint elements; a rod whose end is held at a distance from the wheel."""
    system = kn.System("wheel", gravity=(0, 0, -9.81))
    wheel = system.body("wheel", mass=3, inertia=(0.2, 0.1, 0.1))
    system.free("base", system.world, wheel, position=(0, 0, 0.3))
    system.constraint("track", "rolling", wheel=wheel, axis="x", radius=0.3)
    rod = system.body("rod", mass=1, com=(0.2, 0, 0), inertia=(0.01, 0.04, 0.04))
    system.universal("pin", wheel.at(0.1, 0, 0), rod, axes=("y", "z"))
    return system


MODELS = {
    "ring": lambda: ring(5),
    "hinges": lambda: ring(6, "revolute"),
    "carriage": carriage,
    "wheel": wheel_and_rod,
}


def state_of(topology, seed=0):
    """A state near that of the guesses, which closes no loop."""
    rng = np.random.default_rng(seed)
    q = np.zeros(topology.n_q)
    for name, where in topology.q_of.items():
        joint = topology.system.joints[name]
        given = joint.guess if joint.guess is not None else joint.neutral_q()
        q[where] = np.array([topology.system.nominal(x) for x in np.atleast_1d(given)])
    q += 0.1 * rng.normal(size=len(q))
    u, z = rng.normal(size=topology.n_u), rng.normal(size=topology.n_z)
    for start in topology.layout.quaternions:
        q[start : start + 4] /= np.linalg.norm(q[start : start + 4])
    values = topology.system.parameter_values()
    return EvaluationPoint(0.7, q, u, z, np.array([values[name] for name in topology.parameters]), np.empty(0))


def prepared(system):
    """Topology with independent rows, and a state."""
    topology = find_topology(system)
    point = state_of(topology)
    G = np.array(Snapshot(topology, point).constraints.jacobian, dtype=float)
    rows = choose_rows([G], np.ones(len(G), dtype=bool))
    return topology.with_rows(rows), point
