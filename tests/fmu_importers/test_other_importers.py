"""Co-Simulation in two importers besides FMPy, beside ``kn.simulate``.

libcosim (DNV's, on Modelon's FMI Library) reads FMI 2.0; Ecos (on fmi4c) reads 2.0 and 3.0.
"""

import ctypes
from importlib import metadata

import numpy as np
import pytest

import kinode as kn

STEP, COUNT = 0.0137, 40  # s; the ticks of clocks are no multiples of it
NAMES = ("backlash_axis", "balanced_pole", "brake_arm", "four_bar", "pendulum", "quadcopter", "walker", "warm_motor")
LIMIT = 1e-7
"""Largest difference of a state, as a share of its range."""


def run_in_libcosim(path, version, names, change=None):
    """Variables after each step; ``change`` is the number of a step before which an input gets a value."""
    from libcosimpy.CosimExecution import CosimExecution
    from libcosimpy.CosimManipulator import CosimManipulator
    from libcosimpy.CosimObserver import CosimObserver
    from libcosimpy.CosimSlave import CosimLocalSlave

    assert version == "2.0"
    execution = CosimExecution.from_step_size(step_size=round(STEP * 1e9))
    index = execution.add_local_slave(local_slave=CosimLocalSlave(fmu_path=str(path), instance_name="m"))
    references = {x.name.decode(): x.reference for x in execution.slave_variables(slave_index=index)}
    observer, manipulator = CosimObserver.create_last_value(), CosimManipulator.create_override()
    assert execution.add_observer(observer=observer) and execution.add_manipulator(manipulator=manipulator)
    rows = []
    for k in range(COUNT):
        if change is not None and k == change[0]:
            assert manipulator.slave_real_values(index, [references[change[1]]], [change[2]])
        assert execution.step()
        wanted = [references[name] for name in names]
        rows.append(observer.last_real_values(slave_index=index, variable_references=wanted))
    return np.array(rows)


def run_in_ecos(path, version, names, change=None):
    """The same in Ecos, whose library needs that of Intel's threads; the package ``tbb`` brings it."""
    threads = next(file for file in metadata.files("tbb") or () if file.name == "libtbb.so.12")
    ctypes.CDLL(str(threads.locate()), ctypes.RTLD_GLOBAL)
    from ecospy import EcosSimulation, EcosSimulationStructure

    rows = []
    with EcosSimulationStructure() as structure:
        structure.add_model("m", str(path))
        with EcosSimulation(structure=structure, step_size=STEP) as simulation:
            simulation.init()
            for k in range(COUNT):
                if change is not None and k == change[0]:
                    simulation.set_real(f"m::{change[1]}", change[2])
                simulation.step()
                rows.append([simulation.get_real(f"m::{name}") for name in names])
            simulation.terminate()
    return np.array(rows)


WAYS = [(run_in_libcosim, "2.0"), (run_in_ecos, "2.0"), (run_in_ecos, "3.0")]


def export(system, folder, version):
    return kn.export(system, "fmu", folder / "model.fmu", version=version, platforms="host", optimization="-O0",
                     rtol=1e-10, atol=1e-12)  # fmt: skip


def compare(rows, run, names):
    """The largest difference as a share of a state's size; speeds that are zero have roundings of 1e-16."""
    values = np.stack([run[name][1:] for name in names], axis=1)
    sizes = np.maximum(np.ptp(values, axis=0), np.maximum(np.abs(values).max(axis=0), 1e-8))
    return float((np.abs(rows - values) / sizes).max())


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("importer", "version"), WAYS)
def test_examples_agree_with_simulate(importer, version, name, tmp_path):
    dynamics = kn.compile(kn.load(f"examples/{name}.yaml"))
    path = export(dynamics.system, tmp_path, version)
    names = [c.name for c in dynamics.coordinates if c.role in ("q", "u")] or [c.name for c in dynamics.coordinates]
    times = STEP * np.arange(COUNT + 1)
    run = kn.simulate(dynamics, times[-1], times=times, rtol=1e-10, atol=1e-12)
    assert compare(importer(path, version, names), run, names) <= LIMIT


@pytest.mark.parametrize(("importer", "version"), WAYS)
def test_inputs_act_from_the_next_step_on(importer, version, tmp_path):
    system = kn.System("slide", gravity=(0, 0, 0))
    push = system.input("push", "2 N")
    block = system.body("block", mass=2)
    system.prismatic("rail", system.world, block, axis="x", effort=push, stiffness=100, damping=3)
    path = export(system, tmp_path, version)
    rows = importer(path, version, ["rail.q", "rail.u"], (15, "push", -1.0))
    times = STEP * np.arange(COUNT + 1)
    run = kn.simulate(system, times[-1], times=times, inputs={"push": ([0.0, 15 * STEP], [2.0, -1.0], "held")},
                      rtol=1e-10, atol=1e-12)  # fmt: skip
    assert compare(rows, run, ["rail.q", "rail.u"]) <= LIMIT
