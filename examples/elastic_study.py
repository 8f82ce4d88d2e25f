"""The elastic system as its authors show it in three figures, and the constraint forces, which they left open.

Shows reactions asked for by joint, body and axes, and several quantities in one plot. The model is elastic_system.yaml.
"""

from pathlib import Path

import numpy as np

import kinode as kn

system = kn.load(Path(__file__).with_name("elastic_system.yaml"))
run = kn.simulate(system, 10.0, samples=1001, method="dop853", rtol=1e-12, atol=1e-13)
hinge = run.reaction("hinge", on="pendulum", expressed_in="world")  # of the slider on the pendulum
guide = run.reaction("rail", on="slider", expressed_in="world")

print("    t        angle     velocity displacement         X12         Y12         Y20")
for t in (0.5, 1, 2, 5, 10):
    k = round(100 * t)
    motion = run["hinge.q"][k], run["hinge.u"][k], run["rail.q"][k]
    print(f"{t:5}", *(f"{value:12.8f}" for value in (*motion, hinge.force[k, 0], hinge.force[k, 1], guide.force[k, 1])))
rest = [hinge.force[:, 2], guide.force[:, 2], hinge.moment, guide.moment]
print("the other seven constraint forces stay below 1e-9:", all(np.abs(part).max() < 1e-9 for part in rest))

names = ["hinge.q", "hinge.u", "rail.q", "hinge.reaction.force.x", "hinge.reaction.force.y", "rail.reaction.force.y"]
run.plot(*names, file="elastic_study.png", title="elastic system: motion, and the forces in hinge and guide")
