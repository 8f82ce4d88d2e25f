"""The fastest move of a two-link arm between two poses, at rest at both ends, with bounded torques.

Shows a model as CasADi functions: direct collocation with IPOPT finds torques and time, a simulation of the same model
with these torques arrives where it should. Takes casadi: pip install 'kinode[casadi]'.
"""

import casadi as ca
import numpy as np

import kinode as kn

arm = kn.loads("""kinode: 1
name: arm
gravity: [0, -9.81, 0]
inputs: {shoulder_torque: 0 N*m, elbow_torque: 0 N*m}
bodies:
  upper: {mass: 2, com: [0.25, 0, 0], inertia: {zz: 0.05}, frames: {tip: [0.5, 0, 0]}}
  lower: {mass: 1, com: [0.2, 0, 0], inertia: {zz: 0.02}}
joints:
  shoulder: {kind: revolute, between: [world, upper], axis: z, effort: shoulder_torque, q: -90 deg}
  elbow: {kind: revolute, between: [upper.tip, lower], axis: z, effort: elbow_torque, q: 0 deg}
""")
most = np.array([25.0, 10.0])  # N m
first, last = np.array([-np.pi / 2, 0.0]), np.array([np.pi / 3, np.pi / 6])

functions = kn.compile(arm).to_casadi()
q, u, torque = ca.SX.sym("q", 2), ca.SX.sym("u", 2), ca.SX.sym("torque", 2)
rate = functions.rate(**functions.arguments(q=q, u=u, inputs=torque))
f = ca.Function("f", [ca.vertcat(q, u), torque], [ca.vertcat(rate["q_dot"], rate["u_dot"])])

# Intervals of constant torques; within each the state is a polynomial that fulfills the equations at three points.
n = 40
points = [0.0, *ca.collocation_points(3, "radau")]
D = np.array([[np.polyder(basis)(x) for x in points[1:]] for basis in [
    np.poly1d(np.poly([p for p in points if p != own]) / np.prod([own - p for p in points if p != own]))
    for own in points
]])  # fmt: skip
problem = ca.Opti()
T = problem.variable()
torques, knots = problem.variable(2, n), problem.variable(4, n + 1)
inner = [problem.variable(4, 3) for _ in range(n)]
for k in range(n):
    states = ca.horzcat(knots[:, k], inner[k])
    rates = f.map(3)(inner[k], ca.repmat(torques[:, k], 1, 3))
    problem.subject_to(states @ D == T / n * rates)
    problem.subject_to(knots[:, k + 1] == inner[k][:, 2])
problem.subject_to(problem.bounded(-most, torques, most))
problem.subject_to(problem.bounded(0.1, T, 10.0))
problem.subject_to(knots[:, 0] == np.hstack([first, 0, 0]))
problem.subject_to(knots[:, n] == np.hstack([last, 0, 0]))
share = np.linspace(0, 1, n + 1)
problem.set_initial(T, 1.0)
problem.set_initial(knots[:2, :], first[:, None] + (last - first)[:, None] * share)
for k in range(n):
    problem.set_initial(inner[k][:2, :], (first + (last - first) * share[k + 1])[:, None] * np.ones((1, 3)))
problem.minimize(T)
problem.solver("ipopt", {"print_time": False}, {"print_level": 0, "sb": "yes"})
solution = problem.solve()
time, found = float(solution.value(T)), solution.value(torques)
print(f"the fastest move takes {time:.4f} s")

starts = time / n * np.arange(n)
names = ("shoulder_torque", "elbow_torque")
run = kn.simulate(arm, time, rtol=1e-9, inputs={name: (starts, values, "held") for name, values in zip(names, found)})
missed = max(abs(run["shoulder.q"][-1] - last[0]), abs(run["elbow.q"][-1] - last[1]))
print(f"simulated with these torques, the arm arrives within {missed:.0e} rad, at {abs(run.u[-1]).max():.0e} rad/s")
print(f"the shoulder's pin carries at most {np.linalg.norm(run['shoulder.reaction.force'], axis=1).max():.0f} N")
