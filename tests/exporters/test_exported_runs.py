"""Exported models with every method of integration beside ``kn.simulate`` with the same method and tolerances.

A model is compiled once for each method: an FMU holds the C library of its model, and is driven as both.
"""

from __future__ import annotations

import ctypes
import itertools
import subprocess
from pathlib import Path

import numpy as np
import pytest
from closed_mechanisms import random_mechanism
from example_counts import is_fixed
from joint_contract import needed_fields

import kinode as kn
from kinode.exporters.c_code.method_choice import compile_for_export
from kinode.exporters.fmu.fmu_export import make_model, make_parts
from kinode.exporters.fmu.model_description import FACES
from kinode.exporters.fmu.shared_libraries import OPTIONS, find_host, find_host_compiler
from kinode.model.joints.joint import JOINTS
from kinode.ode.method_table import METHODS
from support import fmu_runs

fmpy = pytest.importorskip("fmpy")
pytestmark = pytest.mark.usefixtures("compiler")

EXAMPLES = sorted(path.stem for path in fmu_runs.EXAMPLES.glob("*.yaml"))
TOLERANCES = {"rtol": 1e-9, "atol": 1e-11}
ALLOWED = 1e-6
"""Difference of a state, as a share of its range: what tolerances leave, since steps end at other times."""
LEAST_RANGE = 1e-2
POINTS = 7.3
"""Communication intervals: no whole number, so that points and ticks of clocks do not coincide."""
FIXED_STEPS = 4380
"""Steps of fixed length, 600 in each interval: all ways take the same, but for those that end at events."""
SPAN = 0.5
CHAINED = ("revolute", "revolute", "revolute", "prismatic", "universal", "planar", "spherical", "cylindrical", "screw")
DAY, NIGHT = 5, 100
"""Random chains, and as many loops."""


class ExportedModel:
    """The FMU of a model, compiled without optimization, and the C library within."""

    def __init__(self, dynamics, folder: Path, **options) -> None:
        model = make_model(dynamics, {"outputs": [], **TOLERANCES, **options})
        sources, _, token = make_parts(model, "2.0")
        library = folder / "binaries" / find_host().folders[0] / f"{model.model.name}{find_host().suffix}"
        library.parent.mkdir(parents=True)
        for file, text in sources.items():
            (folder / file).write_text(text, encoding="utf-8")
        flags = [x for x in OPTIONS if x != "-O2" and "visibility" not in x]
        command = [*find_host_compiler(), *flags, "-O0", "-fPIC", "-I.", "-shared", FACES["2.0"], "-lm", "-o", library]
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
        self.name, self.token, self.folder, self.library = model.model.name, token, folder, library
        self.references = [x.reference for x in model.variables.states]

    def run_library(self, times):
        """The continuous states at some times, by the functions of the library."""
        code, model = ctypes.CDLL(str(self.library)), ctypes.create_string_buffer(1 << 22)

        def call(function, *arguments, result=ctypes.c_int):
            found = getattr(code, f"{self.name}_{function}")
            found.restype = result
            return found(model, *map(ctypes.c_double, arguments))

        call("defaults", result=None)
        assert call("init", 0.0) == 0
        rows = []
        for t in times:
            status = call("advance", t)
            assert status == 0, f"status {status} at t = {call('time', result=ctypes.c_double)} s"
            rows.append(call("state", result=ctypes.POINTER(ctypes.c_double))[: len(self.references)])
        return np.array(rows)

    def run_fmu(self, times):
        """The same by co-simulation."""
        fmu = fmpy.fmi2.FMU2Slave(
            guid=self.token, unzipDirectory=str(self.folder), modelIdentifier=self.name, instanceName="one"
        )
        fmu.instantiate()
        fmu.setupExperiment(startTime=0.0)
        fmu.enterInitializationMode()
        fmu.exitInitializationMode()
        now, rows = 0.0, []
        for t in times:
            fmu.doStep(now, t - now)
            now = now + (t - now)
            rows.append(fmu.getReal(self.references))
        fmu.terminate()
        fmu.freeInstance()
        return np.array(rows)


def compare(dynamics, span: float, method: str, folder: Path) -> tuple[float, float]:
    """How far the library and the FMU of a model are from ``kn.simulate``, as a share of the range of a state."""
    options = {"method": method, **({"step": span / FIXED_STEPS} if METHODS[method].fixed else {})}
    times = (span / POINTS * np.arange(1, int(POINTS) + 1)).tolist()
    run = kn.simulate(dynamics, span, times=[0.0, *times, span], **TOLERANCES, **options)
    exported = ExportedModel(dynamics, folder / method, **options)
    names = [c.name for c in dynamics.coordinates][: len(exported.references)]
    states = np.stack([run[name] for name in names], axis=1)
    size = np.maximum(np.ptp(states, axis=0), LEAST_RANGE)
    ways = (exported.run_library(times), exported.run_fmu(times))
    return tuple(float((abs(rows - states[1:-1]) / size).max()) for rows in ways)


def random_chain(seed: int) -> kn.System:
    """Bodies one after the other, or on a body before the last, with mass centers anywhere, and some springs."""
    rng = np.random.default_rng(seed)
    system, places = kn.System("chain", gravity=(0, 0, -9.81)), []
    for k in range(int(rng.integers(2, 6))):
        body = system.body(
            f"b{k}", mass=rng.uniform(0.5, 2.0), com=rng.uniform(-0.2, 0.2, 3), inertia=rng.uniform(0.02, 0.03, 3)
        )
        place = system.world if not places else places[-1 - int(rng.integers(min(2, len(places))))]
        kind = str(rng.choice(CHAINED))
        fields, n = needed_fields(kind, 0.1), len(JOINTS[kind].coordinates)
        if rng.random() < 0.5:
            fields["damping"] = rng.uniform(0.01, 0.3, n).tolist()
        if kind != "spherical":
            fields["q"] = rng.uniform(-0.5, 0.5, n).tolist()
        if kind in ("revolute", "prismatic", "cylindrical", "screw", "planar"):
            fields["axis"] = str(rng.choice(["x", "y", "z"]))
        system.joint(f"j{k}", kind, place, body, u=rng.uniform(-1.0, 1.0, n).tolist(), **fields)
        places.append(body.at(*rng.uniform(-0.4, 0.4, 3)))
    if rng.random() < 0.5:
        stiffness = 10.0 ** rng.uniform(1.0, 3.0)
        system.spring("spring", system.world.at(0, 0, 1), places[-1], stiffness=stiffness, damping=0.05 * stiffness)
    return system


def random_loop(seed: int) -> kn.System:
    """A mechanism with one or two loops, in the plane or not, that can move."""
    for trial in itertools.count():
        mechanism = random_mechanism(1000 * seed + trial, 1 + seed % 2, planar=seed % 4 < 2)
        system = mechanism.system({edge.name for edge in mechanism.edges})
        try:
            freedoms = kn.compile(system).closure.freedoms
        except kn.Error:
            continue
        if freedoms:
            system.gravity = (0, -9.81, 2.0)
            return system


def check(system: kn.System, span: float, method: str, folder: Path) -> None:
    """The whole comparison of a model with one method."""
    system.run_defaults["until"] = span
    errors = compare(compile_for_export(system), span, method, folder)
    assert max(errors) <= ALLOWED, errors


@pytest.mark.nightly
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", EXAMPLES)
def test_examples(name, method, tmp_path):
    system = kn.load(fmu_runs.EXAMPLES / f"{name}.yaml")
    check(system, fmu_runs.find_span(name, system), method, tmp_path)


@pytest.mark.parametrize("seed", [pytest.param(k, marks=() if k < DAY else pytest.mark.nightly) for k in range(NIGHT)])
@pytest.mark.parametrize("make", [random_chain, random_loop])
def test_random_models(make, seed, tmp_path):
    """All methods at night; by day each model has another one."""
    for method in [[*METHODS][seed % len(METHODS)]] if is_fixed() else METHODS:
        check(make(seed), SPAN, method, tmp_path)
