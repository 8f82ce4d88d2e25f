"""Studies of a desk: what `kn.sweep` gives, chunk by chunk, stoppable, marked when the model changes, taken over."""

import time
from pathlib import Path

import numpy as np
import pytest

import kinode as kn
from kinode.editing.draft import ModelDraft
from kinode.editing.gestures import plan_gesture
from kinode.editing.spans import apply_edits
from kinode.studio.document import journal
from kinode.studio.document.document_files import open_file
from kinode.studio.editor.studio_desk import StudioDesk
from kinode.studio.editor.study_form import take_gesture
from kinode.studio.server.session import Job, Session

MODEL = """kinode: 1
name: swing
parameters: {k: 4, L: {value: 500 mm, bounds: [100 mm, 2 m]}}
bodies:
  bar: {mass: 2, com: [L, 0, 0], inertia: [0.01, 0.05, 0.05]}
joints:
  pivot: {kind: revolute, between: [world, bar], axis: y, q: 20 deg, effort: -sqrt(k)*pivot.q}
run: {until: 60 ms}
"""
KEEP = ["pivot.reaction.force|peak", "pivot.q|final"]
LENGTHS = {"name": "L", "kind": "range", "first": "200 mm", "second": "800 mm", "count": "4", "values": ""}
FORM = {
    "axes": [LENGTHS, {**LENGTHS, "name": "pivot.q", "kind": "list", "values": "0, 30 deg"}],
    "design": "grid", "n": "", "keep": KEEP, "until": "200 ms",
}  # fmt: skip
LONG = {**FORM, "axes": [{**LENGTHS, "count": "5000"}], "until": "10 s"}


class Listener:
    """A page that keeps what is pushed to it."""

    def __init__(self):
        self.pushes, self.arrays = [], []

    def send_soon(self, message):
        pass


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    """One desk with its process for the tests of this file; each leaves the text as it was."""
    folder = tmp_path_factory.mktemp("studies")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(folder / "state"))
        patch.setattr(journal, "LATE_SECONDS", 0.01)
        (folder / "swing.yaml").write_text(MODEL)
        session = Session()
        pushed = []
        session.push = lambda header, arrays=None: pushed.append((dict(header), arrays))
        made = StudioDesk(session, open_file(folder / "swing.yaml"), folder)
        made.pushed = pushed
        yield made
        made.close()


def ask(desk, kind, **fields):
    return desk.session.handler_of(kind)(Job(1, kind, {"seq": 1, "kind": kind, **fields}, Listener()))


def study(desk, form):
    answer = ask(desk, "study_run", form=form)
    assert answer["errors"] == []
    desk.studies.wait()
    return answer["id"]


def wait_for(condition, seconds=180.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_a_form_begins_with_what_the_model_has(desk):
    about = ask(desk, "study_about")
    names = {each["name"]: each for each in about["names"]}
    ranges = {name: (each["role"], each["first"], each["second"]) for name, each in names.items()}
    assert ranges["k"] == ("parameter", "2", "6") and ranges["L"] == ("parameter", "100 mm", "2000 mm")  # its bounds
    assert ranges["pivot.q"] == ("initial value", "10 deg", "30 deg") and ranges["pivot.u"][0] == "initial value"
    assert about["keep"] == KEEP[:1] and about["until"] == "0.06 s" and about["why"] == ""
    assert {"pivot.reaction.force", "bar.position"} <= set(about["quantities"]) and "rms" in about["reductions"]


@pytest.mark.parametrize("form, words", [
    (None, "form"), ([], "form"), ({"axes": 3, "keep": "x"}, "form"), ({**FORM, "axes": 3}, "form: axes"),
    ({**FORM, "axes": [None]}, "form: axes: 0"), ({**FORM, "keep": [None]}, "form: keep: 0"),
    ({**FORM, "n": True}, "form: n: a text"), ({**FORM, "axes": [{**LENGTHS, "kind": "odd"}]}, "axes: 0: kind: one of"),
])  # fmt: skip
def test_anything_that_is_no_form_is_refused(desk, form, words):
    for kind in ("study_check", "study_run"):
        with pytest.raises(kn.ArgumentError, match=words):
            ask(desk, kind, form=form)


def test_a_study_is_what_sweep_gives(desk):
    told = ask(desk, "study_check", form=FORM)
    assert told["errors"] == [] and told["runs"] == 8 and 0.0 < told["seconds"] < 60.0
    desk.pushed.clear()
    number = study(desk, FORM)
    header, arrays = ask(desk, "study_open", id=number)
    assert header["state"] == "done" and header["done"] == 8 and header["form"] == FORM
    lengths = ["200 mm", "400 mm", "600 mm", "800 mm"]
    same = kn.sweep(kn.loads(MODEL), {"L": lengths, "pivot.q": ["0", "30 deg"]}, "200 ms", keep=KEEP)
    for k, text in enumerate(KEEP):
        assert header["kept"][k]["text"] == text
        assert np.array_equal(arrays["results"][k].reshape(4, 2), same[text].values, equal_nan=True)
    assert arrays["status"].tolist() == same.data["status"].values.reshape(-1).tolist()
    chunks = [(h, a) for h, a in desk.pushed if h["kind"] == "study_chunk"]
    assert sum(len(a["status"]) for _, a in chunks) == 8
    assert np.array_equal(np.concatenate([a["results"] for _, a in chunks], axis=1), arrays["results"], equal_nan=True)
    assert header["axes"][0]["shown"]["unit"] == "mm" and header["kept"][0]["bySize"]
    assert "kinode sweep swing.yaml" in header["command"] and "kn.sweep(" in header["python"]
    table = ask(desk, "study_csv", id=number)
    assert table["text"] == same.csv_text() and table["name"].endswith(".csv")


def test_failed_runs_have_their_message(desk):
    number = study(desk, {**FORM, "axes": [LENGTHS, {**LENGTHS, "name": "k", "kind": "list", "values": "1, -1"}]})
    header, arrays = ask(desk, "study_open", id=number)
    failed = np.flatnonzero(arrays["status"] == 3).tolist()
    assert failed == [1, 3, 5, 7] and np.isnan(arrays["results"][0][failed]).all()
    assert set(header["messages"]) == set(map(str, failed)) and all(header["messages"].values())


def test_a_study_is_stopped_and_keeps_what_is_done(desk):
    desk.pushed.clear()
    number = ask(desk, "study_run", form=LONG)["id"]
    with pytest.raises(kn.ArgumentError, match="a study is running"):
        ask(desk, "study_run", form=FORM)
    told = ask(desk, "study_check", form=FORM)
    assert told["seconds"] is None and told["runs"] == 8
    wait_for(lambda: any(h["kind"] == "study_chunk" for h, _ in desk.pushed))
    with pytest.raises(kn.ArgumentError, match="stop it first"):
        ask(desk, "study_drop", id=number)
    desk.document.gesture({"do": "set", "name": "k", "path": ["value"], "value": "5"})
    assert ask(desk, "study_stop", id=number)["stopped"]  # it still ran: the gesture was not held up
    desk.studies.wait()
    header, arrays = ask(desk, "study_open", id=number)
    assert header["state"] == "stopped" and 0 < header["done"] < 5000
    done = arrays["status"] != 0
    assert np.isfinite(arrays["results"][0][done]).all() and np.isnan(arrays["results"][0][~done]).all()
    progress = [h for h, _ in desk.pushed if h["kind"] == "study_state" and h["id"] == number and h["left"]]
    assert progress and all(h["rate"] > 0 for h in progress)
    desk.document.undo()
    ask(desk, "study_drop", id=number)
    assert number not in [each["id"] for each in ask(desk, "study_list")["studies"]]
    with pytest.raises(kn.ArgumentError, match="no study"):
        ask(desk, "study_open", id=number)


def test_a_changed_text_marks_a_study_as_older(desk):
    number = study(desk, {**FORM, "axes": FORM["axes"][:1]})
    state = lambda: {s["id"]: s["older"] for s in ask(desk, "study_list")["studies"]}[number]  # noqa: E731
    assert not state()
    desk.changed(desk.document.gesture({"do": "set", "name": "bar", "path": ["mass"], "value": "0.3"}))
    wait_for(state)
    desk.changed(desk.document.undo())
    wait_for(lambda: not state())
    end = len(desk.document.text)
    desk.changed(desk.document.gesture({"do": "text", "edits": [[end, end, "# the same model\n"]]}))
    desk.checker.now(desk.version())
    assert not state()
    desk.changed(desk.document.undo())


def test_values_of_a_run_are_taken_over_in_one_step(desk):
    number = study(desk, FORM)
    before = desk.document.text
    answer = ask(desk, "study_take", id=number, run=1)
    assert desk.document.text == before.replace("500 mm", "200 mm").replace("20 deg", "30 deg")
    assert answer["words"] == "took over L = 200 mm, pivot.q = 30 deg"
    desk.document.undo()
    assert desk.document.text == before
    for run in (-1, 8, "1", None):
        with pytest.raises(kn.ArgumentError, match="run"):
            ask(desk, "study_take", id=number, run=run)


HEAD = "kinode: 1\nbodies: {a: {mass: 1, inertia: [1, 1, 1]}}\n"
JOINED = "joints: {p: {kind: revolute, between: [world, a]}}"


@pytest.mark.parametrize("text, values, edits", [
    (JOINED.replace("a]", "a], q: 5 deg"), {"p.q": 0.1}, {"q: 5 deg": "q: 5.72957795131 deg"}),
    (JOINED, {"p.u": 2.0}, {"a]}": "a], u: 2}"}),
    ("joints: {p: {kind: cylindrical, between: [world, a], q: [2 mm, 0]}}", {"p.q.travel": 0.5}, {"2 mm": "500 mm"}),
    (f"{JOINED}\nparameters: {{k: 2, m: {{value: 3 kg}}}}", {"k": 1.5, "m": 9}, {"k: 2": "k: 1.5", "3 kg": "9 kg"}),
])  # fmt: skip
def test_values_keep_the_units_of_the_text(text, values, edits):
    text = HEAD + text
    draft = ModelDraft(text, Path("model.yaml"))
    gesture = take_gesture(draft, values, {name for name in values if name.startswith("p.")})
    made = apply_edits(text, plan_gesture(text, gesture, Path("model.yaml")).edits)
    for old, new in edits.items():
        text = text.replace(old, new)
    assert made == text


def test_what_is_a_law_stays():
    text = f"{HEAD}parameters: {{k: 2, m: 2*k}}\njoints: {{p: {{kind: free, between: [world, a]}}}}"
    draft = ModelDraft(text, Path("model.yaml"))
    with pytest.raises(kn.ArgumentError, match=r"m is written as 2\*k"):
        take_gesture(draft, {"k": 1.0, "m": 2.0}, set())
    with pytest.raises(kn.ArgumentError, match="no field of its own"):
        take_gesture(draft, {"p.q.x": 1.0}, {"p.q.x"})


def test_a_model_that_is_not_whole_has_no_study(desk):
    desk.document.gesture({"do": "set", "name": "bar", "path": ["mass"], "value": "heavy"})
    assert "not whole" in ask(desk, "study_about")["why"]
    with pytest.raises(kn.ModelError, match="not whole"):
        ask(desk, "study_run", form=FORM)
    desk.document.undo()
    assert ask(desk, "study_run", form={**FORM, "keep": []})["errors"][0]["field"] == "keep"
