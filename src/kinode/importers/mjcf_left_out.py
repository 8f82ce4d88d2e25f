"""What an MJCF model holds beside joints, drives and equalities and kinode does not read, in words for the notes."""

from __future__ import annotations

from typing import Any

import numpy as np

from kinode.importers.mjcf_names import MjcfNames


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
