"""Reactions: forces and moments in joints and constraints, and all quantities by name, corrected where not unique.

A reaction can be requested on either body, about any point and in any axes.  The change that ``redundancy.py`` computes
is transformed to the same body, point and axes, and so are the flows of the component circuit's links.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.direct_calls import make_direct
from kinode.dynamics.reactions.lost_values import check_frames, check_seen, find_left_out, is_redundant, is_shared
from kinode.dynamics.reactions.support_argument import check_support, read_support
from kinode.dynamics.state_batch import StateBatch, split_values
from kinode.errors import ArgumentError
from kinode.kernels.kernel_options import Kernel, ReactionOptions
from kinode.kernels.state import Wrench
from kinode.model.circuit_topology import VECTOR, WORLD, CircuitLink, find_circuit_topology
from kinode.model.constraints.gear_coupling import CoordinateCoupling
from kinode.model.quantities import ACTED_ON, JOINT_WRENCHES, POWERS, SHARE_OF, QuantityName, find_quantity
from kinode.multibody.joint_efforts import EffortOrigins
from kinode.multibody.loop_statics import joints_in_loops, speeds_in_loops

if TYPE_CHECKING:
    from kinode.dynamics.compiled_system import Dynamics
    from kinode.dynamics.reactions.redundancy import ReactionSharing


PARTS = ("total", "static", "kinetic")


def read_request(
    dynamics: Dynamics,
    part: str,
    hold: Any,
    on: Any,
    about: Any,
    axes: Any,
    joints: str | Sequence[str] | None,
    whole: bool,
) -> ReactionOptions:
    """The arguments of ``reactions``, checked."""
    if part not in PARTS:
        raise ArgumentError(f"part: total, static or kinetic, not {part!r}")
    read = dynamics.arguments
    body = None if on is None else str(getattr(on, "name", on))
    names = read.joints_on(body, joints)
    point, frame = (None if x is None else read.frame_name(x) for x in (about, axes))
    return ReactionOptions(part, read_support(dynamics, hold, part, names), whole, body, point, frame, names)


def check_own_acceleration(u_dot: Any, own: Array) -> None:
    """Refuse accelerations other than the model's own: in loops they do not determine the joint efforts."""
    given = np.asarray(u_dot, dtype=float)
    if given.shape != own.shape or not np.allclose(given, own, rtol=1e-6, atol=1e-6 * (1.0 + abs(own).max())):
        message = "where constraints close loops, accelerations do not tell which joints make them"
        raise ArgumentError(f"u_dot: {message}; leave it out, or add an effort to the model")


def depends_on_loops(options: ReactionOptions) -> bool:
    """Whether loops affect the result: not where a share needs no support."""
    return options.part == "total" or options.support is not None


def joint_wrenches(
    dynamics: Dynamics, states: StateBatch, wanted: ReactionOptions, sharing: ReactionSharing | None = None
) -> dict[str, Wrench]:
    """Wrenches of joints by name; ``sharing`` may be given where it is known for the same states and share."""
    if sharing is None and is_redundant(dynamics) and depends_on_loops(wanted):
        from kinode.dynamics.reactions.redundancy import share  # which trees do without

        sharing = share(dynamics, states, wanted.part, wanted.support)
    in_own_axes = wanted.about is None and wanted.axes is None
    if sharing is not None and in_own_axes and not wanted.whole and wanted.support is None:
        compiled = _known_reactions(dynamics, states, wanted, sharing)
    else:
        compiled = states.call(dynamics, "reactions", wanted)
    seen_from = [dynamics.system.find_frame(name) for name in (wanted.about, wanted.axes) if name is not None]
    check_seen(dynamics, seen_from, compiled, states)
    if wanted.support is not None:
        check_support(dynamics, wanted.support, states.t, compiled[..., -1])
    wrenches, left_out = {}, find_left_out(dynamics.topology)
    overlocked = joints_in_loops(dynamics.topology) if is_overlocked(dynamics, states) else ()
    for k, name in enumerate(wanted.joints):
        joint = dynamics.system.joints[name]
        values = compiled[..., 6 * k : 6 * k + 6]
        unique: tuple[bool, ...] = (True,) * 6
        shared = ""
        if sharing is not None:
            change = sharing.of_joint(name, wanted.whole)
            change = transform_change(dynamics, states, name, change, wanted, opposite=wanted.on == joint.a.body)
            values = values + change.reshape(values.shape)
            unique = sharing.is_unique(name, wanted.whole)
            shared = "" if all(unique) else "compliance" if sharing.elastic[name] else "least norm"
        if name in overlocked:
            unique, shared = (False,) * 6, "how it came to rest"
        fields = describe_wrench(dynamics, wanted, name, left_out.get(name, ()), unique, shared)
        wrenches[name] = Wrench(values[..., :3], values[..., 3:], **fields)
    return wrenches


def describe_wrench(
    dynamics: Dynamics,
    wanted: ReactionOptions,
    name: str,
    left_out: tuple[str, ...],
    unique: tuple[bool, ...] = (True,) * 6,
    shared: str = "",
) -> dict[str, Any]:
    """The fields of a joint's wrench besides its numbers."""
    in_own_axes = wanted.about is None and wanted.axes is None
    return {
        "on": wanted.on or dynamics.system.joints[name].b.body,
        "at": wanted.about or f"{name}.child",
        "frame": wanted.axes or f"{name}.parent",
        "unique": all(unique) and not left_out,
        "components": unique if in_own_axes or all(unique) else None,
        "shared": shared,
        "left_out": left_out,
    }


class PlainReactions:
    """Reactions of joints as a function of time, coordinates and speeds, for arguments of any kind."""

    def __init__(self, dynamics: Dynamics, request: ReactionOptions, of_motion: bool) -> None:
        self.dynamics, self.request, self.of_motion = dynamics, request, of_motion
        self.kernel = Kernel("reactions_of_motion" if of_motion else "reactions", request)

    def __call__(
        self, t: Any, q: Any, u: Any, u_dot: Any = None, *, z: Any = None, p: Any = None, inputs: Any = None
    ) -> dict[str, Wrench]:
        """The wrench of each joint."""
        dynamics, n_u = self.dynamics, self.dynamics.n_u
        if u_dot is not None and dynamics.topology.constrained:
            check_own_acceleration(u_dot, dynamics.acceleration(t, q, u, z=z, p=p, inputs=inputs))
        x = dynamics.arguments.read_array("u_dot", u_dot, n_u, np.zeros(n_u))
        point = dynamics.read_point(self.kernel, t, q, u, z, p, inputs, x)
        return joint_wrenches(dynamics, StateBatch.of(point, x if self.of_motion else None), self.request)


def make_reactions(plain: PlainReactions, fallback: Callable[..., Any]) -> Callable[..., Any]:
    """The function of machine code, where equilibrium alone determines the reactions; else the ``fallback``."""
    dynamics, request, topology = plain.dynamics, plain.request, plain.dynamics.topology
    is_certain = not (topology.constrained and (topology.layout.discrete_of or plain.of_motion))
    if request.support is not None or not is_certain or (is_redundant(dynamics) and depends_on_loops(request)):
        return fallback
    left_out = find_left_out(topology)
    fields = [describe_wrench(dynamics, request, name, left_out.get(name, ())) for name in request.joints]
    places = {name: ((k, 0), (k, 1), each) for k, (name, each) in enumerate(zip(request.joints, fields, strict=True))}

    def wrap(values: Array) -> Wrenches:
        wrenches = Wrenches()
        wrenches.values_of_joints, wrenches.places = values, places
        return wrenches

    given, shape = "x" if plain.of_motion else None, (len(places), 2, 3)
    limit = sys.float_info.max if dynamics.system.frames else None  # a frame may be undefined
    return make_direct(
        dynamics, plain.kernel, ("t", "q", "u", given), shape, fallback, least=3 + plain.of_motion, limit=limit,
        wrap=wrap, keywords={"u_dot": given}, described=dynamics.reactions,
    )  # fmt: skip


_NEW, _SET = object.__new__, dict.__setitem__


class Wrenches(dict[str, Wrench]):
    """Wrenches of joints by name at one state, each made when it is first read: most are not."""

    __slots__ = ("places", "values_of_joints")
    places: Mapping[str, tuple[tuple[int, int], tuple[int, int], Mapping[str, Any]]]
    values_of_joints: Array

    def __missing__(self, name: str) -> Wrench:
        force, moment, fields = self.places[name]
        values, wrench = self.values_of_joints, _NEW(Wrench)
        stored = wrench.__dict__  # to set its frozen fields one by one takes as long as all the rest
        stored.update(fields)
        stored["force"], stored["moment"] = values[force], values[moment]
        _SET(self, name, wrench)
        return wrench

    def fill(self) -> dict[str, Wrench]:
        """This dictionary with all wrenches, in the order of the joints."""
        if self.places:
            whole = {name: self[name] for name in self.places}
            self.places = {}
            dict.clear(self)
            dict.update(self, whole)
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (dict(self.fill().items()),)


def _filled(name: str) -> Callable[..., Any]:
    """A method of dictionaries, of one that is filled before."""
    method = getattr(dict, name)

    @wraps(method)
    def call(wrenches: Wrenches, *args: Any, **keywords: Any) -> Any:
        for each in (wrenches, *args):
            if isinstance(each, Wrenches):
                each.fill()
        return method(wrenches, *args, **keywords)

    return call


for _name in (
    "__contains__", "__delitem__", "__eq__", "__ior__", "__iter__", "__len__", "__ne__", "__or__", "__repr__",
    "__reversed__", "__ror__", "__setitem__", "clear", "copy", "get", "items", "keys", "pop", "popitem", "setdefault",
    "update", "values",
):  # fmt: skip
    setattr(Wrenches, _name, _filled(_name))


def _known_reactions(
    dynamics: Dynamics, states: StateBatch, wanted: ReactionOptions, sharing: ReactionSharing
) -> Array:
    """The compiled reactions in the joints' own axes, which were computed to be shared."""
    joints = dynamics.system.joints
    signs = [-1.0 if wanted.on == joints[name].a.body else 1.0 for name in wanted.joints]
    loads = np.hstack([sign * sharing.loads[name] for sign, name in zip(signs, wanted.joints, strict=True)])
    return loads if states.n_rows is not None else loads[0]


def is_overlocked(dynamics: Dynamics, states: StateBatch) -> bool:
    """Whether in any state more joints of the loops are locked than the loops have freedoms.

    The distribution of the locking forces then depends on how the mechanism came to rest.
    """
    topology = dynamics.topology
    if not topology.constrained or not topology.layout.discrete_of:
        return False
    z = np.atleast_2d(states.z)
    in_loops = joints_in_loops(topology)
    n_locked = np.zeros(len(z), dtype=int)
    for owner, where in topology.layout.discrete_of.items():
        component = dynamics.system[owner]
        fields = [owner] if owner in dynamics.system.joints else list(getattr(component, "joint_fields", ()))
        joints = [getattr(component, field, field) for field in fields]
        entries = [k for k, (name, _) in enumerate(component.discrete_states) if name in ("mode", "friction.mode")]
        if any(name in in_loops for name in joints):
            n_locked += sum((z[:, where.start + k] == 0.0).astype(int) for k in entries)
    freedoms = len(speeds_in_loops(topology)) - len(dynamics.closure.rows)
    return bool((n_locked > freedoms).any())


def transform_change(
    dynamics: Dynamics, states: StateBatch, joint: str, change: Array, wanted: ReactionOptions, opposite: bool
) -> Array:
    """A change of force and moment, brought to the requested body, point and axes.

    ``change`` acts from the parent body on the child, about the child's joint point, in the parent's joint axes.
    """
    force, moment = np.split(-change if opposite else change, 2, axis=1)
    if wanted.about is None and wanted.axes is None:
        return np.hstack([force, moment])
    names = {"R": f"{joint}.parent.rotation", "at": f"{joint}.child.position"}
    names.update({"about": f"{wanted.about}.position"} if wanted.about else {})
    names.update({"axes": f"{wanted.axes}.rotation"} if wanted.axes else {})
    values = states.evaluate(dynamics, list(names.values()))
    points = {key: np.atleast_2d(values[name]) for key, name in names.items() if key in ("at", "about")}
    rotations = {key: values[name].reshape(-1, 3, 3) for key, name in names.items() if key in ("R", "axes")}
    force, moment = (np.einsum("tij,tj->ti", rotations["R"], x) for x in (force, moment))
    if "about" in points:
        moment = moment + np.cross(points["at"] - points["about"], force)
    R_WA = rotations.get("axes", rotations["R"])
    return np.hstack([np.einsum("tji,tj->ti", R_WA, x) for x in (force, moment)])


def by_name(
    dynamics: Dynamics, name: QuantityName, states: StateBatch, sharing: ReactionSharing, compiled: Array
) -> Array:
    """The value of a quantity by name after the distribution; ``compiled`` is its value before."""
    if name.quantity in JOINT_WRENCHES:
        return _of_wrench(dynamics, name, states, sharing, compiled.shape)
    if name.quantity not in ACTED_ON:
        find_change = link_change if name.sort == "link" else constraint_change
        return np.asarray(compiled + find_change(dynamics, name, states, sharing).reshape(compiled.shape))
    change = _of_effort(dynamics, name.owner, name.quantity, states, sharing)
    if name.quantity in POWERS:
        u = states.evaluate(dynamics, [f"{name.owner}.u"])[f"{name.owner}.u"]
        change = np.sum(change * u.reshape(change.shape), axis=1)
    elif name.part is not None:
        change = change[:, name.part]
    return np.asarray(compiled + change.reshape(compiled.shape))


def _of_effort(dynamics: Dynamics, joint: str, quantity: str, states: StateBatch, sharing: ReactionSharing) -> Array:
    """The change of a joint's effort or of one of its shares; ``multibody/joint_efforts.py`` defines them."""
    resolve = dynamics.arguments.resolver(first_parameters(states.p))
    factors = EffortOrigins(dynamics.topology, resolve).of_share(joint, SHARE_OF.get(quantity, quantity))
    total = np.zeros_like(sharing.of_effort(joint))
    for origin, factor in factors.items():
        total = total + factor * sharing.changes[origin]
    return total


def _of_wrench(
    dynamics: Dynamics, name: QuantityName, states: StateBatch, sharing: ReactionSharing, shape: tuple[int, ...]
) -> Array:
    kind, _, part = name.quantity.partition(".")
    axes = None if name.axes is None else name.text.partition("@")[2]
    wanted = ReactionOptions(whole=kind == "wrench", axes=axes, joints=(name.owner,))
    wrench = joint_wrenches(dynamics, states, wanted, sharing)[name.owner]
    if part in ("axial", "radial"):
        joint, resolve = dynamics.system.joints[name.owner], dynamics.arguments.resolver(first_parameters(states.p))
        e = np.asarray(joint.axis_rotation(resolve, resolve), dtype=float) @ np.array([0.0, 0.0, 1.0])
        along: Array = wrench.force @ e
        across = wrench.force - along[..., None] * e
        return (along if part == "axial" else np.linalg.norm(across, axis=-1)).reshape(shape)
    value: Array = wrench.force if part == "force" else wrench.moment
    return (value if name.part is None else value[..., name.part]).reshape(shape)


def first_parameters(p: Any) -> Any:
    """The parameters, or those of the first state of a batch: directions of axes are taken from them."""
    return p[0] if isinstance(p, np.ndarray) and p.ndim == 2 else p


def constraint_change(dynamics: Dynamics, name: QuantityName, states: StateBatch, sharing: ReactionSharing) -> Array:
    """The change of a constraint's multipliers, or of its wrench on a body, which is linear in them."""
    topology = dynamics.topology
    origin = next((f"{n}.effort" for n, c in topology.couplings.items() if c.constraint == name.owner), name.owner)
    change = sharing.changes[origin]
    if name.quantity == "reaction":
        return change if name.part is None else change[:, name.part]
    unit = np.atleast_2d(states.call(dynamics, "unit_wrench", (name.text,)))
    each = unit.reshape(len(unit), change.shape[1], -1)
    return np.asarray(np.einsum("tj,tjk->tk", change, each))


def link_change(dynamics: Dynamics, name: QuantityName, states: StateBatch, sharing: ReactionSharing) -> Array:
    """The change of a link variable; that of a potential is zero.  One row for each state."""
    topology = find_circuit_topology(dynamics.system)
    number, _, quantity = name.quantity.partition(".")
    component = topology.components[name.owner]
    link, sign = topology.link(component.name, int(number)), 1.0
    zero = np.zeros((len(np.atleast_1d(states.t)), 3 if link.kind == VECTOR else 1))
    if link.kind != VECTOR:
        change = _along(dynamics, link, states, sharing) if quantity == link.words.flow else None
        return zero if change is None else change
    if quantity not in ("force", "moment"):
        return zero[:, : 1 if name.part is not None else 3]
    if component.role == "SB" or component.name == WORLD:
        link, sign = topology.other_end(link), -1.0
    change = _vector(dynamics, link, name, quantity, states, sharing)
    change = zero if change is None else sign * change
    return change if name.part is None else change[:, [name.part]]


def _vector(
    dynamics: Dynamics, link: CircuitLink, name: QuantityName, quantity: str, states: StateBatch,
    sharing: ReactionSharing,
) -> Array | None:  # fmt: skip
    """The change of force or moment on a joint or a constraint at a vector link; None if it is loaded by elements."""
    system = dynamics.system
    assert link.frame is not None
    axes = name.text.partition("@")[2] or link.frame.body
    if link.component in system.joints:
        first = link.number == 1
        about = f"{link.component}.{'parent' if first else 'child'}"
        wanted = ReactionOptions(whole=True, about=about, axes=axes, joints=(link.component,))
        whole = sharing.of_joint(link.component, True)
        change = transform_change(dynamics, states, link.component, whole, wanted, opposite=first)
        return -change[:, :3] if quantity == "force" else -change[:, 3:]
    if link.component in system.constraints:
        text = f"{link.component}.on.{link.frame.body}.{quantity}@{axes}"
        return -constraint_change(dynamics, find_quantity(system, text), states, sharing)
    return None


def _along(dynamics: Dynamics, link: CircuitLink, states: StateBatch, sharing: ReactionSharing) -> Array | None:
    """The change of the flow at an energy link on a joint's freedom; None if there is none."""
    system, k = dynamics.system, link.freedom
    if k is None:
        return None
    topology = find_circuit_topology(system)
    joint = topology.at_joint(link).component
    component = topology.components[link.component]
    if component.name == joint:
        return sharing.of_effort(joint)[:, [k]]
    if component.owner == joint and component.field in ("motion", "speed"):
        return -sharing.changes[f"{joint}.effort"][:, [k]]
    coupling = system.constraints.get(component.name)
    if not isinstance(coupling, CoordinateCoupling):
        return None
    relation = coupling.relation(system)
    change = constraint_change(dynamics, find_quantity(system, f"{coupling.name}.reaction"), states, sharing)
    ratio = dynamics.arguments.resolver(first_parameters(states.p))(relation.ratio)
    return np.asarray((-1.0 if joint == relation.follower else ratio) * change.reshape(-1, 1))


def make_evaluation(dynamics: Dynamics, texts: tuple[str, ...]) -> Callable[..., Any]:
    """Quantities by name as a function of time, coordinates and speeds; of machine code where each is unique."""

    def plain(t: Any, q: Any, u: Any, *, z: Any = None, p: Any = None, inputs: Any = None) -> dict[str, Array]:
        from kinode.dynamics.reactions.redundancy import share  # which trees do without

        states = StateBatch.of(dynamics.read_point(kernel, t, q, u, z, p, inputs, np.empty(0)))
        return evaluate_names(dynamics, texts, states, lambda: share(dynamics, states))

    kernel, names = Kernel("evaluate", texts), [find_quantity(dynamics.system, text) for text in texts]
    if any(is_shared(dynamics, name) for name in names):
        return plain
    limit = sys.float_info.max if dynamics.system.frames else None  # a frame may be undefined

    def wrap_one(value: Array) -> dict[str, Array]:
        return {texts[0]: value}

    def wrap_all(values: tuple[Array, ...]) -> dict[str, Array]:
        return dict(zip(texts, values, strict=True))

    shapes = [name.size for name in names]
    wrap = wrap_one if len(texts) == 1 else wrap_all
    return make_direct(dynamics, kernel, ("t", "q", "u"), shapes, plain, limit=limit, wrap=wrap)


def evaluate_names(
    dynamics: Dynamics, texts: tuple[str, ...], states: StateBatch, sharing: Callable[[], ReactionSharing]
) -> dict[str, Array]:
    """Quantities by name; ``sharing`` is called where reactions are not unique."""
    names = [find_quantity(dynamics.system, name) for name in texts]
    values = dict(split_values(states.call(dynamics, "evaluate", texts), names))
    check_frames(dynamics, names, values, states)
    for name in names:
        if is_shared(dynamics, name):
            values[name.text] = by_name(dynamics, name, states, sharing(), values[name.text])
    return values
