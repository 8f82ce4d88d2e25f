"""Mechanisms with loops against published figures, closed forms and equations derived by hand."""

from functools import cache

import numpy as np
import pytest
from dense_bodies import NewtonEuler, static_reactions
from mechanisms import ANDREWS_ANGLES, ANDREWS_FORCES, G, andrews, bricard, four_bars, four_bars_angle
from scipy.integrate import solve_ivp
from scipy.special import ellipj, ellipk

import kinode as kn
from kinode.structure import loop_closure

TIGHT = {"method": "dop853", "rtol": 1e-11, "atol": 1e-12}


def solve_one_freedom(inertia, potential, start, times):
    """Angle and rate of 1/2 m(th) th'^2 + V(th) = const by DOP853, derivatives by complex steps."""

    def rate(_, y):
        th, w = y
        step = th + 1e-30j
        slope, force = (function(step).imag / 1e-30 for function in (inertia, potential))
        return w, -(0.5 * slope * w * w + force) / inertia(th + 0j).real

    found = solve_ivp(rate, (0, times[-1]), start, "DOP853", times, rtol=1e-12, atol=1e-13)
    assert found.success
    return found.y


# -- Andrews' squeezer ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [TIGHT, {"rtol": 1e-11, "atol": 1e-12}])
def test_andrews_squeezer(options):
    """The multipliers of the test set are the forces in the common pin; their signs are a convention of its rows."""
    run = kn.simulate(andrews(), 0.03, **options)
    for name, angle in ANDREWS_ANGLES.items():
        assert run[f"{name}.q"][-1] == pytest.approx(angle, abs=1e-8, rel=0)
    for name, force in ANDREWS_FORCES.items():
        found = run.reaction(name, on="K2", expressed_in="world").force[-1]
        assert np.abs(found[:2]) == pytest.approx(force, abs=1e-8, rel=0)


def test_joints_of_the_squeezer_without_load_are_without_static_reaction():
    """Two of its three legs hold nothing beside a spring of 100 N: with bodies in absolute coordinates they do too."""
    dynamics = kn.compile(andrews())
    found = static_reactions(NewtonEuler(dynamics.snapshot(dynamics.initial)), hold=(("beta", 0),))
    forces = {name: np.abs(found[name][1][:2]).max() for name in ("p3", "p4", "p6", "phi", "omega")}
    assert forces.pop("p3") > 90
    assert max(forces.values()) < 1e-20


# -- IFToMM A02: N four-bars ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n", "until", "top", "tolerance"),
    [
        (2, 10.0, (0.3284581115, 0.9445185382), 1e-6),
        pytest.param(40, 20.0, (0.4109011537, 0.9116799010), 1e-6, marks=pytest.mark.slow),
    ],
)
def test_iftomm_a02(n, until, top, tolerance):
    """Library of computational benchmark problems, problem A02: tip of the first rod; N + 1 freedoms at times."""
    run = kn.simulate(four_bars(n), until, times=[0.0, until], rtol=5e-10, atol=5e-12)
    angle = run["ground0.q"][-1]
    assert (-np.sin(angle), np.cos(angle)) == pytest.approx(top, abs=tolerance)


SWEEP = [(n, mass, speed) for n in (1, 2, 3) for mass in (0.1, 1.0, 7.0) for speed in (0.3, 1.0, 2.5)]
TOLERANCES = (1e-5, 3e-6, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10)


def sweep(n, mass, speed, tolerances):
    """Which tolerances fail, and how; 5 s go through the singular positions two to eight times."""
    dynamics, exact, failed = kn.compile(four_bars(n, mass, speed)), four_bars_angle(n, speed, 5.0), {}
    for rtol in tolerances:
        try:
            angle = -kn.simulate(dynamics, 5.0, times=[0.0, 5.0], rtol=rtol, atol=rtol / 100)["ground0.q"][-1]
        except kn.SimulationError as error:
            failed[rtol] = str(error)
        else:
            if not abs(angle - exact) < 1e4 * rtol:  # the top is unstable: errors grow by exp(sqrt(k) t) near it
                failed[rtol] = f"off by {angle - exact:.2g}"
    return failed


@pytest.mark.parametrize(("n", "mass", "speed"), SWEEP)
def test_through_singular_positions(n, mass, speed):
    """27 mechanisms by 7 tolerances: a single run may pass by luck."""
    assert sweep(n, mass, speed, TOLERANCES) == {}


def test_dop853_never_leaves_the_branch():
    """Its long steps may go to another branch unless the end of a step has to be near the constraints."""
    for n, mass, speed, rtol in (
        (2, 0.2913661715067935, 1.155983967135889, 2.8015180299224717e-06),
        (3, 0.05803346095631381, 2.5922404107743517, 9.426135731396445e-05),
        (3, 1.3319478197405947, 1.3070784660570454, 4.303970656390478e-06),
    ):
        exact = four_bars_angle(n, speed, 5.0)
        options = {"method": "dop853", "rtol": rtol, "atol": rtol / 100}
        run = kn.simulate(four_bars(n, mass, speed), 5.0, times=[0.0, 5.0], **options)
        assert abs(-run["ground0.q"][-1] - exact) < 0.1


PASSING = (
    {"rtol": 1e-10, "atol": 1e-12},
    {"rtol": 3e-6, "atol": 1e-7},  # steps of half a radian, none of which need come near
    {"method": "dop853", "rtol": 1e-10, "atol": 1e-12},
    {"method": "dop853", "rtol": 1e-6, "atol": 1e-8},
    {"method": "rk4", "step": 3e-3},
)


@pytest.mark.parametrize("options", PASSING)
def test_passes_of_singular_positions_are_told(options):
    """Each once, when the rods lie flat: cos th = 0 of the exact solution."""
    until, speed, k = 5.0, 1.0, G * 2 / (5 / 3)  # N = 1
    flat = lambda t, y: np.cos(y[0])  # noqa: E731
    rate = lambda t, y: (y[1], k * np.sin(y[0]))  # noqa: E731
    exact = solve_ivp(rate, (0, until), (0, speed), "DOP853", rtol=1e-12, atol=1e-12, events=flat).t_events[0]
    run = kn.simulate(four_bars(1, 1.0, speed), until, **options)
    assert [event.time for event in run.events] == pytest.approx(exact, abs=1e-3)
    assert {(event.kind, event.components) for event in run.events} == {("singular", ("right0",))}
    assert "right0" in str(run.events[0])


def test_fixed_steps_end_where_they_may_leave_the_branch():
    """Long ones through singular positions: right, or told; the exact angle is that of the first rod."""
    dynamics, exact, stopped = kn.compile(four_bars(2, 0.3, 2.0)), four_bars_angle(2, 2.0, 5.0), 0
    for step in np.geomspace(1e-3, 5e-2, 12):
        try:
            run = kn.simulate(dynamics, 5.0, times=[0.0, 5.0], method="rk4", step=step)
        except kn.SimulationError as error:
            assert "right" in str(error) or "shorter steps" in str(error)
            stopped += 1
        else:
            assert abs(-run["ground0.q"][-1] - exact) < 1e5 * step**4
    assert stopped < 6


def test_a_coin_that_falls_flat():
    """Without spin it falls like a rod about its edge, r w^2 (1/4 + 1) / 2 = g (cos a0 - cos a), and says where."""
    r, lean = 0.1, 0.3
    system = kn.System("coin", gravity=(0, 0, -G))
    coin = system.body("coin", mass=1, inertia=(r * r / 4, r * r / 4, r * r / 2))
    axle, t = np.array([np.cos(lean), 0, np.sin(lean)]), np.array([0, 1.0, 0])
    axes = np.column_stack([np.cross(t, axle), t, axle])
    system.free("way", system.world, coin, position=(0, 0, r * np.cos(lean)), matrix=axes.tolist())
    system.constraint("contact", "rolling", wheel=coin, radius=r)
    with pytest.raises(kn.SimulationError, match="constraint direction of contact jumps") as caught:
        kn.simulate(system, 1.0)
    rate = lambda t, y: (y[1], G / (1.25 * r) * np.sin(y[0]))  # noqa: E731
    flat = lambda t, y: y[0] - np.pi / 2  # noqa: E731
    exact = solve_ivp(rate, (0, 1), (lean, 0), "DOP853", rtol=1e-11, atol=1e-11, events=flat).t_events[0][0]
    assert caught.value.run.t[-1] == pytest.approx(exact, abs=1e-4)


# -- one freedom, by hand ---------------------------------------------------------------------------------------------

FOUR = {"r": 0.2, "l": 0.6, "s": 0.4, "d": 0.5}  # crank, coupler, rocker, ground
FOUR_MASS = {"a": (1.0, 0.1, 0.02), "b": (2.0, 0.3, 0.05), "c": (1.5, 0.2, 0.03)}  # mass, center, inertia about it


def four_bar(last="revolute", **given):
    """A planar four-bar in space, gravity along -y; the last joint closes it."""
    system = kn.System("four_bar", gravity=(0, -G, 0))
    a, b, c = (system.body(name, mass=m, com=(x, 0, 0), inertia=(0.01, J, J)) for name, (m, x, J) in FOUR_MASS.items())
    system.revolute("j1", system.world, a, q=0.9)
    system.revolute("j2", a.at(FOUR["r"], 0, 0), b, guess=-0.5)
    system.revolute("j4", system.world.at(FOUR["d"], 0, 0), c, guess=1.2)
    system.joint("j3", last, b.at(FOUR["l"], 0, 0), c.at(FOUR["s"], 0, 0), **given)
    return system


def four_bar_points(th):
    """Crank pin A and coupler pin C (upper branch), with their derivatives, for a complex angle."""
    r, length, s, d = FOUR.values()
    A, A1 = r * np.array([np.cos(th), np.sin(th)]), r * np.array([-np.sin(th), np.cos(th)])
    D = np.array([d, 0.0])
    e = D - A
    e2 = e @ e
    along = (e2 + length**2 - s**2) / (2 * e2)
    across = np.sqrt(length**2 / e2 - along**2)
    C = A + along * e + across * np.array([-e[1], e[0]])
    C1 = np.linalg.solve(np.array([C - A, C - D]), np.array([(C - A) @ A1, 0.0]))
    return A, A1, C, C1


def four_bar_bodies(th):
    """Of each body: center's height, center's velocity and turning for a unit rate of the crank."""
    A, A1, C, C1 = four_bar_points(th)
    zero, D = np.zeros(2), np.array([FOUR["d"], 0.0])
    rods = {"a": (zero, zero, A, A1, FOUR["r"]), "b": (A, A1, C, C1, FOUR["l"]), "c": (D, zero, C, C1, FOUR["s"])}
    for name, (P, P1, Q, Q1, length) in rods.items():
        share = FOUR_MASS[name][1] / length
        turning = ((Q - P)[0] * (Q1 - P1)[1] - (Q - P)[1] * (Q1 - P1)[0]) / length**2
        yield name, (P + share * (Q - P))[1], P1 + share * (Q1 - P1), turning


def four_bar_inertia(th):
    return sum(FOUR_MASS[n][0] * v @ v + FOUR_MASS[n][2] * w * w for n, _, v, w in four_bar_bodies(th))


def four_bar_potential(th):
    return sum(FOUR_MASS[n][0] * G * y for n, y, _, _ in four_bar_bodies(th))


@cache
def four_bar_motion():
    """Times, and angle and rate of the crank then: the same whatever closes the loop."""
    times = np.linspace(0, 3, 61)
    return times, *solve_one_freedom(four_bar_inertia, four_bar_potential, (0.9, 0.0), times)


@pytest.mark.parametrize(
    ("last", "given"), [("revolute", {}), ("spherical", {}), ("cylindrical", {}), ("universal", {"axes": ("z", "x")})]
)
def test_planar_four_bar_in_space(last, given):
    """Whatever closes it, up to three rows too many: the same one freedom, and the forces of Newton's law."""
    times, angle, rate = four_bar_motion()
    run = kn.simulate(four_bar(last, **given), 3.0, times=times, **TIGHT)
    assert np.abs(run["j1.q"] - angle).max() < 1e-8
    assert np.abs(run["j1.u"] - rate).max() < 1e-7
    C = np.array([four_bar_points(th + 0j)[2].real for th in angle])
    assert np.abs(run["j3.child.position"][:, :2] - C).max() < 1e-8
    weight = np.array([0, -G, 0])
    for body, joints in {"a": ("j1", "j2"), "b": ("j2", "j3"), "c": ("j3", "j4")}.items():
        mass = FOUR_MASS[body][0]
        force = sum(run.reaction(name, on=body, expressed_in="world").force for name in joints)
        assert np.abs(force + mass * weight - mass * run.acceleration(f"{body}.com")).max() < 1e-9
    for name in ("j1", "j2", "j3", "j4"):
        wrench = run.reaction(name)
        assert wrench.components[:2] == (True, True)  # in the plane, whatever closes it
        if last == "revolute":  # across it, four hinges hold each other
            assert wrench.components == (True, True, False, False, False, True)
            assert wrench.shared == "least norm"


CRANK, ROD = 0.08, 0.3  # after E. J. Haug, Computer Aided Kinematics and Dynamics (1989), section 12.3


def spatial_slider_crank(law=None):
    """Crank about x through (0, 0.1, 0.12), slider along x, between them a thin rod on a universal and a ball joint."""
    system = kn.System("slider_crank", gravity=(0, 0, -G))
    crank = system.body("crank", mass=0.12, inertia=(1e-4, 1e-4, 1e-4))
    rod = system.body("rod", mass=0.5, com=(0, 0, ROD / 2), inertia=(0.5 * ROD**2 / 12, 0.5 * ROD**2 / 12, 0))
    slider = system.body("slider", mass=2.0, inertia=(1e-4, 1e-4, 1e-4))
    first = {"motion": law} if law else {"q": 0.0, "u": 6.0}
    system.revolute("main", system.world.at(0, 0.1, 0.12), crank, axis="x", **first)
    system.universal("pin", crank.at(0, 0, CRANK), rod, axes=("x", "y"), guess=(-0.46, 2.4))
    system.prismatic("guide", system.world, slider, axis="x", guess=0.2)
    system.spherical("ball", rod.at(0, 0, ROD), slider)
    return system


def slider_crank_points(th):
    """Crank pin and slider, with their derivatives."""
    P = np.array([0 * th, 0.1 - CRANK * np.sin(th), 0.12 + CRANK * np.cos(th)])
    P1 = np.array([0 * th, -CRANK * np.cos(th), -CRANK * np.sin(th)])
    x = np.sqrt(ROD**2 - P[1] ** 2 - P[2] ** 2)
    S, S1 = np.array([x, 0, 0]), np.array([-(P[1] * P1[1] + P[2] * P1[2]) / x, 0, 0])
    return P, P1, S, S1


def slider_crank_inertia(th):
    _, P1, _, S1 = slider_crank_points(th)
    return 1e-4 + 0.5 / 3 * (P1 @ P1 + P1 @ S1 + S1 @ S1) + 2.0 * S1 @ S1  # a thin rod has T = m/6 (a.a + a.b + b.b)


def slider_crank_potential(th):
    P, _, S, _ = slider_crank_points(th)
    return 0.5 * G * (P[2] + S[2]) / 2


def test_spatial_slider_crank():
    times = np.linspace(0, 2, 81)
    run = kn.simulate(spatial_slider_crank(), 2.0, times=times, **TIGHT)
    angle, _ = solve_one_freedom(slider_crank_inertia, slider_crank_potential, (0.0, 6.0), times)
    assert np.abs(run["main.q"] - angle).max() < 1e-8
    x = [slider_crank_points(th)[2][0] for th in angle]
    assert np.abs(run["slider.position"][:, 0] - x).max() < 1e-9
    assert run.audit.relative < 1e-9


def test_driven_slider_crank():
    """Driven in its only freedom: nothing is integrated, and the drive's power is the rate of the energy."""
    times = np.linspace(0, 1, 401)
    run = kn.simulate(spatial_slider_crank("3*t + 0.5*sin(4*t)"), 1.0, times=times)
    th, rate = 3 * times + 0.5 * np.sin(4 * times), 3 + 2 * np.cos(4 * times)
    points = [slider_crank_points(angle) for angle in th]
    assert run["slider.position"][:, 0] == pytest.approx([S[0] for _, _, S, _ in points], abs=1e-11)
    assert run["slider.velocity"][:, 0] == pytest.approx([p[3][0] for p in points] * rate, abs=1e-10)
    step = th + 1e-30j
    slope, force = (
        np.array([function(x).imag / 1e-30 for x in step])
        for function in (slider_crank_inertia, slider_crank_potential)
    )
    inertia = np.array([slider_crank_inertia(x) for x in th])
    effort = inertia * (-8 * np.sin(4 * times)) + 0.5 * slope * rate**2 + force
    assert run["main.effort"] == pytest.approx(effort, abs=1e-8)


# -- more bars than needed --------------------------------------------------------------------------------------------


def test_parallelogram_with_an_extra_bar():
    """Three equal bars hang a beam: a pendulum (n J + M l^2) th'' = -g l (n m/2 + M) sin th, n = 3, in closed form."""
    length, m, M, places = 0.8, 0.6, 2.0, (0.0, 0.7, 2.0)
    system = kn.System("swing", gravity=(0, -G, 0))
    beam = system.body("beam", mass=M, com=(1.1, 0, 0), inertia=(0.1, 0.5, 0.5))
    for i, x in enumerate(places):
        J = m * length**2 / 12
        bar = system.body(f"bar{i}", mass=m, com=(0, -length / 2, 0), inertia=(J, J / 10, J))
        system.revolute(f"top{i}", system.world.at(x, 0, 0), bar, **({"guess": 1.0} if i else {"q": 1.2}))
        system.revolute(f"low{i}", bar.at(0, -length, 0), beam.at(x, 0, 0), **({} if i else {"guess": -1.2}))
    run = kn.simulate(system, 10.0, samples=201, **TIGHT)
    w = np.sqrt(G * length * (3 * m / 2 + M) / (3 * m * length**2 / 3 + M * length**2))
    k = np.sin(0.6)
    exact = 2 * np.arcsin(k * ellipj(ellipk(k**2) - w * run.t, k**2)[0])
    for i in range(3):
        assert np.abs(run[f"top{i}.q"] - exact).max() < 1e-8
    assert np.abs(run["beam.rotation"] - np.eye(3)).max() < 1e-11
    force = sum(run.reaction(f"low{i}", on="beam", expressed_in="world").force for i in range(3))
    assert np.abs(force + M * np.array([0, -G, 0]) - M * run.acceleration("beam.com")).max() < 1e-9
    for i in range(3):  # a stress along the bars too, which are oblique in the world's axes
        assert run.reaction(f"top{i}").components == (False, False, False, False, False, True)
        assert run.reaction(f"low{i}").components == (True, False, False, False, False, True)  # in the bar's own axes


@pytest.mark.parametrize("options", [{}, TIGHT])
def test_bricard_moves(options):
    run = kn.simulate(bricard(), 5.0, samples=101, **options)
    q = np.array([run[f"r{i}.q"] for i in range(6)])
    assert np.ptp(q[0]) > 0.5
    for i in range(6):
        assert np.abs(np.exp(1j * q[i]) - np.exp(1j * q[i % 2])).max() < 1e-9
    a, b = np.cos(q[0]), np.cos(q[1])
    assert np.abs(a + b + a * b).max() < 1e-9
    assert run.audit.relative < 1e-6
    assert kn.mobility(bricard()).redundant == 1  # one stress, which every hinge carries and none about its axis
    for i in range(6):
        wrench = run.reaction(f"r{i}")
        assert not wrench.unique and wrench.components[5] and wrench.shared == "least norm"


@pytest.mark.parametrize("rows", [(0, 2, 3, 4), (0, 1, 2, 4)])
def test_no_choice_of_rows_matters(rows):
    """Four of the five rows that close the linkage serve, but most choices of four not everywhere on its way."""
    good, given = kn.compile(bricard()), kn.Dynamics(bricard(), rows=rows)
    run, again = (kn.simulate(dynamics, 5.0, samples=11) for dynamics in (good, given))
    assert given.closure.rows == rows and again.dynamics is given
    assert np.abs(run.q - again.q).max() < 1e-12 and again.events == ()


@pytest.mark.parametrize("rows", [(0, 2, 3, 4), (0, 1, 2, 4)])
def test_rows_that_become_dependent_are_chosen_anew(rows, monkeypatch):
    """Where they are too many to be combined."""
    monkeypatch.setattr(loop_closure, "GROUP_ROWS", 0)
    good, bad = kn.Dynamics(bricard()), kn.Dynamics(bricard(), rows=rows)
    run, again = (kn.simulate(dynamics, 5.0, samples=11) for dynamics in (good, bad))
    assert bad.closure.rows == rows != again.dynamics.closure.rows
    assert np.abs(run.q - again.q).max() < 1e-9 and again.events == ()


def test_rows_that_were_not_redundant_are_told():
    """With a row too few the linkage falls apart, where the row is missing."""
    torn = kn.Dynamics(four_bar(), rows=kn.compile(four_bar()).closure.rows[:-1])
    with pytest.raises(kn.SimulationError, match=r"j3 came apart until t = .* taken for redundant") as caught:
        kn.simulate(torn, 1.0)
    assert caught.value.run.t[-1] == 1.0


def test_a_long_run_stays_closed():
    """Some 5000 steps: nothing drifts, of the rows that are not used either."""
    dynamics = kn.compile(four_bar())
    run = kn.simulate(dynamics, 120.0, samples=201)
    residual, _, rate = dynamics.loops.evaluate(dynamics.point_of(run.t, run.y))
    assert run.facts["steps"] > 5000
    assert np.abs(residual).max() < 1e-12 and np.abs(rate).max() < 1e-10


def test_what_a_run_met_is_kept(tmp_path):
    run = kn.simulate(four_bars(1), 1.0)
    assert "1 singular position passed" in repr(run)
    run.save(tmp_path / "run.nc")
    assert kn.Trajectory.load(tmp_path / "run.nc").events == run.events
    marks = run.plot("ground0.q", file=tmp_path / "plot.png").axes[0].collections
    assert [mark.get_segments()[0][0][0] for mark in marks] == [run.events[0].time]
