"""Both sides of the balances of force and moment about the origin of a frame, over a run, term by term.

One side is what acts on a body or on the system: weight, loads of elements, joints, constraints.  The other is what the
motion needs: the terms of (T-8.1), (T-8.2) for a body and of (T-8.4), (T-8.5) for the system, in components of the
frame, as ``kn.equations(system, frame=...)`` prints them (``symbolic.balances.vector_balances``).  Forces come from
compiled reactions and laws, the motion from compiled accelerations: the residual says how well they agree.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.errors import ArgumentError
from kinode.formulations.free_flight import element_loads, traced_snapshot
from kinode.hooks import hook
from kinode.model.base.fields import unknown
from kinode.model.base.observers.moving_frames import JERK, needs_jerk
from kinode.model.constraints.gear_coupling import CoordinateCoupling
from kinode.results import joint_loads
from kinode.results.run_quantities import RunQuantities, measure
from kinode.sheets.tables import Sheet, Shown, Table, format_number
from kinode.symbolic.balances import vector_balances as terms

SYSTEM = "system"


def compute_balance(run: RunQuantities, of: Any, about: Any) -> RunBalance:
    """The balance of a body, or of the system, about the origin of a frame."""
    bodies = list(run.system.bodies)
    name = str(getattr(of, "name", of))
    if name != SYSTEM and name not in bodies:
        raise ArgumentError(unknown("balance: no body is called", name, [*bodies, SYSTEM]))
    if not bodies:
        raise ArgumentError(f"balance: {run.system.name} has no bodies")
    frame = run.dynamics.arguments.frame_name(about)
    along = needs_jerk(run.system, run.system.find_frame(frame))
    if along:
        raise ArgumentError(f"balance: {along} follows a velocity: {JERK}; take a mass_center or line frame")
    seen = MotionInFrame(run, frame)
    if name == SYSTEM:
        of_force, of_moment = terms.system_terms(bodies)
    else:
        of_force, of_moment = terms.BODY_FORCE, terms.BODY_MOMENT
    forces, moments = (
        {key: value.T for key, value in terms.evaluated(group, bodies, seen.given, name).items()}
        for group in (of_force, of_moment)
    )
    formulas = {x.name: (x.formula, "") for x in of_force}
    formulas |= {x.name: (formulas.get(x.name, ("",))[0], x.formula) for x in of_moment}
    acting = Acting(run, frame, seen, bodies if name == SYSTEM else [name]).side
    return RunBalance(name, frame, run.t, acting, BalanceSide(forces, moments), formulas)


NEGLIGIBLE_TERM = 1e-12  # relative to the largest term: smaller ones have no row


@dataclass(frozen=True, eq=False)
class BalanceSide:
    """One side of a balance: forces in N and moments in N*m by name, each (time, 3), in the axes of the frame."""

    forces: Mapping[str, Array]
    moments: Mapping[str, Array]

    @cached_property
    def force(self) -> Array:
        """The sum of the forces, (time, 3), N."""
        return _sum(self.forces)

    @cached_property
    def moment(self) -> Array:
        """The sum of the moments, (time, 3), N*m."""
        return _sum(self.moments)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the terms of force and moment."""
        return tuple(dict.fromkeys([*self.forces, *self.moments]))


@dataclass(frozen=True, eq=False)
class RunBalance(Shown):
    """Both sides of the balance of a body or of the system about the origin of a frame; prints as a table.

    ``balance["Coriolis"]`` is a term of the motion or something that acts, by name: force and moment, each (time, 3),
    None where there is none.

    Attributes
    ----------
    of, about : str
        The body, or "system"; and the frame, whose origin moments are about, and whose axes all components are in.
    t : array
        Times, s.
    acting, motion : BalanceSide
        What acts: weight, elements, joints, constraints.  What the motion needs, by the terms of the equations.
    formulas : dict of str to tuple of str
        The formulas of the terms of the motion: of force and of moment.
    """

    of: str
    about: str
    t: Array
    acting: BalanceSide
    motion: BalanceSide
    formulas: Mapping[str, tuple[str, str]]

    def __getitem__(self, name: str) -> tuple[Array | None, Array | None]:
        for side in (self.acting, self.motion):
            if name in side.names:
                return side.forces.get(name), side.moments.get(name)
        raise ArgumentError(unknown("the balance has no term", str(name), [*self.acting.names, *self.motion.names]))

    @property
    def residual_force(self) -> Array:
        """Acting forces minus what the motion needs, (time, 3), N."""
        return np.asarray(self.acting.force - self.motion.force)

    @property
    def residual_moment(self) -> Array:
        """Acting moments minus what the motion needs, (time, 3), N*m."""
        return np.asarray(self.acting.moment - self.motion.moment)

    @property
    def residual(self) -> float:
        """The largest residual, relative to the largest term of force or moment: rounding, if the balance closes."""
        pairs = ((self.residual_force, "forces"), (self.residual_moment, "moments"))
        return float(np.max([_largest([x]) / (self._scale(kind) or 1.0) for x, kind in pairs]))

    @property
    def units(self) -> tuple[str, str]:
        """Of forces and of moments."""
        return "N", "N*m"

    def _side_rows(self, side: BalanceSide) -> list[tuple[str, ...]]:
        """Peak and rms of each term of one side that is not negligible, and of their sum."""
        named = [(name, side.forces.get(name), side.moments.get(name)) for name in side.names]
        shown = [row for row in named if self._is_shown(*row[1:])]
        return [
            (name, *self._cells(force, "forces"), *self._cells(moment, "moments"))
            for name, force, moment in (*shown, ("sum", side.force, side.moment))
        ]

    @property
    def sheet(self) -> Sheet:
        head, empty = ("", "force N", "rms N", "moment N*m", "rms N*m"), ("", "", "", "")
        acting, motion = ([(f"  {row[0]}", *row[1:]) for row in self._side_rows(s)] for s in (self.acting, self.motion))
        force, moment = (format_number(measure(self.t, x).peak, 2) for x in (self.residual_force, self.residual_moment))
        rows = [("acting", *empty), *acting, ("motion", *empty), *motion, ("residual", force, "", moment, "")]
        title = f"{self.of}: balance about the origin of {self.about}, in its axes"
        return Sheet(title, "; peaks and rms", [Table(head, rows, narrow=(0, 1, 3))])

    def plot(self, **options: Any) -> Any:
        """Plot both sides, stacked over time; options of ``kinode.views.plots.load_plots.plot_balance``."""
        return hook("plot_balance")(self, **options)

    # -- helpers -----------------------------------------------------------------------------------
    def _scale(self, kind: str) -> float:
        return float(np.max([_largest(getattr(side, kind).values()) for side in (self.acting, self.motion)]))

    def _is_shown(self, force: Array | None, moment: Array | None) -> bool:
        pairs = ((force, "forces"), (moment, "moments"))
        return any(x is not None and _largest([x]) > NEGLIGIBLE_TERM * self._scale(kind) for x, kind in pairs)

    def _cells(self, values: Array | None, kind: str) -> tuple[str, str]:
        if values is None or _largest([values]) <= NEGLIGIBLE_TERM * self._scale(kind):
            return "-", "-"
        size = measure(self.t, values)
        return format_number(size.peak), format_number(size.rms)


def _sum(each: Mapping[str, Array]) -> Array:
    total: Array = np.sum(list(each.values()), axis=0)
    return total


def _largest(each: Any) -> float:
    return float(np.max([np.abs(x).max(initial=0.0) for x in each], initial=0.0))


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


class Acting:
    """What acts on some of the bodies: their weight, elements, joints and constraints to what is not among them."""

    def __init__(self, run: RunQuantities, frame: str, seen: MotionInFrame, bodies: list[str]) -> None:
        self.run, self.frame, self.seen, self.bodies = run, frame, seen, set(bodies)
        self.forces: dict[str, Array] = {}
        self.moments: dict[str, Array] = {}

    @cached_property
    def side(self) -> BalanceSide:
        """The sum of each, by name."""
        self._add_weight()
        self._add_elements()
        self._add_joints()
        self._add_constraints()
        return BalanceSide(self.forces, self.moments)

    def _add(self, name: str, force: Array, moment: Array) -> None:
        for sums, value in ((self.forces, force), (self.moments, moment)):
            sums[name] = sums[name] + value if name in sums else value

    def _add_weight(self) -> None:
        g = self.seen.into(self.run["system.gravity"])
        for body in self.run.system.bodies:
            if body in self.bodies:
                weight = self.seen.masses[body] * g
                arm = self.seen.given[terms.r](body) + self.seen.given[terms.rho](body)
                self._add("weight", weight.T, cross_each(arm, weight).T)

    def _add_elements(self) -> None:
        dynamics = self.run.dynamics
        names = list(element_loads(traced_snapshot(dynamics.topology), dynamics.system.find_frame(self.frame)))
        if names:
            values = np.atleast_2d(self.run.states.call(dynamics, "element_loads", (self.frame,)))
            for k, (element, body) in enumerate(names):
                if body in self.bodies:
                    self._add(element, values[:, 6 * k : 6 * k + 3], values[:, 6 * k + 3 : 6 * k + 6])

    def _add_joints(self) -> None:
        """The whole wrench of each joint between one of these bodies and another, or the world."""
        joints = {
            name: joint.b.body in self.bodies
            for name, joint in self.run.system.joints.items()
            if (joint.a.body in self.bodies) != (joint.b.body in self.bodies)
        }
        # of all joints, so that every balance about the frame uses the same compiled function
        wrenches = joint_loads.whole_wrenches(self.run, list(self.run.system.joints), self.frame) if joints else {}
        for name, on_child in joints.items():
            sign = 1.0 if on_child else -1.0
            self._add(name, sign * wrenches[name].force, sign * wrenches[name].moment)
        for mesh in self.run.dynamics.topology.meshes:
            for name, (force, moment) in self._along_joints(mesh).items():
                if name in joints:
                    sign = -1.0 if joints[name] else 1.0
                    self._add(name, sign * force, sign * moment)

    def _along_joints(self, mesh: str) -> dict[str, tuple[Array, Array]]:
        """The effort of a gear as part of the wrench of its two joints; known teeth exert it on the wheels instead."""
        system, couplings = self.run.system, self.run.dynamics.topology.couplings
        tied = {c.constraint: (name, c.leader, c.ratio) for name, c in couplings.items()}
        if mesh in tied:
            follower, leader, ratio = tied[mesh]
        else:
            rows = system.constraints[mesh].relation(system)
            assert rows is not None
            follower, leader, ratio = rows.follower, rows.leader, rows.ratio
        resolve, effort = self.run.dynamics.arguments.resolver(self.run.p), self.run[f"{mesh}.reaction"]
        shares = {follower: effort, leader: -float(resolve(ratio)) * effort}
        return {name: self._effort_wrench(name, share, resolve) for name, share in shares.items()}

    def _effort_wrench(self, name: str, effort: Array, resolve: Any) -> tuple[Array, Array]:
        """Force, and moment about the origin of the frame, of an effort along a revolute or prismatic joint."""
        joint = self.run.system.joints[name]
        axes = np.asarray(joint.axis_rotation(resolve, resolve), dtype=float)
        unit = np.asarray(joint.effort_wrench(np.zeros(joint.n_q), joint.form(resolve)), dtype=float)[:, 0]
        turn, p = self.run[f"{name}.child.rotation"] @ axes, self.run[f"{name}.child.position"]
        moment, force = (turn @ part * effort[:, None] for part in (unit[:3], unit[3:]))
        moment = moment + np.cross(p - self.seen.motion[self.frame]["position"], force)
        return self.seen.into(force).T, self.seen.into(moment).T

    def _add_constraints(self) -> None:
        """The forces of constraints on these bodies; a gear whose teeth are not known acts along its joints alone."""
        system, meshes = self.run.system, self.run.dynamics.topology.meshes
        for name, constraint in system.constraints.items():
            if isinstance(constraint, CoordinateCoupling) and name not in meshes:
                continue
            for body, place in constraint.places(system).items():
                if body not in self.bodies:
                    continue
                force, moment = (self.run[f"{name}.on.{body}.{what}@{self.frame}"] for what in ("force", "moment"))
                at = self.run.dynamics.system.find_frame(place)
                position = self.seen.into(self._position(body, at) - self.seen.motion[self.frame]["position"])
                self._add(name, force, moment + np.cross(position.T, force))

    def _position(self, body: str, place: Any) -> Array:
        resolve = self.run.dynamics.arguments.resolver(self.run.p)
        p = np.asarray(place.pose(resolve).p, dtype=float)
        of = self.seen.motion[body]
        return np.asarray(of["position"] + of["rotation"] @ p)
