"""Balances about a frame in symbols: the report's own equations, term by term, and both sides on random states."""

from __future__ import annotations

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import build, plans
from sympy import cos, sin

import kinode as kn
from kinode.multibody.snapshot import Snapshot
from kinode.structure.state_layout import EvaluationPoint
from kinode.symbolic.balances.instant_in_frame import InstantInFrame
from kinode.tasks.verify import random_state
from known.free_flight import spinning, vibrating

ROUNDING = 1e-9  # of the largest term: sums of products of numbers of very different size


def symbols(names):
    return sympy.symbols(names)


def lines(sheet, *names):
    """The last equation of each name: those that are solved for the motion come last."""
    known = {line.name: line for line in sheet.scalars}
    return [known[name] for name in names]


def as_defined(sheet, *keep):
    """What the definitions of a sheet stand for."""
    return {
        sheet.symbols[line.name]: sympy.Add(*line.terms)
        for line in sheet.scalars
        if line.defines and line.name in sheet.symbols and line.name not in keep
    }


def terms_of(line, factor=1):
    return [sympy.expand(factor * term) for term in line.terms]


# -- the spinning asymmetrical body, (32) to (37) ------------------------------------------------------
u, v, w, p, q, r, phi = symbols("u v w p q r phi")
du, dv, dw, dp, dq, dr = symbols("u_dot v_dot w_dot p_dot q_dot r_dot")
p_, q_, r_, y, z, ycg, zcg = symbols("p~ q~ r~ y z y_cg z_cg")
FX, FY, FZ = symbols("F_X F_Y F_Z")
IX, IY, IZ, JXY, JXZ, JYZ = symbols("I_X I_Y I_Z J_XY J_XZ J_YZ")
SPINNING = {
    "F_X": [du, q_ * w, -r_ * v, -ycg * (dr - p * q), zcg * (dq + p * r)],
    "F_Y": [dv, r_ * u, -p_ * w, -z * (dp - q_ * r_), -y * (p**2 + r_**2)],
    "F_Z": [dw, p_ * v, -q_ * u, y * (dp + q_ * r_), -z * (p**2 + q_**2)],
    "M_X": [
        IX * dp, (IZ - IY) * q * r, -JXY * (dq - p * r), -JXZ * (dr + p * q), JYZ * (r**2 - q**2), FZ * y, -FY * z,
    ],
    "M_Y": [
        IY * dq * cos(phi), -IZ * dr * sin(phi), -p * (IY * q * sin(phi) + IZ * r * cos(phi)), IX * p * r_,
        -JXY * (dp + q * r) * cos(phi), JXY * (p**2 - q**2) * sin(phi), JXZ * (dp - q * r) * sin(phi),
        JXZ * (p**2 - r**2) * cos(phi), JYZ * (dq + p * r) * sin(phi), -JYZ * (dr - p * q) * cos(phi), FX * z,
    ],
    "M_Z": [
        IZ * dr * cos(phi), IY * dq * sin(phi), p * (IY * q * cos(phi) - IZ * r * sin(phi)), -IX * p * q_,
        -JXY * (dp + q * r) * sin(phi), -JXY * (p**2 - q**2) * cos(phi), -JXZ * (dp - q * r) * cos(phi),
        JXZ * (p**2 - r**2) * sin(phi), -JYZ * (dq + p * r) * cos(phi), -JYZ * (dr - p * q) * sin(phi), -FX * y,
    ],
}  # fmt: skip


@pytest.fixture(scope="module")
def spinning_sheet():
    return kn.equations(spinning(), frame="aero")


@pytest.fixture(scope="module")
def vibrating_sheet():
    return kn.equations(vibrating(), frame="shell")


@pytest.mark.parametrize("name", SPINNING)
def test_a_spinning_body_prints_the_terms_of_the_report(spinning_sheet, name):
    (line,) = lines(spinning_sheet, name)
    assert sorted(map(str, terms_of(line))) == sorted(str(sympy.expand(term)) for term in SPINNING[name])
    left = {"F": f"F_{name[-1]} + m*g_{name[-1]}", "M": name}[name[0]]
    factor = sympy.Symbol("m") if name[0] == "F" else 1
    left = sympy.sympify(left, locals={x: sympy.Symbol(x) for x in ("F_X", "F_Y", "F_Z", "g_X", "g_Y", "g_Z")})
    assert sympy.expand(line.difference - (left - factor * sympy.Add(*SPINNING[name]))) == 0


def test_components_in_the_frame_and_how_it_rolls(spinning_sheet):
    known = {str(line.left[0].expression): sympy.Add(*line.terms) for line in spinning_sheet.scalars[:3]}
    phi_dot = sympy.Symbol("phi_dot")
    assert known == {"p~": p - phi_dot, "q~": q * cos(phi) - r * sin(phi), "r~": q * sin(phi) + r * cos(phi)}
    text = spinning_sheet.text(100)
    assert "p~ = 0" in text
    assert "the frame does not roll: phi_dot = p" in text
    assert "y = y_cg*cos(phi) - z_cg*sin(phi)" in text


def test_a_fixed_plane_frame_has_the_other_closure():
    sheet = kn.equations(spinning(), frame="plane")
    (line,) = lines(sheet, "closure")
    assert sympy.expand(line.difference - (p_ + r_ * sympy.tan(sympy.Symbol("theta")))) == 0
    assert largest_error(sheet) < ROUNDING


# -- the internal vibrating member, (49) to (56) -------------------------------------------------------
m, m1, m2, mu, K = symbols("m m_shell m_member mu K")
Y, Z, x0, y0, z0 = symbols("Y_member Z_member x0_member y0_member z0_member")
y2, z2, dy, dz, ddy, ddz = symbols("y_member z_member y_dot_member z_dot_member y_ddot_member z_ddot_member")
gX, gY, gZ, MX, MY, MZ, aX = symbols("g_X g_Y g_Z M_X M_Y M_Z a_X_member")
JXZ1 = sympy.Symbol("J_XZ_shell")  # the member has no product of inertia of X and Z
A_X = Z * (dq + r * p) + Y * (q * p - dr) - x0 * (q**2 + r**2) + 2 * q * dz - 2 * r * dy
VIBRATING = {
    "across": [
        ddy, -Y * (p**2 + r**2), (1 + m2 / m1) * K / m2 * y2, -2 * p * dz, Z * (q * r - dp), x0 * (p * q + dr), FY / m1,
    ],
    "upward": [
        ddz, -Z * (p**2 + q**2), (1 + m2 / m1) * K / m2 * z2, 2 * p * dy, Y * (q * r + dp), x0 * (p * r - dq), FZ / m1,
    ],
    "F_X": [du, q * w, -r * v, m2 / m * aX],
    "F_Y": [dv, r * u, -p * w, -K * y2 / m1],
    "F_Z": [dw, p * v, -q * u, -K * z2 / m1],
    "M_X": [
        IX * dp, (IZ - IY) * q * r, -JXY * (dq - p * r), -JXZ1 * (dr + p * q), JYZ * (r**2 - q**2),
        K * (z0 * y2 - y0 * z2),
    ],
    "M_Y": [
        (IY + mu * Z**2) * dq, (IX - IZ + mu * Z**2) * p * r, -JXY * (dp + q * r), -(JYZ + mu * Y * Z) * (dr - p * q),
        JXZ1 * (p**2 - r**2), -mu * x0 * Z * (q**2 + r**2), 2 * mu * Z * (q * dz - r * dy), K * x0 * z2,
        m2 / m * Z * FX,
    ],
    "M_Z": [  # the report writes the terms of y_dot and z_dot apart
        (IZ + mu * Y**2) * dr, 2 * mu * Y * dy * r - 2 * mu * Y * dz * q, (IY - IX - mu * Y**2) * p * q,
        mu * x0 * Y * (q**2 + r**2), JXZ1 * (q * r - dp), -JXY * (p**2 - q**2), -(JYZ + mu * Y * Z) * (dq + p * r),
        -K * x0 * y2, -m2 / m * Y * FX,
    ],
    "F_X_member": [m2 / m * FX, mu * aX],
}  # fmt: skip


@pytest.mark.parametrize("name", VIBRATING)
def test_a_member_that_vibrates_prints_the_terms_of_the_report(vibrating_sheet, name):
    (line,) = lines(vibrating_sheet, name)
    printed = terms_of(line)
    if name in ("across", "upward"):  # all terms on the left
        printed = [sympy.expand(term.signed) for term in line.left[0].terms]
    assert sorted(map(str, printed)) == sorted(str(sympy.expand(term)) for term in VIBRATING[name])


def test_the_other_sides_of_the_report(vibrating_sheet):
    expected = {"F_X": FX / m + gX, "F_Y": FY / m1 + gY, "F_Z": FZ / m1 + gZ, "M_X": MX, "M_Y": MY, "M_Z": MZ}
    for line in lines(vibrating_sheet, *expected):
        assert sum(block.expression for block in line.left) == expected[line.name]
    definitions = {line.name: sympy.Add(*line.terms) for line in vibrating_sheet.scalars if line.defines}
    assert sympy.expand(definitions["a_X_member"] - A_X) == 0
    assert definitions["mu"] == m1 * m2 / m
    assert definitions["Y_member"] == y0 + y2
    assert definitions["I_X"] == sympy.Symbol("I_X_shell") + sympy.Symbol("I_X_member")


# -- both sides on random states -----------------------------------------------------------------------
def instants(sheet, rng, count):
    """Random states, with the accelerations of the compiled dynamics."""
    dynamics = kn.Dynamics(sheet.system)
    for _ in range(count):
        t, *state = random_state(dynamics.topology, rng)
        q_, u_, z_ = (np.asarray(x, dtype=float) for x in state)
        u_dot = dynamics.acceleration(t, q_, u_, z=z_)
        point = dynamics.point(dynamics.initial)
        point = EvaluationPoint(t, q_, u_, z_, point.p, point.inputs)
        yield InstantInFrame(Snapshot(dynamics.topology, point, u_dot=u_dot), sheet.notation.carrier)


def largest_error(sheet, seed=0, count=1):
    """The largest difference of the two sides of any line, relative to its largest term."""
    known = sheet.notation.known.values()
    sides = [
        [term.signed * block.factor * sign for sign, blocks in ((1, line.left), (-1, line.right)) for block in blocks
         for term in block.terms]
        for line in sheet.scalars
    ]  # fmt: skip
    # names such as q~ are no names of Python
    dummies = [sympy.Dummy() for _ in known]
    changed = dict(zip((entry.symbol for entry in known), dummies, strict=True))
    evaluate = sympy.lambdify(dummies, [[sympy.sympify(x).xreplace(changed) for x in terms] for terms in sides])
    worst = 0.0
    for instant in instants(sheet, np.random.default_rng(seed), count):
        for terms in evaluate(*(entry.value(instant) for entry in known)):
            worst = max(worst, abs(sum(terms)) / max(1e-6, *map(abs, terms), 0.0))
    return worst


@pytest.mark.parametrize("frame", ["aero", "plane", "shell", "world"])
def test_equations_of_a_spinning_body_hold_on_random_states(frame):
    assert largest_error(kn.equations(spinning(), frame=frame)) < ROUNDING


def test_equations_of_a_vibrating_member_hold_on_random_states(vibrating_sheet):
    assert largest_error(vibrating_sheet) < ROUNDING


@given(plans(most=3, driven=False), st.sampled_from(["fixed", "rolled", "inertial", "moving"]), st.integers(0, 2**16))
@settings(max_examples=6)
def test_equations_hold_for_random_trees_and_frames(plan, kind, seed):
    system = build(plan)
    fields = {
        "fixed": {"kind": "fixed", "on": system["body0"].at(0.1, 0.2, 0.3, rpy=(0.3, -0.2, 0.5))},
        "rolled": {"kind": "nonrolling", "on": system["body0"].at(0.1, 0, 0.2, rpy=(0.1, 0.7, 0)), "axis": "y"},
        "inertial": {"kind": "inertial", "velocity": (1, 2, -1)},
        "moving": {"kind": "moving", "position": ("sin(t)", "t^2", 0), "rpy": ("t", "0.3*t", 0.2)},
    }[kind]
    system.frame("here", **fields)
    assert largest_error(kn.equations(system, frame="here"), seed, count=1) < ROUNDING


def test_several_members_with_mass_between_and_loads_of_their_own():
    """Two slides in series with mass between, one that is driven, one with a damper; bodies bolted to the carrier."""
    system = kn.System("stack", gravity=(0.3, 0.2, -9.81))
    shell = system.body("shell", mass=4.0, com=(0.1, 0.02, 0.01), inertia=(0.5, 4.0, 4.2, -0.03, 0.02, -0.015))
    system.free("flight", system.world, shell)
    plate = system.body("plate", mass=1.0, com=(0.1, 0, 0), inertia=(0.1, 0.1, 0.2))
    system.fixed("bolts", shell.at(0.3, 0, 0.1, rpy=(0.2, 0.1, 0)), plate)
    a = system.body("a", mass=2.0, com=(0, 0.1, 0), inertia=(0.01, 0.012, 0.015))
    b = system.body("b", mass=1.5, com=(0.1, 0, 0.1), inertia=(0.02, 0.012, 0.015))
    c = system.body("c", mass=0.5, inertia=(0.01, 0.01, 0.01))
    system.prismatic("one", shell.at(0.15, 0.05, -0.03), a, axis="y", stiffness=50, damping=2)
    system.prismatic("two", a.at(0.1, 0, 0), b, axis="-y", stiffness=80)
    system.prismatic("three", shell.at(0, 0, 0.2), c, axis="x", motion="0.1*sin(3*t)")
    system.force("push", shell, (1, "2 + t", 3))
    sheet = kn.equations(system, frame="shell")
    assert "Solved for the motion" in sheet.text()
    assert largest_error(sheet) < ROUNDING


def test_loads_on_a_member_leave_the_balances_as_they_are():
    system = vibrating()
    system.force("wind", "member", (1, 2, 3))
    sheet = kn.equations(system, frame="shell")
    assert "Not written: loads act on member." in sheet.only("Solved for the motion").text()
    assert largest_error(sheet) < ROUNDING


def flyer() -> kn.System:
    """A hull with a slide, a fin on a hinge, a tab on the fin, and a flap that is hinged to the slide."""
    system = kn.System("flyer", gravity=(0.3, 0.2, -9.81))
    hull = system.body("hull", mass=4.0, com=(0.1, 0.02, 0.01), inertia=(0.5, 4.0, 4.2, -0.03, 0.02, -0.015))
    system.free("flight", system.world, hull)
    weight = system.body("weight", mass=2.0, com=(0, 0.1, 0), inertia=(0.01, 0.012, 0.015))
    system.prismatic("rail", hull.at(0.15, 0.05, -0.03), weight, axis="y", stiffness=50, damping=2)
    fin = system.body("fin", mass=0.7, com=(-0.1, 0.02, 0.03), inertia=(0.01, 0.02, 0.015))
    system.revolute("hinge", hull.at(-0.5, 0, 0.1, rpy=(0.2, 0, 0)), fin, axis="y", stiffness=3)
    tab = system.body("tab", mass=0.4, com=(-0.05, 0, 0.02), inertia=(0.002, 0.002, 0.003))
    system.revolute("tabbing", fin.at(-0.2, 0, 0), tab, axis="z")
    flap = system.body("flap", mass=0.3, com=(0.05, 0, 0), inertia=(0.001, 0.002, 0.002))
    system.revolute("flapping", weight.at(0, 0.1, 0), flap, axis="z")
    return system


def test_members_that_turn_leave_the_others_solved():
    """The slide's line is the balance of all that it carries, less that of the carrier; all hold on random states."""
    sheet = kn.equations(flyer(), frame="hull")
    solved, forces = sheet.only("Solved for the motion").text(), sheet.only("Forces on members").text()
    assert "its own balances: fin, tab, flap." in " ".join(solved.split())
    assert "hinges" in forces
    (rail,) = lines(sheet, "rail")
    assert {"K", "m_flap", "F_Y", "a_Y_fin"} <= {str(x) for x in rail.difference.free_symbols}
    assert not {"F_Y_weight", "F_Y_hull"} & {str(x) for x in rail.difference.free_symbols}
    assert largest_error(sheet) < ROUNDING


def test_a_single_member_that_turns():
    system = kn.System("pair", gravity=(0, 0, -9.81))
    hull = system.body("hull", mass=4.0, com=(0.1, 0.02, 0.01), inertia=(0.5, 4.0, 4.2))
    system.free("flight", system.world, hull)
    system.revolute("hinge", hull.at(-0.5, 0, 0.1), system.body("fin", mass=0.7, inertia=(0.01, 0.02, 0.015)))
    sheet = kn.equations(system, frame="hull")
    assert {line.name for line in sheet.scalars} >= {"a_X_fin", "mu"}
    assert largest_error(sheet) < ROUNDING


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(60))
def test_random_bodies_with_members_of_every_joint(seed):
    rng = np.random.default_rng(seed)
    system = kn.System("random", gravity=tuple(rng.normal(0, 5, 3)))
    kinds = ["prismatic", "prismatic", "oblique", "revolute", "cylindrical", "spherical", "universal", "fixed"]
    names = ["hull", *(f"part{k}" for k in range(rng.integers(1, 4)))]
    for name in names:
        com, inertia = rng.normal(0, 0.1, 3), rng.uniform(0.1, 0.14, 3)
        system.body(name, mass=rng.uniform(0.2, 3), com=tuple(com), inertia=tuple(inertia))
    system.free("flight", system.world, "hull")
    for k, name in enumerate(names[1:]):
        kind, place = str(rng.choice(kinds)), system[str(rng.choice(names[: k + 1]))].at(*rng.normal(0, 0.3, 3))
        if kind == "oblique":
            system.prismatic(f"to_{name}", place, name, axis=tuple(rng.normal(0, 1, 3)), stiffness=4)
        elif kind in ("prismatic", "revolute", "cylindrical"):
            given = {} if kind == "cylindrical" else {"stiffness": rng.uniform(1, 9)}
            system.joint(f"to_{name}", kind, place, name, axis=str(rng.choice(["x", "y", "-z"])), **given)
        else:
            system.joint(f"to_{name}", kind, place, name)
    sheet = kn.equations(system, frame="hull")
    if len(sheet.notation.groups) > 1:
        assert "Not written" not in sheet.only("Solved for the motion").text()
    assert largest_error(sheet, seed) < ROUNDING


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda s: s.revolute("strut", "fin", "weight"), "fin is carried by hull and by weight"),
        (lambda s: s.spherical("tie", "world", "fin"), "tie connects a member with the world"),
        (lambda s: s.constraint("rod", "distance", a="fin", b="hull", distance=1), "constraints act"),
        (lambda s: s.revolute("pin", "hull", "weight"), "pin closes a loop"),
    ],
)
def test_what_is_not_solved_says_why(change, words):
    system = flyer()
    change(system)
    assert f"Not written: {words}." in kn.equations(system, frame="hull").only("Solved for the motion").text()


def test_what_a_parameter_may_change_stays_in_the_formulas():
    system = kn.System("one", gravity=(0, 0, 0))
    off = system.parameter("off", "0 m")
    body = system.body("body", mass=1.0, com=(0, off, 0), inertia=(1, 2, 2))
    system.free("free", system.world, body)
    sheet = kn.equations(system, frame="body")
    assert "y_cg" in sheet.symbols
    assert "x_cg" not in sheet.symbols
    assert "g_X" not in sheet.text()


# -- what is printed -----------------------------------------------------------------------------------
def test_one_free_body_is_written_without_quaternions():
    system = kn.System("one", gravity=(0, 0, 0))
    system.free("free", system.world, system.body("body", mass=2, inertia=(1, 2, 3)))
    text = kn.equations(system, "newton_euler").text()
    assert "wx_body = u_free_wx" in text
    assert "wx_dot_body = u_dot_free_wx" in text
    assert "q_free" not in text


def test_the_vector_form_does_not_grow_with_the_bodies():
    one, many = (
        kn.equations(kn.load(f"examples/{name}.yaml"), frame="world", shape="vectors")
        for name in ("pendulum", "excavator")
    )
    assert [section.lines for section in one.sections] == [section.lines for section in many.sections]
    assert "sum[j] m_j (r_j + rho_j) x (2 Omega x r°_j)" in many.text()


@pytest.mark.parametrize("width", [50, 80])
def test_lines_keep_within_the_width(spinning_sheet, vibrating_sheet, width):
    for sheet in (spinning_sheet, vibrating_sheet):
        assert max(len(line) for line in sheet.text(width).splitlines()) <= width


def test_latex_and_mathml_show_tildes_and_dots(spinning_sheet):
    latex = spinning_sheet.latex(document=True)
    assert r"\tilde{q} w" in latex
    assert r"\dot{w}" in latex
    assert r"\omega" not in latex.split("Body shell")[1]
    markup = spinning_sheet.mathml()
    assert "<mi>φ</mi>" in markup
    assert '<mover accent="true"><mi>q</mi><mo stretchy="false">~</mo></mover>' in markup


def test_values_of_all_symbols(spinning_sheet):
    values = spinning_sheet.values()
    assert values["m"] == 43.0
    assert values["p"] == pytest.approx(80.0)
    assert values["phi"] == pytest.approx(0.4)
    assert values["u"] == pytest.approx(250.0)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"frame": "areo"}, "no body or frame is called 'areo'; did you mean aero"),
        ({"frame": "aero", "formulation": "lagrange"}, "balances about 'aero' have no formulation"),
        ({"frame": "aero", "reactions": ["flight"]}, "balances about 'aero' joints are outer forces"),
        ({"frame": "aero", "shape": "named"}, "none of auto, expanded, vectors"),
    ],
)
def test_errors_say_what_to_do(arguments, words):
    with pytest.raises(kn.Error, match=words):
        kn.equations(spinning(), **arguments)


def test_a_place_needs_a_name_and_a_sheet_can_be_cut(spinning_sheet):
    system = spinning()
    with pytest.raises(kn.Error, match="frame: give the place a name"):
        kn.equations(system, frame=system["shell"].at(1, 0, 0))
    text = spinning_sheet.only("Body shell").text()
    assert "(37)" in text
    assert "Symbols" not in text
    with pytest.raises(KeyError, match="none of the sections"):
        spinning_sheet.only("Body 2")
