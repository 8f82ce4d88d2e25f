"""Random circuits of all domains at once: nodal laws, power of parts, Tellegen's sum, and energy rate.

Electrical, rotational, translational and thermal parts on few nodes, with motors, pinions and heat ports between the
domains, on joints with coordinates and with quasi-velocities.  What is refused is refused by name.
"""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from networks import AMBIENT, add_thermal

import kinode as kn
from kinode.multibody import power

ROUNDING = 1e-10
NODES = {
    "electrical": ["gnd", "a", "b"],
    "rotational": ["world", "elbow", "ball.y", "s"],
    "translational": ["world", "rail", "m"],
    "thermal": ["ambient", "x", "y"],
}
PARTS = {
    "resistor": ("electrical", "electrical"),
    "capacitor": ("electrical", "electrical"),
    "inductor": ("electrical", "electrical"),
    "voltage_source": ("electrical", "electrical"),
    "shaft_damper": ("rotational", "rotational"),
    "shaft_spring": ("rotational", "rotational"),
    "shaft_inertia": ("rotational",),
    "moment_source": ("rotational", "rotational"),
    "slide_damper": ("translational", "translational"),
    "slide_mass": ("translational",),
    "pinion": ("rotational", "translational"),
    "dc_motor": ("electrical", "electrical", "rotational"),
    "heat_capacity": ("thermal",),
    "heat_conductance": ("thermal", "thermal"),
}
FIELDS = {
    "resistor": {"resistance": 2.0},
    "capacitor": {"capacitance": 0.5},
    "inductor": {"inductance": 0.7},
    "voltage_source": {"voltage": "3*cos(2*t)"},
    "shaft_damper": {"damping": 0.4},
    "shaft_spring": {"stiffness": 3.0, "damping": 0.2},
    "shaft_inertia": {"inertia": 0.3},
    "moment_source": {"moment": "sin(t)"},
    "slide_damper": {"damping": 1.5},
    "slide_mass": {"mass": 0.6},
    "pinion": {"radius": 0.2},
    "dc_motor": {"resistance": 1.1, "constant": 0.3, "inductance": 0.2},
    "heat_capacity": {"capacity": 5.0},
    "heat_conductance": {"conductance": 1.2},
}
WARMING = ("resistor", "shaft_damper", "slide_damper", "dc_motor")
ENDS = {
    "shaft_inertia": ("shaft",), "slide_mass": ("slide",), "pinion": ("shaft", "rack"), "heat_capacity": ("node",),
    "dc_motor": ("plus", "minus", "shaft"),
}  # fmt: skip


def mechanism():
    """A hinge, a rail and a ball, each with a body."""
    system = kn.System("mechanism", gravity=(0.1, -9.81, 0.4))
    for name, kind in (("elbow", "revolute"), ("rail", "prismatic"), ("ball", "spherical")):
        body = system.body(f"{name}_body", mass=1.0, com=(0.1, 0.02, 0.05), inertia=(0.2, 0.3, 0.4))
        system.joint(name, kind, system.world, body)
    return add_thermal(system)


@st.composite
def circuits(draw):
    """A system with some parts on it; every free node has something that stores energy, or leads to its reference."""
    system, used = mechanism(), set()
    for k in range(draw(st.integers(3, 9))):
        kind = draw(st.sampled_from(list(PARTS)))
        domains = PARTS[kind]
        electrical = domains[:2] == ("electrical", "electrical")
        names = ENDS.get(kind, ("plus", "minus") if electrical else ("a", "b"))
        nodes = []
        for domain in domains:
            taken = {*nodes, *(("world", "ambient", "gnd") if len(domains) == 1 else ())}
            nodes.append(draw(st.sampled_from([node for node in NODES[domain] if node not in taken])))
        fields = dict(zip(names, nodes, strict=True), **FIELDS[kind])
        if kind in WARMING and draw(st.booleans()):
            fields["heat"] = draw(st.sampled_from(NODES["thermal"]))
            nodes.append(fields["heat"])
        used |= set(nodes)
        system.element(f"p{k}", kind, **fields)
    for node in sorted(used & {"x", "y"}):
        system.element(f"mass_{node}", "heat_capacity", node=node, capacity=4.0)
        system.element(f"air_{node}", "heat_conductance", a=node, conductance=0.5)
    for node in sorted(used & {"a", "b"}):
        system.element(f"leak_{node}", "resistor", plus=node, minus="gnd", resistance=9.0)
    if "s" in used:
        system.element("wheel", "shaft_inertia", shaft="s", inertia=0.2)
    if "m" in used:
        system.element("block", "slide_mass", slide="m", mass=0.4)
    return system


def refused_by_name(system):
    """Its dynamics; None where it is refused in words that name one of its parts."""
    try:
        return kn.Dynamics(system)
    except kn.ModelError as error:
        assert error.component in system.components, str(error)
        return None


def drawn_snapshot(dynamics, seed):
    rng = np.random.default_rng(seed)
    q = rng.normal(size=dynamics.n_q)
    ball = next(c.index for c in dynamics.coordinates if c.role == "q" and c.name == "ball.q.qw")
    q[ball : ball + 4] /= np.linalg.norm(q[ball : ball + 4])
    z = rng.normal(size=dynamics.n_z)
    warm = [c.index for c in dynamics.coordinates if c.role == "z" and c.name.endswith(".temperature")]
    z[warm] += AMBIENT
    return dynamics.snapshot(kn.State(0.7, q, rng.normal(size=dynamics.n_u), z))


def check_laws(snapshot):
    """Flows at nodes, powers of parts, and the sum of all powers at nodes."""
    network = snapshot.condensed.network

    def value(part, quantity):
        return float(snapshot.network.quantity(part, quantity))

    flows = {(p, port): value(p, f"{port}.{domain.flow}")
             for p, part in network.parts.items() for port, domain in part.ports().items()}  # fmt: skip
    size = max([1.0, *map(abs, flows.values())])
    total, largest = 0.0, size
    for node in network.nodes.values():
        rest = sum(flows[port] for port in node.ports)
        taken = float(snapshot.network.effort_on(node.joint)[node.coordinate]) if node.joint is not None else 0.0
        if not node.reference:
            assert abs(rest + taken) <= ROUNDING * size, (node.name, rest, taken)
        for p, port in node.ports:
            potential = value(p, f"{port}.{node.domain.potential}")
            each = flows[p, port] * (potential if node.domain.product_is_power else 1.0)
            total, largest = total + each, max(largest, abs(each))
        if node.joint is not None:
            total += taken * snapshot.joint_state(node.joint)[1][node.coordinate]
        elif node.reference and not node.domain.product_is_power:
            total -= rest  # what the reference gives
    assert abs(total) <= ROUNDING * largest * max(1, len(flows))  # Tellegen
    for name, part in network.parts.items():
        if not part.is_source:
            found, stated = (float(x) for x in power.part_balance(snapshot, name))
            assert abs(found - stated) <= ROUNDING * largest, (name, found, stated)


def check_energy_rate(dynamics, snapshot):
    """The rate of the whole energy along the motion is the sum of the powers of all causes."""
    step = 1e-6
    state = kn.State(snapshot.t, snapshot.q, snapshot.u, snapshot.z)

    def energy(sign):
        h = sign * step
        moved = kn.State(state.t + h, state.q + h * snapshot.q_dot, state.u + h * snapshot.u_dot,
                      state.z + h * snapshot.z_dot)  # fmt: skip
        return float(sum(dynamics.snapshot(moved).energies.values()))

    powers = [float(x) for x in power.powers(snapshot)]
    grown = (energy(1) - energy(-1)) / (2 * step)
    size = max(1.0, abs(energy(0)), *map(abs, powers))
    assert abs(grown - sum(powers)) <= 1e-4 * size


@given(circuits(), st.integers(0, 5))
def test_laws_of_random_circuits(system, seed):
    dynamics = refused_by_name(system)
    assume(dynamics is not None and dynamics.topology.network is not None)
    snapshot = drawn_snapshot(dynamics, seed)
    check_laws(snapshot)
    if not seed:
        check_energy_rate(dynamics, snapshot)


@pytest.mark.parametrize("seed", range(2))
def test_every_kind_of_part_at_once(seed):
    """A circuit that is known to be possible, so that the sweep above cannot be empty."""
    system = mechanism()
    for name, kind, ends in (
        ("source", "voltage_source", {"plus": "a", "minus": "gnd"}),
        ("wire", "resistor", {"plus": "a", "minus": "b", "heat": "x"}),
        ("tank", "capacitor", {"plus": "b", "minus": "gnd"}),
        ("motor", "dc_motor", {"plus": "b", "minus": "gnd", "shaft": "s", "heat": "y"}),
        ("rotor", "shaft_inertia", {"shaft": "s"}),
        ("clutch", "shaft_damper", {"a": "s", "b": "elbow", "heat": "ambient"}),
        ("twist", "shaft_spring", {"a": "elbow", "b": "ball.y"}),
        ("rack", "pinion", {"shaft": "s", "rack": "m"}),
        ("dash", "slide_damper", {"a": "m", "b": "rail", "heat": "x"}),
        ("one", "heat_capacity", {"node": "x"}),
        ("two", "heat_capacity", {"node": "y"}),
        ("between", "heat_conductance", {"a": "x", "b": "y"}),
        ("air", "heat_conductance", {"a": "x"}),
    ):
        system.element(name, kind, **ends, **FIELDS[kind])
    dynamics = kn.Dynamics(system)
    snapshot = drawn_snapshot(dynamics, seed)
    check_laws(snapshot)
    check_energy_rate(dynamics, snapshot)
    assert seed or "all agree" in str(kn.verify(system, 2, compiled=False))
