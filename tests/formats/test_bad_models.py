"""Wrong models, each with the message that a user gets: what is wrong, in which component, in which line.

A case is a YAML text whose offending line ends with ``#!``; the mark is where the error has to point.
"""

# ruff: noqa: E501  (a case is a line)

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kinode as kn
from kinode.formats.yaml_files import load, loads

HEAD = "kinode: 1\nname: bad\n"
BODY = "bodies: {arm: {mass: 1, com: [1, 0, 0], inertia: [1, 1, 1]}}\n"
JOINT = "joints: {pin: {kind: revolute, between: [world, arm]}}\n"
GOOD = HEAD + BODY + JOINT


def joint(fields: str) -> str:
    return f"{HEAD}{BODY}joints:\n  pin:\n    kind: revolute\n    between: [world, arm]\n    {fields} #!\n"


def body(fields: str) -> str:
    return f"{HEAD}bodies:\n  arm:\n    {fields} #!\n{JOINT}"


def element(fields: str) -> str:
    return f"{GOOD}elements:\n  push:\n    {fields}\n"


# (name, text, part of the message, component, field)
YAML_CASES: list[tuple[str, str, str, str | None, str | None]] = [
    ("empty", "", "a model is a mapping", None, None),
    ("a list", "- 1\n", "a model is a mapping", None, None),
    ("no version", "name: x #!\n", "starts with kinode: 1", None, None),
    ("later version", "kinode: 2 #!\n", "format 1, and the file says 2", "kinode", None),
    ("version true", "kinode: true #!\n", "format 1, and the file says True", "kinode", None),
    ("unknown section", f"{HEAD}boddies: {{}} #!\n", "did you mean bodies", None, "boddies"),
    ("section is no mapping", f"{HEAD}bodies: [a] #!\n", "mapping of names", "bodies", None),
    ("duplicate key", f"{HEAD}name: again #!\n", "'name' is given twice; the first time in line 2", None, None),
    ("hexadecimal", body("mass: 0x10000000000000000"), "0x10000000000000000 is a hexadecimal number that no float holds", None, None),
    ("octal", body("mass: 0o" + "7" * 400), "is an octal number that no float holds exactly", None, None),
    ("duplicate body", f"{HEAD}bodies:\n  a: {{}}\n  a: {{}} #!\n", "'a' is given twice", None, None),
    ("broken flow", f"{HEAD}bodies: {{a: [1, 2}} #!\n", "is no YAML", None, None),
    ("tab", f"{HEAD}bodies:\n\ta: 1 #!\n", "indent with spaces", None, None),
    ("tag", f"{HEAD}gravity: !!python/tuple [0, 0, 1] #!\n", "tags such as", None, None),
    ("merge key", f"{HEAD}bodies:\n  a: {{<<: 1}} #!\n", "merge keys", None, None),
    ("unknown alias", f"{HEAD}bodies: *x #!\n", "has no anchor", None, None),
    ("two documents", f"{GOOD}--- #!\nkinode: 1\n", "several documents", None, None),
    ("name is a number", "kinode: 1\nname: 12 #!\n", "a name in text", "system", "name"),
    ("gravity of two", f"{HEAD}gravity: [0, 0] #!\n", "3 numbers are expected, not 2", "system", "gravity"),
    ("gravity in m", f"{HEAD}gravity: [0, 0, 9.81 m] #!\n", "an acceleration is needed", "system", "gravity"),
    ("gravity nan", f"{HEAD}gravity: [0, 0, .nan] #!\n", "must be finite", "system", "gravity"),
    ("reserved name", f"{HEAD}bodies:\n  world: {{mass: 1}} #!\n", "is reserved", "world", None),
    ("not a name", f"{HEAD}bodies:\n  2nd: {{mass: 1}} #!\n", "'2nd' is no name", "2nd", None),
    ("name with a minus", f"{HEAD}bodies:\n  left-arm: {{}} #!\n", "is no name", "left-arm", None),
    ("name taken", f"{HEAD}{BODY}joints:\n  arm: {{kind: free, between: [world, arm]}} #!\n", "taken by a body", "arm", None),
    ("body is a number", f"{HEAD}bodies:\n  arm: 3 #!\n", "mapping of fields, not 3.0", "arm", None),
    ("unknown field", body("masss: 1"), "a body has no field 'masss'; did you mean mass?", "arm", "masss"),
    ("mass in m", body("mass: 2 m"), "a mass is needed, in kg", "arm", "mass"),
    ("unknown unit", body("mass: 2 kgg"), "no known unit", "arm", "mass"),
    ("negative mass", body("mass: -1"), "must not be negative", "arm", "mass"),
    ("mass true", body("mass: true"), "a number is expected, not True", "arm", "mass"),
    ("mass yes", body("mass: yes"), "no parameter is called 'yes'", "arm", "mass"),
    ("sexagesimal", body("mass: 1:30"), "':' has no meaning", "arm", "mass"),
    ("digits grouped", body("mass: 1_000"), "'_000' cannot be a name", "arm", "mass"),
    ("mass infinite", body("mass: .inf"), "must be finite", "arm", "mass"),
    ("mass of time", body("mass: 2*t"), "arithmetic with parameters is expected, no law", "arm", "mass"),
    ("com too long", body("com: [1, 2, 3, 4]"), "3 numbers are expected, not 4", "arm", "com"),
    ("com split", body("com: [max(0, 1), 2]"), "quote the law", "arm", "com"),
    ("inertia impossible", body("inertia: [1, 1, 3]"), "the largest exceeds the sum", "arm", "inertia"),
    ("inertia negative", body("inertia: [-1, 1, 1]"), "none may be negative", "arm", "inertia"),
    ("inertia of two", body("inertia: [1, 1]"), "takes 3 numbers", "arm", "inertia"),
    ("inertia entry", body("inertia: {zx: 1}"), "has no entry 'zx'", "arm", "inertia"),
    ("inertia skew", body("inertia: [[1, 0, 0], [0.5, 1, 0], [0, 0, 1]]"), "not symmetric", "arm", "inertia"),
    ("about", body("about: center"), "not one of com, origin", "arm", "about"),
    ("shape unknown", body("shape: {cube: {x: 1}}"), "takes one of box", "arm", "shape"),
    ("shape size", body("shape: {box: {x: 1, y: 1, mass: 1}}"), "a box needs z", "arm", "shape"),
    ("shape zero", body("shape: {sphere: {radius: 0, mass: 1}}"), "must be positive", "arm", "shape.radius"),
    ("rod density", body("shape: {rod: {length: 1, density: 5}}"), "a rod is thin", "arm", "shape"),
    ("mass twice", body("shape: {sphere: {radius: 1, mass: 1, density: 2}}"), "mass or density, not both", "arm", "shape"),
    ("mesh kind", body("meshes: [{kind: [1]}]"), "must be one of mesh, box", "arm", "meshes.kind"),
    ("mesh without file", body("meshes: [{role: visual}]"), "needs the name of its file", "arm", "meshes.file"),
    ("frame called com", body("frames: {com: [0, 0, 0]}"), "meaning of its own", "arm", "frames"),
    ("frame place", body("frames: {tip: 3}"), "a frame is [x, y, z]", "arm", "frames.tip"),
    ("two rotations", body("frames: {tip: {rpy: [0, 0, 0], turns: [[x, 1]]}}"), "not several", "arm", "frames.tip"),
    ("no rotation matrix", body("frames: {tip: {matrix: [[1, 0, 0], [0, 1, 0], [0, 0, 2]]}}"), "not a rotation", "arm", "matrix"),
    ("quaternion length", body("frames: {tip: {quaternion: [1, 1, 0, 0]}}"), "has length 1.41421", "arm", "quaternion"),
    ("unjoined", f"{HEAD}bodies:\n  a: {{mass: 1}} #!\n", "not joined to anything", "a", None),
    (
        "island",
        f"{HEAD}bodies:\n  a: {{mass: 1}} #!\n  b: {{mass: 1}}\njoints: {{j: {{kind: fixed, between: [a, b]}}}}\n",
        "joined to each other but not to the world", "a", None,
    ),
    ("no kind", f"{HEAD}{BODY}joints:\n  pin: {{between: [world, arm]}} #!\n", "a joint needs its kind", "pin", "kind"),
    ("unknown kind", joint("kind2: 1"), "has no field 'kind2'", "pin", "kind2"),
    (
        "misspelt kind",
        f"{HEAD}{BODY}joints:\n  pin:\n    kind: revolut #!\n    between: [world, arm]\n", "did you mean revolute?", "pin", "kind",
    ),
    ("kind is a list", f"{HEAD}{BODY}joints:\n  pin: {{kind: [1], between: [world, arm]}} #!\n", "the kinds are", "pin", "kind"),
    ("no ends", f"{HEAD}{BODY}joints:\n  pin: {{kind: fixed}} #!\n", "a joint needs the two bodies", "pin", "between"),
    ("one end", f"{HEAD}{BODY}joints:\n  pin: {{kind: fixed, between: [arm]}} #!\n", "two bodies or frames", "pin", "between"),
    (
        "unknown body",
        f"{HEAD}{BODY}joints:\n  pin:\n    kind: fixed\n    between: [world, amr] #!\n", "did you mean arm?", "pin", "b",
    ),
    (
        "unknown frame",
        f"{HEAD}{BODY}joints:\n  pin:\n    kind: fixed\n    between:\n      - world\n      - arm.tip #!\n",
        "arm has no frame 'tip'", "pin", "b",
    ),
    ("to itself", f"{HEAD}{BODY}joints:\n  pin: {{kind: fixed, between: [arm, arm]}} #!\n", "joins arm to itself", "pin", None),
    ("place without body", f"{HEAD}{BODY}joints:\n  pin: {{kind: fixed, between: [{{at: [0, 0, 0]}}, arm]}} #!\n", "needs its body", "pin", "a"),
    ("axis word", joint("axis: w"), "'w' is no axis", "pin", "axis"),
    ("axis zero", joint("axis: [0, 0, 0]"), "needs a direction", "pin", "axis"),
    ("angle in m", joint("q: 30 mm"), "an angle is needed", "pin", "q"),
    ("rate in Hz", joint("u: 3 Hz"), "write rpm, rev/s or rad/s", "pin", "u"),
    ("q and motion", joint("q: 1\n    motion: t").replace("q: 1", "q: 1 #!").replace("t #!", "t"), "given by the motion law", "pin", "q"),
    ("motion and speed", joint("motion: t\n    speed: 1"), "cannot both be prescribed", "pin", "speed"),
    ("motion of state", joint("motion: pin.u"), "may depend on t, parameters and inputs", "pin", "motion"),
    ("damping in N/m", joint("damping: 1 N/m"), "is needed, in N*m*s/rad", "pin", "damping"),
    ("limits reversed", joint("limits: [1, -1]"), "above the upper limit", "pin", "limits"),
    ("backlash is a number", joint("backlash: 0.1"), "takes play, stiffness", "pin", "backlash"),
    ("friction alone", joint("friction: 0.1"), "takes coulomb with its numbers", "pin", "friction"),
    ("friction radius", joint("friction: {coulomb: {coefficient: 0.1}}"), "is needed: where", "pin", "friction.radius"),
    ("law unknown name", joint("effort: 3*pinn.q"), "nothing is called 'pinn'; did you mean pin?", "pin", "effort"),
    ("law attribute", joint("effort: pin.__class__"), "do not begin with an underscore", "pin", "effort"),
    ("law call", joint("effort: exec(1)"), "is no function or table", "pin", "effort"),
    ("law of reaction", joint("effort: pin.reaction.force.x"), "which laws cannot use", "pin", "effort"),
    ("law of a vector", joint("effort: arm.velocity"), "write arm.velocity.x", "pin", "effort"),
    ("law split", f"{HEAD}{BODY}joints:\n  pin: {{kind: revolute, between: [world, arm], effort: max(0, t)}} #!\n", "quote the law", None, "effort"),
    ("law unclosed", joint("effort: sin(t"), "not closed", "pin", "effort"),
    ("effort of itself", joint("effort: 2*pin.effort"), "depends on itself: pin -> pin", "pin", "effort"),
    ("gear to itself", f"{GOOD}constraints:\n  g: {{kind: gear, input: pin, output: pin, ratio: 2}} #!\n", "couples a joint to itself", "g", None),
    ("gear joint", f"{GOOD}constraints:\n  g: {{kind: gear, input: pin, output: pim, ratio: 2}} #!\n", "no joint is called 'pim'", "g", "output"),
    ("gear ratio", f"{GOOD}constraints:\n  g: {{kind: gear, input: pin, output: pin}} #!\n", "is needed and was not given", "g", "ratio"),
    ("force split", element("kind: force\n    on: arm\n    force: [max(0, t), 0, 0] #!"), "quote the law", "push", "force"),
    ("force in m", element("kind: force\n    on: arm\n    force: [1 m, 0, 0] #!"), "a force is needed, in N", "push", "force"),
    ("force nowhere", element("kind: force #!\n    force: [0, 0, 0]").replace("push:", "push: #!").replace("force #!", "force"), "is needed", "push", "on"),
    ("axes", element("kind: force\n    on: arm\n    force: [1, 0, 0]\n    expressed_in: amr #!"), "did you mean arm", "push", "expressed_in"),
    ("spring of nothing", element("kind: spring\n    between: [world, arm]").replace("push:", "push: #!"), "neither stiffness", "push", None),
    ("spring stiffness", element("kind: spring\n    between: [world, arm]\n    stiffness: -3 #!"), "must not be negative", "push", "stiffness"),
    ("spring to itself", element("kind: spring\n    between: [arm, arm]\n    stiffness: 3").replace("push:", "push: #!"), "same point", "push", None),
    ("signal circle", f"{GOOD}signals:\n  a: b + 1 #!\n  b: a\n", "depends on itself: a -> b -> a", "a", "law"),
    ("signal unknown", f"{GOOD}signals:\n  a: 2*x #!\n", "nothing is called 'x'", "a", "law"),
    ("signal unit", f"{GOOD}signals:\n  a: 2 parsec #!\n", "no known unit", "a", "law"),
    ("parameter outside", f"{GOOD}parameters:\n  k: {{value: 3, bounds: [0, 1]}} #!\n", "outside its bounds (0, 1)", "k", "value"),
    ("parameter of later", f"{GOOD}parameters:\n  k: 2*l #!\n  l: 1\n", "no parameter is called 'l'", "k", "value"),
    ("parameter infinite", f"{GOOD}parameters:\n  z: 0\n  k: 1/z #!\n", "no finite value", "k", "value"),
    ("parameter field", f"{GOOD}parameters:\n  k: {{value: 3, scale: m}} #!\n", "a parameter has no field 'scale'", "k", "scale"),
    ("parameter sum", f"{GOOD}parameters:\n  a: 1 m\n  b: 1 s\n  c: a + b #!\n", "", "c", "value"),
    ("keyword", f"{GOOD}parameters:\n  lambda: 3 #!\n", "has a meaning in Python", "lambda", None),
    ("table order", f"{GOOD}tables:\n  f: {{axes: [0, 2, 1], values: [1, 2, 3]}} #!\n", "must increase", "f", "axes"),
    ("table size", f"{GOOD}tables:\n  f: {{axes: [0, 1], values: [1, 2, 3]}} #!\n", "the axes need 2 values", "f", "values"),
    ("table method", f"{GOOD}tables:\n  f: {{axes: [0, 1], values: [1, 2], method: qubic}} #!\n", "did you mean cubic?", "f", "method"),
    ("table file", f"{GOOD}tables:\n  f: {{file: x.csv}} #!\n", "this text is from no file", "f", "file"),
    ("run method", f"{GOOD}run:\n  until: 3\n  method: euler #!\n", "is not one of", "run", "method"),
    ("run until", f"{GOOD}run:\n  until: -3 #!\n", "must come after the start", "run", "until"),
    ("run field", f"{GOOD}run:\n  untl: 3 #!\n", "did you mean until?", "run", "untl"),
    ("run rtol", f"{GOOD}run:\n  rtol: 0 #!\n", "must be positive", "run", "rtol"),
    ("frames body", f"{GOOD}frames:\n  tip: {{body: amr, at: [0, 0, 0]}} #!\n", "did you mean arm", "tip", None),
    ("subsystem of nothing", f"{GOOD}systems:\n  leg: {{on: arm}} #!\n", "takes a file, or a system", "leg", None),
    (
        "subsystem parameter",
        f"{GOOD}systems:\n  leg:\n    system: {{parameters: {{k: 1}}}}\n    parameters: {{kk: 2}} #!\n",
        "has no parameter 'kk'; did you mean k?", "leg", "parameters",
    ),
    (
        "inside a subsystem",
        f"{GOOD}systems:\n  leg:\n    system:\n      bodies:\n        a: {{mas: 1}} #!\n",
        "did you mean mass?", "a", "mas",
    ),
    ("change of nothing", f"{GOOD}changes:\n  pim: {{q: 1}} #!\n", "did you mean pin?", "pim", None),
    ("change of a field", f"{GOOD}changes:\n  pin: {{p: 1}} #!\n", "has no field 'p'", "pin", "p"),
    ("extends without file", "kinode: 1\nextends: a.yaml #!\n", "this text is from no file", None, "extends"),
    ("notes", f"{GOOD}notes: 3 #!\n", "a list of texts", None, "notes"),
]  # fmt: skip


@pytest.mark.parametrize("case", YAML_CASES, ids=[case[0] for case in YAML_CASES])
def test_yaml_error(case: tuple[str, str, str, str | None, str | None]) -> None:
    _, text, message, component, field = case
    with pytest.raises(kn.ModelError) as caught:
        loads(text, "model.yaml" if "extends" not in text and "x.csv" not in text else None)
    error = caught.value
    assert message in str(error)
    assert (error.component, error.field) == (component, field), str(error)
    marked = [number for number, line in enumerate(text.split("\n"), start=1) if line.endswith("#!")]
    if marked:
        assert error.line == marked[0], str(error)
        assert f"{marked[0]}: " in str(error)


def test_laws_point_at_the_character() -> None:
    with pytest.raises(kn.LawError) as caught:
        loads(joint("effort: 3*pinn.q + 1"))
    assert str(caught.value).endswith("\n  3*pinn.q + 1\n    ^")


def rebuilt(**fields: Any) -> kn.System:
    system = kn.System("bad")
    system.body("arm", **fields)
    return system


def hinge(**fields: Any) -> kn.System:
    system = kn.System("bad")
    system.revolute("pin", "world", system.body("arm", mass=1), **fields)
    system.check()
    return system


def ball(**fields: Any) -> None:
    system = kn.System("bad")
    system.spherical("ball", "world", system.body("arm", mass=1), **fields)


def twice() -> None:
    system = kn.System("bad")
    system.body("arm", mass=1)
    system.body("arm", mass=2)


def foreign() -> None:
    arm = kn.System("one").body("arm", mass=1)
    system = kn.System("two")
    system.body("arm", mass=1)
    system.revolute("pin", "world", arm)


def same_frame_twice() -> None:
    arm = kn.System("one").body("arm", mass=1)
    arm.at(1, 0, 0, name="tip")
    arm.at(2, 0, 0, name="tip")


def swapped() -> None:
    system = kn.System("bad")
    pin = system.revolute("pin", "world", system.body("arm", mass=1))
    system.spring("s", pin, "arm", stiffness=1)


def used_frame() -> None:
    system = kn.System("bad")
    arm = system.body("arm", mass=1)
    system.revolute("pin", "world", arm.at(1, 0, 0, name="tip"))
    system.change("arm", frames={})


def subsystem_twice() -> None:
    inner = kn.System("leg")
    inner.body("thigh", mass=1)
    system = kn.System("bad")
    system.add("left", inner)
    system.add("left", inner)


PYTHON_CASES: list[tuple[str, Callable[[], Any], str]] = [
    ("system without a name", lambda: kn.System(""), "a system needs a name"),
    ("gravity", lambda: kn.System("s", gravity=9.81), "3 numbers are expected, not 9.81"),
    ("nan", lambda: rebuilt(mass=math.nan), "arm.mass: must be finite"),
    ("none", lambda: rebuilt(mass=None), "arm.mass: a number is expected, not None"),
    ("a list", lambda: rebuilt(mass=[1]), "arm.mass: a number is expected, not [1]"),
    ("complex", lambda: rebuilt(mass=1j), "a number is expected"),
    ("an array", lambda: rebuilt(com=np.zeros((2, 2))), "arm.com: 3 numbers are expected, not 2"),
    ("text", lambda: rebuilt(com="x"), "3 numbers are expected, not 'x'"),
    ("field", lambda: rebuilt(wieght=1), "a body has no field 'wieght'"),
    ("inertia", lambda: rebuilt(mass=1, inertia=(1, 1, 2.5)), "no body has it"),
    ("inertia about origin", lambda: rebuilt(mass=1, com=(1, 0, 0), inertia=(1, 0.5, 1), about="origin"), "no body has it"),
    ("box twice", lambda: rebuilt(mass=1, shape=kn.box(1, 1, 1, mass=2)), "leave out mass, com and inertia"),
    ("rod", lambda: rebuilt(shape=kn.rod(-1, mass=1)), "must be positive, not -1"),
    ("name", lambda: kn.System("s").body(3), "3 is no name"),  # type: ignore[arg-type]
    ("name twice", twice, "the name 'arm' is taken by a body already"),
    ("foreign body", foreign, "belongs to another system"),
    ("frame twice", same_frame_twice, "has a frame 'tip' already"),
    ("joint for a body", swapped, "pin is a joint, not a body or frame"),
    ("frame in use", used_frame, "its frame 'tip' is still used by pin"),
    ("subsystem twice", subsystem_twice, "taken by a subsystem already"),
    ("effort unit", lambda: hinge(effort="3 N"), "a moment is needed, in N*m"),
    ("effort name", lambda: hinge(effort="arm.positon.x"), "did you mean position?"),
    ("effort frame", lambda: hinge(effort="arm.velocity.x@amr"), "did you mean arm?"),
    ("effort function", lambda: hinge(effort=lambda s: None), "a number is expected, not None"),
    ("effort function without arguments", lambda: hinge(effort=lambda: 1), "pin.effort: the law's function fails with TypeError"),
    ("effort function that fails", lambda: hinge(effort=lambda s: s.arm), "pin.effort: the law's function fails with AttributeError"),
    ("effort function of t", lambda: hinge(effort=lambda t: t), "pin.effort: the law's function returns no number"),
    ("effort of a joint", lambda: hinge(effort="pin"), "pin.effort: pin is a joint, and no number; did you mean pin.q? It has q, u"),
    ("saved as xacro", lambda: kn.System("s").save("s.xacro"), "s.xacro: macros are not written"),
    ("effort symbol", lambda: hinge(effort=lambda s: s["2*x"]), "is not the name of a quantity"),
    ("spherical motion", lambda: ball(motion=("t", 0, 0)), "turns by a quaternion; prescribe its speed"),
    ("spherical stiffness", lambda: ball(stiffness=(1, 1, 1)), "has no angle to act on"),
    ("spherical q", lambda: ball(q=(1, 0, 0)), "4 numbers are expected: quaternion w, x, y, z"),
    ("kind", lambda: kn.System("s").joint("j", "hinge", "world", "world"), "no joint is called 'hinge'"),
    ("not a system", lambda: kn.System("s").add("x", 3), "a System is expected, not int"),  # type: ignore[arg-type]
    ("nothing there", lambda: kn.System("s")["x"], "s has nothing called 'x'"),
    ("run defaults", lambda: setattr(kn.System("s"), "run_defaults", {"until": "3 m"}), "a time is needed"),
    ("world", lambda: kn.System("s").change("world", mass=1), "the world cannot be changed"),
]  # fmt: skip


@pytest.mark.parametrize("case", PYTHON_CASES, ids=[case[0] for case in PYTHON_CASES])
def test_python_error(case: tuple[str, Callable[[], Any], str]) -> None:
    _, build, message = case
    with pytest.raises(kn.ModelError) as caught:
        build()
    assert message in str(caught.value)


def test_a_long_law_is_shown_where_it_is_wrong() -> None:
    with pytest.raises(kn.LawError) as caught:
        hinge(effort="sin(t) + " * 500 + "sni(t)" + " + cos(t)" * 500)
    _, text, mark = str(caught.value).splitlines()
    assert len(text) <= 122 and text[mark.index("^") :].startswith("sni(t) + cos(t)")


def test_wrong_dimensions_are_unit_errors() -> None:
    with pytest.raises(kn.UnitError):
        rebuilt(mass="3 m")


def test_a_failed_addition_leaves_the_system_as_it_was() -> None:
    system = kn.System("s")
    system.body("arm", mass=1)
    before = system.copy()
    inner = kn.System("leg")
    inner.body("thigh", mass=1)
    inner.parameter("k", "1 m")
    for attempt in (
        lambda: system.body("leg", mass=-1),
        lambda: system.change("arm", mass="1 m"),
        lambda: system.add("left", inner, parameters={"k": "2 s"}),
        lambda: system.revolute("pin", "world", "arm", q="1 m"),
    ):
        with pytest.raises(kn.ModelError):
            attempt()
        assert system == before


@pytest.mark.parametrize(
    ("name", "message"),
    [("/etc/passwd", "outside the folder"), ("../other.yaml", "outside the folder"), ("missing.yaml", "no such file"),
     ("model.yaml", "in a circle"), (".", "is a folder"), ("a\\0b", "control character")],
)  # fmt: skip
def test_files_that_a_file_may_not_name(tmp_path: Path, name: str, message: str) -> None:
    (tmp_path / "other.yaml").write_text(GOOD)
    folder = tmp_path / "models"
    folder.mkdir()
    file = folder / "model.yaml"
    file.write_text(f'kinode: 1\nextends: "{name}"\n')
    with pytest.raises(kn.ModelError, match=message):
        load(file)
    if name.startswith(".."):
        assert load(file, trust=True).name == "bad"


def test_a_link_does_not_lead_out_of_the_folder(tmp_path: Path) -> None:
    (tmp_path / "secret.csv").write_text("0, 1\n1, 2\n")
    folder = tmp_path / "models"
    folder.mkdir()
    (folder / "link.csv").symlink_to(tmp_path / "secret.csv")
    (folder / "model.yaml").write_text(f"{GOOD}tables: {{f: {{file: link.csv}}}}\n")
    with pytest.raises(kn.ModelError, match="outside the folder"):
        load(folder / "model.yaml")


def test_files_that_are_no_models(tmp_path: Path) -> None:
    for content in (b"\xff\xfe\x00", b"\x89PNG\r\n", b"kinode: 1\nname: \x00"):
        file = tmp_path / "model.yaml"
        file.write_bytes(content)
        with pytest.raises(kn.Error) as caught:
            load(file)
        assert "model.yaml" in str(caught.value)


def test_aliases_cannot_grow_beyond_measure() -> None:
    laughs = "a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n"
    laughs += "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]\n" for i in range(1, 12))
    with pytest.raises(kn.ModelError, match="aliases stand for more"):
        loads(laughs)
    with pytest.raises(kn.ModelError, match="deep"):
        loads("kinode: 1\nbodies: " + "[" * 5000)
