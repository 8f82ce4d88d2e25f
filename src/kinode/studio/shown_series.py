"""The quantities over time that a player's data hold, and the names of those that only a live server has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.results.known_names import known_names
from kinode.results.trajectory import Trajectory
from kinode.studio.scene_data import Plain


@dataclass(frozen=True, eq=False)
class ShownSeries:
    """Rows of numbers (rows, time) float32, a record for each quantity, and names that are left out."""

    values: Array
    infos: list[Plain]
    left_out: list[str]


def shown_names(run: Trajectory, keep: tuple[str, ...]) -> dict[str, str]:
    """The quantities in the data of a player, with their groups."""
    system = run.system
    groups: dict[str, str] = {}
    for name, joint in system.joints.items():
        if joint.n_u:
            groups |= {f"{name}.{word}": "coordinates" for word in ("q", "u", "u_dot")}
            groups |= {f"{name}.effort": "loads", f"{name}.power": "powers"}
    groups |= {c.name: "states" for c in run.dynamics.coordinates if c.role == "z"}
    for name, element in system.elements.items():
        offered = set(element.offered())
        groups |= {f"{name}.{word}": "loads" for word in ("force", "moment", "length") if word in offered}
        groups |= {f"{name}.power": "powers"} if element.pushes or "power" in offered else {}
    groups |= dict.fromkeys(system.signals, "signals") | dict.fromkeys(system.inputs, "signals")
    energies = ("kinetic_energy", "potential_energy", "energy")
    groups |= {f"system.{word}": "powers" for word in energies} if system.bodies else {}
    known = set(run.names())
    return {name: group for name, group in groups.items() if name in known} | dict.fromkeys(keep, "kept")


def shown_series(run: Trajectory, frames: Any, keep: tuple[str, ...]) -> ShownSeries:
    """The quantities at the times of the pictures."""
    groups = shown_names(run, keep)
    values = frames.evaluate(list(groups))
    infos: list[Plain] = []
    rows: list[Array] = []
    for name, group in groups.items():
        parts = run.parts(name)
        columns = np.asarray(values[name], dtype=np.float32).reshape(len(frames.t), -1).T
        unit = run.units(name)
        infos.append(
            {
                "name": name,
                "unit": unit if isinstance(unit, str) else unit[0],
                "words": "",
                "group": group,
                "parts": list(parts) if len(columns) > 1 else [],
                "row": sum(len(each) for each in rows),
            }
        )
        rows.append(columns)
    stacked = np.concatenate(rows) if rows else np.zeros((0, len(frames.t)), dtype=np.float32)
    left_out = [name for name in known_names(run.system) if name not in groups and name != "t"]
    return ShownSeries(np.ascontiguousarray(stacked), infos, left_out)
