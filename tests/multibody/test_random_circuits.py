"""Random networks: solved, and then right, or refused by name.

Electrical ones are compared with a dense nodal analysis written for itself (``networks.solve_nodal``); in all of them
the currents at nodes and the power of parts balance to rounding.
"""

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st
from networks import Nodal, add_parts, circuit, pole, turning

import kinode as kn

KINDS = {
    "resistor": "resistance",
    "capacitor": "capacitance",
    "inductor": "inductance",
    "voltage_source": "voltage",
    "current_source": "current",
}
NODES = ["gnd", "a", "b", "c", "d", "e"]
ROUNDING = 1e-11


@st.composite
def electrical(draw):
    """Two-poles between few nodes, at least one of them at gnd; parallel ones and loops are welcome."""
    count = draw(st.integers(3, 10))
    nodes = NODES[: draw(st.integers(2, len(NODES)))]
    parts = {}
    for k in range(count):
        kind = draw(st.sampled_from([*KINDS, "resistor", "resistor"]))
        plus, minus = draw(st.sampled_from([(p, m) for p in nodes for m in nodes if p != m]))
        value = draw(st.sampled_from([0.5, 1.0, 2.0, 3.0]))
        law = f"{value}*cos({k + 1}*t)" if "source" in kind else value
        parts[f"p{k}"] = pole(kind, plus, minus, **{KINDS[kind]: law})
    return parts


def compiled(system, say):
    """Its dynamics; None where it is refused, in words that name a part of it."""
    try:
        return kn.compile(system)
    except kn.ModelError as error:
        assert error.component in system.elements, str(error)
        assert say(str(error))
        return None


def drawn_snapshot(dynamics, seed=3):
    rng = np.random.default_rng(seed)
    n = dynamics
    return dynamics.snapshot(kn.State(0.7, rng.normal(size=n.n_q), rng.normal(size=n.n_u), rng.normal(size=n.n_z)))


def check_balance(snapshot):
    """Flows at nodes sum to zero, joints taking what is left; what each part is given, it stores or loses."""
    network = snapshot.condensed.network
    sizes = [abs(float(snapshot.network.quantity(p, f"{port}.{kind.flow}"))) for p, part in network.parts.items()
             for port, kind in part.ports().items()]  # fmt: skip
    size = max([1.0, *sizes])
    for node in network.nodes.values():
        total = sum(float(snapshot.network.quantity(p, f"{port}.{node.domain.flow}")) for p, port in node.ports)
        if node.joint is not None:
            total += float(snapshot.network.effort_on(node.joint)[node.coordinate])
        if not node.reference:
            assert abs(total) <= ROUNDING * size, (node.name, total)
    for name, part in network.parts.items():
        if "source" in part.kind:
            continue
        stored = float(snapshot.network.number(snapshot.condensed.stored_rate(name), name))
        power, lost = (float(snapshot.network.quantity(name, word)) for word in ("power", "lost"))
        assert abs(power - stored - lost) <= ROUNDING * size**2, (name, power, stored, lost)


@given(electrical())
def test_electrical_networks_against_nodal_analysis(parts):
    dynamics = compiled(circuit(parts), lambda said: any(name in said for name in parts))
    assume(dynamics is not None)
    snapshot = drawn_snapshot(dynamics)
    check_balance(snapshot)

    def quantity(name):
        return float(snapshot.network.quantity(*name))

    nodal = Nodal(parts)
    words = [(name, "voltage" if name in nodal.nodes else "plus.current") for name in nodal.names]
    x = np.array([quantity(word) for word in words])
    rates, left = nodal.rates(snapshot.t, x)
    size = max(1.0, np.abs(x).max(), np.abs(nodal.given(snapshot.t)).max())
    assert left <= 1e-9 * size
    across = dict(zip(nodal.names, rates, strict=True)) | {"gnd": 0.0}
    for name, (kind, fields) in parts.items():
        if kind == "capacitor":
            current = fields["capacitance"] * (across[fields["plus"]] - across[fields["minus"]])
            assert abs(quantity((name, "current")) - current) <= 1e-9 * size
        if kind == "inductor":
            assert abs(float(snapshot.condensed.value((f"{name}.current", 1))) - across[name]) <= 1e-9 * size


@given(electrical())
def test_what_is_refused_is_singular(parts):
    """The pencil s E + K of a network that is refused is singular for every s."""
    try:
        kn.compile(circuit(parts))
    except kn.ModelError as error:
        if "is left open" not in str(error):
            nodal = Nodal(parts)
            sizes = np.linalg.svd(0.7 * nodal.E + nodal.K, compute_uv=False)
            assert sizes.min() <= 1e-10 * sizes.max(), str(error)
    else:
        nodal = Nodal(parts)
        sizes = np.linalg.svd(0.7 * nodal.E + nodal.K, compute_uv=False)
        assert sizes.min() > 1e-10 * sizes.max()


SHAFTS = ["x", "y", "elbow"]


@st.composite
def drives(draw):
    """Motors, gears, springs and inertias on few shafts, one of them a joint, with one circuit."""
    parts = {"v": pole("voltage_source", "bus", voltage="3*cos(2*t)")}
    for k in range(draw(st.integers(1, 4))):
        a, b = draw(st.sampled_from([(p, m) for p in SHAFTS for m in (*SHAFTS, "world") if p != m]))
        kind = draw(st.sampled_from(["dc_motor", "shaft_inertia", "shaft_spring", "shaft_damper", "gearbox", "ideal"]))
        if kind in ("dc_motor", "ideal"):
            inductance = draw(st.sampled_from([0.0, 0.5])) if kind == "dc_motor" else 0.0
            fields = {"resistance": 0.5 if kind == "dc_motor" else 0.0, "constant": 0.3 + 0.1 * k}
            at = "bus" if draw(st.booleans()) else "node"
            parts[f"p{k}"] = pole("dc_motor", at, shaft=a, inductance=inductance, **fields)
        elif kind == "shaft_inertia":
            parts[f"p{k}"] = (kind, {"shaft": a, "inertia": 0.2 + 0.1 * k})
        elif kind == "gearbox":
            parts[f"p{k}"] = (kind, {"input": a, "output": b, "ratio": 2.0 + k})
        else:
            field = "stiffness" if kind == "shaft_spring" else "damping"
            parts[f"p{k}"] = (kind, {"a": a, "b": b, field: 0.5 + 0.2 * k})
    used = {value for _, fields in parts.values() for value in fields.values() if isinstance(value, str)}
    for shaft in ("x", "y"):
        if shaft in used and draw(st.booleans()):
            parts[f"j{shaft}"] = ("shaft_inertia", {"shaft": shaft, "inertia": 0.3})
    if "node" in used:
        parts["r"] = pole("resistor", "bus", "node", resistance=1.0)
    parts["load"] = pole("resistor", "bus", resistance=4.0)
    return parts


@given(drives())
def test_drives_balance_their_power(parts):
    system = add_parts(turning(q=0.3, u=0.4, damping=0.1), parts)
    dynamics = compiled(system, lambda said: any(name in said for name in parts))
    assume(dynamics is not None)
    snapshot = drawn_snapshot(dynamics)
    check_balance(snapshot)
    u_dot = snapshot.u_dot
    effort = dynamics.effort(0.7, snapshot.q, snapshot.u, u_dot, z=snapshot.z)
    assert np.abs(effort).max(initial=0.0) <= 1e-9 * max(1.0, np.abs(u_dot).max(initial=0.0))
    M = np.asarray(snapshot.mass_matrix, dtype=float)
    assert np.allclose(M @ u_dot, snapshot.bias_effort, rtol=1e-9, atol=1e-9)
    before, after = system_energy(snapshot, -1), system_energy(snapshot, 1)
    from kinode.multibody.power import powers

    total = float(sum(powers(snapshot), 0.0))
    assert abs((after - before) / 2e-5 - total) <= 1e-5 * max(1.0, abs(total), np.abs(u_dot).max(initial=0.0) ** 2)


def system_energy(snapshot, sign):
    """A hundred-thousandth of a second later or earlier, along the motion."""
    h = sign * 1e-5
    s = snapshot
    point = s.point.replaced(t=s.t + h, q=s.q + h * s.q_dot, u=s.u + h * s.u_dot, z=s.z + h * s.z_dot)
    there = snapshot.at(point)
    return float(sum(there.energies.values()))
