"""The motion of all bodies over a run, in components of a frame: the vectors of (T-8.1) to (T-8.5)."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.symbolic.balances import vector_balances as terms

if TYPE_CHECKING:
    from kinode.results.run_quantities import RunQuantities

MOTION = ("position", "rotation", "velocity", "angular_velocity", "acceleration", "angular_acceleration")


class MotionInFrame:
    """The vectors of the balances over a run, in components of the frame, as arrays (3, time)."""

    def __init__(self, run: RunQuantities, frame: str) -> None:
        self.run, self.frame = run, frame
        owners = [frame, *run.system.bodies]
        values = run.evaluate([f"{owner}.{key}" for owner in owners for key in MOTION if owner != "world"])
        still = {key: np.zeros((len(run), 3)) for key in MOTION} | {"rotation": np.tile(np.eye(3), (len(run), 1, 1))}
        self.motion = {
            owner: still if owner == "world" else {key: values[f"{owner}.{key}"] for key in MOTION} for owner in owners
        }
        resolve = run.dynamics.arguments.resolver(run.p)
        self.masses = {name: float(body.rigid_inertia(resolve).mass) for name, body in run.system.bodies.items()}
        self.centers = {
            name: np.array([resolve(x) for x in body.center_of_mass], dtype=float)
            for name, body in run.system.bodies.items()
        }
        self.tensors = {
            name: np.asarray(body.rigid_inertia(resolve).J, dtype=float) for name, body in run.system.bodies.items()
        }
        self.V, self.W = self.seen("velocity", frame), self.seen("angular_velocity", frame)

    def into(self, vectors: Array) -> Array:
        """World components (time, 3) as components of the frame (3, time)."""
        components: Array = np.einsum("tji,tj->it", self.motion[self.frame]["rotation"], vectors)
        return components

    def seen(self, key: str, owner: str) -> Array:
        """A velocity or acceleration in components of the frame."""
        return self.into(self.motion[owner][key])

    def rates(self, x: Array, v: Array, a: Array) -> tuple[Array, Array]:
        """Rates of the components of x, whose inertial derivatives have the components v and a (T-8.0)."""
        W, eps = self.W, self.seen("angular_acceleration", self.frame)
        first = v - cross_each(W, x)
        return first, a - cross_each(eps, x) - 2.0 * cross_each(W, first) - cross_each(W, cross_each(W, x))

    def origin_of(self, body: str) -> tuple[Array, Array, Array]:
        """r, r° and r°° of a body."""
        of, by = self.motion[body], self.motion[self.frame]
        x, v, a = (self.into(of[key] - by[key]) for key in ("position", "velocity", "acceleration"))
        return (x, *self.rates(x, v, a))

    def center_of(self, body: str) -> tuple[Array, Array, Array]:
        """rho, rho° and rho°° of a body."""
        of = self.motion[body]
        rho = of["rotation"] @ self.centers[body]
        w, eps = of["angular_velocity"], of["angular_acceleration"]
        v = np.cross(w, rho)
        a = np.cross(eps, rho) + np.cross(w, v)
        x, v, a = (self.into(vector) for vector in (rho, v, a))
        return (x, *self.rates(x, v, a))

    def spin_of(self, body: str) -> tuple[Array, Array]:
        """H and H° of a body."""
        of, J = self.motion[body], self.tensors[body]
        w, eps = (np.einsum("tji,tj->ti", of["rotation"], of[f"angular_{key}"]) for key in ("velocity", "acceleration"))
        H, change = w @ J.T, eps @ J.T + np.cross(w, w @ J.T)
        H, change = (self.into(np.einsum("tij,tj->ti", of["rotation"], x)) for x in (H, change))
        return H, change - cross_each(self.W, H)

    @cached_property
    def given(self) -> dict[Any, Any]:
        """The symbols of the balances, each a function of its indices."""
        bodies = self.run.system.bodies
        r, rho, H = ({b: of(b) for b in bodies} for of in (self.origin_of, self.center_of, self.spin_of))
        a0 = self.seen("acceleration", self.frame) - cross_each(self.W, self.V)
        alone = {
            terms.V: self.V,
            terms.W: self.W,
            terms.V1: a0,
            terms.W1: self.seen("angular_acceleration", self.frame),
        }
        by_body: dict[Any, Any] = {terms.mass: self.masses}
        for families, values in (
            ((terms.r, terms.r1, terms.r2), r),
            ((terms.rho, terms.rho1, terms.rho2), rho),
            ((terms.H, terms.H1), H),
        ):
            by_body |= {family: {b: values[b][k] for b in bodies} for k, family in enumerate(families)}
        return {family: (lambda x=x: x) for family, x in alone.items()} | {
            family: each.__getitem__ for family, each in by_body.items()
        }


def cross_each(a: Array, b: Array) -> Array:
    return np.cross(a, b, axis=0)
