"""Rows about loops: Andrews' squeezer and N four-bars to the same error of the end state, against Exudyn.

Exudyn's side is plane rigid bodies and revolute joints with the implicit solver that did best here: the trapezoidal
rule of index 2 for the squeezer, generalized-alpha (0.9) for the four-bars, whose singular positions stop the other.
Before the clock starts the number of steps is lowered as long as the error at the end stays within twice the row's, so
that each row gives the peer its best step. Our side takes the loosest tolerance whose error is within the row's. Errors
are against the exact solution (four-bars) or an integration in 80 bits (squeezer).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from measure import Row, Side, call
from startup import side

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

Angle = Callable[[], float]
START = -0.0617138900142764496  # angle of the squeezer's crank


def plane_system() -> tuple[Any, Any]:
    """An empty system of Exudyn and its module of items."""
    import exudyn
    import exudyn.itemInterface as items

    return exudyn.SystemContainer().AddSystem(), items


class Plane:
    """Rigid bodies and pins in the plane, in Exudyn's words, described by absolute poses at the start."""

    def __init__(self, gravity: float) -> None:
        self.system, self.items = plane_system()
        self.gravity = gravity
        self.ground = self.system.AddObject(self.items.ObjectGround())
        self.bodies: dict[str, tuple[int, int, np.ndarray]] = {}

    def body(self, name: str, mass: float, inertia: float, com: Any, at: Any, angle: float, w: float = 0.0) -> None:
        """A body whose own axes stand at a point, turned by an angle; w turns it about that point."""
        com = np.asarray(com, dtype=float)
        arm = turned(angle, com)
        place, speed = np.asarray(at) + arm, w * np.array([-arm[1], arm[0]])
        node = self.system.AddNode(
            self.items.NodeRigidBody2D(referenceCoordinates=[*place, angle], initialVelocities=[*map(float, speed), w])
        )
        number = self.system.AddObject(
            self.items.ObjectRigidBody2D(physicsMass=mass, physicsInertia=inertia, nodeNumber=node)
        )
        self.bodies[name] = (number, node, com)
        if self.gravity:
            marker = self.system.AddMarker(self.items.MarkerBodyMass(bodyNumber=number))
            self.system.AddLoad(self.items.LoadMassProportional(markerNumber=marker, loadVector=[0, -self.gravity, 0]))

    def marker(self, name: str, at: Any) -> int:
        """A marker at a point in the axes of a body, or of the ground."""
        if name == "world":
            number, local = self.ground, np.asarray(at, dtype=float)
        else:
            number, _, com = self.bodies[name]
            local = np.asarray(at, dtype=float) - com
        made = self.items.MarkerBodyPosition(bodyNumber=number, localPosition=[*map(float, local), 0.0])
        return int(self.system.AddMarker(made))

    def pin(self, a: str, at_a: Any, b: str, at_b: Any) -> None:
        """A revolute joint."""
        markers = [self.marker(a, at_a), self.marker(b, at_b)]
        self.system.AddObject(self.items.ObjectJointRevolute2D(markerNumbers=markers))

    def solver(self, until: float, index_2: bool) -> Callable[[int], None]:
        """A function that goes to the end with so many steps, from the start, writing nothing."""
        import exudyn

        self.system.Assemble()
        settings = exudyn.SimulationSettings()
        settings.timeIntegration.verboseMode = 0
        settings.solution.file.write = False
        settings.solution.file.writePeriod = settings.solution.sensors.writePeriod = 1e9
        settings.timeIntegration.adaptiveStep = False
        settings.timeIntegration.endTime = until
        settings.timeIntegration.newton.useModifiedNewton = True
        alpha = settings.timeIntegration.generalizedAlpha
        alpha.useIndex2Constraints = alpha.useNewmark = index_2
        alpha.spectralRadius = 0.9
        solvers = exudyn.LinearSolverType
        settings.linearSolver.solverType = solvers.EXUdense if len(self.bodies) < 10 else solvers.EigenSparse

        def run(steps: int) -> None:
            settings.timeIntegration.numberOfSteps = steps
            if not self.system.SolveDynamic(settings, storeSolver=False):
                raise RuntimeError("Exudyn did not reach the end")

        return run

    def angle(self, name: str) -> float:
        """How far a body has turned."""
        import exudyn

        return float(self.system.GetNodeOutput(self.bodies[name][1], exudyn.OutputVariableType.Coordinates)[2])


def turned(angle: float, vector: Any) -> np.ndarray:
    """A vector of the plane, turned."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([c * vector[0] - s * vector[1], s * vector[0] + c * vector[1]])


def exudyn_four_bars(n: int) -> Plane:
    """IFToMM A02."""
    plane = Plane(9.81)
    for i in range(n + 1):
        plane.body(f"rod{i}", 1.0, 1 / 12, (0, 0.5), (i, 0), 0.0, -1.0)
        plane.pin("world", (i, 0), f"rod{i}", (0, 0))
    for i in range(n):
        plane.body(f"bar{i}", 1.0, 1 / 12, (0.5, 0), (i, 1), 0.0)
        node = plane.bodies[f"bar{i}"][1]
        plane.system.SetNodeParameter(node, "initialVelocities", [1.0, 0.0, 0.0])
        plane.pin(f"rod{i}", (0, 1), f"bar{i}", (0, 0))
        plane.pin(f"bar{i}", (1, 0), f"rod{i + 1}", (0, 1))
    return plane


def exudyn_andrews() -> Plane:
    """The squeezer: poses from the angles at the start, as the kinode model of the tests assembles them."""
    from known.mechanisms import ANDREWS_BODIES, andrews

    import kinode as kn

    system = andrews()
    start = kn.simulate(system, 1e-6, times=[0.0, 1e-6])
    plane = Plane(0.0)
    for name, (mass, inertia, com) in ANDREWS_BODIES.items():
        R, p = start[f"{name}.rotation"][0], start[f"{name}.position"][0]
        plane.body(name, mass, inertia, com, p[:2], float(np.arctan2(R[1, 0], R[0, 0])))
    for joint in system.joints.values():
        sides = [side_of(system, joint, which) for which in ("parent", "child")]
        plane.pin(*sides[0], *sides[1])
    import exudyn.itemInterface as items

    turn = plane.system.AddMarker(items.MarkerBodyRigid(bodyNumber=plane.bodies["K1"][0]))
    plane.system.AddLoad(items.LoadTorqueVector(markerNumber=turn, loadVector=[0, 0, 0.033]))
    spring = [plane.marker("world", (0.014, 0.072)), plane.marker("K3", (2e-2, -18e-3))]
    plane.system.AddObject(
        items.ObjectConnectorSpringDamper(markerNumbers=spring, stiffness=4530, damping=0, referenceLength=0.07785)
    )
    return plane


def side_of(system: Any, joint: Any, which: str) -> tuple[str, Any]:
    """Body and point of a joint's side."""
    from kinode.model.system import joint_frame

    frame = joint_frame(joint, which)
    return str(frame.body), np.asarray(frame.pose(system.nominal).p, dtype=float)[:2]


def best_steps(run: Callable[[int], None], angle: Angle, exact: float, error: float, first: int) -> int:
    """The fewest steps, by factors of the square root of two, whose error is within twice the one that is asked for."""
    steps, found = first, 0
    while True:
        run(steps)
        if abs(angle() - exact) > 2 * error:
            if found:
                return found
            if steps > 3_000_000:
                raise ValueError(f"Exudyn's error stays at {abs(angle() - exact):.1e}")
            first = steps = steps * 2
            continue
        found, steps = steps, int(steps / 1.4142)


@cache
def exact_four_bars(n: int, until: float) -> float:
    from known.mechanisms import four_bars_angle

    return -float(four_bars_angle(n, 1.0, until))


def peer(plane: Callable[[], Plane], body: str, start: float, until: float, exact: float, error: float) -> Side:
    """Exudyn with its best number of steps."""
    model = plane()
    run = model.solver(until, index_2=start != 0.0)
    steps = best_steps(run, lambda: model.angle(body) + start, exact, error, 2000)
    run(steps)
    print(f"    exudyn: {steps} steps, error {abs(model.angle(body) + start - exact):.1e}")
    return call(run, steps, value=np.array([model.angle(body) + start]))


def ours(make: Callable[[], Any], joint: str, until: float, exact: float, error: float) -> Side:
    """kinode as a user calls it, warm: the loosest tolerance that is good enough, the trajectory at its end."""
    import kinode as kn

    dynamics = kn.compile(make())

    def run(rtol: float) -> Any:
        return kn.simulate(dynamics, until, times=[0.0, until], rtol=rtol, atol=rtol / 100)

    for rtol in 10.0 ** -np.arange(3.0, 11.0, 0.5):
        angle = run(rtol)[f"{joint}.q"][-1]
        if abs(angle - exact) <= error:
            print(f"    kinode: rtol {rtol:.1e}, error {abs(angle - exact):.1e}")
            return call(run, rtol, value=np.array([angle]))
    raise ValueError("no tolerance is good enough")


COLD = """
import sys
sys.path[:0] = {paths!r}
import kinode as kn
from known.mechanisms import {make}
run = kn.simulate({make}({arguments}), {until}, times=[0.0, {until}], rtol=1e-7, atol=1e-9)
"""


def rows() -> list[Row]:
    """The rows of this file."""
    from known.mechanisms import ANDREWS_ANGLES, andrews, four_bars

    paths = [str(Path(__file__).resolve().parent), str(Path(__file__).resolve().parent.parent / "tests")]
    beta, error = ANDREWS_ANGLES["beta"], 1e-4
    squeezer = "Andrews' squeezer, 30 ms, angle to 1e-4"
    found = [
        Row(
            squeezer,
            "exudyn implicit",
            lambda: ours(andrews, "beta", 0.03, beta, error),
            lambda: peer(exudyn_andrews, "K1", START, 0.03, beta, error),
            100.0,
            tolerance=1e-4,
            unit="ms",
            rounds=4,
        )
    ]
    for n in (2, 10, 40):
        exact = exact_four_bars(n, 10.0)
        found.append(
            Row(
                f"{n} four-bars, 10 s, angle to 1e-4",
                "exudyn implicit",
                lambda n=n, exact=exact: ours(lambda: four_bars(n), "ground0", 10.0, exact, error),
                lambda n=n, exact=exact: peer(lambda: exudyn_four_bars(n), "rod0", 0.0, 10.0, exact, error),
                100.0,
                tolerance=1e-3,
                unit="ms",
                rounds=3,
            )
        )
    for make, arguments, until, title, model in (
        ("andrews", "", 0.03, squeezer, exudyn_andrews),
        ("four_bars", "10", 10.0, "10 four-bars, 10 s, angle to 1e-4", lambda: exudyn_four_bars(10)),
    ):
        text = COLD.format(paths=paths, make=make, arguments=arguments, until=until)
        exact = beta if make == "andrews" else exact_four_bars(10, until)
        body, start = ("K1", START) if make == "andrews" else ("rod0", 0.0)
        found.append(
            Row(
                f"{title}, cold: new process, empty cache",
                "exudyn implicit",
                lambda text=text: side(text, cold=True),
                lambda model=model, body=body, start=start, until=until, exact=exact: unvalued(
                    peer(model, body, start, until, exact, error)
                ),
                unit="s",
                rounds=1,
            )
        )
    return found


def unvalued(given: Side) -> Side:
    """A side whose result is not compared."""
    return Side(given.time, None, given.evaluations, given.overhead)
