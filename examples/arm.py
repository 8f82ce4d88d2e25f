"""An arm of two links in Python: a driven shoulder, a free elbow, a spring that pulls the arm back.

Shows parameters as numbers to calculate with, quantities with units, and how results are asked for by name.
"""

import kinode as kn

arm = kn.System("arm", gravity=(0, -9.81, 0))
L = arm.parameter("L", "0.5 m")
upper = arm.body("upper", mass=2.0, com=(L / 2, 0, 0), inertia=(0.01, 0.05, 0.05))
lower = arm.body("lower", mass=1.0, com=(0.2, 0, 0), inertia={"zz": 0.02})
arm.revolute("shoulder", arm.world, upper, axis="z", speed="0.5*sin(2*t)")
arm.revolute("elbow", upper.at(L, 0, 0), lower, axis="z", q="30 deg", damping="0.1 N*m*s/rad")
arm.spring("return", upper.at(0.4, 0, 0), arm.world.at(0, 1, 0), stiffness="250 N/m", free_length=0.8)
print(arm.summary())

run = kn.simulate(arm, 10.0)
force = run["elbow.reaction.force"]
print(f"the elbow ends at {run['elbow.q'][-1]:.3f} rad")
print(f"its pin carries at most {(force**2).sum(axis=1).max() ** 0.5:.1f} N")
