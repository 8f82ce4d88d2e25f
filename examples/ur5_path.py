"""A robot of six electric axes draws a circle: friction that sticks, play in the wrists, control at 1 kHz.

Shows inverse dynamics as feedforward, tables in laws, sampled controllers, gears with backlash and the list of events.
The arm is ur5.yaml; the plot goes into ur5_path.png.
"""

from pathlib import Path

import numpy as np

import kinode as kn

arm = kn.load(Path(__file__).with_name("ur5.yaml"))

# The path of the tool: a circle from rest to rest, during which it nods and turns.
times = np.linspace(0.0, 3.0, 601)
arm.signal("turn", "2*pi*smoothstep(t, 0.3, 2.5)")
circle = ("0.417 + 0.12*cos(turn)", "0.10915 + 0.12*sin(turn)", "0.29 + 0.03*sin(2*turn)")
facing = ("pi + 0.3*sin(turn)", "0.2*sin(turn)", "0.5*(1 - cos(turn))")
large = {"resistance": 0.15, "inductance": 2.5e-4, "constant": 0.12, "inertia": 1.5e-4, "viscous": 6e-5}
small = {"resistance": 0.6, "inductance": 4e-4, "constant": 0.06, "inertia": 1.2e-5, "viscous": 1e-5}
motors = {"base": large, "shoulder": large, "elbow": large, "wrist_1": small, "wrist_2": small, "wrist_3": small}
ratio = 101
plan = kn.inverse(arm, times, {"wrist_3_link.tool": {"position": circle, "rpy": facing}}, by=list(motors))

robot = arm.copy()
robot.parameter("forward", 1.0, note="share of the planned voltage that is fed forward")
robot.parameter("play", "0.05 deg", note="of the gears of the wrists, in all")
robot.battery("battery", "bus", "gnd", voltage="48 V", resistance="50 mOhm")
for joint, motor in motors.items():
    q, u, u_dot, moment = (plan[f"{joint}.{name}"] for name in ("q", "u", "u_dot", "effort.drive"))
    strength = ratio * motor["constant"]  # moment at the joint for an ampere, and volts for its unit of speed
    moment = moment + np.where(abs(u) < 1e-3, plan[f"{joint}.effort.friction"], 0.0)  # none to overcome at rest
    moment = moment + ratio**2 * (motor["inertia"] * u_dot + motor["viscous"] * u)
    robot.change(joint, q=q[0])
    robot.table(f"{joint}_path", axes=[times], values=q, method="cubic")
    robot.table(f"{joint}_volts", axes=[times], values=strength * u + motor["resistance"] * moment / strength)
    robot.sampled_pid(
        f"{joint}_control", "1 kHz", target=f"{joint}_path(t)", measured=f"{joint}.q", proportional=30 * strength,
        integral=200 * strength, feedforward=f"forward*{joint}_volts(t)", limits=[-48, 48],
    )  # fmt: skip
    output = f"{joint}_control.output/48"
    robot.bridge(f"{joint}_amplifier", "bus", "gnd", f"{joint}_coil", "gnd", modulation=output)
    robot.dc_motor(f"{joint}_motor", f"{joint}_coil", "gnd", f"{joint}_rotor", **motor)
    gear = {"input": f"{joint}_rotor", "output": joint, "ratio": ratio}
    if joint.startswith("wrist"):
        robot.backlash_gear(f"{joint}_gear", **gear, play="play", stiffness=4000, damping=4)
    else:
        robot.gearbox(f"{joint}_gear", **gear)

run = kn.simulate(robot, 3.0)
there = run["wrist_3_link.tool.position"]
asked = np.stack([np.interp(run.t, times, column) for column in plan["wrist_3_link.tool.position"].T], axis=1)
off_path = np.linalg.norm(there - asked, axis=1)
print(run)
print(f"the tool is off its path by {1e3 * off_path.max():.2f} mm at most")
for joint in motors:
    off = run[f"{joint}.q"] - np.interp(run.t, times, plan[f"{joint}.q"])
    load = np.linalg.norm(run.wrench(joint).moment, axis=1)
    most = abs(run[f"{joint}_motor.current"]).max()
    print(f"{joint:9} off by {1e3 * abs(off).max():5.2f} mrad, {most:5.2f} A and {load.max():5.1f} N*m at most")
run.plot(*(f"{joint}_motor.current" for joint in motors), modes=True, file="ur5_path.png")
