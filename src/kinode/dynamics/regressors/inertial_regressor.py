"""The regressor of inverse dynamics: efforts are linear in the inertial numbers of bodies and in friction of joints.

A system whose bodies carry probes gives it: bodies fixed to them, whose mass, mass moment and inertia are parameters.
The derivatives of efforts by these numbers are the regressor, whatever the probes weigh.  At a mass of 1 kg in the
origin, the derivative by the mass center is that by the mass moment.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.errors import ArgumentError, LawError
from kinode.model.base.fields import unknown

if TYPE_CHECKING:
    from kinode.dynamics.compiled_system import Dynamics
    from kinode.dynamics.derivatives.prepared_derivatives import DerivativeFunction
    from kinode.dynamics.regressors.base_parameters import BaseParameters
    from kinode.dynamics.regressors.inertial_fit import InertialFit
    from kinode.model.system import System


NUMBERS = (
    ("mass", "kg"),
    ("mass_moment.x", "kg*m"), ("mass_moment.y", "kg*m"), ("mass_moment.z", "kg*m"),
    ("inertia.xx", "kg*m^2"), ("inertia.yy", "kg*m^2"), ("inertia.zz", "kg*m^2"),
    ("inertia.xy", "kg*m^2"), ("inertia.xz", "kg*m^2"), ("inertia.yz", "kg*m^2"),
)  # fmt: skip
"""The ten inertial numbers of a body with their units: mass, mass moment and inertia, about its origin, in its axes."""
_FIELDS = ("1 kg", *("0 m",) * 3, *("0 kg*m^2",) * 6)


class ProbedSystem:
    """The derivatives of efforts by the inertial numbers of all bodies that move."""

    def __init__(self, dynamics: Dynamics) -> None:
        from kinode.dynamics.compiled_system import Dynamics as CompiledSystem

        self.own = dynamics
        node_of = dynamics.topology.tree.node_of
        self.bodies = tuple(body for body in dynamics.system.bodies if node_of[body] != node_of["world"])
        system, names = _add_probes(dynamics.system, self.bodies)
        self.dynamics = CompiledSystem(system, rows=dynamics.start.known_rows)
        if self.dynamics.n_q != dynamics.n_q or self.dynamics.n_u != dynamics.n_u:
            raise ArgumentError(f"regressor: {dynamics.system.name} moves otherwise if its bodies carry others")
        self.function: DerivativeFunction = self.dynamics.derivatives_of("effort", by=names)

    def evaluate(self, t: Any, q: Any, u: Any, u_dot: Any, z: Any, p: Any, inputs: Any) -> Array:
        """A matrix with a row for each speed and ten columns for each body, for one state or a batch."""
        same = self.dynamics.n_z == self.own.n_z
        return self.function.evaluate(t, q, u, u_dot, z if same else None, self._parameters(p), inputs, None)

    def _parameters(self, p: Any) -> Array | None:
        """The parameters of the system, and the numbers of the probes."""
        if p is None:
            return None
        own, places = self.own.arguments.read_parameters(p), list(self.dynamics.topology.parameters)
        values = np.broadcast_to(self.dynamics.parameters, (*own.shape[:-1], len(places))).copy()
        values[..., [places.index(name) for name in self.own.topology.parameters]] = own
        return values


def _add_probes(system: System, bodies: tuple[str, ...]) -> tuple[System, tuple[str, ...]]:
    """A copy of a system with a probe on each body, without friction that depends on reactions; the new parameters."""
    twin, stem, names = system.copy(), "probe", list[str]()
    while any(name.startswith(stem) for name in system.components):
        stem += "_"
    for name, joint in system.declared_joints.items():
        if joint.friction is not None:
            twin.change(name, friction=None)
    for k, body in enumerate(bodies):
        fields = [twin.parameter(f"{stem}{k}_{j}", value) for j, value in enumerate(_FIELDS)]
        probe = twin.body(f"{stem}{k}", mass=fields[0], com=fields[1:4], inertia=fields[4:], about="origin")
        twin.fixed(f"{stem}{k}_joint", twin.bodies[body], probe)
        names += [f"{stem}{k}_{j}" for j in range(len(_FIELDS))]
    return twin, tuple(names)


VISCOUS, COULOMB = "viscous", "coulomb"
_FRICTION = {"angle": {VISCOUS: "N*m*s/rad", COULOMB: "N*m"}, "length": {VISCOUS: "N*s/m", COULOMB: "N"}}


@dataclass(frozen=True, eq=False)
class Regressor:
    """Efforts as a linear function: ``matrix @ values + rest``.

    Attributes
    ----------
    matrix : array
        (speed, number), or (time, speed, number) of a batch.
    names : tuple of str
        What the columns belong to: ``upper.mass``, ``upper.mass_moment.x`` (mass times the coordinate of the mass
        center), ``upper.inertia.xx`` (about the body's origin, in its axes), ``elbow.viscous``, ``elbow.coulomb``.
    units : tuple of str
        Their units.
    values : array
        The model's own numbers.  Of ``coulomb`` they are zero: friction of the model is part of ``rest``.
    rest : array
        Efforts that do not depend on these numbers: springs, drives and whatever else acts, with opposite sign.
    speeds : tuple of str
        What the rows belong to.
    """

    matrix: Array
    names: tuple[str, ...]
    units: tuple[str, ...]
    values: Array
    rest: Array
    speeds: tuple[str, ...]
    dynamics: Dynamics

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.array(self.matrix, dtype=dtype, copy=copy)

    def __getitem__(self, name: str) -> Array:
        """The columns of a name: ``["upper.mass"]`` one, ``["upper"]`` all of a body or joint."""
        found = [k for k, each in enumerate(self.names) if each == name or each.startswith(f"{name}.")]
        if not found:
            owners = dict.fromkeys(each.rpartition(".inertia")[0] or each.rpartition(".")[0] for each in self.names)
            raise ArgumentError(unknown("regressor: it has no column of", name, [*owners, *self.names]))
        return self.matrix[..., found[0]] if self.names[found[0]] == name else self.matrix[..., found]

    def __repr__(self) -> str:
        rows = f", {len(self.matrix)} times" if self.matrix.ndim == 3 else ""
        return f"<Regressor of {len(self.speeds)} efforts by {len(self.names)} numbers{rows}>"

    @property
    def effort(self) -> Array:
        """The efforts that the model's own numbers give, as ``dynamics.effort``."""
        total: Array = self.matrix @ self.values + self.rest
        return total

    @cached_property
    def stacked(self) -> Array:
        """The matrix with the rows of all times below each other."""
        return self.matrix.reshape(-1, len(self.names))

    @cached_property
    def _bases(self) -> dict[float, BaseParameters]:
        return {}

    def base(self, rtol: float = 1e-9) -> BaseParameters:
        """The combinations of numbers that the efforts of these motions depend on.

        Parameters
        ----------
        rtol : float, optional
            How much of a column may be left, once what other columns explain is taken away, for it to count as one of
            their combinations.

        Examples
        --------
        >>> dynamics = kn.compile(kn.load("examples/double_pendulum.yaml"))
        >>> q, u, a = np.random.default_rng(0).uniform(-1, 1, (3, 50, 2))
        >>> base = dynamics.regressor(0.0, q, u, a, friction=False).base()
        >>> base.names[:2]
        ('upper.mass_moment.x + 0.5*lower.mass', 'upper.mass_moment.y')
        """
        from kinode.dynamics.regressors.base_parameters import find_base

        if rtol not in self._bases:
            self._bases[rtol] = find_base(self, rtol)
        return self._bases[rtol]

    def fit(self, effort: Any, *, weights: Any = None, consistent: bool = True) -> InertialFit:
        """The numbers that measured efforts show, by least squares.

        Parameters
        ----------
        effort : array
            Measured efforts, (time, speed), N or N m.
        weights : array, optional
            One for each speed: the inverse of the standard deviation of its noise.
        consistent : bool, default True
            Whether every body must be possible: no negative mass, no inertia that no body has.

        Returns
        -------
        InertialFit
        """
        from kinode.dynamics.regressors.inertial_fit import fit_inertia

        return fit_inertia(self, effort, weights, consistent)


class RegressorMaker:
    """Regressors of a compiled system."""

    def __init__(self, dynamics: Dynamics) -> None:
        self.dynamics, self.probed = dynamics, ProbedSystem(dynamics)
        topology, joints = dynamics.topology, dynamics.system.joints
        self.rubbing = tuple(name for name in topology.u_of if name in joints and joints[name].n_u == 1)
        self.speeds = tuple(c.name for c in dynamics.coordinates if c.role == "u")

    def make(
        self, t: Any, q: Any, u: Any, u_dot: Any, friction: bool, z: Any, p: Any, inputs: Any
    ) -> Regressor:  # fmt: skip
        """The regressor at one state or at a batch."""
        dynamics, rubbing = self.dynamics, self.rubbing if friction else ()
        matrix = self.find_matrix(t, q, u, u_dot, rubbing, z, p, inputs)
        names = [f"{body}.{number}" for body in self.probed.bodies for number, _ in NUMBERS]
        units = [unit for _ in self.probed.bodies for _, unit in NUMBERS]
        for name in rubbing:
            told = _FRICTION[dynamics.system.joints[name].coordinates[0][1]]
            names += [f"{name}.{word}" for word in told]
            units += told.values()
        values = self._find_values(dynamics.arguments.read_parameters(p), rubbing)
        rest = dynamics.effort(t, q, u, u_dot, z=z, p=p, inputs=inputs) - matrix @ values
        return Regressor(matrix, tuple(names), tuple(units), values, rest, self.speeds, dynamics)

    def find_matrix(
        self, t: Any, q: Any, u: Any, u_dot: Any, rubbing: Sequence[str], z: Any = None, p: Any = None,
        inputs: Any = None,
    ) -> Array:  # fmt: skip
        """The columns of all bodies, then viscous and Coulomb friction of some joints."""
        matrix = self.probed.evaluate(t, q, u, u_dot, z, p, inputs)
        if not rubbing:
            return matrix
        speeds, columns = np.asarray(u, dtype=float), np.zeros((*matrix.shape[:-1], 2 * len(rubbing)))
        for k, name in enumerate(rubbing):
            place = self.dynamics.topology.u_of[name].start
            columns[..., place, 2 * k] = speeds[..., place]
            columns[..., place, 2 * k + 1] = np.sign(speeds[..., place])
        return np.concatenate([matrix, columns], axis=-1)

    def _find_values(self, p: Array, rubbing: Sequence[str]) -> Array:
        """The numbers of the model."""
        if p.ndim != 1:
            raise ArgumentError("p: one value for each parameter is expected, the same for all states")
        resolve, system, found = self.dynamics.arguments.resolver(p), self.dynamics.system, list[Any]()
        for name in self.probed.bodies:
            try:
                inertia = system.bodies[name].rigid_inertia(resolve)
            except (KeyError, LawError):
                raise ArgumentError(f"regressor: {name} has mass properties that change during the motion") from None
            J = inertia.J
            found += [inertia.mass, *inertia.moment, J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2]]
        for name in rubbing:
            damping = system.joints[name].damping
            found += [0.0 if damping is None else resolve(damping[0]), 0.0]
        return np.array(found, dtype=float)
