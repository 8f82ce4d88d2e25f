"""Runs the compiled uniqueness analysis (stress_loop.py) for a batch of states."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from kinode.algebra.scalars import Array
from kinode.dynamics.reactions.stress_loop import StressMemory, analyze_states
from kinode.formulations.reaction_uniqueness import JointConstants
from kinode.jit.loop.memory import floats_of, ints_of
from kinode.jit.machine_code import compiled
from kinode.jit.threads import share
from kinode.kernels.derivatives.shared_quantities import find_effort_units, find_load_units
from kinode.kernels.kernel_outputs import DIRECTION_FRAME, direction_sizes

if TYPE_CHECKING:
    from kinode.structure.topology import Topology
    from kinode.structure.tree import TreeLink


Ints = npt.NDArray[np.int64]
LEAST_STATES = 64  # for each thread
LARGEST_CHUNK = 1 << 22  # numbers in the stresses that are kept at once


class StressTables:
    """The structure of a system as tables, and the order of its components: that of ``topology.holding``."""

    def __init__(self, topology: Topology, constants: JointConstants) -> None:
        self.topology, self.constants = topology, constants
        system, nodes = topology.system, topology.full.nodes
        self.starts = dict(zip(topology.holding, np.cumsum([0, *topology.holding.values()]).tolist(), strict=False))
        self.n = sum(topology.holding.values())
        self.joints = {name: k for k, name in enumerate(system.joints)}
        self.n_u = [joint.n_u for joint in system.joints.values()]
        sizes = direction_sizes(topology)
        self.joint_at = np.cumsum([0, *sizes])[:-1]
        self.n_directions = sum(sizes) + 3 * len(system.bodies)
        self.cuts = [name for name in system.joints if name not in {node.joint.name for node in nodes}]
        self.gears = topology.couplings
        self.multipliers = {name: units for name, units in constants.multipliers.items() if name in self.starts}
        self.m = 6 * len(self.cuts) + len(self.gears) + sum(len(units) for units in self.multipliers.values())
        self.units = find_load_units(topology, constants.length)

    def find_effort_units(self, name: str) -> list[float]:
        """The unit of each effort of a joint: the length for angles."""
        return find_effort_units(self.topology, name, self.constants.length)

    @property
    def energy(self) -> Array:
        """W with the complementary energy |W x|^2 / 2; joints without compliance have no rows."""
        W = np.zeros((6 * len(self.constants.roots), self.n))
        for k, (name, root) in enumerate(self.constants.roots.items()):
            W[6 * k : 6 * k + 6, self.starts[name] : self.starts[name] + 6] = root
        return W

    def fill(self, memory: StressMemory) -> None:
        """Write the tables into the memory of a thread."""
        system, bodies = self.topology.system, list(self.topology.system.bodies)
        index = {"world": -1, **{name: k for k, name in enumerate(bodies)}}
        records, nodes = system.joints, list(reversed(self.topology.full.nodes))
        memory.bodies, memory.nodes, memory.n, memory.m = len(bodies), len(nodes), self.n, self.m
        memory.length, memory.n_directions = self.constants.length, self.n_directions
        memory.origins_at = self.n_directions - 3 * len(bodies)
        memory.joint_at, memory.joint_n_u = _ints(self.joint_at), _ints(self.n_u)
        memory.joint_row = _ints([self.starts[name] for name in records])
        memory.joint_a, memory.joint_b = (
            _ints([index[getattr(joint, side).body] for joint in records.values()]) for side in ("a", "b")
        )
        memory.joint_unit = _ints(np.cumsum([0, *self.n_u])[:-1])
        memory.units = _floats([unit for name in records for unit in self.find_effort_units(name)])
        memory.node_joint = _ints([self.joints[node.joint.name] for node in nodes])
        memory.node_body = _ints([index[node.bodies[0]] for node in nodes])
        memory.node_carrier = _ints([index[node.carrier] for node in nodes])
        memory.node_sign = _floats([1.0 if node.reversed else -1.0 for node in nodes])
        memory.node_effort = _ints([self._drive(node.joint.name) for node in nodes])
        reach = self._reaches
        memory.node_low = _ints([min(columns, default=0) for columns in reach])
        memory.node_high = _ints([max(columns, default=-1) + 1 for columns in reach])
        self._order_equations(memory, [self.n_u[self.joints[node.joint.name]] for node in nodes], reach)
        memory.cuts, memory.cut_joint = len(self.cuts), _ints([self.joints[name] for name in self.cuts])
        memory.cut_effort = _ints([self._drive(name) for name in self.cuts])
        memory.gears = len(self.gears)
        memory.gear_follower = _ints([self.joints[name] for name in self.gears])
        memory.gear_leader = _ints([self.joints[gear.leader] for gear in self.gears.values()])
        memory.gear_row = _ints([self.starts[f"{name}.effort"] for name in self.gears])
        memory.gear_column = _ints([6 * len(self.cuts) + k for k in range(len(self.gears))])
        memory.gear_ratio = _floats([float(self.constants.resolve(gear.ratio)) for gear in self.gears.values()])
        memory.first_multiplier = 6 * len(self.cuts) + len(self.gears)
        rows = [self.starts[name] + k for name, units in self.multipliers.items() for k in range(len(units))]
        memory.multipliers, memory.multiplier_row = len(rows), _ints(rows)
        memory.multiplier_scale = _floats([self.units[row] for row in rows])
        memory.n_unit_loads = 6 * len(bodies) * len(rows)

    @cached_property
    def _reaches(self) -> list[set[int]]:
        """The columns that may load each node, from the leaves on."""
        return [self._reach(node) for node in reversed(self.topology.full.nodes)]

    def _reach(self, node: TreeLink) -> set[int]:
        """The columns that may load a node: forces between a body behind it and one that is not."""
        tree = self.topology.full.nodes
        behind, nodes = set(node.bodies), {node.index}
        for other in tree[node.index + 1 :]:
            if other.parent in nodes:
                nodes.add(other.index)
                behind.update(other.bodies)
        records, n_cuts = self.topology.system.joints, len(self.cuts)
        columns: set[int] = set()

        def crosses(joint: str) -> bool:
            return (records[joint].a.body in behind) != (records[joint].b.body in behind)

        for c, name in enumerate(self.cuts):
            columns.update(range(6 * c, 6 * c + 6) if crosses(name) else ())
        for g, (name, gear) in enumerate(self.gears.items()):
            columns.update([6 * n_cuts + g] if crosses(name) or crosses(gear.leader) else ())
        columns.update(range(6 * n_cuts + len(self.gears), self.m))
        return columns

    def _order_equations(self, memory: StressMemory, n_u: list[int], reach: list[set[int]]) -> None:
        """Tell the equations of one cut joint alone from the others."""
        local: list[list[int]] = [[] for _ in self.cuts]
        others: list[int] = []
        count = 0
        for c, name in enumerate(self.cuts):
            if self._drive(name) < 0:
                local[c] += range(count, count + self.n_u[self.joints[name]])
                count += self.n_u[self.joints[name]]
        nodes = reversed(self.topology.full.nodes)
        for node, size, columns in zip(nodes, n_u, reach, strict=True):
            if self._drive(node.joint.name) < 0:
                blocks = {column // 6 if column < 6 * len(self.cuts) else -1 for column in columns}
                alone = len(blocks) == 1 and -1 not in blocks
                (local[blocks.pop()] if alone else others).extend(range(count, count + size))
                count += size
        memory.local_first = _ints(np.cumsum([0, *map(len, local)]))
        memory.local_equation = _ints([i for equations in local for i in equations])
        memory.globals, memory.global_equation = len(others), _ints(others)

    def _drive(self, name: str) -> int:
        """The component of the effort of a joint's drive; -1 without a drive."""
        joint = self.topology.system.joints[name]
        return self.starts[f"{name}.effort"] if joint.driven and joint.n_u else -1

    def along(self, directions: Array, name: str) -> Array:
        """Six components of unit efforts of a joint, for each state."""
        n_u, at = self.n_u[self.joints[name]], self.joint_at[self.joints[name]]
        R_FM = directions[:, at + 12 : at + 21].reshape(-1, 3, 3)
        T = directions[:, at + DIRECTION_FRAME + 6 * n_u : at + DIRECTION_FRAME + 12 * n_u].reshape(
            len(directions), 6, n_u
        )
        return np.concatenate([R_FM @ T[:, 3:], R_FM @ T[:, :3]], axis=1)


@dataclass(frozen=True, eq=False)
class Stresses:
    """The analysis of a range of states: what the loop gives, with a row for each state."""

    change: Array  # to the least norm, with moments over the length
    norms: Array  # norm of each component's row of the null space
    redundancy: Ints
    doubtful: npt.NDArray[np.bool_]
    N: Array | None  # components in each state of stress, moments over the length; one slab of n * m for each state


def find_stresses(
    tables: StressTables, directions: Array, unit_loads: Array | None, x: Array | None, keep: bool = False
) -> Stresses:
    """Analyze states; ``x`` are components to be shared by least norm, with moments over the length."""
    rows = len(directions)
    loads = np.zeros((1, 1)) if unit_loads is None else np.ascontiguousarray(unit_loads, dtype=float)
    given = np.zeros((rows, tables.n)) if x is None else np.ascontiguousarray(x, dtype=float)
    results = Stresses(
        np.zeros((rows, tables.n)),
        np.zeros((rows, tables.n)),
        np.zeros(rows, dtype=np.int64),
        np.zeros(rows, dtype=bool),
        np.zeros((rows, tables.n * tables.m)) if keep else None,
    )
    doubt, loop = np.zeros(rows, dtype=np.int64), compiled(analyze_states)

    def work(first: int, last: int) -> None:
        memory = StressMemory()
        tables.fill(memory)
        memory.first, memory.last, memory.share, memory.keep = first, last, int(x is not None), int(keep)
        memory.directions, memory.unit_loads = floats_of(np.ascontiguousarray(directions)), floats_of(loads)
        memory.x, memory.change, memory.norms = floats_of(given), floats_of(results.change), floats_of(results.norms)
        memory.redundancy, memory.doubt = ints_of(results.redundancy), ints_of(doubt)
        N = np.zeros(tables.n * tables.m) if results.N is None else results.N[first:last]
        memory.stresses = floats_of(N)
        _provide_work(memory, sum(tables.n_u))
        loop(memory)

    share(work, rows, LEAST_STATES)
    results.doubtful[:] = doubt != 0
    return results


def _provide_work(memory: StressMemory, n_u: int) -> None:
    """Give the loop its work arrays."""
    n, m = memory.n, memory.m
    memory.loads = _floats(np.zeros(max(6 * memory.bodies * m, m * m)))
    memory.components, memory.equations = _floats(np.zeros(n * m)), _floats(np.zeros(n_u * m))
    memory.remaining, memory.narrow = _floats(np.zeros(n_u * m)), _floats(np.zeros(n * m))
    memory.blocks, memory.block_size = _floats(np.zeros(6 * m)), _ints(np.zeros(m))
    memory.small, memory.doubtful, memory.arm = _floats(np.zeros(6 * n_u)), _floats(np.zeros(1)), _floats(np.zeros(3))
    memory.basis, memory.triangle = _floats(np.zeros(m * m)), _floats(np.zeros(m * m))
    memory.factors, memory.solution = _floats(np.zeros(max(m, 6))), _floats(np.zeros(m))
    memory.wrench, memory.about = _floats(np.zeros(6 * m)), _floats(np.zeros(6 * m))


def _ints(values: Any) -> Any:
    """An array of integers for a record; one without entries gets one, so that it has an address."""
    array = np.array([*values], dtype=np.int64)
    return ints_of(array if array.size else np.zeros(1, dtype=np.int64))


def _floats(values: Any) -> Any:
    array = np.array([*values] if not isinstance(values, np.ndarray) else values, dtype=float)
    return floats_of(array if array.size else np.zeros(1))
