"""A mechanism with loops in MuJoCo: kinode's spanning tree as a tree of bodies, cut joints as ``connect`` constraints.

MuJoCo's constraints are soft by design; here they are as hard as a step allows (a time constant of two steps, impedance
next to one), so that they harden as steps get shorter. Integrators: its RK4 and its implicitfast.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Callable
from typing import Any

import mujoco
import numpy as np

from loop_models import Array, Mechanism, Readout, Tie

VARIANTS = {"RK4": mujoco.mjtIntegrator.mjINT_RK4, "implicitfast": mujoco.mjtIntegrator.mjINT_IMPLICITFAST}
HARD = {"solimp": "0.9999 0.9999 0.001", "solref": "1e-9 1"}  # the time constant is raised to two steps by MuJoCo


def words(values: Any) -> str:
    """Numbers for an attribute."""
    return " ".join(repr(float(x)) for x in np.ravel(values))


def quaternion(R: Array) -> str:
    """Of a rotation matrix, scalar first."""
    found = np.zeros(4)
    mujoco.mju_mat2Quat(found, np.ascontiguousarray(R).ravel())
    return words(found)


class Model:
    """The mechanism, ready to be run with any number of steps."""

    def __init__(self, mechanism: Mechanism, integrator: Any) -> None:
        self.read = Readout(mechanism.make())
        self.until = mechanism.until
        self.model = mujoco.MjModel.from_xml_string(ET.tostring(self._tree(), encoding="unicode"))
        self.model.opt.integrator = integrator
        self.data = mujoco.MjData(self.model)
        self.start = self._start()

    def _tree(self) -> ET.Element:
        root = ET.Element("mujoco")
        ET.SubElement(root, "compiler", angle="radian", autolimits="false")
        option = ET.SubElement(root, "option", gravity=words(self.read.gravity), tolerance="1e-14", iterations="100")
        ET.SubElement(option, "flag", contact="disable", sensor="disable")
        nodes = {"world": ET.SubElement(root, "worldbody")}
        ties = [tie for tie in self.read.ties if tie.name not in self.read.cuts]
        while ties:  # from the world outward
            tie = next(tie for tie in ties if tie.bodies[0] in nodes)
            ties.remove(tie)
            nodes[tie.bodies[1]] = self._body(nodes[tie.bodies[0]], tie)
        equal = ET.SubElement(root, "equality")
        for tie in self.read.ties:
            if tie.name in self.read.cuts:
                if tie.kind != "spherical" and not all(other.kind == "revolute" for other in self.read.ties):
                    raise ValueError(
                        f"{tie.name}: only a ball joint, or a pin in the plane, is a point held by a point"
                    )
                sites = self._sites(nodes, tie)
                ET.SubElement(equal, "connect", site1=sites[0], site2=sites[1], **HARD)
        tendons = ET.SubElement(root, "tendon")
        for pull in self.read.pulls:
            spring = {"stiffness": repr(pull.stiffness), "springlength": repr(pull.free_length)}
            line = ET.SubElement(tendons, "spatial", **spring)
            for site in self._sites(nodes, pull):
                ET.SubElement(line, "site", site=site)
        return root

    def _body(self, parent: ET.Element, tie: Tie) -> ET.Element:
        (R_F, R_M), (p_F, p_M) = tie.axes, tie.points
        R = R_F @ R_M.T
        name = tie.bodies[1]
        solid = self.read.solids[name]
        node = ET.SubElement(parent, "body", name=name, pos=words(p_F - R @ p_M), quat=quaternion(R))
        J = solid.inertia
        entries = (J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2])
        ET.SubElement(node, "inertial", pos=words(solid.com), mass=repr(solid.mass), fullinertia=words(entries))
        x, z = R_M[:, 0], R_M[:, 2]
        kinds = {
            "revolute": [("hinge", z)],
            "prismatic": [("slide", z)],
            "universal": [("hinge", z), ("hinge", x)],
            "spherical": [("ball", z)],
        }
        for k, (kind, axis) in enumerate(kinds[tie.kind]):
            ET.SubElement(node, "joint", name=f"{tie.name}/{k}", type=kind, pos=words(p_M), axis=words(axis))
        return node

    def _sites(self, nodes: dict[str, ET.Element], ends: Any) -> list[str]:
        names = []
        for body, point in zip(ends.bodies, ends.points):
            names.append(f"site{sum(1 for node in nodes['world'].iter('site'))}")
            ET.SubElement(nodes[body], "site", name=names[-1], pos=words(point))
        return names

    def _start(self) -> tuple[Array, Array, Array]:
        """Positions, velocities and efforts in MuJoCo's order."""
        dynamics, initial = self.read.dynamics, self.read.dynamics.initial
        q, u, effort = np.zeros(self.model.nq), np.zeros(self.model.nv), np.zeros(self.model.nv)
        for tie in self.read.ties:
            if tie.name in self.read.cuts:
                continue
            joint = self.model.joint(f"{tie.name}/0").id
            at_q, at_u = self.model.jnt_qposadr[joint], self.model.jnt_dofadr[joint]
            for out, at, values, of in (
                (q, at_q, initial.q, dynamics.topology.q_of),
                (u, at_u, initial.u, dynamics.topology.u_of),
            ):
                part = values[of[tie.name]]
                out[at : at + len(part)] = part
            effort[at_u] = tie.effort
        return q, u, effort

    def run(self, steps: int) -> None:
        """From the start to the end in so many equal steps, in one call."""
        self.model.opt.timestep = self.until / steps
        mujoco.mj_resetData(self.model, self.data)
        self.data.qpos, self.data.qvel, self.data.qfrc_applied = self.start
        mujoco.mj_step(self.model, self.data, steps)
        if self.data.warning[mujoco.mjtWarning.mjWARN_BADQACC].number:
            raise RuntimeError("MuJoCo's accelerations became too large")

    def poses(self) -> Array:
        """Mass center and rotation of every body, now."""
        mujoco.mj_kinematics(self.model, self.data)
        mujoco.mj_comPos(self.model, self.data)
        numbers = [self.model.body(name).id for name in self.read.solids]
        return np.hstack([self.data.xipos[numbers], self.data.xmat[numbers]])


def variants(mechanism: Mechanism) -> dict[str, tuple[Callable[[int], Any], Callable[[], Array]]]:
    """Of each way of solving: go to the end in so many steps, and the poses that were reached."""
    found: dict[str, Any] = {}
    for name, integrator in VARIANTS.items():
        model: Any = Model(mechanism, integrator)
        found[name] = model.run, model.poses
    return found
