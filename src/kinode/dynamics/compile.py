"""Dynamics: a system as functions of machine code.

Each function is compiled when it is first called, or found in the cache on disk.  A call with one state
goes straight to machine code; a call with 2-D ``q, u`` is a batch over lanes and threads; whatever does
not fit exactly is checked here and told in words.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.initialization.following_states import settle
from kinode.dynamics.initialization.initial_values import InitialValues, read_initial_values
from kinode.dynamics.mode_fitting import check_modes, find_modes, needs_modes
from kinode.errors import ArgumentError, AssemblyError, ModelError
from kinode.jit import builtin_function, compiler, kernel_call
from kinode.jit.compiler import Machine
from kinode.kernels import kernel_programs
from kinode.kernels.call_arguments import Arguments
from kinode.kernels.fast_method import Fast, fast
from kinode.kernels.kernel_programs import Kernel
from kinode.kernels.state import State, Wrench
from kinode.kernels.tree_size import is_large
from kinode.model.base.fields import short
from kinode.model.quantity_names import QuantityName, find_quantity
from kinode.model.system import System
from kinode.multibody.restraints.coupled_friction import check_unique
from kinode.multibody.restraints.loop_statics import Support
from kinode.multibody.snapshot import Snapshot
from kinode.structure.evaluation_point import EvaluationPoint
from kinode.structure.state_layout import Coordinate
from kinode.structure.topology import Topology, find_topology

if TYPE_CHECKING:  # what loops, reactions and new code need is imported there: many runs do without
    from kinode.dynamics.initialization.loop_closure import ClosureRank
    from kinode.dynamics.redundant_reactions import ReactionSharing, StateBatch
    from kinode.jit.program import Program

SHORT = 12  # links up to which two vectors side by side hide each other's delays; beyond, they cost compile time only
LANES_FROM = 64  # rows from which a batch is worth code for several lanes


class Dynamics(Arguments):
    """A compiled system; ``kn.compile`` makes it.

    Every function also takes ``z=`` (other states), ``p=`` (parameters, by name or as a vector) and
    ``inputs=``; 2-D ``q, u`` are a batch and give a result for each row.
    """

    def __init__(self, system: System, formulation: str = "recursive", *, rows: tuple[int, ...] | None = None) -> None:
        """``rows`` are the independent rows of the constraints, where those found at the start do not serve."""
        if not isinstance(system, System):
            raise ArgumentError(f"compile: a System is expected, not {short(system)}; kn.load reads one from a file")
        self.formulation, self._kind = formulation, find_kind(formulation)
        self.system = system.copy()
        self.topology: Topology = find_topology(self.system)
        self._fingerprint = f"{formulation}\n{kernel_programs.fingerprint(self.topology)}"
        self._machines: dict[tuple[Kernel, int], Machine] = {}
        self.known_holds: set[Support] = set()
        values = self.system.parameter_values()
        self.parameters = np.array([values[name] for name in self.topology.parameters])
        self.inputs = np.array([self.system.nominal(x.value) for x in self.system.inputs.values()])
        self.wishes = read_initial_values(self, {}, self.system.nominal)
        self._closing: ClosureRank | None = None
        self._rows = rows
        if self.topology.constrained:
            from kinode.dynamics.initialization.loop_closure import LoopCloser

            self.closer = LoopCloser(self)
            with suppress(AssemblyError):  # with other numbers it may close; else whoever needs a start is told why
                self._learn(self.initial, None, None)

    def __reduce__(self) -> tuple[Any, ...]:
        # Machine code stays here: another process makes its own.
        return partial(Dynamics, rows=self._rows), (self.system, self.formulation)

    def __repr__(self) -> str:
        return f"<Dynamics of {self.system.name!r}: {self.n_q} q, {self.n_u} u, {self.n_z} z>"

    # -- state -------------------------------------------------------------------------------------
    @property
    def coordinates(self) -> tuple[Coordinate, ...]:
        """Every entry of q, u and z: name, index, role."""
        return self.topology.coordinates

    def state(
        self, values: Mapping[str, Any] | State | None = None, *, t: float = 0.0, p: Any = None, inputs: Any = None
    ) -> State:
        """The initial state with some coordinates replaced by name: ``state({"elbow.q": 0.3})``; loops are closed."""
        if isinstance(values, State):
            return values
        if values is not None and not isinstance(values, Mapping):
            raise ArgumentError(f"state: values by name are expected, such as {{'elbow.q': 0.3}}, not {short(values)}")
        if not values and self._is_default(t, p, inputs):
            return self.initial
        wishes = read_initial_values(self, values or {}, self._resolver(p))
        return self.assembled(wishes, float(t), p, inputs)

    @cached_property
    def initial(self) -> State:
        """The state that the model's own initial values, parameters and inputs give, at time 0."""
        return self.assembled(self.wishes, 0.0, None, None)

    def _is_default(self, t: float, p: Any, inputs: Any) -> bool:
        """Whether numbers are those that the initial state goes with."""
        given = ((p, self.parameters), (inputs, self.inputs))
        return t == 0.0 and all(x is None or np.array_equal(x, y) for x, y in given)

    def assembled(self, wishes: InitialValues, t: float, p: Any, inputs: Any) -> State:
        """The state nearest to what is wished in which all loops are closed; what is exact stays."""
        from kinode.dynamics.initialization.assembler import Assembler

        assembler = Assembler(self, wishes, t, p, inputs)
        q = assembler.solve_positions()
        state = State(t, q, assembler.solve_speeds(q), wishes.z)
        if self.topology.constrained:
            self._learn(state, p, inputs)
        return self._started(settle(self, state, wishes.said, p, inputs), wishes, p, inputs)

    def _started(self, state: State, wishes: InitialValues, p: Any, inputs: Any) -> State:
        """The state with the initial values of parts."""
        if self.topology.network is None:
            return state
        from kinode.dynamics.initialization.network_start import start_network

        return start_network(self, state, wishes, p, inputs)

    @property
    def closing(self) -> ClosureRank:
        """What is known of the constraints: from the model's start, or the first that closes where that one cannot."""
        return self._closing or self._learn(self.initial, None, None)

    def _learn(self, state: State, p: Any, inputs: Any) -> ClosureRank:
        """Which rows of the constraints are independent, seen from a closed state; kernels use these from now on."""
        if self._closing is not None:
            return self._closing
        closing = self.closer.find(state.t, state.q, state.z, p, inputs)
        if self._rows is not None:
            closing = replace(closing, rows=self._rows)
        check_unique(self.snapshot(state, p, inputs), self.closer.stresses(state, p, inputs))
        self.topology = self.topology.with_rows(closing.rows)
        self._fingerprint += f"\nrows {closing.rows}"
        self._closing = closing
        return closing

    def modes(self, t: Any, q: Any, u: Any, p: Any = None, inputs: Any = None) -> Array:
        """z with the modes that fit a state which was given without them."""
        given = {
            "t": self._argument("t", t, 1),
            "q": self._argument("q", q, self.n_q),
            "u": self._argument("u", u, self.n_u, np.zeros(self.n_u)),
            "z": self.wishes.z,
            "p": self._vector("p", p),
            "inputs": self._vector("inputs", inputs),
        }
        return find_modes(self, "acceleration", given)

    def snapshot(self, state: State, p: Any = None, inputs: Any = None) -> Snapshot:
        """An instant in plain numbers: slow, and good for looking inside."""
        given = self._vector("p", p), self._vector("inputs", inputs)
        return Snapshot(self.topology, EvaluationPoint(state.t, state.q, state.u, state.z, *given))

    def values(self, state: State) -> dict[str, float]:
        """Every coordinate of a state by name."""
        parts = {"q": state.q, "u": state.u, "z": state.z}
        return {c.name: float(parts[c.role][c.index]) for c in self.coordinates}

    # -- functions ---------------------------------------------------------------------------------
    @fast("t q u")
    def acceleration(
        self,
        t: Any,
        q: Any,
        u: Any,
        *,
        effort: Any = None,
        wrenches: Any = None,
        z: Any = None,
        p: Any = None,
        inputs: Any = None,
    ) -> Array:
        """u_dot; ``effort`` adds to the model's own laws, ``wrenches`` maps a body to (force, moment) in world axes."""
        if effort is None and wrenches is None:
            return self._call("acceleration", t, q, u, z, p, inputs)
        return self._call("loaded_acceleration", t, q, u, z, p, inputs, self._added(effort, wrenches))

    @fast("t q u x")
    def effort(self, t: Any, q: Any, u: Any, u_dot: Any, *, z: Any = None, p: Any = None, inputs: Any = None) -> Array:
        """Inverse dynamics: the efforts beyond the model's own laws that give these accelerations."""
        return self._call("effort", t, q, u, z, p, inputs, u_dot)

    @fast("t q", square=True)
    def mass_matrix(self, t: Any, q: Any, *, z: Any = None, p: Any = None, inputs: Any = None) -> Array:
        """M, symmetric and positive definite."""
        n = self.n_u
        if is_large(self.topology) and np.ndim(q) == 1:
            rows = np.broadcast_to(np.asarray(q, dtype=float), (n, np.size(q)))
            still = np.zeros((n, n))
            columns = self.effort(t, rows, still, np.eye(n), z=z, p=p, inputs=inputs)
            M: Array = columns - self.bias(t, q, still[0], z=z, p=p, inputs=inputs)
            return np.asarray(0.5 * (M + M.T))
        return self._call("mass_matrix", t, q, None, z, p, inputs, shape=(n, n))

    @fast("t q u")
    def bias(self, t: Any, q: Any, u: Any, *, z: Any = None, p: Any = None, inputs: Any = None) -> Array:
        """h with M u_dot + h = effort: gyroscopic terms, gravity and the model's own loads and laws.

        Without friction, which depends on u_dot through the reactions: ``effort`` has it.
        """
        return self._call("bias", t, q, u, z, p, inputs)

    @fast("t q u")
    def energy(self, t: Any, q: Any, u: Any, *, z: Any = None, p: Any = None, inputs: Any = None) -> Array:
        """Kinetic and potential energy."""
        return self._call("energy", t, q, u, z, p, inputs)

    def rate(self, t: Any, y: Any, *, p: Any = None, inputs: Any = None) -> Array:
        """Rate of the whole state vector [q, u, z]."""
        y = np.asarray(y, dtype=float)
        a, b = self.n_q, self.n_q + self.n_u
        return self._call("rate", t, y[..., :a], y[..., a:b], y[..., b:], p, inputs)

    def rate_jacobian(self, t: float, y: Any, *, p: Any = None, inputs: Any = None) -> Array:
        """Derivative of the rate by the state, exact: one directional derivative for each column."""
        y = np.asarray(y, dtype=float)
        n, a, b = y.size, self.n_q, self.n_q + self.n_u
        rows = np.broadcast_to(y, (n, n))
        return self._call("direction", t, rows[:, :a], rows[:, a:b], rows[:, b:], p, inputs, np.eye(n)).T

    def pose(self, of: Any, t: Any, q: Any, *, z: Any = None, p: Any = None, inputs: Any = None) -> tuple[Array, Array]:
        """Rotation (to world axes) and position of a body or frame."""
        found = self._call(Kernel("pose", (self._frame(of),)), t, q, None, z, p, inputs)
        return found[..., :9].reshape(*found.shape[:-1], 3, 3), found[..., 9:]

    def jacobian(
        self, of: Any, t: Any, q: Any, *, z: Any = None, p: Any = None, inputs: Any = None
    ) -> tuple[Array, Array]:
        """Angular and linear velocity of a body or frame, in world axes, for unit speeds: two 3 x n_u matrices."""
        found = self._call(Kernel("jacobian", (self._frame(of),)), t, q, None, z, p, inputs, shape=(6, self.n_u))
        return found[..., :3, :], found[..., 3:, :]

    def evaluate(
        self, names: str | Sequence[str], t: Any, q: Any, u: Any, *, z: Any = None, p: Any = None, inputs: Any = None
    ) -> dict[str, Array]:
        """Any quantities by name."""
        texts = (names,) if isinstance(names, str) else tuple(names)
        from kinode.dynamics.redundant_reactions import StateBatch, share

        states = StateBatch(t, q, u, z, p, inputs)
        return self._evaluate(texts, states, lambda: share(self, states))

    def _evaluate(
        self, texts: tuple[str, ...], states: StateBatch, sharing: Callable[[], ReactionSharing]
    ) -> dict[str, Array]:
        """Quantities by name; ``sharing`` is asked for where reactions are not unique."""
        from kinode.dynamics.joint_reactions import by_name, is_shared

        found = [find_quantity(self.system, name) for name in texts]
        values = dict(_split(states.call(self, "evaluate", texts), found))
        for name in found:
            if is_shared(self, name):
                values[name.text] = by_name(self, name, states, sharing(), values[name.text])
        return values

    def reactions(
        self,
        t: Any,
        q: Any,
        u: Any,
        u_dot: Any = None,
        *,
        part: str = "total",
        hold: Any = None,
        on: str | None = None,
        expressed_in: Any = None,
        about: Any = None,
        joints: str | Sequence[str] | None = None,
        whole: bool = False,
        z: Any = None,
        p: Any = None,
        inputs: Any = None,
    ) -> dict[str, Wrench]:
        """Force and moment in every joint: by a on b, about the point of b's joint frame, in the axes of a's.

        ``part`` is total, static (applied loads alone) or kinetic (inertia alone); ``hold`` names the joints that hold
        loops meanwhile, where drives do not; ``whole`` adds the effort.
        ``on`` is a body: what acts on it, in the joints that it has.  With ``u_dot`` the accelerations are those given,
        not those of the model.
        """
        from kinode.dynamics.joint_reactions import ReactionRequest, joint_wrenches
        from kinode.dynamics.redundant_reactions import StateBatch

        on = None if on is None else str(getattr(on, "name", on))
        names = self._joints_on(on, joints)
        if u_dot is not None and self.topology.constrained:
            self._check_own(u_dot, self.acceleration(t, q, u, z=z, p=p, inputs=inputs))
        about_, axes = (None if x is None else self._frame(x) for x in (about, expressed_in))
        wanted = ReactionRequest(part, whole, on, about_, axes).held_by(self, hold, names)
        return joint_wrenches(self, names, StateBatch(t, q, u, z, p, inputs, u_dot), wanted)

    @staticmethod
    def _check_own(u_dot: Any, own: Array) -> None:
        """In loops, other accelerations than the model's own leave open which joints make them."""
        given = np.asarray(u_dot, dtype=float)
        if given.shape != own.shape or not np.allclose(given, own, rtol=1e-6, atol=1e-6 * (1.0 + abs(own).max())):
            message = "where constraints close loops, accelerations do not tell which joints make them"
            raise ArgumentError(f"u_dot: {message}; leave it out, or add an effort to the model")

    def step(self, state: State, dt: float, *, p: Any = None, inputs: Any = None) -> State:
        """The state a time dt later, by one classical Runge-Kutta step; ``kn.simulate`` controls the error."""
        if (table := self.topology.events) is not None:
            owner = (*table.owners, *(entry.owner for entry in table.samplers))[0]
            message = (
                "changes at once, which a single step does not see; simulate until t + dt with start=state instead"
            )
            raise ArgumentError(f"step: {owner} {message}")
        t, y = state.t, state.y
        k1 = self.rate(t, y, p=p, inputs=inputs)
        k2 = self.rate(t + dt / 2, y + dt / 2 * k1, p=p, inputs=inputs)
        k3 = self.rate(t + dt / 2, y + dt / 2 * k2, p=p, inputs=inputs)
        k4 = self.rate(t + dt, y + dt * k3, p=p, inputs=inputs)
        y = y + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        a, b = self.n_q, self.n_q + self.n_u
        if self.topology.constrained:
            y = self._call("projection", t + dt, y[:a], y[a:b], y[b:], p, inputs)[:-1]
        for start in self.topology.layout.quaternions:
            y[start : start + 4] /= np.linalg.norm(y[start : start + 4])
        return State(t + dt, y[:a], y[a:b], y[b:])

    # -- machine code ------------------------------------------------------------------------------
    @property
    def lanes(self) -> int:
        """Rows that batches work on at once: twice the width of the machine's vectors where the code is short."""
        lanes = compiler.choose_lanes()
        return 2 * lanes if lanes > 1 and len(self.topology.tree.nodes) <= SHORT else lanes

    def has_kernel(self, kernel: Kernel) -> bool:
        """Whether a kernel is made already."""
        return (kernel, 1) in self._machines

    def kernel(self, name: str | Kernel, lanes: int = 1) -> Machine:
        """The machine code behind a function: its address and the sizes of its arguments."""
        kernel = Kernel(name) if isinstance(name, str) else name
        found = self._machines.get((kernel, lanes))
        if found is None:
            if kernel.name in FORWARD and self.topology.unmoved is not None:
                raise self.topology.unmoved
            if self.topology.constrained and self._closing is None and kernel.name not in OPEN:
                self._learn(self.initial, None, None)
            if kernel.name in FORWARD:
                self._check_inertia()
            key = f"{kernel}\n{self._fingerprint}"
            found = compiler.build(key, lanes, lambda: self._make_program(kernel))
            self._machines[kernel, lanes] = found
        return found

    def _make_program(self, kernel: Kernel) -> Program:
        from kinode.kernels.rolled_programs import make_program

        return make_program(self.topology, kernel, self._kind)

    def _check_inertia(self) -> None:
        """What parts add by the accelerations of joints is an inertia: seen in plain numbers, at some state."""
        network = self.topology.network
        if network is None or not network.heavy:
            return
        try:
            start = self.initial
        except (AssemblyError, ModelError):  # whoever needs a start is told why
            return
        moving = np.random.default_rng(0).uniform(-1, 1, self.n_u)
        condensed = self.snapshot(State(start.t, start.q, moving, start.z)).condensed
        if condensed is not None:
            condensed.check_inertia()

    def _make_fast(self, entry: Fast) -> Callable[..., Any]:
        """The built-in function that stands for a method."""
        method = entry.method.__get__(self)
        size = self.n_u
        if size == 0 or needs_modes(self, entry.name) or (entry.square and is_large(self.topology)):
            return method  # type: ignore[no-any-return]
        defaults = {"p": self.parameters, "inputs": self.inputs, "z": self.wishes.z, "u": np.zeros(size)}
        machine_code = self.kernel(entry.name)
        shape = (size, size) if entry.square else (machine_code.sizes["out"],)
        kept = {name: array for name, array in defaults.items() if name not in entry.roles}
        parameters = list(inspect.signature(method).parameters.values())
        bare = [parameter.replace(annotation=inspect.Parameter.empty) for parameter in parameters]
        return builtin_function.make_callable(
            machine_code,
            entry.roles,
            kept,
            shape,
            method,
            name=entry.name,
            doc=entry.method.__doc__ or "",
            signature=str(inspect.Signature(bare)),
        )

    def _call(
        self,
        name: str | Kernel,
        t: Any,
        q: Any,
        u: Any,
        z: Any,
        p: Any,
        inputs: Any,
        x: Any = None,
        shape: tuple[int, ...] | None = None,
    ) -> Array:
        """Check the arguments and run a kernel, for one state or a batch."""
        kernel = Kernel(name) if isinstance(name, str) else name
        single = self.kernel(kernel)
        n_x = single.sizes["x"]
        given = {
            "t": self._argument("t", t, 1),
            "q": self._argument("q", q, self.n_q),
            "u": self._argument("u", u, self.n_u, np.zeros(self.n_u)),
            "z": self._argument("z", z, self.n_z, self.wishes.z),
            "p": self._vector("p", p),
            "inputs": self._vector("inputs", inputs),
            "x": self._argument(
                "u_dot" if kernel.name == "effort" or kernel.name.endswith("_of_motion") else "x",
                x,
                n_x,
                np.zeros(n_x),
            ),
        }
        if z is None and needs_modes(self, kernel.name):
            given["z"] = find_modes(self, kernel.name, given)
        elif z is not None:
            check_modes(self, kernel.name, given["z"])
        rows = {len(array) for array in given.values() if array.ndim == 2}
        if len(rows) > 1:
            shapes = ", ".join(f"{k} {v.shape}" for k, v in given.items() if v.ndim == 2)
            raise ArgumentError(f"{kernel.name}: the batches differ in their numbers of rows: {shapes}")
        if not rows:
            out = kernel_call.run(single, given)
            return out if shape is None else out.reshape(shape)
        count = rows.pop()
        lanes = self.lanes if count >= LANES_FROM and kernel.name in FAST else 1
        code = single if lanes == 1 else self.kernel(kernel, lanes)
        out = kernel_call.run_batch(code, count, {k: (v, v.ndim == 2) for k, v in given.items()})
        return out if shape is None else out.reshape(count, *shape)


OPEN = frozenset({"closure", "measures"})  # do not ask which constraints are independent
FORWARD = frozenset({"acceleration", "loaded_acceleration", "rate", "direction"})
FAST = frozenset(
    {"acceleration", "rate", "effort", "bias", "mass_matrix", "energy", "direction", "loaded_acceleration"}
)


def _split(whole: Array, names: Sequence[QuantityName]) -> list[tuple[str, Array]]:
    found, start = [], 0
    for name in names:
        size = int(np.prod(name.size))
        part = whole[..., start : start + size]
        found.append((name.text, part.reshape((*whole.shape[:-1], *name.size))))
        start += size
    return found


def find_kind(formulation: str) -> type[Snapshot]:
    """The instant that a formulation traces its code from."""
    if formulation == "recursive":
        return Snapshot
    if formulation != "circuit":
        ways = "'recursive' and 'circuit'"
        raise ArgumentError(f"compile: the formulations that can be compiled are {ways}, not {formulation!r}")
    from kinode.formulations.circuit.component_circuit import ComponentCircuit

    return ComponentCircuit


def compile(system: System, formulation: str = "recursive") -> Dynamics:
    """A system as functions of machine code; ``formulation`` is recursive, or circuit to check it by another way."""
    return Dynamics(system, formulation)
