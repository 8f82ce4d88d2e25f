"""CasADi functions against machine code: values to rounding, CasADi's derivatives against ``dynamics.derivatives``."""

import warnings

import casadi as ca
import numpy as np
import pytest

import kinode as kn
from kinode.algebra.scalars import FLOAT_FUNCTIONS
from kinode.algebra.trace import Tape
from kinode.exporters.frameworks.casadi_functions import CasadiWriter, casadi_names

EXAMPLES = {
    "double_pendulum": ("lower.position", "elbow.reaction.force", "lower.rotation", "energy"),
    "four_bar": ("coupler.position", "system.energy", "pin.reaction.force", "top.wrench.moment"),
    "motor_axis": ("motor.current",),
    "backlash_axis": ("gear.output.moment",),
    "quadcopter": ("system.momentum",),
    "slider_crank": ("system.kinetic_energy",),
}
BY = {"q": "coordinates", "u": "u", "z": "z", "p": "p", "inputs": "inputs", "effort": "effort", "t": "t"}


@pytest.fixture(scope="module", params=EXAMPLES)
def case(request):
    dynamics = kn.compile(kn.load(f"examples/{request.param}.yaml"))
    names = tuple(n for n in EXAMPLES[request.param])
    return dynamics, names, dynamics.to_casadi(names)


@pytest.fixture(scope="module")
def points(case):
    """A closed state with speeds that keep it closed, and efforts that are not zero."""
    dynamics = case[0]
    state, rng = dynamics.initial, np.random.default_rng(1)
    effort = rng.normal(size=dynamics.n_u)
    return {"t": 0.3, "q": state.q, "u": state.u, "z": state.z, "p": dynamics.parameters, "inputs": dynamics.inputs,
            "effort": effort}  # fmt: skip


def call(function, at):
    return {name: value.full() for name, value in function(**at).items()}


def near(value, reference, tolerance):
    reference = np.asarray(reference)
    assert value.shape == reference.shape
    assert abs(value - reference).max(initial=0.0) <= tolerance * (1.0 + abs(reference).max(initial=0.0))


def test_values_equal_the_compiled_ones(case, points):
    dynamics, names, functions = case
    state = (points["t"], points["q"], points["u"])
    rate = call(functions.rate, points)
    near(rate["u_dot"][:, 0], dynamics.acceleration(*state, z=points["z"], effort=points["effort"]), 1e-12)
    still = dict(points, effort=np.zeros(dynamics.n_u))
    y = np.concatenate([points[x] for x in "quz"])
    parts = call(functions.rate, still)
    near(np.concatenate([parts[f"{x}_dot"][:, 0] for x in "quz"]), dynamics.rate(points["t"], y), 1e-12)
    outputs = call(functions.outputs, still)
    named = [name for name in names if name != "energy"]
    for name, value in dynamics.evaluate(named, *state, z=points["z"]).items():
        near(outputs[functions.names[name]].reshape(np.shape(value)), value, 1e-12)
    if functions.reactions is not None:
        reactions = call(functions.reactions, still)
        for joint, wrench in dynamics.reactions(*state, z=points["z"]).items():
            if joint not in functions.undetermined:
                near(reactions[functions.names[joint]][:, 0], np.hstack([wrench.force, wrench.moment]), 1e-12)
    if functions.closure is not None:
        assert abs(call(functions.closure, {x: points[x] for x in points if x != "effort"})["rate"]).max() < 1e-9


def test_inverse_dynamics(case, points):
    dynamics, _, functions = case
    u_dot = np.linspace(-1.0, 1.0, dynamics.n_u)
    at = {**{x: points[x] for x in points if x != "effort"}, "u_dot": u_dot}
    effort = dynamics.effort(points["t"], points["q"], points["u"], u_dot, z=points["z"])
    near(call(functions.effort, at)["effort"][:, 0], effort, 1e-12)


@pytest.mark.parametrize("case", ["double_pendulum", "motor_axis", "slider_crank"], indirect=True, scope="module")
def test_derivatives_equal_those_of_kinode(case, points):
    dynamics, _, functions = case
    symbols = {x: ca.SX.sym(x, functions.rate.size1_in(x)) for x in functions.rate.name_in()}
    u_dot = functions.rate(**symbols)["u_dot"]
    by = [x for x in symbols if functions.rate.size1_in(x)]
    jacobian = ca.Function("J", list(symbols.values()), [ca.jacobian(u_dot, symbols[x]) for x in by])
    found = jacobian(*(points[x] for x in symbols))
    found = found if isinstance(found, tuple) else (found,)
    own = dynamics.derivatives(
        points["t"], points["q"], points["u"], of="u_dot", by=[BY[x] for x in by], z=points["z"],
        effort=points["effort"],
    )  # fmt: skip
    for x, block in zip(by, found):
        near(block.full(), own[BY[x]].reshape(dynamics.n_u, -1), 1e-10)  # sums in another order, through inverses


def test_every_operation_of_a_tape_has_its_counterpart():
    table, x = (0.0, 1.0, 2.5, 4.0), 1.7
    given = {"where": (1.0, x, 2.0), "interval": (table, x), "fetch": (table, 2.0), "atan2": (x, 0.3), "pow": (x, 1.3)}
    for op, function in FLOAT_FUNCTIONS.items():
        if op == "external":  # code of others, which is refused by name (tests/fmi/test_fmu_states.py)
            continue
        count = 2 if op in ("add", "sub", "mul", "min", "max", "less", "less_equal", "equal") else 1
        args = given.get(op, (x if op not in ("asin", "acos") else 0.4, 0.3)[:count])
        tape = Tape()
        inputs = [tape.input("x", k) if isinstance(arg, float) else arg for k, arg in enumerate(args)]
        symbols = ca.SX.sym("x", len(args))
        written = CasadiWriter(ca, {"x": symbols}).write([tape.node(op, *inputs)])
        numbers = [arg if isinstance(arg, float) else 0.0 for arg in args]
        assert float(ca.Function("f", [symbols], written)(numbers)) == pytest.approx(function(*args), rel=1e-15), op


def test_tables_are_written_over_all_intervals():
    system = kn.System("table")
    system.table("stiff", axes=[[0.0, 0.5, 1.0, 2.0]], values=[0.0, 2.0, 3.0, 3.5], outside="extrapolate")
    body = system.body("b", mass=1, inertia=(1, 1, 1))
    system.prismatic("slide", system.world, body, axis="x", effort="-stiff(slide.q)", q=0.1)
    dynamics = kn.compile(system)
    rate = dynamics.to_casadi().rate
    for q in (-0.5, 0.0, 0.2, 0.5, 0.7, 1.0, 1.4, 2.0, 3.0):
        found = float(rate(0, q, 0, [], [], [], 0)[1])
        assert found == pytest.approx(dynamics.acceleration(0.0, [q], [0.0])[0], abs=1e-12)


def test_arguments_by_name_and_errors(case):
    dynamics, _, functions = case
    for word, entry in (("p", functions.entries["p"]), ("inputs", functions.entries["inputs"])):
        if entry:
            assert functions.arguments(**{word: {entry[0].name: 7.0}})[word][0] == 7.0
    with pytest.raises(kn.ArgumentError, match="no argument is called 'qq'"):
        functions.arguments(qq=1)
    with pytest.raises(kn.ArgumentError, match="p: no entry is called"):
        functions.arguments(p={"nothing": 1})
    with pytest.raises(kn.ModelError):
        dynamics.to_casadi("nothing.at_all")
    with pytest.raises(kn.ArgumentError, match=r"effort is a function of its own"):
        dynamics.to_casadi("effort")
    assert functions.entries["q"][0].name in str(functions)


def test_reactions_shared_by_compliances_are_refused_by_name():
    system = kn.load("examples/four_bar.yaml")
    system.change("left", compliance={"axial": 1e-8, "radial": 1e-8})
    dynamics = kn.compile(system)
    with pytest.raises(kn.ArgumentError, match=r"left.reaction.force is not determined"):
        dynamics.to_casadi("left.reaction.force")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        functions = dynamics.to_casadi()  # nothing is left out of the rate
    assert "left" in functions.undetermined
    with pytest.warns(UserWarning, match=r"the reactions of .*left.* are not determined by equilibrium alone"):
        assert functions.reactions is functions.determined


def test_components_with_events_are_named():
    dynamics = kn.compile(kn.load("examples/brake_arm.yaml"))
    with pytest.warns(UserWarning, match=r"the discrete states of .*brake.* stay as they are given"):
        dynamics.to_casadi()


def test_names_that_casadi_takes():
    names = casadi_names(["a.b@c", "a_b.c", "jac", "3d", "Größe", "a..b"])
    assert list(names.values()) == ["a_b_c", "a_b_c_2", "x_jac", "x_3d", "Gr_e", "a_b"]
