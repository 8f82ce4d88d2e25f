"""The argument ``hold=``: the joint freedoms that support a mechanism with loops in a static or kinetic share.

Static reactions need a support for every freedom.  A driven joint is supported by its drive.  A joint outside of all
loops supports itself.  The remaining freedoms of the loops need named supports: as many as there are freedoms, and
independent of each other.  None is chosen for the user, since reactions differ with the choice, in loops of one freedom
too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.errors import AssemblyError, SupportError, counted, listed
from kinode.kernels.state import State
from kinode.model.base.fields import unknown
from kinode.multibody.loop_statics import DOUBT, Freedom, Support, joints_in_loops, speeds_in_loops

if TYPE_CHECKING:
    from kinode.dynamics.compiled_system import Dynamics


# rad or characteristic lengths: independence is checked so far from the start, which may be a dead center
CHECK_DISTANCE = 0.1
GOOD_LEVER = 0.01  # of the largest speed ratio in the loops: a support with less is badly conditioned
ZERO_SPEED = 1e-8  # of a unit motion: smaller speeds are rounding


def read_support(dynamics: Dynamics, hold: Any, part: str, joints: Iterable[str]) -> Support:
    """The freedoms that support a share of the reactions of joints, checked; None where loops do not matter."""
    if part == "total":
        if hold is not None:
            raise SupportError("hold: who holds matters to the static and kinetic parts alone, not to the total")
        return None
    topology = dynamics.topology
    loops = joints_in_loops(topology)
    if hold is None and not set(joints) & set(loops):
        return None
    given = [hold] if isinstance(hold, str) or hasattr(hold, "name") else list(hold or ())
    names = [str(getattr(joint, "name", joint)) for joint in given]
    freedoms = tuple(freedom for name in names for freedom in _read_freedoms(dynamics, name, loops))
    if freedoms not in dynamics.known_supports:
        _check_independent(dynamics, freedoms, part)
        dynamics.known_supports.add(freedoms)
    return freedoms


def _read_freedoms(dynamics: Dynamics, text: str, loops: Sequence[str]) -> list[Freedom]:
    """All freedoms of a joint, or one of them: ``ball``, ``ball.x`` (also ``ball.q.x``, ``ball.u.x``)."""
    joints = dynamics.system.joints
    name = text
    rest: list[str] = []
    while name not in joints and "." in name:
        name, _, last = name.rpartition(".")
        rest.insert(0, last)
    part = ".".join(rest[1:] if rest[:1] in (["q"], ["u"]) else rest)
    if name not in joints:
        raise SupportError(unknown("hold: no joint is called", text, joints))
    joint = joints[name]
    coordinates = [coordinate for coordinate, _ in joint.coordinates]
    if joint.n_u == 0:
        raise SupportError(f"hold: {name} has no freedom to hold")
    if joint.driven:
        raise SupportError(f"hold: {name} is driven, and holds already")
    if name not in loops:
        raise SupportError(f"hold: {name} is in no loop, and holds itself")
    if part and part not in coordinates:
        raise SupportError(unknown(f"hold: {name} has no freedom", part, coordinates))
    return [(name, coordinates.index(part))] if part in coordinates else [(name, k) for k in range(joint.n_u)]


def _check_independent(dynamics: Dynamics, freedoms: tuple[Freedom, ...], part: str) -> None:
    """Refuse freedoms that are too few, too many, or not independent."""
    topology = dynamics.topology
    n_free = len(speeds_in_loops(topology)) - len(dynamics.closure.rows)
    names = listed(freedom_name(dynamics, freedom) for freedom in freedoms)
    if len(freedoms) > n_free:
        has = f"only {counted(n_free, 'freedom')}" if n_free else "none"
        message = f"{counted(len(freedoms), 'freedom')} held, {names}, and the loops have {has} that no drive takes"
        raise SupportError(f"hold: {message}")
    if not n_free:
        return
    motions, speeds = _free_motions(dynamics)
    supported = np.array([speeds[freedom] for freedom in freedoms]).reshape(len(freedoms), motions.shape[1])
    _, sizes, V = np.linalg.svd(supported)
    rank = int((sizes > ZERO_SPEED).sum())
    left = V[rank:].T  # motions without a support, as columns
    if left.shape[1] == 0:
        return
    missing = counted(left.shape[1], "freedom")
    able = [
        freedom
        for freedom, rates in speeds.items()
        if np.linalg.norm(rates @ left) > ZERO_SPEED and freedom not in freedoms
    ]
    choice = listed((freedom_name(dynamics, freedom) for freedom in able), "or")
    if rank < len(freedoms):
        fails = "does not" if len(freedoms) == 1 else "do not"
        raise SupportError(f"hold: {names} {fails} hold the loops, in which {choice} could still move")
    if freedoms:
        raise SupportError(f"hold: beside {names} {missing} of the loops must be held, by {choice}")
    message = f"the loops have {missing} that no drive takes, and the {part} part depends on who holds"
    raise SupportError(f"hold: {message}; name {'a joint' if left.shape[1] == 1 else 'joints'}: {choice}")


def find_support(dynamics: Dynamics, state: State, usual: Support = None) -> tuple[Freedom, ...]:
    """Freedoms that support the loops with good levers in a position, for checks that do not depend on the choice.

    The ``usual`` ones are kept where their levers are good.
    """
    motions = _null_space(dynamics, state)
    speeds = _speeds(dynamics, state, motions)
    if usual is not None:
        supported = np.array([speeds[freedom] for freedom in usual]).reshape(len(usual), motions.shape[1])
        levers = np.linalg.svd(supported, compute_uv=False)
        largest = max((float(np.linalg.norm(rates)) for rates in speeds.values()), default=0.0)
        if levers.min(initial=np.inf) > GOOD_LEVER * largest:
            return usual
    left, support = np.eye(motions.shape[1]), []
    while left.shape[1]:
        best = max(speeds, key=lambda freedom: float(np.linalg.norm(speeds[freedom] @ left)))
        support.append(best)
        left = left @ np.linalg.svd((speeds[best] @ left)[None])[2][1:].T
    return tuple(support)


def _free_motions(dynamics: Dynamics) -> tuple[Array, dict[Freedom, Array]]:
    """The free motions of the loops near the start, as columns of speeds, and the speed of each freedom in each."""
    state, none = dynamics.initial, np.zeros(dynamics.n_u, dtype=bool)
    motions = _null_space(dynamics, state)
    direction = motions @ np.random.default_rng(0).normal(size=motions.shape[1])
    there = dynamics.topology.advance_q(state.q, CHECK_DISTANCE * direction / np.linalg.norm(direction))
    try:
        q = dynamics.loops.close(dynamics.point(replace(state, q=there)), none)
        state = State(state.t, q, state.u, state.z)
        motions = _null_space(dynamics, state)
    except AssemblyError:  # use the start itself
        pass
    return motions, _speeds(dynamics, state, motions)


def _speeds(dynamics: Dynamics, state: State, motions: Array) -> dict[Freedom, Array]:
    """The speed of each freedom of the joints in loops, in each of some motions of the state (columns)."""
    joints = {name: dynamics.system.joints[name] for name in joints_in_loops(dynamics.topology)}
    names = [name for name, joint in joints.items() if joint.n_u and not joint.driven]
    rows = np.vstack([np.zeros(dynamics.n_u), motions.T])
    q = np.tile(state.q, (len(rows), 1))
    values = dynamics.evaluate([f"{name}.u" for name in names], state.t, q, rows, z=state.z)
    speeds = {}
    for name in names:
        rates = values[f"{name}.u"].reshape(len(rows), -1)
        for k, column in enumerate((rates[1:] - rates[0]).T):
            scale = dynamics.loops.length if joints[name].coordinates[k][1] == "length" else 1.0
            speeds[name, k] = column / scale
    return speeds


def _null_space(dynamics: Dynamics, state: State) -> Array:
    """Basis of the speeds that keep the loops closed, as columns; lengths are scaled by the characteristic length."""
    loops, in_loops = dynamics.loops, list(speeds_in_loops(dynamics.topology))
    _, G, _ = loops.evaluate(dynamics.point(replace(state, u=np.zeros(dynamics.n_u))))
    units = {c.index: c.kind for c in dynamics.coordinates if c.role == "u"}
    scale = np.array([loops.length if units[k] == "length" else 1.0 for k in in_loops])
    closure = dynamics.closure
    V = np.linalg.svd(G[closure.used][:, in_loops] * scale)[2][len(closure.rows) :].T
    motions = np.zeros((dynamics.n_u, V.shape[1]))
    motions[in_loops] = scale[:, None] * V
    return motions


def freedom_name(dynamics: Dynamics, freedom: Freedom) -> str:
    """A freedom as ``hold=`` takes it."""
    joint = dynamics.system.joints[freedom[0]]
    return joint.name if joint.n_u == 1 else f"{joint.name}.{joint.coordinates[freedom[1]][0]}"


def check_support(dynamics: Dynamics, hold: Support, t: Any, doubt: Array) -> None:
    """Refuse positions in which the support has no lever on the mechanism; ``doubt`` is its squared error, by time."""
    bad = np.flatnonzero(~(np.atleast_1d(doubt) <= DOUBT))
    if not len(bad):
        return
    support = listed(freedom_name(dynamics, freedom) for freedom in hold) if hold else "the drives"
    time = float(np.broadcast_to(np.asarray(t, dtype=float).ravel(), np.shape(np.atleast_1d(doubt)))[bad[0]])
    more = f" and {counted(len(bad) - 1, 'other time')}" if len(bad) > 1 else ""
    message = (
        f"{support} cannot hold the mechanism at t = {time:.9g} s{more}: a dead center, or another singular position"
    )
    raise SupportError(f"hold: {message}; leave such times out, or let another joint hold")
