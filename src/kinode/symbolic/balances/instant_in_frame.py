"""The motion and the loads of one instant in components of a frame: values of the symbols of the balances."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.formulations.free_flight import element_loads
from kinode.model.base.frames import Frame
from kinode.multibody.snapshot import Snapshot
from kinode.symbolic.balances.frame_carrier import FrameCarrier


def _plain(x: object) -> Array:
    return np.asarray(x, dtype=float)


class InstantInFrame:
    """A snapshot of plain numbers, seen from a frame."""

    def __init__(self, snapshot: Snapshot, carrier: FrameCarrier) -> None:
        self.snapshot, self.carrier, self.system = snapshot, carrier, snapshot.system
        self.frame = self.system.find_frame(carrier.name)
        self.resolve = snapshot.resolve
        self._known: dict[tuple[str, ...], Any] = {}
        X = snapshot.pose(self.frame)
        self.R, self.p = _plain(X.R), _plain(X.p)
        self.W, self.V = self._seen(snapshot.velocity(self.frame))
        self.W1, a = self._seen(snapshot.acceleration(self.frame))
        self.A0 = a
        self.V1 = a - np.cross(self.W, self.V)
        self.g = self.R.T @ _plain(snapshot.gravity)

    def _seen(self, pair: tuple[Array, Array]) -> tuple[Array, Array]:
        angular, linear = (self.R.T @ _plain(x) for x in pair)
        return angular, linear

    # -- the carrier -------------------------------------------------------------------------------
    @cached_property
    def base_rotation(self) -> Array:
        """The axes of the carrier, in the world."""
        assert self.carrier.base is not None
        return _plain(self.snapshot.pose(self.carrier.base).R)

    @cached_property
    def w(self) -> Array:
        """Angular velocity of the carrier, in its own axes."""
        assert self.carrier.base is not None
        return np.asarray(self.base_rotation.T @ _plain(self.snapshot.velocity(self.carrier.base)[0]))

    @cached_property
    def w1(self) -> Array:
        """Its rate."""
        assert self.carrier.base is not None
        return np.asarray(self.base_rotation.T @ _plain(self.snapshot.acceleration(self.carrier.base)[0]))

    @property
    def phi(self) -> float:
        """The roll of the carrier relative to the frame."""
        assert self.carrier.shared is not None
        C, b, c = self.R.T @ self.base_rotation, (self.carrier.shared + 1) % 3, (self.carrier.shared + 2) % 3
        return float(np.arctan2(C[c, b], C[b, b]))

    @property
    def phi_dot(self) -> float:
        """Its rate."""
        k = self.carrier.shared
        assert k is not None
        return float(self.w[k] - self.W[k])

    # -- rigid groups of bodies --------------------------------------------------------------------
    def center(self, bodies: Sequence[str]) -> tuple[Array, Array, Array]:
        """The mass center of rigid bodies from o, and the first and second rates of its components."""
        key = ("center", *bodies)
        if key not in self._known:
            self._known[key] = self._find_center(bodies)
        x, first, second = self._known[key]
        return x, first, second

    def _find_center(self, bodies: Sequence[str]) -> tuple[Array, Array, Array]:
        x, v, a = self._middle(bodies)
        W = self.W
        first = v - np.cross(W, x)
        second = a - np.cross(self.W1, x) - 2.0 * np.cross(W, first) - np.cross(W, np.cross(W, x))
        return x, first, second

    def _center(self, body: str) -> tuple[Array, Array, Array]:
        """Position, velocity and acceleration of a body's mass center relative to o, inertial derivatives."""
        com = self.system.bodies[body].com
        x = self.R.T @ (_plain(self.snapshot.pose(com).p) - self.p)
        v, a = self._seen(self.snapshot.velocity(com))[1], self._seen(self.snapshot.acceleration(com))[1]
        return x, v - self.V, a - self.A0

    def _middle(self, bodies: Sequence[str]) -> Array:
        """The same of several bodies."""
        masses = [self._mass(b) for b in bodies]
        weights = masses if any(masses) else None
        return np.asarray(np.average([self._center(b) for b in bodies], axis=0, weights=weights))

    def _mass(self, body: str) -> float:
        return float(self.resolve(self.system.bodies[body].mass))

    def spin(self, bodies: Sequence[str]) -> tuple[Array, Array]:
        """Moment of momentum of rigid bodies about their mass center, and the rate of its components."""
        key = ("spin", *bodies)
        if key not in self._known:
            self._known[key] = self._find_spin(bodies)
        H, change = self._known[key]
        return H, change

    def _find_spin(self, bodies: Sequence[str]) -> tuple[Array, Array]:
        masses, places, middle = (
            [self._mass(b) for b in bodies],
            [self._center(b) for b in bodies],
            self._middle(bodies),
        )
        H, change = np.zeros(3), np.zeros(3)
        for body, mass, place in zip(bodies, masses, places, strict=True):
            frame = Frame(body)
            R = _plain(self.snapshot.pose(frame).R)
            J = R @ _plain(self.system.bodies[body].central_inertia(self.resolve)) @ R.T
            w, eps = (_plain(x[0]) for x in (self.snapshot.velocity(frame), self.snapshot.acceleration(frame)))
            x, v, a = np.asarray(place) - middle
            H += self.R.T @ J @ w + mass * np.cross(x, v)
            change += self.R.T @ (J @ eps + np.cross(w, J @ w)) + mass * np.cross(x, a)
        return H, change - np.cross(self.W, H)

    # -- loads -------------------------------------------------------------------------------------
    @cached_property
    def acting(self) -> dict[str, tuple[Array, Array]]:
        """Force, and moment about o, on each body without its weight: elements and joints."""
        total = {name: (np.zeros(3), np.zeros(3)) for name in (*self.system.bodies, "world")}

        def add(body: str, force: Array, moment: Array) -> None:
            total[body] = (total[body][0] + force, total[body][1] + moment)

        for (_, body), (moment, force) in element_loads(self.snapshot, self.frame).items():
            add(body, _plain(force), _plain(moment))
        for name, joint in self.system.joints.items():
            wrench = self.snapshot.reaction(name, whole=True, about=self.frame, expressed_in=self.frame)
            moment, force = (_plain(x) for x in wrench)
            add(joint.b.body, force, moment)
            add(joint.a.body, -force, -moment)
        return total

    def outer(self, bodies: Sequence[str]) -> tuple[Array, Array]:
        """The same on several bodies."""
        force, moment = (sum((self.acting[b][k] for b in bodies), np.zeros(3)) for k in (0, 1))
        return force, moment

    def slide(self, joint: str) -> tuple[float, float, float]:
        """Travel, speed and acceleration of a slide."""
        q, u, _ = self.snapshot.joint_state(joint)
        return float(q[0]), float(u[0]), float(self.snapshot.joint_acceleration(joint)[0])

    def effort(self, joint: str) -> float:
        """The effort along a slide."""
        return float(self.snapshot.joint_effort(joint)[0])
