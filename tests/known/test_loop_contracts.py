"""What must hold of every loop: the choice of the cut does not matter, constraint forces do no work, nothing drifts."""

import numpy as np
import pytest

import kinode as kn
from kinode.model.system import joint_frame

TIGHT = {"method": "dop853", "rtol": 1e-11, "atol": 1e-12}
KINDS = {
    "revolute": {},
    "prismatic": {"axis": "x"},
    "screw": {"lead": 0.1, "axis": "x"},
    "cylindrical": {"axis": "x"},
    "universal": {"axes": ("x", "y")},
    "spherical": {},
    "planar": {"axis": "y"},
}


def loop(kind, tested, reverse=False):
    """world - ball - a - kind - b - universal - c - revolute - world; b hangs on the body that comes first.

    All coordinates zero close the loop, in general position.
    """
    system = kn.System("loop", gravity=(0, 0, -9.81))
    bodies = {"a": (1.0, 0.1), "b": (0.8, 0.15), "c": (1.5, 0.2)}
    a, b, c = (
        system.body(name, mass=m, com=(x, 0.02, 0.03), inertia=(0.02, 0.03, 0.04)) for name, (m, x) in bodies.items()
    )
    # With more than one freedom the given speed leaves the others open: start from rest.
    speed = 0.7 if kind in ("revolute", "prismatic", "screw") else 0.0
    turn = (0.2, 0.3, 0.1)
    pair = [a.at(0.3, 0.1, 0.05, rpy=turn), b.at(0, 0, 0, rpy=turn)]
    grounds = [
        lambda: system.spherical("ball", system.world, a),
        lambda: system.revolute("ground", system.world.at(0.9, 0, 0), c, axis="y", q=0.0, u=speed),
    ]
    for add in grounds if tested == "tree" else grounds[::-1]:
        add()
    given = dict(KINDS[kind])
    if reverse and "axes" in given:
        given["axes"] = given["axes"][::-1]
    system.joint("tested", kind, *(pair[::-1] if reverse else pair), **given)
    system.universal("other", b.at(0.4, -0.1, 0.1), c.at(-0.2, 0, 0.15), axes=("z", "y"))
    return system


def cuts(system):
    return [cut.joint.name for cut in kn.compile(system).topology.cuts]


@pytest.mark.parametrize("kind", ["screw", "universal"])
def test_joint_as_joint_and_as_cut(kind):
    """The same run by two spanning trees, and with sides exchanged; all kinds are in reactions/test_every_joint."""
    tree, cut, turned = loop(kind, "tree"), loop(kind, "cut"), loop(kind, "cut", reverse=True)
    assert cuts(tree) != cuts(cut)
    assert "tested" in cuts(cut)
    runs = [kn.simulate(system, 0.5, samples=26, **TIGHT) for system in (tree, cut, turned)]
    for run in runs[1:]:
        for body in "abc":
            assert np.abs(run[f"{body}.com.position"] - runs[0][f"{body}.com.position"]).max() < 1e-8
            assert np.abs(run[f"{body}.rotation"] - runs[0][f"{body}.rotation"]).max() < 1e-8
        for joint in ("ball", "tested", "other", "ground"):
            on = {"ball": "a", "tested": "b", "other": "c", "ground": "c"}[joint]
            wrenches = [r.reaction(joint, on=on, expressed_in="world", about=f"{on}.com") for r in (runs[0], run)]
            for part in ("force", "moment"):
                first, second = (getattr(w, part) for w in wrenches)
                assert np.abs(first - second).max() < 1e-6 * (1 + np.abs(first).max())


def four_bar(**crank):
    """A planar four-bar in space."""
    system = kn.System("four_bar", gravity=(0, -9.81, 0))
    a = system.body("a", mass=1, com=(0.1, 0, 0), inertia=(0.01, 0.02, 0.02))
    b = system.body("b", mass=2, com=(0.3, 0, 0), inertia=(0.01, 0.05, 0.05))
    c = system.body("c", mass=1.5, com=(0.2, 0, 0), inertia=(0.01, 0.03, 0.03))
    system.revolute("j1", system.world, a, **(crank or {"q": 0.9}))
    system.revolute("j2", a.at(0.2, 0, 0), b, guess=-0.5)
    system.revolute("j4", system.world.at(0.5, 0, 0), c, guess=1.2)
    system.revolute("j3", b.at(0.6, 0, 0), c.at(0.4, 0, 0))
    return system


@pytest.mark.parametrize("system", [four_bar(), loop("universal", "tree"), loop("spherical", "cut")], ids=str)
def test_constraint_forces_do_no_work(system):
    """F . (v_child - v_parent) + M . (w_child - w_parent) = 0, both at the child's joint point."""
    run = kn.simulate(system, 1.0, samples=51, **TIGHT)
    for name, joint in system.joints.items():
        child = joint_frame(joint, "child").body
        r = run.reaction(name, on=child, expressed_in="world")
        speeds, turns = (
            [find(f"{name}.{side}") for side in ("child", "parent")] for find in (run.velocity, run.angular_velocity)
        )
        power = np.sum(r.force * (speeds[0] - speeds[1]) + r.moment * (turns[0] - turns[1]), axis=1)
        size = 1 + np.abs(r.force).max() * np.abs(speeds[0]).max()
        assert np.abs(power).max() < 1e-11 * size


def test_nothing_drifts_in_a_long_run():
    """100 s, about 80 swings: the residual of every step stays below 1e-12 of the length, whatever the tolerance."""
    run = kn.simulate(four_bar(), 100.0, rtol=1e-6, atol=1e-8)
    assert len(run.t) > 1000
    assert np.abs(run["j3.parent.position"] - run["j3.child.position"]).max() < 1e-12 * 0.6
    assert np.abs(run.velocity("j3.parent") - run.velocity("j3.child")).max() < 1e-11


def test_energy_drifts_with_the_tolerance():
    """Four decades of the tolerance: between three and five of the drift."""
    drifts = [kn.simulate(four_bar(), 20.0, rtol=rtol, atol=rtol / 100).audit.relative for rtol in (1e-6, 1e-8, 1e-10)]
    decades = np.log10(np.array(drifts[:-1]) / drifts[1:])
    assert np.all((decades > 1.2) & (decades < 3.0))


# -- assembly ---------------------------------------------------------------------------------------------------------


def test_loop_that_cannot_close_names_its_joints():
    far = kn.System("far", gravity=(0, 0, 0))
    a, b = (far.body(name, mass=1, inertia=(1, 1, 1)) for name in "ab")
    far.revolute("left", far.world, a)
    far.revolute("right", far.world.at(3, 0, 0), b)
    far.revolute("middle", a.at(1, 0, 0), b.at(-1, 0, 0))
    with pytest.raises(kn.AssemblyError, match=r"middle is off by") as error:
        kn.compile(far).state()
    assert error.value.residuals["middle"].length == pytest.approx(1.0, abs=1e-6)  # 3 m, and two bars of 1 m


def test_conflicting_angles():
    system = four_bar()
    system.change("j2", q=0.5, guess=None)
    with pytest.raises(kn.AssemblyError, match=r"q=") as error:
        kn.simulate(system, 0.1)
    assert error.value.residuals["j3"].length > 1e-3


@pytest.mark.parametrize(("guess", "sign"), [((-0.5, 1.2), 1), ((-1.8, -2.0), -1)])
def test_branch_nearest_to_the_guess(guess, sign):
    """The coupler's pin lies on one side of the line from crank pin to rocker, or on the other."""
    system = four_bar()
    system.change("j2", guess=guess[0])
    system.change("j4", guess=guess[1])
    run = kn.simulate(system, 0.01)
    A, C = (run[f"{name}.child.position"][0] for name in ("j2", "j3"))
    assert np.sign(np.cross(np.array([0.5, 0, 0]) - A, C - A)[2]) == sign


def test_conflicting_speeds():
    system = four_bar(q=0.9, u=1.0)
    system.change("j4", u=-3.0)
    with pytest.raises(kn.AssemblyError, match=r"speeds .* u="):
        kn.simulate(system, 0.1)


def test_speed_given_is_kept_and_the_rest_follows():
    run = kn.simulate(four_bar(q=0.9, u=1.0), 0.01)
    assert run["j1.u"][0] == 1.0
    assert np.abs(run.velocity("j3.parent")[0] - run.velocity("j3.child")[0]).max() < 1e-13
