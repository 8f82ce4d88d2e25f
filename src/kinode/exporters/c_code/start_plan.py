"""What the start of a model needs in C: its memory, its programs, and the parameters that it does not follow.

The initial values of a network need a program for its quantities and their slopes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array, Scalar
from kinode.algebra.trace import Tape, Traced, needed
from kinode.dynamics.compiled_system import Dynamics
from kinode.dynamics.starts.closure import CLOSURE, POSE_ERRORS
from kinode.dynamics.starts.start_quantities import START_QUANTITIES
from kinode.dynamics.starts.warm_start import ADVANCED, NEAR, WarmStart
from kinode.exporters.c_code.memory_image import MemoryImage, take_image
from kinode.exporters.c_code.start_loops import STARTS, NetworkMemory, StartMemory
from kinode.expressions.syntax_tree import Expression
from kinode.jit.loop.memory import floats_of, ints_of
from kinode.jit.program import Block, Program
from kinode.kernels.derivatives.tape_sweeps import NO_VALUES, sweep_forward
from kinode.kernels.kernel_options import Kernel
from kinode.kernels.kernel_table import sizes
from kinode.kernels.start_outputs import consistent_values, find_zeros
from kinode.kernels.tree_size import is_large
from kinode.model.joints.joint import Joint
from kinode.multibody.snapshot import Snapshot

SHARED = {"warm.inputs": "inputs", "warm.work": "work", "p_given": "p", "y": "run.state.y"}
"""Pointers of the start to what the model has already."""
WARM_KERNELS = {"poses": POSE_ERRORS, "elements": CLOSURE, "advance": ADVANCED}


@dataclass(frozen=True, eq=False)
class StartPlan:
    """The start in C; ``frozen`` are the parameters that move it, and that it does not follow."""

    frozen: frozenset[str]
    images: tuple[MemoryImage, ...] = ()
    """Its memory; none where C computes no start."""
    programs: Mapping[str, Program] = field(default_factory=dict)
    """By the field of the memory, with a point between records, that has the number of the program."""
    loops: Mapping[str, Callable[..., int]] = field(default_factory=dict)
    """Its loop function, by the name of its macro."""


def find_start_plan(dynamics: Dynamics) -> StartPlan:
    """The plan; an empty one where the start depends on no parameter, or C does not compute it."""
    start, topology = dynamics.start, dynamics.topology
    none = StartPlan(frozenset(topology.parameters[k] for k in start.parameters_that_count))
    if not none.frozen or topology.n_u + topology.n_z == 0:
        return none
    with_network = topology.network is not None and bool(topology.network.starts or find_zeros(topology))
    if with_network and is_large(topology):
        return none
    start.settle()
    warm = start.warm_start if topology.constrained else None
    if topology.constrained and warm is None:
        return none
    if warm is not None and warm.follow(start.initial_values, dynamics.point(start.initial, None, None)) is None:
        return none  # the call also sets the rows of the speeds
    network = find_network_plan(dynamics) if with_network else None
    requests = _Requests(dynamics, warm, network)
    programs = {"requested": requests.program()}
    if warm is not None:
        used = {name: kernel for name, kernel in WARM_KERNELS.items() if getattr(warm.memory, name)}
        programs |= {f"warm.{name}": start.open_kernels.program(kernel) for name, kernel in used.items()}
    memory = _lay_out(dynamics, warm, requests)
    if network is not None:
        programs["net.kernel"] = network.program
        network.lay_out(memory.net)
    places = _follower_places(dynamics)
    if places:
        programs["following"] = dynamics.kernels.program(Kernel(START_QUANTITIES.name))
        memory.n_followers, memory.places = len(places), ints_of(np.array(places, dtype=np.int64))
        memory.values = floats_of(np.zeros(int(programs["following"].sizes["out"])))
    image = take_image(memory, {}, {}, SHARED.get)
    numbers = tuple(entry for entry in image.numbers if entry[0] not in programs)
    find = STARTS[warm is not None][with_network]
    images = (replace(image, numbers=numbers),)
    return StartPlan(frozenset(requests.frozen), images, programs, {"KN_FIND_START": find})


def _follower_places(dynamics: Dynamics) -> list[int]:
    """Where the values of following states stand in z, in the order of their kernel."""
    point = dynamics.point(dynamics.start.initial, None, None)
    names = list(consistent_values(Snapshot(dynamics.topology, point)))
    index_of = {c.name: c.index for c in dynamics.coordinates if c.role == "z"}
    return [index_of.get(name, -1) for name in names]


class _Requests:
    """The requested initial values as functions of the parameters, on a tape."""

    def __init__(self, dynamics: Dynamics, warm: WarmStart | None, network: NetworkStartPlan | None) -> None:
        self.dynamics, self.tape = dynamics, Tape()
        self.topology, self.frozen = dynamics.topology, set[str]()
        self.own = dynamics.start.initial_values
        self.places = {name: k for k, name in enumerate(self.topology.parameters)}
        layout = self.topology.layout
        self.q_of = layout.q_of if warm is None else warm.problem.q_of
        self.u_of = layout.u_of if warm is None else warm.problem.u_of
        self.given = None if warm is None else frozenset(warm.given)
        self.n_x = layout.n_q if warm is None else warm.problem.n_q
        self.n_all_u = layout.n_u if warm is None else warm.problem.n_u
        self.q: list[Scalar] = [0.0] * self.n_x
        self.u: list[Scalar] = [0.0] * self.n_all_u
        self.is_given = np.zeros(self.n_x, dtype=np.int64)
        for name, where in self.q_of.items():
            self._request(name, where)
        self.z = self._states()
        self.wanted = [self._resolve(value) for value in network.wanted] if network is not None else []
        places, speeds = ([], []) if warm is None else (warm.given_followers, warm.find_fast_followers(self.own))
        joints = self.dynamics.system.joints
        self.led_q = [x for name in places for x in self._read(name, joints[name].initial_q, self.own.joints[name].q)]
        self.led_u = [x for name in speeds for x in self._read(name, joints[name].initial_u, np.zeros(1))]

    def _resolve(self, value: Any) -> Scalar:
        return value.evaluate(self._look_up) if isinstance(value, Expression) else float(value)

    def _look_up(self, name: str) -> Scalar:
        if name in self.places:
            return self.tape.input("p", self.places[name])
        given = self.dynamics.system.parameters[name].value
        return self._resolve(given)

    def _freeze(self, *values: Any) -> None:
        """Note the parameters of values that stay as they are in the model."""
        waiting = {name for value in values if isinstance(value, Expression) for name in value.names()}
        while waiting:
            name = waiting.pop()
            if name in self.places:
                self.frozen.add(name)
            elif name in self.dynamics.system.parameters:
                given = self.dynamics.system.parameters[name].value
                waiting |= given.names() if isinstance(given, Expression) else frozenset()

    def _request(self, name: str, where: slice) -> None:
        """The requested coordinates and speeds of a joint."""
        joint, own = self.dynamics.system.joints[name], self.own.joints.get(name)
        if own is None:
            return
        is_given = self.given is None or name in self.given
        self.is_given[where] = int(is_given)
        self.q[where] = self._read(name, joint.initial_q, own.q)
        speeds = self.u_of[name]
        if is_given or type(joint).initial_u is Joint.initial_u:
            q = np.array(self.q[where], dtype=object)
            self.u[speeds] = self._read(name, lambda resolve: joint.initial_u(resolve, q), own.u(own.q))
        else:  # speeds in axes that turn with a position that is still to be found
            self.u[speeds] = own.u(own.q).tolist()
            self._freeze(*(law for _, law in joint.expressions()))

    def _read(self, name: str, read: Callable[[Callable[[Any], Any]], Any], own: Array) -> list[Scalar]:
        """Initial values of a component as functions of the parameters; its own where it wants plain numbers."""
        try:
            return list(read(self._resolve))
        except (TypeError, ValueError):
            self._freeze(*(law for _, law in self.dynamics.system[name].expressions()))
            return list(own.tolist())

    def _states(self) -> list[Scalar]:
        """The requested values of other states."""
        z: list[Scalar] = self.own.z.tolist()
        for name, where in self.topology.z_of.items():
            z[where] = self._read(name, partial(self.topology.initial_states, name), self.own.z[where])
        for name, where in self.topology.layout.discrete_of.items():
            if name in self.dynamics.system:
                z[where] = self._read(name, self.dynamics.system[name].initial_discrete_states, self.own.z[where])
        return z

    def _values(self) -> tuple[Scalar, ...]:
        return (*self.q, *self.u, *self.z, *self.wanted, *self.led_q, *self.led_u)

    def program(self) -> Program:
        """The program of all requested values."""
        stores = [("out", k, x) for k, x in enumerate(self._values())]
        sizes = {"t": 1, "p": len(self.places), "out": len(stores)}
        return Program("requested", sizes, {}, [Block(1, {}, [stores])], rare=True)


def _lay_out(dynamics: Dynamics, warm: WarmStart | None, requests: _Requests) -> StartMemory:
    """The memory of the start; that of the warm start is as its first call left it."""
    memory, topology = StartMemory(), dynamics.topology
    n_p, n_inputs = len(topology.parameters), len(topology.inputs)
    if warm is not None:
        memory.warm = warm.memory
        memory.anchor = floats_of(warm.anchor.x.copy())
        memory.spans = floats_of(np.array(NEAR * warm.problem.poses.layout.spans(warm.problem.length)))
    else:
        arrays = {"time": 1, "x": requests.n_x, "step": requests.n_all_u, "p": n_p, "inputs": n_inputs}
        for name, size in {**arrays, "still": topology.n_u, "z": topology.n_z}.items():
            setattr(memory.warm, name, floats_of(np.zeros(size)))
    memory.n_q, memory.n_u, memory.n_z = topology.n_q, topology.n_u, topology.n_z
    memory.n_x, memory.n_all_u, memory.n_p = requests.n_x, requests.n_all_u, n_p
    memory.is_given = ints_of(requests.is_given)
    memory.n_led_q, memory.n_led_u = len(requests.led_q), len(requests.led_u)
    own: Array = np.array(dynamics.arguments.parameters, dtype=float)
    memory.p_own, memory.before = floats_of(own), floats_of(np.zeros(requests.n_x))
    memory.request = floats_of(np.zeros(int(requests.program().sizes["out"])))
    return memory


@dataclass(frozen=True, eq=False)
class NetworkStartPlan:
    """The initial values of a network as functions of states and parameters."""

    program: Program
    """Quantities with initial values, those that are zero by default, and the slopes of all along the free states."""
    wanted: Sequence[Any]
    """Initial values, as laws or numbers."""
    n_zero: int
    free: Sequence[int]
    """Places in z of the states that may change."""

    def lay_out(self, net: NetworkMemory) -> None:
        """Set the memory."""
        n_given, n_free = len(self.wanted), len(self.free)
        most = max(n_given, self.n_zero)
        net.n_given, net.n_zero, net.n_free = n_given, self.n_zero, n_free
        net.free = ints_of(np.array(self.free, dtype=np.int64))
        sizes_of = {
            "wanted": n_given, "out": (n_given + self.n_zero) * (1 + n_free), "r": most, "a": n_given * n_free,
            "b": self.n_zero * n_free, "v": n_free * n_free, "w": n_free * n_free, "sizes": n_free, "lengths": n_free,
            "step": n_free,
        }  # fmt: skip
        for name, size in sizes_of.items():
            setattr(net, name, floats_of(np.zeros(size)))


def find_network_plan(dynamics: Dynamics) -> NetworkStartPlan:
    """The plan of a system whose network has initial values, or quantities that are zero by default."""
    topology, quantities = dynamics.topology, dynamics.start.quantities
    network = topology.network
    assert network is not None
    which, free = quantities.plan(dynamics.start.initial_values.given_states)
    n_zero = quantities.n_zero
    with dynamics.kernels.tracing() as find_traced:
        traced = find_traced()
        every = traced.trace(START_QUANTITIES)
        every = every[len(every) - quantities.n_given - n_zero :]
        values = [every[k] for k in (*which, *range(quantities.n_given, quantities.n_given + n_zero))]
        nodes, columns = needed(values), list[list[Scalar]]()
        for place in free:
            rates = sweep_forward(nodes, {traced.tape.input("z", place).index: 1.0}, NO_VALUES)
            columns.append([rates.get(x.index, 0.0) if type(x) is Traced else 0.0 for x in values])
        slopes = [column[k] for k in range(len(values)) for column in columns]
        stores = [("out", k, x) for k, x in enumerate([*values, *slopes])]
        counts = {**sizes(topology, START_QUANTITIES), "out": len(stores)}
        program = Program("network start", counts, {}, [Block(1, {}, [stores])], rare=True)
    return NetworkStartPlan(program, [network.starts[k].value for k in which], n_zero, free)
