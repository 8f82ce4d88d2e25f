"""Pictures of a run for views that move: poses, loads and quantities at even times, in single precision.

Arrays have the pictures along the last axis.  ``prepare_frames`` looks up names, support and places once; the evaluator
then only calls the kernel ``pictures``, one call of machine code for each run, and cuts its result.  Where reactions
are not unique, the rule that shares them adds its change (``dynamics/reactions``).

Who loads a joint, the kinetic part of its reaction by body or by cause, is computed as ``run.causes`` does, in world
axes.  A player file holds the quantities of ``player_names``; all others need the model at hand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.compiled_system import Dynamics
from kinode.dynamics.reactions.joint_reactions import by_name, constraint_change, is_overlocked
from kinode.dynamics.reactions.lost_values import find_left_out, is_redundant, is_shared
from kinode.dynamics.reactions.support_argument import read_support
from kinode.dynamics.state_batch import StateBatch
from kinode.errors import ArgumentError, Error, ModelError, SupportError
from kinode.kernels.kernel_options import Kernel, PictureOptions
from kinode.kernels.state import Wrench
from kinode.kernels.tree_size import is_large
from kinode.model.base.fields import short, unknown
from kinode.model.circuit_topology import ENERGY, find_circuit_topology
from kinode.model.constraints.gear_coupling import CoordinateCoupling
from kinode.model.quantities import find_expression, find_quantity
from kinode.model.system import System
from kinode.multibody.loop_statics import DOUBT, Support, joints_in_loops
from kinode.results.causes import Causes, compute_causes, compute_causes_of_joints, split_by_loops
from kinode.results.run_quantities import RunQuantities
from kinode.structure.topology import find_topology

if TYPE_CHECKING:
    from kinode.dynamics.reactions.redundancy import ReactionSharing


@dataclass(frozen=True, eq=False)
class RunFrames:
    """Poses, loads and quantities of a run at the times of n pictures.

    Attributes
    ----------
    t : array
        Times, s, (n,).
    bodies : tuple of str
        The bodies.
    poses : array
        (bodies, 7, n): position x, y, z, then quaternion w, x, y, z of each body, whose sign does not jump.
    joints : tuple of str
        The joints that have reactions, then the constraints that act on bodies.
    on : tuple of str
        The body that each load acts on: the child of a joint.
    at : tuple of str
        The point about which its moment is, in words: the child's side of a joint.
    points : array
        (joints, 3, n): where each load acts, in world axes.
    loads : mapping of str to array
        By part, "total" and "static": (joints, 6, n), force then moment about the point, in world axes.  The kinetic
        part is the difference.
    unique : array
        (joints, 6): whether each component is determined by equilibrium, in the axes of the joint (``Wrench``).
    shared : tuple of str
        How components that are not unique were chosen, for each joint.
    left_out : tuple of tuple of str
        Loads that are not in the reactions of each joint.
    columns : mapping of str to slice
        Where each quantity by name is in ``quantities``.
    quantities : array
        (columns, n).
    notes : tuple of str
        What is missing, and why.
    run : RunQuantities
        The run with one state for each picture; None if states were given without a run.
    """

    t: Array
    bodies: tuple[str, ...]
    poses: Array
    joints: tuple[str, ...]
    on: tuple[str, ...]
    at: tuple[str, ...]
    points: Array
    loads: Mapping[str, Array]
    unique: Array
    shared: tuple[str, ...]
    left_out: tuple[tuple[str, ...], ...]
    columns: Mapping[str, slice]
    quantities: Array
    notes: tuple[str, ...] = ()
    run: RunQuantities | None = None
    hold: Any = None

    def __len__(self) -> int:
        return len(self.t)

    def __repr__(self) -> str:
        return f"<RunFrames: {len(self)} pictures, {len(self.bodies)} bodies, {len(self.joints)} loads>"

    def __getitem__(self, name: str) -> Array:
        """A quantity that was asked for by name: (n,), or (components, n)."""
        if name not in self.columns:
            raise ArgumentError(unknown("frames hold no quantity called", short(name), self.columns))
        values = self.quantities[self.columns[name]]
        return values[0] if len(values) == 1 else values

    def evaluate(self, names: Iterable[str]) -> dict[str, Array]:
        """Quantities at the times of the pictures, (n, ...): all that are new by one compiled function.

        Parameters
        ----------
        names : iterable of str
            Names of quantities, or expressions of them, as in ``run.evaluate``.

        Returns
        -------
        dict of str to array
        """
        if self.run is None:
            raise ArgumentError("evaluate: these frames were made of states, not of a run")
        return self.run.evaluate(names)

    @property
    def wrenches(self) -> dict[str, Wrench]:
        """The whole loads as wrenches, in world axes; their ``components`` are told apart in the joint's axes."""
        wrenches = {}
        for k, name in enumerate(self.joints):
            force, moment = self.loads["total"][k, :3].T, self.loads["total"][k, 3:].T
            flags = tuple(bool(flag) for flag in self.unique[k])
            wrenches[name] = Wrench(
                force, moment, on=self.on[k], at=self.at[k], frame="world", components=flags,
                unique=all(flags) and not self.left_out[k], shared=self.shared[k], left_out=self.left_out[k],
            )  # fmt: skip
        return wrenches

    @property
    def kinetic(self) -> Array | None:
        """The kinetic part of the loads, (joints, 6, n); None if there is no static part."""
        static = self.loads.get("static")
        return None if static is None else np.asarray(self.loads["total"] - static)

    def breakdown(self, joint: str, by: str = "body") -> LoadBreakdown:
        """The kinetic part of a joint's reaction as a sum over bodies, or over causes.

        Parameters
        ----------
        joint : str
            The joint.
        by : {"body", "cause"}
            By body for every system; by cause for trees.

        Returns
        -------
        LoadBreakdown
            ``names`` of what contributes and ``loads`` (contributors, 6, n), in world axes about the child's point.
        """
        if self.run is None:
            raise ArgumentError("breakdown: these frames were made of states, not of a run")
        return find_breakdown(self.run, joint, by, self.hold)


if TYPE_CHECKING:
    Sharing = Callable[[str], ReactionSharing]

MOST_BODIES = 150  # of a tree whose static part is compiled as straight-line code: seconds


def prepare_frames(dynamics: Dynamics, names: Iterable[str] = (), *, hold: Any = None) -> FrameEvaluator:
    """What evaluates pictures of runs of a compiled system, again and again.

    Parameters
    ----------
    dynamics : Dynamics
        The compiled system.
    names : iterable of str
        Quantities, or expressions of them.
    hold : str or sequence of str, optional
        Joints that support the loops in the static share, if no drives do.

    Returns
    -------
    FrameEvaluator

    Examples
    --------
    >>> from kinode.results.run_frames import prepare_frames
    >>> dynamics = kn.compile(kn.load("examples/double_pendulum.yaml"))
    >>> evaluator = prepare_frames(dynamics, ["elbow.q"])
    >>> evaluator(kn.simulate(dynamics, 1.0, samples=61)).poses.shape
    (2, 7, 61)
    """
    return FrameEvaluator(dynamics, tuple(names), hold)


class FrameEvaluator:
    """Evaluates pictures; ``prepare_frames`` makes it.  A call takes a run, or states: one row for each picture."""

    def __init__(self, dynamics: Dynamics, names: tuple[str, ...], hold: Any) -> None:
        self.dynamics, self.system, self.hold = dynamics, dynamics.system, hold
        self.redundant = is_redundant(dynamics)
        topology = dynamics.topology
        joints = tuple(name for name, joint in self.system.joints.items() if joint.n_u < 6)
        places = tuple(_constraint_places(dynamics))
        self.loaded = (*joints, *(name for name, _ in places))
        self.on = (*(self.system.joints[name].b.body for name in joints), *(body for _, body in places))
        frames = (self.system.constraints[name].places(self.system)[body] for name, body in places)
        self.at = (*(f"{name}.child" for name in joints), *(str(frame) for frame in frames))
        left_out = find_left_out(topology)
        self.left_out = tuple(left_out.get(name, ()) for name in self.loaded)
        parts, support, self.notes = _find_parts(dynamics, hold, self.loaded)
        self._read_names(names)
        self.options = PictureOptions(
            tuple(name.text for name in self._quantities), joints, places, parts, support, self.redundant,
        )  # fmt: skip
        self.kernel = Kernel("pictures", self.options)
        self._lay_out()

    # -- preparation -------------------------------------------------------------------------------
    def _read_names(self, names: tuple[str, ...]) -> None:
        """The quantities to evaluate: those asked for, then those of expressions."""
        for name in names:
            if not isinstance(name, str):
                raise ArgumentError(f"names: the name of a quantity is expected, not {short(name)}")
        found = {name: find_expression(self.system, name) for name in names}
        self._expressions = [expression for expression in found.values() if expression is not None]
        shown = [name for name, expression in found.items() if expression is None]
        hidden = [name for expression in self._expressions for name in expression.names]
        self._quantities = [find_quantity(self.system, text) for text in dict.fromkeys([*shown, *hidden])]
        self._n_shown = len(shown)

    def _lay_out(self) -> None:
        """Where everything is in the result of the kernel."""
        options, n_loads = self.options, len(self.loaded)
        at = self._poses_end = 7 * len(self.system.bodies)
        at = self._points_end = at + 3 * n_loads
        self._loads: dict[str, slice] = {}
        for part in options.parts:
            self._loads[part] = slice(at, at + 6 * n_loads)
            at += 6 * n_loads
        self._rotations = at
        at += 9 * len(options.joints) if options.rotations else 0
        self._first = at
        self._columns: dict[str, slice] = {}
        for k, name in enumerate(self._quantities):
            size = int(np.prod(name.size))
            self._columns[name.text] = slice(at, at + size)
            at += size
            if k < self._n_shown:
                self._last = at
        self._last = self._last if self._n_shown else self._first
        self.columns = {
            text: slice(where.start - self._first, where.stop - self._first)
            for text, where in list(self._columns.items())[: self._n_shown]
        }
        size = self._last - self._first
        self.columns |= {x.text: slice(size + k, size + k + 1) for k, x in enumerate(self._expressions)}
        self._shared = [name for name in self._quantities if is_shared(self.dynamics, name)]
        cut = self.dynamics.topology.cut_names
        self._turning = [name for name in self._quantities if name.quantity == "q" and name.owner in cut]

    # -- evaluation --------------------------------------------------------------------------------
    def __call__(self, rows: RunQuantities | StateBatch, *, notes: tuple[str, ...] = ()) -> RunFrames:
        """The pictures of a run or of states.

        Parameters
        ----------
        rows : RunQuantities or StateBatch
            A run of the same compiled system, or a batch of its states: one for each picture.
        notes : tuple of str
            Further notes.
        """
        run = rows if isinstance(rows, RunQuantities) else None
        if run is not None and run.dynamics is not self.dynamics:
            raise ArgumentError("frames: the run is one of another compiled system; prepare_frames takes its dynamics")
        states = rows if isinstance(rows, StateBatch) else rows.states
        out = np.atleast_2d(self.dynamics.kernels.call(self.kernel, states))
        words = [*self.notes, *notes]
        unique, shared = np.ones((len(self.loaded), 6), dtype=bool), [""] * len(self.loaded)
        if self.redundant and len(out):
            try:
                self._share(out, states, _sharing(self.dynamics, states, run, self.options.support), unique, shared)
            except ModelError as error:  # tooth forces that are not unique
                unique[:], shared = False, [str(error)] * len(self.loaded)
                words.append(f"loads are one of many solutions: {error}")
        if len(out) and is_overlocked(self.dynamics, states):
            for k in (k for k, name in enumerate(self.loaded) if name in joints_in_loops(self.dynamics.topology)):
                unique[k], shared[k] = False, "how it came to rest"
        self._unwrap(out)
        words += self._drop_doubtful(out, states)
        return self._cut(out, states, run, unique, tuple(shared), tuple(words))

    def _cut(
        self, out: Array, states: StateBatch, run: RunQuantities | None, unique: Array, shared: tuple[str, ...],
        notes: tuple[str, ...],
    ) -> RunFrames:  # fmt: skip
        """The record of a result of the kernel, in single precision."""
        n, n_loads = len(out), len(self.loaded)
        block = np.ascontiguousarray(out[:, : self._last].T, dtype=np.float32)
        poses = block[: self._poses_end].reshape(len(self.system.bodies), 7, n)
        make_continuous(poses[:, 3:])
        quantities = block[self._first : self._last]
        if self._expressions:
            values = {text: out[:, where].squeeze(axis=1) for text, where in self._columns.items() if _is_one(where)}
            rows = [expression.evaluate(self.system, values, n) for expression in self._expressions]
            quantities = np.vstack([quantities, np.array(rows, dtype=np.float32)])
        return RunFrames(
            np.array(states.t, dtype=float).reshape(n), tuple(self.system.bodies), poses, self.loaded, self.on, self.at,
            block[self._poses_end : self._points_end].reshape(n_loads, 3, n),
            {part: block[where].reshape(n_loads, 6, n) for part, where in self._loads.items()},
            unique, shared, self.left_out, self.columns, quantities, notes, run,
            self.hold,
        )  # fmt: skip

    def _share(self, out: Array, states: StateBatch, find: Sharing, unique: Array, shared: list[str]) -> None:
        """Add what the rule changes where reactions are not unique, and note which components are."""
        joints, n = self.options.joints, len(out)
        for part, where in self._loads.items():
            sharing, at = find(part), where.start
            for k, name in enumerate(joints):
                first = self._rotations + 9 * k
                R = out[:, first : first + 9].reshape(n, 3, 3)
                change = sharing.of_joint(name, whole=False).reshape(n, 2, 3)
                out[:, at : at + 6] += np.einsum("tij,tkj->tki", R, change).reshape(n, 6)
                at += 6
            for name, body in self.options.constraints:
                for word in ("force", "moment"):
                    quantity = find_quantity(self.system, f"{name}.on.{body}.{word}")
                    out[:, at : at + 3] += constraint_change(self.dynamics, quantity, states, sharing)
                    at += 3
        sharing = find("total")
        for quantity in self._shared:
            values = out[:, self._columns[quantity.text]]
            compiled = values.reshape(n, *quantity.size)
            values[:] = by_name(self.dynamics, quantity, states, sharing, compiled).reshape(values.shape)
        for k, owner in enumerate(self.loaded):
            flags = sharing.is_unique(owner, whole=False)
            unique[k] = flags if k < len(joints) else all(flags)
            if not unique[k].all():
                shared[k] = "compliance" if sharing.elastic[owner] else "least norm"

    def _unwrap(self, out: Array) -> None:
        """Angles of cut joints, known up to whole turns, without jumps."""
        for name in self._turning:
            where = self._columns[name.text]
            kinds = name.dimension if isinstance(name.dimension, tuple) else (name.dimension,)
            for column, kind in zip(range(where.start, where.stop), kinds, strict=True):
                if kind == "angle" and len(out):
                    out[:, column] = np.unwrap(out[:, column])

    def _drop_doubtful(self, out: Array, states: StateBatch) -> list[str]:
        """Leave the static part open where the support has no lever on the mechanism."""
        if self.options.support is None:
            return []
        bad = np.flatnonzero(~(out[:, -1] <= DOUBT))
        if not len(bad):
            return []
        out[np.ix_(bad, np.arange(*self._loads["static"].indices(out.shape[1])))] = np.nan
        time = float(np.atleast_1d(states.t)[bad[0]])
        more = f" and {len(bad) - 1} more" if len(bad) > 1 else ""
        return [f"no static part at t = {time:.6g} s{more}: a dead center, or another singular position"]


def _constraint_places(dynamics: Dynamics) -> Iterator[tuple[str, str]]:
    """The constraints that act on bodies, each with the last body that it acts on.

    The efforts of gears are in the loads of their joints.
    """
    for constraint in dynamics.topology.constraints:
        bodies = [body for body in constraint.places(dynamics.system) if body != "world"]
        if bodies and not isinstance(constraint, CoordinateCoupling):
            yield constraint.name, bodies[-1]


def _find_parts(
    dynamics: Dynamics, hold: Any, loaded: tuple[str, ...]
) -> tuple[tuple[str, ...], Support, tuple[str, ...]]:
    """The parts of the loads that can be formed, the support of the static one, and why one is missing."""
    joints = [*(name for name in loaded if name in dynamics.system.joints), *joints_in_loops(dynamics.topology)]
    if not loaded:
        return ("total",), None, ()
    topology = dynamics.topology
    if is_large(topology) and (topology.constrained or len(dynamics.system.bodies) > MOST_BODIES):
        return ("total",), None, ("no static part: it would take long to compile for so many bodies",)
    try:
        support = read_support(dynamics, hold, "static", joints)
    except SupportError as error:
        if hold is not None:
            raise
        return ("total",), None, (f"no static part: {str(error).removeprefix('hold: ')}",)
    return ("total", "static"), support, ()


def _sharing(dynamics: Dynamics, states: StateBatch, run: RunQuantities | None, support: Support) -> Sharing:
    """How redundant reactions are shared, by part; a run keeps what it has computed."""
    if run is not None:
        return lambda part: run.shared(part, None if part == "total" else support)
    from kinode.dynamics.reactions.redundancy import Analyses, share  # few pictures are of no run

    analyses = Analyses(dynamics, states, len(np.atleast_1d(states.t)))
    return lambda part: share(dynamics, states, part, None if part == "total" else support, analyses)


def _is_one(where: slice) -> bool:
    return int(where.stop - where.start) == 1


def make_continuous(quaternions: Array) -> None:
    """Turn the signs of quaternions (bodies, 4, n) so that they do not jump along time."""
    turns = np.sum(quaternions[:, :, 1:] * quaternions[:, :, :-1], axis=1) < 0.0
    if turns.any():
        signs = np.where(np.cumsum(turns, axis=1) % 2, -1.0, 1.0)
        quaternions[:, :, 1:] *= signs[:, None]


MOST_JOINTS = {"body": 12, "cause": 4}  # whose breakdown a file holds: to compile them takes up to some seconds
BREAKDOWNS = tuple(MOST_JOINTS)


@dataclass(frozen=True, eq=False)
class LoadBreakdown:
    """Contributions to the kinetic part of a joint's reaction.

    Attributes
    ----------
    joint, by : str
        The joint, and "body" or "cause".
    names : tuple of str
        What contributes.
    loads : array
        (contributors, 6, n): force then moment about the child's joint point, in world axes; their sum is the kinetic
        part.
    """

    joint: str
    by: str
    names: tuple[str, ...]
    loads: Array


def find_breakdown(run: RunQuantities, joint: str, by: str, hold: Any = None) -> LoadBreakdown:
    """The breakdown of one joint's load over the states of a run."""
    if by not in BREAKDOWNS:
        raise ArgumentError(f"by: {' or '.join(BREAKDOWNS)}, not {by!r}")
    return _as_arrays(compute_causes(run, joint, by, hold, None, "world"))


def _as_arrays(causes: Causes) -> LoadBreakdown:
    loads = np.empty((len(causes.names), 6, len(causes.t)), dtype=np.float32)
    for k, name in enumerate(causes.names):
        loads[k, :3], loads[k, 3:] = causes.forces[name].T, causes.moments[name].T
    return LoadBreakdown(causes.joint, causes.by, causes.names, loads)


def find_breakdowns(frames: RunFrames, most: Mapping[str, int] = MOST_JOINTS) -> BreakdownTable:
    """The breakdowns of the most loaded joints, by each way at most so many; those that do not exist are left out."""
    if frames.run is None:
        return {}
    peaks = _peaks(frames)
    order = sorted(peaks, key=lambda name: -peaks[name])
    found: BreakdownTable = {}
    for way, count in most.items():
        loaded = [name for name in frames.joints if name in order[:count]]
        for group in split_by_loops(frames.run, loaded):
            with suppress(Error):  # causes outside of trees; loops that nothing holds
                causes = compute_causes_of_joints(frames.run, group, way, frames.hold, None, "world")
                found |= {(each.joint, way): _as_arrays(each) for each in causes}
    return {(name, way): found[name, way] for name in frames.joints for way in most if (name, way) in found}


BreakdownTable = dict[tuple[str, str], LoadBreakdown]


def _peaks(frames: RunFrames) -> Mapping[str, float]:
    """The largest force in each joint, with moments over the size of the mechanism, N."""
    joints = {} if frames.run is None else frames.run.system.joints
    extent = float(np.ptp(frames.points, axis=(0, 2)).max()) if frames.points.size else 0.0
    total, length = frames.loads["total"], extent or 1.0
    forces, moments = (np.linalg.norm(half, axis=1) for half in (total[:, :3], total[:, 3:]))
    sizes = forces + moments / length
    return {name: float(sizes[k].max(initial=0.0)) for k, name in enumerate(frames.joints) if name in joints}


SYSTEM_ENERGIES = ("energy", "kinetic_energy", "potential_energy")


def player_names(system: System) -> list[str]:
    """States, coordinates, speeds, efforts, powers, signals, inputs, and the values at energy links.

    Loads of joints are not among them: ``RunFrames.loads`` has them.

    Parameters
    ----------
    system : System
        The system.

    Returns
    -------
    list of str

    Examples
    --------
    >>> from kinode.results.run_frames import player_names
    >>> player_names(kn.load("examples/pendulum.yaml"))[:4]
    ['pivot.q', 'pivot.u', 'pivot.effort', 'pivot.power']
    """
    names = []
    for name, joint in system.joints.items():
        if joint.n_u:
            names += [f"{name}.{quantity}" for quantity in ("q", "u", "effort", "power")]
    names += [coordinate.name for coordinate in find_topology(system).coordinates if coordinate.role == "z"]
    for name, element in system.elements.items():
        offered = (quantity for quantity, (_, parts) in element.offered().items() if not parts)
        names += [f"{name}.{quantity}" for quantity in (*offered, *(("power",) if element.pushes else ()))]
    names += [f"{name}.reaction" for name in system.constraints]
    for name, node in system.nodes.items():
        names += [f"{name}.{word}" for word in node.domain.across if node.joint is None and not node.reference]
    names += [f"system.{energy}" for energy in SYSTEM_ENERGIES]
    for link in find_circuit_topology(system).links:
        if link.kind == ENERGY:
            names += [f"{link.name}.{word}" for word in (link.words.potential, link.words.flow)]
    return list(dict.fromkeys([*names, *system.signals, *system.inputs]))
