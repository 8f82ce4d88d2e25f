"""Small networks for tests, and an independent way to solve electrical ones."""

import numpy as np

import kinode as kn


def circuit(parts, name="circuit"):
    """A system of nothing but parts: {name: (kind, fields)}."""
    system = kn.System(name)
    add_parts(system, parts)
    return system


def add_parts(system, parts):
    for name, (kind, fields) in parts.items():
        system.element(name, kind, **fields)
    return system


def pole(kind, plus, minus="gnd", **fields):
    return kind, {"plus": plus, "minus": minus, **fields}


def turning(name="turning", inertia=2e-3, **fields):
    """One body on a hinge, without gravity."""
    system = kn.System(name, gravity=(0, 0, 0))
    system.body("arm", mass=1.0, inertia=(1e-3, 1e-3, inertia))
    system.revolute("elbow", system.world, system["arm"], axis="z", **fields)
    return system


def two_links(**fields):
    """Two bodies in a row, the second off its axis."""
    system = kn.System("two links", gravity=(0, -9.81, 0))
    upper = system.body("upper", mass=1.0, com=(0.1, 0, 0), inertia=(1e-3, 1e-3, 2e-3))
    lower = system.body("lower", mass=0.5, com=(0.1, 0.02, 0), inertia=(1e-3, 1e-3, 1e-3))
    system.revolute("shoulder", system.world, upper, axis="z")
    system.revolute("wrist", upper.at(0.3, 0, 0), lower, axis="z", **fields)
    return system


def states_of(system):
    """Names of the states of its network."""
    network = kn.compile(system).topology.network
    return [f"{state.owner}.{state.name}" for state in network.states]


def random_snapshot(system, seed=0):
    """A snapshot in plain numbers at some state."""
    dynamics = kn.compile(system)
    rng = np.random.default_rng(seed)
    n = dynamics
    from kinode.codegen.records import State

    return dynamics.snapshot(State(0.3, rng.normal(size=n.n_q), rng.normal(size=n.n_u), rng.normal(size=n.n_z)))


# -- modified nodal analysis, dense, written for itself ------------------------------------------------
def solve_nodal(parts, t, states):
    """Voltages and currents of R, L, C, V and I at an instant, with voltages of capacitors and currents of coils given.

    Unknown: the voltages of the nodes, the currents of voltage sources and capacitors, which hold their voltages.  The
    answer holds node voltages, currents into plus, and the rates of the states.
    """
    nodes = sorted({fields[end] for _, fields in parts.values() for end in ("plus", "minus")} - {"gnd"})
    holding = [name for name, (kind, _) in parts.items() if kind in ("voltage_source", "capacitor")]
    size = len(nodes) + len(holding)
    at = {node: k for k, node in enumerate(nodes)}
    A, b = np.zeros((size, size)), np.zeros(size)

    def stamp(row, column, x):
        if row in at and column in at:
            A[at[row], at[column]] += x

    def push(node, x):
        if node in at:
            b[at[node]] += x

    for name, (kind, fields) in parts.items():
        plus, minus = fields["plus"], fields["minus"]
        if kind == "resistor":
            g = 1.0 / fields["resistance"]
            for one, two, sign in ((plus, plus, 1), (minus, minus, 1), (plus, minus, -1), (minus, plus, -1)):
                stamp(one, two, sign * g)
        elif kind in ("current_source", "inductor"):
            into = states[name] if kind == "inductor" else -source(fields["current"], t)
            push(plus, -into)
            push(minus, into)
        else:
            k = len(nodes) + holding.index(name)
            for node, sign in ((plus, 1.0), (minus, -1.0)):
                if node in at:
                    A[at[node], k] += sign
                    A[k, at[node]] += sign
            b[k] = states[name] if kind == "capacitor" else source(fields["voltage"], t)
    x = np.linalg.solve(A, b)
    voltages = {"gnd": 0.0, **{node: x[k] for node, k in at.items()}}
    currents, rates = {}, {}
    for name, (kind, fields) in parts.items():
        across = voltages[fields["plus"]] - voltages[fields["minus"]]
        if kind == "resistor":
            currents[name] = across / fields["resistance"]
        elif kind == "inductor":
            currents[name], rates[name] = states[name], across / fields["inductance"]
        elif kind == "current_source":
            currents[name] = -source(fields["current"], t)
        else:
            currents[name] = x[len(nodes) + holding.index(name)]
        if kind == "capacitor":
            rates[name] = currents[name] / fields["capacitance"]
    return voltages, currents, rates


def source(law, t):
    return float(eval(law, {"sin": np.sin, "cos": np.cos, "t": t})) if isinstance(law, str) else float(law)
