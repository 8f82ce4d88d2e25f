"""Equations are written within their budget of operations, whatever acts between the bodies, and are right."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import numpy as np
import pytest
import sympy
from budget_models import PUSHING, random_system

import kinode as kn
from kinode.model.base.element import ELEMENTS
from kinode.symbolic.equations import BUDGET
from kinode.symbolic.normal_form import budget
from kinode.symbolic.printed_equations import LARGEST_BUDGET
from kinode.symbolic.quotients import QuotientReader
from kinode.tasks.verify import random_state

CHECKS = 200_000  # operations that looking for zeros in all motions may take besides, in newton_euler
MOST_CALLS = 10_000_000


def damper() -> kn.System:
    """A plane body on one oblique damper: its length is a root of a sum, by which all its terms are divided."""
    system = kn.System("damper")
    tub = system.body("tub", mass=35, inertia={"zz": 1.5})
    system.planar("hang", system.world, tub, axis="z")
    system.spring("d", system.world.at(-0.5, -0.6, 0), tub.at(-0.25, -0.25, 0), stiffness=0, damping=150)
    return system


def washing_machine() -> kn.System:
    """A tub on four springs with dampers, a drum and its laundry."""
    system = kn.System("washing_machine")
    tub = system.body("tub", mass=35, inertia={"zz": 1.5})
    drum = system.body("drum", mass=8, inertia={"zz": 0.4})
    laundry = system.body("laundry", mass=3, inertia={"zz": 0.02})
    system.planar("hang", system.world, tub, axis="z")
    for k, (x, y) in enumerate([(-0.5, 0.6), (0.5, 0.6), (-0.5, -0.6), (0.5, -0.6)]):
        ends = system.world.at(x, y, 0), tub.at(x / 2, y / 2, 0)
        system.spring(f"strut{k}", *ends, stiffness=4000 + 1000 * k, damping=150, free_length=0.3)
    system.revolute("spin", tub, drum, axis="z")
    system.revolute("swing", drum.at(0.15, 0.05, 0), laundry, axis="z")
    return system


def agrees(system: kn.System, derived: Any, seed: int) -> bool:
    """Whether a random state can be compared, at which the printed equations give the compiled acceleration.

    With loops it follows from M and the rows of G.
    """
    scope: dict = {}
    exec(derived.python(), scope)
    dynamics = kn.compile(system)
    if not dynamics.n_u:  # nothing can move
        return False
    t, q, u, z = random_state(dynamics.topology, np.random.default_rng(seed), length=0.3)
    result = scope[system.name](t, q, u, *([z] if "z" in derived.arguments else []))
    M, h = (np.array(result[name], dtype=float) for name in ("M", "bias"))
    G, gamma = (np.array(result.get(name, []), dtype=float) for name in ("G", "gamma"))
    G = G.reshape(len(gamma), len(h))
    whole = np.block([[M, -G.T], [G, np.zeros((len(G), len(G)))]])
    if np.linalg.cond(whole) > 1e8:  # a singular position
        return False
    solved = np.linalg.solve(whole, np.concatenate([-h, gamma]))[: len(h)]
    expected = dynamics.acceleration(t, q, u, z=z)
    size = np.linalg.cond(whole) * 1e-13 + 1e-9
    np.testing.assert_allclose(solved, expected, rtol=size, atol=size * max(1.0, abs(expected).max(initial=0.0)))
    return True


@pytest.mark.parametrize(("model", "formulation"), [(damper, None), (washing_machine, "lagrange")])
def test_dampers_between_plane_bodies(model, formulation):
    """By SymPy's factors alone these took hours."""
    system = model()
    with budget(3 * BUDGET) as limit:
        derived = kn.equations(system, formulation)
        text = str(derived)
    assert 1000 < limit.spent
    assert len(text) < 20_000
    for seed in range(3):
        assert agrees(system, derived, seed)


def test_the_inverse_of_a_body_whose_tensor_is_all_parameters():
    """Ten parameters: M^-1 and B1 = L'M^-1 L are those of their numbers; SymPy alone took a minute for them."""
    system = kn.System("tensor")
    m, *com = (system.parameter(name, 0.2 + 0.1 * k) for k, name in enumerate(("m", "cx", "cy", "cz")))
    sizes = {"xx": 3.0, "yy": 3.1, "zz": 3.2, "xy": 0.1, "xz": 0.2, "yz": 0.3}
    tensor = {name: system.parameter(f"J{name}", value) for name, value in sizes.items()}
    body = system.body("body", mass=m, com=tuple(com), inertia=tensor)
    system.universal("hinge", system.world, body)
    with budget(3 * BUDGET) as limit:
        e = kn.equations(system, "newton_euler", "expanded").elimination
        B1 = e.B1
    assert limit.spent > 1000
    values = {sympy.Symbol(name): parameter.value for name, parameter in system.parameters.items()}
    values |= {x: 0.3 + 0.1 * k for k, x in enumerate(sorted(e.L.free_symbols - set(values), key=str))}
    M, L, found = (np.array(A.subs(values), dtype=float) for A in (e.M, e.L, B1))
    np.testing.assert_allclose(found, L.T @ np.linalg.inv(M) @ L, rtol=1e-12)
    with pytest.raises(kn.ArgumentError, match=r"formulas that nobody reads; \.at\(\)\.lam"):
        _ = e.lam


def test_quotients_are_cancelled():
    a, b, c, x = sympy.symbols("a b c x")
    expr = (a**2 - b**2) / (a - b) / sympy.sqrt(x) + 1 / (b + c) - (a + c) / (a * b + a * c + b * c + c**2)
    reader = QuotientReader([expr])
    assert reader.cancelled(reader.read(expr)) == (a + b) / sympy.sqrt(x)
    expr = (0.5 * a * x + 9.81 * a) / (a * c)
    reader = QuotientReader([expr])
    assert sympy.simplify(reader.factored(reader.read(expr)) - (0.5 * x + 9.81) / c) == 0


def test_random_systems_have_every_element_that_loads_bodies():
    pushing = {kind for kind, cls in ELEMENTS.items() if cls.pushes}
    assert pushing <= {x.kind for seed in range(100) for x in random_system(seed).elements.values()} <= set(ELEMENTS)
    assert pushing <= {"spring", *PUSHING}


def check_random(seed: int) -> int:
    """A random system in its default formulation and another one: operations and calls, and the numbers."""
    system, agreeing = random_system(seed), 0
    for formulation in (None, ("lagrange", "hamilton", "newton_euler", "recursive")[seed % 4]):
        with budget(LARGEST_BUDGET) as limit:
            try:
                with counted_calls() as calls:
                    derived = kn.equations(system, formulation)
            except kn.Error:  # it does not apply, or the loops do not close
                continue
        assert limit.spent <= (BUDGET * len(system.bodies) + CHECKS if formulation == "newton_euler" else BUDGET)
        assert calls() < MOST_CALLS, (seed, formulation)
        if hasattr(derived, "M") and set(derived.arguments) <= {"q", "u", "z"}:
            with suppress(kn.AssemblyError):  # loops that do not reach: there is nothing to compare with
                agreeing += agrees(system, derived, seed)
    return agreeing


@contextmanager
def counted_calls() -> Iterator[Callable[[], int]]:
    """How many functions of Python were called within: work that nobody had to declare."""
    count, before = 0, sys.getprofile()

    def call(frame: object, event: str, arg: object) -> None:
        nonlocal count
        count += event == "call"

    sys.setprofile(call)
    try:
        yield lambda: count
    finally:
        sys.setprofile(before)


def test_random_systems():
    assert sum(check_random(seed) for seed in range(3)) >= 3


@pytest.mark.nightly
@pytest.mark.parametrize("first", range(0, 500, 50))
def test_many_random_systems(first):
    assert sum(check_random(seed) for seed in range(first, first + 50)) >= 40
