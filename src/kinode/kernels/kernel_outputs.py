"""The result of each kernel, computed from a snapshot (one evaluation of the model with traced scalars).

The kernel ``pictures`` has the poses, loads and named quantities of one instant, for views that move: kinematics and
reactions are computed once, and a run is evaluated by one call.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array, Scalar, less, where
from kinode.algebra.trace import Tape, Traced, needed
from kinode.kernels.kernel_options import (
    ContributionOptions,
    LoadOptions,
    PictureOptions,
    ReactionOptions,
    SharingOptions,
)
from kinode.model.base.frames import Frame
from kinode.model.quantities import find_quantity
from kinode.model.system import joint_frame
from kinode.model.system_checks import find_asking
from kinode.multibody.dependent_joints import n_cut_coordinates, pose_errors
from kinode.multibody.snapshot import Snapshot
from kinode.structure.topology import Topology

Outputs = Sequence[Any] | Array
Names = tuple[str, ...]


def flat(values: Any) -> list[Scalar]:
    """All entries of a result as a flat list."""
    return list(np.asarray(values, dtype=object).ravel())


# -- motion ----------------------------------------------------------------------------------------
def rate(snapshot: Snapshot) -> Outputs:
    """Rate of the state vector [q, u, z]."""
    return np.concatenate([snapshot.q_dot, snapshot.u_dot, snapshot.z_dot])


def completed_step(snapshot: Snapshot) -> Outputs:
    """What parts answer to a completed step: 0, or 4 k + a for the first that cannot go on, part k with answer a.

    Of a part that wants an event, -1 - m with the index m of its event function.
    """
    code: Scalar = 0.0
    for k, part in reversed(list(enumerate(find_asking(snapshot.system)))):
        answer = part.step_result(snapshot)
        stops: Scalar = answer + 4.0 * k
        if part.step_event is not None and snapshot.topology.events is not None:
            event = -1.0 - snapshot.topology.events.of(part.name)[part.step_event]
            stops = where(less(answer, 1.5), event, stops)
        code = where(answer, stops, code)
    return [code]


def energy(snapshot: Snapshot) -> Outputs:
    """Kinetic energy, and all other energy: potential, electric, thermal."""
    kinetic, *others = snapshot.energies.values()
    return [kinetic, sum(others, 0.0)]


def power(snapshot: Snapshot) -> Outputs:
    """Rate of the state vector, and the powers of everything that changes the energy."""
    from kinode.multibody.power import powers

    return [*rate(snapshot), *powers(snapshot)]


def pose(snapshot: Snapshot, options: Names) -> Outputs:
    """Rotation and position of a frame."""
    X = snapshot.pose(snapshot.system.find_frame(options[0]))
    return np.concatenate([np.asarray(X.R, dtype=object).ravel(), X.p])


# -- by name ---------------------------------------------------------------------------------------
def evaluate(snapshot: Snapshot, options: Names) -> Outputs:
    """Quantities by name."""
    from kinode.model.quantities import find_quantity

    names = [find_quantity(snapshot.system, name) for name in options]
    return [x for name in names for x in flat(snapshot.quantity(name))]


def law(snapshot: Snapshot, options: Names) -> Outputs:
    """The value of an expression given as text."""
    from kinode.expressions.parser import parse

    return [snapshot.resolve(parse(options[0], snapshot.system.call_counts()))]


# -- reactions -------------------------------------------------------------------------------------
def reactions(snapshot: Snapshot, options: ReactionOptions) -> Outputs:
    """Force and moment of joints; with a support of loops, followed by ``doubt``, its relative error."""
    find = snapshot.system.find_frame
    outputs: list[Scalar] = []
    for name in options.joints:
        moment, force = snapshot.reaction(
            name,
            options.part,
            hold=options.support,
            whole=options.whole,
            on=options.on,
            about=None if options.about is None else find(options.about),
            expressed_in=None if options.axes is None else find(options.axes),
        )
        outputs += [*force, *moment]
    return outputs if options.support is None else [*outputs, snapshot.statics(options.support).doubt]


def contributions(snapshot: Snapshot, options: ContributionOptions) -> Outputs:
    """Force and moment of each contribution to the kinetic shares of joints, one joint after the other.

    The end is as in ``reactions``.
    """
    # imports all formulations, which few runs need
    from kinode.formulations.contributions import contributions_of_joints

    find, support = snapshot.system.find_frame, options.support
    point, frame = (None if name is None else find(name) for name in (options.about, options.axes))
    outputs: list[Scalar] = []
    for joint, wrenches in contributions_of_joints(snapshot, options.joints, options.by, support).items():
        for wrench in wrenches.values():
            moment, force = snapshot.reactions.seen(joint, wrench, None, point, frame)
            outputs += [*force, *moment]
    return outputs if support is None else [*outputs, snapshot.statics(support).doubt]


def element_loads(snapshot: Snapshot, options: Names) -> Outputs:
    """Force and moment of each element on each body that it loads, about the origin of a frame, in its axes."""
    from kinode.formulations.free_flight import element_loads

    loads = element_loads(snapshot, snapshot.system.find_frame(options[0]))
    return [x for moment, force in loads.values() for x in (*force, *moment)]


def holding(snapshot: Snapshot, options: LoadOptions) -> Outputs:
    """The loads of all load-bearing constraints, in the order of ``topology.holding``."""
    loads = (snapshot.holding(name, options.part, options.support) for name in snapshot.topology.holding)
    return [x for values in loads for x in values]


def unit_wrench(snapshot: Snapshot, options: Names) -> Outputs:
    """The wrench on a body for each unit multiplier of a constraint; the option names a quantity of the constraint."""
    from kinode.model.quantities import find_quantity

    return snapshot.unit_wrenches(find_quantity(snapshot.system, options[0]))


def unit_loads(snapshot: Snapshot) -> Outputs:
    """The loads of constraints for unit multipliers."""
    return snapshot.constraints.unit_loads()


DIRECTION_FRAME = 21  # numbers of a joint in the directions before its freedoms: R_WM, p_WM, R_FM


def direction_sizes(topology: Topology) -> list[int]:
    """How many numbers of ``stress_directions`` each joint has, in order of declaration."""
    return [DIRECTION_FRAME + 12 * joint.n_u for joint in topology.system.joints.values()]


def stress_directions(snapshot: Snapshot) -> Outputs:
    """R_WM, p_WM, R_FM, freedoms S and unit efforts T of each joint; then the origin of each body."""
    outputs = [x for name in snapshot.system.joints for x in joint_directions(snapshot, name)]
    for body in snapshot.system.bodies:
        outputs += flat(snapshot.pose(snapshot.system.find_frame(body)).p)
    return outputs


def joint_directions(snapshot: Snapshot, name: str) -> list[Scalar]:
    """The same of one joint."""
    resolve, joint = snapshot.resolve, snapshot.system.joints[name]
    axes, form = joint.axis_rotation(resolve, snapshot.system.nominal), joint.form(resolve)
    X_WF, X_WM = (snapshot.pose(joint_frame(joint, side)) for side in ("parent", "child"))
    q = snapshot.kinematics.joint_state(name)[0]
    S, T = joint.motion_subspace(q, form), joint.effort_wrench(q, form)
    return [x for part in (X_WM.R @ axes, X_WM.p, X_WF.R.T @ X_WM.R @ axes, S, T) for x in flat(part)]


def load_sharing(snapshot: Snapshot, x: Array, options: SharingOptions) -> Outputs:
    """The change of given loads by the rule of least norm, and tests of the options.

    ``x`` are the components of ``topology.holding`` with moments over the length.  The result is the change of those
    that are shared; that of a trial load, for all; the largest inverse pivot; the efforts of the locks.
    """
    from kinode.kernels.derivatives.shared_quantities import SharedLoads  # which few runs need

    loads = SharedLoads(snapshot, options)
    change, _ = loads.share(x)
    test, locked = loads.share(trial_loads(len(options.shared)))
    shared = [value for value, flag in zip(change, options.shared, strict=True) if flag]
    return [*shared, *test, loads.stiffness.flexibility, locked]


def trial_loads(count: int) -> Array:
    """Loads of which no two are alike."""
    return np.array([math.cos(1.0 + 7.0 * k) for k in range(count)])


# -- accelerations by cause ------------------------------------------------------------------------
def tiers(snapshot: Snapshot, options: Names) -> Outputs:
    """The acceleration of a point by cause and chain segment."""
    from kinode.formulations.contributions import by_tier

    return by_tier(snapshot, snapshot.system.find_frame(options[0]))


def segments(snapshot: Snapshot, options: Names) -> Outputs:
    """The acceleration of a point by cause and chain segment, along the radius vectors."""
    from kinode.formulations.contributions import by_segment

    return by_segment(snapshot, snapshot.system.find_frame(options[0]))


# -- loops -----------------------------------------------------------------------------------------
def closure(snapshot: Snapshot) -> Outputs:
    """Residuals and rates of all constraint rows, and the entries of their Jacobian that are not structurally zero."""
    from kinode.multibody import loop_constraints

    constraints = snapshot.constraints
    residuals_and_rates = [x for f in (loop_constraints.residual, loop_constraints.drift) for x in constraints.every(f)]
    return [*residuals_and_rates, *(x for row in constraints.all_rows for x in row.values())]


def loop_rates(snapshot: Snapshot, tape: Tape, x: Array, options: Names) -> list[Scalar]:
    """The rates of the pose errors and, if the options name them, of the closure, along those of all coordinates."""
    from kinode.kernels.derivatives.tape_sweeps import NO_VALUES, sweep_forward

    n = n_cut_coordinates(snapshot.topology)
    values = [*pose_errors(snapshot, x[:n]), *(closure(snapshot) if options else ())]
    moving = [*tape.inputs("q", snapshot.topology.n_q), *x[:n]]
    seeds = {node.index: rate for node, rate in zip(moving, x[n:], strict=True)}
    rates = sweep_forward(needed(values), seeds, NO_VALUES)
    return [rates.get(value.index, 0.0) if type(value) is Traced else 0.0 for value in values]


def projection(snapshot: Snapshot) -> Outputs:
    """The state projected onto the constraints, and the effective mass of the constraints."""
    q, u, mass = snapshot.projected()
    return np.concatenate([q, u, snapshot.z, [mass]])


# -- derivatives -----------------------------------------------------------------------------------
def jacobian(snapshot: Snapshot, options: Names) -> Outputs:
    """Angular and linear velocity of a frame for unit speeds: a matrix 6 x n_u."""
    point, n = snapshot.point, len(snapshot.point.u)

    def velocity(u: Array) -> Array:
        moving = snapshot.at(point.replaced(u=u))
        return np.concatenate(moving.velocity(moving.system.find_frame(options[0])))

    at_rest = velocity(np.zeros(n))
    columns = [velocity(np.eye(n)[k]) - at_rest for k in range(n)]
    return np.array(columns, dtype=object).T if columns else np.zeros((6, 0))


def pictures(snapshot: Snapshot, options: PictureOptions) -> list[Scalar]:
    """Position and quaternion of each body; points; loads of each part; rotations; quantities by name; doubt.

    Loads have force, then moment, in world axes, of joints first, then of constraints; a point is where each acts.
    """
    system, outputs = snapshot.system, list[Scalar]()
    for body in system.bodies:
        outputs += evaluate(snapshot, (f"{body}.position", f"{body}.quaternion"))
    for joint in options.joints:
        outputs += evaluate(snapshot, (f"{joint}.child.position",))
    for name, body in options.constraints:
        outputs += [*snapshot.pose(system.constraints[name].places(system)[body]).p]
    for part in options.parts:
        for joint in options.joints:
            moment, force = snapshot.reaction(joint, part, hold=options.support, expressed_in=Frame("world"))
            outputs += [*force, *moment]
        for name, body in options.constraints:
            multipliers = snapshot.holding(name, part, options.support)
            for word in ("force", "moment"):
                outputs += [*_constraint_load(snapshot, f"{name}.on.{body}.{word}", multipliers)]
    for joint in options.joints if options.rotations else ():
        outputs += evaluate(snapshot, (f"{joint}.parent.rotation",))
    outputs += evaluate(snapshot, options.names)
    return outputs if options.support is None else [*outputs, snapshot.statics(options.support).doubt]


def _constraint_load(snapshot: Snapshot, name: str, multipliers: Array) -> Array:
    """The force or moment of a constraint on a body, which is linear in its multipliers."""
    units = np.array(snapshot.unit_wrenches(find_quantity(snapshot.system, name)), dtype=object)
    load: Array = multipliers @ units.reshape(len(multipliers), 3)
    return load
