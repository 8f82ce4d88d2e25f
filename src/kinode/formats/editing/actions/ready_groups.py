"""Groups of components that are often needed together, as text of a model.

Names in angle brackets are the group's own: each gets one that is free in the model before the text is read, so that
nothing else can be meant by it.  ``BODY`` and ``JOINT`` stand for what a group is put on; without a joint a drive ends
in an open node.
"""

from __future__ import annotations

import re

from kinode.formats.editing.actions.gesture_plan import free_name

OWN_NAME = re.compile(r"<(\w+)>")
LINK = """\
bodies:
  <link>: {shape: {box: {x: 0.4 m, y: 0.05 m, z: 0.05 m, mass: 1 kg, at: [0.2 m, 0, 0]}}, frames: {tip: [0.4 m, 0, 0]}}
joints:
  <hinge>: {kind: revolute, between: [BODY, <link>], axis: y}
"""
MOTOR = """\
  <motor>: {kind: dc_motor, plus: <coil>, minus: gnd, shaft: <rotor>, resistance: 0.9 Ohm, inductance: 0.4 mH,
          constant: 48 mN*m/A, inertia: 6e-5 kg*m^2, viscous: 2e-5 N*m*s/rad}
  <gear>: {kind: gearbox, input: <rotor>, output: JOINT, ratio: 60}
"""
DRIVE = f"""\
elements:
  <supply>: {{kind: voltage_source, plus: <coil>, minus: gnd, voltage: 12 V}}
{MOTOR}"""
PID_LOOP = """\
signals:
  <target>: 0.5*smoothstep(t, 0.5, 1.5)
elements:
  <controller>: {kind: pid, target: <target>, measured: MEASURED, proportional: 20, integral: 10, derivative: 4,
               filter_time: 10 ms}
"""
AXIS = f"""\
signals:
  <target>: 0.5*smoothstep(t, 0.5, 1.5)
elements:
  <battery>: {{kind: battery, plus: <bus>, minus: gnd, voltage: 24 V, resistance: 50 mOhm}}
  <controller>: {{kind: pid, target: <target>, measured: MEASURED, proportional: 20, integral: 40, derivative: 0.5,
               filter_time: 2 ms, limits: [-1, 1]}}
  <amplifier>: {{kind: bridge, plus: <bus>, minus: gnd, second_plus: <coil>, second_minus: gnd,
              modulation: <controller>.output}}
{MOTOR}"""
GROUPS = {
    "link": (LINK, "A body with a revolute joint to the body that is selected, else to the last one; at its tip."),
    "axis": (AXIS, "A driven axis: battery, amplifier, motor, gear and controller in a joint."),
    "drive": (DRIVE, "A supply, a motor and a gear, whose output turns a joint."),
    "pid_loop": (PID_LOOP, "A target, a PID controller and the moment that it gives."),
}
"""The text of each group, and what it is in words."""


def fill_group(what: str, body: str, joint: str, taken: set[str]) -> str:
    """The text of a group on a body, a frame of it, or a joint, with names that are free."""
    text, _ = GROUPS[what]
    measured = f"{joint}.q" if joint else "<gear>.output.angle" if what == "axis" else "0"
    text = text.replace("MEASURED", measured).replace("JOINT", joint or "<output>").replace("BODY", body)
    own = dict.fromkeys(OWN_NAME.findall(text))
    names = {name: free_name(name, taken | (own.keys() - {name})) for name in own}
    return OWN_NAME.sub(lambda found: names[found[1]], text)
