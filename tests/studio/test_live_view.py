"""Live pages over a real socket: runs that follow values are those of kn.simulate; curves, modes, branches, files."""

from pathlib import Path

import numpy as np
import pytest
from background_runs import run_many
from live_page import LivePage

import kinode as kn
from kinode.studio.live import response_curves
from kinode.studio.live.changing_run import ChangingRun
from kinode.studio.live.live_view import LiveView, carry_over

EXAMPLES = Path(__file__).parents[2] / "examples"
SINGLE = 3e-7  # rounding to float32, twice: in the page's numbers and in a sum
ROUNDING = 1e-9  # SI: sums of large numbers that are zero
CHANGES = {
    "excavator": {"bucket.mass": 900.0},
    "motor_axis": {"arm.mass": 3.3},
    "stewart_platform": {"table.mass": 66.0},
    "rlc": {"coil.inductance": 0.013},
}


NIGHT = pytest.mark.nightly


@pytest.fixture(scope="module")
def views():
    """Live views of examples, made when they are first asked for."""
    made = {}

    def find(name):
        if name not in made:
            made[name] = LiveView(kn.load(EXAMPLES / f"{name}.yaml"), player="")
        return made[name]

    yield find
    for view in made.values():
        view.close()


@pytest.fixture
def open_page(views):
    """A page of an example, with what "open" answered; its numbers are those of the file."""
    pages = []

    def open_(name):
        page = LivePage(views(name).server)
        pages.append(page)
        page.ask("set", reset=True) if views(name).desk.is_shown else None
        return page, *page.ask("open")

    yield open_
    for page in pages:
        page.close()


def check_series(infos, rows, run):
    """Rows of numbers are those of a run's quantities, to single precision."""
    wanted = [info for info in infos if info["group"] not in ("kept", "terms")]
    found = run.evaluate([info["name"] for info in wanted])
    for info in wanted:
        values = np.asarray(found[info["name"]], dtype=float).reshape(len(run), -1).T
        shown = rows[info["row"] : info["row"] + len(values)]
        tolerance = SINGLE * np.abs(values).max(initial=0.0) + ROUNDING
        np.testing.assert_allclose(shown, values, atol=tolerance, rtol=0, err_msg=info["name"])


def simulated(name, t, values=None, **fields):
    """The run that kn.simulate makes of the changed model."""
    system = kn.load(EXAMPLES / f"{name}.yaml")
    dynamics = kn.compile(system, live=list(values or {}) or False)
    return kn.simulate(dynamics, float(t[-1]), times=t, parameters=values, progress=False, **fields)


@pytest.mark.parametrize("name", [pytest.param(x, marks=NIGHT if "stewart" in x else ()) for x in CHANGES])
def test_a_page_opens_with_the_run_and_all_that_can_be_set(open_page, name):
    _, header, arrays = open_page(name)
    assert "error" not in header
    system = kn.load(EXAMPLES / f"{name}.yaml")
    assert header["live"]["until"] == system.run_defaults["until"] == arrays["t"][-1]
    assert header["format"] == "kinode-run" and header["causes"] == []
    numbers = {row["name"]: row for row in header["live"]["parameters"]}
    assert set(CHANGES[name]) <= set(numbers)
    assert all(row["structural"] or row["unit"] is not None for row in numbers.values())
    quantity, by = header["live"]["responseOf"].split("|")
    assert by == "peak" and system and quantity
    check_series(header["series"], arrays["series"], simulated(name, arrays["t"]))


@pytest.mark.parametrize("name", [pytest.param(x, marks=NIGHT if "stewart" in x else ()) for x in CHANGES])
def test_set_gives_the_run_of_simulate(open_page, name):
    page, opened, _ = open_page(name)
    header, arrays = page.ask("set", values=CHANGES[name])
    assert header["note"] == "" and header["values"] == CHANGES[name]
    run = simulated(name, arrays["t"], CHANGES[name])
    assert header["run"]["status"] == run.status
    assert [event["message"] for event in header["events"]] == [event.message for event in run.events]
    check_series(opened["series"], arrays["series"], run)
    positions = run.evaluate([f"{body['name']}.position" for body in opened["bodies"]])
    for k, position in enumerate(positions.values()):
        scale = np.abs(position).max() + 1.0
        np.testing.assert_allclose(arrays["poses"][k, :3], position.T, atol=SINGLE * scale, rtol=0)
    for joint in opened["joints"][:2]:
        wrench = run.reaction(joint["name"], expressed_in="world")
        scale = np.abs(wrench.force).max() + 1e-3
        np.testing.assert_allclose(arrays["loads.total"][joint["load"], :3], wrench.force.T, atol=2e-6 * scale, rtol=0)
        peak = next(x for x in header["peaks"] if x["joint"] == joint["name"])
        assert peak["force"]["value"] == pytest.approx(np.linalg.norm(wrench.force, axis=1).max(), rel=1e-5, abs=1e-6)


def test_values_that_were_set_stay_and_reset_forgets_them(open_page):
    page, _, _ = open_page("motor_axis")
    page.ask("set", values={"arm.mass": 3.3})
    header, _ = page.ask("set", values={"ratio": 40.0})
    assert header["values"] == {"arm.mass": 3.3, "ratio": 40.0}
    header, _ = page.ask("set", values={"arm.mass": None})
    assert header["values"] == {"ratio": 40.0}
    header, _ = page.ask("set", values={"arm.mass": "3200 g"}, reset=True)
    assert header["values"] == {"arm.mass": pytest.approx(3.2)}


def test_initial_values_and_the_end_can_be_set(open_page):
    page, opened, _ = open_page("excavator")
    header, arrays = page.ask("set", start={"bucket_pin.q": 0.2}, until=2.0)
    assert arrays["t"][-1] == 2.0 and header["run"]["to"] == 2.0
    run = simulated("excavator", arrays["t"], start={"bucket_pin.q": 0.2})
    check_series(opened["series"], arrays["series"], run)


def test_a_structural_number_compiles_anew_and_says_so(open_page):
    page, opened, _ = open_page("excavator")
    row = next(x for x in opened["live"]["parameters"] if x["name"] == "bucket.com.y")
    assert row["structural"]
    header, arrays = page.ask("set", values={"bucket.com.y": 0.05})
    assert header["note"].startswith("compiled anew for bucket.com.y: zero")
    assert header["geometry"] is not None  # the mass center is drawn
    body = next(x for x in header["geometry"]["bodies"] if x["name"] == "bucket")
    assert body["com"][1] == 0.05
    system = kn.load(EXAMPLES / "excavator.yaml")
    x, _, z = next(x["com"] for x in opened["bodies"] if x["name"] == "bucket")
    system.change("bucket", com=[x, 0.05, z])
    run = kn.simulate(system, float(arrays["t"][-1]), times=arrays["t"], progress=False)
    check_series(opened["series"], arrays["series"], run)
    header, _ = page.ask("set", values={"bucket.com.y": 0.06})
    assert header["note"] == ""


def test_shapes_are_sent_where_a_number_moves_them_alone(open_page):
    page, opened, _ = open_page("excavator")
    number = next(x for x in opened["live"]["parameters"] if x["name"].endswith("com.x") and not x["structural"])
    header, _ = page.ask("set", values={number["name"]: 1.1 * number["value"]})
    assert header["geometry"] is not None
    assert [x["name"] for x in header["geometry"]["joints"]] == [x["name"] for x in opened["joints"]]
    assert all("load" in x and "unique" in x for x in header["geometry"]["joints"])
    header, _ = page.ask("set", values={"bucket.mass": 800.0})
    assert header["geometry"] is None


def test_a_number_that_moves_no_shape_now_may_do_so_later():
    system = kn.System("arm")
    system.parameter("a", 1.0)
    system.parameter("b", 2.0)
    arm = system.body("arm", mass=1, com=("max(a, b)", 0, 0))
    system.revolute("pin", system.world, arm, axis="z")
    with LiveView(system, 0.1, player="") as view, LivePage(view.server) as page:
        page.ask("open")
        assert page.ask("set", values={"a": 1.5})[0]["geometry"] is None
        assert page.ask("set", values={"b": 1.2})[0]["geometry"]["bodies"][0]["com"][0] == 1.5
        assert page.ask("set", values={"a": 1.4})[0]["geometry"]["bodies"][0]["com"][0] == 1.4


def test_each_page_is_sent_the_shapes_that_it_has_not(open_page):
    page, _, _ = open_page("excavator")
    other, _, _ = open_page("excavator")
    assert page.ask("set", values={"boom_length": 6.5})[0]["geometry"] is not None
    assert page.ask("set", values={"bucket.mass": 801.0})[0]["geometry"] is None
    header, _ = other.ask("set", values={"bucket.mass": 802.0})
    assert header["values"]["boom_length"] == 6.5 and header["geometry"] is not None


def test_series_that_nobody_sees_are_sent_when_they_are_asked_for(open_page):
    page, opened, _ = open_page("excavator")
    infos = {x["name"]: x for x in opened["series"]}
    names = [x["name"] for x in opened["series"]][5:2:-1]
    header, few = page.ask("set", values={"bucket.mass": 810.0}, series=[*names, "nothing"])
    spans = [(infos[name]["row"], max(1, len(infos[name]["parts"]))) for name in names]
    assert header["rows"]["at"] == [first + k for first, count in spans for k in range(count)]
    page.ask("set", values={"bucket.mass": 500.0})  # the run before is still known
    answer, rest = page.ask("rows", id=header["id"])
    assert answer["rows"] == {"of": header["rows"]["of"], "at": None}
    assert np.array_equal(rest["series"][header["rows"]["at"]], few["series"])
    check_series(opened["series"], rest["series"], simulated("excavator", few["t"], {"bucket.mass": 810.0}))


@pytest.mark.parametrize(
    ("kind", "fields", "words"),
    [
        ("set", {"series": "bucket.power"}, r"series: a list of names"),
        ("rows", {"id": 0}, r"id: there is no run 0"),
        ("rows", {}, "id: a whole number is expected"),
        ("set", {"values": {"bucket.mass": -1.0}}, "bucket"),
        ("set", {"values": {"bucket.mas": 1.0}}, "bucket.mass"),
        ("set", {"values": {"bucket.mass": [1.0]}}, "bucket.mass: a number is expected"),
        ("set", {"values": [1]}, "values: an object is expected"),
        ("set", {"values": {"bucket.mass": "3 s"}}, "bucket"),
        ("set", {"start": {"bucket_pin.qq": 1.0}}, "bucket_pin"),
        ("set", {"until": -1.0}, "until: a time after the start"),
        ("series", {"names": "t"}, "names: a list of names"),
        ("series", {"names": ["bucket.posit"]}, "did you mean position"),
        ("causes", {"joint": "nobody"}, "nobody"),
        ("causes", {"joint": "swing", "by": "color"}, "by:"),
        ("branch", {"t": 99.0}, "t: 99 s is not within the run"),
        ("branch", {"t": 1.0, "state": {"swing.p": 1}}, "swing.q"),
        ("branch", {"t": "soon"}, "t"),
        ("modes", {"t": -1.0}, "not within the run"),
        ("locus", {"t": 1.0, "name": "bucket.com.y", "low": 0.0, "high": 1.0}, "new compilation"),
        ("locus", {"t": 1.0, "name": "bucket.mass", "low": 5.0, "high": 5.0}, "two different values"),
        ("checks", {"what": "luck"}, "what: one of audit, verify"),
        ("response", {"name": "bucket.mass", "low": 1, "high": 2, "of": "swing.q"}, "swing.q|peak"),
        ("response", {"name": "bucket.mass", "low": 1, "high": 2, "of": "swing.q|peak", "points": 1}, "points"),
        ("response", {"name": "bucket.com.y", "low": 0, "high": 1, "of": "swing.q|peak"}, "new compilation"),
        ("response", {"name": 3, "low": 1, "high": 2, "of": "swing.q|peak"}, "name"),
    ],
)
def test_what_is_wrong_is_answered_with_the_part(open_page, kind, fields, words):
    page, _, _ = open_page("excavator")
    header, _ = page.ask(kind, **fields)
    assert words in header["error"]["message"] or words in header["error"].get("component", ""), header["error"]
    assert header["error"]["type"] != "AttributeError"
    assert page.ask("set")[0]["run"]["status"] == "done"  # nothing has changed


def test_an_error_of_a_component_names_it_and_the_last_run_stays(open_page):
    page, _, _ = open_page("excavator")
    page.ask("set", values={"bucket.mass": 700.0})
    error = page.ask("set", values={"bucket.mass": -700.0})[0]["error"]
    assert error["component"] == "bucket" and error["field"] == "mass"
    assert page.ask("set")[0]["values"] == {"bucket.mass": 700.0}


def test_further_quantities_come_at_the_same_times(open_page):
    page, _, opened = open_page("excavator")
    page.ask("set", values={"bucket.mass": 800.0})
    header, arrays = page.ask("series", names=["bucket.velocity", "2*swing.q", "bucket.velocity"])
    assert [(x["name"], x["row"], x["parts"]) for x in header["series"]] == [
        ("bucket.velocity", 0, ["x", "y", "z"]), ("2*swing.q", 3, []),
    ]  # fmt: skip
    run = simulated("excavator", arrays["t"], {"bucket.mass": 800.0})
    check_series([{**x, "group": ""} for x in header["series"]], arrays["series"], run)
    assert np.array_equal(arrays["t"], opened["t"])


def test_terms_of_equations_are_asked_for(views, open_page):
    assert views("motor_axis").complete.wait(120)
    page, header, _ = open_page("motor_axis")
    terms = [x["name"] for x in header["series"] if ".equation." in x["name"]]
    assert terms and header["equations"]["lines"]
    rows = max(x["row"] + max(1, len(x["parts"])) for x in header["series"])
    header, arrays = page.ask("set", values={"arm.mass": 3.3})
    assert header["rows"] == {"of": rows, "at": None} and len(arrays["series"]) == rows - len(terms)
    _, arrays = page.ask("series", names=terms)
    assert np.isfinite(arrays["series"]).all()


def test_who_loads_a_joint(open_page):
    page, _, _ = open_page("excavator")
    header, arrays = page.ask("causes", joint="swing", by="body")
    t = page.ask("open")[1]["t"]
    kinetic = simulated("excavator", t).reaction("swing", part="kinetic", expressed_in="world")
    total = arrays[header["array"]][:, :3].sum(axis=0)
    assert header["names"] and np.abs(total - kinetic.force.T).max() < 1e-4 * np.abs(kinetic.force).max()


# -- branches, modes, curves -----------------------------------------------------------------------
def test_a_branch_begins_at_the_state_of_the_cursor(open_page):
    page, opened, arrays = open_page("excavator")
    t = 3.3333  # between two pictures
    header, branched = page.ask("branch", t=t, state={"bucket_pin.u": 0.5})
    assert header["label"] == "branch at 3.333 s" and header["digest"] == opened["digest"]
    assert branched["t"][0] == t and branched["t"][-1] == arrays["t"][-1]
    before = simulated("excavator", np.array([0.0, t]))
    start = {**before.dynamics.values(before.end), "bucket_pin.u": 0.5}
    run = kn.simulate(before.dynamics, 11.0, start=start, t0=t, times=branched["t"], progress=False)
    check_series(header["series"], branched["series"], run)
    same, unchanged = page.ask("branch", t=float(arrays["t"][100]))
    rows = {x["name"]: x["row"] for x in same["series"]}
    straight = arrays["series"][rows["swing.q"], -1]
    assert unchanged["series"][rows["swing.q"], -1] == pytest.approx(straight, abs=1e-6)


def test_a_branch_with_another_parameter_leaves_the_run_alone(open_page):
    page, _, _ = open_page("motor_axis")
    header, _ = page.ask("branch", t=1.0, values={"arm.mass": 6.0})
    assert header["values"] == {"arm.mass": 6.0}
    assert page.ask("set")[0]["values"] == {}


def test_a_branch_in_a_loop_keeps_the_loop_closed(open_page):
    page, _, arrays = open_page("stewart_platform")
    name = "leg1.stroke.q"
    header, branched = page.ask("branch", t=float(arrays["t"][60]), state={name: 0.03})
    assert "error" not in header
    row = next(x["row"] for x in header["series"] if x["name"] == name)
    assert branched["series"][row, 0] == pytest.approx(0.03, abs=1e-6)


def test_modes_are_those_of_linearize(open_page):
    page, _, arrays = open_page("motor_axis")
    t = float(arrays["t"][150])
    header, poses = page.ask("modes", t=t)
    run = simulated("motor_axis", np.array([0.0, t]))
    wanted = kn.linearize(run.dynamics, run.end, anywhere=True).eigenvalues
    found = [complex(*pair) for pair in header["eigenvalues"]]
    assert len(found) == len(wanted)
    for value in wanted:
        assert min(abs(value - other) for other in found) < 1e-3 * (1.0 + abs(value))
    moving = [mode for mode in header["modes"] if mode["poses"]]
    assert moving and all(poses[mode["poses"]].shape == (1, 7, 24) for mode in moving)
    assert all(mode["moves"] for mode in header["modes"])


def test_a_root_locus_begins_at_the_eigenvalues(open_page):
    page, _, _ = open_page("motor_axis")
    modes, _ = page.ask("modes", t=0.0)
    header, _ = page.ask("locus", t=0.0, name="arm.mass", low=3.0, high=4.0, points=5)
    assert header["values"] == [3.0, 3.25, 3.5, 3.75, 4.0] and header["failed"] == []
    first = [complex(*pair) for pair in header["eigenvalues"][0]]
    for pair in modes["eigenvalues"]:
        assert min(abs(complex(*pair) - other) for other in first) < 1e-6 * (1.0 + abs(complex(*pair)))


@pytest.mark.parametrize("name", ["excavator", "rlc"])
def test_a_response_curve_is_that_of_single_runs(open_page, name):
    page, opened, arrays = open_page(name)
    (number, value), of = next(iter(CHANGES[name].items())), opened["live"]["responseOf"]
    fields = {"name": number, "low": 0.5 * value, "high": 1.5 * value, "of": of, "points": 5}
    assert "error" not in page.ask("response", **fields)[0]
    header, _ = page.wait_for("response", lambda x: x["complete"])
    assert header["values"] == np.linspace(0.5 * value, 1.5 * value, 5).tolist() and header["failed"] == []
    dynamics = kn.compile(kn.load(EXAMPLES / f"{name}.yaml"), live=[number])
    rows = run_many(dynamics, {number: header["values"]}, float(arrays["t"][-1]), of=of, times=arrays["t"]).wait()
    assert header["results"] == pytest.approx([row.results[of] for row in rows], rel=1e-9)


@pytest.mark.parametrize(("change", "message"), [
    ({"name": "stiffness"}, "stiffness"),
    ({"low": "2 kg m"}, "a mass is needed"),
    ({"low": 900.0}, "two different values of bucket.mass"),
    ({"points": 1}, "points"),
    ({"of": "swing.q"}, "peak"),
    ({"of": 3}, "of"),
])  # fmt: skip
def test_wrong_arguments_of_a_curve_are_named(open_page, change, message):
    page, opened, _ = open_page("excavator")
    fields = {"name": "bucket.mass", "low": 300.0, "high": 900.0, "of": opened["live"]["responseOf"], "points": 3}
    assert message in page.ask("response", **{**fields, **change})[0]["error"]["message"]


def test_a_new_curve_takes_the_place_of_the_old_and_curves_pause_for_runs(views, open_page, monkeypatch):
    monkeypatch.setattr(response_curves, "QUIET", 60.0)  # however long an answer takes
    page, opened, _ = open_page("excavator")
    fields = {"name": "bucket.mass", "low": 300.0, "high": 900.0, "of": opened["live"]["responseOf"], "points": 257}
    page.ask("response", **fields)
    page.ask("set", values={"bucket.mass": 500.0})
    seen = len(page.pushed)
    page.ask("set", values={"bucket.mass": 501.0})
    for _ in range(8):
        page.ask("set")
    assert len([x for x, _ in page.pushed[seen:] if x["kind"] == "response"]) <= 1  # the run that was under way
    page.ask("response", **{**fields, "points": 3})
    monkeypatch.setattr(response_curves, "QUIET", 0.1)
    page.ask("set")
    header, _ = page.wait_for("response", lambda x: x["complete"])
    assert len(header["values"]) == 3
    page.ask("response", **fields)
    page.ask("response_stop", name="bucket.mass")
    page.pushed.clear()
    page.ask("checks", what="audit")
    assert len([x for x, _ in page.pushed if x["kind"] == "response"]) <= 1


def test_checks_are_the_audit_of_the_run(open_page):
    page, _, _ = open_page("rlc")
    header, _ = page.ask("checks", what="audit")
    assert header["name"] == "audit" and header["ok"] is True and header["tables"]


# -- the newest wins, and what the page is told ----------------------------------------------------
def test_a_drag_answers_each_request_once_and_ends_with_the_newest(open_page):
    page, _, _ = open_page("motor_axis")
    sent = [page.send("set", values={"arm.mass": 3.0 + 0.01 * k}) for k in range(40)]
    answers = [page.answer(seq)[0] for seq in sent]
    kinds = [answer["kind"] for answer in answers]
    assert set(kinds) <= {"set", "overtaken"} and kinds[0] == kinds[-1] == "set"
    assert answers[-1]["values"] == {"arm.mass": pytest.approx(3.39)}


def test_a_run_that_fails_is_shown_as_far_as_it_came():
    system = kn.System("pole", gravity=(0, -9.81, 0))
    system.parameter("edge", 5.0)
    bar = system.body("bar", mass=2.0, com=(0, -0.5, 0))
    system.revolute("pin", system.world, bar, axis="z", effort="1/(edge - t)^3")
    with LiveView(system, 2.0, player="") as view, LivePage(view.server) as page:
        assert page.ask("open")[0]["run"]["status"] == "done"
        header, arrays = page.ask("set", values={"edge": 1.0})
        assert header["run"]["status"] == "failed" and header["run"]["message"]
        assert 0.9 < arrays["t"][-1] <= 1.0 and header["events"][-1]["kind"] == "end"
        assert page.ask("set", values={"edge": 5.0})[0]["run"]["status"] == "done"


def test_what_was_chosen_stays_where_the_file_is_as_it_was():
    def model(until, mass, stiffness):
        system = kn.System("swing")
        system.run_defaults = {"until": until}
        for name, value in (("mass", mass), ("stiffness", stiffness)):
            system.parameter(name, value)
        bar = system.body("bar", mass="mass", inertia=(1, 1, 1))
        system.revolute("pin", system.world, bar, stiffness="stiffness")
        return ChangingRun(system)

    before, after = model(1.0, 2.0, 30.0), model(4.0, 2.0, 50.0)
    chosen = {"mass": 3.0, "stiffness": 40.0}, {"pin.q": 0.5, "pin.u": 1.0}
    kept = carry_over(after, before, before.choice(*chosen, 0.5))
    assert (kept.until, kept.values, kept.start) == (0.5, {"mass": 3.0}, {"pin.q": 0.5, "pin.u": 1.0})
    assert carry_over(after, before, before.choice(*chosen)).until == 4.0
