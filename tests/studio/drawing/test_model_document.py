"""The document of the studio: versions, one undo for text and view, the file, and changes on the disk."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import kinode as kn
from kinode.studio.document.document_files import DocumentFile, ModelView, find_target, new_file, open_file, view_path
from kinode.studio.document.model_document import ModelDocument
from kinode.studio.editor.library import find_models

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
RLC = (EXAMPLES / "rlc.yaml").read_text()


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "rlc.yaml"
    path.write_text(RLC)
    return path


@pytest.fixture
def document(file):
    return ModelDocument(open_file(file))


def set_value(document, value, name="wire", field="resistance"):
    return document.gesture({"do": "set", "name": name, "path": [field], "value": value})


# -- changes ----------------------------------------------------------------------------------------------------------
def test_a_gesture_changes_its_place_alone_and_undo_takes_it_back(document):
    change = set_value(document, "30 Ohm")
    assert document.text == RLC.replace("20 Ohm", "30 Ohm") and change.version == 1 and document.dirty
    back = document.undo()
    assert document.text == RLC and back.version == 2 and not document.dirty
    assert document.redo().version == 3 and "30 Ohm" in document.text


def test_view_and_text_have_one_undo(document):
    set_value(document, "30 Ohm")
    document.gesture({"do": "move", "places": {"coil": [100, 40]}})
    document.gesture({"do": "waypoints", "link": "top", "points": [[1, 2], [3, 4]]})
    assert document.view == ModelView({"coil": (100.0, 40.0)}, {"top": ((1.0, 2.0), (3.0, 4.0))})
    document.gesture({"do": "tidy"})
    assert document.view == ModelView()
    document.undo()
    document.undo()
    assert document.view.places == {"coil": (100.0, 40.0)} and not document.view.waypoints
    document.undo()
    document.undo()
    assert not document.view and document.text == RLC and not document.dirty
    with pytest.raises(kn.ArgumentError, match="nothing to undo"):
        document.undo()


def test_a_name_that_changes_keeps_its_place(document):
    document.gesture({"do": "move", "places": {"coil": [100, 40]}})
    document.gesture({"do": "rename", "name": "coil", "to": "choke"})
    assert document.view.places == {"choke": (100.0, 40.0)}
    document.undo()
    assert document.view.places == {"coil": (100.0, 40.0)}


def test_several_gestures_are_one_step(document):
    document.gesture({"do": "all", "gestures": [
        {"do": "set", "name": "wire", "path": ["resistance"], "value": "30 Ohm"},
        {"do": "set", "name": "coil", "path": ["inductance"], "value": "2 H"},
        {"do": "move", "places": {"coil": [0, 0]}},
    ]})  # fmt: skip
    assert "30 Ohm" in document.text and "2 H" in document.text and document.view
    document.undo()
    assert document.text == RLC and not document.view


@given(st.lists(st.sampled_from(["set", "other", "move", "tidy", "text", "rename", "undo", "redo"]), max_size=25))
def test_as_many_undos_as_changes_leave_the_same_bytes(steps):
    document = ModelDocument(new_file(Path("nowhere"), RLC))
    for k, step in enumerate(steps):
        try:
            if step in ("undo", "redo"):
                getattr(document, step)()
            elif step == "move":
                document.gesture({"do": "move", "places": {"coil": [10.0 * k, 0]}})
            elif step == "tidy":
                document.gesture({"do": "tidy"})
            elif step == "text":
                document.gesture({"do": "text", "edits": [[0, 0, f"# note {k}\n"]]})
            elif step == "rename":
                names = [name for name in ("coil", "choke") if f"  {name}:" in document.text]
                document.gesture({"do": "rename", "name": names[0], "to": "choke" if names == ["coil"] else "coil"})
            else:
                field = ("wire", "resistance") if step == "set" else (_inductor(document), "inductance")
                set_value(document, f"{k + 1} {'Ohm' if step == 'set' else 'H'}", *field)
        except kn.ArgumentError as error:
            assert "nothing to" in str(error)
    while document.state()["canUndo"]:
        document.undo()
    assert document.text == RLC and document.view == ModelView() and not document.dirty


def _inductor(document):
    return "coil" if "  coil:" in document.text else "choke"


@pytest.mark.parametrize(
    "gesture",
    [
        {}, {"do": 3}, {"do": "fly"}, {"do": "move"}, {"do": "move", "places": {"coil": [1]}}, "set",
        {"do": "move", "places": {"coil": [float("nan"), 0]}}, {"do": "move", "places": {"coil": [1e9, 0]}},
        {"do": "move", "places": {"coil": ["1", 0]}}, {"do": "waypoints", "points": []}, {"do": "text"},
        {"do": "waypoints", "link": "top", "points": [3]}, {"do": "text", "edits": [[0, 99999, ""]]},
        {"do": "text", "edits": [[5, 3, ""]]}, {"do": "all", "gestures": {}}, {"do": "all", "gestures": [[]]},
        {"do": "set", "name": "nobody", "path": ["mass"], "value": "1"}, {"do": "delete", "names": ["nobody"]},
    ],
    ids=str,
)  # fmt: skip
def test_a_wrong_gesture_is_refused_and_changes_nothing(document, gesture):
    with pytest.raises((kn.ArgumentError, kn.ModelError)):
        document.gesture(gesture)
    assert document.text == RLC and document.version == 0 and not document.state()["canUndo"]


# -- versions ---------------------------------------------------------------------------------------------------------
def test_an_edit_of_an_older_text_is_moved(document):
    start = RLC.index("100 mH")
    document.gesture({"do": "text", "edits": [[0, 0, "# a remark\n"]]}, 0)
    document.gesture({"do": "text", "edits": [[start, start + 6, "5 H"]]}, 0)
    assert document.text == "# a remark\n" + RLC.replace("100 mH", "5 H")


def test_an_edit_of_what_was_changed_is_stale(document):
    start = RLC.index("20 Ohm")
    set_value(document, "30 Ohm")
    with pytest.raises(kn.ArgumentError, match="stale"):
        document.gesture({"do": "text", "edits": [[start, start + 2, "7"]]}, 0)
    with pytest.raises(kn.ArgumentError, match="stale"):
        document.gesture({"do": "text", "edits": [[0, 0, "x"]]}, 17)


# -- the file ---------------------------------------------------------------------------------------------------------
def test_saving_writes_text_and_places_and_opening_reads_them(document, file):
    set_value(document, "30 Ohm")
    document.gesture({"do": "move", "places": {"coil": [100, 40]}})
    document.save({"coil": (0.0, 0.0), "tank": (200.0, 40.0)})
    assert not document.dirty and file.read_text() == document.text
    again = ModelDocument(open_file(file))
    assert again.view.places == {"coil": (100.0, 40.0), "tank": (200.0, 40.0)}
    assert kn.load(file) == kn.loads(document.text, file)
    again.gesture({"do": "tidy"})
    again.save({})
    assert not view_path(file).exists()


def test_a_view_is_not_taken_for_a_model(document, file):
    document.gesture({"do": "move", "places": {"coil": [100, 40]}})
    document.save({})
    with pytest.raises(kn.ModelError, match=r"rlc\.view\.yaml"):
        kn.load(view_path(file))


def test_a_view_that_cannot_be_read_is_said_and_left_alone(file):
    view_path(file).write_text("kinode_view: 1\nplaces: {coil: [1, 2, 3]}\n")
    opened = open_file(file)
    assert opened.view == ModelView() and "coil" in opened.words


@pytest.mark.parametrize(
    "data", [b"\xef\xbb\xbfkinode: 1\r\nname: a\r\n", b"kinode: 1\nname: a\r\n# end", b"kinode: 1"]
)
def test_marks_and_line_breaks_stay(tmp_path, data):
    path = tmp_path / "a.yaml"
    path.write_bytes(data)
    document = ModelDocument(open_file(path))
    document.gesture({"do": "text", "edits": [[0, 0, "#"]]})
    document.save({})
    assert path.read_bytes() == data.replace(b"kinode", b"#kinode", 1)


def test_a_full_disk_loses_nothing(document, file, monkeypatch):
    set_value(document, "30 Ohm")

    def full(descriptor):
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(kn.Error, match="No space left"):
        document.save({})
    assert document.dirty and "30 Ohm" in document.text and file.read_text() == RLC
    assert [path.name for path in file.parent.iterdir()] == ["rlc.yaml"]
    monkeypatch.undo()
    document.save({})
    assert file.read_text() == document.text


def test_what_was_changed_on_the_disk_is_read(document, file):
    file.write_text(RLC.replace("12 V", "24 V"))
    change = document.follow_disk()
    assert "24 V" in document.text and not document.dirty and "read" in change.words
    assert document.follow_disk() is None
    document.undo()
    assert document.text == RLC and document.dirty


def test_changes_on_both_sides_are_merged(document, file):
    set_value(document, "30 Ohm")
    file.write_text(RLC.replace("50 ms", "80 ms"))
    change = document.follow_disk()
    assert document.text == RLC.replace("20 Ohm", "30 Ohm").replace("50 ms", "80 ms") and document.dirty
    assert "merged" in change.words and document.conflict is None


def test_saving_merges_what_others_wrote(document, file):
    set_value(document, "30 Ohm")
    file.write_text(RLC.replace("50 ms", "80 ms"))
    document.save({})
    assert file.read_text() == RLC.replace("20 Ohm", "30 Ohm").replace("50 ms", "80 ms")


@pytest.mark.parametrize(("take", "value"), [("mine", "30 Ohm"), ("theirs", "40 Ohm")])
def test_a_contradiction_is_asked_about(document, file, take, value):
    set_value(document, "30 Ohm")
    file.write_text(RLC.replace("20 Ohm", "40 Ohm"))
    document.follow_disk()
    assert document.conflict is not None and "30 Ohm" in document.text
    with pytest.raises(kn.Error, match="changed on the disk"):
        document.save({})
    document.settle(take)
    document.save({})
    assert value in file.read_text() and document.conflict is None


@pytest.mark.parametrize(
    "name", ["../a.yaml", "/etc/a.yaml", ".a.yaml", "a.txt", "a.view.yaml", "", "x\0.yaml", "sub/../../a.yaml"]
)
def test_nothing_is_saved_outside_the_folder(tmp_path, name):
    with pytest.raises(kn.ArgumentError, match="path"):
        find_target(tmp_path, name, None, overwrite=True)


def test_another_file_is_not_overwritten_unasked(tmp_path, document):
    (tmp_path / "other.yaml").write_text("mine")
    with pytest.raises(kn.ArgumentError, match="there already"):
        find_target(tmp_path, "other.yaml", None, overwrite=False)
    assert find_target(tmp_path, "other", None, overwrite=True).name == "other.yaml"


def test_a_link_out_of_the_folder_is_not_followed(tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    inside = tmp_path / "inside"
    inside.mkdir()
    (inside / "door").symlink_to(outside)
    with pytest.raises(kn.ArgumentError, match="outside"):
        find_target(inside, "door/a.yaml", None, overwrite=False)


def test_a_urdf_opens_as_a_model_that_extends_it(tmp_path):
    robot = "<robot name='r'><link name='base'/><link name='arm'><inertial><mass value='1'/>"
    robot += "<inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial></link>"
    robot += "<joint name='j' type='continuous'><parent link='base'/><child link='arm'/></joint></robot>"
    (tmp_path / "arm.urdf").write_text(robot)
    opened = open_file(tmp_path / "arm.urdf")
    assert opened.path is None and opened.name == "arm.yaml"
    assert "j" in kn.loads(opened.saved, opened.place).joints
    (tmp_path / "note.xml").write_text("<note/>")
    assert find_models(tmp_path) == ["arm.urdf"]


def test_a_new_model_needs_a_name():
    document = ModelDocument(new_file(Path("nowhere")))
    with pytest.raises(kn.ArgumentError, match="name of a file"):
        document.save({})
    assert isinstance(document.file, DocumentFile)
