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

    return dynamics.snapshot(kn.State(0.3, rng.normal(size=n.n_q), rng.normal(size=n.n_u), rng.normal(size=n.n_z)))


# -- modified nodal analysis, dense, written for itself ------------------------------------------------
class Nodal:
    """E x' + K x = s(t) of resistors, coils, capacitors and sources "value*cos(rate*t)".

    x holds the voltages of nodes, then the currents into plus of voltage sources and of coils; the rows are the sums of
    currents at nodes, then the laws of those two.  Where rows have to be differentiated, x' follows from the rows and
    their rates together, E x'' + K x' = s'(t), by least squares.
    """

    def __init__(self, parts):
        ends = {fields[end] for _, fields in parts.values() for end in ("plus", "minus")}
        self.nodes = sorted(ends - {"gnd"})
        self.carrying = [name for name, (kind, _) in parts.items() if kind in ("voltage_source", "inductor")]
        self.names = [*self.nodes, *self.carrying]
        n = len(self.names)
        self.E, self.K = np.zeros((n, n)), np.zeros((n, n))
        self.sources = []  # row, sign, value, rate
        for name, (kind, fields) in parts.items():
            self._stamp(name, kind, fields)

    def _stamp(self, name, kind, fields):
        at = [self.nodes.index(fields[end]) if fields[end] != "gnd" else None for end in ("plus", "minus")]
        signed = [(k, sign) for k, sign in zip(at, (1.0, -1.0), strict=True) if k is not None]
        if kind in ("resistor", "capacitor"):
            M, x = (self.K, 1.0 / fields["resistance"]) if kind == "resistor" else (self.E, fields["capacitance"])
            for i, one in signed:
                for j, two in signed:
                    M[i, j] += one * two * x
        elif kind == "current_source":
            self.sources += [(i, sign, *_wave(fields["current"])) for i, sign in signed]
        else:
            row = self.names.index(name)
            for i, sign in signed:
                self.K[i, row] += sign
                self.K[row, i] += -sign if kind == "inductor" else sign
            if kind == "inductor":
                self.E[row, row] = fields["inductance"]
            else:
                self.sources.append((row, 1.0, *_wave(fields["voltage"])))

    def given(self, t):
        """s and its rate."""
        s = np.zeros((2, len(self.names)))
        for row, sign, value, rate in self.sources:
            s[0, row] += sign * value * np.cos(rate * t)
            s[1, row] -= sign * value * rate * np.sin(rate * t)
        return s

    def rates(self, t, x):
        """x' at a state, and what no x' can make right of the rows."""
        s, zero = self.given(t), np.zeros_like(self.E)
        A = np.block([[self.E, zero], [self.K, self.E]])
        b = np.concatenate([s[0] - self.K @ x, s[1]])
        found = np.linalg.lstsq(A, b, rcond=1e-12)[0]
        return found[: len(x)], float(np.abs(A @ found - b).max())


def _wave(law):
    value, _, rest = law.partition("*cos(")
    return float(value), float(rest.removesuffix("*t)"))


# -- heat, a domain that is declared ---------------------------------------------------------------------
AMBIENT = 293.15
THERMAL = {
    "potential": {"temperature": "K"},
    "flow": {"heat_flow": "W"},
    "reference": {"ambient": f"{AMBIENT} K"},
    "letters": {"temperature": "T", "heat_flow": "Q"},
    "between": "a conductance",
    "beside": "a capacity",
}
CAPACITY = {
    "ports": {"node": "thermal"},
    "parameters": {"capacity": "J/K", "initial_temperature": {"unit": "K", "default": AMBIENT}},
    "names": {"temperature": "node.temperature"},
    "starts": {"node.temperature": "initial_temperature"},
    "equations": {"heat that it takes": "node.heat_flow = capacity*der(node.temperature)"},
    "stored": "capacity*temperature",
    "stores": "thermal",
}
CONDUCTANCE = {
    "ports": {"a": "thermal", "b": {"kind": "thermal", "default": "ambient"}},
    "parameters": {"conductance": "W/K"},
    "equations": {
        "heat through it": "a.heat_flow + b.heat_flow = 0",
        "conduction": "a.heat_flow = conductance*(a.temperature - b.temperature)",
    },
}


def add_thermal(system):
    """Declare heat, capacities and conductances in a system."""
    system.domain("thermal", **THERMAL)
    system.define("heat_capacity", **CAPACITY)
    system.define("heat_conductance", **CONDUCTANCE)
    return system


def elbow_circuit():
    """A motor and a damper at the joints of an arm and its rod."""
    system = kn.System("s")
    arm = system.body("arm", mass=1, inertia=(1, 1, 1))
    system.revolute("elbow", system.world, arm)
    system.cylindrical("slide", arm, system.body("rod", mass=1, inertia=(1, 1, 1)))
    system.voltage_source("supply", "bus", "gnd", voltage="24 V")
    system.dc_motor("motor", "bus", "gnd", system["elbow"], resistance=1, inductance=0.01, constant=0.1)
    system.shaft_damper("rub", "slide.angle", damping=0.1)
    system.slide_spring("pull", "slide.travel", stiffness=10)
    return system
