"""What a live page is sent: the whole run when it opens, and what has changed when a number was set."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NewType, TypedDict

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.compiled_system import Dynamics
from kinode.model.base.parameters import is_hidden
from kinode.model.quantities import unit_of
from kinode.player.diagram_data import DiagramRecord
from kinode.player.equation_data import EquationRecord
from kinode.player.run_document import DocumentParts, make_document, run_records, shown_names
from kinode.player.scene_data import KeptRecords, Plain, SceneData
from kinode.results.joint_loads import LOAD_ROUNDING
from kinode.results.run_frames import RunFrames
from kinode.studio.live.changing_run import ChangingRun, Choice, ChosenRun
from kinode.studio.server.messages import Arrays

Packed = tuple[Plain, dict[str, Array]]
GEOMETRY = ("frames", "elements", "joints")


# Parts of a run as files have them too (player/run_document.py): the page has their types.
RunEnding = NewType("RunEnding", Plain)
EventData = NewType("EventData", Plain)
StripData = NewType("StripData", Plain)
Geometry = NewType("Geometry", Plain)
BadgeData = NewType("BadgeData", Plain)
RunHeader = NewType("RunHeader", Plain)


class LiveNumber(TypedDict):
    """A number that can be set."""

    name: str
    value: float
    unit: str
    words: str
    low: float | None
    high: float | None
    structural: str  # why a change compiles anew; empty if it does not
    group: str  # "parameters", "inputs", or the component
    place: str  # where the text has it


class LiveState(TypedDict):
    """What can be set, and what is: in the header of a run that is live."""

    parameters: list[LiveNumber]
    until: float
    file: str
    readOnly: bool
    responseOf: str  # "elbow.reaction.force|peak"
    responses: list[str]  # what curves can show
    values: dict[str, float]  # those that differ from the file
    start: dict[str, float]  # initial values that may be set
    startChanged: dict[str, float]
    id: int  # of the run, as in its updates


class ModelPush(TypedDict):
    """In the header of a run that is pushed: why it came: a new file, another text, or more of the same run."""

    cause: Literal["file", "text", "more"]


class Rows(TypedDict):
    """How many rows of series there are, and which were sent; null: the first ones."""

    of: int
    at: list[int] | None


class SentPeak(TypedDict):
    """The largest of a load, and when."""

    value: float
    time: float


class JointPeaks(TypedDict):
    """The largest loads of a joint."""

    joint: str
    force: SentPeak
    moment: SentPeak


class UpdateHeader(TypedDict):
    """A run after a number was set; ``geometry`` has shapes and places where they are others."""

    run: RunEnding
    events: list[EventData]
    strips: list[StripData]
    peaks: list[JointPeaks]
    values: dict[str, float]
    loadNotes: list[str]
    geometry: Geometry | None
    note: str
    id: int
    rows: Rows


class PageData:
    """The data of the runs of one model, in the order of the series that its page knows.

    Parameters
    ----------
    model : ChangingRun
    file : str
        The name of the model's file; "" if there is none.
    read_only : bool
        Whether the page may change something.
    diagram, equations
        The circuit and the equations of motion, where they are known yet.
    equations_of : Choice
        The choice whose run has the values of the equations' terms.
    """

    def __init__(
        self, model: ChangingRun, file: str = "", *, read_only: bool = False, diagram: DiagramRecord | None = None,
        equations: EquationRecord | None = None, equations_of: Choice | None = None,
    ) -> None:  # fmt: skip
        self.model, self.file, self.read_only = model, file, read_only
        self.diagram, self.equations, self._equations_of = diagram, equations, equations_of
        self.groups = shown_names(model.model.dynamics, [] if diagram is None else diagram.names, ())
        self.names = tuple(self.groups)
        """The quantities that pictures are to hold."""
        self._joints: dict[str, Plain] = {}  # as they were sent
        self._size = 1.0
        self._kept: tuple[Dynamics, KeptRecords] | None = None
        self._lock = threading.Lock()

    # -- the whole run -----------------------------------------------------------------------------
    def document(self, chosen: ChosenRun) -> Packed:
        """The run as a page first gets it."""
        parts = DocumentParts(self.groups, self.diagram, self._terms(chosen), causes=False)
        made = make_document(chosen.run, chosen.frames, parts)
        self._joints = {record["name"]: record for record in made.header["joints"]}
        self._size = made.header["size"]
        return {**made.header, "live": self.live_header(chosen)}, made.arrays

    def branch_document(self, chosen: ChosenRun, label: str) -> Packed:
        """The run of a branch: without circuit and equations, which are those of the run it left."""
        made = make_document(chosen.run, chosen.frames, DocumentParts(self.groups, causes=False), label=label)
        return {**made.header, "values": dict(chosen.choice.values)}, made.arrays

    def _terms(self, chosen: ChosenRun) -> EquationRecord | None:
        """The equations; the values of their terms are to be asked for where something was changed since."""
        known = self.equations
        if known is None or not known.infos or self._equations_of == chosen.choice:
            return known
        return EquationRecord(known.data, known.infos, np.full((len(known.infos), len(chosen.frames)), np.nan))

    def live_header(self, chosen: ChosenRun) -> LiveState:
        """What can be set, and what is."""
        return {
            "parameters": list_numbers(self.model, chosen),
            "until": chosen.choice.until,
            "file": self.file,
            "readOnly": self.read_only,
            "responseOf": find_response(chosen),
            "responses": list_responses(chosen),
            "values": dict(chosen.choice.values),
            "start": start_values(chosen),
            "startChanged": dict(chosen.choice.start),
            "id": chosen.number,
        }

    # -- what has changed --------------------------------------------------------------------------
    def update(
        self, chosen: ChosenRun, names: Sequence[str] | None = None, geometry: Geometry | None = None
    ) -> tuple[UpdateHeader, Arrays]:
        """The run after a number was set, with its shapes where they are given; of the series those named, or all."""
        frames = chosen.frames
        rows, series = self.rows(chosen, names)
        records = run_records(chosen.run, frames.t)
        header: UpdateHeader = {
            "run": records["run"],
            "events": records["events"],
            "strips": records["strips"],
            "peaks": find_peaks(frames, self._joints),
            "values": dict(chosen.choice.values),
            "loadNotes": list(frames.notes),
            "geometry": geometry,
            "note": chosen.setting.message,
            "id": chosen.number,
            "rows": rows,
        }
        arrays: dict[str, Array] = {"t": np.asarray(frames.t, dtype=np.float64)}
        moving = bool(self.model.system.frames)
        arrays["poses"] = SceneData(chosen.run).with_moving_frames(frames) if moving else frames.poses
        arrays["series"] = series
        arrays |= {f"loads.{part}": values for part, values in frames.loads.items()}
        return header, arrays

    def rows(self, chosen: ChosenRun, names: Sequence[str] | None = None) -> tuple[Rows, Array]:
        """The series with these names, or all: how many rows there are, which are sent (None: the first), and these.

        Terms of equations come last and are never sent: they are asked for where they are shown.
        """
        frames = chosen.frames
        of = len(frames.quantities) + (0 if self.equations is None else len(self.equations.infos))
        if names is None:
            return {"of": of, "at": None}, frames.quantities
        at = [row for name in names if name in frames.columns for row in range(of)[frames.columns[name]]]
        return {"of": of, "at": at}, frames.quantities[at]

    def geometry(self, chosen: ChosenRun) -> Geometry:
        """Shapes and places of a run."""
        with self._lock:
            if self._kept is None or self._kept[0] is not chosen.dynamics:
                self._kept = chosen.dynamics, KeptRecords()
            scene = SceneData(chosen.run, self._size, self._kept[1])
            places = {record["name"]: record for record in scene.joints()}
            joints = [{**record, **places.get(name, {})} for name, record in self._joints.items()]
            shown = {"bodies": scene.bodies, "frames": scene.frames, "elements": scene.elements, "joints": joints}
            return Geometry(shown)


def looks_alike(one: Geometry, other: Geometry) -> bool:
    """Whether two geometries are drawn alike: masses do not show."""
    bodies = ([{**body, "mass": 0.0} for body in each["bodies"]] for each in (one, other))
    return all(one[part] == other[part] for part in GEOMETRY) and next(bodies) == next(bodies)


def find_peaks(frames: RunFrames, joints: Mapping[str, Plain]) -> list[JointPeaks]:
    """The largest force and moment of each joint, and when."""
    if not len(frames):
        return []
    total = frames.loads["total"]
    sizes = np.nan_to_num(np.stack([np.linalg.norm(total[:, :3], axis=1), np.linalg.norm(total[:, 3:], axis=1)]))
    places = sizes.argmax(axis=2)
    peaks = np.take_along_axis(sizes, places[..., None], axis=2)[..., 0].astype(float)
    peaks[peaks <= LOAD_ROUNDING * peaks.max(axis=0)] = 0.0
    return [
        {
            "joint": name,
            "force": {"value": peaks[0, k], "time": float(frames.t[places[0, k]])},
            "moment": {"value": peaks[1, k], "time": float(frames.t[places[1, k]])},
        }
        for k, name in enumerate(frames.joints)
        if joints.get(name, {}).get("peak") is not None
    ]


# -- what can be set -------------------------------------------------------------------------------
def list_numbers(model: ChangingRun, chosen: ChosenRun) -> list[LiveNumber]:
    """Parameters, inputs, then all numbers of the model by component."""
    system, values = model.system, chosen.choice.values
    rows = []
    nominal = system.parameter_values()
    for name in (x for x in chosen.dynamics.topology.parameters if not is_hidden(x)):
        parameter, unit = system.parameters[name], unit_of(system, name)
        low, high = parameter.bounds or (None, None)
        shown = unit if isinstance(unit, str) else ""
        value = float(values.get(name, nominal[name]))
        rows.append(_number(name, value, shown, parameter.note, "parameters", bounds=(low, high)))
    for name, given in system.inputs.items():
        unit = unit_of(system, name)
        value = float(values.get(name, system.nominal(given.value)))
        rows.append(_number(name, value, unit if isinstance(unit, str) else "", "", "inputs"))
    for number in model.model.numbers.values():
        value = float(values.get(number.name, number.value))
        rows.append(
            _number(number.name, value, number.unit, number.doc, number.component, number.reason, place=number.place)
        )
    return rows


def _number(
    name: str, value: float, unit: str, words: str, group: str, structural: str = "",
    bounds: tuple[Any, Any] = (None, None), place: str = "",
) -> LiveNumber:  # fmt: skip
    low, high = (None if bound is None else float(bound) for bound in bounds)
    return {
        "name": name, "value": value, "unit": unit, "words": words, "low": low, "high": high,
        "structural": structural, "group": group, "place": place or name,
    }  # fmt: skip


def start_values(chosen: ChosenRun) -> dict[str, float]:
    """The start of a run, by name; what may be set of it."""
    begin = chosen.run.begin
    return {} if begin is None else chosen.dynamics.values(begin)


def find_response(chosen: ChosenRun) -> str:
    """What curves show at first: the force in the joint that is loaded most; else the first quantity."""
    found = list_responses(chosen)
    total = chosen.frames.loads["total"][:, :3]
    if total.size:
        forces = np.nan_to_num(np.linalg.norm(total, axis=1)).max(axis=1, initial=0.0)
        for k in np.argsort(-forces, kind="stable"):
            text = f"{chosen.frames.joints[k]}.reaction.force|peak"
            if text in found and forces[k] > 0.0:
                return text
    moving = [text for text in found if not text.split("|")[0].endswith((".force", ".moment"))]
    return (moving or found or [""])[0]


def list_responses(chosen: ChosenRun) -> list[str]:
    """What curves can show without a name being typed: loads of joints, coordinates, speeds and other states."""
    joints = chosen.run.system.joints
    loads = [
        f"{name}.reaction.{word}|peak"
        for name in chosen.frames.joints
        if name in joints
        for word in ("force", "moment")
    ]
    states = [f"{c.name}|{by}" for c in chosen.dynamics.coordinates for by in ("peak", "final")]
    return loads + states
