"""Random trees: all nine joints, any axes and placements, branches, joints declared from either side, drives, gears.

A ``Plan`` is the structure, drawn by hypothesis, which can make it smaller; its numbers come from seeds, one for each
component, so that the same plan can be built in another order, in other world axes, or with joints declared backwards.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from hypothesis import strategies as st
from joint_contract import needed_fields

import kinode as kn
from kinode.algebra.spatial import rotation_from_quaternion
from kinode.model.joints.joint import JOINTS
from kinode.structure.topology import Topology, find_topology

KINDS = tuple(JOINTS)
SIMPLE = ("revolute", "prismatic", "screw")  # the joints that gears can tie


@dataclass(frozen=True)
class Link:
    """A body and the joint that carries it; -1 is the world."""

    kind: str
    parent: int
    backward: bool = False  # the joint is declared with the tree's child as a
    drive: str = "none"  # none, motion, speed
    loads: frozenset[str] = frozenset()  # effort, stiffness, damping
    seed: int = 0


@dataclass(frozen=True)
class Plan:
    """A tree and what acts on it; bodies are numbered, -1 is the world."""

    links: tuple[Link, ...]
    springs: tuple[tuple[int, int], ...] = ()
    forces: tuple[int, ...] = ()
    gear: tuple[int, int] | None = None
    gravity: bool = True
    seed: int = 0


@st.composite
def plans(
    draw: st.DrawFn, *, kinds: tuple[str, ...] = KINDS, most: int = 5, loaded: bool = True, driven: bool = True,
    root: str | None = None, gravity: bool = True,
) -> Plan:  # fmt: skip
    """Plans of trees; ``root`` is the kind of the one joint to the world."""
    count = draw(st.integers(1, most))
    links: list[Link] = []
    for i in range(count):
        kind = root if root and i == 0 else draw(st.sampled_from(kinds))
        parent = draw(st.integers(0 if root and i else -1, i - 1))
        drives = ["none", "none", "none", "speed"] + ([] if JOINTS[kind].quaternion is not None else ["motion"])
        drive = draw(st.sampled_from(drives)) if driven and kind != "fixed" else "none"
        offered = ["effort", "damping"] + ([] if JOINTS[kind].quaternion is not None else ["stiffness"])
        loads = draw(st.frozensets(st.sampled_from(offered))) if loaded and kind != "fixed" else frozenset()
        links.append(Link(kind, parent, draw(st.booleans()), drive, loads, draw(st.integers(0, 2**16))))
    if all(link.drive != "none" or link.kind == "fixed" for link in links):
        links[0] = replace(links[0], kind=root or "revolute", drive="none")
    bodies = st.integers(-1, count - 1)
    pairs = st.tuples(bodies, bodies).filter(lambda pair: pair[0] != pair[1])
    springs = draw(st.lists(pairs, max_size=2)) if loaded else []
    forces = draw(st.lists(st.integers(0, count - 1), max_size=2)) if loaded else []
    simple = [i for i, link in enumerate(links) if link.kind in SIMPLE]
    gear = None
    if driven and len(simple) > 1 and draw(st.booleans()):
        leader, follower = simple[0], simple[-1]
        if links[leader].drive == "none" or links[follower].drive == "none":
            links[follower] = replace(links[follower], drive="none")
            gear = (leader, follower)
    return Plan(tuple(links), tuple(springs), tuple(forces), gear, gravity, draw(st.integers(0, 2**16)))


def turn(rng: np.random.Generator) -> np.ndarray:
    """A random rotation."""
    q = rng.normal(size=4)
    return rotation_from_quaternion(q / np.linalg.norm(q)).astype(float)


def some_inertia(rng: np.random.Generator) -> np.ndarray:
    """An inertia tensor that a body can have: of three masses on axes that are turned at random."""
    x, y, z = rng.uniform(0.02, 0.2, 3)
    R = turn(rng)
    return R @ np.diag([y + z, x + z, x + y]) @ R.T


def build(
    plan: Plan, *, order: list[int] | None = None, world: np.ndarray | None = None, flip: frozenset[int] = frozenset()
) -> kn.System:
    """The system of a plan.

    ``order`` is the order of declaration, ``world`` a rotation of the whole model, ``flip`` the joints whose a and b
    are exchanged.
    """
    R_0 = np.eye(3) if world is None else world
    gravity = R_0 @ np.array([1.0, -2.0, -9.0]) if plan.gravity else np.zeros(3)
    system = kn.System("random", gravity=tuple(gravity))
    order = list(range(len(plan.links))) if order is None else order
    for i in order:
        rng = np.random.default_rng((plan.links[i].seed, i, 1))
        system.body(
            f"body{i}", mass=rng.uniform(0.5, 2.0), com=tuple(rng.uniform(-0.3, 0.3, 3)),
            inertia=some_inertia(rng).tolist(),
        )  # fmt: skip
    for i in order:
        _declare_joint(system, plan, i, R_0, i in flip)
    for k, (i, j) in enumerate(plan.springs):
        rng = np.random.default_rng((plan.seed, k, 2))
        ends = [_frame(system, body, rng, R_0, spread=1.0) for body in (i, j)]
        plain = {"stiffness": 30.0, "damping": 2.0, "free_length": 0.4}
        system.spring(f"spring{k}", *ends, **({"tension": "20*(length - 0.3) + 2*rate*length"} if k else plain))
    for k, i in enumerate(plan.forces):
        _declare_force(system, plan, k, i, R_0)
    if plan.gear is not None:
        leader, follower = plan.gear
        system.constraint("gear", "gear", input=f"joint{follower}", output=f"joint{leader}", ratio=-1.7, offset=0.2)
    return system


def _frame(system: kn.System, body: int, rng: np.random.Generator, R_0: np.ndarray, spread: float = 0.4):
    p, R = rng.uniform(-spread, spread, 3), turn(rng)
    if body < 0:
        return system.world.at(*(R_0 @ p), matrix=(R_0 @ R).tolist())
    return system[f"body{body}"].at(*p, matrix=R.tolist())


def _declare_joint(system: kn.System, plan: Plan, i: int, R_0: np.ndarray, flip: bool) -> None:
    link = plan.links[i]
    rng = np.random.default_rng((link.seed, i, 3))
    near, far = _frame(system, link.parent, rng, R_0), _frame(system, i, rng, R_0)
    a, b = (far, near) if link.backward != flip else (near, far)
    cls, n = JOINTS[link.kind], len(JOINTS[link.kind].coordinates)
    fields: dict[str, object] = dict(needed_fields(link.kind))
    axis = tuple(rng.normal(size=3))
    if link.kind == "universal":
        axes = (axis, tuple(rng.normal(size=3)))
        fields["axes"] = axes[::-1] if flip else axes
    elif hasattr(cls, "axis"):
        fields["axis"] = axis if rng.uniform() < 0.6 else ("x", "-y", "z", "-z")[rng.integers(4)]
    size, fast, shift = rng.uniform(0.2, 1.0, n), rng.uniform(0.5, 3.0, n), rng.uniform(-1.0, 1.0, n)
    laws = [f"{s:.6f}*sin({w:.6f}*t) + {c:.6f}" for s, w, c in zip(size, fast, shift, strict=True)]
    if link.drive != "none":
        fields[link.drive] = laws
    if "effort" in link.loads:
        fields["effort"] = [f"{law} - 0.3*joint{i}.u{_part(cls, k)}" for k, law in enumerate(laws)]
    if "stiffness" in link.loads:
        fields["stiffness"], fields["neutral"] = list(10 * size), list(shift)
    if "damping" in link.loads:
        fields["damping"] = list(fast)
    system.joint(f"joint{i}", link.kind, a, b, **fields)


def _part(cls: type, k: int) -> str:
    return f".{cls.coordinates[k][0]}" if len(cls.coordinates) > 1 else ""


def _declare_force(system: kn.System, plan: Plan, k: int, i: int, R_0: np.ndarray) -> None:
    rng = np.random.default_rng((plan.seed, k, 4))
    at = _frame(system, i, rng, R_0)
    size = rng.uniform(-5.0, 5.0, 3)
    other = plan.links[i].parent
    more = {"reaction_on": "world" if other < 0 else f"body{other}"}
    if k == 0:  # in the axes of the frame it acts at, following the motion
        body = f"body{i}"
        slow, spin = f"{size[1]} - 0.2*{body}.velocity.y@{body}", f"{size[2]}*{body}.angular_velocity.x@{body}"
        laws = (f"{size[0]}*sin(t)", slow, spin)
        system.force("force0", at, laws, expressed_in=at, **more)
        system.moment("moment0", at, tuple(size[::-1]), expressed_in=f"body{i}", **more)
    else:
        system.force(f"force{k}", at, tuple(R_0 @ size))
        system.moment(f"moment{k}", at, tuple(R_0 @ size[::-1]))


def topology_of(plan: Plan, **how) -> Topology:
    """The topology of a plan's system."""
    return find_topology(build(plan, **how))
