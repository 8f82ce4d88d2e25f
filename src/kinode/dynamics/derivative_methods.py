"""The methods of ``Dynamics`` that differentiate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.direct_calls import KnownFunctions
from kinode.errors import ArgumentError

if TYPE_CHECKING:  # most runs differentiate nothing
    from kinode.dynamics.compiled_system import Dynamics
    from kinode.dynamics.derivatives.derivative_request import Derivatives, Names
    from kinode.dynamics.derivatives.prepared_derivatives import DerivativeFunction, GradientFunction
    from kinode.dynamics.regressors.exciting_motion import ExcitingMotion
    from kinode.dynamics.regressors.inertial_regressor import Regressor, RegressorMaker

RATE_BY = ("coordinates", "u", "z")


class DerivativeMethods:
    """What ``Dynamics`` differentiates; the tape gives every derivative exactly."""

    functions: KnownFunctions

    def derivatives(
        self, t: Any, q: Any, u: Any, *, of: Names = "u_dot", by: Names | None = None, effort: Any = None,
        u_dot: Any = None, z: Any = None, p: Any = None, inputs: Any = None, out: Any = None,
    ) -> Derivatives:  # fmt: skip
        """Exact derivatives of accelerations, efforts, energies, reactions, poses or any quantity by name.

        Parameters
        ----------
        t, q, u, z, p, inputs
            As in ``acceleration``; 2-D ``q, u`` are a batch.
        of : name or names, default "u_dot"
            ``u_dot``, ``q_dot``, ``z_dot``, ``rate``, ``effort``, ``bias``, ``energy``, or names of quantities such as
            ``"elbow.reaction.force"``.
        by : name or names, optional
            ``q`` (small motions along the speeds: a quaternion has three columns), ``coordinates`` (the entries of q as
            they stand), ``u``, ``z``, ``t``, ``effort``, ``u_dot``, ``p`` or ``parameters``, ``inputs``, or the name of
            one parameter or input.  By default q, u and effort; of inverse dynamics q, u and u_dot.
        effort : array, optional
            Efforts that add to the model's own laws, N or N m.
        u_dot : array, optional
            Accelerations in place of the model's own; needed for ``of="effort"``.
        out : array, optional
            Where the matrix of derivatives is written.

        Returns
        -------
        Derivatives
            ``["q"]`` is the block by q; ``matrix`` has all blocks.

        Examples
        --------
        >>> dynamics = kn.compile(kn.load("examples/double_pendulum.yaml"))
        >>> d = dynamics.derivatives(0.0, [0.1, 0.2], [0.0, 0.0], of="u_dot", by=("q", "effort"))
        >>> d["q"].shape, d["effort"].shape
        ((2, 2), (2, 2))
        >>> M = dynamics.mass_matrix(0.0, [0.1, 0.2])
        >>> bool(abs(d["effort"] @ M - np.eye(2)).max() < 1e-12)
        True
        """
        if effort is not None and u_dot is not None:
            raise ArgumentError("effort, u_dot: accelerations are given, or efforts are, not both")
        function = self._prepare(of, by, u_dot is not None)
        if effort is not None and function.request.of_motion:
            raise ArgumentError("effort: it follows from u_dot here; give that")
        x, more = effort if u_dot is None else u_dot, {} if out is None else {"out": out}
        return function.blocks(function(t, q, u, x, z=z, p=p, inputs=inputs, **more))

    def derivatives_of(self, of: Names = "u_dot", by: Names | None = None) -> DerivativeFunction:
        """A function of derivatives for inner loops: ``f(t, q, u, effort, out=)`` gives the matrix.

        Parameters
        ----------
        of, by
            As in ``derivatives``.

        Returns
        -------
        DerivativeFunction
            With ``rows`` and ``columns``, the slices of the matrix by name.

        Examples
        --------
        >>> dynamics = kn.compile(kn.load("examples/double_pendulum.yaml"))
        >>> f = dynamics.derivatives_of("u_dot", by=("q", "u"))
        >>> J = np.empty(f.shape)
        >>> f(0.0, np.array([0.1, 0.2]), np.zeros(2), out=J) is J
        True
        >>> f.columns["u"]
        slice(2, 4, None)
        """
        return self._prepare(of, by, of_motion=False)

    def _prepare(self, of: Names, by: Names | None, of_motion: bool) -> DerivativeFunction:
        function: DerivativeFunction = self._known("derivatives", of, by, of_motion)
        return function

    def _known(self, kind: str, of: Names, by: Names | None, of_motion: bool) -> Any:
        """The function of derivatives, or of a gradient, for these names; made once."""
        known = self.functions[kind]
        try:
            return known[of, by, of_motion]
        except (KeyError, TypeError):  # the first time, or names in a list
            from kinode.dynamics.derivatives.derivative_request import read_names, read_request
            from kinode.dynamics.derivatives.prepared_derivatives import prepare, prepare_gradient

            key = read_names("of", of), None if by is None else read_names("by", by), of_motion
            if key not in known:
                request = read_request(cast("Dynamics", self), *key)
                known[key] = (prepare if kind == "derivatives" else prepare_gradient)(cast("Dynamics", self), request)
            if isinstance(of, str | tuple) and isinstance(by, str | tuple | None):
                known[of, by, of_motion] = known[key]
            return known[key]

    def gradient(
        self, t: Any, q: Any, u: Any, *, of: Names, by: Names | None = None, weights: Any = None, effort: Any = None,
        u_dot: Any = None, z: Any = None, p: Any = None, inputs: Any = None, out: Any = None,
    ) -> Derivatives:  # fmt: skip
        """The derivatives of one number by many, in a few times the operations of the number itself.

        Parameters
        ----------
        t, q, u, by, effort, u_dot, z, p, inputs, out
            As in ``derivatives``.
        of : name or names
            A quantity of one entry; with ``weights`` any.
        weights : array, optional
            A factor for each entry: the number is the sum of all entries times their factors.

        Returns
        -------
        Derivatives
            ``["p"]`` is the gradient by all parameters.

        Examples
        --------
        >>> dynamics = kn.compile(kn.load("examples/double_pendulum.yaml"))
        >>> gradient = dynamics.gradient(0.0, [0.1, 0.2], [0.3, 0.0], of="system.energy", by=("q", "u", "p"))
        >>> gradient["u"].shape
        (2,)
        """
        if effort is not None and u_dot is not None:
            raise ArgumentError("effort, u_dot: accelerations are given, or efforts are, not both")
        function = self._known("gradient", of, by, u_dot is not None)
        if effort is u_dot is weights is None:
            values = function(t, q, u, z=z, p=p, inputs=inputs)
        else:
            values = function.evaluate(t, q, u, effort if u_dot is None else u_dot, z, p, inputs, weights)
        result: Derivatives = function.blocks(values)
        if out is not None:
            from kinode.dynamics.derivatives.prepared_derivatives import write_into

            result = replace(result, matrix=write_into(out, result.matrix))
        return result

    def gradient_of(self, of: Names, by: Names | None = None, weights: Any = None) -> GradientFunction:
        """A function of the gradient for inner loops: ``g(t, q, u, effort, weights=, out=)`` gives a vector.

        Parameters
        ----------
        of, by
            As in ``gradient``.
        weights : array, optional
            A factor for each entry.  With these, or for a quantity of one entry, a call without efforts goes straight
            to machine code.

        Returns
        -------
        GradientFunction
            With ``columns``, the slices of the vector by name.

        Examples
        --------
        >>> dynamics = kn.compile(kn.load("examples/double_pendulum.yaml"))
        >>> g = dynamics.gradient_of("system.energy", by=("q", "u", "p"))
        >>> g(0.0, np.array([0.1, 0.2]), np.zeros(2)).shape
        (5,)
        >>> g.columns["p"]
        slice(4, 5, None)
        """
        from kinode.dynamics.derivatives.derivative_request import read_request
        from kinode.dynamics.derivatives.prepared_derivatives import prepare_gradient

        if weights is None:
            function: GradientFunction = self._known("gradient", of, by, of_motion=False)
            return function
        dynamics = cast("Dynamics", self)
        return prepare_gradient(dynamics, read_request(dynamics, of, by), weights)  # no other call has the same

    def second_derivatives(
        self, t: Any, q: Any, u: Any, *, of: str = "u_dot", along: Mapping[str, Any],
        then: Mapping[str, Any] | None = None, effort: Any = None, z: Any = None, p: Any = None, inputs: Any = None,
    ) -> Array:  # fmt: skip
        """Second derivatives of a quantity along given directions.

        Parameters
        ----------
        t, q, u, of, effort, z, p, inputs
            As in ``derivatives``; ``of`` is one name.
        along : mapping
            The first direction, by the words of ``by``: ``{"q": [1, 0], "u": [0, 1]}``.  Along q it has an entry for
            each speed.
        then : mapping, optional
            The second direction; the first one again by default.

        Returns
        -------
        array
            The derivative along ``then`` of the derivative along ``along``, in the shape of the quantity.

        Examples
        --------
        >>> dynamics = kn.compile(kn.load("examples/double_pendulum.yaml"))
        >>> dynamics.second_derivatives(0.0, [0.0, 0.0], [0.0, 0.0], of="energy", along={"u": [1, 0]}).shape
        (2,)
        """
        from kinode.dynamics.derivatives.directed_calls import CallPoint, find_second, refuse_fmus

        refuse_fmus(cast("Dynamics", self))
        at = CallPoint(t, q, u, effort, z, p, inputs)
        return find_second(cast("Dynamics", self), of, along, then, at)

    @cached_property
    def _regressors(self) -> RegressorMaker:
        from kinode.dynamics.regressors.inertial_regressor import RegressorMaker

        return RegressorMaker(cast("Dynamics", self))

    def regressor(
        self, t: Any, q: Any, u: Any, u_dot: Any, *, friction: bool = True, z: Any = None, p: Any = None,
        inputs: Any = None,
    ) -> Regressor:  # fmt: skip
        """Inverse dynamics as a linear function of inertial numbers and friction.

        Parameters
        ----------
        t, q, u, u_dot, z, p, inputs
            As in ``effort``; 2-D ``q, u, u_dot`` are a batch.
        friction : bool, default True
            Whether joints of one freedom have columns of viscous and Coulomb friction.

        Returns
        -------
        Regressor
            ``matrix @ values + rest`` are the efforts.  Its ``base()`` finds what efforts show, its ``fit(effort)``
            the numbers from measured efforts.

        Examples
        --------
        >>> dynamics = kn.compile(kn.load("examples/double_pendulum.yaml"))
        >>> state = ([0.1, 0.2], [1.0, -0.5], [0.0, 2.0])
        >>> regressor = dynamics.regressor(0.0, *state)
        >>> regressor.names[:3]
        ('upper.mass', 'upper.mass_moment.x', 'upper.mass_moment.y')
        >>> bool(abs(regressor.matrix @ regressor.values + regressor.rest - dynamics.effort(0.0, *state)).max() < 1e-12)
        True
        """
        return self._regressors.make(t, q, u, u_dot, friction, z, p, inputs)

    def exciting_motion(
        self, period: float = 10.0, *, harmonics: int = 5, limits: Mapping[str, Any] | None = None, seed: int = 0,
        iterations: int = 30,
    ) -> ExcitingMotion:  # fmt: skip
        """A periodic motion whose efforts show the inertial numbers and the friction well.

        Parameters
        ----------
        period : float, default 10.0
            s.
        harmonics : int, default 5
            Of the course of each joint.
        limits : mapping, optional
            Of coordinates a range, of speeds and accelerations a size: ``{"elbow.q": (-2, 2), "elbow.u": 3}``.  A
            coordinate without one stays within +-90 degrees or +-0.5 m.
        seed : int, default 0
            Of the first guess.
        iterations : int, default 30
            At most so many steps to a better motion.

        Examples
        --------
        >>> dynamics = kn.compile(kn.load("examples/double_pendulum.yaml"))
        >>> motion = dynamics.exciting_motion(5.0, harmonics=2, limits={"elbow.u": 3.0}, iterations=2)
        >>> bool(abs(motion.u[:, 1]).max() <= 3.0)
        True
        """
        from kinode.dynamics.regressors.exciting_motion import find_exciting_motion

        return find_exciting_motion(self._regressors, period, harmonics, limits or {}, seed, iterations)

    def rate_jacobian(self, t: float, y: Any, *, p: Any = None, inputs: Any = None) -> Array:
        """Jacobian of ``rate`` by the state [q, u, z]: ``derivatives`` of "rate", the entries of q as they stand."""
        from kinode.kernels.derivatives.derivative_words import has_paired_recursion
        from kinode.kernels.tree_size import is_large

        dynamics = cast("Dynamics", self)
        topology, (q, u, z) = dynamics.topology, dynamics.arguments.split_state(y)
        if dynamics.formulation == "recursive" and is_large(topology) and has_paired_recursion(topology):
            n = topology.n_u
            rows = self._prepare("u_dot", ("q", "u"), of_motion=False).evaluate(t, q, u, None, None, p, inputs, None)
            J = np.zeros((*rows.shape[:-2], 2 * n, 2 * n))
            J[..., :n, n:], J[..., n:, :] = np.eye(n), rows
            return J
        function = self._prepare("rate", RATE_BY, of_motion=False)
        return function.evaluate(t, q, u, None, z, p, inputs, None)
