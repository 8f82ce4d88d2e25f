"""Random mechanisms with loops in a position that is closed by construction.

Bodies stand anywhere.  Each joint's frame F stands anywhere on one body; its frame M, on the other, stands where random
coordinates of the joint put it.  So the coordinates of all joints are known without solving anything.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from joint_contract import needed_fields

import kinode as kn

PLANAR = ("revolute", "revolute", "revolute", "prismatic")
SPATIAL = ("revolute", "spherical", "universal", "cylindrical", "prismatic", "planar", "screw", "spherical", "fixed")
LEAD = 0.3


@dataclass(frozen=True)
class Edge:
    """A joint between two bodies (-1 is the world), with its coordinates in the closed position."""

    name: str
    kind: str
    a: int
    b: int
    F: kn.Pose
    M: kn.Pose
    q: np.ndarray


@dataclass(frozen=True)
class Mechanism:
    """A closed mechanism; ``tree`` names joints that connect all bodies without a loop."""

    planar: bool
    bodies: int
    edges: tuple[Edge, ...]
    tree: tuple[str, ...]

    def system(self, guesses: frozenset[str] | set[str], order: np.random.Generator | None = None) -> kn.System:
        """The model, with the coordinates of some joints as guesses; ``order`` shuffles the declarations."""
        system = kn.System("closed", gravity=(0, 0, -9.81))
        parts = [system.body(f"b{k}", mass=1.0, inertia=(0.1, 0.12, 0.15)) for k in range(self.bodies)]
        edges = list(self.edges)
        if order is not None:
            order.shuffle(edges)
        for edge in edges:
            a, b = (system.world if k < 0 else parts[k] for k in (edge.a, edge.b))
            given = {"guess": list(edge.q)} if edge.name in guesses and len(edge.q) else {}
            frames = (side.at(*map(float, X.p), matrix=X.R.tolist()) for side, X in ((a, edge.F), (b, edge.M)))
            more = needed_fields(edge.kind, LEAD)
            getattr(system, edge.kind)(edge.name, *frames, **given, **more)
        return system

    def poses(self) -> dict[int, kn.Pose]:
        """The pose of each body in the closed position, along the tree."""
        poses = {-1: kn.Pose(np.eye(3), np.zeros(3))}
        left = [e for e in self.edges if e.name in self.tree]
        while left:
            edge = next(e for e in left if e.a in poses or e.b in poses)
            left.remove(edge)
            joint, form = mechanics(edge.kind)
            C = given_axes(edge.kind)
            T = C.inverse() @ plain(joint.transform(edge.q, form)) @ C
            if edge.a in poses:
                poses[edge.b] = poses[edge.a] @ edge.F @ T @ edge.M.inverse()
            else:
                poses[edge.a] = poses[edge.b] @ edge.M @ T.inverse() @ edge.F.inverse()
        return poses

    def off(self, assembly: kn.Assembly) -> float:
        """The largest distance of a joint from the closed position, in rad or m; full turns do not count."""
        worst = 0.0
        for edge in self.edges:
            joint, form = mechanics(edge.kind)
            if not joint.n_u:
                continue
            names = [n for n in assembly.values if n == f"{edge.name}.q" or n.startswith(f"{edge.name}.q.")]
            q = np.array([assembly[n] for n in names])
            one, two = (plain(joint.transform(x, form)) for x in (q, edge.q))
            worst = max(worst, abs(one.R - two.R).max(), abs(one.p - two.p).max())
        return float(worst)


@cache
def mechanics(kind: str):
    """A joint of a kind, and its own numbers."""
    system = kn.System("one")
    getattr(system, kind)("j", system.world, system.body("b", mass=1, inertia=(1, 1, 1)), **needed_fields(kind, LEAD))
    joint = system.joints["j"]
    return joint, np.asarray(joint.form(system.nominal), dtype=float)


@cache
def given_axes(kind: str) -> kn.Pose:
    """The joint's axes as declared, in the canonical ones in which its pose is written."""
    joint, _ = mechanics(kind)
    C = np.asarray(joint.axis_rotation(float, float), dtype=float)
    return kn.Pose(C.T, np.zeros(3))


def plain(X: kn.Pose) -> kn.Pose:
    return kn.Pose(np.asarray(X.R, dtype=float), np.asarray(X.p, dtype=float))


def random_rotation(rng: np.random.Generator, planar: bool) -> np.ndarray:
    if planar:
        c, s = np.cos(angle := rng.uniform(-np.pi, np.pi)), np.sin(angle)
        return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    Q, R = np.linalg.qr(rng.normal(size=(3, 3)))
    Q = Q * np.sign(np.diag(R))
    return Q if np.linalg.det(Q) > 0 else Q[:, [1, 0, 2]]


def random_mechanism(seed: int, loops: int, planar: bool) -> Mechanism:
    """Some bodies, a random tree of joints, and as many joints more as there are loops."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(1 + loops // 2, 3 + 2 * loops))
    place = np.array([1.0, 1.0, 0.0 if planar else 1.0])
    poses = [kn.Pose(random_rotation(rng, planar), place * rng.uniform(-1, 1, 3)) for _ in range(count)]
    pairs = [(int(rng.integers(-1, k)), k) for k in range(count)]
    ends = set(pairs)
    for _ in range(loops):
        a, b = (int(k) for k in rng.choice(np.arange(-1, count), 2, replace=False))
        pairs.append((a, b))
        ends.add((a, b))
    edges = []
    for k, (a, b) in enumerate(pairs):
        kind = str(rng.choice(PLANAR if planar else SPATIAL))
        joint, form = mechanics(kind)
        at = kn.Pose(random_rotation(rng, planar), place * rng.uniform(-1, 1, 3))
        if planar and kind == "prismatic":  # along an axis in the plane
            at = kn.Pose(at.R @ np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]), at.p)
        q = joint.advance(joint.neutral_q(), rng.uniform(-2.5, 2.5, joint.n_u)) if joint.n_u else np.empty(0)
        X_a, X_b = (kn.Pose(np.eye(3), np.zeros(3)) if i < 0 else poses[i] for i in (a, b))
        frames = (at, at @ plain(joint.transform(q, form)))
        F, M = (plain(X.inverse() @ frame @ given_axes(kind)) for X, frame in zip((X_a, X_b), frames, strict=True))
        edges.append(Edge(f"j{k}", kind, a, b, F, M, q))
    return Mechanism(planar, count, tuple(edges), spanning_tree(rng, edges, count))


def spanning_tree(rng: np.random.Generator, edges: list[Edge], count: int) -> tuple[str, ...]:
    """Names of joints that connect all bodies with the world, chosen by chance."""
    group = list(range(-1, count))
    chosen = []
    for k in rng.permutation(len(edges)):
        a, b = group[edges[k].a + 1], group[edges[k].b + 1]
        if a != b:
            group = [a if g == b else g for g in group]
            chosen.append(edges[k].name)
    return tuple(chosen)


def only_one_angle_closes(mechanism: Mechanism, edge: Edge) -> bool:
    """Whether a body that hangs on one hinge of the tree closes its other joints at one angle of the hinge alone.

    By a scan: everything else stands; at angles away from the closed one the other joints are clearly open.
    """
    leaf, other = (edge.b, edge.a) if _degree(mechanism, edge.b) == 1 else (edge.a, edge.b)
    if edge.kind != "revolute" or _degree(mechanism, leaf) != 1 or leaf < 0:
        return False
    closing = [e for e in mechanism.edges if leaf in (e.a, e.b) and e is not edge]
    poses = mechanism.poses()
    joint, form = mechanics("revolute")
    turned = given_axes("revolute")
    least = np.inf
    for angle in np.linspace(0.1, 2 * np.pi - 0.1, 180):
        T = turned.inverse() @ plain(joint.transform(edge.q + angle, form)) @ turned
        there = dict(poses)
        if leaf == edge.b:
            there[leaf] = poses[other] @ edge.F @ T @ edge.M.inverse()
        else:
            there[leaf] = poses[other] @ edge.M @ T.inverse() @ edge.F.inverse()
        least = min(least, max((openness(e, there) for e in closing), default=0.0))
    return bool(least > 0.02)


def openness(edge: Edge, poses: dict[int, kn.Pose]) -> float:
    """How far a joint's frames are from a pose that the joint allows."""
    joint, form = mechanics(edge.kind)
    C = given_axes(edge.kind).inverse()
    X = plain((poses[edge.a] @ edge.F @ C).inverse() @ (poses[edge.b] @ edge.M @ C))
    allowed = plain(joint.transform(np.asarray(joint.solve_coordinates(X, form), dtype=float), form))
    return float(max(abs(X.R - allowed.R).max(), abs(X.p - allowed.p).max()))


def _degree(mechanism: Mechanism, body: int) -> int:
    return sum(body in (e.a, e.b) for e in mechanism.edges if e.name in mechanism.tree)
