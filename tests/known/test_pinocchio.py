"""Against Pinocchio, on every URDF of example-robot-data that it can read at night, on robots of all shapes by day.

Accelerations, efforts of inverse dynamics, mass matrices, and all that each joint transmits (``data.f``), at a random
state.  Both sides read the same file.  The differences between them that the comparison takes into account:

- Pinocchio orders joints by its own walk, kinode by declaration; its continuous and planar joints have (cos, sin)
  for an angle, its quaternions the scalar part last, its planar speeds are in child axes.
- Pinocchio reads damping and does not apply it; here it acts.
- Joints that move nothing with mass have no acceleration.  Pinocchio gives infinities, kinode an error that names the
  joint; both then get the file with these joints fixed.
"""

import re
from collections import Counter
from functools import cache
from importlib.metadata import distribution
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from derivative_checks import run_program
from example_choice import cover
from example_counts import is_fixed

import kinode as kn
from kinode.importers import urdf
from kinode.kernels import kernel_traces
from kinode.kernels.kernel_options import DerivativeOptions, Kernel
from kinode.kernels.rolled.tree_derivatives import DerivativeBuilder
from kinode.model.base.frames import Frame
from kinode.multibody.snapshot import Snapshot
from kinode.structure.state_layout import EvaluationPoint
from kinode.structure.topology import find_topology

RTOL = (
    1e-9  # of the largest entry; both sides lose about 1e-16 for each link in a row, and as much as the masses differ
)
FILES = sorted(
    (
        Path(str(file.locate()))
        for file in distribution("example-robot-data").files or []
        if file.name.endswith(".urdf")
    ),
    key=lambda path: path.name,
)
UNREADABLE = {"ur3.urdf"}  # holds no links; Pinocchio refuses it too
MASSLESS = {"romeo.urdf", "romeo_laas_small.urdf"}
WITHOUT_MIMIC = {"alex_psyonic_hands.urdf", *MASSLESS}  # the first mimics joints that it does not have


def names(files):
    """A short and unique id for each file."""
    return [
        f"{path.parts[-3]}/{path.name}" if sum(f.name == path.name for f in files) > 1 else path.name for path in files
    ]


@cache
def text_of(path):
    """The text of a file, in which joints that move nothing with mass are fixed; and the names of these."""
    text, fixed = path.read_text(), []
    while True:
        system = urdf.read(text.encode(), mimic=False)
        error = find_topology(system).unmoved
        if error is not None:
            assert "infinite acceleration" in str(error)
            name = f'name="{error.component}"'
            pattern = rf'(<joint\s[^>]*{name}[^>]*type=")\w+|(<joint\s[^>]*type=")\w+("[^>]*{name})'
            text, count = re.subn(pattern, lambda m: f"{m[1]}fixed" if m[1] else f"{m[2]}fixed{m[3]}", text)
            assert count == 1
            fixed.append(error.component)
        else:
            return text, fixed


class Pair:
    """One robot as kinode and as Pinocchio read it, and the way from the state of one to that of the other."""

    def __init__(self, text, base="fixed"):
        self.system = urdf.read(text.encode(), base, mimic=False)
        self.topology = find_topology(self.system)
        root = [pin.JointModelFreeFlyer()] if base == "free" else []
        self.model = pin.buildModelFromXML(text, *root)
        self.data = self.model.createData()
        called = urdf.choose_names(
            re.findall(r'<link\s+name="([^"]*)"', text), re.findall(r'<joint\s[^>]*name="([^"]*)"', text), None
        )
        theirs = {ours: theirs for theirs, ours in called.joints.items()}
        self.joints = []
        for name in self.topology.q_of:
            rooted = base == "free" and self.system.joints[name].a.body == "world"
            their_name = "root_joint" if rooted else theirs.get(name, name)
            assert self.model.existJointName(their_name), their_name
            self.joints.append((name, self.model.joints[self.model.getJointId(their_name)]))
        n = self.model.nv
        self.order = np.zeros(n, dtype=int)  # their speed i is ours of index order[i]; planar ones are turned besides
        for name, joint in self.joints:
            where = self.topology.u_of[name]
            self.order[joint.idx_v : joint.idx_v + joint.nv] = range(where.start, where.stop)
        assert self.topology.n_u == n

    def random_state(self, seed):
        """q, u, and a third vector like u; moderate, without pattern."""
        random = np.random.default_rng(seed)
        q, u, a = (random.uniform(-1, 1, n) for n in (self.topology.n_q, self.topology.n_u, self.topology.n_u))
        for start in self.topology.layout.quaternions:
            q[start : start + 4] /= np.linalg.norm(q[start : start + 4])
        return q, u, a

    def their_q(self, q):
        found = pin.neutral(self.model)
        for name, joint in self.joints:
            ours = q[self.topology.q_of[name]]
            if joint.nq == 2:
                ours = [np.cos(ours[0]), np.sin(ours[0])]
            elif joint.nq == 4:
                ours = [ours[0], ours[1], np.cos(ours[2]), np.sin(ours[2])]
            elif joint.nq == 7:
                ours = [*ours[:3], *ours[4:], ours[3]]
            found[joint.idx_q : joint.idx_q + joint.nq] = ours
        return found


def assert_near(ours, theirs, what, near=RTOL, floor=1e-300):
    ours, theirs = np.asarray(ours, dtype=float), np.asarray(theirs, dtype=float)
    scale = np.abs(theirs).max(initial=0.0)
    assert np.isfinite(ours).all(), what
    error = np.abs(ours - theirs).max(initial=0.0)
    assert error <= near * scale + floor, (what, error / scale)


def compare(pair, seed=1):
    """Everything at one state."""
    topology, model, data, order = pair.topology, pair.model, pair.data, pair.order
    q, u, a = pair.random_state(seed)
    their_q, v = pair.their_q(q), u[order]
    drag = model.damping * v
    ours = Snapshot(topology, EvaluationPoint(0.0, q, u))
    M = pin.crba(model, data, their_q)
    M = np.triu(M) + np.triu(M, 1).T
    assert_near(ours.mass_matrix[np.ix_(order, order)], M, "mass matrix")
    given = Snapshot(topology, EvaluationPoint(0.0, q, u), u_dot=a)
    effort = pin.rnea(model, data, their_q, v, a[order])
    forces = [pin.Force(f) for f in data.f]
    assert_near(given.inverse_effort[order], effort + drag, "effort")
    compare_wrenches(pair, given, forces)
    return ours, M, their_q, v, drag


def compare_wrenches(pair, snapshot, forces):
    """All that joints transmit, on the child, about its origin, in its axes."""
    ours, theirs = [], []
    for name, joint in pair.joints:
        child = pair.system.joints[name].b.body
        moment, force = snapshot.reaction(name, whole=True, expressed_in=Frame(child))
        ours.append([*force, *moment])
        theirs.append([*forces[joint.id].linear, *forces[joint.id].angular])
    assert_near(ours, theirs, "wrenches")


def compare_accelerations(pair, seed=1):
    ours, _, their_q, v, drag = compare(pair, seed)
    u_dot = pin.aba(pair.model, pair.data, their_q, v, -drag)
    assert_near(ours.u_dot[pair.order], u_dot, "accelerations")


READABLE = [path for path in FILES if path.name not in UNREADABLE]
JOINT = re.compile(r"""<joint\b[^>]*\btype\s*=\s*["'](\w+)["'].*?</joint>""", re.DOTALL)
PARENT = re.compile(r"""<parent\b[^>]*\blink\s*=\s*["']([^"']+)["']""")
OF_A_JOINT = re.compile(r"<(?:mimic|dynamics|limit|safety_controller|calibration)\b")
CHOSEN = 16  # robots in every run


@cache
def shape_of(path):
    """What tells robots apart: kinds of joints and what these have, branching, size, and whether files need care."""
    text = re.sub(r"<!--.*?-->", "", path.read_text(), flags=re.DOTALL)
    moving = [found for found in JOINT.finditer(text) if found[1] != "fixed"]
    parents = Counter(PARENT.findall("".join(found[0] for found in moving))).values()
    shape = {found[1] for found in moving} | {tag for found in moving for tag in OF_A_JOINT.findall(found[0])}
    shape |= {f"{len(moving).bit_length()} bits of joints", f"{max(parents, default=0)} joints at a link"}
    shape |= {f"{sum(n > 1 for n in parents).bit_length()} bits of branches"}
    care = {"massless": MASSLESS, "mimics amiss": WITHOUT_MIMIC}
    return frozenset(shape | {word for word, files in care.items() if path.name in files})


def choose_robots(paths):
    """Robots of every shape, then others of every shape of the rest."""
    first = cover({path: shape_of(path) for path in paths})
    second = cover({path: shape_of(path) for path in paths if path not in first})
    return [*first, *second][: max(CHOSEN, len(first))]


ROBOTS = choose_robots(READABLE) if is_fixed() else READABLE


@pytest.mark.parametrize("base", ["fixed", "free"])
@pytest.mark.parametrize("path", ROBOTS, ids=names(ROBOTS))
def test_robot(path, base):
    text, fixed = text_of(path)
    assert bool(fixed) == (path.name in MASSLESS)
    compare_accelerations(Pair(text, base))


# Of derivatives on the tape, interpreted here; the others, by the recursion, are compared as well, and with the tape in
# kernels/test_tree_derivatives.py.
MOST_FREEDOMS = {"fixed": 24, "free": 18} if is_fixed() else {"fixed": 45, "free": 24}
MOVABLE = re.compile(r"""<joint\b[^>]*\btype\s*=\s*["'](?:revolute|continuous|prismatic)["']""")
WAYS = {"tape": kernel_traces.make_program, "recursion": lambda *of: DerivativeBuilder(*of).program()}


def moving_robots():
    """Every robot with a freedom: by the tape, or by the recursion where it is too large for that.

    In every run one is held and the next one free, at night each is both; ``test_robot`` has both at all times.
    """
    for number, path in enumerate(ROBOTS):
        joints, cases = len(MOVABLE.findall(path.read_text())), []
        for base, most in MOST_FREEDOMS.items():
            freedoms = joints + 6 * (base == "free")
            way = "tape" if freedoms <= most else "recursion"
            if freedoms:
                cases.append(pytest.param(path, base, way, id=f"{names([path])[0]}-{base}"))
        yield from [cases[number % len(cases)]] if is_fixed() else cases


def kernel_matrix(pair, name, of, q, u, x, way):
    """Derivatives by q, u and the fourth argument, in Pinocchio's order of speeds."""
    n, order = pair.topology.n_u, pair.order
    options = DerivativeOptions((of,), (("q", None), ("u", None), ("x", None)))
    program = WAYS[way](pair.topology, Kernel(name, options))
    matrix = run_program(program, EvaluationPoint(0.0, q, u), x).reshape(n, 3 * n)
    return [matrix[np.ix_(order, k * n + order)] for k in range(3)]


@pytest.mark.parametrize(("path", "base", "way"), list(moving_robots()))
def test_derivatives_of_robot(path, base, way):
    """Columns by q are small motions along the speeds on both sides; damping acts here alone."""
    pair = Pair(text_of(path)[0], base)
    assert pair.topology.n_u > 0
    model, data, order = pair.model, pair.data, pair.order
    q, u, x = pair.random_state(2)
    their_q, v = pair.their_q(q), u[order]
    tau = x[order] - model.damping * v
    pin.computeABADerivatives(model, data, their_q, v, tau)
    M_inverse = np.triu(data.Minv) + np.triu(data.Minv, 1).T
    near = max(RTOL, np.finfo(float).eps * np.linalg.cond(M_inverse))  # what rounding leaves of such a matrix
    by_q, by_u, by_effort = kernel_matrix(pair, "derivatives", "u_dot", q, u, x, way)
    assert_near(by_q, data.ddq_dq, "accelerations by q", near)
    # Of propellers on a frame that is held theirs is a sum of rounding, and ours is zero.
    assert_near(by_u, data.ddq_dv - M_inverse * model.damping, "accelerations by u", near, floor=1e-16)
    assert_near(by_effort, M_inverse, "accelerations by effort", near)
    by_q, by_u, by_u_dot = kernel_matrix(pair, "derivatives_of_motion", "effort", q, u, x, way)
    their_by_q, their_by_u, M = pin.computeRNEADerivatives(model, data, their_q, v, x[order])
    assert_near(by_q, their_by_q, "efforts by q")
    assert_near(by_u, their_by_u + np.diag(model.damping), "efforts by u", floor=1e-16)
    assert_near(by_u_dot, np.triu(M) + np.triu(M, 1).T, "efforts by u_dot")


def test_there_are_robots_and_pinocchio_reads_no_others():
    assert len(READABLE) >= 60
    shapes = {shape for path in READABLE for shape in shape_of(path)}
    assert shapes >= {"revolute", "continuous", "prismatic", "<mimic", "0 bits of branches", "3 bits of branches"}
    assert {shape for path in ROBOTS for shape in shape_of(path)} == shapes
    for path in FILES:
        if path.name in UNREADABLE:
            with pytest.raises(ValueError):
                pin.buildModelFromUrdf(str(path))


MIMICS = [path for path in READABLE if "<mimic" in path.read_text() and path.name not in WITHOUT_MIMIC]


@pytest.mark.parametrize("path", MIMICS, ids=names(MIMICS))
def test_robot_with_its_mimic_joints(path):
    """Mimic joints say u_all = G u: Pinocchio's matrices of all joints, projected by G, must be ours."""
    every = Pair(path.read_text())
    topology = find_topology(kn.load(path))
    model, data, order = every.model, every.data, every.order
    G, shift = np.zeros((every.topology.n_u, topology.n_u)), np.zeros(every.topology.n_u)
    for name, where in every.topology.u_of.items():
        rows, ratio, offset = slice(where.start, where.stop), 1.0, 0.0
        while name in topology.couplings:
            gear = topology.couplings[name]
            offset, ratio, name = offset + ratio * gear.offset, ratio * gear.ratio, gear.leader
        G[rows, topology.u_of[name]] = ratio * np.eye(where.stop - where.start)
        shift[rows] = offset
    random = np.random.default_rng(4)
    q, u, a = random.uniform(
        -1, 1, (3, topology.n_u)
    )  # q and u are alike here: no robot has both mimics and quaternions
    their_q, v, G = every.their_q(G @ q + shift), (G @ u)[order], G[order]
    M = pin.crba(model, data, their_q)
    M = G.T @ (np.triu(M) + np.triu(M, 1).T) @ G
    drag = model.damping * v
    ours = Snapshot(topology, EvaluationPoint(0.0, q, u))
    assert_near(ours.mass_matrix, M, "mass matrix")
    effort = G.T @ (pin.rnea(model, data, their_q, v, G @ a) + drag)
    given = Snapshot(topology, EvaluationPoint(0.0, q, u), u_dot=a)
    assert_near(given.inverse_effort, effort, "effort")
    compare_wrenches(every, given, data.f)
    h = G.T @ (pin.rnea(model, data, their_q, v, 0.0 * v) + drag)
    assert_near(ours.u_dot, np.linalg.solve(M, -h), "accelerations")


def test_mimic_of_a_joint_that_is_not_there():
    path = next(path for path in FILES if path.name == "alex_psyonic_hands.urdf")
    with pytest.raises(
        kn.ModelError, match=r"Left_index_q2.mimic: no joint is called 'index_q1'; did you mean Left_index_q1"
    ):
        kn.load(path)
    assert kn.load(path, mimic=False).joints["Left_index_q2"].n_u == 1


OTHER_JOINTS = """
<robot name="others">
  <link name="a"/>
  <link name="b">{inertial}</link> <link name="c">{inertial}</link>
  <link name="d">{inertial}</link> <link name="e">{inertial}</link>
  <joint name="fly" type="floating"><parent link="a"/><child link="b"/><origin xyz="1 2 3" rpy="0.1 0.2 0.3"/></joint>
  <joint name="slide" type="planar"><parent link="b"/><child link="c"/><axis xyz="0 0 1"/>
    <origin xyz="0.3 0.1 0" rpy="1 0.2 0.3"/></joint>
  <joint name="wheel" type="continuous"><parent link="c"/><child link="d"/><axis xyz="1 2 -2"/>
    <origin xyz="0 0.2 0"/></joint>
  <joint name="rod" type="prismatic"><parent link="d"/><child link="e"/><axis xyz="0 3 4"/><origin rpy="0 1 0"/>
    <limit lower="-1" upper="1" effort="1" velocity="1"/><dynamics damping="2"/></joint>
</robot>"""
INERTIAL = """<inertial><origin xyz="0.1 0.2 0.3" rpy="0.4 0.5 0.6"/><mass value="2"/>
<inertia ixx="0.1" iyy="0.2" izz="0.25" ixy="0.01" ixz="-0.02" iyz="0.03"/></inertial>"""


def test_every_type_of_joint():
    """Speeds x, y of a planar joint are in the parent's axes here and in the child's there: u = T v."""
    pair = Pair(OTHER_JOINTS.format(inertial=INERTIAL))
    topology, model, data = pair.topology, pair.model, pair.data
    q, u, a = pair.random_state(3)
    angle, first = q[topology.q_of["slide"]][2], topology.u_of["slide"].start
    c, s = np.cos(angle), np.sin(angle)
    T, T_dot = np.eye(topology.n_u), np.zeros((topology.n_u, topology.n_u))
    T[first : first + 2, first : first + 2] = [[c, -s], [s, c]]
    T_dot[first : first + 2, first : first + 2] = np.array([[-s, -c], [c, -s]]) * u[first + 2]
    v = np.linalg.solve(T, u)
    a_theirs = np.linalg.solve(T, a - T_dot @ v)
    order, their_q = pair.order, pair.their_q(q)
    assert list(order) == list(range(topology.n_u))  # declared in the order of the tree
    M = pin.crba(model, data, their_q)
    M = np.triu(M) + np.triu(M, 1).T
    ours = Snapshot(topology, EvaluationPoint(0.0, q, u))
    assert_near(T.T @ ours.mass_matrix @ T, M, "mass matrix")
    given = Snapshot(topology, EvaluationPoint(0.0, q, u), u_dot=a)
    drag = model.damping * v
    assert drag.any()
    assert_near(T.T @ given.inverse_effort, pin.rnea(model, data, their_q, v, a_theirs) + drag, "effort")
    compare_wrenches(pair, given, [pin.Force(f) for f in data.f])
    v_dot = pin.aba(model, data, their_q, v, -drag)
    assert_near(ours.u_dot, T @ v_dot + T_dot @ v, "accelerations")


@pytest.mark.parametrize("name", ["ur5_robot", "kinova", "talos_reduced"])
def test_compiled(name):
    """The public way, from the file to machine code."""
    path = next(path for path in FILES if path.name == f"{name}.urdf")
    pair, dynamics = Pair(path.read_text()), kn.compile(kn.load(path))
    order = pair.order
    q, u, a = pair.random_state(2)
    _, M, their_q, v, drag = compare(pair, 2)
    assert_near(dynamics.mass_matrix(0, q)[np.ix_(order, order)], M, "mass matrix")
    effort = pin.rnea(pair.model, pair.data, their_q, v, a[order])
    assert_near(dynamics.effort(0, q, u, a)[order], effort + drag, "effort")
    u_dot = pin.aba(pair.model, pair.data, their_q, v, -drag)
    assert_near(dynamics.acceleration(0, q, u)[order], u_dot, "accelerations")
