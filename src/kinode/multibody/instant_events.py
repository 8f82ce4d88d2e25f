"""Events of one instant: the roots of all modes, and the state after an event or a tick.

The components say what ends their modes and what is new then (model/base/events.py); here their words are put into the
order of the state, so that a kernel gives it whole.
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
    """All roots, and behind them their rates."""
    entries = [] if snapshot.topology.events is None else [entry.root for entry in snapshot.topology.events.roots]
    return [root.g(snapshot) for root in entries] + [root.rate(snapshot) for root in entries]


def glance(snapshot: Snapshot) -> list[Scalar]:
    """The roots that the state alone tells; 0 for the others."""
    assert snapshot.topology.events is not None
    return [entry.root.g(snapshot) if entry.root.by_state else 0.0 for entry in snapshot.topology.events.roots]


def after_event(snapshot: Snapshot, fired: Array) -> list[Scalar]:
    """The state [q, u, z] after the event of the root whose entry of ``fired`` is 1."""
    table = snapshot.topology.events
    assert table is not None
    y = _state(snapshot)
    base = snapshot.topology.layout.role_slices["z"].start
    for k, entry in enumerate(table.roots):
        if entry.at >= 0 and entry.root.then != entry.root.value:
            y[base + entry.at] = where(fired[k], entry.root.then, y[base + entry.at])
    for owner in table.owners:
        places = table.of(owner)
        own = [fired[k] for k in places]
        for place, value in _places(snapshot, owner, snapshot.system[owner].reset(snapshot, own)).items():
            y[place] = where(sum(own[1:], own[0]), value, y[place])
    return y


def after_tick(snapshot: Snapshot, ticked: Array) -> list[Scalar]:
    """The state [q, u, z] after a tick of the samplers whose entries of ``ticked`` are 1, component by component."""
    topology = snapshot.topology
    table = topology.events
    assert table is not None
    base, now = topology.layout.role_slices["z"].start, snapshot
    for owner in dict.fromkeys(entry.owner for entry in table.samplers):
        own = [ticked[k] for k, entry in enumerate(table.samplers) if entry.owner == owner]
        new = now.system[owner].sample(now, own)
        if not new:
            continue
        z, held = list(now.z), topology.layout.discrete_of.get(owner, slice(0, 0))
        for place, value in _places(now, owner, new).items():
            if not held.start <= place - base < held.stop:
                raise ModelError("a sample sets its own held entries alone", component=owner)
            z[place - base] = where(sum(own[1:], own[0]), value, z[place - base])
        now = now.at(now.point.replaced(z=np.array(z, dtype=object)))
    return _state(now)


def consistent_discrete_states(snapshot: Snapshot) -> list[Scalar]:
    """z with the held entries that follow from the state: what a motion begins with."""
    z = list(snapshot.z)
    base = snapshot.topology.layout.role_slices["z"].start
    for owner, where_held in snapshot.topology.layout.discrete_of.items():
        names = {name for name, _ in snapshot.system[owner].discrete_states}
        given = {name: x for name, x in snapshot.system[owner].consistent_values(snapshot).items() if name in names}
        for place, value in _places(snapshot, owner, given).items():
            assert where_held.start <= place - base < where_held.stop
            z[place - base] = value
    return z


def _state(snapshot: Snapshot) -> list[Scalar]:
    return [*snapshot.q, *snapshot.u, *snapshot.z]


def _places(snapshot: Snapshot, owner: str, given: Mapping[str, Any]) -> dict[int, Scalar]:
    """Values by their place in [q, u, z]: own states and held entries by name, coordinates of joints by full names."""
    topology = snapshot.topology
    known = {c.name: topology.layout.role_slices[c.role].start + c.index for c in topology.coordinates}
    found, own = dict[int, Scalar](), dict(snapshot.system[owner].discrete_states)
    for name, value in given.items():
        if name == "u" and name not in own:  # all speeds, unless something of its own has that name
            found.update(enumerate(value, topology.n_q))
            continue
        place = known.get(f"{owner}.{name}", known.get(name))
        if place is None:
            raise ModelError(unknown("its event sets what the state has not:", name, known), component=owner)
        found[place] = value
    return found
