"""Overconstrained loops in space, of which no choice of constraint rows lasts a turn: against their closed forms.

G. T. Bennett, *A new mechanism*, Engineering 76 (1903) 777: links a, b, a, b with twists alpha, beta, alpha, beta and
a / sin(alpha) = b / sin(beta).  With half angles t of two neighbors, tan(t1) tan(t2) = -k,
k = sin((beta + alpha)/2) / sin((beta - alpha)/2); opposite ones are opposite.

M. Goldberg, *New five-bar and six-bar linkages in three dimensions*, Trans. ASME 65 (1943) 649: two of Bennett's
linkages side by side, two of their links in one line, and the common link left out.  F. E. Myard's linkage (1931) is
that with two right angles and a line of length zero (Y. Chen, Z. You, *An extended Myard linkage and its derived 6R
linkage*, J. Mech. Des. 130 (2008) 052301).

P. T. Sarrus (1853): two legs of three parallel hinges keep a plate upright.  R. Bricard's threefold linkage is in
``mechanisms.bricard``.
"""

from functools import cache

import numpy as np
import pytest
from c_models import LoadedModel
from mechanisms import bricard

import kinode as kn

TURN = 2.0 * np.pi
ALPHA = np.radians(25.0)
BETA, GAMMA = np.arcsin(1.5 * np.sin(ALPHA)), np.arcsin(0.8 * np.sin(ALPHA))
MYARD = np.radians(50.0)


def half_ratio(alpha, beta):
    return np.sin((beta + alpha) / 2) / np.sin((beta - alpha) / 2)


def bennett_angles(angle, alpha=ALPHA, beta=BETA):
    """All angles of Bennett's linkage by the first."""
    second = 2 * np.arctan2(-half_ratio(alpha, beta) * np.cos(angle / 2), np.sin(angle / 2))
    return np.array([angle, second, -angle, -second])


def goldberg_angles(angle, alpha, beta, gamma):
    """From the two linkages: the angle between the links in one line is straight, that at the common hinge a sum."""
    _, second, _, _ = bennett_angles(angle, gamma, beta)
    common = 2 * np.arctan2(half_ratio(alpha, beta) * np.sin(second / 2), np.cos(second / 2))
    return np.array([angle, second, common - angle - np.pi, -second - np.pi, -common])


def ring(lengths, twists, angles, first=0, speed=1.5, gravity=(0, 0, 0), on=None, label=""):
    """Links one behind the other, a hinge after each; ``first`` is declared first, so that another hinge is cut."""
    system = kn.System("ring", gravity=gravity) if on is None else on.system
    ends = [system.world if on is None else on]
    for i, length in enumerate(lengths[1:], 1):
        rod = {"mass": 1.0 + 0.2 * i, "com": (length / 2, 0.02, 0.01), "inertia": (0.02, 0.1, 0.11)}
        ends.append(system.body(f"{label}link{i}", **rod))
    for i in np.roll(range(len(lengths)), -first).tolist():
        tip = ends[i].at(lengths[i], 0, 0, rpy=(twists[i], 0, 0))
        given = {"guess": angles[i]} if i else {"q": angles[i], "u": speed}
        system.revolute(f"{label}r{i}", tip, ends[(i + 1) % len(lengths)], **given)
    return system


def bennett(first=3, angle=1.0, **more):
    return ring((1, 1.5, 1, 1.5), (ALPHA, BETA, ALPHA, BETA), bennett_angles(angle), first, **more)


def goldberg(first=0):
    lengths, twists = (1.8, 1.5, 0.8, 1.0, 1.5), (ALPHA + GAMMA, BETA, GAMMA, ALPHA, BETA)
    return ring(lengths, twists, goldberg_angles(1.0, ALPHA, BETA, GAMMA), first)


def myard(first=0):
    a, twists = np.sin(MYARD), (2 * MYARD - np.pi, np.pi / 2, MYARD - np.pi, MYARD, np.pi / 2)
    return ring((0, 1, -a, a, 1), twists, goldberg_angles(1.0, MYARD, np.pi / 2, MYARD - np.pi), first)


def sarrus(angle=0.3, speed=0.4):
    """Links of 1 m; the plate is 2 sin(angle) high."""
    system = kn.System("sarrus", gravity=(0, 0, 0))
    plate = system.body("plate", mass=2.0, inertia=(0.1, 0.1, 0.1))
    rod = {"mass": 1.0, "com": (0.5, 0, 0), "inertia": (0.01, 1 / 12, 1 / 12)}
    for leg, base in {"a": {"x": 1.0}, "b": {"y": 1.0, "rpy": (0, 0, np.pi / 2)}}.items():
        place = {"x": 0.0, "y": 0.0, "z": 0.0, **base}
        lower, upper = system.body(f"lower_{leg}", **rod), system.body(f"upper_{leg}", **rod)
        given = {"q": -angle, "u": -speed} if leg == "a" else {"guess": -angle}
        system.revolute(f"base_{leg}", system.world.at(**place), lower, axis="y", **given)
        system.revolute(f"knee_{leg}", lower.at(1, 0, 0), upper, axis="y", guess=2 * angle - np.pi)
        system.revolute(f"top_{leg}", upper.at(1, 0, 0), plate.at(**place), axis="y", guess=np.pi - angle)
    return system


def gaps(run, angles, label=""):
    """The angles of a ring that a run has, less those of its closed form, within half a turn."""
    found = np.array([run[f"{label}r{i}.q"] for i in range(len(angles))])
    return (found - angles + np.pi) % TURN - np.pi


def bennett_gaps(run, label=""):
    return gaps(run, bennett_angles(run[f"{label}r0.q"]), label)


def goldberg_gaps(run):
    return gaps(run, goldberg_angles(run["r0.q"], ALPHA, BETA, GAMMA))


def myard_gaps(run):
    return gaps(run, goldberg_angles(run["r0.q"], MYARD, np.pi / 2, MYARD - np.pi))


def bricard_gaps(run):
    """The closed form for both angles, which come in turn."""
    q = np.array([run[f"r{i}.q"] for i in range(6)])
    a, b = np.cos(q[0]), np.cos(q[1])
    return np.concatenate([[a + b + a * b], q[2] - q[0], q[4] - q[0], q[3] - q[1], q[5] - q[1]], axis=None)


def sarrus_gaps(run):
    """The plate rises straight, and both legs are isosceles."""
    angle, place = -run["base_a.q"], run["plate.position"]
    legs = [run[f"base_{leg}.q"] + angle for leg in "ab"] + [run[f"knee_{leg}.q"] + np.pi - 2 * angle for leg in "ab"]
    return np.concatenate([place[:, 0], place[:, 1], place[:, 2] - 2 * np.sin(angle), *legs])


CASES = {
    **{f"bennett{k}": (lambda k=k: bennett(k), bennett_gaps, 10.0) for k in range(4)},
    **{f"goldberg{k}": (lambda k=k: goldberg(k), goldberg_gaps, 9.0) for k in (0, 3)},
    **{f"myard{k}": (lambda k=k: myard(k), myard_gaps, 6.0) for k in (0, 2)},
    "bricard": (bricard, bricard_gaps, 5.0),
    "sarrus": (sarrus, sarrus_gaps, 1.5),
}


@cache
def compiled(case):
    return kn.compile(CASES[case][0]())


@pytest.mark.parametrize("rtol", [1e-8, 1e-11])
@pytest.mark.parametrize("case", CASES)
def test_a_full_turn_keeps_to_the_closed_form(case, rtol):
    _, gaps_of, until = CASES[case]
    run = kn.simulate(compiled(case), until, rtol=rtol, atol=rtol / 10)
    assert run.events == ()
    assert np.abs(gaps_of(run)).max() < 1e-9
    energy = run["system.energy"]
    assert np.ptp(energy) < 100 * rtol * np.abs(run["system.kinetic_energy"]).max()
    if "r0" in run.system.joints and case != "bricard":  # the others swing
        assert np.ptp(run["r0.q"]) > TURN


@pytest.mark.parametrize("options", [{"rtol": 1e-11, "atol": 1e-12}, {"method": "stiff", "rtol": 1e-8}])
def test_a_linkage_on_a_link_of_another_on_a_base_that_is_driven(options):
    """Whatever carries it, each keeps to its closed form."""
    system = kn.System("nested", gravity=(0, 0, -9.81))
    base = system.body("base", mass=20, inertia=(3, 4, 5))
    system.revolute("drive", system.world, base, axis="x", motion="0.7*t")
    bennett(on=base, label="a")
    bennett(1, 2.0, speed=-1.0, on=system.bodies["alink2"], label="b")
    run = kn.simulate(system, 8.0, **options)
    assert run.events == () and len(run.dynamics.closure.groups) == 2
    assert max(np.abs(bennett_gaps(run, label)).max() for label in "ab") < 1e-9
    assert np.ptp(run["ar0.q"]) > TURN


def test_where_other_mechanisms_have_loop_code(loops):
    """Loop code does not combine rows, so that such a mechanism has none."""
    loops("always")
    run = kn.simulate(bennett(), 2.0, rtol=1e-11, atol=1e-12)
    assert run.events == () and np.abs(bennett_gaps(run)).max() < 1e-9


METHODS = [{"method": name, "rtol": 1e-9, "atol": 1e-10} for name in ("dop853", "auto", "stiff")]


@pytest.mark.parametrize("options", [*METHODS, {"method": "rk4", "step": 4e-3}], ids=lambda options: options["method"])
def test_every_method_turns_bennetts_linkage(options):
    run = kn.simulate(compiled("bennett3"), 10.0, times=np.linspace(0, 10, 41), **options)
    good = kn.simulate(compiled("bennett3"), 10.0, times=run.t, rtol=1e-12, atol=1e-13)
    assert run.events == ()
    assert np.abs(bennett_gaps(run)).max() < 1e-9
    assert np.abs(run.q - good.q).max() < 1e-6  # ten seconds at 1e-9 a step


@pytest.mark.parametrize("formulation", ["circuit", "newton_euler"])
def test_every_formulation_turns_bennetts_linkage(formulation):
    """In absolute coordinates nothing is projected, and joints drift apart by the errors of ten seconds."""
    dynamics = kn.compile(bennett(), formulation)
    run = kn.simulate(dynamics, 10.0, times=np.linspace(0, 10, 11), rtol=1e-10, atol=1e-11)
    assert run.events == ()
    assert np.abs(bennett_gaps(run)).max() < (1e-9 if formulation == "circuit" else 1e-6)
    assert np.ptp(run["r0.q"]) > TURN
    if formulation == "circuit":
        assert kn.verify(run.system, states=2).ok


def test_the_stepper_turns_bennetts_linkage():
    stepper = compiled("bennett3").stepper(5e-3)
    for _ in range(2000):
        stepper.step()
    end = kn.simulate(compiled("bennett3"), 10.0, times=[0.0, 10.0], rtol=1e-11, atol=1e-12).q[-1]
    assert np.abs(stepper.q - end).max() < 1e-7 and stepper.singular_passes == 0


@pytest.mark.usefixtures("compiler")
def test_a_library_in_c_turns_bennetts_linkage(tmp_path):
    names, times = ["r3.q", "r0.q", "r2.q", "r1.q"], np.linspace(1.0, 10.0, 10)  # as C orders them: r1 closes the loop
    model = LoadedModel(compiled("bennett3").system, tmp_path, rtol=1e-9, atol=1e-10, outputs=names)
    found = dict(zip(names, model.run(0.0, times).T, strict=True))
    assert np.abs(bennett_gaps(found)).max() < 1e-9
    assert np.ptp(found["r0.q"]) > TURN


def motion(dynamics, angle, speed):
    """q and u of Bennett's linkage from its closed form, speeds by complex steps."""
    second = lambda x: 2 * np.arctan(-half_ratio(ALPHA, BETA) / np.tan(x / 2))  # noqa: E731
    ratio = second(angle + 1e-30j).imag / 1e-30
    angles, rates = bennett_angles(angle), speed * np.array([1.0, ratio, -1.0, -ratio])
    names = [c.name for c in dynamics.coordinates if c.role == "q"]
    which = [int(name[1]) for name in names]
    return angles[which], rates[which]


def test_accelerations_and_derivatives_anywhere_are_those_of_one_freedom():
    """T = J(x) w^2 / 2, V(x): w' = -(J' w^2 / 2 + V') / J, at positions far from that of the start."""
    dynamics = kn.compile(bennett(gravity=(0.3, 0.5, -9.81)))
    k = [c.name for c in dynamics.coordinates].index("r0.q")
    energy = lambda x: dynamics.energy(0.0, *motion(dynamics, x, 1.0))  # noqa: E731
    h = 1e-4
    weights = np.array([1, -8, 8, -1]) / (12 * h)  # fourth order: the error is 1e-11
    for angle in np.linspace(0.4, TURN - 0.4, 9):
        around = [energy(angle + step * h) for step in (-2, -1, 1, 2)]
        dT, dV = (float(weights @ [float(each[i]) for each in around]) for i in range(2))
        T = float(energy(angle)[0])
        for speed in (0.0, 1.3):
            q, u = motion(dynamics, angle, speed)
            assert dynamics.acceleration(0.0, q, u)[k] == pytest.approx(-(dT * speed**2 + dV) / (2 * T), abs=1e-7)
        by_speed = dynamics.derivatives(0.0, q, u, by="u")["u"] @ motion(dynamics, angle, 1.0)[1]
        assert by_speed[k] == pytest.approx(-dT * speed / T, abs=1e-6)


def test_reactions_on_the_way_balance_every_link():
    """Newton: m a is the sum of what the hinges exert, and of the weight."""
    run = kn.simulate(kn.compile(bennett(gravity=(0, 0, -9.81))), 4.0, samples=17)
    for i in (1, 2, 3):
        onto = run.reaction(f"r{i - 1}", expressed_in="world").force
        off = run.reaction(f"r{i}", expressed_in="world").force
        mass = 1.0 + 0.2 * i
        balance = onto - off - mass * (run.acceleration(f"link{i}.com") + [0, 0, 9.81])
        assert np.abs(balance).max() < 1e-9 * np.abs(onto).max()


def test_small_motions_about_an_equilibrium_that_is_far_from_the_start():
    """w^2 = V'' / J, along the closed form."""
    dynamics = kn.compile(bennett(gravity=(0.3, 0.5, -9.81), speed=0.0))
    rest = kn.equilibrium(dynamics)
    angle, h = rest.values["r0.q"], 1e-3
    V = [float(dynamics.energy(0.0, *motion(dynamics, angle + k * h, 0.0))[1]) for k in range(-2, 3)]
    J = 2 * float(dynamics.energy(0.0, *motion(dynamics, angle, 1.0))[0])
    expected = np.sqrt(np.array([-1, 16, -30, 16, -1]) @ V / (12 * h * h) / J)
    assert kn.linearize(dynamics, at=rest).eigenvalues == pytest.approx([1j * expected, -1j * expected], rel=1e-6)


@pytest.mark.parametrize("options", [{"rtol": 1e-6}, {"rtol": 1e-11, "atol": 1e-12}, {"method": "stiff", "rtol": 1e-8}])
def test_the_plate_of_sarrus_linkage_passes_its_flat_position(options):
    """There all hinges lie in one plane, and the linkage branches: that is no change of rows."""
    run = kn.simulate(sarrus(1.0, -0.5), 4.0, **options)
    assert [(event.kind, event.components) for event in run.events] == [("singular", ("top_b",))]
    place = run["plate.position"][:, 2]
    assert np.interp(run.events[0].time, run.t, place) == pytest.approx(0.0, abs=0.02)
    assert place[-1] < -0.6 and np.abs(sarrus_gaps(run)).max() < 1e-9


def test_a_rhombus_passes_its_flat_position():
    """Four equal links in a plane: two branches meet where all hinges are in line, after a right angle at 1 rad/s."""
    system = kn.System("rhombus", gravity=(0, 0, 0))
    rod = {"mass": 1.0, "com": (0.5, 0, 0), "inertia": {"zz": 1 / 12}}
    one, top, two = (system.body(name, **rod) for name in ("one", "top", "two"))
    system.revolute("left", system.world, one, q=np.pi / 2, u=-1.0)
    system.revolute("upper", one.at(1, 0, 0), top, guess=-np.pi / 2)
    system.revolute("right", system.world.at(1, 0, 0), two, guess=np.pi / 2)
    system.revolute("corner", top.at(1, 0, 0), two.at(1, 0, 0))
    run = kn.simulate(system, 2.0, rtol=1e-9, atol=1e-11)
    assert [event.kind for event in run.events] == ["singular"]
    assert run.events[0].time == pytest.approx(np.pi / 2, abs=1e-3)  # both uprights turn alike: T is constant
    assert run["left.q"][-1] == pytest.approx(np.pi / 2 - 2.0, abs=1e-8)
