"""Forces and moments in joints and constraints: compiled, shared where they are not unique, as users ask for them.

A reaction can be asked for on either body, about any point and in any axes; what ``redundant_reactions.py`` adds to the
compiled values is brought to the same body, point and axes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.redundant_reactions import ReactionSharing, StateBatch, is_redundant, share
from kinode.dynamics.static_support import check_held, read_hold
from kinode.errors import ArgumentError
from kinode.kernels.kernel_programs import hold_option
from kinode.kernels.state import Wrench
from kinode.model.quantity_names import JOINT_WRENCHES, QuantityName
from kinode.multibody.restraints.loop_statics import Support, joints_in_loops, speeds_in_loops

if TYPE_CHECKING:
    from kinode.dynamics.compile import Dynamics

PARTS = ("total", "static", "kinetic")


@dataclass(frozen=True)
class ReactionRequest:
    """What is asked of reactions: part, with the effort or without, on which body, about which point, in whose axes.

    ``hold`` are the freedoms that hold loops while a part is asked for (``static_support.py``).
    """

    part: str = "total"
    whole: bool = False
    on: str | None = None
    about: str | None = None
    axes: str | None = None
    hold: Support = None

    def __post_init__(self) -> None:
        if self.part not in PARTS:
            raise ArgumentError(f"part: total, static or kinetic, not {self.part!r}")

    def held_by(self, dynamics: Dynamics, hold: Any, joints: Iterable[str]) -> ReactionRequest:
        """The same, of certain joints, with what the user says of who holds."""
        return replace(self, hold=read_hold(dynamics, hold, self.part, joints))

    @property
    def in_loops(self) -> bool:
        """Whether loops can matter: to parts of which nobody has to say who holds, they do not."""
        return self.part == "total" or self.hold is not None

    @property
    def options(self) -> tuple[str, ...]:
        """The same for a kernel."""
        return (
            self.part, hold_option(self.hold), "whole" if self.whole else "reaction",
            self.on or "-", self.about or "-", self.axes or "-",
        )  # fmt: skip


def joint_wrenches(
    dynamics: Dynamics,
    names: tuple[str, ...],
    states: StateBatch,
    wanted: ReactionRequest,
    sharing: ReactionSharing | None = None,
) -> dict[str, Wrench]:
    """Wrenches of joints; ``sharing`` of the same states and part may be known already."""
    found = states.call(dynamics, "reactions", (*wanted.options, *names))
    if wanted.hold is not None:
        check_held(dynamics, wanted.hold, states.t, found[..., -1])
    if sharing is None and is_redundant(dynamics) and wanted.in_loops:
        sharing = share(dynamics, states, wanted.part, wanted.hold)
    result = {}
    rested = joints_in_loops(dynamics.topology) if is_held_twice(dynamics, states) else ()
    for k, name in enumerate(names):
        joint = dynamics.system.joints[name]
        values = found[..., 6 * k : 6 * k + 6]
        unique: tuple[bool, ...] = (True,) * 6
        shared = ""
        if sharing is not None:
            change = sharing.of_joint(name, wanted.whole)
            change = seen(dynamics, states, name, change, wanted, opposite=wanted.on == joint.a.body)
            values = values + change.reshape(values.shape)
            unique = sharing.is_unique(name, wanted.whole)
            shared = "" if all(unique) else "compliance" if sharing.elastic[name] else "least norm"
        if name in rested:
            unique, shared = (False,) * 6, "how it came to rest"
        plain = wanted.about is None and wanted.axes is None
        result[name] = Wrench(
            values[..., :3],
            values[..., 3:],
            on=wanted.on or joint.b.body,
            at=wanted.about or f"{name}.child",
            frame=wanted.axes or f"{name}.parent",
            unique=all(unique),
            components=unique if plain or all(unique) else None,
            shared=shared,
        )
    return result


def is_held_twice(dynamics: Dynamics, states: StateBatch) -> bool:
    """Whether in any state more of what sticks holds a loop than it has freedoms: who holds is a matter of history."""
    topology = dynamics.topology
    if not topology.constrained or not topology.layout.discrete_of:
        return False
    z = np.atleast_2d(
        dynamics.modes(states.t, states.q, states.u, states.p, states.inputs) if states.z is None else states.z
    )
    bound = joints_in_loops(topology)
    stuck = np.zeros(len(z), dtype=int)
    for owner, where in topology.layout.discrete_of.items():
        component = dynamics.system[owner]
        grips = [owner] if owner in dynamics.system.joints else list(getattr(component, "joint_fields", ()))
        held_by = [getattr(component, grip, grip) for grip in grips]
        entries = [k for k, (name, _) in enumerate(component.held) if name in ("mode", "friction.mode")]
        if any(name in bound for name in held_by):
            stuck += sum((z[:, where.start + k] == 0.0).astype(int) for k in entries)
    freedoms = len(speeds_in_loops(topology)) - len(dynamics.closing.rows)
    return bool((stuck > freedoms).any())


def seen(
    dynamics: Dynamics, states: StateBatch, joint: str, change: Array, wanted: ReactionRequest, opposite: bool
) -> Array:
    """Force and moment by a on b, about b's joint point, in a's joint axes, as they are asked for."""
    force, moment = np.split(-change if opposite else change, 2, axis=1)
    if wanted.about is None and wanted.axes is None:
        return np.hstack([force, moment])
    names = {"R": f"{joint}.parent.rotation", "at": f"{joint}.child.position"}
    names.update({"about": f"{wanted.about}.position"} if wanted.about else {})
    names.update({"axes": f"{wanted.axes}.rotation"} if wanted.axes else {})
    s = states
    found = dynamics.evaluate(list(names.values()), s.t, s.q, s.u, z=s.z, p=s.p, inputs=s.inputs)
    place = {key: np.atleast_2d(found[name]) for key, name in names.items() if key in ("at", "about")}
    turn = {key: found[name].reshape(-1, 3, 3) for key, name in names.items() if key in ("R", "axes")}
    force, moment = (np.einsum("tij,tj->ti", turn["R"], x) for x in (force, moment))
    if "about" in place:
        moment = moment + np.cross(place["at"] - place["about"], force)
    back = turn.get("axes", turn["R"])
    return np.hstack([np.einsum("tji,tj->ti", back, x) for x in (force, moment)])


def is_shared(dynamics: Dynamics, name: QuantityName) -> bool:
    """Whether a quantity by name depends on how reactions are shared."""
    if not is_redundant(dynamics):
        return False
    if name.sort == "constraint":
        return name.quantity != "residual"
    if name.sort != "joint":
        return False
    acted_on = dynamics.system.joints[name.owner].driven or name.owner in dynamics.topology.tied
    return name.quantity in JOINT_WRENCHES or (acted_on and name.quantity in ("effort", "effort.drive", "power"))


def by_name(
    dynamics: Dynamics, name: QuantityName, states: StateBatch, sharing: ReactionSharing, compiled: Array
) -> Array:
    """A quantity by name, shared: ``compiled`` is its compiled value."""
    if name.sort == "constraint":
        return np.asarray(compiled + _of_constraint(dynamics, name, states, sharing).reshape(compiled.shape))
    if name.quantity in JOINT_WRENCHES:
        return _of_wrench(dynamics, name, states, sharing, compiled.shape)
    change = sharing.of_effort(name.owner)
    if name.quantity == "effort.drive":
        change = sharing.changes.get(f"{name.owner}.effort", np.zeros_like(change))
        change = change if dynamics.system.joints[name.owner].driven else np.zeros_like(change)
    if name.quantity == "power":
        s = states
        u = dynamics.evaluate([f"{name.owner}.u"], s.t, s.q, s.u, z=s.z, p=s.p, inputs=s.inputs)[f"{name.owner}.u"]
        change = np.sum(change * u.reshape(change.shape), axis=1)
    elif name.part is not None:
        change = change[:, name.part]
    return np.asarray(compiled + change.reshape(compiled.shape))


def _of_wrench(
    dynamics: Dynamics, name: QuantityName, states: StateBatch, sharing: ReactionSharing, shape: tuple[int, ...]
) -> Array:
    kind, _, part = name.quantity.partition(".")
    axes = None if name.axes is None else name.text.partition("@")[2]
    wanted = ReactionRequest(whole=kind == "wrench", axes=axes)
    wrench = joint_wrenches(dynamics, (name.owner,), states, wanted, sharing)[name.owner]
    if part in ("axial", "radial"):
        joint, resolve = dynamics.system.joints[name.owner], dynamics._resolver(_first(states.p))
        e = np.asarray(joint.axis_rotation(resolve, resolve), dtype=float) @ np.array([0.0, 0.0, 1.0])
        along: Array = wrench.force @ e
        across = wrench.force - along[..., None] * e
        return (along if part == "axial" else np.linalg.norm(across, axis=-1)).reshape(shape)
    value: Array = wrench.force if part == "force" else wrench.moment
    return (value if name.part is None else value[..., name.part]).reshape(shape)


def _first(p: Any) -> Any:
    """Parameters of the first row, where there is one for each: directions of axes are taken from it."""
    return p[0] if isinstance(p, np.ndarray) and p.ndim == 2 else p


def _of_constraint(dynamics: Dynamics, name: QuantityName, states: StateBatch, sharing: ReactionSharing) -> Array:
    """The change of multipliers, or of the wrench on a body, which is linear in them."""
    topology = dynamics.topology
    origin = next((f"{n}.effort" for n, c in topology.couplings.items() if c.constraint == name.owner), name.owner)
    change = sharing.changes[origin]
    if name.quantity == "reaction":
        return change if name.part is None else change[:, name.part]
    unit = np.atleast_2d(states.call(dynamics, "unit_wrench", (name.text,)))
    each = unit.reshape(len(unit), change.shape[1], -1)
    return np.asarray(np.einsum("tj,tjk->tk", change, each))
