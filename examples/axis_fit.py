"""Motor constants, friction, gear stiffness and play of an axis from one log of its currents and encoders.

A step-like voltage shakes the axis; what a logger would keep is made by a simulation with noise.  Shows a fit through
hundreds of events: the flanks of the gear touch and part, the joints stick and slide.
"""

import numpy as np

import kinode as kn

axis = kn.loads("""kinode: 1
name: axis
gravity: [0, 0, 0]
parameters:
  resistance:     {value: 1.2 Ohm, bounds: [0.1 Ohm, 10 Ohm]}
  constant:       {value: 60 mN*m/A, bounds: [5 mN*m/A, 500 mN*m/A]}
  motor_friction: {value: 6 mN*m, bounds: [0 N*m, 50 mN*m]}
  arm_friction:   {value: 0.5 N*m, bounds: [0 N*m, 5 N*m]}
  stiffness:      {value: 3000 N*m/rad, bounds: [100 N*m/rad, 1e5 N*m/rad]}
  play:           {value: 0.5 deg, bounds: [0 deg, 3 deg]}
inputs: {voltage: 0 V}
bodies:
  rotor: {mass: 0.3, inertia: {zz: 6e-5}}
  arm:   {mass: 3, com: [0.35, 0, 0], inertia: {zz: 0.15}}
joints:
  shaft: {kind: revolute, between: [world, rotor], friction: {coulomb: {effort: motor_friction}}}
  elbow: {kind: revolute, between: [world, arm], damping: 0.2 N*m*s/rad, friction: {coulomb: {effort: arm_friction}}}
elements:
  amplifier: {kind: voltage_source, plus: coil, minus: gnd, voltage: voltage}
  motor:     {kind: dc_motor, plus: coil, minus: gnd, shaft: shaft, resistance: resistance, inductance: 0.4 mH,
              constant: constant}
  gear:      {kind: backlash_gear, input: shaft, output: elbow, ratio: 80, play: play, stiffness: stiffness,
              damping: 10 N*m*s/rad}
""")
truth = {"resistance": 0.9, "constant": 0.048, "motor_friction": 4e-3, "arm_friction": 0.8, "stiffness": 4000.0,
         "play": np.radians(0.3)}  # fmt: skip

t = np.arange(0.0, 1.0, 4e-3)
u = 8 * np.sign(np.sin(2 * np.pi * 3 * t)) * np.minimum(1, 0.4 + t) + 4 * np.sin(2 * np.pi * 11 * t)
run = kn.simulate(axis, t[-1], times=t, inputs={"voltage": (t, u, "held")}, parameters=truth)
rng = np.random.default_rng(1)
log = {
    "t": t, "u_V": u, "i_A": run["motor.current"] + rng.normal(scale=0.02, size=len(t)),
    "motor_rad": run["shaft.q"] + rng.normal(scale=1e-3, size=len(t)),
    "arm_deg": np.degrees(run["elbow.q"] + rng.normal(scale=1e-4, size=len(t))),
}  # fmt: skip

fit = kn.identify(
    axis, log, measure={"motor.current": "i_A A", "shaft.q": "motor_rad rad", "elbow.q": "arm_deg deg"},
    inputs={"voltage": "u_V held V"}, free=list(truth), rtol=1e-6,
)  # fmt: skip
print(fit)
for name, value in truth.items():
    low, high = fit.interval(name)
    print(f"{name}: {value:.6g} was put in, {low:.6g} to {high:.6g} found")
fit.plot(file="axis_fit.png", title="An axis from its log")
