"""A camera on a ship in a seaway: what do its drives need, what do its joints carry, how still is its picture?

Shows motions from a sea's spectrum, motors as bodies of their own, and a report with plots of one's own choice, in
which the ship moves. It goes into the folder out. The model is ship_gimbal.yaml.
"""

from pathlib import Path

import numpy as np

import kinode as kn

ship = kn.load(Path(__file__).with_name("ship_gimbal.yaml"))
sea = kn.sea_state(height="2.5 m", period="8 s", components=16, seed=1)
heave = sea.motion(0.8, period=6.0, damping=0.4)
heel = sea.motion(0.9, of="slope", period=9.0, damping=0.12)
ship.change("heel", motion=(0.3 * heave, heave, heel))
ship.change("yaw", motion=0.2 * heel)
ship.change("pitch", motion=sea.motion(0.9, of="slope", period=5.0, damping=0.4))

found = kn.simulate(ship, 2.0)  # by then the camera has found its target
run = kn.simulate(ship, 62.0, start=found, samples=6001)
print(f"deck: heel {np.degrees(run['heel.q.angle']).std():.2f} deg, heave {run['heel.q.y'].std():.2f} m (rms)")
for name in ("azimuth", "elevation", "roll"):
    motor = run[f"{name}_drive.shaft.effort.drive"]
    wrench = run.wrench(name)
    force, moment = (np.linalg.norm(part, axis=1).max() for part in (wrench.force, wrench.moment))
    print(f"{name:>9}: motor up to {abs(motor).max():.2f} N*m; the joint carries {force:.0f} N, {moment:.0f} N*m")
for name in ("off_target", "tilt"):
    off = 1e3 * run[name]
    print(f"{name:>10}: {np.sqrt(np.mean(off**2)):.2f} mrad rms, {abs(off).max():.2f} mrad at most")

motors = [f"{name}_drive.shaft.effort.drive" for name in ("azimuth", "elevation", "roll")]
plots = {
    "Deck": ["heel.q.angle", "yaw.q", "pitch.q", "heel.q.y"],
    "Gimbals": ["azimuth.q", "elevation.q", "roll.q"],
    "Motors": motors,
    "Line of sight and picture": ["off_left", "off_up", "tilt"],
}
report = run.report("out", plots=plots, seen_from="course").resolve()
moves = "data-kinode-player" in report.read_text(encoding="utf-8")
print(f"The report is {report}")
print(
    "Open it in a browser: it moves." if moves else "Open it in a browser; python tools/build_player.py lets it move."
)
