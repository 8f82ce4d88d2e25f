"""The panes of the studio answer what the public functions do, and what is under way can be stopped."""

import os
import signal
from pathlib import Path

import pytest

import kinode as kn
from kinode.exporters.python_script import write_script
from kinode.studio.document import journal
from kinode.studio.document.document_files import open_file
from kinode.studio.editor.panes import PaneAnswers, VerifyWatch, describe_model, find_owners
from kinode.studio.editor.studio_desk import StudioDesk
from kinode.studio.editor.worker_tasks import TASKS, Order
from kinode.studio.server.session import Job, Session
from kinode.studio.server.worker import DerivationProcess, StoppedError

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
PENDULUM = (EXAMPLES / "pendulum.yaml").read_text()
EQUATIONS = {
    "formulation": "", "shape": "auto", "frame": "", "reactions": [], "basis": "body", "mode": "dynamic",
    "numbers": True,
}  # fmt: skip
REPORT = {"verify": False, "explain": False}
DONE = 90.0  # s, for all that is under way


@pytest.fixture(scope="module")
def process():
    """One process for all tasks of this file."""
    made = DerivationProcess()
    yield made
    made.close()


@pytest.fixture
def studio(tmp_path, monkeypatch):
    """A desk with its panes, which share a page server that keeps pages in a dictionary."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr(journal, "LATE_SECONDS", 0.01)
    file = tmp_path / "pendulum.yaml"
    file.write_text(PENDULUM)
    served: dict[str, str] = {}
    desk = StudioDesk(Session(read_only=True), open_file(file), tmp_path)
    panes = PaneAnswers(desk, served.__setitem__, verify=False)
    yield desk, panes, served
    panes.close()
    desk.close()


class Listener:
    """A page that keeps what is pushed to it."""

    def __init__(self) -> None:
        self.pushes: list[dict[str, object]] = []

    def push(self, header, arrays=None) -> None:
        self.pushes.append(dict(header))


def asked(desk, client, kind, **fields):
    """What the handler of a kind answers, as the session would ask it."""
    return desk.session.handler_of(kind)(Job(1, kind, {"seq": 1, "kind": kind, **fields}, client))


# -- tasks -----------------------------------------------------------------------------------------
def test_tasks_say_what_the_public_functions_say():
    told = []
    system = kn.loads(PENDULUM)

    def do(task, **fields):
        return TASKS[task](Order(system, PENDULUM, fields, lambda share, words: told.append(share)))

    answer = do("equations", **EQUATIONS | {"formulation": "hamilton", "shape": "expanded"})
    printed = kn.equations(system, "hamilton", "expanded")
    assert (answer["html"], answer["latex"], answer["c"]) == (printed.mathml(), printed.latex(), printed.c())
    assert answer["operations"] == printed.operations
    answer = do("equations", **EQUATIONS | {"formulation": "circuit"})
    listing = kn.circuit(system)
    assert answer["html"].startswith(listing.mathml()) and answer["json"] == listing.to_json()
    force = listing.evaluate()["pivot.2.force"][1]
    assert f"{abs(force):.4g}" in answer["html"]
    answer = do("explain")
    steps = kn.explain(system).steps
    assert [step["title"] for step in answer["steps"]] == [step.title for step in steps]
    assert all(set(step["parts"]) <= set(system.components) for step in answer["steps"])
    assert any("pivot" in step["parts"] for step in answer["steps"]) and "<svg" in answer["scheme"]
    answer = do("script", format="python")
    assert answer == {"text": write_script(system, PENDULUM), "suffix": ".py"}
    told.clear()
    answer = do("verify")
    found = kn.verify(system)
    assert answer["state"] == "agrees" and answer["words"] == f"{found.name}{found.verdict}"
    assert [(row["one"], row["two"], row["quantity"]) for row in answer["rows"]] == [
        (row.one, row.two, row.quantity) for row in found.rows
    ]
    assert told == sorted(told) and told[-1] == 1.0
    assert all(row["seconds"] is None or row["seconds"] >= 0.0 for row in answer["rows"])


@pytest.mark.parametrize(
    ("task", "fields", "words"),
    [
        ("equations", EQUATIONS | {"formulation": "lagrnge"}, "lagrnge"),
        ("equations", EQUATIONS | {"reactions": ["elbow"]}, "has no joint"),
        ("equations", EQUATIONS | {"frame": "nowhere"}, "nowhere"),
        ("script", {"format": "pdf"}, "there is no kind"),
        ("dance", {}, "there is no task"),
    ],
)
def test_tasks_refuse_in_words(process, task, fields, words):
    with pytest.raises(kn.Error, match=words):
        process.ask(task, PENDULUM, Path("pendulum.yaml"), fields)


def test_an_unfinished_text_is_refused_with_its_part(process):
    with pytest.raises(kn.ModelError) as refused:
        process.ask("verify", PENDULUM.replace("kind: revolute", "kind: revolut"), Path("pendulum.yaml"))
    assert refused.value.component == "pivot"


def test_a_stopped_task_ends_its_process_and_the_next_begins_anew(process):
    process.ask("script", PENDULUM, Path("pendulum.yaml"), {"format": "python"})
    before, looks = process.pid, []
    with pytest.raises(StoppedError):
        process.ask(
            "report", PENDULUM, Path("pendulum.yaml"), REPORT, goes_on=lambda: looks.append(1) or len(looks) < 3
        )
    assert process.pid is None
    with pytest.raises(ProcessLookupError):
        os.kill(before, 0)
    assert process.ask("script", PENDULUM, Path("pendulum.yaml"), {"format": "python"})["suffix"] == ".py"
    os.kill(process.pid, signal.SIGKILL)  # the machine ran out of memory
    for _ in range(2):  # the first may find the pipe still open
        try:
            assert process.ask("script", PENDULUM, Path("pendulum.yaml"), {"format": "python"})["suffix"] == ".py"
        except kn.Error as error:
            assert "ask again" in str(error)


# -- answers ---------------------------------------------------------------------------------------
def test_a_page_asks_though_it_is_read_only(studio):
    desk, panes, served = studio
    page = Listener()
    about = asked(desk, page, "pane_about")
    assert about["size"] == {"bodies": 1, "freedoms": 1, "parts": 0, "words": "1 body, 1 freedom", "large": False}
    assert {x["name"]: x["reason"] for x in about["formulations"]}["lagrange"] == ""
    answer = asked(desk, page, "pane_equations", formulation="lagrange")
    assert answer["version"] == desk.document.version
    assert answer["html"] == kn.equations(kn.loads(PENDULUM), "lagrange").mathml()
    assert {"pane_equations"} == {x["pane"] for x in page.pushes if x["kind"] == "pane_progress"}
    answer = asked(desk, page, "pane_export", format="svg")
    assert answer["name"] == "pendulum.svg" and answer["text"] == kn.diagram(kn.loads(PENDULUM)).svg
    with pytest.raises(kn.ArgumentError, match="there is no kind"):
        asked(desk, page, "pane_export", format="pdf")
    with pytest.raises(kn.ArgumentError, match="reactions: a list of names"):
        asked(desk, page, "pane_equations", reactions="pivot")
    with pytest.raises(kn.ArgumentError, match="shape: a text is expected"):
        asked(desk, page, "pane_equations", shape=3)
    answer = asked(desk, page, "pane_report", verify=False)
    assert list(served) == [answer["path"]] == ["/report_1.html"]
    assert "<h1>pendulum</h1>" in served["/report_1.html"]
    assert asked(desk, page, "pane_verification")["state"] == "asleep"
    assert asked(desk, page, "pane_verify")["state"] == "running"
    assert asked(desk, page, "pane_stop", pane="pane_verify") == {"stopped": True}
    assert panes.verifying.wait(DONE)
    assert asked(desk, page, "pane_verification")["state"] == "asleep"


def test_a_request_under_way_is_stopped(studio):
    desk, _, served = studio
    page = Listener()
    report = Job(1, "pane_report", {}, page)
    page.push = lambda header: asked(desk, page, "pane_stop", pane="pane_report")  # as soon as it tells how far it is
    with pytest.raises(StoppedError):
        desk.session.handler_of("pane_report")(report)
    assert not report.goes_on() and served == {}  # the session answers that it was stopped
    assert asked(desk, page, "pane_stop", pane="pane_report") == {"stopped": False}


# -- after each change -----------------------------------------------------------------------------
def test_a_newer_text_stops_the_comparison(studio):
    """Only the newest text is compared to the end, and one that is not whole is said to be so."""
    desk, _, _ = studio
    told = []
    watch = VerifyWatch(told.append, quiet=0.0)
    try:
        first = desk.checked()
        watch.checked(first)
        assert watch.now["state"] in ("waiting", "running")
        newer = desk.checker.now(_version(desk, PENDULUM.replace("name: pendulum", "name: second")))
        watch.checked(newer)
        assert watch.wait(DONE)
        assert watch.now["state"] == "agrees" and watch.now["words"].startswith("second")
        assert not any(x["state"] == "agrees" and x["words"].startswith("pendulum") for x in told)
        count = len(told)
        watch.checked(desk.checker.now(_version(desk, "# a comment\n" + newer.of.text)))  # it means the same
        assert [x["state"] for x in told[count:]] == ["agrees"]
        watch.checked(desk.checker.now(_version(desk, newer.of.text.replace("kind: revolute", "kind: revolut"))))
        assert watch.now["state"] == "unfinished" and "revolut" in watch.now["words"]
        watch.checked(desk.checker.now(_version(desk, "kinode: 1\nname: empty\n")))
        assert watch.now["state"] == "none"
    finally:
        watch.close()


def _version(desk, text):
    from dataclasses import replace

    return replace(desk.version(), text=text, version=desk.document.version + 1)


# -- plain functions -------------------------------------------------------------------------------
def test_symbols_belong_to_parts():
    owners = find_owners(kn.load(EXAMPLES / "stewart_platform.yaml"))
    system = kn.load(EXAMPLES / "stewart_platform.yaml")
    assert all(owners[name] == [name] for name in (*system.joints, *system.bodies))
    assert set().union(*owners.values()) <= set(system.components)


def test_a_large_model_says_how_large_it_is():
    about = describe_model(kn.load(EXAMPLES / "stewart_platform.yaml"), True)
    assert about["size"]["large"] and "bodies" in about["size"]["words"]
    reasons = {x["name"]: x["reason"] for x in about["formulations"]}
    assert reasons["recursive"] == "" and reasons["lagrange"] != ""
