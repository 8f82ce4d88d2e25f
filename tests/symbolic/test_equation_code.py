"""Equations printed as Python and C compute what the compiled functions do."""

from __future__ import annotations

import ctypes
import re
import subprocess

import numpy as np
import pytest
from c_compiler import find_compiler
from equation_models import HINGED, distant, four_bar, run_python, unique
from hypothesis import given, settings
from hypothesis import strategies as st
from peers import cannot_try
from strategies import build, plans

import kinode as kn
from kinode.structure.topology import find_topology
from kinode.tasks.verify import random_state


def run_c(text: str, arrays: dict) -> dict:
    """The statements of the printed C function, which are assignments of expressions, evaluated as they stand."""
    import math

    space = {name: getattr(math, name) for name in ("sin", "cos", "tan", "sqrt", "exp", "pow", "fabs")} | arrays
    body = text[text.index("{") + 1 : text.rindex("}")]
    for line in body.strip().splitlines():
        assert line.strip().endswith(";")
        exec(re.sub(r"^\s*const double ", "", line).strip().rstrip(";").strip(), space)
    return space


@pytest.mark.parametrize("shape", ["expanded", "named"])
@settings(max_examples=3, deadline=None)
@given(data=st.data(), seed=st.integers(0, 99))
def test_printed_code_computes_what_is_compiled(shape, data, seed):
    system = build(data.draw(plans(kinds=HINGED, most=2 if shape == "expanded" else 4, loaded=shape == "named")))
    topology = find_topology(system)
    t, q, u, z = random_state(topology, np.random.default_rng(seed))
    joints = list(system.joints)
    derived = kn.equations(system, shape=shape, reactions=joints)
    dynamics = kn.compile(system)
    u_dot = dynamics.acceleration(t, q, u, z=z)
    given = {"q": q, "u": u, "u_dot": u_dot, "z": z}
    out = run_python(derived.python(), "random")(t, *(list(given[role]) for role in derived.arguments))
    M, bias, reactions = out["M"], out["bias"], out["reactions"]
    size = 1 + abs(u_dot).max(initial=0)
    np.testing.assert_allclose(
        np.reshape(M, (topology.n_u,) * 2), dynamics.mass_matrix(t, q, z=z), rtol=1e-9, atol=1e-10
    )
    np.testing.assert_allclose(bias, dynamics.bias(t, q, u, z=z), rtol=1e-8, atol=1e-9 * size)
    wrenches = dynamics.reactions(t, q, u, z=z)
    for joint in joints:
        force, moment = reactions[joint]
        np.testing.assert_allclose(force, wrenches[joint].force, rtol=1e-8, atol=1e-8 * size)
        np.testing.assert_allclose(moment, wrenches[joint].moment, rtol=1e-8, atol=1e-8 * size)
    space = run_c(derived.c(), {"t": t, "p": [], **given, **{name: [0.0] * 99 for name in ("M", "bias", "reactions")}})
    np.testing.assert_allclose(space["bias"][: topology.n_u], bias, rtol=1e-10, atol=1e-10 * size)


@pytest.mark.parametrize(("model", "shape"), [(four_bar, "expanded"), (four_bar, "named"), (distant, "named")])
def test_printed_loops_compute_what_is_compiled(model, shape):
    """M u_dot + bias = G' lam and G u_dot = gamma, solved as printed; reactions from u_dot and lam."""
    system = model()
    dynamics = kn.compile(system)
    state = dynamics.initial
    derived = kn.equations(system, "recursive", shape=shape, reactions=list(system.joints))
    n, m = dynamics.n_u, len(derived.multipliers)
    function = run_python(derived.python(), system.name)
    given = {"q": state.q, "u": state.u, "z": state.z, "u_dot": [0.0] * n, "lam": [0.0] * m}
    out = function(0.0, *(given[role] for role in derived.arguments))
    M, G = np.array(out["M"]), np.array(out["G"])
    K = np.block([[M, -G.T], [G, np.zeros((m, m))]])
    x = np.linalg.solve(K, np.concatenate([-np.array(out["bias"]), out["gamma"]]))
    np.testing.assert_allclose(x[:n], dynamics.acceleration(0.0, state.q, state.u), rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(out["residual"], np.zeros(m), atol=1e-9)
    given |= {"u_dot": x[:n], "lam": x[n:]}
    reactions = function(0.0, *(given[role] for role in derived.arguments))["reactions"]
    for joint, wrench in dynamics.reactions(0.0, state.q, state.u).items():
        for one, two, sure in zip(
            reactions[joint], (wrench.force, wrench.moment), np.split(unique(wrench), 2), strict=True
        ):
            np.testing.assert_allclose(np.where(sure, one, 0), np.where(sure, two, 0), rtol=1e-7, atol=1e-7)
    assert {row.of for row in derived.constraints} == ({"two"} if model is four_bar else {"rod"})
    text = derived.text(60)
    assert all(str(row.symbol) in text for row in derived.constraints)


def test_tables_inputs_and_awkward_names(tmp_path):
    """A table in a law, a parameter with a name of the printed function's own: in Python, with arrays, and in C."""
    system = kn.System("motor", gravity=(0, 0, 0))
    system.parameter("double", 0.3)
    system.parameter("q", 2.0)
    system.input("volts", 1.5)
    system.table("curve", axes=[-2.0, -1.0, 0.0, 1.0, 2.0], values=[4.0, 1.0, 0.5, 1.0, 3.0], outside="hold")
    wheel = system.body("wheel", inertia=(0.1, 0.1, 0.2))
    system.revolute("axle", system.world, wheel, effort="volts*curve(axle.q) - double*q*axle.u + min(axle.u, 0.1)")
    derived = kn.equations(system, reactions=["axle"])
    wanted = kn.compile(system)
    angles = np.linspace(-2.4, 2.4, 7)
    bias = [wanted.bias(0.0, [x], [0.4])[0] for x in angles]
    function = run_python(derived.python(), "motor")
    printed = [function(0.0, [x], [0.4], [0.0], volts=1.5)["bias"][0] for x in angles]
    np.testing.assert_allclose(printed, bias, rtol=1e-12)
    arrays = run_python(derived.python("numpy"), "motor")(0.0, [angles], [np.full(7, 0.4)], [0.0])["bias"][0]
    np.testing.assert_allclose(arrays, bias, rtol=1e-12)
    library = compile_c(derived.c(), tmp_path)
    for x, value in zip(angles, bias, strict=True):
        given = [[x], [0.4], [0.0], [0.3, 2.0, 1.5]]
        assert call_c(library.motor_equations, 0.0, given, (1, 1, 6))[1][0] == pytest.approx(value, rel=1e-12)


def compile_c(text: str, folder):
    if not (compiler := find_compiler()):
        cannot_try("no C compiler on this machine")
    (folder / "a.c").write_text(text)
    command = [*compiler, "-shared", "-fPIC", "-O1", "-Werror", "-o", folder / "a.so", folder / "a.c", "-lm"]
    subprocess.run(command, check=True)
    return ctypes.CDLL(str(folder / "a.so"))


def call_c(function, t, arrays, sizes):
    out = [np.zeros(size) for size in sizes]
    given = [np.asarray(x, dtype=float) for x in arrays]
    function(ctypes.c_double(t), *(ctypes.c_void_p(x.ctypes.data) for x in [*given, *out]))
    return out
