"""Consistent initial states: loops closed, following states and networks at the values that the rest demands.

The independent constraint rows are found here too, since they need a closed position: that of the model's own initial
values or, where these cannot be assembled, the first that can.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import cached_property, partial
from threading import RLock
from typing import TYPE_CHECKING, Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.starts.initial_values import InitialValues, read_initial_values
from kinode.errors import AssemblyError, ModelError, OtherRowsError
from kinode.kernels.call_arguments import Arguments
from kinode.kernels.compiled_kernels import Kernels
from kinode.kernels.state import State
from kinode.paused_collection import paused_collection
from kinode.structure.state_layout import EMPTY, EvaluationPoint
from kinode.structure.topology import RowGroup, Topology, has_friction

if TYPE_CHECKING:
    from kinode.dynamics.starts.assembler import Anchor, Assembler
    from kinode.dynamics.starts.closure import LoopEquations, PoseLayout
    from kinode.dynamics.starts.initial_values import FarGuess
    from kinode.dynamics.starts.start_quantities import StartQuantities
    from kinode.dynamics.starts.warm_start import WarmStart
    from kinode.multibody.snapshot import Composition
    from kinode.structure.loop_closure import Closure


COMBINED_UP_TO = 80  # links of a mechanism: straight-line code, which alone combines rows, takes long to compile beyond


class Start:
    """The initial states of a system, and the kernels and the topology that its closed loops lead to.

    Parameters
    ----------
    arguments : Arguments
        The system's names and default values.
    formulation, find_composition
        As in ``Kernels``.
    rows : tuple of int, optional
        The independent constraint rows, where those of the model's own start do not serve.
    """

    def __init__(
        self,
        arguments: Arguments,
        formulation: str,
        find_composition: Callable[[], Composition],
        rows: tuple[int, ...] | None = None,
    ) -> None:
        self.arguments, self.rows = arguments, rows
        self._formulation, self._find_composition = formulation, find_composition
        self._closure: Closure | None = None
        # Of all rows that were in use: runs that have begun hold addresses in their code, and earlier rows come back.
        self._kernels_of_rows: dict[tuple[tuple[int, ...], tuple[RowGroup, ...]], Kernels] = {}
        self.far_guesses: dict[Any, list[FarGuess]] = {}
        self._anchor: Anchor | None = None  # the model's own start, from which others are followed
        self._judged: tuple[Any, tuple[float, int]] | None = None  # the last start, and what was found
        self.lock = RLock()  # threads find starts one after the other

    @property
    def open_topology(self) -> Topology:
        """The topology before the independent constraint rows are known."""
        return self.arguments.topology

    @cached_property
    def open_kernels(self) -> Kernels:
        """The kernels that need no independent rows; where nothing is constrained, all of them."""
        return Kernels(self.open_topology, self._formulation, self._find_composition, self._check_inertia)

    @cached_property
    def initial_values(self) -> InitialValues:
        """The model's own initial values."""
        return read_initial_values(self.arguments, {}, self.arguments.system.nominal)

    @property
    def initial(self) -> State:
        """The state that the model's own initial values, parameters and inputs give, at time 0."""
        found = self._own_start
        if isinstance(found, AssemblyError):
            raise found.with_traceback(None)
        return found

    @cached_property
    def _own_start(self) -> State | AssemblyError:
        """The same, or why the model does not close: that is not tried again."""
        with paused_collection(), self.open_kernels.tracing():
            try:
                return self._solve(self.initial_values, 0.0, None, None)
            except OtherRowsError:  # depends on the rows that are in use by then
                raise
            except AssemblyError as error:
                return error.with_traceback(None)

    @cached_property
    def parameters_that_count(self) -> Array:
        """Indices of the parameters that a start can depend on."""
        from kinode.dynamics.starts.start_dependence import find_start_parameters

        return find_start_parameters(self.open_topology)

    @property
    def counting(self) -> Array:
        """The same, and fewer where quantities say what they read."""
        if not self._needs_quantities or (self.open_topology.constrained and self._closure is None):
            return self.parameters_that_count
        from kinode.dynamics.starts.start_dependence import find_start_parameters

        read = partial(find_start_parameters, self.open_topology, self.quantities.machine.reads_p)
        return self.kernels.once("parameters of a start", read)

    @cached_property
    def _needs_quantities(self) -> bool:
        from kinode.dynamics.starts.start_dependence import needs_quantities

        return needs_quantities(self.open_topology)

    def is_own(self, p: Any) -> bool:
        """Whether a start with these parameters is that with the model's own: those that count have its values."""
        own = self.arguments.parameters
        if p is None or p is own:
            return True
        which = self.counting
        return isinstance(p, np.ndarray) and p.shape == own.shape and bool((p[which] == own[which]).all())

    # -- loops -------------------------------------------------------------------------------------
    @cached_property
    def loops(self) -> LoopEquations:
        """The constraint rows of the system."""
        from kinode.dynamics.starts.closure import LoopEquations

        return LoopEquations(self.open_kernels)

    @property
    def closure(self) -> Closure:
        """Rank and independent rows of the constraints; an AssemblyError where no closed position is known."""
        if self._closure is not None:
            return self._closure
        from kinode.dynamics.starts.dense_threads import one_thread

        with one_thread():
            return self._find_closure(self.initial, None, None)

    @property
    def known_rows(self) -> tuple[int, ...] | None:
        """The independent constraint rows in use; None while they are not known."""
        return None if self._closure is None else self._closure.rows

    def prepare(self) -> None:
        """Find the closure now, so that a model whose constraints cannot be used is refused when it is compiled."""
        if self.open_topology.constrained:
            self._try_closure()

    def settle(self) -> None:
        """Make what many starts use now."""
        with self.lock:
            if not self.open_topology.constrained or self._try_closure() is not None:
                self.quantities.compile()
            self.warm_start  # noqa: B018 - laid out when it is first asked for

    def use_rows(self, rows: tuple[int, ...]) -> None:
        """Take other independent constraint rows, which the caller knows to serve."""
        self._closure = self._combinable(self.closure, rows)
        for name in ("_closed_topology", "_closed_kernels"):
            self.__dict__.pop(name, None)

    def _try_closure(self) -> Closure | None:
        if self._closure is None:
            with suppress(AssemblyError):  # other numbers may close; a call that needs an initial state raises it
                return self.closure
        return self._closure

    def _find_closure(self, state: State, p: Any, inputs: Any) -> Closure:
        """The independent constraint rows, found at the first closed state."""
        if self._closure is None:
            point = self.point(state, p, inputs)
            closure = self._combinable(self.loops.find_closure(point), self.rows)
            if has_friction(self.arguments.system):
                from kinode.multibody.coupled_friction import check_unique
                from kinode.multibody.snapshot import Snapshot

                check_unique(Snapshot(self.open_topology, point), self.loops.self_stresses(point))
            self._closure = closure
        return self._closure

    def _combinable(self, closure: Closure, rows: tuple[int, ...] | None) -> Closure:
        """The closure with given rows, and with the groups that the kernels combine: those of which it has as many."""
        rows = closure.rows if rows is None else rows
        combined = closure.groups if len(self.open_topology.tree.nodes) <= COMBINED_UP_TO else ()
        groups = tuple(group for group in combined if len(set(group.rows) & set(rows)) == group.rank)
        return replace(closure, rows=rows, groups=groups)

    def judge(self, point: EvaluationPoint) -> tuple[float, int]:
        """The largest closure error of a start, and its freedoms beyond those of the closure; once for each start.

        Parameters that no start depends on, such as masses, have no part in it.
        """
        which, rows = self.counting, self.closure.rows
        state = (float(point.t), point.q.tobytes(), point.u.tobytes(), point.z.tobytes())
        key = (*state, point.p[which].tobytes(), point.inputs.tobytes(), rows)
        if self._judged is None or self._judged[0] != key:
            self._judged = key, self.loops.judge(point, self.closure)
        return self._judged[1]

    def _check_rows(self, point: EvaluationPoint) -> None:
        """Choose other rows where those in use do not stand for all rows at a closed position, or say that none do."""
        from kinode.structure.loop_closure import choose_rows, find_rank, rows_serve

        closure = self.closure
        G = self.loops.evaluate(point)[1]
        if rows_serve(G, closure.used, len(closure.rows)):
            return
        here = self.loops.find_closure(point)
        if len(here.rows) != len(closure.rows):
            raise OtherRowsError(
                f"with these values the mechanism has {len(here.rows)} independent constraint equations, and "
                f"{len(closure.rows)} with the model's own: the compiled system does not serve; put the values into "
                "the model and compile it, or let kn.simulate do it",
                here.rows,
            )
        if find_rank(G) != len(closure.rows):  # a singular position of the mechanism itself
            return
        own = self.loops.evaluate(self.point(self.initial))[1]
        better = choose_rows([own, G], self.loops.position_rows)
        if not all(rows_serve(each, better, len(better)) for each in (own, G)):
            raise OtherRowsError(
                "no choice of constraint equations serves both these values and the model's own", here.rows
            )
        self.use_rows(better)

    @property
    def topology(self) -> Topology:
        """The topology with its independent constraint rows, as soon as a closed position is known."""
        closed: Topology | None = self.__dict__.get("_closed_topology")
        if closed is not None:  # it is asked for many times in a run
            return closed
        topology = self.arguments.topology
        return topology if not topology.constrained or self._try_closure() is None else self._closed_topology

    @cached_property
    def _closed_topology(self) -> Topology:
        return self._closed_kernels.topology

    @property
    def kernels(self) -> Kernels:
        """The kernels of the topology with its independent rows; an AssemblyError where they are not known."""
        return self._closed_kernels if self.open_topology.constrained else self.open_kernels

    @cached_property
    def _closed_kernels(self) -> Kernels:
        closure = self.closure
        if (known := self._kernels_of_rows.get((closure.rows, closure.groups))) is not None:
            return known
        scale = tuple(map(float, self.loops.scale)) if closure.groups else ()
        topology = self.open_topology.with_rows(closure.rows, closure.groups, scale)
        kernels = Kernels(topology, self._formulation, self._find_composition, self._check_inertia)
        self._kernels_of_rows[closure.rows, closure.groups] = kernels
        return kernels

    # -- states ------------------------------------------------------------------------------------
    def point(self, state: State, p: Any = None, inputs: Any = None) -> EvaluationPoint:
        """A state with parameters and inputs as the user gives them."""
        read = self.arguments
        rows = read.read_parameters(p), read.read_inputs(inputs, state.t)
        return EvaluationPoint(state.t, state.q, state.u, state.z, *rows)

    def assembler(self, values: InitialValues, t: float, p: Any, inputs: Any) -> Assembler:
        """The assembly problem of initial values."""
        from kinode.dynamics.starts.assembler import Assembler
        from kinode.dynamics.starts.assembly_problem import AssemblyProblem
        from kinode.dynamics.starts.closure import LoopPoses

        loops = self.loops if self.open_topology.constrained else None
        point = self.point(State(t, EMPTY, EMPTY, values.z), p, inputs)
        length = loops.length if loops is not None else 1.0
        poses = LoopPoses(self._pose_layout, self.open_kernels, point, self.arguments.resolver(p), length)
        return Assembler(AssemblyProblem(poses, loops, values))

    @cached_property
    def _pose_layout(self) -> PoseLayout:
        from kinode.dynamics.starts.closure import PoseLayout

        return PoseLayout(self.open_topology)

    def solve(self, values: InitialValues, t: float, p: Any, inputs: Any) -> State:
        """The state nearest to initial values in which all loops are closed; exact values stay."""
        with self.lock:
            if self.open_topology.constrained:
                self._try_closure()
            return self._solve(values, t, p, inputs)

    @property
    def warm_start(self) -> WarmStart | None:
        """The way from the model's own closed position to others; None where only a search serves."""
        return None if self._anchor is None else self._from_anchor

    @cached_property
    def _from_anchor(self) -> WarmStart | None:
        assembler = self.assembler(self.initial_values, 0.0, None, None)
        return None if self._anchor is None else assembler.warm_start(self._anchor)

    def _follow(self, values: InitialValues, t: float, p: Any, inputs: Any) -> tuple[Array, Array] | None:
        """Coordinates and speeds of a start that Newton steps reach from the model's own; None elsewhere."""
        if self.warm_start is None:
            return None
        near = self.warm_start.follow(values, self.point(State(t, EMPTY, EMPTY, values.z), p, inputs))
        return near and (near[0][: self.open_topology.n_q], near[1][: self.open_topology.n_u])

    def _assemble(self, values: InitialValues, t: float, p: Any, inputs: Any) -> tuple[Array, Array]:
        """Coordinates and speeds of the closed position nearest to initial values."""
        if self._is_free:
            return self._place(values)
        from kinode.dynamics.starts.assembly_problem import solve_speeds

        assembler, topology = self.assembler(values, t, p, inputs), self.open_topology
        x, problem = assembler.solve_positions(), assembler.problem
        if self._anchor is None and problem.groups and values is self.initial_values:
            self._anchor = assembler.anchor(x)  # gears alone have no rows of positions: there is nothing to follow
        return x[: topology.n_q], solve_speeds(problem, x)[: topology.n_u]

    @cached_property
    def _is_free(self) -> bool:
        """Whether no coordinate depends on another: there are no loops, constraints and gears."""
        return not self.open_topology.constrained and not self.open_topology.couplings

    def _place(self, values: InitialValues) -> tuple[Array, Array]:
        """Coordinates and speeds as they are requested, where no coordinate depends on another."""
        q, joints, q_of = np.zeros(self.open_topology.n_q), values.joints, self.open_topology.q_of
        for name, where in q_of.items():
            if name in joints:
                q[where] = joints[name].q
        moving = (name for name, where in self.open_topology.u_of.items() if where.stop > where.start)
        return q, np.concatenate([EMPTY, *(joints[name].u(q[q_of[name]]) for name in moving)])

    def _solve(self, values: InitialValues, t: float, p: Any, inputs: Any) -> State:
        from kinode.dynamics.starts.dense_threads import one_thread

        if not self.open_topology.constrained:
            return self._solve_state(values, t, p, inputs)
        with one_thread():
            return self._solve_state(values, t, p, inputs)

    def _solve_state(self, values: InitialValues, t: float, p: Any, inputs: Any) -> State:
        topology = self.open_topology
        q, u = self._follow(values, t, p, inputs) or self._assemble(values, t, p, inputs)
        state = State(t, q, u, values.z)
        if topology.constrained:
            known = self._closure
            self._find_closure(state, p, inputs)
            if known is not None:
                self._check_rows(self.point(state, p, inputs))
            topology = self._closed_topology
        from kinode.dynamics.starts.start_quantities import make_consistent

        quantities = self.quantities
        point = make_consistent(quantities, self.point(state, p, inputs), values.given_states)
        if topology.network is not None:
            from kinode.dynamics.starts.network_start import start_network

            point = start_network(quantities, point, values, self.arguments.resolver(p))
        return State(t, point.q, point.u, point.z)

    @property
    def quantities(self) -> StartQuantities:
        """What starts take from the model, with the constraint rows in use."""
        from kinode.dynamics.starts.start_quantities import StartQuantities

        return self.kernels.once("quantities of a start", partial(StartQuantities, self.kernels))

    def _check_inertia(self) -> None:
        """Refuse a network whose added inertia at the joints is not positive, checked at one state."""
        network = self.open_topology.network
        if network is None or not network.heavy:
            return
        try:
            start = self.initial
        except (AssemblyError, ModelError):  # a call that needs an initial state raises it
            return
        from kinode.multibody.snapshot import Snapshot

        moving = np.random.default_rng(0).uniform(-1, 1, self.open_topology.n_u)
        condensed = Snapshot(self.topology, self.point(replace(start, u=moving))).condensed
        if condensed is not None:
            condensed.check_inertia()
