"""kinode's accelerations beside MuJoCo's, of one MJCF file at random states.

What kinode leaves out, and says so in its notes, is taken out of MuJoCo's model too (``equalize``): contacts, limits,
the medium, spatial tendons, unknown actuators.  Friction, which MuJoCo softens, is taken out of both.  Equalities are
soft in MuJoCo; its own mass matrix, forces and Jacobian give the acceleration that holds them exactly.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

import kinode as kn
from kinode.importers.robot_names import MjcfNames

FREE, BALL = 0, 1
NUDGE = 1e-6  # s: step of the difference that gives the rate of a Jacobian


@dataclass(frozen=True)
class Peer:
    """A model in both programs, and the largest difference of accelerations, relative to the largest of them."""

    system: Any
    model: Any
    error: float
    states: int


def compile_peer(file: Path) -> Any:
    """MuJoCo's own model of a file."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of attributes that are old
        spec = (
            mujoco.MjSpec.from_file(str(file)) if file.suffix == ".xml" else mujoco.MjSpec.from_string(file.read_text())
        )
        return spec.compile()


def equalize(model: Any, system: Any) -> None:
    """Take out of MuJoCo's model what the notes of kinode's say is left out."""
    off = mujoco.mjtDisableBit
    model.opt.disableflags |= off.mjDSBL_CONTACT | off.mjDSBL_LIMIT | off.mjDSBL_FRICTIONLOSS
    model.opt.density = model.opt.viscosity = 0.0
    model.opt.wind[:] = 0.0
    model.actuator_actearly[:] = 0  # forces from activations of the next step: time is continuous in kinode
    names = MjcfNames(model)
    left_out = " ".join(note for note in system.notes if note.startswith("left out"))
    for k in range(model.ntendon):
        model.tendon_armature[k] = 0.0
        if f"tendon {names.tendon(k)}: it runs through space" in left_out:
            model.tendon_stiffness[k] = model.tendon_damping[k] = 0.0
    for k in range(model.neq):
        if f"equality {model.equality(k).name or f'equality_{k}'}:" in left_out:
            model.eq_active0[k] = 0
    for k in range(model.nactuator):
        if f"actuator {names.actuator(k)}:" in left_out:
            model.actuator_gainprm[k] = model.actuator_biasprm[k] = 0.0
    for k in range(model.njnt):
        if model.jnt_type[k] in (FREE, BALL):
            dofs = slice(model.jnt_dofadr[k], model.jnt_dofadr[k] + (6 if model.jnt_type[k] == FREE else 3))
            model.dof_armature[dofs] = 0.0
        if f"spring of {names.joints[k]}" in left_out:
            model.jnt_stiffness[k] = model.jnt_stiffnesspoly[k] = 0.0
        if f"damping of {names.joints[k]} that is not linear" in left_out:
            model.dof_dampingpoly[model.jnt_dofadr[k] : model.jnt_dofadr[k] + 6] = 0.0
    mujoco.mj_setConst(model, mujoco.MjData(model))  # the inertia of single bodies is kept with their armature


class Pairing:
    """The coordinates of both programs, joint by joint."""

    def __init__(self, system: Any, dynamics: Any, model: Any) -> None:
        self.model, self.dynamics = model, dynamics
        self.joints = MjcfNames(model).joints
        self.places: dict[tuple[str, str], list[int]] = {}
        for one in dynamics.coordinates:
            if one.role in ("q", "u"):
                self.places.setdefault((one.joint, one.role), []).append(one.index)
                # A joint of several freedoms is written to a file as several joints.
                self.places[f"{one.joint}_{one.name.rpartition('.')[2]}", one.role] = [one.index]
        self.n_q, self.n_u = (sum(one.role == role for one in dynamics.coordinates) for role in "qu")

    def state(self, qpos: Any, qvel: Any) -> tuple[Any, Any]:
        """MuJoCo's state in kinode's coordinates."""
        q, u = np.zeros(self.n_q), np.zeros(self.n_u)
        for joint, q_of, u_of in self.slices():
            if (self.joints[joint], "q") in self.places:
                q[self.places[self.joints[joint], "q"]] = qpos[q_of]
                u[self.places[self.joints[joint], "u"]] = self.own(joint, qpos[q_of], qvel[u_of])
        return q, u

    def rates(self, qpos: Any, qvel: Any, qacc: Any) -> Any:
        """MuJoCo's accelerations in kinode's coordinates."""
        u_dot = np.zeros(self.n_u)
        for joint, q_of, u_of in self.slices():
            if (self.joints[joint], "u") in self.places:
                here = self.own(joint, qpos[q_of], qacc[u_of])
                if self.model.jnt_type[joint] == FREE:
                    v = self.own(joint, qpos[q_of], qvel[u_of])
                    here[:3] -= np.cross(v[3:], v[:3])
                u_dot[self.places[self.joints[joint], "u"]] = here
        return u_dot

    def slices(self) -> Any:
        model, n_q, n_u = self.model, (7, 4, 1, 1), (6, 3, 1, 1)
        for joint in range(model.njnt):
            q, u, kind = model.jnt_qposadr[joint], model.jnt_dofadr[joint], model.jnt_type[joint]
            yield joint, slice(q, q + n_q[kind]), slice(u, u + n_u[kind])

    def own(self, joint: int, q: Any, values: Any) -> Any:
        """A velocity of a joint, of a free one with its linear part in the axes of the body."""
        values = np.array(values)
        if self.model.jnt_type[joint] == FREE:
            R = np.zeros(9)
            mujoco.mju_quat2Mat(R, np.array(q[3:]))
            values[:3] = R.reshape(3, 3).T @ values[:3]
        return values


def exact_acceleration(model: Any, data: Any) -> Any:
    """MuJoCo's acceleration with equalities that hold exactly."""
    mujoco.mj_forward(model, data)
    J = equality_jacobian(model, data)
    if not len(J):
        return data.qacc_smooth.copy()
    M = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, M)
    force, qpos = data.qfrc_smooth.copy(), data.qpos.copy()
    turned = []
    for sign in (1.0, -1.0):
        data.qpos[:] = qpos
        mujoco.mj_integratePos(model, data.qpos, data.qvel, sign * NUDGE)
        turned.append(_rows(model, data))
    data.qpos[:] = qpos
    bias = (turned[0] - turned[1]) @ data.qvel / (2.0 * NUDGE)
    # Rows may depend on each other: least squares of both.
    n = len(J)
    K = np.block([[M, J.T], [J, np.zeros((n, n))]])
    return np.linalg.lstsq(K, np.concatenate([force, -bias]), rcond=1e-12)[0][: model.nv]


def _rows(model: Any, data: Any) -> Any:
    mujoco.mj_forward(model, data)
    return equality_jacobian(model, data)


def equality_jacobian(model: Any, data: Any) -> Any:
    """The rows of all equalities."""
    if not data.nefc:
        return np.zeros((0, model.nv))
    rows = data.efc_type == mujoco.mjtConstraint.mjCNSTR_EQUALITY
    J = data.efc_J.reshape(-1)
    if mujoco.mj_isSparse(model):
        dense = np.zeros(data.nefc * model.nv)
        mujoco.mju_sparse2dense(
            dense.reshape(data.nefc, model.nv), data.efc_J, data.efc_J_rownnz, data.efc_J_rowadr, data.efc_J_colind
        )
        J = dense
    return J[: data.nefc * model.nv].reshape(data.nefc, model.nv)[rows]


def random_state(model: Any, data: Any, system: Any, rng: Any) -> dict[str, float]:
    """Fill MuJoCo's data with random numbers; returns the inputs of kinode."""
    data.qpos[:] = model.qpos0
    mujoco.mj_integratePos(model, data.qpos, rng.normal(size=model.nv), 0.7)
    data.qvel[:] = rng.normal(size=model.nv)
    names, inputs = MjcfNames(model), {}
    data.ctrl[:] = 0.0
    data.act[:] = 0.0
    data.eq_active[:] = model.eq_active0
    for k in range(model.nactuator):
        name = names.input(k)
        if name in system.inputs:
            inputs[name] = data.ctrl[model.actuator_ctrladr[k]] = rng.uniform(-1.5, 1.5)
    _hold_couplings(model, data)
    return inputs


def _hold_couplings(model: Any, data: Any) -> None:
    """Make the state satisfy the equalities: Newton steps of the positions, and a projection of the speeds."""
    for _ in range(20):
        mujoco.mj_forward(model, data)
        J = equality_jacobian(model, data)
        if not len(J):
            return
        rows = data.efc_type == mujoco.mjtConstraint.mjCNSTR_EQUALITY
        mujoco.mj_integratePos(model, data.qpos, -np.linalg.lstsq(J, data.efc_pos[rows], rcond=1e-12)[0], 1.0)
    data.qvel[:] -= np.linalg.lstsq(J, J @ data.qvel, rcond=1e-12)[0]


def compare(file: Path, states: int = 3, seed: int = 1, *, trust: bool = False) -> Peer:
    """The accelerations of both at random states."""
    system, model = kn.load(file, trust=trust), compile_peer(file)
    for joint in list(system.joints.values()):
        if joint.friction is not None:
            system.change(joint.name, friction=None)
    equalize(model, system)
    dynamics = kn.compile(system)
    data, pairing, rng = mujoco.MjData(model), Pairing(system, dynamics, model), np.random.default_rng(seed)
    missing = {one.joint for one in dynamics.coordinates if one.role == "u"} - set(pairing.joints)
    assert not missing, f"the trees differ: {missing}"
    activations = np.zeros(sum(one.role == "z" for one in dynamics.coordinates))
    worst = 0.0
    for _ in range(states):
        inputs = random_state(model, data, system, rng)
        expected = pairing.rates(data.qpos.copy(), data.qvel.copy(), exact_acceleration(model, data))
        q, u = pairing.state(data.qpos, data.qvel)
        found = dynamics.acceleration(0.0, q, u, z=activations, inputs=inputs)
        worst = max(worst, float(abs(found - expected).max() / max(1.0, abs(expected).max())))
    return Peer(system, model, worst, states)
