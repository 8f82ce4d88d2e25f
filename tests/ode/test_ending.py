"""How runs end: one record from the loop to the trajectory and its file."""

from __future__ import annotations

import numpy as np
import pytest
from discrete import ball, known_kinds

import kinode as kn
from kinode.ode.endings import Ending, EndKind


def swing(**joint):
    system = kn.System("swing")
    bar = system.body("bar", mass=1.0, com=(0.5, 0, 0), inertia=(0.1, 0.1, 0.1))
    system.revolute("pin", system.world, bar, axis="y", **joint)
    return system


def failing(system, until, **options):
    with pytest.raises(kn.SimulationError) as caught:
        kn.simulate(system, until, **options)
    return caught.value.run


@pytest.mark.parametrize("method", ["dopri5", "stiff"])
def test_a_value_that_is_not_finite_names_its_joint(method):
    run = failing(swing(effort="sqrt(1 - t)"), 5.0, method=method)
    assert (run.ending.kind, run.ending.component) == (EndKind.NOT_FINITE, "pin")
    assert run.ending.time == pytest.approx(1.0, abs=1e-6)
    assert run.ending.message == run.message and run.status == "failed"


def test_endings_of_runs_that_are_well():
    run = kn.simulate(swing(), 1.0)
    assert run.ending == Ending(EndKind.DONE, 1.0, "reached the end")
    run = kn.simulate(swing(), 1.0, stop_when="pin.q > 0.1")
    assert (run.ending.kind, run.ending.time) == (EndKind.CONDITION, run.t[-1])
    run = kn.simulate(swing(), 1e5, method="rk4", step=1e-3, every=10.0, progress=lambda x: False)
    assert (run.ending.kind, run.status) == (EndKind.STOPPED, "stopped")


@pytest.mark.parametrize(("kind", "fields", "ending"), [
    ("floor", {"restitution": 0.5}, EndKind.CHATTER),
    ("flutter", {}, EndKind.MODES_INCONSISTENT),
])  # fmt: skip
def test_events_without_end_name_their_component(kind, fields, ending):
    with known_kinds():
        system = ball()
        system.element("part", kind=kind, **fields)
        run = failing(system, 3.0)
    assert (run.ending.kind, run.ending.component) == (ending, "part")
    assert run.ending.time == run.end.t


@pytest.mark.parametrize("kind", EndKind)
def test_every_kind_is_kept_in_files(tmp_path, kind):
    run = kn.simulate(swing(), 0.1)
    run.ending = Ending(kind, 0.1, "a message", "pin", 1)
    run.save(tmp_path / "run.nc")
    assert kn.Trajectory.load(tmp_path / "run.nc").ending == run.ending
    assert kind.status in ("done", "condition", "stopped", "failed")


def test_files_that_keep_a_status_alone(tmp_path):
    """As version 0.1 wrote them."""
    import xarray

    run = kn.simulate(swing(), 0.1, samples=3)
    run.ending = Ending(EndKind.NOT_FINITE, 0.1, "a message", "pin")
    run.save(tmp_path / "run.nc")
    with xarray.open_dataset(tmp_path / "run.nc", engine="h5netcdf") as data:
        old = data.load()
    del old.attrs["ending"]
    old.to_netcdf(tmp_path / "old.nc", engine="h5netcdf")
    again = kn.Trajectory.load(tmp_path / "old.nc")
    assert (again.status, again.message) == ("failed", "a message")
    assert again.ending == Ending(EndKind.FAILED, 0.1, "a message")
    assert np.array_equal(again.t, run.t)
