"""A run as the data of the player: a header of plain values and arrays of numbers, quantities over time among them.

``run_document`` gathers them; ``packet.write_packet`` makes bytes of them.  ``web/src/data/run_document.ts`` reads the
same records, and docs/reference/player-data.md describes them.  All quantities are in SI, loads in world axes.  Some
quantities are only named: a live server computes them when they are asked for.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.compiled_system import Dynamics
from kinode.errors import ArgumentError, Error
from kinode.player.diagram_data import DiagramRecord, diagram_data
from kinode.player.equation_data import EquationRecord, equation_data
from kinode.player.load_data import CAUSES, bearing_records, cause_records, joint_records
from kinode.player.packet import EncodedSeries, encode_series, write_packet
from kinode.player.scene_data import Plain, SceneData
from kinode.results.run_frames import RunFrames, player_names
from kinode.results.run_quantities import IGNORE_OVERFLOW, known_names
from kinode.results.trajectory import Trajectory
from kinode.sheets.tables import Table, number
from kinode.simulation.event_log import Event
from kinode.version import __version__
from kinode.views.plots.mode_strips import find_strips

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


FORMAT = "kinode-run"
VERSION = 1
FINE, COARSE = 24, 16  # bits of a value in a file
MOST_FINE = 600_000  # numbers in a file up to which they are stored finely, contributions to loads apart
MOST_BODIES = 60  # up to which it is stored who loads the joints
MOST_FACTS = 40
LEFT_OUT = "who loads each joint is in part left out, to keep the file small: kinode view --live has all of it"


@dataclass(frozen=True, eq=False)
class RunDocument:
    """Header and arrays of one run; time is the last axis of every array."""

    header: Plain
    arrays: dict[str, Array] = field(repr=False)

    def without(self, causes: str) -> RunDocument:
        """The same without contributions to loads whose arrays begin so; a note says that they are left out."""
        kept = [record for record in self.header["causes"] if not record["array"].startswith(causes)]
        notes = [*self.header["loadNotes"], LEFT_OUT] if len(kept) < len(self.header["causes"]) else []
        arrays = {name: array for name, array in self.arrays.items() if not name.startswith(causes)}
        return RunDocument(self.header | {"causes": kept, "loadNotes": notes or self.header["loadNotes"]}, arrays)

    def packet(self, *, encoded: bool) -> bytes:
        """The bytes of the run; ``encoded`` ones are small when deflated, and take longer to write and read."""
        if not encoded:
            return write_packet(self.header, self.arrays)
        whole = {name: array for name, array in self.arrays.items() if not name.startswith(CAUSES)}
        bits = FINE if sum(array.size for array in whole.values()) <= MOST_FINE else COARSE
        spans = _common_spans(self.arrays) if bits == COARSE else {}
        header, series = _stored_once(self.header, self.arrays["series"])
        packed: dict[str, Array | EncodedSeries] = {}
        for name, array in (self.arrays | {"series": series}).items():
            if name == "t" or not array.size:
                packed[name] = array
                continue
            wanted = bits if name in whole else COARSE
            packed[name] = encode_series(array, wanted, span=spans.get(name, 0.0), order=2 if wanted == FINE else 3)
        return write_packet(header, packed)


def _stored_once(header: Plain, series: Array) -> tuple[Plain, Array]:
    """The same quantities where equal numbers under several names stand once."""
    rows, places, infos, count = list[Array](), dict[bytes, int](), list[Plain](), 0
    for info in header["series"]:
        block = series[info["row"] : info["row"] + max(1, len(info["parts"]))]
        place = places.setdefault(block.tobytes(), count)
        infos.append(info | {"row": place})
        if place == count:
            rows.append(block)
            count += len(block)
    return header | {"series": infos}, np.concatenate(rows) if rows else series


def _common_spans(arrays: Mapping[str, Array]) -> dict[str, Array]:
    """Ranges for the steps of a large file: one for all positions, one for the three components of each load."""
    spans: dict[str, Array] = {}
    if (poses := arrays["poses"]).size:
        own = _spans(poses)
        spans["poses"] = np.concatenate([np.full_like(own[:, :3], own[:, :3].max()), np.full_like(own[:, 3:], 2.0)], 1)
    if (total := arrays.get("loads.total")) is not None and total.size:
        parts = _spans(total).reshape(-1, 2, 3)
        joint = np.broadcast_to(parts.max(axis=2, keepdims=True), parts.shape).reshape(-1, 6)
        spans |= dict.fromkeys(("loads.total", "loads.static"), joint)
    return spans


def _spans(array: Array) -> Array:
    known = np.isfinite(array)
    high = np.max(array, axis=-1, where=known, initial=-np.inf)
    low = np.min(array, axis=-1, where=known, initial=np.inf)
    return np.where(known.any(axis=-1), high - low, 0.0).astype(float)


@IGNORE_OVERFLOW
def run_document(
    run: Trajectory, *, label: str = "", keep: Iterable[str] = (), rate: float | None = None, checks: bool = True,
    verify: bool = False, bearings: Mapping[str, Mapping[str, Any]] | None = None, seen_from: str | None = None,
    equations: bool = True,
) -> RunDocument:  # fmt: skip
    """The data of a run for the player.

    Parameters
    ----------
    run : Trajectory
    label : str, optional
        What tells it from other runs.
    keep : iterable of str, optional
        Names of further quantities to put in.
    rate : float, optional
        Pictures for a second of the run.
    checks : bool, default True
        Whether the energy audit is added.
    verify : bool, default False
        Whether independent derivations are compared.
    bearings : mapping, optional
        Positions and ratings of bearings on shafts, by joint; see ``load_data.bearing_records``.
    seen_from : str, optional
        A body or frame that stands still in the picture at first.
    equations : bool, default True
        Whether the equations of motion are added, where they are short.
    """
    diagram = diagram_data(run.system)
    groups = shown_names(run.dynamics, [] if diagram is None else diagram.names, keep)
    frames = run.frames(rate, names=groups)
    written = equation_data(run, frames) if equations else None
    parts = DocumentParts(groups, diagram, written, _badges(run, checks, verify))
    return make_document(run, frames, parts, label=label, bearings=bearings, seen_from=seen_from)


@dataclass(frozen=True, eq=False)
class DocumentParts:
    """What a document has beyond the run and its pictures.

    Attributes
    ----------
    groups : mapping
        The quantities that are shown over time, which the pictures hold, with their groups.
    diagram, equations
        The circuit and the equations of motion; None where they are left out.
    badges : list
        The results of checks.
    causes : bool
        Whether those who load each joint are put in.
    """

    groups: Mapping[str, str]
    diagram: DiagramRecord | None = None
    equations: EquationRecord | None = None
    badges: Sequence[Plain] = ()
    causes: bool = True


def make_document(
    run: Trajectory, frames: RunFrames, parts: DocumentParts, *, label: str = "",
    bearings: Mapping[str, Mapping[str, Any]] | None = None, seen_from: str | None = None,
) -> RunDocument:  # fmt: skip
    """The data of a run whose pictures are evaluated."""
    scene = SceneData(run)
    values = {name: np.moveaxis(frames[name], -1, 0) for name in parts.groups}
    series = shown_series(run, parts.groups, values, len(frames))
    if parts.equations is not None:
        series = series.with_rows(parts.equations.infos, parts.equations.values)
    few = len(scene.bodies) <= MOST_BODIES
    causes, contributions = cause_records(frames) if parts.causes and few else ([], {})
    arrays: dict[str, Array] = {"t": np.asarray(frames.t, dtype=np.float64)}
    arrays |= {"poses": scene.with_moving_frames(frames), "series": series.values, **contributions}
    arrays |= {f"loads.{part}": values for part, values in frames.loads.items()}
    header = _header(run, scene, label, frames.t) | {
        "joints": joint_records(run, scene, frames),
        "loadParts": list(frames.loads),
        "loadNotes": [*frames.notes, *([] if few else [LEFT_OUT])],
        "series": series.infos,
        "liveOnly": series.left_out,
        "badges": list(parts.badges),
        "diagram": None if parts.diagram is None else parts.diagram.data,
        "equations": None if parts.equations is None else parts.equations.data,
        "causes": causes,
        "seenFrom": seen_from or "",
        "bearings": bearing_records(run, bearings or {}),
    }
    return RunDocument(header, arrays)


def model_digest(run: Trajectory) -> str:
    """What tells models apart: names and kinds of all components."""
    system = run.system
    words = [system.name, *(f"{name}:{part.kind}" for name, part in system.components.items())]
    return hashlib.sha256("\n".join(words).encode()).hexdigest()[:16]


def _header(run: Trajectory, scene: SceneData, label: str, t: Array) -> Plain:
    return {
        "format": FORMAT,
        "version": VERSION,
        "written": f"kinode {__version__}",
        "name": run.system.name,
        "label": label,
        "digest": model_digest(run),
        "size": scene.size,
        "center": scene.center,
        "up": scene.up,
        "plane": scene.plane,
        "bodies": scene.bodies,
        "frames": scene.frames,
        "elements": scene.elements,
        **run_records(run, t),
        "parameters": _parameters(run),
        "facts": _facts(run),
    }


def run_records(run: Trajectory, t: Array) -> Plain:
    """How a run ended, its events and the strips of its modes; ``t`` are the times of its pictures."""
    span = (float(t[0]), float(t[-1])) if len(t) else (0.0, 0.0)
    ending = {"status": run.status, "message": run.message, "component": run.ending.component or ""}
    return {
        "run": {**ending, "from": span[0], "to": span[1]},
        "events": _events(run, span[1]),
        "strips": _strips(run),
    }


# -- events and facts ------------------------------------------------------------------------------
def _events(run: Trajectory, end: float) -> list[Plain]:
    events = [_event(event) for event in run.events]
    if run.status not in ("done", "condition") and len(run):
        words = {"component": run.ending.component or "", "message": run.message}
        events.append({"time": end, "kind": "end", **words})
    return events


def _event(event: Event) -> Plain:
    return {"time": event.time, "kind": event.kind, "component": event.component, "message": event.message}


def _strips(run: Trajectory) -> list[Plain]:
    if not len(run):
        return []
    return [
        {"name": strip.name, "stretches": [list(each) for each in strip.stretches], "jumps": list(strip.jumps)}
        for strip in find_strips(run)
    ]


def _parameters(run: Trajectory) -> list[Plain]:
    return [
        {
            "name": name,
            "value": value,
            "unit": str(run.units(name)),
            "words": run.system.parameters[name].note,
            "low": None if (bounds := run.system.parameters[name].bounds) is None else bounds[0],
            "high": None if bounds is None else bounds[1],
            "structural": "",
            "group": "parameters",
        }
        for name, value in run.parameters.items()
        if name in run.system.parameters
    ]


def _facts(run: Trajectory) -> list[list[str]]:
    facts = [["ended", f"{run.status}: {run.message}"], ["times stored", str(len(run))]]
    for key, value in list(run.facts.items())[:MOST_FACTS]:
        if value is not None:
            facts.append([key.replace("_", " "), number(value, 4) if isinstance(value, float) else str(value)])
    return facts


# -- checks ----------------------------------------------------------------------------------------
def _badges(run: Trajectory, checks: bool, verify: bool) -> list[Plain]:
    badges = []
    if checks and len(run) > 1:
        badges.append(audit_badge(run))
    if verify:
        badges.append(verification_badge(run))
    return badges


def plain_table(table: Table) -> Plain:
    """A table as the page takes it."""
    numbers = [k for k, left in enumerate(table.left) if not left]
    return {"title": table.title, "head": table.heads, "rows": [list(row) for row in table.rows], "numbers": numbers}


def audit_badge(run: Trajectory) -> Plain:
    """The energy audit of a run."""
    audit = run.audit
    rows = [(words.replace("defect", "defect at the end"), number(value, 5)) for words, value in audit.rows]
    table = Table(("", "J"), rows, title="Energy from start to end")
    notes = [] if audit.drift is None else [str(audit.drift)]
    return {
        "name": "audit",
        "ok": audit.ok,
        "verdict": audit.trust.removeprefix("trust: "),
        "notes": notes,
        "tables": [plain_table(table)],
    }


def verification_badge(run: Trajectory) -> Plain:
    """Independent derivations of a run's model, compared."""
    from kinode.tasks.verify import enough_states, verify

    try:
        checked = verify(run.system, enough_states(run.dynamics.topology, 1))
    except Error as error:
        return {"name": "verify", "ok": None, "verdict": f"could not be done: {error}", "notes": [], "tables": []}
    tables = [plain_table(part) for part in checked.sheet.parts if isinstance(part, Table)]
    notes = [*checked.failures, *checked.notes]
    return {"name": "verify", "ok": checked.ok, "verdict": checked.verdict, "notes": notes, "tables": tables}


def check_same_model(documents: Sequence[RunDocument]) -> None:
    """Runs that are shown together are runs of one model."""
    names = {document.header["digest"]: document.header["name"] for document in documents}
    if len(names) > 1:
        raise ArgumentError(f"runs of different models cannot share a stage: {', '.join(names.values())}")


def make_documents(
    runs: Sequence[Trajectory], *, labels: Sequence[str] = (), keep: Iterable[str] = (), rate: float | None = None,
    verify: bool = False, **more: Any,
) -> list[RunDocument]:  # fmt: skip
    """The data of several runs of one model."""
    names = [labels[k] if k < len(labels) else (f"run {k + 1}" if len(runs) > 1 else "") for k in range(len(runs))]
    kept = tuple(keep)
    documents = [
        run_document(run, label=name, keep=kept, rate=rate, verify=verify, **more) for run, name in zip(runs, names)
    ]
    check_same_model(documents)
    return documents
