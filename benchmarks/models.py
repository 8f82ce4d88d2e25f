"""The mechanisms of the table, and the peers' models of them, from the same URDF file."""

from __future__ import annotations

import tempfile
import xml.etree.ElementTree as ET
from functools import cache
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import numpy as np

Vector = Any
CHAIN_LINK = """
<link name="link{i}">
  <inertial>
    <origin xyz="0.01 0.02 0.05"/> <mass value="{mass}"/>
    <inertia ixx="0.003" iyy="0.004" izz="0.002" ixy="0.0001" ixz="-0.0002" iyz="0.0003"/>
  </inertial>
</link>
<joint name="joint{i}" type="revolute">
  <parent link="{parent}"/> <child link="link{i}"/>
  <origin xyz="0.005 0.01 0.1"/> <axis xyz="{axis}"/>
  <limit lower="-9" upper="9" effort="0" velocity="0"/>
</joint>"""


@cache
def robot(name: str) -> Path:
    """The file of a robot of example-robot-data: "ur5_robot", "talos_reduced", ..."""
    for file in distribution("example-robot-data").files or []:
        if file.name == f"{name}.urdf":
            return Path(str(file.locate()))
    raise LookupError(f"example-robot-data has no {name}.urdf")


@cache
def chain(n: int) -> Path:
    """A serial chain of n bodies as a URDF file: revolute joints about x, y, z in turn, no symmetry to profit from."""
    lines = [f'<robot name="chain{n}"><link name="base"/>']
    for i in range(n):
        parent, axis, mass = f"link{i - 1}" if i else "base", ("1 0 0", "0 1 0", "0 0 1")[i % 3], 1 + 0.1 * (i % 7)
        lines.append(CHAIN_LINK.format(i=i, parent=parent, axis=axis, mass=mass))
    path = Path(tempfile.mkdtemp(prefix="kinode-bench-")) / f"chain{n}.urdf"
    path.write_text("\n".join([*lines, "</robot>"]))
    return path


def state(n: int, seed: int = 1, rows: int | None = None) -> tuple[Vector, Vector]:
    """Coordinates and speeds, moderate and without pattern."""
    random = np.random.default_rng(seed)
    shape = n if rows is None else (rows, n)
    return random.uniform(-1, 1, shape), random.uniform(-1, 1, shape)


@cache
def pinocchio_model(path: Path) -> tuple[Any, Any]:
    """Model and data."""
    import pinocchio as pin

    model = pin.buildModelFromUrdf(str(path))
    return model, model.createData()


@cache
def mujoco_model(path: Path, step: float = 1e-3) -> Any:
    """The URDF without shapes; RK4; contacts, constraints and everything else that costs time and does no work, off."""
    import mujoco

    tree = ET.parse(path).getroot()
    for link in tree.iter("link"):
        for part in ("visual", "collision"):
            for shape in link.findall(part):
                link.remove(shape)
    extension = ET.SubElement(tree, "mujoco")
    ET.SubElement(extension, "compiler", {"fusestatic": "true", "balanceinertia": "false"})
    model = mujoco.MjModel.from_xml_string(ET.tostring(tree, encoding="unicode"))
    model.opt.timestep = step
    model.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
    off = mujoco.mjtDisableBit
    for name in (
        "CONSTRAINT",
        "CONTACT",
        "LIMIT",
        "EQUALITY",
        "FRICTIONLOSS",
        "ACTUATION",
        "SENSOR",
        "WARMSTART",
        "FILTERPARENT",
    ):
        model.opt.disableflags |= getattr(off, f"mjDSBL_{name}", 0)
    check_same_dynamics(model, path)
    return model


def check_same_dynamics(model: Any, path: Path) -> None:
    """MuJoCo's reading of the file must move as Pinocchio's does, or the comparison means nothing."""
    import mujoco
    import pinocchio as pin

    q, u = state(model.nv, seed=5)
    data = mujoco.MjData(model)
    data.qpos, data.qvel = q, u
    mujoco.mj_forward(model, data)
    expected = pin.aba(*pinocchio_model(path), q, u, np.zeros(model.nv))
    if not np.allclose(data.qacc, expected, rtol=1e-7, atol=1e-7 * np.abs(expected).max()):
        raise ValueError(f"MuJoCo and Pinocchio disagree on {path.name}: {data.qacc} against {expected}")


def exudyn_model(path: Path, q: Vector, u: Vector) -> tuple[Any, int]:
    """A kinematic tree of Exudyn, made from Pinocchio's reading of the file: the system and its node of coordinates."""
    import exudyn
    from exudyn.itemInterface import NodeGenericODE2, ObjectKinematicTree

    model, _ = pinocchio_model(path)
    kinds = {f"JointModelR{axis}": getattr(exudyn.JointType, f"Revolute{axis}") for axis in "XYZ"}
    rotations, inertias = exudyn.Matrix3DList(), exudyn.Matrix3DList()
    offsets, centers = exudyn.Vector3DList(), exudyn.Vector3DList()
    bodies = list(model.inertias)[1:]
    for place, body in zip(list(model.jointPlacements)[1:], bodies):
        rotations.Append(place.rotation)
        offsets.Append(place.translation)
        inertias.Append(body.inertia)
        centers.Append(body.lever)
    system = exudyn.SystemContainer().AddSystem()
    node = system.AddNode(
        NodeGenericODE2(
            referenceCoordinates=[0.0] * model.nv,
            initialCoordinates=list(q),
            initialCoordinates_t=list(u),
            numberOfODE2Coordinates=model.nv,
        )
    )
    system.AddObject(
        ObjectKinematicTree(
            nodeNumber=node,
            jointTypes=[kinds[joint.shortname()] for joint in list(model.joints)[1:]],
            linkParents=np.array(list(model.parents)[1:]) - 1,
            jointTransformations=rotations,
            jointOffsets=offsets,
            linkInertiasCOM=inertias,
            linkCOMs=centers,
            linkMasses=[body.mass for body in bodies],
            gravity=list(model.gravity.linear),
        )
    )
    system.Assemble()
    return system, node
