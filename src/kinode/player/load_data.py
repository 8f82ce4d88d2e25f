"""Loads for the player: joints with what their loads mean, who loads them, and bearings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kinode.algebra.scalars import Array
from kinode.errors import ArgumentError
from kinode.model.base.fields import short
from kinode.player.scene_data import IDENTITY, WORLD, Plain, SceneData
from kinode.results.joint_loads import compute_loads
from kinode.results.run_frames import RunFrames, find_breakdowns
from kinode.results.run_quantities import Measure
from kinode.results.trajectory import Trajectory
from kinode.sheets.tables import number

CAUSES = "causes"  # first word of the arrays of contributions
BEARING_FIELDS = ("at", "C", "axial", "life")
NO_LOAD: Plain = {"load": -1, "on": "", "point": "", "axes": "", "shared": "", "leftOut": [], "peak": None}


def joint_records(run: Trajectory, scene: SceneData, frames: RunFrames) -> list[Plain]:
    """Joints, then constraints that act on bodies; ``load`` is the row of each in the arrays of loads."""
    rows = {name: k for k, name in enumerate(frames.joints)}
    peaks = {load.joint: load for load in compute_loads(run)} if len(run) else {}
    records = scene.joints()
    for record in records:
        name = record["name"]
        record |= NO_LOAD | {"unique": [True] * 6}
        if name in rows:
            record |= _describe(frames, rows[name], f"the joint on {run.system.joints[name].a.body}")
        if name in peaks:
            record["peak"] = {"force": _peak(peaks[name].force), "moment": _peak(peaks[name].moment)}
    for name, row in rows.items():
        if name not in run.system.joints:
            records.append(_constraint(run, scene, frames, row) | _describe(frames, row, "the world"))
    return records


def _constraint(run: Trajectory, scene: SceneData, frames: RunFrames, row: int) -> Plain:
    """A constraint as a joint of the player: its load acts at a point of a body."""
    name, body = frames.joints[row], frames.on[row]
    constraint = run.system.constraints[name]
    return {
        "name": name,
        "kind": constraint.kind,
        "symbol": "none",
        "parent": {"body": WORLD, "at": [0.0] * 3, "quaternion": IDENTITY},
        "child": scene.place(constraint.places(run.system)[body]),
        "axis": None,
        "freedoms": 0,
        "shaft": False,
        "grounded": False,
        "coordinates": [],
        "peak": None,
    }


def _describe(frames: RunFrames, row: int, axes: str) -> Plain:
    return {
        "load": row,
        "on": frames.on[row],
        "point": frames.at[row],
        "axes": axes,
        "unique": [bool(flag) for flag in frames.unique[row]],
        "shared": frames.shared[row],
        "leftOut": list(frames.left_out[row]),
    }


def _peak(measure: Measure) -> Plain:
    return {"value": float(measure.peak), "time": float(measure.time)}


def cause_records(frames: RunFrames) -> tuple[list[Plain], dict[str, Array]]:
    """Who loads the most loaded joints: records, and their arrays (contributors, 6, time) by name."""
    if not len(frames) or "static" not in frames.loads or frames.run is None:
        return [], {}
    records, arrays = [], {}
    for (joint, by), breakdown in find_breakdowns(frames).items():
        name = f"{CAUSES}.{by}.{joint}"
        records.append({"joint": joint, "by": by, "names": list(breakdown.names), "array": name})
        arrays[name] = breakdown.loads
    return records, arrays


def bearing_records(run: Trajectory, bearings: Mapping[str, Mapping[str, Any]]) -> list[Plain]:
    """Bearings with their forces and lives.

    Parameters
    ----------
    run : Trajectory
    bearings : mapping
        For each shaft ``at``, the positions of its two bearings, and ``C``, their load rating, if lives are wanted.
    """
    records = []
    for joint, fields in bearings.items():
        if not isinstance(fields, Mapping) or "at" not in fields:
            raise ArgumentError(f"bearings: {joint} needs 'at', the positions of its two bearings")
        for key in fields:
            if key not in BEARING_FIELDS:
                raise ArgumentError(f"bearings: {joint} has {', '.join(BEARING_FIELDS)}, not {short(key)}")
        pair = run.bearings(joint, fields["at"], axial=fields.get("axial", "first"))
        for word, bearing in zip(("first", "second"), pair):
            rows = [
                ["position", f"{number(bearing.at)} m"],
                ["radial force, peak", f"{number(float(bearing.radial.max(initial=0.0)))} N"],
                ["axial force, peak", f"{number(float(abs(bearing.axial).max(initial=0.0)))} N"],
            ]
            if "C" in fields:
                rows.append(["life", str(bearing.life(fields["C"], **dict(fields.get("life", {}))))])
            records.append({"joint": joint, "name": word, "rows": rows})
    return records
