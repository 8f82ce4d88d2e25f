"""Importer of MJCF, the models of MuJoCo: bodies, joints, springs, equalities, simple actuators, sites, geoms.

MuJoCo itself compiles the file (``mjcf_files``): defaults, includes, angles and inertias from geoms are resolved there.

Where the two differ:

- Coordinates are MuJoCo's: q is qpos, with a hinge's or slide's ``ref`` in its placement.  The speeds too, but for the
  velocity of a free joint, which kinode has in the axes of the body and MuJoCo in those of the world.
- Several joints of one body are a chain with bodies without mass between them.
- An armature is a part at the joint (shaft_inertia, slide_mass): the mass matrix has it on its diagonal, as MuJoCo's.
- A frictionloss is Coulomb friction of that effort, which sticks exactly.  MuJoCo's is soft: it creeps while it sticks,
  and equals kinode's while it slides fast enough.
- Limits are recorded and do not act; MuJoCo's are soft stops.
- Equalities hold exactly here: connect is a spherical joint that closes a loop, weld a fixed one, joint a gear.
- The first keyframe, or the one called home, is where it starts; else MuJoCo's reference position.
- The spring of a ball joint is a law of its three efforts.  MuJoCo's moment is -stiffness times the rotation vector of
  the joint, in the axes of the child: of its quaternion (w, v) this is 2 atan2(|v|, |w|) / |v| * sign(w) v, the shorter
  way round.  At rest a ball joint's quaternion is (1, 0, 0, 0).

What has no counterpart (contacts, spatial tendons over more than two sites, muscles, the surrounding medium ...) is
left out and listed in ``System.notes``.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np

from kinode.errors import ModelError
from kinode.importers import mjcf_files
from kinode.importers.mjcf_drives import MjcfDrives, join
from kinode.importers.mjcf_equalities import MjcfEqualities
from kinode.importers.mjcf_files import (
    axis_of,
    inertia_of,
    quaternion_matrix,
    rotation_of,
    tidy_number,
    tidy_vector,
    turn_matrix,
    visual_of,
)
from kinode.importers.robot_names import MjcfNames, add_body
from kinode.importers.xml_reader import XmlElement
from kinode.model.base.bodies import Visual
from kinode.model.base.frames import Frame
from kinode.model.base.meshes import find_mesh_file, note_undrawn
from kinode.model.joints.coulomb_friction import coulomb
from kinode.model.system import System

JOINTS = ("free", "spherical", "prismatic", "revolute")  # mjtJoint: free, ball, slide, hinge
N_Q, N_U = (7, 4, 1, 1), (6, 3, 1, 1)


def load(file: Path, root: XmlElement, base: str = "fixed", *, name: str | None = None, trust: bool = False) -> System:
    """The system in an MJCF file, of which ``root`` is the document."""
    if base not in ("fixed", "free"):
        raise ModelError(f'base is "fixed" or "free", not {base!r}')
    said: list[str] = []
    spec, model = mjcf_files.compile_file(file, root, trust, said)
    own = root.attributes.get("model", "").strip() or file.stem
    system = System(name or own)
    system.notes.extend(said)
    try:
        _MjcfBuilder(mjcf_files.import_mujoco(), spec, model, system, base, file).build()
    except ModelError as error:
        raise error.located(file=str(file)) from None
    return system


class _MjcfBuilder:
    """Builds the system of a compiled model."""

    def __init__(self, mujoco: Any, spec: Any, model: Any, system: System, base: str, file: Path) -> None:
        self.file = file
        self.mujoco, self.spec, self.model, self.system, self.base = mujoco, spec, model, system, base
        self.notes = system.notes
        self.names = MjcfNames(model)
        self.notes.extend(self.names.notes)
        self.recorded: list[str] = []
        self.left_out: list[str] = []
        spread_switches(mujoco, model)
        self.disabled = {bit for bit in mujoco.mjtDisableBit.__members__.values() if model.opt.disableflags & bit}
        self.start_q, self.start_u, *start = self._start()
        self.drives = MjcfDrives(mujoco, model, self.names, system, *start)
        self.equalities = MjcfEqualities(mujoco, model, self.names)

    def build(self) -> None:
        model, off = self.model, self.mujoco.mjtDisableBit
        self.system.gravity = (0.0, 0.0, 0.0) if off.mjDSBL_GRAVITY in self.disabled else _plain(model.opt.gravity)
        freed = self._freed()
        visuals = self._visuals()
        for body in range(1, model.nbody):
            self._add_body(body, visuals.get(body, ()))
            self._join(body, body in freed)
        for site in range(model.nsite):
            self._add_frame(site)
        self.equalities.close(self.system)
        for lifted in np.flatnonzero(model.body_gravcomp):
            self._compensate(int(lifted))
        self._add_pushes()
        self._note_the_rest()

    # -- start -------------------------------------------------------------------------------------
    def _start(self) -> tuple[Any, Any, Any, Any]:
        """Coordinates, speeds, controls and activations: of the keyframe home, of the first, or the reference."""
        model = self.model
        if not model.nkey:
            return model.qpos0, np.zeros(model.nv), (), np.zeros(model.na)
        named = [k for k in range(model.nkey) if model.key(k).name == "home"]
        key = named[0] if named else 0
        self.notes.append(f"it starts at the keyframe {model.key(key).name or key}")
        self.left_out += describe_keyframes(model, key)
        return model.key_qpos[key], model.key_qvel[key], model.key_ctrl[key], model.key_act[key]

    def _freed(self) -> set[int]:
        """The bodies that stand fixed in the world in the file and are free here."""
        if self.base != "free":
            return set()
        model = self.model
        roots = {
            body for body in range(1, model.nbody)
            if model.body_parentid[body] == 0 and not model.body_jntnum[body] and model.body_mocapid[body] < 0
        }  # fmt: skip
        if not roots:
            raise ModelError('base="free" is for a body that stands fixed in the world; this model has none')
        return roots

    # -- bodies ------------------------------------------------------------------------------------
    def _add_body(self, body: int, visuals: tuple[Visual, ...]) -> None:
        model = self.model
        mass = float(model.body_mass[body])
        fields: dict[str, Any] = {"mass": mass}
        if mass or model.body_inertia[body].any():
            fields["com"] = tidy_vector(model.body_ipos[body])
            fields["inertia"] = inertia_of(model.body_inertia[body], model.body_iquat[body])
        if visuals:
            fields["meshes"] = visuals
        add_body(self.system, self.names.bodies[body], fields)

    def _visuals(self) -> dict[int, tuple[Visual, ...]]:
        """The drawn solids of each body; those of the world are left out."""
        model = self.model
        files = self._mesh_files()
        solids: dict[int, list[Visual]] = {}
        unknown: dict[str, int] = {}
        for geom in range(model.ngeom):
            body = int(model.geom_bodyid[geom])
            visual = visual_of(model, geom, files) if body else None
            if visual is not None:
                if visual.file:
                    visual = replace(visual, path=find_mesh_file(visual.file, self.file, {}))
                solids.setdefault(body, []).append(visual)
            elif body:
                kind = self.mujoco.mjtGeom(int(model.geom_type[geom])).name.removeprefix("mjGEOM_").lower()
                unknown[kind] = unknown.get(kind, 0) + 1
        for kind, count in unknown.items():
            self.notes.append(f"{count} {kind} geom{'s are' if count > 1 else ' is'} not drawn")
        self.notes.extend(note_undrawn({self.names.bodies[body]: shown for body, shown in solids.items()}))
        return {body: tuple(shown) for body, shown in solids.items()}

    def _mesh_files(self) -> list[str]:
        files = [""] * int(self.model.nmesh)
        for mesh in self.spec.meshes:
            if mesh.file and 0 <= mesh.id < len(files):
                folder = mesh.compiler.meshdir if hasattr(mesh, "compiler") else self.spec.meshdir
                name = Path(mesh.file).name if self.spec.strippath else mesh.file
                files[mesh.id] = (Path(folder) / name).as_posix()
        return files

    def _compensate(self, body: int) -> None:
        """The force that carries the share ``gravcomp`` of a body's weight."""
        model, name = self.model, self.names.bodies[body]
        lift = -model.body_gravcomp[body] * model.body_mass[body] * np.array(self.system.gravity, dtype=float)
        if lift.any():
            frame = Frame(name, tidy_vector(model.body_ipos[body]))
            self.system.element(self.names.fresh(f"{name}_gravcomp"), "force", on=frame, force=_plain(lift))

    # -- joints ------------------------------------------------------------------------------------
    def _join(self, body: int, freed: bool) -> None:
        """The joints of a body: none is a fixed one, several are a chain of bodies without mass."""
        model = self.model
        parent, own = self.names.bodies[int(model.body_parentid[body])], self.names.bodies[body]
        position, R = tidy_vector(model.body_pos[body]), quaternion_matrix(model.body_quat[body])
        place = Frame(parent, position, rotation_of(R))
        count = int(model.body_jntnum[body])
        if not count:
            if freed:
                given = {"position": position, "matrix": R.tolist()}
                self.system.joint(self.names.fresh(f"{own}_free"), "free", Frame(parent), Frame(own), **given)
            else:
                self.system.joint(self.names.fresh(f"{own}_mount"), "fixed", place, Frame(own))
            return
        first = int(model.body_jntadr[body])
        for joint in range(first, first + count):
            child = own
            if joint < first + count - 1:
                child = self.names.fresh(f"{own}_{self.names.joints[joint]}")
                self.system.body(child)
            self._add_joint(joint, place, child)
            place = Frame(child)

    def _add_joint(self, joint: int, place: Frame, child: str) -> None:
        """One joint from a place, in which the child's axes stand at the reference, to the child."""
        model, name = self.model, self.names.joints[joint]
        kind = int(model.jnt_type[joint])
        at = tidy_vector(model.jnt_pos[joint])
        if JOINTS[kind] == "free":
            a, b = Frame("world"), Frame(child)
        else:
            a, b = Frame(place.body, at).on(place), Frame(child, at)
        fields: dict[str, Any] = {}
        if JOINTS[kind] in ("revolute", "prismatic"):
            fields["axis"] = axis_of(model.jnt_axis[joint])
            a = self._referred(joint, a)
        self.system.joint(name, JOINTS[kind], a, b, **fields, **self._fields(joint, kind))
        armature = float(model.dof_armature[model.jnt_dofadr[joint]]) + self.drives.armatures.get(joint, 0.0)
        if armature:
            self._add_armature(joint, kind, armature)

    def _referred(self, joint: int, a: Frame) -> Frame:
        """The frame on the parent, moved back so that q is qpos: at the reference, qpos is ``ref``."""
        model = self.model
        ref, axis = tidy_number(model.qpos0[model.jnt_qposadr[joint]]), model.jnt_axis[joint]
        if not ref:
            return a
        if JOINTS[int(model.jnt_type[joint])] == "prismatic":
            return Frame(a.body, tidy_vector(-ref * axis)).on(a)
        return Frame(a.body, (0.0, 0.0, 0.0), rotation_of(turn_matrix(axis, -ref))).on(a)

    def _fields(self, joint: int, kind: int) -> dict[str, Any]:
        """Start, limits, springs, damping, friction and laws of a joint."""
        model, off = self.model, self.mujoco.mjtDisableBit
        fields: dict[str, Any] = {}
        spring: list[str] = []
        one, dof = N_U[kind] == 1, int(model.jnt_dofadr[joint])
        locked = self.equalities.locked.get(joint)
        if locked is None:
            fields |= self._start_of(joint, kind)
        else:
            fields["motion"] = locked
        name = self.names.joints[joint]
        if model.jnt_limited[joint] and off.mjDSBL_LIMIT not in self.disabled:
            if one:
                lower, upper = _plain(model.jnt_range[joint])
                fields["limits"] = {"lower": lower, "upper": upper}
                self.recorded.append(name)
            else:
                self.left_out.append(f"limit of {name}")
        damping = float(model.dof_damping[dof])
        if off.mjDSBL_DAMPER not in self.disabled:
            if damping:
                fields["damping"] = damping if one else (damping,) * N_U[kind]
            if not one and model.dof_dampingpoly[dof].any():
                self.left_out.append(f"damping of {name} that is not linear")
        stiffness = float(model.jnt_stiffness[joint])
        if (stiffness or model.jnt_stiffnesspoly[joint].any()) and off.mjDSBL_SPRING not in self.disabled:
            if one:
                neutral = tidy_number(model.qpos_spring[model.jnt_qposadr[joint]])
                fields |= {"stiffness": stiffness, **({"neutral": neutral} if neutral else {})}
            elif JOINTS[kind] == "free" or model.jnt_stiffnesspoly[joint].any():
                self.left_out.append(f"spring of {name}")
            else:
                spring = add_ball_spring(self.system, self.names, name, stiffness)
        loss = float(model.dof_frictionloss[dof])
        if loss and off.mjDSBL_FRICTIONLOSS not in self.disabled:
            if one and locked is None:
                fields["friction"] = coulomb(effort=loss)
            else:
                self.left_out.append(f"frictionloss of {name}")
        laws = [*self.drives.efforts(joint)] or [""]
        laws = laws if not spring else [join(pair) for pair in zip_longest(laws, spring, fillvalue="")]
        if one:
            laws[0] = " + ".join(law for law in (laws[0], *self._polynomials(joint, dof)) if law)
        if any(laws):
            fields["effort"] = [law or 0.0 for law in laws] if len(laws) > 1 else laws[0]
        return fields

    def _start_of(self, joint: int, kind: int) -> dict[str, Any]:
        """Coordinates and speeds at the start; with loops only where assembly looks first: MuJoCo's need not fit."""
        model = self.model
        adr, dof = int(model.jnt_qposadr[joint]), int(model.jnt_dofadr[joint])
        q, u = self.start_q[adr : adr + N_Q[kind]], np.array(self.start_u[dof : dof + N_U[kind]])
        fields: dict[str, Any] = {}
        resting = np.array([1.0, 0.0, 0.0, 0.0]) if kind == 1 else np.zeros(N_Q[kind])
        if not np.array_equal(q, resting):
            word = "guess" if self.equalities.close_loops else "q"
            fields[word] = [tidy_number(x) for x in q] if N_Q[kind] > 1 else tidy_number(q[0])
        if u.any() and not self.equalities.close_loops:
            if kind == 0:
                u[:3] = quaternion_matrix(q[3:]).T @ u[:3]
            fields["u"] = [tidy_number(x) for x in u] if N_U[kind] > 1 else tidy_number(u[0])
        return fields

    def _polynomials(self, joint: int, dof: int) -> list[str]:
        """Springs and dampers that are not linear, as laws."""
        model, name, off = self.model, self.names.joints[joint], self.mujoco.mjtDisableBit
        laws = []
        if model.jnt_stiffnesspoly[joint].any() and off.mjDSBL_SPRING not in self.disabled:
            away = f"({name}.q - {tidy_number(model.qpos_spring[model.jnt_qposadr[joint]])!r})"
            b, c = (float(x) for x in model.jnt_stiffnesspoly[joint])
            laws.append(f"-({b!r}*{away}^2 + {c!r}*{away}^3)")
        if model.dof_dampingpoly[dof].any() and off.mjDSBL_DAMPER not in self.disabled:
            b, c = (float(x) for x in model.dof_dampingpoly[dof])
            laws.append(f"-({b!r}*{name}.u*abs({name}.u) + {c!r}*{name}.u^3)")
        if model.jnt_springyield[joint] > 0:
            self.left_out.append(f"yield of the spring of {name}")
        return laws

    def _add_armature(self, joint: int, kind: int, armature: float) -> None:
        name = self.names.joints[joint]
        if JOINTS[kind] == "revolute":
            self.system.element(self.names.fresh(f"{name}_armature"), "shaft_inertia", shaft=name, inertia=armature)
        elif JOINTS[kind] == "prismatic":
            self.system.element(self.names.fresh(f"{name}_armature"), "slide_mass", slide=name, mass=armature)
        else:
            self.left_out.append(f"armature of {name}, which has several freedoms")

    # -- sites and what acts there -----------------------------------------------------------------
    def _add_frame(self, site: int) -> None:
        name = self.names.frame(site)
        if name is not None:
            frame = self.equalities.site_frame(site)
            given = {"at": frame.position} | ({} if frame.rotation is None else {frame.rotation[0]: frame.rotation[1]})
            self.system.place(frame.body, given, name)

    def _add_pushes(self) -> None:
        for push in self.drives.pushes:
            frame = self.equalities.site_frame(push.site)
            for kind, laws in (("force", push.force), ("moment", push.moment)):
                if any(law != "0" for law in laws):
                    name = self.names.fresh(f"{push.actuator}_{kind}")
                    self.system.element(name, kind, on=frame, expressed_in=frame, **{kind: laws})

        for spring in self.drives.springs:
            fields = {"stiffness": spring.stiffness, "damping": spring.damping, "free_length": spring.free_length}
            ends = {"a": self.equalities.site_frame(spring.a), "b": self.equalities.site_frame(spring.b)}
            self.system.element(spring.name, "spring", **ends, **fields)

    # -- what is left out --------------------------------------------------------------------------
    def _note_the_rest(self) -> None:
        model = self.model
        if self.recorded:
            shown = ", ".join(self.recorded[:4]) + (", ..." if len(self.recorded) > 4 else "")
            self.notes.append(f"limits are recorded and do not act ({shown}); those of MuJoCo are soft stops")
        if any(joint.friction is not None for joint in self.system.joints.values()):
            self.notes.append("frictionloss is Coulomb friction, which sticks exactly; in MuJoCo it is soft and creeps")
        self.left_out += describe_carried_weights(model, self.names)
        self.left_out += describe_surroundings(self.mujoco, model)
        self.left_out += [*self.drives.left_out, *self.equalities.left_out, *describe_rest(model)]
        self.notes.extend(f"left out: {what}" for what in self.left_out)


def _plain(values: Any) -> tuple[float, ...]:
    return tuple(tidy_number(x) for x in values)


TINY = 1e-24  # beside the square of |v|: at rest atan2(|v|, |w|) / |v| is 1, and is computed so


def add_ball_spring(system: System, names: MjcfNames, joint: str, stiffness: float) -> list[str]:
    """The laws of the three efforts of a ball joint; signals are added that they read."""
    w, *v = (f"{joint}.q.q{letter}" for letter in "wxyz")
    size, factor = names.fresh(f"{joint}_spring_sine"), names.fresh(f"{joint}_spring")
    system.signal(size, f"sqrt({' + '.join(f'{part}^2' for part in v)} + {TINY!r})")
    system.signal(factor, f"{-2.0 * stiffness!r}*atan2({size}, abs({w}))/{size}*where({w} < 0, -1, 1)")
    return [f"{factor}*{part}" for part in v]


def spread_switches(mujoco: Any, model: Any) -> None:
    """Write out the switches of a compiled model that switch several things off at once."""
    off = mujoco.mjtDisableBit
    if model.opt.disableflags & off.mjDSBL_CONSTRAINT:
        model.opt.disableflags |= off.mjDSBL_EQUALITY | off.mjDSBL_LIMIT | off.mjDSBL_FRICTIONLOSS | off.mjDSBL_CONTACT
    if model.opt.disableflags & off.mjDSBL_SPRING and model.opt.disableflags & off.mjDSBL_DAMPER:
        # Without both, MuJoCo computes no passive force at all.
        model.body_gravcomp[:] = 0.0
        model.opt.density = model.opt.viscosity = 0.0
        model.opt.wind[:] = 0.0


def describe_surroundings(mujoco: Any, model: Any) -> list[str]:
    """The medium, contact, and what moves bodies from outside."""
    found = []
    if model.opt.density or model.opt.viscosity or model.opt.wind.any():
        found.append("forces of the surrounding medium (density, viscosity, wind)")
    touching = set(np.flatnonzero((model.geom_contype != 0) | (model.geom_conaffinity != 0)))
    touching |= {*model.pair_geom1, *model.pair_geom2}
    if touching and not model.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_CONTACT:
        found.append(f"contact ({len(touching)} geoms can touch)")
    if model.nmocap:
        found.append(f"motion from outside of {model.nmocap} mocap bodies, which stand still")
    return found


def describe_carried_weights(model: Any, names: MjcfNames) -> list[str]:
    """Joints whose bounded drives carry the weight of bodies; here a force at the body carries it, without a bound."""
    if not model.body_gravcomp.any():
        return []
    bounded = np.flatnonzero((model.jnt_actgravcomp != 0) & (model.jnt_actfrclimited != 0))
    return [f"bound of what {names.joints[joint]} carries by actuatorgravcomp" for joint in bounded]


def describe_keyframes(model: Any, key: int) -> list[str]:
    """The keyframes that it does not start at, and what of its own is not read."""
    found = []
    if model.key_time[key]:
        found.append(f"time {model.key_time[key]:g} s of the keyframe; t begins at 0")
    for body in np.flatnonzero(model.body_mocapid >= 0):
        k = int(model.body_mocapid[body])
        here = (model.key_mpos[key].reshape(-1, 3)[k], model.key_mquat[key].reshape(-1, 4)[k])
        if not (np.array_equal(here[0], model.body_pos[body]) and np.array_equal(here[1], model.body_quat[body])):
            found.append(f"place of the mocap body {model.body(body).name or body} in the keyframe")
    others = [model.key(k).name or str(k) for k in range(model.nkey) if k != key]
    if others:
        shown = ", ".join(others[:4]) + (", ..." if len(others) > 4 else "")
        found.append(f"further keyframes ({shown})")
    return found


def describe_rest(model: Any) -> list[str]:
    """What is counted only."""
    counted = (
        (model.nflex, "forces of deformable bodies (flex), whose points are bodies here"), (model.nsensor, "sensors"),
        (model.ncam, "cameras"), (model.nlight, "lights"), (model.nplugin, "plug-ins"),
        (model.nhfield, "height fields"), (model.nnumeric + model.ntext + model.ntuple, "custom data"),
    )  # fmt: skip
    return [f"{word} ({count})" for count, word in counted if count]
