"""Models before and after a subsystem was made in them: the rates of the same state by name, without compiling."""

from __future__ import annotations

import numpy as np

from kinode.formulations.formulation_table import InstantValues
from kinode.multibody.snapshot import Snapshot
from kinode.structure.topology import find_topology
from kinode.tasks.verify import random_state


def drawn_state(system, seed):
    """A random state by the names of its entries, and the time."""
    topology = find_topology(system)
    t, *parts = random_state(topology, np.random.default_rng(seed))
    values = dict(zip("quz", parts))
    return t, {c.name: values[c.role][c.index] for c in topology.coordinates}


def rates(system, t, state, prefix=""):
    """The derivatives of u and z at a state, by name; names of a subsystem are taken without its prefix."""
    topology = find_topology(system)
    names = {c: c.name.removeprefix(prefix) for c in topology.coordinates}
    assert set(names.values()) == set(state)
    arrays = {role: np.zeros(n) for role, n in (("q", topology.n_q), ("u", topology.n_u), ("z", topology.layout.n_z))}
    for c, name in names.items():
        arrays[c.role][c.index] = state[name]
    values = system.parameter_values()
    p = np.array([values[name] for name in topology.parameters])
    inputs = np.array([system.nominal(x.value) for x in system.inputs.values()])
    snapshot = Snapshot(topology, InstantValues(t, arrays["q"], arrays["u"], arrays["z"], p, inputs))
    found = {"u": np.asarray(snapshot.u_dot, float), "z": np.asarray(snapshot.z_dot, float)}
    return {name: found[c.role][c.index] for c, name in names.items() if c.role != "q"}
