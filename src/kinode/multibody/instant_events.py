"""Events of one instant: the event functions (roots) of all modes, and the state after an event or a clock tick.

Components define their event functions and reset maps by names (model/base/events.py).  Here their values are put into
the order of the state, so that a kernel returns the whole state.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array, Scalar, where
from kinode.errors import ModelError
from kinode.model.base.fields import unknown
from kinode.multibody.snapshot import Snapshot


def roots(snapshot: Snapshot) -> list[Scalar]:
    """All event functions, followed by their time derivatives."""
    entries = [] if snapshot.topology.events is None else [entry.root for entry in snapshot.topology.events.roots]
    return [root.g(snapshot) for root in entries] + [root.rate(snapshot) for root in entries]


def cheap_event_functions(snapshot: Snapshot) -> list[Scalar]:
    """The event functions that depend on the state alone; 0 for the others."""
    assert snapshot.topology.events is not None
    return [entry.root.g(snapshot) if entry.root.by_state else 0.0 for entry in snapshot.topology.events.roots]


def after_event(snapshot: Snapshot, x: Array) -> list[Scalar]:
    """The state [q, u, z] after the event of the root whose entry of ``x`` is 1."""
    table = snapshot.topology.events
    assert table is not None
    y = _state(snapshot)
    base = snapshot.topology.layout.role_slices["z"].start
    for k, entry in enumerate(table.roots):
        if entry.at >= 0 and entry.root.then != entry.root.value:
            y[base + entry.at] = where(x[k], entry.root.then, y[base + entry.at])
    for owner in table.owners:
        own = [x[k] for k in table.of(owner)]
        for index, value in _values_by_index(snapshot, owner, snapshot.system[owner].reset(snapshot, own)).items():
            y[index] = where(sum(own[1:], own[0]), value, y[index])
    return y


def after_tick(snapshot: Snapshot, x: Array) -> list[Scalar]:
    """The state [q, u, z] after a tick of the clocks whose entries of ``x`` are 1, component by component."""
    topology = snapshot.topology
    table = topology.events
    assert table is not None
    base, now = topology.layout.role_slices["z"].start, snapshot
    for owner in dict.fromkeys(entry.owner for entry in table.samplers):
        own = [x[k] for k, entry in enumerate(table.samplers) if entry.owner == owner]
        new = now.system[owner].sample(now, own)
        if not new:
            continue
        z, discrete = list(now.z), topology.layout.discrete_of.get(owner, slice(0, 0))
        for index, value in _values_by_index(now, owner, new).items():
            if not discrete.start <= index - base < discrete.stop:
                raise ModelError("a sample may set only the component's own discrete states", component=owner)
            z[index - base] = where(sum(own[1:], own[0]), value, z[index - base])
        now = now.at(now.point.replaced(z=np.array(z, dtype=object)))
    return _state(now)


def consistent_discrete_states(snapshot: Snapshot) -> list[Scalar]:
    """z with consistent initial values of the discrete states, which follow from the rest of the state."""
    z = list(snapshot.z)
    base = snapshot.topology.layout.role_slices["z"].start
    for owner, discrete in snapshot.topology.layout.discrete_of.items():
        names = {name for name, _ in snapshot.system[owner].discrete_states}
        given = {name: x for name, x in snapshot.system[owner].consistent_values(snapshot).items() if name in names}
        for index, value in _values_by_index(snapshot, owner, given).items():
            assert discrete.start <= index - base < discrete.stop
            z[index - base] = value
    return z


def _state(snapshot: Snapshot) -> list[Scalar]:
    return [*snapshot.q, *snapshot.u, *snapshot.z]


def _values_by_index(snapshot: Snapshot, owner: str, given: Mapping[str, Any]) -> dict[int, Scalar]:
    """Values by their index in [q, u, z]; given by names of the owner's states, or full names of coordinates."""
    topology = snapshot.topology
    known = {c.name: topology.layout.role_slices[c.role].start + c.index for c in topology.coordinates}
    values, own = dict[int, Scalar](), dict(snapshot.system[owner].discrete_states)
    for name, value in given.items():
        if name == "u" and name not in own:  # all speeds, unless something of its own has that name
            values.update(enumerate(value, topology.n_q))
            continue
        index = known.get(f"{owner}.{name}", known.get(name))
        if index is None:
            raise ModelError(unknown("its event sets what the state has not:", name, known), component=owner)
        values[index] = value
    return values
