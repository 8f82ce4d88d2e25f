"""Dynamics: a system as functions of machine code.

Each function is compiled when it is first called, or found in the cache on disk.  A call with one state goes straight
to machine code.  A call with 2-D ``q, u`` is a batch over lanes and threads.  Arguments of any other shape are checked
here; errors name the argument.  The formulations that can be compiled stand here by name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.derivative_methods import DerivativeMethods
from kinode.dynamics.direct_calls import Function, KnownFunctions, fast, forget_builtins, make_direct, plain_method
from kinode.dynamics.mode_fitting import check_modes, with_modes
from kinode.dynamics.starts.initial_values import InitialValues, read_initial_values
from kinode.dynamics.starts.start import Start
from kinode.dynamics.system_faces import ExchangedSystem, FrameMethods, SteppedSystem
from kinode.errors import ArgumentError, find_close, suggest
from kinode.jit.python_function import redirect
from kinode.kernels.call_arguments import Arguments
from kinode.kernels.compiled_kernels import Kernels
from kinode.kernels.kernel_options import Kernel
from kinode.kernels.kernel_table import count_loads, count_x, find_row
from kinode.kernels.state import State, Wrench
from kinode.kernels.tree_size import is_large
from kinode.model.base.fields import short
from kinode.model.system import System
from kinode.paused_collection import paused_collection
from kinode.structure.state_layout import Coordinate, EvaluationPoint
from kinode.structure.topology import Topology, find_topology

if TYPE_CHECKING:
    from kinode.dynamics.starts.closure import LoopEquations
    from kinode.model.live_numbers import LiveNumber
    from kinode.multibody.loop_statics import Support
    from kinode.multibody.snapshot import Composition, Snapshot
    from kinode.structure.loop_closure import Closure


ALL_REACTIONS = (True, "total", None, None, None, None, None, False)  # the key of a call without options
RECURSIVE_NAME, NEWTON_EULER_NAME = "recursive", "newton_euler"
COMPILED_FORMULATIONS = (
    RECURSIVE_NAME, "circuit", NEWTON_EULER_NAME, "lagrange", "hamilton", "quasi_base", "rotators"
)  # fmt: skip


def check_formulation(formulation: str) -> None:
    """Raise for a name that is none of a formulation that can be compiled."""
    if formulation in COMPILED_FORMULATIONS:
        return
    names = ", ".join(COMPILED_FORMULATIONS)
    message = f"compile: the formulations that can be compiled are {names}, not {formulation!r}"
    if formulation == "free_flight":
        raise ArgumentError(f"{message}; free_flight balances one instant about a moving frame: kn.verify compares it")
    raise ArgumentError(suggest(message, formulation, find_close(str(formulation), COMPILED_FORMULATIONS)))


def check_applies(formulation: str, topology: Topology) -> None:
    """Raise where a formulation does not apply to a system."""
    if formulation in (RECURSIVE_NAME, "circuit"):
        return
    from kinode.formulations.scope import SCOPES, without_events  # few runs need it

    reason = SCOPES[formulation](topology)
    if formulation == NEWTON_EULER_NAME:
        reason = reason or without_events(topology)
    if reason:
        raise ArgumentError(f"{formulation} does not apply to {topology.system.name}: {reason}")


def find_composition(formulation: str) -> Composition:
    """The parts of a snapshot by which a formulation computes motion and reactions."""
    if formulation == RECURSIVE_NAME:
        from kinode.multibody.snapshot import RECURSIVE

        return RECURSIVE
    if formulation == "circuit":
        from kinode.formulations.component_circuit import CIRCUIT

        return CIRCUIT
    from kinode.formulations.formulation_table import COMPOSITIONS

    return COMPOSITIONS[formulation]


class Dynamics(DerivativeMethods, FrameMethods, SteppedSystem, ExchangedSystem):
    """A compiled system; ``kn.compile`` makes it.

    Every function also takes ``z=`` (other states), ``p=`` (parameters, by name or as a vector) and
    ``inputs=``; 2-D ``q, u`` are a batch and give a result for each row.

    It holds ``arguments`` (names, sizes, defaults), ``start`` (initial states and loop closure), ``topology`` and
    ``kernels`` (both with the independent constraint rows).
    """

    def __init__(self, system: System, formulation: str = "recursive", *, rows: tuple[int, ...] | None = None) -> None:
        """``rows`` are the independent constraint rows; by default those that the start finds."""
        if not isinstance(system, System):
            raise ArgumentError(f"compile: a System is expected, not {short(system)}; kn.load reads one from a file")
        check_formulation(formulation)
        with paused_collection():
            self.formulation, self.system = formulation, system.copy()
            self.arguments = Arguments(find_topology(self.system))
        check_applies(formulation, self.arguments.topology)
        self.start = Start(self.arguments, formulation, partial(find_composition, formulation), rows)
        self.known_supports: set[Support] = set()
        self.functions = KnownFunctions(dict)

    def __reduce__(self) -> tuple[Any, ...]:
        # Machine code cannot be pickled: another process compiles its own.
        return partial(Dynamics, rows=self.start.rows), (self.system, self.formulation)

    def __repr__(self) -> str:
        return f"<Dynamics of {self.system.name!r}: {self.n_q} q, {self.n_u} u, {self.n_z} z>"

    # -- structure and kernels ---------------------------------------------------------------------
    @property
    def topology(self) -> Topology:
        """The structure of the system, with its independent constraint rows where they are known."""
        return self.start.topology

    @property
    def kernels(self) -> Kernels:
        """The compiled functions."""
        return self.start.kernels

    @property
    def loops(self) -> LoopEquations:
        """The constraint rows of a system with loops."""
        return self.start.loops

    @property
    def closure(self) -> Closure:
        """Rank and independent rows of the constraints, from the first closed position."""
        return self.start.closure

    @property
    def n_q(self) -> int:
        """Number of coordinates."""
        return self.arguments.topology.n_q

    @property
    def n_u(self) -> int:
        """Number of speeds."""
        return self.arguments.topology.n_u

    @property
    def n_z(self) -> int:
        """Number of other states."""
        return self.arguments.topology.n_z

    @property
    def parameters(self) -> Array:
        """The model's own values of the parameters."""
        return self.arguments.parameters

    @property
    def inputs(self) -> Array:
        """The model's own values of the inputs."""
        return self.arguments.inputs

    @property
    def live(self) -> Mapping[str, LiveNumber]:
        """The numbers of the model that ``kn.compile(live=)`` named, by name; structural ones say why they are."""
        return self.arguments.live_numbers

    # -- state -------------------------------------------------------------------------------------
    @property
    def coordinates(self) -> tuple[Coordinate, ...]:
        """Every entry of q, u and z: name, index, role."""
        return self.arguments.topology.coordinates

    @property
    def initial(self) -> State:
        """The state that the model's own initial values, parameters and inputs give, at time 0."""
        return self.start.initial.copy()

    def state(
        self, values: Mapping[str, Any] | State | None = None, *, t: float = 0.0, p: Any = None, inputs: Any = None
    ) -> State:
        """The initial state with some coordinates replaced by name; loops are closed.

        Parameters
        ----------
        values : mapping or State, optional
            Coordinates by name, exact: ``{"elbow.q": 0.3}``, angles in rad, lengths in m, or texts with units.
            A State is given back as it is.
        t : float, default 0
            Time, s.
        p, inputs
            Parameters and inputs, by name or as vectors; the model's own by default.

        Returns
        -------
        State

        Examples
        --------
        >>> dynamics = kn.compile(kn.load("examples/double_pendulum.yaml"))
        >>> dynamics.state({"elbow.q": "90 deg"}).q.round(4)
        array([1.7453, 1.5708])
        """
        if isinstance(values, State):
            return values
        if values is not None and not isinstance(values, Mapping):
            raise ArgumentError(f"state: values by name are expected, such as {{'elbow.q': 0.3}}, not {short(values)}")
        if not values and self._is_default(t, p, inputs):
            return self.initial
        wanted = read_initial_values(self.arguments, values or {}, self.arguments.resolver(p))
        return self.solve_start(wanted, float(t), p, inputs)

    def solve_start(self, requested: InitialValues, t: float, p: Any, inputs: Any) -> State:
        """The state nearest to requested initial values in which all loops are closed."""
        before = self.start.known_rows
        state = self.start.solve(requested, t, p, inputs)
        if before is not None and self.start.known_rows != before:
            forget_builtins(self)
        return state

    def _is_default(self, t: float, p: Any, inputs: Any) -> bool:
        """Whether time, parameters and inputs give the initial state."""
        same_inputs = inputs is None or inputs is self.inputs or np.array_equal(inputs, self.inputs)
        return t == 0.0 and same_inputs and self.start.is_own(p)

    def point(self, state: State, p: Any = None, inputs: Any = None) -> EvaluationPoint:
        """A state with parameters and inputs: where kernels and snapshots are evaluated."""
        return self.start.point(state, p, inputs)

    def point_of(self, t: Any, y: Array, p: Any = None, inputs: Any = None) -> EvaluationPoint:
        """The evaluation point of a state vector [q, u, z], or of a batch of them."""
        read = self.arguments
        return read.topology.layout.point(t, y, read.read_parameters(p), read.read_inputs(inputs, t))

    def snapshot(self, state: State, p: Any = None, inputs: Any = None) -> Snapshot:
        """One evaluation of the model in plain numbers: slow, for inspection of intermediate results."""
        from kinode.multibody.snapshot import Snapshot

        return Snapshot(self.topology, self.point(state, p, inputs))

    def values(self, state: State) -> dict[str, float]:
        """Every coordinate of a state by name."""
        parts = {"q": state.q, "u": state.u, "z": state.z}
        return {c.name: float(parts[c.role][c.index]) for c in self.coordinates}

    def modes(self, t: Any, q: Any, u: Any, p: Any = None, inputs: Any = None) -> Array:
        """z with the consistent modes of a state."""
        return self.read_point(Kernel("acceleration"), t, q, u, None, p, inputs, np.empty(0)).z

    # -- functions ---------------------------------------------------------------------------------
    @fast
    def acceleration(
        self, t: Any, q: Any, u: Any, *, effort: Any = None, wrenches: Any = None,
        z: Any = None, p: Any = None, inputs: Any = None,
    ) -> Array:  # fmt: skip
        """Forward dynamics: u_dot.

        Parameters
        ----------
        t : float
            Time, s.
        q, u : array
            Coordinates and speeds in the order of ``coordinates``; of two dimensions, a batch.
        effort : array, optional
            Efforts along u that add to the model's own laws, N or N m.
        wrenches : mapping, optional
            Body -> (force, moment) in world axes at the body's origin, N and N m.
        z, p, inputs : optional
            Other states, parameters and inputs.  Without z, modes are fitted to the state.

        Returns
        -------
        array
            Accelerations, m/s2 or rad/s2.
        """
        if effort is None and wrenches is None:
            return self.call_kernel("acceleration", t, q, u, z, p, inputs)
        if not self.functions["acceleration"]:  # later calls with efforts are not to come here
            self.functions["acceleration"]["loaded"] = function = make_direct(
                self, Kernel("loaded_acceleration"), ("t", "q", "u"), None, plain_method(self, "acceleration"),
                keywords={"effort": ("x", self.n_u), "wrenches": None},
                defaults={"x": np.zeros(count_loads(self.topology))},
            )  # fmt: skip
            redirect(self.acceleration, function)
        loads = self.arguments.read_loads(effort, wrenches)
        u_dot: Array = self._kernel_function("loaded_acceleration")(t, q, u, loads, z=z, p=p, inputs=inputs)
        return u_dot

    @fast
    def effort(self, t: Any, q: Any, u: Any, u_dot: Any, *, z: Any = None, p: Any = None, inputs: Any = None) -> Array:
        """Inverse dynamics: the efforts beyond the model's own laws that give the accelerations ``u_dot``.

        ``acceleration(t, q, u, effort=effort(t, q, u, a))`` gives ``a`` back.
        """
        return self.call_kernel("effort", t, q, u, z, p, inputs, u_dot)

    @fast
    def mass_matrix(self, t: Any, q: Any, *, z: Any = None, p: Any = None, inputs: Any = None) -> Array:
        """M, symmetric and positive definite: n_u x n_u."""
        n = self.n_u
        if is_large(self.arguments.topology) and np.ndim(q) == 1:
            rows = np.broadcast_to(np.asarray(q, dtype=float), (n, np.size(q)))
            still = np.zeros((n, n))
            columns = self.effort(t, rows, still, np.eye(n), z=z, p=p, inputs=inputs)
            M: Array = columns - self.bias(t, q, still[0], z=z, p=p, inputs=inputs)
            return np.asarray(0.5 * (M + M.T))
        return self.call_kernel("mass_matrix", t, q, None, z, p, inputs, shape=(n, n))

    @fast
    def bias(self, t: Any, q: Any, u: Any, *, z: Any = None, p: Any = None, inputs: Any = None) -> Array:
        """h in M u_dot + h = effort: gyroscopic terms, gravity and the model's own loads and laws, N or N m.

        Friction is not included, since it depends on u_dot through the reactions; ``effort`` includes it.
        """
        return self.call_kernel("bias", t, q, u, z, p, inputs)

    @fast
    def energy(self, t: Any, q: Any, u: Any, *, z: Any = None, p: Any = None, inputs: Any = None) -> Array:
        """Kinetic and potential energy, J."""
        return self.call_kernel("energy", t, q, u, z, p, inputs)

    def rate(self, t: Any, y: Any, *, p: Any = None, inputs: Any = None) -> Array:
        """Time derivative of the state vector [q, u, z]."""
        q, u, z = self.arguments.split_state(y)
        rate: Array = self._kernel_function("rate")(t, q, u, None, z=z, p=p, inputs=inputs)
        return rate

    @fast
    def evaluate(
        self, names: str | Sequence[str], t: Any, q: Any, u: Any, *, z: Any = None, p: Any = None, inputs: Any = None
    ) -> dict[str, Array]:
        """Quantities by name.

        Parameters
        ----------
        names : str or sequence of str
            Such as ``"elbow.reaction.force"``, ``"lower.position"`` or ``"system.energy"``.
        t, q, u, z, p, inputs
            As in ``acceleration``.

        Returns
        -------
        dict
            Name -> value; of a batch with a row for each state.
        """
        known, key = self.functions["evaluate"], names if isinstance(names, str) else tuple(names)
        if key not in known:
            from kinode.dynamics.reactions.joint_reactions import make_evaluation

            known[key] = make_evaluation(self, (key,) if isinstance(key, str) else key)
        return known[key](t, q, u, z=z, p=p, inputs=inputs)  # type: ignore[no-any-return]

    def reactions(
        self, t: Any, q: Any, u: Any, u_dot: Any = None, *, part: str = "total", hold: Any = None,
        on: str | None = None, expressed_in: Any = None, about: Any = None,
        joints: str | Sequence[str] | None = None, whole: bool = False,
        z: Any = None, p: Any = None, inputs: Any = None,
    ) -> dict[str, Wrench]:  # fmt: skip
        """Force and moment in every joint.

        Parameters
        ----------
        t, q, u, z, p, inputs
            As in ``acceleration``.
        u_dot : array, optional
            Accelerations in place of the model's own.
        part : {"total", "static", "kinetic"}
            All, applied loads alone, or inertia alone.
        hold : joint name or names, optional
            The joints that support a mechanism with loops while inertia is left out, where no drive does.
        on : body name, optional
            Only the joints of this body, and what acts on it.  By default what the parent side does to the child.
        about : frame, optional
            The point of the moment; the joint point of the child by default.
        expressed_in : frame, optional
            The axes; the joint axes of the parent by default.
        joints : name or names, optional
            Which joints; all by default.
        whole : bool, default False
            Whether to add the efforts along the freedoms.

        Returns
        -------
        dict
            Joint -> Wrench, N and N m.
        """
        names = joints if joints is None or isinstance(joints, str) else tuple(joints)
        known, key = self.functions["reactions"], (u_dot is None, part, hold, on, expressed_in, about, names, whole)
        is_text = all(x is None or isinstance(x, str | bool) for x in (*key[:6], whole, *(names or ())))
        if (function := known.get(key) if is_text else None) is None:
            from kinode.dynamics.reactions.joint_reactions import PlainReactions, make_reactions, read_request

            request = read_request(self, part, hold, on, about, expressed_in, names, whole)
            plain = function = PlainReactions(self, request, u_dot is not None)
            if is_text:
                known[key] = function = make_reactions(plain, plain)
            is_own = type(self).reactions is Dynamics.reactions
            if is_own and is_text and key == ALL_REACTIONS:  # later calls have options, or are not for machine code
                self.__dict__["reactions"] = make_reactions(plain, self.reactions)
        wrenches: dict[str, Wrench] = function(t, q, u, u_dot, z=z, p=p, inputs=inputs)
        return wrenches

    # -- calls -------------------------------------------------------------------------------------
    def read_point(
        self, kernel: Kernel, t: Any, q: Any, u: Any, z: Any, p: Any, inputs: Any, x: Array
    ) -> EvaluationPoint:
        """The point of a call: arguments checked; where z is not given, with consistent modes."""
        point = self.arguments.read_point(t, q, u, z, p, inputs, self.start.initial_values.z)
        if z is None:
            return with_modes(self.kernels, kernel, point, x)
        check_modes(self.arguments.topology, kernel, point.z)
        return point

    def _kernel_function(self, name: str) -> Function:
        """The function of a kernel that is called with t, q, u and x."""
        if (function := self.functions["kernels"].get(name)) is None:

            def plain(t: Any, q: Any, u: Any, x: Any, *, z: Any = None, p: Any = None, inputs: Any = None) -> Array:
                return self.call_kernel(name, t, q, u, z, p, inputs, x)

            function = make_direct(self, Kernel(name), ("t", "q", "u", "x"), None, plain, least=3)
            self.functions["kernels"][name] = function
        return function

    def call_kernel(
        self, name: str | Kernel, t: Any, q: Any, u: Any, z: Any, p: Any, inputs: Any,
        x: Any = None, shape: tuple[int, ...] | None = None,
    ) -> Array:  # fmt: skip
        """Check the arguments and run a kernel, for one state or a batch."""
        row = find_row(kernel := Kernel(name) if isinstance(name, str) else name)
        n_x = count_x(self.arguments.topology, kernel)
        extra = self.arguments.read_array(row.x_name, x, n_x, np.zeros(n_x))
        out = self.kernels.call(kernel, self.read_point(kernel, t, q, u, z, p, inputs, extra), extra)
        return out if shape is None else out.reshape(*out.shape[:-1], *shape)
