"""A kind is one declaration: a module that is not kinode's adds one of each sort, and each is everywhere.

Nothing but the module's own file knows of the kinds: builder, files, schema, diagram, documentation, contract tests
and ``help`` read the registries.
"""

import importlib
import inspect
import pydoc
import sys
from pathlib import Path
from unittest.mock import patch

import jsonschema
import pytest
from constraint_contract import ConstraintExample, check_constraint
from element_contract import ONE, TWO, ElementExample, check_element
from joint_contract import check_joint
from part_contract import PartExample, check_part

import kinode as kn
from kinode.formats.yaml_files import dumps, loads
from kinode.formats.yaml_text import read_text
from kinode.model.base.element import ELEMENTS
from kinode.model.constraints.constraint import CONSTRAINTS
from kinode.model.joints.joint import JOINTS

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "docs"))
import parts

MODULE = '''
import numpy as np

import kinode as kn
from kinode.algebra.spatial import dot
from kinode.model.constraints.constraint import Constraint, scalar_row


@kn.register("rolling_knee", symbol="revolute", shortcut=True)
class RollingKnee(kn.AxialJoint):
    """b turns about the axis while its center travels along x by roll times the angle."""

    coordinates = (("angle", "angle"),)
    n_q = 1
    roll: float = kn.fields.number("length", "travel for one radian")

    def form(self, resolve):
        return np.array([resolve(self.roll)], dtype=object)

    def transform(self, q, form):
        R, turn = kn.turn_about(2, q[0])
        return kn.Pose(R, np.array([form[0] * q[0], 0.0, 0.0], dtype=object), turn)

    def motion_subspace(self, q, form):
        R, _ = kn.turn_about(2, q[0])
        return np.concatenate([[0.0, 0.0, 1.0], R.T @ np.array([form[0], 0.0, 0.0], dtype=object)])[:, None]

    def effort_wrench(self, q, form):
        return np.array([0.0, 0.0, 1.0, 0.0, 0.0, 0.0])[:, None]

    def closure(self, X, form):
        ahead = X.p[0] / form[0]
        return np.array([X.p[1], X.p[2], X.R[0, 2], X.R[1, 2], X.R[1, 0] * kn.cos(ahead) - X.R[0, 0] * kn.sin(ahead)])

    def solve_coordinates(self, X, form):
        return np.array([X.p[0] / form[0]])


@kn.register("cubic_spring", symbol="spring", shortcut=True)
class CubicSpring(kn.Element):
    """A spring without free length whose tension grows with the third power of its length."""

    quantities = {"tension": "force"}
    single = frozenset(quantities)
    a: object = kn.fields.frame("one end")
    b: object = kn.fields.frame("the other end")
    rigidity: float = kn.fields.number(None, "tension at a length of 1 m, N/m3", 2.0)

    def line(self, scene):
        return scene.pose(self.b).p - scene.pose(self.a).p

    def wrenches(self, scene):
        line = self.line(scene)
        force = scene.law(self.rigidity) * dot(line, line) * line
        return (kn.Load(self.a, force, np.zeros(3)), kn.Load(self.b, -force, np.zeros(3)))

    def potential(self, scene):
        square = dot(self.line(scene), self.line(scene))
        return 0.25 * scene.law(self.rigidity) * square * square

    def quantity(self, name, scene):
        length = kn.sqrt(dot(self.line(scene), self.line(scene)))
        return scene.law(self.rigidity) * length * length * length


@kn.register("lamp", symbol="resistor", shortcut=True)
class Lamp(kn.TwoPole):
    """Conducts the better the higher its voltage."""

    positive = ("conductance",)
    unsigned = ("rise",)
    conductance: float = kn.fields.number("conductance", "at low voltage")
    rise: float = kn.fields.number(None, "share by which 1 V makes it grow, 1/V2", 0.0)
    rows = (kn.Row("hot wire", "current = conductance*(1 + rise*voltage^2)*voltage", "current"),)
    lost = "voltage*current"


@kn.register("taut_line", symbol="distance", shortcut=True)
class TautLine(Constraint):
    """Two points keep a distance, told as the logarithm of its change."""

    units = ("length",)
    a: object = kn.fields.frame("one end")
    b: object = kn.fields.frame("the other end")
    length: float = kn.fields.number("length", "between the ends")

    def residual(self, scene):
        line = scene.pose(self.b).p - scene.pose(self.a).p
        length = scene.resolve(self.length)
        return scalar_row(length * kn.log(kn.sqrt(dot(line, line)) / length))
'''
KINDS = ("rolling_knee", "cubic_spring", "lamp", "taut_line")


@pytest.fixture
def module(tmp_path, monkeypatch):
    """The module, imported; its kinds are forgotten afterwards."""
    (tmp_path / "workshop_kinds.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    with patch.dict(JOINTS), patch.dict(ELEMENTS), patch.dict(CONSTRAINTS):
        yield importlib.import_module("workshop_kinds")
        sys.modules.pop("workshop_kinds")
    assert not any(hasattr(kn.System, kind) for kind in KINDS)


def build():
    """A system with one of each, by their shortcuts; ends and ports by place."""
    system = kn.System("all")
    shank, foot = (system.body(name, mass=1, com=(0.1, 0, 0), inertia=(0.1, 0.1, 0.1)) for name in ("shank", "foot"))
    system.rolling_knee("knee", system.world, shank, roll="3 cm", axis="y", q="20 deg")
    system.spherical("ankle", shank.at(0, 0, -0.4), foot)
    system.cubic_spring("tendon", system.world.at(0, 0, 1), foot, rigidity=5)
    system.taut_line("string", shank.at(0.5, 0, 0), foot.at(0.3, 0.2, 0), length=0.7)
    system.voltage_source("supply", "bus", "gnd", voltage=12)
    system.lamp("light", "bus", "gnd", conductance="0.25 S", rise=0.1)
    return system


def test_the_builder_has_its_shortcut_and_help_names_its_fields(module):
    system = build()
    kinds = [system[name].kind for name in ("knee", "tendon", "light", "string")]
    assert kinds == list(KINDS)
    page = pydoc.render_doc(kn.System.rolling_knee, renderer=pydoc.plaintext)
    assert "roll : number, m" in page and "Travel for one radian." in page
    assert "damping : number for each freedom, N*m*s/rad, optional" in page
    fields = ["name", "plus", "minus", "conductance", "rise", "heat"]  # every part that loses energy may warm a node
    assert list(inspect.signature(system.lamp).parameters) == fields
    assert "lamp" in dir(system) and "lamp(self, name:" in pydoc.render_doc(kn.System, renderer=pydoc.plaintext)
    with pytest.raises(kn.ModelError, match="a lamp has no field 'rize'; did you mean rise"):
        system.lamp("other", "bus", "gnd", conductance=1, rize=1)


def test_files_and_schema_have_it(module):
    system = build()
    text = dumps(system)
    assert loads(text) == system
    schema = kn.schema()
    jsonschema.validate(read_text(text, "all.yaml"), schema)
    definitions = {"rolling_knee": "joint", "cubic_spring": "element", "lamp": "element", "taut_line": "constraint"}
    for kind, definition in definitions.items():
        cases = [case["then"] for case in schema["$defs"][definition]["allOf"]]
        (case,) = (case for case in cases if case["properties"]["kind"] == {"const": kind})
        assert case["description"] == {**JOINTS, **ELEMENTS, **CONSTRAINTS}[kind].__doc__
    with pytest.raises(jsonschema.ValidationError, match="rize"):
        jsonschema.validate(read_text(text.replace("rise", "rize"), "all.yaml"), schema)


def test_diagram_and_documentation_show_it(module):
    diagram = kn.diagram(build())
    assert {"knee", "tendon", "light", "string"} <= set(diagram.components)
    assert dict(diagram.links)["bus"] == (("supply", "plus"), ("light", "plus"))
    for family, kind in (("joints", KINDS[0]), ("elements", KINDS[1]), ("parts", KINDS[2]), ("constraints", KINDS[3])):
        (row,) = (line for line in parts.write_kinds(family).splitlines() if line.startswith(f"| `{kind}` |"))
        assert "`roll`" in row or kind != "rolling_knee"
    page = parts.rewrite("<!-- parts: electrical -->\n<!-- end -->\n<!-- parts: others -->\n<!-- end -->\n")
    assert "| `lamp(plus, minus)` | `conductance`, (`rise`) | Conducts the better" in page
    assert "lamp              current = conductance*(1 + rise*voltage^2)*voltage" in page


def test_it_is_held_to_the_contract_of_its_family(module):
    check_joint("rolling_knee")
    check_element(ElementExample("cubic_spring", {"a": ONE, "b": TWO}, True))
    check_part(PartExample("lamp", {"plus": "n1", "minus": "n2", "conductance": 0.7, "rise": 0.3}))
    check_constraint(ConstraintExample("taut_line", lambda one, two: {"a": one, "b": two, "length": 0.8}))


def test_the_contract_finds_what_is_wrong(module):
    with patch.object(module.RollingKnee, "effort_wrench", kn.Joint.effort_wrench):
        check_joint("rolling_knee")  # another wrench that does the same work
    hinge = JOINTS["revolute"].motion_subspace
    with patch.object(module.RollingKnee, "motion_subspace", hinge), pytest.raises(AssertionError):
        check_joint("rolling_knee")
    flat = patch.object(module.CubicSpring, "potential", lambda self, scene: 0.0 * self.line(scene)[0])
    with flat, pytest.raises(AssertionError):
        check_element(ElementExample("cubic_spring", {"a": ONE, "b": TWO}, True))
    with patch.object(module.Lamp, "lost", "0"), pytest.raises(AssertionError):
        check_part(PartExample("lamp", {"plus": "n1", "minus": "n2", "conductance": 0.7}))


def test_it_is_simulated(module):
    run = kn.simulate(build(), 0.2)
    assert run["light.current"][-1] == pytest.approx(0.25 * (1 + 0.1 * 12**2) * 12)
    assert run.audit.relative < 1e-6


@pytest.mark.parametrize("kind", ["copy", "bodies", "notes", "revolute"])
def test_a_kind_that_would_hide_a_method_is_refused(kind):
    with patch.dict(ELEMENTS), pytest.raises(kn.ModelError, match="a member of this name"):

        @kn.register(kind, shortcut=True)
        class Hidden(kn.Element):
            """Cannot be reached."""

    assert kind not in ELEMENTS
