"""Efforts and loads of a given motion: against forward simulation, closed forms and each other."""

from pathlib import Path

import numpy as np
import pytest

import kinode as kn
from kinode.jit import llvm_code

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def arm():
    system = kn.System("arm", gravity=(0, -9.81, 0))
    upper = system.body("upper", mass=2.0, com=(0.25, 0, 0), inertia=(0.01, 0.05, 0.05))
    lower = system.body("lower", mass=1.0, com=(0.2, 0, 0), inertia=(0.01, 0.02, 0.02))
    lower.at(0.4, 0, 0, name="tip")
    system.revolute("shoulder", system.world, upper, q=0.3, damping=0.2, effort="3*sin(t)")
    system.revolute("elbow", upper.at(0.5, 0, 0), lower, q=0.8, effort="2*cos(3*t)", stiffness=1.5)
    return system


def crank():
    """A slider-crank of rod ratio 10:3 with friction of the drive's own."""
    system = kn.load(EXAMPLES / "slider_crank.yaml")
    system.change("main", speed=None, q=0.2, u=30.0, effort="8*sin(100*t)")
    return system


def six_axes():
    system = kn.System("robot")
    below = system.world
    for k, (axis, length) in enumerate(zip("zyyxyx", (0.3, 0.5, 0.4, 0.2, 0.15, 0.1), strict=True)):
        way = (0, 0, length) if k < 2 else (length, 0, 0)
        link = system.body(f"l{k}", mass=3 - 0.4 * k, com=[x / 2 for x in way], inertia=(0.02, 0.03, 0.025))
        system.revolute(f"j{k}", below, link, axis=axis)
        below = link.at(*way, name="end")
    return system


@pytest.mark.parametrize("samples", [41, None])
def test_a_run_is_made_by_its_own_efforts(samples):
    """Whatever the samples, since their speeds and accelerations are known: to rounding."""
    run = kn.simulate(arm(), 2.0, samples=samples)
    found = kn.inverse(arm(), None, run)
    assert found.facts["mode"] == "kinematic"
    assert found.dynamics.n_u == 0
    quantities = ("q", "u", "u_dot", "effort", "effort.drive", "effort.damping", "reaction.force")
    names = [f"{name}.{quantity}" for name in ("shoulder", "elbow") for quantity in quantities] + ["system.energy"]
    theirs, ours = run.evaluate(names), found.evaluate(names)
    for name in names:
        np.testing.assert_allclose(ours[name], theirs[name], rtol=1e-12, atol=1e-12)


def test_the_inputs_of_a_run_are_taken_over():
    system = kn.System("pushed", gravity=(0, 0, 0))
    cart = system.body("cart", mass=2.0)
    system.prismatic("rail", system.world, cart, axis="x")
    system.force("wind", cart, (system.input("w", 0.0), 0, 0))
    run = kn.simulate(system, 1.0, inputs={"w": 3.0})
    assert abs(kn.inverse(system, None, run)["rail.effort.drive"]).max() < 1e-12
    assert np.allclose(kn.inverse(system, None, run, inputs={"w": 1.0})["rail.effort.drive"], 2.0, atol=1e-12)


def test_laws_have_their_rates_and_dynamics_agrees():
    """The compiled inverse dynamics of the same motion, in closed form."""
    t = np.linspace(0.5, 2.0, 7)
    found = kn.inverse(arm(), t, {"shoulder": "0.4*sin(2*t)", "elbow": "0.5 + 0.3*t^2"})
    q, u, a = (
        np.column_stack(parts)
        for parts in (
            (0.4 * np.sin(2 * t), 0.5 + 0.3 * t**2),
            (0.8 * np.cos(2 * t), 0.6 * t),
            (-1.6 * np.sin(2 * t), 0.6 + 0 * t),
        )
    )
    bare = arm()
    bare.change("shoulder", effort=None)
    bare.change("elbow", effort=None)
    expected = kn.compile(bare).effort(t, q, u, a)
    assert found.t.tolist() == t.tolist()
    for k, name in enumerate(("shoulder", "elbow")):
        np.testing.assert_allclose(found[f"{name}.effort.drive"], expected[:, k], rtol=1e-12)
    rates = {name: {"q": q[:, k], "u": u[:, k], "u_dot": a[:, k]} for k, name in enumerate(("shoulder", "elbow"))}
    again = kn.inverse(arm(), t, rates)
    np.testing.assert_allclose(again["elbow.effort.drive"], expected[:, 1], rtol=1e-12)


def test_samples_are_splined():
    """Half the spacing, a sixteenth of the error of accelerations."""
    errors = []
    for count in (81, 161):
        t = np.linspace(0, 4, count)
        path = {"shoulder": 0.4 * np.sin(2 * t), "elbow": (0.5 + 0.3 * np.cos(t)).reshape(-1, 1)}
        found = kn.inverse(arm(), t, path)
        inner = (t > 1) & (t < 3)
        errors.append(np.abs(found["shoulder.u_dot"] + 1.6 * np.sin(2 * t))[inner].max())
    assert errors[1] < 1e-6
    assert 12 < errors[0] / errors[1] < 20


def test_speeds_may_be_given():
    t = np.linspace(0, 1, 11)
    found = kn.inverse(arm(), t, {"shoulder.u": "cos(t)", "elbow.q": 0.8})
    np.testing.assert_allclose(found["shoulder.q"], 0.3 + np.sin(t), atol=1e-9)
    np.testing.assert_allclose(found["shoulder.u_dot"], -np.sin(t), atol=1e-12)
    system = kn.System("ball", gravity=(0, 0, 0))
    system.spherical("joint", system.world, system.body("b", mass=1, inertia=(1, 2, 3)), q=(1, 0, 0, 0))
    turned = kn.inverse(system, t, {"joint.u": ("1", "2", "0.5")})
    # Euler's equations: M = w x J w at constant angular velocity
    w, J = np.array([1, 2, 0.5]), np.diag([1.0, 2.0, 3.0])
    np.testing.assert_allclose(turned["joint.effort"], np.tile(np.cross(w, J @ w), (11, 1)), atol=1e-12)


@pytest.mark.filterwarnings("error::kinode.errors.RunWarning")  # what guides a point is no support that could let go
def test_the_path_of_a_point():
    """Two links by the law of cosines; the elbow stays on the side where the model has it."""
    t = np.linspace(0, 2, 9)
    x, y = 0.6 + 0.1 * np.cos(3 * t), 0.2 + 0.1 * np.sin(3 * t)
    path = {"lower.tip": ("0.6 + 0.1*cos(3*t)", "0.2 + 0.1*sin(3*t)", None)}
    found = kn.inverse(arm(), t, path, by=["shoulder", "elbow"])
    elbow = np.arccos((x**2 + y**2 - 0.5**2 - 0.4**2) / (2 * 0.5 * 0.4))
    shoulder = np.arctan2(y, x) - np.arctan2(0.4 * np.sin(elbow), 0.5 + 0.4 * np.cos(elbow))
    keys = ("q", "u", "u_dot", "effort")
    found = found.evaluate([*(f"{n}.{k}" for n in ("shoulder", "elbow") for k in keys), "lower.tip.acceleration.x"])
    np.testing.assert_allclose(found["elbow.q"], elbow, atol=1e-10)
    np.testing.assert_allclose(found["shoulder.q"], shoulder, atol=1e-10)
    np.testing.assert_allclose(found["lower.tip.acceleration.x"], -0.9 * np.cos(3 * t), atol=1e-9)
    direct = kn.inverse(
        arm(), t, {n: {k: found[f"{n}.{k}"] for k in ("q", "u", "u_dot")} for n in ("shoulder", "elbow")}
    )
    np.testing.assert_allclose(found["shoulder.effort"], direct["shoulder.effort"], rtol=1e-9)


def test_the_path_of_a_hand_in_space():
    """Position and orientation of the sixth link, found from a motion of the joints, lead back to it."""
    laws = {f"j{k}": f"{a} + 0.2*sin({1 + 0.3 * k}*t)" for k, a in enumerate((0.2, 0.4, 0.7, 0.3, -0.8, 0.1))}
    t = np.linspace(0, 0.5, 51)
    names = [f"{name}.{key}" for name in laws for key in ("q", "effort")]
    run = kn.inverse(six_axes(), t, laws)
    wanted = run.evaluate([*names, "l5.end.position", "l5.end.rpy"])
    system = six_axes()
    for name in laws:
        system.change(name, guess=float(wanted[f"{name}.q"][0]))
    path = {system["l5"]["end"]: {"position": wanted["l5.end.position"], "rpy": wanted["l5.end.rpy"]}}
    found = kn.inverse(system, t, path, by=list(laws)).evaluate(names)
    for name in names:
        atol = 1e-9 if name.endswith("q") else 1e-4  # positions are met, accelerations as splines have them
        np.testing.assert_allclose(found[name][5:-5], wanted[name][5:-5], atol=atol)


def test_loops_follow_and_are_led():
    """A crank in its own run; and the crank's moment when the piston's travel is given."""
    run = kn.simulate(crank(), 0.1, samples=51, rtol=1e-10)
    found = kn.inverse(crank(), None, run, by="main")
    np.testing.assert_allclose(found["main.effort"], run["main.effort"], atol=1e-7)
    np.testing.assert_allclose(
        found["wristpin.reaction.force"],
        run["wristpin.reaction.force"],
        atol=1e-6 * np.abs(run["wristpin.reaction.force"]).max(),
    )
    rows = (run["main.q"] > 0.3) & (run["main.q"] < 2.8)  # between the dead centers
    stroke = {"bore": {key: run[f"bore.{key}"][rows] for key in ("q", "u", "u_dot")}}
    system = crank()
    system.change("main", q=None, u=None, guess=float(run["main.q"][rows][0]))
    led = kn.inverse(system, run.t[rows], stroke, by=["main"])
    np.testing.assert_allclose(led["main.q"], run["main.q"][rows], atol=1e-8)
    np.testing.assert_allclose(led["main.effort"], run["main.effort"][rows], atol=1e-6)


def test_what_is_not_given_moves_by_forces():
    system = kn.load(EXAMPLES / "cart_pole.yaml")
    t = np.linspace(0, 1, 21)
    found = kn.inverse(system, t, {"rail": "0.1*sin(5*t)"}, start={"hinge.q": 0.4})
    assert found.facts["mode"] == "dynamic"
    driven = system.copy()
    driven.change("rail", motion="0.1*sin(5*t)", effort=None, q=None, u=None)
    again = kn.simulate(driven, 1.0, times=t, start={"hinge.q": 0.4})
    np.testing.assert_allclose(found["hinge.q"], again["hinge.q"], atol=1e-12)
    assert np.ptp(found["hinge.q"]) > 0.1


def test_the_model_stays_as_it_was(tmp_path):
    system = arm()
    found = kn.inverse(system, [0, 0.5, 1], {"shoulder": [0, 0.1, 0.3], "elbow": "0.2*t"})
    assert system == arm()
    found.save(tmp_path / "run.nc")
    np.testing.assert_allclose(kn.Trajectory.load(tmp_path / "run.nc")["elbow.effort"], found["elbow.effort"])
    one = kn.inverse(system, 0.7, {"shoulder": 0.1, "elbow": "0.2*t"})
    assert one["elbow.q"].tolist() == pytest.approx([0.14])


TIP = {"lower.tip": ("0.6", "0.2", None)}
BAD = [
    (([0, 1], {}), {}, "path: joints or frames"),
    (([0, 1], {"wrist": "t"}), {}, "no joint, body or frame is called 'wrist'"),
    (([0, 1], {"elbow": [1, 2, 3]}), {}, r"path of elbow: a law, or 2 samples.*shape \(3,\)"),
    (([0, 1], {"elbow": [1, np.nan]}), {}, "path of elbow: every sample must be finite"),
    (([0, 1], {"elbow": {"q": [0, 1]}}), {}, "samples of q, u and u_dot are expected, not q"),
    (([1, 0], {"elbow": "t"}), {}, "times: finite numbers, each larger"),
    ((["a"], {"elbow": "t"}), {}, "times: numbers in a row"),
    (([0, 1], TIP), {}, "by: which joints are to move lower.tip?"),
    (([0, 1], TIP), {"by": "wrist"}, "by: no joint is called 'wrist'"),
    (([0, 1], TIP), {"by": "elbow"}, "by: the mechanism has 2 freedoms, and elbow 1: name more joints"),
    (([0, 1], {"lower.tip": ("0.6", None, None)}), {"by": ["elbow", "shoulder"]}, "many ways: 1 freedom is left"),
    (([0, 1], {"lower.tip": (None, None, None)}), {"by": ["elbow"]}, "every direction is left open"),
    (([0, 1], {"lower.tip": ("2", "0", None)}), {"by": ["elbow", "shoulder"]}, "path: lower.tip cannot follow it"),
    (([0, 1], {"lower.tip": {"place": (0, 0, 0)}}), {"by": ["elbow"]}, "position, and rpy if it matters"),
    (([0, 1], {"world": ("t", "0", "0")}), {"by": ["elbow"]}, "world is not on a body"),
    (([0.5], TIP), {"by": ["elbow", "shoulder"]}, "times: two or more are needed"),
]  # fmt: skip


@pytest.mark.parametrize(("given", "more", "message"), BAD)
def test_bad_paths(given, more, message):
    with pytest.raises(kn.ArgumentError, match=message):
        kn.inverse(arm(), *given, **more)


def test_stops_and_play_bound_the_path_and_do_no_more():
    free, ended = arm(), arm()
    ended.change("elbow", stop={"upper": 0.5, "stiffness": 1e4})
    path = {"shoulder": "0.1*t", "elbow": "0.4*sin(t)"}
    one, two = (kn.inverse(system, [0, 0.5, 1, 2], path) for system in (free, ended))
    np.testing.assert_allclose(two["elbow.effort.drive"], one["elbow.effort.drive"], rtol=1e-12)
    with pytest.raises(kn.ArgumentError, match=r"at t = 1 s elbow leaves its range, which its stop ends at 0.5"):
        kn.inverse(ended, [0, 1], {"shoulder": "0.1*t", "elbow": "0.7*t"})
    ended.change("elbow", stop=None, backlash={"play": 0.2, "stiffness": 1e3})
    with pytest.raises(kn.ArgumentError, match=r"elbow leaves its play, which ends at -0.1"):
        kn.inverse(ended, [0, 1], {"shoulder": "0.1*t", "elbow": "-0.2*t"})


def test_unreachable_on_the_way():
    path = {"lower.tip": ("0.6 + t", "0.2", None)}
    with pytest.raises(kn.ArgumentError, match=r"path: .* cannot follow it"):
        kn.inverse(arm(), [0, 1], path, by=["shoulder", "elbow"])
    run = kn.simulate(crank(), 0.01)
    with pytest.raises(kn.ArgumentError, match="by: in loops a few joints"):
        kn.inverse(crank(), None, run)
    with pytest.raises(kn.ArgumentError, match="times: a run has its own"):
        kn.inverse(arm(), [0, 1], run)


# -- drive shafts, and the side of an elbow ---------------------------------------------------------------
def two_links(drives: bool = False) -> kn.System:
    system = kn.System("arm", gravity=(0, -9.81, 0))
    upper = system.body("upper", mass=2.0, com=(0.25, 0, 0), inertia=(0.01, 0.05, 0.05))
    lower = system.body("lower", mass=1.0, com=(0.2, 0, 0), inertia=(0.01, 0.02, 0.02))
    system.revolute("shoulder", system.world, upper, q=0.5)
    system.revolute("elbow", upper.at(0.5, 0, 0), lower, q=0.8)
    lower.at(0.4, 0, 0, name="tip")
    if drives:
        system.drive("one", joint="shoulder", ratio=50, inertia=1e-4, mass=0.2)
        system.drive("two", joint="elbow", ratio=-40, inertia=2e-4, mass=0.2, offset=0.3)
    return system


SHAFTS = ("one.shaft", "two.shaft")


def test_shafts_of_drives_make_the_motion():
    """The power is the same wherever it comes in, and so are all reactions beyond the drives."""
    t, path = np.linspace(0, 1, 11), {"shoulder": "0.5 + 0.3*t^2", "elbow": "0.8 - t^2"}
    at_joints = kn.inverse(two_links(drives=True), t, path)
    at_shafts = kn.inverse(two_links(drives=True), t, path, by=SHAFTS)
    for shaft, joint, ratio in zip(SHAFTS, ("shoulder", "elbow"), (50, -40), strict=True):
        given = at_shafts[f"{shaft}.effort.drive"]
        np.testing.assert_allclose(given * ratio, at_joints[f"{joint}.effort.drive"], rtol=1e-8)
        np.testing.assert_allclose(at_shafts[f"{joint}.q"], at_joints[f"{joint}.q"], atol=1e-12)


def test_shafts_of_drives_move_a_frame_and_the_found_moments_do_it():
    t, path = np.linspace(0, 1, 101), {"lower.tip": ["0.5 + 0.1*t^2", "0.6", None]}
    run = kn.inverse(two_links(drives=True), t, path, by=SHAFTS)
    np.testing.assert_allclose(run.position("lower.tip")[:, 0], 0.5 + 0.1 * t**2, atol=1e-9)
    driven, moments = two_links(drives=True), {}
    for shaft in SHAFTS:
        table = shaft.replace(".", "_")
        driven.table(table, axes=t, values=run[f"{shaft}.effort.drive"], method="cubic", outside="hold")
        moments[shaft] = f"{table}(t)"
    for shaft, law in moments.items():
        driven.change(shaft, effort=law)
    start = {"shoulder.q": run["shoulder.q"][0], "elbow.q": run["elbow.q"][0]}
    back = kn.simulate(driven, 1.0, start={**start, "shoulder.u": 0.0, "elbow.u": 0.0}, times=t)
    np.testing.assert_allclose(back["elbow.q"], run["elbow.q"], atol=2e-5)


def test_a_driven_joint_leads_its_gears():
    """A train of three joints: whichever is driven, the others follow."""
    for driver in ("a", "b", "c"):
        system = kn.System("train")
        for name in "abc":
            system.revolute(name, system.world, system.body(f"wheel_{name}", mass=1, inertia=(1, 1, 1)))
        system.constraint("first", "gear", input="a", output="b", ratio=2, offset=0.5)
        system.constraint("second", "gear", input="b", output="c", ratio=-3)
        system.change(driver, motion="t^2")
        run = kn.simulate(system, 1.0, samples=3)
        np.testing.assert_allclose(run["a.q"], 2 * run["b.q"] + 0.5, atol=1e-12)
        np.testing.assert_allclose(run["b.q"], -3 * run["c.q"], atol=1e-12)
        np.testing.assert_allclose(run[f"{driver}.q"], run.t**2, atol=1e-12)
        growth = sum(run[f"{name}.u"] * run[f"{name}.u_dot"] for name in "abc")  # of the kinetic energy
        np.testing.assert_allclose(run[f"{driver}.effort.drive"] * run[f"{driver}.u"], growth, rtol=1e-9)
    system.change("a", motion="t")
    with pytest.raises(kn.ModelError, match="has a prescribed motion already, and"):
        kn.simulate(system, 1.0)


@pytest.mark.parametrize("side", [1, -1])
def test_the_start_chooses_the_side_of_the_elbow(side):
    t, path = np.linspace(0, 1, 11), {"lower.tip": ["0.5 + 0.1*t", "0.6", None]}
    run = kn.inverse(two_links(), t, path, by=["shoulder", "elbow"], start={"elbow.q": 0.8 * side})
    assert np.all(np.sign(run["elbow.q"]) == side)
    np.testing.assert_allclose(run.position("lower.tip")[:, 0], 0.5 + 0.1 * t, atol=1e-9)
    again = kn.inverse(two_links(), t, path, by=["shoulder", "elbow"], start=run)
    np.testing.assert_allclose(again["elbow.q"], run["elbow.q"], atol=1e-8)


def test_speeds_at_the_start_follow_from_the_path():
    path = {"lower.tip": ["0.5 + 0.1*t", "0.6", None]}
    with pytest.raises(kn.ArgumentError, match=r"elbow\.u follows from the path"):
        kn.inverse(two_links(), [0.0, 1.0], path, by=["shoulder", "elbow"], start={"elbow.u": 0.1})


def test_another_path_needs_no_compilation(monkeypatch):
    """Kernels do not depend on the numbers of a path: those of the first one serve a second, to the last digit."""
    compiled = []
    compile_text = llvm_code.compile_text

    def count(*args, **options):
        compiled.append(args)
        return compile_text(*args, **options)

    t, by = np.linspace(0, 1, 21), ["shoulder", "elbow"]
    names = ("shoulder.effort.drive", "elbow.reaction.force")

    def follow(x, y):
        run = kn.inverse(two_links(), t, {"lower.tip": [x, y, None]}, by=by)
        return run, {name: run[name] for name in names}

    first, loads = follow("0.5 + 0.1*t^3", "0.6")
    monkeypatch.setattr(llvm_code, "compile_text", count)
    second, other_loads = follow("0.6 - 0.2*sin(t)", 0.5 + 0.1 * t**2)
    assert not compiled
    for run, x in ((first, 0.5 + 0.1 * t**3), (second, 0.6 - 0.2 * np.sin(t))):
        np.testing.assert_allclose(run["lower.tip.position.x"], x, atol=1e-9)
    monkeypatch.setenv("KINODE_CACHE", "0")
    _, fresh = follow("0.6 - 0.2*sin(t)", 0.5 + 0.1 * t**2)
    assert compiled
    for name in names:
        np.testing.assert_array_equal(fresh[name], other_loads[name])
        assert abs(loads[name] - other_loads[name]).max() > 0.1
