"""The quantities over time that a player's data hold, and the names of those that only a live server has."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.compiled_system import Dynamics
from kinode.results.known_names import known_names
from kinode.results.pictures.player_names import player_names
from kinode.results.trajectory import Trajectory
from kinode.studio.scene_data import Plain

COORDINATES, POWERS = ("q", "u", "u_dot"), ("power", "energy", "kinetic_energy", "potential_energy")


@dataclass(frozen=True, eq=False)
class ShownSeries:
    """Rows of numbers (rows, time) float32, a record for each quantity, and names that are left out."""

    values: Array
    infos: list[Plain]
    left_out: list[str]

    def with_rows(self, infos: Iterable[Plain], values: Array) -> ShownSeries:
        """More series, the terms of equations, each of one row."""
        start = len(self.values)
        added = [{"words": "", "group": "terms", "parts": [], **info, "row": start + k} for k, info in enumerate(infos)]
        if not added:
            return self
        rows = np.concatenate([self.values, np.asarray(values, dtype=np.float32)])
        return ShownSeries(rows, self.infos + added, self.left_out)


def shown_names(dynamics: Dynamics, links: Iterable[str], keep: Iterable[str]) -> dict[str, str]:
    """The quantities in the data of a player, with their groups."""
    groups = {name: _group(dynamics, name) for name in player_names(dynamics.system)}
    groups |= {name: "links" for name in links if name not in groups}
    return groups | {name: "kept" for name in keep if name not in groups}


def _group(dynamics: Dynamics, name: str) -> str:
    system, (owner, _, word) = dynamics.system, name.rpartition(".")
    if name in system.signals or name in system.inputs:
        return "signals"
    if owner in system.joints and word in COORDINATES:
        return "coordinates"
    if word in POWERS:
        return "powers"
    return "states" if any(each.name == name for each in dynamics.coordinates) else "loads"


def shown_series(run: Trajectory, groups: Mapping[str, str], values: Mapping[str, Array], count: int) -> ShownSeries:
    """The records and rows of quantities, whose values (time, ...) are given."""
    infos: list[Plain] = []
    rows: list[Array] = []
    at = 0
    for name, group in groups.items():
        columns = np.asarray(values[name], dtype=np.float32).reshape(count, -1).T
        infos.append(series_info(run, name, group, at, len(columns)))
        rows.append(columns)
        at += len(columns)
    stacked = np.concatenate(rows) if rows else np.zeros((0, count), dtype=np.float32)
    left_out = [name for name in known_names(run.system) if name not in groups and name != "t"]
    return ShownSeries(np.ascontiguousarray(stacked), infos, left_out)


def series_info(run: Trajectory, name: str, group: str, row: int, size: int) -> Plain:
    """The record of one quantity."""
    unit = run.units(name)
    parts = list(run.parts(name)) or [str(k) for k in range(size)]
    mixed = {} if isinstance(unit, str) or len(set(unit)) == 1 else {"units": list(unit)}
    return {
        "name": name,
        "unit": unit if isinstance(unit, str) else unit[0],
        "words": "",
        "group": group,
        "parts": parts if size > 1 else [],
        "row": row,
        **mixed,
    }
