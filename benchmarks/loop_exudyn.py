"""A mechanism with loops in Exudyn: bodies in absolute coordinates, every joint a constraint, implicit solvers.

In the plane its two-dimensional bodies and pins, which are its fastest; in space rigid bodies with Euler parameters or
with three angles. Both of its implicit families are tried: generalized-alpha, and the trapezoidal rule of index 2.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import exudyn
import exudyn.itemInterface as items
import numpy as np
from exudyn.utilities import RigidBodyInertia

from loop_models import Array, Mechanism, Readout, Solid, Tie

DENSE = 10  # bodies up to which its dense solver is the faster one
RULES = {"generalized-alpha": False, "trapezoidal, index 2": True}
NODES = {"parameters": exudyn.NodeType.RotationEulerParameters, "angles": exudyn.NodeType.RotationRxyz}
LOCKED = {
    "revolute": [1, 1, 1, 1, 1, 0],
    "prismatic": [1, 1, 0, 1, 1, 1],
    "universal": [1, 1, 1, 0, 0, 1],
    "spherical": [1, 1, 1, 0, 0, 0],
}
CROSS = np.array(
    [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]
)  # its universal joint: x of one across y of the other


class Model:
    """The mechanism, ready to be run with any number of steps."""

    def __init__(self, mechanism: Mechanism, node: Any) -> None:
        self.node = node
        self.read = Readout(mechanism.make())
        self.plane, self.until = mechanism.plane, mechanism.until
        self.system = exudyn.SystemContainer().AddSystem()
        self.ground = self.system.AddObject(items.ObjectGround())
        self.bodies = {name: self._body(solid) for name, solid in self.read.solids.items()}
        for tie in self.read.ties:
            self._joint(tie)
        for pull in self.read.pulls:
            markers = [self._marker(*end) for end in zip(pull.bodies, pull.points)]
            spring = {"stiffness": pull.stiffness, "damping": 0.0, "referenceLength": pull.free_length}
            self.system.AddObject(items.ObjectConnectorSpringDamper(markerNumbers=markers, **spring))
        self.system.Assemble()

    def _body(self, solid: Solid) -> int:
        gravity = [float(g) for g in self.read.gravity]
        if not self.plane:
            made = self.system.CreateRigidBody(
                referencePosition=solid.p,
                referenceRotationMatrix=solid.R,
                initialVelocity=solid.v,
                initialAngularVelocity=solid.w,
                inertia=RigidBodyInertia(solid.mass, solid.inertia),
                gravity=gravity,
                nodeType=self.node,
            )
            return int(made)
        angle = float(np.arctan2(solid.R[1, 0], solid.R[0, 0]))
        node = self.system.AddNode(
            items.NodeRigidBody2D(
                referenceCoordinates=[float(solid.p[0]), float(solid.p[1]), angle],
                initialVelocities=[float(solid.v[0]), float(solid.v[1]), float(solid.w[2])],
            )
        )
        body = items.ObjectRigidBody2D(
            physicsMass=solid.mass, physicsInertia=float(solid.inertia[2, 2]), nodeNumber=node
        )
        number = int(self.system.AddObject(body))
        if any(gravity):
            marker = self.system.AddMarker(items.MarkerBodyMass(bodyNumber=number))
            self.system.AddLoad(items.LoadMassProportional(markerNumber=marker, loadVector=gravity))
        return number

    def _marker(self, body: str, point: Array) -> int:
        """At a point in the axes of a body; Exudyn's bodies stand at their mass centers."""
        number, local = self.ground, point
        if body != "world":
            number, local = self.bodies[body], point - self.read.solids[body].com
        kind = items.MarkerBodyPosition if self.plane else items.MarkerBodyRigid
        return int(self.system.AddMarker(kind(bodyNumber=number, localPosition=[float(x) for x in local])))

    def _joint(self, tie: Tie) -> None:
        markers = [self._marker(*end) for end in zip(tie.bodies, tie.points)]
        if self.plane:
            self.system.AddObject(items.ObjectJointRevolute2D(markerNumbers=markers))
        elif tie.kind == "spherical":
            self.system.AddObject(items.ObjectJointSpherical(markerNumbers=markers))
        else:
            turn = CROSS if tie.kind == "universal" else np.eye(3)
            a, b = (R @ turn for R in tie.axes)
            locked = LOCKED[tie.kind]
            made = items.ObjectJointGeneric(
                markerNumbers=markers, constrainedAxes=locked, rotationMarker0=a, rotationMarker1=b
            )
            self.system.AddObject(made)
        if tie.effort:
            rigid = items.MarkerBodyRigid(bodyNumber=self.bodies[tie.bodies[1]])
            moment = [float(x) for x in tie.effort * tie.axes[1][:, 2]]  # from the world, about an axis that stays
            self.system.AddLoad(items.LoadTorqueVector(markerNumber=self.system.AddMarker(rigid), loadVector=moment))

    def runner(self, index_2: bool) -> Callable[[int], None]:
        """A function that goes from the start to the end in so many equal steps, writing nothing."""
        settings = exudyn.SimulationSettings()
        settings.timeIntegration.verboseMode = 0
        settings.solution.file.write = False
        settings.solution.file.writePeriod = settings.solution.sensors.writePeriod = 1e9
        settings.timeIntegration.adaptiveStep = False
        settings.timeIntegration.endTime = self.until
        settings.timeIntegration.newton.useModifiedNewton = True
        alpha = settings.timeIntegration.generalizedAlpha
        alpha.useIndex2Constraints = alpha.useNewmark = index_2
        alpha.spectralRadius = 0.9
        solvers = exudyn.LinearSolverType
        settings.linearSolver.solverType = solvers.EXUdense if len(self.bodies) <= DENSE else solvers.EigenSparse

        def run(steps: int) -> None:
            settings.timeIntegration.numberOfSteps = steps
            if not self.system.SolveDynamic(settings, storeSolver=False):
                raise RuntimeError("Exudyn did not reach the end")

        return run

    def poses(self) -> Array:
        """Mass center and rotation of every body, now."""
        kinds, found = exudyn.OutputVariableType, []
        for number in self.bodies.values():
            p, R = (
                np.asarray(self.system.GetObjectOutputBody(number, kind, localPosition=[0, 0, 0]), dtype=float)
                for kind in (kinds.Position, kinds.RotationMatrix)
            )
            found.append(np.concatenate([p, R.ravel()]))
        return np.array(found)


def variants(mechanism: Mechanism) -> dict[str, tuple[Callable[[int], Any], Callable[[], Array]]]:
    """Of each way of solving: go to the end in so many steps, and the poses that were reached."""
    nodes = {"": None} if mechanism.plane else {f", {name}": node for name, node in NODES.items()}
    found: dict[str, Any] = {}
    for name, index_2 in RULES.items():
        for words, node in nodes.items():
            model = Model(mechanism, node)
            found[name + words] = model.runner(index_2), model.poses
    return found
