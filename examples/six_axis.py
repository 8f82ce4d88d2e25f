"""A robot of six axes, each with its motor, amplifier, gear and controller, all on one battery.

Shows subsystems with parameters that are connected by their nodes: a ready axis is added at each joint, and the arm
follows a path while the battery's voltage, the currents and the heat in the windings come out beside the motion.
"""

import numpy as np

import kinode as kn

robot = kn.System("six_axis")
# Links as long and as heavy as those of a light arm; each is a tube along the axis that it is long in.
LINKS = {  # name: (mass, length, direction of the tube, where the next joint is)
    "shoulder_link": (4.0, 0.12, "z", (0, 0.11, 0.09)),
    "upper_arm": (8.0, 0.43, "x", (0.43, -0.10, 0)),
    "forearm": (2.5, 0.39, "x", (0.39, 0, 0)),
    "wrist_1_link": (1.2, 0.11, "y", (0, 0.11, 0)),
    "wrist_2_link": (1.2, 0.10, "z", (0, 0, 0.09)),
    "tool": (1.5, 0.10, "y", (0, 0.08, 0)),
}
AXES = (  # joint, axis, size of the drive, ratio, inertia that it is tuned for
    ("base", "z", "large", 120, 4.0),
    ("shoulder", "y", "large", 120, 5.0),
    ("elbow", "y", "medium", 100, 1.0),
    ("wrist_1", "y", "small", 100, 0.1),
    ("wrist_2", "z", "small", 100, 0.05),
    ("wrist_3", "y", "small", 100, 0.02),
)
START = (0.0, -1.2, 1.4, -0.2, 0.3, 0.0)
MOVES = (1.2, 0.7, -0.9, 0.5, -0.8, 1.5)

place = robot.world
for ((link, (mass, length, along, end)), (joint, axis, *_)), start in zip(
    zip(LINKS.items(), AXES, strict=True), START, strict=True
):
    middle = tuple(0.5 * length * (along == letter) for letter in "xyz")
    tube = kn.cylinder(0.05, length, axis=along, mass=mass, at=middle)
    body = robot.body(link, shape=tube)
    robot.revolute(joint, place, body, axis=axis, q=start)
    place = body.at(*end)

robot.battery("battery", "bus", "gnd", voltage="48 V", resistance="50 mOhm")
for (joint, _, size, ratio, load), start, move in zip(AXES, START, MOVES, strict=True):
    robot.add(
        f"{joint}_axis",
        kn.axis(size, ratio=ratio, load=load),
        connect={"supply": "bus", "output": joint},
        bind={"target": f"{start} + {move}*smoothstep(t, 0.2, 1.7)"},
    )

run = kn.simulate(robot, 3.0)
for (joint, *_), start, move in zip(AXES, START, MOVES, strict=True):
    current = np.abs(run[f"{joint}_axis.motor.current"]).max()
    miss = run[f"{joint}.q"][-1] - (start + move)
    print(f"{joint:9} at most {current:5.2f} A, ends {1e3 * miss:+.3f} mrad from its target")
print(f"the battery's voltage is {run['bus.voltage'].min():.2f} V at least")
print(run.audit)
