"""Rows about whole simulations of the UR5 swinging freely: RK4 at 1 ms, one run and a batch, against MuJoCo and Exudyn.

MuJoCo's contacts, constraints, sensors and actuation are off. Both sides write every step of a batch.
"""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
from mujoco import rollout

from measure import Row, Side, call
from models import exudyn_model, mujoco_model, robot, state

STEP = 1e-3
STEPS = 10_000  # ten seconds
COMPARED = 200  # steps after which the two must still agree: a free arm is chaotic, and ten seconds amplify rounding
BATCH = 4096
BATCH_STEPS = 100
UR5 = "ur5_robot"


def mj_step() -> Side:
    """MuJoCo, all steps in one call."""
    model = mujoco_model(robot(UR5), STEP)
    data = mujoco.MjData(model)
    q, u = state(model.nv)

    def run(steps: int) -> None:
        data.qpos, data.qvel, data.time = q, u, 0.0
        mujoco.mj_step(model, data, steps)

    run(COMPARED)
    value = np.concatenate([data.qpos, data.qvel])
    return call(run, STEPS, value=value, evaluations=STEPS)


def exudyn_rk4() -> Side:
    """Exudyn's explicit RK4 on its kinematic tree, writing nothing."""
    import exudyn

    q, u = state(6)
    system, node = exudyn_model(robot(UR5), q, u)
    settings = exudyn.SimulationSettings()
    settings.timeIntegration.verboseMode = 0
    settings.solution.file.write = False
    settings.solution.file.writePeriod = settings.solution.sensors.writePeriod = 1e9

    def run(steps: int) -> None:
        settings.timeIntegration.numberOfSteps, settings.timeIntegration.endTime = steps, steps * STEP
        system.SolveDynamic(settings, solverType=exudyn.DynamicSolverType.RK44)

    run(COMPARED)
    kinds = exudyn.OutputVariableType
    value = np.concatenate([system.GetNodeOutput(node, kind) for kind in (kinds.Coordinates, kinds.Coordinates_t)])
    return call(run, STEPS, value=value, evaluations=STEPS)


def simulate() -> Side:
    """Ours, as a user calls it: the trajectory is built and kept."""
    import ours

    path = robot(UR5)
    q, u = state(6)
    value = ours.final_state(path, ours.simulate_rk4(path, q, u, COMPARED * STEP, STEP))
    return call(ours.simulate_rk4, path, q, u, STEPS * STEP, STEP, value=value, evaluations=STEPS)


def batch_rollout() -> Side:
    """MuJoCo's batch on two threads of a pool that is already running."""
    model = mujoco_model(robot(UR5), STEP)
    q, u = state(model.nv, rows=BATCH)
    start = np.hstack([np.zeros((BATCH, 1)), q, u])
    workers = [mujoco.MjData(model) for _ in range(2)]
    states = np.empty((BATCH, BATCH_STEPS, start.shape[1]))
    pool = rollout.Rollout(nthread=2)

    def run() -> Any:
        return pool.rollout(model, workers, start, nstep=BATCH_STEPS, state=states)

    run()
    return call(run, value=states[:, -1, 1:].copy(), evaluations=BATCH * BATCH_STEPS)


def batch_rk4() -> Side:
    """Ours, on two threads."""
    import ours

    path = robot(UR5)
    q, u = state(6, rows=BATCH)
    value = np.asarray(ours.rk4_batch(path, q, u, STEP, BATCH_STEPS))[:, -1, :]
    return call(ours.rk4_batch, path, q, u, STEP, BATCH_STEPS, value=value, evaluations=BATCH * BATCH_STEPS)


def rows() -> list[Row]:
    """The rows of this file."""
    one, many = "UR5: free swing, RK4 at 1 ms for 10 s, each step", f"UR5: {BATCH} such runs on 2 cores, each step"
    return [
        Row(one, "mujoco.mj_step", simulate, mj_step, 8.0, tolerance=1e-6, rounds=8),
        Row(one, "exudyn RK44", simulate, exudyn_rk4, tolerance=1e-6, rounds=4),
        Row(many, "mujoco.rollout", batch_rk4, batch_rollout, 25.0, tolerance=1e-6, rounds=6),
    ]
