"""The script of every example builds the system that the file does."""

from pathlib import Path

import pytest

import kinode as kn
from kinode.exporters.export import EXPORTS, ExportOrder
from kinode.exporters.python_script import end_comment, write_script

EXAMPLES = sorted((Path(__file__).resolve().parents[2] / "examples").glob("*.yaml"))


def built_by(script: str) -> kn.System:
    """The system that a script makes when it is imported."""
    names: dict[str, object] = {"__name__": "imported"}
    exec(compile(script, "script", "exec"), names)
    (system,) = [x for x in names.values() if isinstance(x, kn.System)]
    return system


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_example_is_built_again(file):
    system, text = kn.load(file), file.read_text()
    for given in ("", text):
        again = built_by(write_script(system, given))
        assert again == system
        assert list(again.joints) == list(system.joints)  # the order of the state
        assert list(again.elements) == list(system.elements)


def test_values_and_comments_of_a_text_stay():
    text = """# Two blocks.
kinode: 1
name: blocks
parameters: {m: {value: 2 kg, bounds: [1 kg, 3 kg], note: a "block"}}
bodies:
  # on the left
  left: {mass: m}   # the lighter one
  right: {mass: 500 g}
joints:
  a: {kind: prismatic, between: [world, left], q: 20 mm, effort: "5*sin(2*t)"}
  b: {kind: prismatic, between: [left, {body: right, at: [1 mm, 0, 0], rpy: [0, 0, 5 deg]}], axis: x}
"""
    script = write_script(kn.loads(text), text)
    assert built_by(script) == kn.loads(text)
    for line in ('"""Two blocks.', "# on the left", "# the lighter one", 'm = blocks.parameter("m", "2 kg"', "mass=m",
                 'mass="500 g"', 'q="20 mm", effort="5*sin(2*t)"', "left, right.at("):  # fmt: skip
        assert line in script, script


def test_subsystems_are_written_out():
    inner = kn.System("inner")
    k = inner.parameter("k", "5 N/m")
    block = inner.body("block", mass=1.0)
    inner.prismatic("slide", inner.world, block, stiffness=k)
    outer = kn.System("class", gravity=(0, 0, 0))  # a word of Python
    outer.add("left", inner, on=outer.world.at(0, 1, 0, rpy=(0, 0, 0.5)))
    outer.add("right", inner)
    assert built_by(write_script(outer)) == outer


def test_text_of_a_model_is_never_run():
    """Names, comments and notes are text of the script, whatever they hold."""
    evil = '""" + __import__("os").abort() + """ \\'
    joints = "joints: {p: {kind: free, between: [world, a]}}"
    text = f"# {evil}\nkinode: 1\nname: m\nbodies:\n  # {evil}\n  a: {{mass: 1}}  # '{evil}\n{joints}\n"
    system = kn.loads(text)
    system.notes.append(evil)
    system.name = 'x"; import os; os.abort()  #'
    assert built_by(write_script(system, text)) == system


def test_comments_at_the_end_of_a_line():
    assert end_comment("  a: 1  # one") == "one"
    assert end_comment("""  a: "x # y"  # z's""") == "z's"
    assert end_comment("  a: it's x#y") == ""


def test_controller_is_refused_by_name():
    system = kn.load(EXAMPLES[0])
    system.controller("pilot", lambda t, x: x, {"x": "t"}, period="10 ms")
    with pytest.raises(kn.ModelError, match=r"pilot.*Python function"):
        write_script(system)


def test_export_writes_files(tmp_path):
    file = EXAMPLES[0]
    system = kn.load(file)
    texts = {kind: chosen for kind, chosen in EXPORTS.items() if chosen.is_text}
    for kind, chosen in texts.items():
        written = kn.export(system, kind, tmp_path)
        assert written == tmp_path / f"{system.name}{chosen.suffix}"
        assert written.read_text() == chosen.write(ExportOrder(system))
    assert kn.load(tmp_path / f"{system.name}.yaml") == system
    assert kn.export(file, "python", tmp_path / "x.py").read_text() == write_script(system, file.read_text())
    with pytest.raises(kn.ArgumentError, match="did you mean python"):
        kn.export(system, "pyhton", tmp_path)
    with pytest.raises(kn.ArgumentError, match="takes no 'outputs'"):
        kn.export(system, "yaml", tmp_path, outputs=["t"])
    with pytest.raises(kn.ArgumentError, match="a System or a model file"):
        kn.export(3, "python", tmp_path)
    with pytest.raises(kn.ModelError, match="no such file"):
        kn.export(tmp_path / "no.yaml", "python", tmp_path)
