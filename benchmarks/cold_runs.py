"""First runs from nothing: import, description and run in a new process, kinode with an empty cache.

    python benchmarks/cold_runs.py                 all rows
    python benchmarks/cold_runs.py --only stewart  some of them
    python benchmarks/cold_runs.py --seconds 60    the longest that a program may look for its best setting

Four-bars beside Exudyn, which compiles nothing: it gets its fastest setting of the row's error (twice that of kinode),
and the mechanism as plain numbers in a file, so that it imports nothing of kinode. The Stewart platform against limits
in seconds, from an empty cache and with the routines that all models share in it.
"""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from loop_curves import best_point, curve
from loop_models import ROOT, Readout, find_mechanism
from startup import fresh

ERROR, KINDNESS = 1e-4, 2.0  # of kinode, and how many times that of a peer
REPEATS = 3  # of which the best counts
PAUSE = 2.0  # s, in which the process ends that makes better code for the run before
ROW = "{:58} {:>9} {:>9} {:>6} {:>14} {:>4}"
OURS = """
import sys
sys.path.insert(0, {support!r})
import kinode as kn
from mechanisms import four_bars
run = kn.simulate(four_bars({n}), {until!r}, times=[0.0, {until!r}], method={method!r}, rtol={rtol!r}, atol={atol!r})
result = [run.facts["evaluations"]]
"""
EXUDYN = """
import json
import exudyn
import exudyn.itemInterface as items
data = json.load(open({file!r}))
system = exudyn.SystemContainer().AddSystem()
bodies = {{"world": system.AddObject(items.ObjectGround())}}
for name, solid in data["solids"].items():
    node = system.AddNode(items.NodeRigidBody2D(referenceCoordinates=solid["at"], initialVelocities=solid["speeds"]))
    body = items.ObjectRigidBody2D(physicsMass=solid["mass"], physicsInertia=solid["inertia"], nodeNumber=node)
    bodies[name] = number = system.AddObject(body)
    marker = system.AddMarker(items.MarkerBodyMass(bodyNumber=number))
    system.AddLoad(items.LoadMassProportional(markerNumber=marker, loadVector=data["gravity"]))
for ends in data["pins"]:
    markers = [
        system.AddMarker(items.MarkerBodyPosition(bodyNumber=bodies[body], localPosition=at)) for body, at in ends
    ]
    system.AddObject(items.ObjectJointRevolute2D(markerNumbers=markers))
system.Assemble()
settings = exudyn.SimulationSettings()
time_settings = settings.timeIntegration
time_settings.verboseMode, settings.solution.file.write = 0, False
settings.solution.file.writePeriod = settings.solution.sensors.writePeriod = 1e9
time_settings.adaptiveStep, time_settings.endTime, time_settings.numberOfSteps = False, {until!r}, {steps!r}
time_settings.newton.useModifiedNewton = True
alpha = time_settings.generalizedAlpha
alpha.useIndex2Constraints = alpha.useNewmark = {index_2!r}
alpha.spectralRadius = 0.9
solvers = exudyn.LinearSolverType
settings.linearSolver.solverType = solvers.EXUdense if len(bodies) <= 11 else solvers.EigenSparse
assert system.SolveDynamic(settings, storeSolver=False)
"""
STEWART = """
import kinode as kn
run = kn.simulate(kn.load({path!r}), 0.1)
result = [run.facts["evaluations"]]
"""
SHARED = """
import kinode as kn
kn.simulate(kn.load({path!r}), 0.1)
"""


def write_plane(name: str, file: Path) -> None:
    """The mechanism in the plane as plain numbers."""
    read = Readout(find_mechanism(name).make())
    solids = {
        body: {
            "mass": solid.mass,
            "inertia": float(solid.inertia[2, 2]),
            "at": [*map(float, solid.p[:2]), float(np.arctan2(solid.R[1, 0], solid.R[0, 0]))],
            "speeds": [*map(float, solid.v[:2]), float(solid.w[2])],
        }
        for body, solid in read.solids.items()
    }
    pins = []
    for tie in read.ties:
        coms = [0.0 if body == "world" else read.solids[body].com for body in tie.bodies]
        pins.append([(body, (at - com).tolist()) for body, at, com in zip(tie.bodies, tie.points, coms, strict=True)])
    file.write_text(json.dumps({"solids": solids, "pins": pins, "gravity": read.gravity.tolist()}), encoding="utf-8")


def best(measure: Callable[[str], float], filled: str | None = None) -> float:
    """The least seconds of several new processes, each with an empty cache, or with a copy of a filled one."""
    found = []
    for _ in range(REPEATS):
        with tempfile.TemporaryDirectory(prefix="kinode-bench-") as cache:
            if filled is not None:
                shutil.copytree(filled, cache, dirs_exist_ok=True)
            time.sleep(PAUSE)
            found.append(measure(cache))
    return min(found)


def four_bars(n: int, asked: float, seconds: float) -> str:
    """kinode beside Exudyn."""
    name = f"four_bars_{n}"
    until = find_mechanism(name).until
    settings = {}
    for program, error in (("kinode", ERROR), ("exudyn", KINDNESS * ERROR)):
        tried = curve(program, name, seconds, error)
        settings[program] = best_point(tried, error)
        if settings[program] is None:
            least = min((point.error for point in tried), default=float("inf"))
            return f"{n} four-bars: {program} reached {least:.0e} in {seconds:g} s, not {error:.0e}; try --seconds"
    ours, peer = settings["kinode"], settings["exudyn"]
    assert ours is not None and peer is not None
    support = str(ROOT / "tests" / "support")
    body = OURS.format(
        support=support, n=n, until=until, method=ours.variant, rtol=ours.setting, atol=ours.setting / 100
    )
    mine = best(lambda cache: fresh(body, cache)[0])
    with tempfile.TemporaryDirectory(prefix="kinode-bench-") as place:
        file = Path(place) / "mechanism.json"
        write_plane(name, file)
        text = EXUDYN.format(file=str(file), until=until, steps=int(peer.setting), index_2="index 2" in peer.variant)
        theirs = best(lambda cache: fresh(text, cache)[0])
    words = f"{n} four-bars, {until:g} s, to {ERROR:.0e}: import, description, run"
    return row(words, mine, theirs, theirs / mine, f"at least {asked:g}", theirs / mine >= asked)


def stewart() -> list[str]:
    """From an empty cache, and with what all models share in it."""
    body = STEWART.format(path=str(ROOT / "examples" / "stewart_platform.yaml"))
    found = []
    for words, asked in (("an empty cache", 1.5), ("shared routines in the cache", 0.9)):
        with tempfile.TemporaryDirectory(prefix="kinode-bench-") as filled:
            if asked < 1.0:
                fresh(SHARED.format(path=str(ROOT / "examples" / "four_bar.yaml")), filled)
            mine = best(lambda cache: fresh(body, cache)[0], filled)
        found.append(row(f"Stewart platform, first run, {words}", mine, asked, mine / asked, "at most 1", mine < asked))
    return found


def row(words: str, mine: float, theirs: float, ratio: float, asked: str, met: bool) -> str:
    """A line of the table."""
    return ROW.format(words, f"{mine:.2f} s", f"{theirs:.2f} s", f"{ratio:.2f}", asked, "yes" if met else "NO")


def main() -> None:
    """Print the rows."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="")
    parser.add_argument("--seconds", type=float, default=180.0)
    given = parser.parse_args()
    print(ROW.format("work", "kinode", "other", "ratio", "asked for", "met"))
    if given.only in "stewart":
        print("\n".join(stewart()))
    for n, asked in ((10, 2.0), (40, 4.0)):
        if given.only in f"four_bars_{n}":
            print(four_bars(n, asked, given.seconds))


if __name__ == "__main__":
    main()
