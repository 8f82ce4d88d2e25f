"""A method of integration is one entry in one table: it is added here, and found wherever a method is chosen."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from discrete import G, ball, known_kinds
from rates import kepler, kepler_exact, kepler_start

import kinode as kn
from kinode.ode import method_table
from kinode.ode.integrate import integrate
from kinode.ode.loops.run_codes import Stepping
from kinode.ode.method_table import METHODS, IntegrationMethod
from kinode.ode.tableaus import cubic_tableau

ADDED = """
import json, sys
from kinode.ode.loops.run_codes import Stepping
from kinode.ode.method_table import METHODS, IntegrationMethod, write_methods
from kinode.ode.tableaus import cubic_tableau

def heun():
    return cubic_tableau("heun", 2, (0, 1, 1), ({}, {0: 1}, {0: 1 / 2, 1: 1 / 2}))

METHODS["heun"] = IntegrationMethod(
    "heun", what="Heun, order 2, fixed `step`", scope="tests", order=2, stepping=Stepping.FIXED, tableau=heun
)

import kinode as kn
from kinode.cli.commands import app

system = kn.load(sys.argv[1])
run = kn.simulate(system, 1.0, method="heun", step=1e-3)
print(json.dumps({
    "method": run.facts["method"], "steps": run.facts["steps"], "error": run.audit.relative,
    "default": system.run_defaults["method"], "schema": "heun" in json.dumps(kn.schema()),
    "docs": "| `heun` | Heun, order 2, fixed `step` | tests |" in write_methods(),
}))
app(["run", sys.argv[1], "--method", "heun", "--step", "1 ms"], prog_name="kinode")
"""
MODEL = """
kinode: 1
name: pendulum
bodies: {bar: {mass: 1, com: [0.5, 0, 0], inertia: {zz: 0.1}}}
joints: {pivot: {kind: revolute, between: [world, bar], axis: y}}
run: {until: 1 s, method: heun, step: 1 ms}
"""


def bogacki_shampine():
    """P. Bogacki, L. F. Shampine, Appl. Math. Lett. 2 (1989) 321: order 3 with an estimate of order 2."""
    stages = ({}, {0: 1 / 2}, {1: 3 / 4}, {0: 2 / 9, 1: 1 / 3, 2: 4 / 9})
    error = {0: 2 / 9 - 7 / 24, 1: 1 / 3 - 1 / 4, 2: 4 / 9 - 1 / 3, 3: -1 / 8}
    return cubic_tableau("bs32", 3, (0, 1 / 2, 3 / 4, 1), stages, error)


def heun():
    return cubic_tableau("heun", 2, (0, 1, 1), ({}, {0: 1}, {0: 1 / 2, 1: 1 / 2}))


@pytest.fixture
def added(monkeypatch):
    """Two methods more."""
    bs32 = IntegrationMethod("bs32", "Bogacki-Shampine 3(2)", "tests", 3, Stepping.ADAPTIVE, bogacki_shampine)
    fixed = IntegrationMethod("heun", "Heun", "tests", 2, Stepping.FIXED, heun)
    for method in (bs32, fixed):
        monkeypatch.setitem(METHODS, method.name, method)


def test_a_method_that_is_added_is_found_everywhere(tmp_path):
    """In ``kn.simulate``, files, the schema, the documentation's table and the command line."""
    (tmp_path / "model.yaml").write_text(MODEL)
    source = Path(method_table.__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", ADDED, str(tmp_path / "model.yaml")],
        env=os.environ | {"PYTHONPATH": str(source)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    first, _, printed = done.stdout.partition("\n")
    told = json.loads(first)
    assert told.pop("error") < 1e-4
    assert told == {"method": "heun", "steps": 1000, "default": "heun", "schema": True, "docs": True}
    assert "heun, 1000 steps" in printed


@pytest.mark.parametrize("step", [4e-3, 1e-3])
def test_a_tableau_with_a_fixed_step_has_its_order(added, step):
    """Halving the step quarters the error of Heun's method; also between steps."""
    times = np.linspace(0.0, 3.0, 1234)
    errors = []
    for h in (step, step / 2):
        run = integrate(kepler(), kepler_start(0.3), 0.0, 3.0, method="heun", step=h, times=times)
        assert run.success and run.evaluations == 2 * run.steps + 1
        errors.append(np.abs(run.y - kepler_exact(0.3, times)).max())
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.1)


def test_a_tableau_with_error_control_keeps_its_tolerance(added):
    """The error follows the tolerance, and steps go with its third root, as the order of the estimate has it."""
    times = np.linspace(0.0, 3.0, 100)
    runs = [
        integrate(kepler(), kepler_start(0.3), 0.0, 3.0, method="bs32", times=times, rtol=rtol, atol=rtol)
        for rtol in (1e-5, 1e-8)
    ]
    errors = [np.abs(run.y - kepler_exact(0.3, times)).max() for run in runs]
    assert errors[0] < 1e-3 and errors[1] < 1e-6
    assert runs[1].steps / runs[0].steps == pytest.approx(10.0, rel=0.2)


@pytest.mark.parametrize(("method", "options"), [("bs32", {}), ("heun", {"step": 1e-3})])
def test_a_method_that_is_added_finds_events(added, method, options):
    """A ball that bounces: a parabola, which both methods follow exactly but for rounding."""
    with known_kinds():
        system = ball()
        system.element("ground", kind="floor", restitution=0.8)
        run = kn.simulate(system, 1.0, method=method, **options)
    first = math.sqrt(2 / G)
    assert [event.time for event in run.events] == pytest.approx([first], abs=1e-12)
    assert run["slide.u"][-1] == pytest.approx(0.8 * G * first - G * (1.0 - first), abs=1e-9)


def test_an_unknown_method_is_answered_with_those_there_are():
    with pytest.raises(ValueError, match="expected one of dopri5, auto, dop853, rk4, stiff, got 'euler'"):
        integrate(kepler(), kepler_start(0.3), 0.0, 1.0, method="euler")


@pytest.mark.parametrize("name", METHODS)
def test_the_table_says_what_the_coefficients_are(name):
    """The rows of a tableau add up to its nodes, and the orders are those of the table."""
    method, table = METHODS[name], METHODS[name].tableau()
    assert table.order == method.order
    assert (table.name == name) == (method.then is None)  # one that hands over begins with another's coefficients
    assert np.allclose(table.stages.sum(axis=1), table.nodes, atol=1e-14)
    assert table.errors.any() != method.fixed
