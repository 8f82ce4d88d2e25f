"""Shortcut methods: what a user sees of them at run time, in an editor and with a type checker."""

import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import kinode as kn
from kinode.model.base.bodies import Body
from kinode.model.base.element import ELEMENTS
from kinode.model.base.kinds import Shortcut, ShortcutMethods
from kinode.model.component_store import ComponentStore
from kinode.model.drive_unit import DriveUnit
from kinode.model.joints.joint import JOINTS

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools"))
import write_stubs  # noqa: E402

CLASSES = [Body, DriveUnit, *(cls for cls in (*JOINTS.values(), *ELEMENTS.values()) if cls.has_shortcut)]
every_class = pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.kind or cls.sort())


@every_class
def test_signature_and_documentation_name_every_field(cls):
    method = getattr(kn.System, cls.kind or cls.sort())
    parameters = inspect.signature(method).parameters
    assert list(parameters)[:2] == ["self", "name"]
    assert set(list(parameters)[2:]) == {*cls.specs(), *cls.alternative_fields}
    lines = method.__doc__.splitlines()
    for name, (_, spec) in cls.specs().items():
        (line,) = (line for line in lines if line.startswith(f"{name} : "))
        assert cls.field_unit(spec) in line
        needed = parameters[name].default is inspect.Parameter.empty
        assert needed == ("default" not in line and "optional" not in line)
        assert lines[lines.index(line) + 1].strip().lower().startswith(spec.doc[:20].lower())


def test_units_are_those_of_the_freedoms():
    assert "stiffness : number for each freedom, N*m/rad, optional" in kn.System.revolute.__doc__
    assert "stiffness : number for each freedom, N/m, optional" in kn.System.prismatic.__doc__
    assert "stiffness : number for each freedom, N/m, N*m/rad, optional" in kn.System.cylindrical.__doc__


def test_no_shortcut_of_kinode_is_hidden():
    own = {name for owner in (kn.System, ComponentStore) for name in (*vars(owner), *vars(owner)["__annotations__"])}
    assert not own & {name for name, member in vars(ShortcutMethods).items() if isinstance(member, Shortcut)}


def test_classes_and_systems_list_their_shortcuts():
    names = {cls.kind or cls.sort() for cls in CLASSES}
    assert names <= set(dir(kn.System)) & set(dir(kn.System("s")))


def test_a_misspelt_method_is_answered_with_the_nearest():
    with pytest.raises(AttributeError, match="no attribute 'revolut'; did you mean revolute"):
        kn.System("s").revolut  # noqa: B018
    with pytest.raises(AttributeError, match="no attribute 'resistr'; did you mean resistor"):
        kn.System.resistr  # noqa: B018


def test_a_kind_is_imported_when_its_shortcut_is_used():
    code = (
        "import sys, kinode as kn; system = kn.System('s');"
        "lazy = 'kinode.model.network.electrical' not in sys.modules;"
        "system.resistor('r', 'a', 'gnd', resistance=1); print(lazy, 'kinode.model.signals.pid' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "False"]


# -- type checkers -------------------------------------------------------------------------------------------
def test_the_written_types_are_those_of_the_declarations():
    assert write_stubs.STUB.read_text() == write_stubs.write_stub(), "`make refresh` writes them"
    assert write_stubs.FACE.read_text() == write_stubs.write_face(), "`make refresh` writes them"
