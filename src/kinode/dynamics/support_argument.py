"""Who holds a mechanism with loops while its static part is asked for: reading ``hold=``, and saying what is amiss.

Drives hold what they drive, and freedoms that no loop touches hold themselves.  What is left of the loops must be held
by freedoms that are named, as many as there are and independent of each other.  None is chosen for the user, since
reactions differ with the choice, in loops of one freedom too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.errors import AssemblyError, SupportError
from kinode.kernels.state import State
from kinode.model.base.fields import unknown
from kinode.multibody.restraints.loop_statics import DOUBT, Freedom, Support, joints_in_loops, speeds_in_loops

if TYPE_CHECKING:
    from kinode.dynamics.compiled_system import Dynamics

WALK = 0.1  # how far from the start independence is judged, so that a start in a dead center tells nothing wrong
WELL = 0.01  # of the largest lever in the loops: who has less does not hold well
MOVES = 1e-8  # a speed below this share of the largest is none


def read_hold(dynamics: Dynamics, hold: Any, part: str, joints: Iterable[str]) -> Support:
    """The freedoms that hold while a part of the reactions of joints is asked for; None where no loop matters."""
    if part == "total":
        if hold is not None:
            raise SupportError("hold: who holds matters to the static and kinetic parts alone, not to the total")
        return None
    topology = dynamics.topology
    loops = joints_in_loops(topology)
    if hold is None and not set(joints) & set(loops):
        return None
    given = [hold] if isinstance(hold, str) or hasattr(hold, "name") else list(hold or ())
    freedoms = tuple(f for text in given for f in _read(dynamics, str(getattr(text, "name", text)), loops))
    if freedoms not in dynamics.known_supports:
        _check(dynamics, freedoms, part)
        dynamics.known_supports.add(freedoms)
    return freedoms


def _read(dynamics: Dynamics, text: str, loops: Sequence[str]) -> list[Freedom]:
    """A joint with all its freedoms, or one of them: ``ball``, ``ball.x`` (also ``ball.q.x``, ``ball.u.x``)."""
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
    words = [word for word, _ in joint.coordinates]
    if joint.n_u == 0:
        raise SupportError(f"hold: {name} has no freedom to hold")
    if joint.driven:
        raise SupportError(f"hold: {name} is driven, and holds already")
    if name not in loops:
        raise SupportError(f"hold: {name} is in no loop, and holds itself")
    if part and part not in words:
        raise SupportError(unknown(f"hold: {name} has no freedom", part, words))
    return [(name, words.index(part))] if part in words else [(name, k) for k in range(joint.n_u)]


def _check(dynamics: Dynamics, freedoms: tuple[Freedom, ...], part: str) -> None:
    """Refuse freedoms that are too few, too many, or not independent."""
    topology = dynamics.topology
    loose = len(speeds_in_loops(topology)) - len(dynamics.closure.rows)
    names = _list(freedom_name(dynamics, f) for f in freedoms)
    if len(freedoms) > loose:
        has = f"only {_count(loose)}" if loose else "none"
        message = f"{_count(len(freedoms))} held, {names}, and the loops have {has} that no drive takes"
        raise SupportError(f"hold: {message}")
    if not loose:
        return
    motions, speeds = _loose_motions(dynamics)
    held = np.array([speeds[f] for f in freedoms]).reshape(len(freedoms), motions.shape[1])
    _, sizes, V = np.linalg.svd(held)
    rank = int((sizes > MOVES).sum())
    left = V[rank:].T
    if left.shape[1] == 0:
        return
    able = [f for f, rates in speeds.items() if np.linalg.norm(rates @ left) > MOVES and f not in freedoms]
    choice = _list((freedom_name(dynamics, f) for f in able), "or")
    if rank < len(freedoms):
        fails = "does not" if len(freedoms) == 1 else "do not"
        raise SupportError(f"hold: {names} {fails} hold the loops, in which {choice} could still move")
    if freedoms:
        raise SupportError(f"hold: beside {names} {_count(left.shape[1])} of the loops must be held, by {choice}")
    message = f"the loops have {_count(left.shape[1])} that no drive takes, and the {part} part depends on who holds"
    raise SupportError(f"hold: {message}; name {'a joint' if left.shape[1] == 1 else 'joints'}: {choice}")


def find_hold(dynamics: Dynamics, state: State, usual: Support = None) -> tuple[Freedom, ...]:
    """Freedoms that hold the loops well in a position, for checks to which it does not matter who holds.

    The ``usual`` ones are kept where they do.
    """
    motions = _null_space(dynamics, state)
    speeds = _speeds(dynamics, state, motions)
    if usual is not None:
        levers = np.linalg.svd(
            np.array([speeds[f] for f in usual]).reshape(len(usual), motions.shape[1]), compute_uv=False
        )
        most = max((float(np.linalg.norm(rates)) for rates in speeds.values()), default=0.0)
        if levers.min(initial=np.inf) > WELL * most:
            return usual
    left, found = np.eye(motions.shape[1]), []
    while left.shape[1]:
        best = max(speeds, key=lambda f: float(np.linalg.norm(speeds[f] @ left)))
        found.append(best)
        left = left @ np.linalg.svd((speeds[best] @ left)[None])[2][1:].T
    return tuple(found)


def _loose_motions(dynamics: Dynamics) -> tuple[Array, dict[Freedom, Array]]:
    """Speeds of the state that the constraints leave to loops, near the start, and what each freedom does in each."""
    state, none = dynamics.initial, np.zeros(dynamics.n_u, dtype=bool)
    motions = _null_space(dynamics, state)
    direction = motions @ np.random.default_rng(0).normal(size=motions.shape[1])
    there = dynamics.topology.advance_q(state.q, WALK * direction / np.linalg.norm(direction))
    try:
        q = dynamics.loops.close(dynamics.point(replace(state, q=there)), none)
        state = State(state.t, q, state.u, state.z)
        motions = _null_space(dynamics, state)
    except AssemblyError:  # the start has to do
        pass
    return motions, _speeds(dynamics, state, motions)


def _speeds(dynamics: Dynamics, state: State, motions: Array) -> dict[Freedom, Array]:
    """What each freedom of a joint in loops does in each of these motions of the state."""
    joints = {name: dynamics.system.joints[name] for name in joints_in_loops(dynamics.topology)}
    names = [name for name, joint in joints.items() if joint.n_u and not joint.driven]
    rows = np.vstack([np.zeros(dynamics.n_u), motions.T])
    q = np.tile(state.q, (len(rows), 1))
    found = dynamics.evaluate([f"{name}.u" for name in names], state.t, q, rows, z=state.z)
    speeds = {}
    for name in names:
        rates = found[f"{name}.u"].reshape(len(rows), -1)
        for k, column in enumerate((rates[1:] - rates[0]).T):
            scale = dynamics.loops.length if joints[name].coordinates[k][1] == "length" else 1.0
            speeds[name, k] = column / scale
    return speeds


def _null_space(dynamics: Dynamics, state: State) -> Array:
    """Speeds of loops that keep them closed, as columns; lengths count as shares of the characteristic length."""
    loops, bound = dynamics.loops, list(speeds_in_loops(dynamics.topology))
    _, G, _ = loops.evaluate(dynamics.point(replace(state, u=np.zeros(dynamics.n_u))))
    kinds = {c.index: c.kind for c in dynamics.coordinates if c.role == "u"}
    scale = np.array([loops.length if kinds[k] == "length" else 1.0 for k in bound])
    rows = G[list(dynamics.closure.rows)][:, bound] * scale
    V = np.linalg.svd(rows)[2][len(rows) :].T
    found = np.zeros((dynamics.n_u, V.shape[1]))
    found[bound] = scale[:, None] * V
    return found


def freedom_name(dynamics: Dynamics, freedom: Freedom) -> str:
    """A freedom as ``hold=`` takes it."""
    joint = dynamics.system.joints[freedom[0]]
    return joint.name if joint.n_u == 1 else f"{joint.name}.{joint.coordinates[freedom[1]][0]}"


def _list(names: Iterable[str], last: str = "and") -> str:
    words = list(names)
    return " ".join([", ".join(words[:-1]), last, words[-1]]) if len(words) > 1 else "".join(words)


def _count(n: int) -> str:
    return f"{n} freedom{'s' * (n != 1)}"


def check_held(dynamics: Dynamics, hold: Support, t: Any, doubt: Array) -> None:
    """Refuse positions in which those who hold have no lever on the mechanism."""
    bad = np.flatnonzero(~(np.atleast_1d(doubt) <= DOUBT))
    if not len(bad):
        return
    who = _list(freedom_name(dynamics, freedom) for freedom in hold or ()) or "the drives"
    at = float(np.broadcast_to(np.asarray(t, dtype=float).ravel(), np.shape(np.atleast_1d(doubt)))[bad[0]])
    more = f" and {len(bad) - 1} other time{'s' * (len(bad) > 2)}" if len(bad) > 1 else ""
    message = f"{who} cannot hold the mechanism at t = {at:.9g} s{more}: a dead center, or another singular position"
    raise SupportError(f"hold: {message}; leave such times out, or let another joint hold")
