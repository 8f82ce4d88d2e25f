"""The printed vector forms of the balances, evaluated: published figures of three bodies in a frame that moves."""

from __future__ import annotations

import numpy as np
import pytest

from kinode.algebra.scalars import tidy
from kinode.algebra.spatial import rotation_about
from kinode.sheets.values import TermValues
from kinode.symbolic.balances import vector_balances as balances
from known import free_flight as known

BODIES = dict(zip("abc", known.BODIES, strict=True))
V, V1, W, W1 = (np.array(x) for x in known.FRAME)


def attitude(name):
    axis = np.array(BODIES[name]["axis"])
    return np.asarray(tidy(rotation_about(axis / np.linalg.norm(axis), BODIES[name]["angle"])), dtype=float)


def vector(name, key):
    return np.array(BODIES[name][key])


def rho(name):
    return attitude(name) @ vector(name, "rho_cg")


def rho_rates(name):
    w, a, x = vector(name, "w_rel"), vector(name, "a_rel"), rho(name)
    return np.cross(w, x), np.cross(a, x) + np.cross(w, np.cross(w, x))


GIVEN = {
    balances.V: lambda: V,
    balances.V1: lambda: V1,
    balances.W: lambda: W,
    balances.W1: lambda: W1,
    balances.mass: lambda j: BODIES[j]["m"],
    balances.r: lambda j: vector(j, "r"),
    balances.r1: lambda j: vector(j, "rdot"),
    balances.r2: lambda j: vector(j, "rddot"),
    balances.rho: rho,
    balances.rho1: lambda j: rho_rates(j)[0],
    balances.rho2: lambda j: rho_rates(j)[1],
    balances.inertia: lambda j: attitude(j) @ vector(j, "I") @ attitude(j).T,
    balances.omega: lambda j: W + vector(j, "w_rel"),
    balances.omega1: lambda j: W1 + vector(j, "a_rel"),
}


@pytest.fixture
def values():
    bodies = tuple(BODIES)
    printed = (
        *balances.frame_definitions(),
        *balances.body_definitions(),
        *balances.system_definitions(lambda: bodies),
    )
    return TermValues(printed, GIVEN)


def test_bodies_of_the_printed_forms(values):
    for name, force, moment in zip(BODIES, known.FORCES, known.MOMENTS, strict=True):
        assert values(balances.force[name]) == pytest.approx(np.array(force), abs=1e-10)
        assert values(balances.moment[name]) == pytest.approx(np.array(moment), abs=1e-10)


def test_the_system_of_the_printed_forms(values):
    assert values(balances.total_mass()) == pytest.approx(known.MASS)
    assert values(balances.c()) == pytest.approx(np.array(known.CENTER), abs=1e-12)
    assert values(balances.c1()) == pytest.approx(np.array(known.CENTER_RATE), abs=1e-12)
    assert values(balances.c2()) == pytest.approx(np.array(known.CENTER_CHANGE), abs=1e-12)
    assert values(balances.total_force()) == pytest.approx(np.array(known.FORCE), abs=1e-10)
    assert values(balances.total_moment()) == pytest.approx(np.array(known.MOMENT), abs=1e-10)


def test_the_terms_of_a_run_are_those_of_the_printed_forms(values):
    bodies = tuple(BODIES)
    given = GIVEN | {balances.H: lambda j: values(balances.H[j]), balances.H1: lambda j: values(balances.H1[j])}
    for name, force, moment in zip(BODIES, known.FORCES, known.MOMENTS, strict=True):
        for terms, expected in ((balances.BODY_FORCE, force), (balances.BODY_MOMENT, moment)):
            each = balances.evaluated(terms, bodies, given, name)
            assert sum(each.values()) == pytest.approx(np.array(expected), abs=1e-10)
    of_force, of_moment = balances.system_terms(bodies)
    assert len(of_moment) == 12
    assert sum(balances.evaluated(of_force, bodies, given).values()) == pytest.approx(np.array(known.FORCE), abs=1e-10)
    assert sum(balances.evaluated(of_moment, bodies, given).values()) == pytest.approx(
        np.array(known.MOMENT), abs=1e-10
    )
