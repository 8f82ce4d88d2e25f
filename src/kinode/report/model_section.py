"""The section of the report on the model: bodies, joints, elements, parameters, and the limits of joints."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from kinode.model.base.fields import Value
from kinode.ode.input_table import InputCourse
from kinode.results.drive_sizing import Drives
from kinode.results.run_summary import events_table
from kinode.sheets.markup import Markup, join, table, tag
from kinode.sheets.tables import Table, number, pretty_unit

if TYPE_CHECKING:
    from kinode.results.trajectory import Trajectory


LONGEST_LAW = 110  # letters of a law that are shown
MOST_ROWS = 60  # of a table, at the most
END_FIELDS = ("a", "b", "on", "reaction")
MOST_EVENTS = 200  # in the table
LAWS = ("motion", "speed", "effort", "stiffness", "damping")


def describe_events(run: Trajectory) -> Markup:
    """The events of the run."""
    if not run.events:
        return Markup("")
    first = run.events[:MOST_EVENTS]
    left = len(run.events) - len(first)
    rest = tag("p", f"and {left} more, in run.events", class_="note") if left else Markup("")
    return join([tag("h2", "Events"), table(events_table(first).pick((0, 1, 4))), rest])


def describe_model(run: Trajectory) -> Markup:
    """Gravity and notes, then tables of bodies, joints, constraints, elements, parameters and inputs."""
    g = [run.system.nominal(x) for x in run.system.gravity]
    parts = [tag("p", tag("strong", "Gravity "), f"({', '.join(number(x) for x in g)}) m/s² in world axes.")]
    parts += [tag("p", note, class_="note") for note in run.system.notes]
    return join([*parts, _bodies(run), _joints(run), _constraints(run), _elements(run), _parameters(run)])


def _capped(title: str, head: list[Any], rows: list[list[Any]], kinds: str) -> Markup:
    if not rows:
        return Markup("")
    more = tag("p", f"{len(rows) - MOST_ROWS} more are left out here.", class_="note") if len(rows) > MOST_ROWS else ""
    return join([tag("h3", title), table(Table(head, rows[:MOST_ROWS], kinds)), more])


def _bodies(run: Trajectory) -> Markup:
    resolve = run.dynamics.arguments.resolver(run.p)
    rows = []
    for name, body in run.system.bodies.items():
        mass = float(resolve(body.mass))
        c = np.array([float(resolve(x)) for x in body.center_of_mass])
        J = np.asarray(body.rigid_inertia(resolve).J, dtype=float) - mass * (c @ c * np.eye(3) - np.outer(c, c))
        com = ", ".join(number(_clean(x)) for x in c)
        inertia = ", ".join(number(_clean(x, np.abs(J).max())) for x in np.diag(J))
        rows.append([name, number(mass), f"({com})", f"({inertia})", body.shape.kind if body.shape is not None else ""])
    head = ["body", ("mass", "kg"), ("center of mass", "m"), ("inertia xx, yy, zz about it", "kg*m^2"), "shape"]
    return _capped("Bodies", head, rows, "wnwww")


def _clean(x: float, scale: float = 1.0) -> float:
    return 0.0 if abs(x) < 1e-12 * max(scale, 1e-300) else float(x)


def _joints(run: Trajectory) -> Markup:
    rows = []
    for name, joint in run.system.joints.items():
        axis = getattr(joint, "axis", None)
        words = [f"{law} {_text(getattr(joint, law))}" for law in LAWS if getattr(joint, law) is not None]
        if joint.friction is not None:
            words.append("friction " + ", ".join(f"{k} {_text(v)}" for k, v in joint.friction.given().items()))
        if joint.ends is not None:
            what = "stop " if joint.stop is not None else "backlash "
            words.append(what + ", ".join(f"{k} {_text(v)}" for k, v in joint.ends.given().items()))
        shown = axis if isinstance(axis, str) else "" if axis is None else f"({', '.join(_one(x) for x in axis)})"
        rows.append([name, joint.kind, f"{joint.a.body} →\u00a0{joint.b.body}", shown, "; ".join(words)])
    return _capped("Joints", ["joint", "kind", "from → to", "axis", "driven or loaded by"], rows, "wwwww")


def _constraints(run: Trajectory) -> Markup:
    rows = []
    for name, constraint in run.system.constraints.items():
        given = [(k, v) for k, v in constraint.given().items() if v is not None]
        rows.append([name, constraint.kind, "; ".join(f"{k.replace('_', ' ')} {_text(v)}" for k, v in given)])
    return _capped("Constraints", ["constraint", "kind", "between, and values"], rows, "www")


def _elements(run: Trajectory) -> Markup:
    rows = []
    for name, element in run.system.elements.items():
        given = element.given()
        ends = [str(given[key]) for key in END_FIELDS if given.get(key) is not None]
        laws = [
            (k, v) for k, v in given.items() if k not in (*END_FIELDS, "expressed_in", "name") and v not in (None, 0.0)
        ]
        words = "; ".join(f"{k.replace('_', ' ')} {_text(v)}" for k, v in laws)
        rows.append([name, element.kind, ", ".join(ends), words])
    return _capped("Elements", ["element", "kind", "on", "values"], rows, "wwww")


def _parameters(run: Trajectory) -> Markup:
    values = {**run.parameters, **run.input_values}
    rows = []
    for name, value in values.items():
        record = run.system[name]
        note = getattr(record, "note", "")
        if isinstance(value, InputCourse):
            note, value = f"input with {len(value.times)} samples over time; its first value", float(value.values[0])
        elif name in run.system.inputs:
            note = "input, held constant"
        elif value != run.system.parameter_values()[name]:
            note = f"changed from {number(run.system.parameter_values()[name])} for this run. {note}".strip()
        rows.append([name, number(value, 6), str(run.units(name)), note])
    return _capped("Parameters", ["name", "value", "unit", "note"], rows, "wnuw")


def _text(value: Any) -> str:
    if isinstance(value, tuple | list):
        return _one(value[0]) if len(value) == 1 else f"({', '.join(_one(x) for x in value)})"
    return _one(value)


def _one(value: Value | Any) -> str:
    if isinstance(value, float):
        return number(value)
    if isinstance(value, Fraction):
        return f"{number(float(value))} s"
    if callable(value):
        return str(getattr(value, "__name__", type(value).__name__))
    text = str(value.text()) if hasattr(value, "text") else str(value)
    return text if len(text) <= LONGEST_LAW else f"{text[: LONGEST_LAW - 1]}…"


def describe_limits(run: Trajectory) -> Markup:
    """Where joints exceeded their limits; nothing if no joint has limits."""
    resolve = run.dynamics.arguments.resolver(run.p)
    with_limits = {name: joint.limits for name, joint in run.system.joints.items() if joint.limits is not None}
    if not with_limits:
        return Markup("")
    broken = [text for name, limits in with_limits.items() for text in _broken(run, name, limits, resolve)]
    if not broken:
        return tag("p", f"All joints with limits ({len(with_limits)}) stay within them.", class_="note")
    words = tag("strong", "Limits exceeded (they are recorded, and exert no force):")
    return tag("div", words, tag("ul", *(tag("li", text) for text in broken)), class_="banner")


def _broken(run: Trajectory, name: str, limits: Any, resolve: Any) -> list[str]:
    """A sentence for each limit that a joint exceeded."""
    exceeded, driven = [], run.system.joints[name].n_u == 1 and Drives(run.system).is_driven(name)
    for quantity, words, limit, side in (
        ("q", "below its lower limit", limits.lower, -1),
        ("q", "above its upper limit", limits.upper, 1),
        ("u", "faster than its limit", limits.speed, 0),
        ("effort.drive" if driven else "effort", "beyond its effort limit", limits.effort, 0),
    ):
        if limit is None:
            continue
        values, bound = run[f"{name}.{quantity}"], float(resolve(limit))
        excess = np.abs(values) - bound if side == 0 else side * (values - bound)
        if np.nanmax(excess, initial=-np.inf) > 1e-9 * max(1.0, abs(bound)):
            k = int(np.nanargmax(excess))
            unit = pretty_unit(str(run.units(f"{name}.{quantity}")))
            most = f"{number(float(values[k]))} {unit} at {number(float(run.t[k]))} s"
            exceeded.append(f"{name} is {words} of {number(bound)} {unit}: {most}")
    return exceeded
