"""Make the pictures of the README and the documentation from the examples: ``python docs/make_pictures.py``.

``player_pictures.py`` makes those of the player and of the report, which need a browser.
"""

import contextlib
import runpy
import tempfile
from pathlib import Path

import numpy as np
from gallery_cards import make_gallery
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from picture_files import PICTURES, ROOT, save, shrink

import kinode as kn
from kinode.results.trajectory import Trajectory
from kinode.views.mechanism.flow_chart import draw_chart
from kinode.views.mechanism.mechanism_drawing import draw_mechanism
from kinode.views.mechanism.vector_scheme import draw_scheme
from kinode.views.plots.mode_strips import draw_strips, find_strips
from kinode.views.plots.time_plots import PlotLine, draw_legend, draw_lines, mark_events, plot_loads
from kinode.views.style import COLORS, MUTED, label, style


def make_boom_pin(run: Trajectory) -> Path:
    """What plot_loads draws of one joint."""
    path = PICTURES / "boom_pin.png"
    with style():
        save(plot_loads(run, "boom_pin"), path, 110)
    return path


def make_four_bar() -> kn.System:
    """The four-bar of the page on loops."""
    system = kn.System("four_bar", gravity=(0, -9.81, 0))
    crank = system.body("crank", mass=1, com=(0.1, 0, 0), inertia=(0.01, 0.02, 0.02))
    coupler = system.body("coupler", mass=2, com=(0.3, 0, 0), inertia=(0.01, 0.05, 0.05))
    rocker = system.body("rocker", mass=1.5, com=(0.2, 0, 0), inertia=(0.01, 0.03, 0.03))
    system.revolute("left", system.world, crank, q=0.9)
    system.revolute("right", system.world.at(0.5, 0, 0), rocker, guess=1.2)
    system.revolute("pin", crank.at(0.2, 0, 0), coupler, guess=-0.5)
    system.revolute("top", coupler.at(0.6, 0, 0), rocker.at(0.4, 0, 0))
    return system


def make_unique() -> Path:
    """Which reactions of a planar four-bar with ordinary hinges follow from the motion, and which do not."""
    run = kn.simulate(make_four_bar(), 0.1, samples=2)
    hinges = ("left", "pin", "top", "right")
    sure, shared = COLORS[0], COLORS[1]
    with style():
        figure = Figure(figsize=(9.6, 3.6))
        plane, grid = figure.add_axes((0.02, 0.05, 0.47, 0.82)), figure.add_axes((0.6, 0.17, 0.38, 0.62))
        places = {name: run[f"{name}.child.position"][0] for name in hinges}
        plane.plot(*zip(*(places[name][:2] for name in hinges), strict=True), color=MUTED, lw=5, solid_capstyle="round")
        for name, (x, y, _) in places.items():
            force = run.reaction(name, on=run.system.joints[name].b.body, expressed_in="world").force[0]
            tip = 0.011 * force[:2]  # m for a newton
            arrow = {"arrowstyle": "-|>", "color": sure, "lw": 2, "shrinkA": 0, "shrinkB": 0}
            plane.annotate("", xy=(x + tip[0], y + tip[1]), xytext=(x, y), arrowprops=arrow)
            plane.plot(x, y, "o", ms=13, mfc="white", mec=shared, mew=2.5)
            plane.plot(x, y, "o", ms=4, color=shared)
            plane.text(x + 0.03, y - 0.045, name, ha="left", va="top")
        plane.set_title("force in the plane (arrow), force along the axis (ring)")
        plane.set_aspect("equal")
        plane.margins(0.18)
        plane.set_axis_off()
        for row, name in enumerate(hinges):
            for column, unique in enumerate(run.reaction(name).components or ()):
                place = (column - 0.45, row - 0.42)
                free = column == 5  # a hinge holds no moment about its axis
                color, word = (MUTED, "none") if free else (sure, "unique") if unique else (shared, "shared")
                grid.add_patch(Rectangle(place, 0.9, 0.84, color=color, lw=0))
                grid.text(column, row, word, ha="center", va="center", color="white", fontsize=8)
        grid.set(xlim=(-0.5, 5.5), ylim=(3.5, -0.5), yticks=range(4), yticklabels=hinges, xticks=range(6))
        grid.set_xticklabels(["force\nx", "force\ny", "force\nz", "moment\nx", "moment\ny", "moment\nz"])
        grid.tick_params(length=0)
        grid.grid(visible=False)
        for spine in grid.spines.values():
            spine.set_visible(False)
        grid.set_title("what follows from the motion", pad=10)
        path = PICTURES / "unique.png"
        save(figure, path, 120)
    return path


def make_elastic() -> Path:
    """The elastic system: the three figures of the paper on the left, the constraint forces beside them."""
    run = kn.simulate(ROOT / "examples" / "elastic_system.yaml", 10.0, samples=1001)
    hinge = run.reaction("hinge", on="pendulum", expressed_in="world").force
    guide = run.reaction("rail", on="slider", expressed_in="world").force
    panels = (
        ("angle of the pendulum (fig. 3)", "rad", run["hinge.q"]),
        ("its angular velocity (fig. 4)", "rad/s", run["hinge.u"]),
        ("displacement of the slider (fig. 5)", "m", run["rail.q"]),
        ("X12: slider on pendulum, along the guide", "N", hinge[:, 0]),
        ("Y12: slider on pendulum, upward", "N", hinge[:, 1]),
        ("Y20: guide on slider, upward", "N", guide[:, 1]),
    )
    with style():
        figure = Figure(figsize=(10.4, 5.8), layout="constrained")
        grid = figure.subplots(3, 2, sharex=True)
        for axes, (title, unit, values), color in zip(grid.T.ravel(), panels, [COLORS[0]] * 3 + [COLORS[1]] * 3):
            draw_lines(axes, run.t, [PlotLine(title, unit, values)], word="")
            axes.get_lines()[0].set_color(color)
            axes.set_title(title)
        for axes in grid[-1]:
            axes.set_xlabel(label("time", "s"))
        path = PICTURES / "elastic_system.png"
        save(figure, path, 120)
    return path


def make_arm() -> kn.System:
    """The arm of the page on bearings."""
    arm = kn.System("arm", gravity=(0, 0, -9.81))
    column = arm.body("column", mass=5, com=(0, 0, 0.2), inertia=(0.1, 0.1, 0.05))
    upper = arm.body("upper", mass=3, com=(0.2, 0, 0), inertia=(0.01, 0.05, 0.05))
    tool = arm.body("tool", mass=1, com=(0.1, 0.02, 0), inertia=(0.01, 0.02, 0.02))
    arm.revolute("base", arm.world, column, axis="z", motion="2*sin(3*t)")
    arm.revolute("shoulder", column.at(0, 0, 0.4), upper, axis="y", motion="-0.5 + 0.5*cos(2*t)")
    arm.prismatic("reach", upper.at(0.3, 0, 0), tool, axis="x", motion="0.1*sin(5*t)")
    return arm


def make_causes() -> Path:
    """Who loads the shoulder of an arm."""
    path = PICTURES / "causes.png"
    with style():
        figure = kn.simulate(make_arm(), 4.0, samples=801).causes("shoulder").plot()
        save(figure, path, 110)
    return path


def make_pressure() -> Path:
    """The pressure of an unbalanced shaft, in fixed and in turning axes."""
    path = PICTURES / "pressure.png"
    with style():
        figure = kn.simulate(ROOT / "examples" / "rotor.yaml", 0.2, samples=2001).pressure("shaft", "total").plot()
        save(figure, path, 110)
    return path


def make_ship() -> Path:
    """The ship in a seaway: how it moves, what the motors do, how far the camera is off."""
    with tempfile.TemporaryDirectory() as place, contextlib.chdir(place):
        run = runpy.run_path(str(ROOT / "examples" / "ship_at_sea.py"))["run"]
    first = run.t >= 2.0
    turns = {"heel": "heel.q.angle", "pitch": "pitch.q"}
    deck = [PlotLine(word, "deg", np.degrees(run[name][first])) for word, name in turns.items()]
    gimbals = ("azimuth", "elevation", "roll")
    motors = [PlotLine(name, "N*m", run[f"{name}_drive.shaft.effort.drive"][first]) for name in gimbals]
    errors = [PlotLine(name.replace("_", " "), "rad", run[name][first]) for name in ("off_left", "off_up", "tilt")]
    with style():
        figure = Figure(figsize=(10.4, 4.9))
        draw_mechanism(figure.add_axes((0.0, 0.0, 0.56, 1.0)), run, ghosts=2, seen_from="course", names=False)
        rows = [figure.add_axes((0.635, bottom, 0.35, 0.205)) for bottom in (0.7, 0.4, 0.1)]
        for axes, lines, word in zip(rows, (deck, motors, errors), ("deck", "motors", "line of sight")):
            draw_lines(axes, run.t[first], lines, word=word)
        for axes in rows[:2]:
            axes.tick_params(labelbottom=False)
        rows[2].set_xlabel(label("time", "s"))
        path = PICTURES / "ship.png"
        save(figure, path, 130)
    return path


def make_scheme() -> Path:
    """The vectors of the camera on a ship."""
    path = PICTURES / "scheme.png"
    figure = draw_scheme(kn.load(ROOT / "examples" / "ship_gimbal.yaml"), shown=False)
    save(figure, path, 120)
    return path


def make_chart() -> Path:
    """The algorithm, and what it came to for the camera on a ship."""
    path = PICTURES / "chart.png"
    save(draw_chart(kn.load(ROOT / "examples" / "ship_gimbal.yaml"), shown=False), path, 110)
    return path


def make_frames() -> Path:
    """The axes of a spinning shell and of the frames that follow it."""
    run = kn.simulate(ROOT / "examples" / "asymmetric_shell.yaml", 0.02, samples=3)
    how = {"seen_from": "aero", "ghosts": 0, "paths": False, "names": False}
    with style():
        figure = Figure(figsize=(9.6, 3.4))
        axes = figure.add_axes((0.0, 0.0, 0.62, 1.0))
        draw_mechanism(axes, run, view="isometric", frames=["aero", "shell", "wind"], **how)
        axes = figure.add_axes((0.62, 0.0, 0.38, 1.0))
        draw_mechanism(axes, run, view=(1, 0, 0), frames=["aero", "shell"], **how)
        path = PICTURES / "frames.png"
        save(figure, path, 110)
    return path


def make_shaking() -> Path:
    """Which tier shakes the camera on a ship."""
    path = PICTURES / "shaking.png"
    run = kn.simulate(ROOT / "examples" / "ship_gimbal.yaml", 30.0, times=np.linspace(5.0, 30.0, 501))
    with style():
        figure = run.acceleration_by_cause("camera.com").plot()
        save(figure, path, 100)
    return path


def make_circuits() -> list[Path]:
    """Circuit diagrams: the two-segment manipulator, and an axis of a robot."""
    arm = kn.System("manipulator", gravity=(0, 0, 0))
    one = arm.body("SB1", mass=8, com=(0.28, 0.01, 0), inertia={"zz": 0.27})
    two = arm.body("SB2", mass=5, com=(0.22, -0.015, 0), inertia={"zz": 0.11})
    arm.revolute("KN1", arm.world, one, q=0.3, speed="1.2*sin(0.8*t) + 0.5*cos(1.7*t)")
    arm.revolute("KN2", one.at(0.6, 0.03, 0), two, q=0.9, u=-0.4, damping="0.8 N*m*s/rad")
    arm.force("Ef3", two.at(0.5, -0.025, 0), (4, -6, 0))
    axis = kn.load(ROOT / "examples" / "motor_axis.yaml")
    drawn = {system.name: kn.diagram(system, note=str(kn.operating_space(system).whole)) for system in (arm, axis)}
    drawn["numbers"] = kn.diagram(arm, numbers=True)
    return [each.save(PICTURES / f"circuit_{name}.svg") for name, each in drawn.items()]


def make_backlash() -> list[Path]:
    """The axis with backlash: the whole run, and two cycles of its knocking."""
    run = kn.simulate(ROOT / "examples" / "backlash_axis.yaml")
    whole, close = (PICTURES / f"backlash_{name}.png" for name in ("axis", "knocking"))
    run.plot("off", "gear.load", "motor.current", modes=True, size=(8.0, 6.6), file=whole)
    run.plot("off", "gear.load", "motor.current", between=(3.85, 4.0), modes=True, size=(8.0, 6.6), file=close)
    for path in (whole, close):
        shrink(path)
    return [whole, close]


def make_brake() -> Path:
    """The arm that its brakes catch and hold."""
    path = PICTURES / "brake_arm.png"
    run = kn.simulate(ROOT / "examples" / "brake_arm.yaml")
    names = ("fore.hand.position.y", "shoulder_brake.moment", "elbow_brake.moment", "shoulder.reaction.force")
    run.plot(*names, between=(0.45, 0.7), modes=True, size=(8.0, 6.6), file=path)
    shrink(path)
    return path


def make_robot() -> Path:
    """The robot that draws a circle: what it looks like, how far it is off, its currents, its events."""
    with tempfile.TemporaryDirectory() as place, contextlib.chdir(place):
        space = runpy.run_path(str(ROOT / "examples" / "ur5_path.py"))
    run, motors, off = space["run"], space["motors"], space["off_path"]
    with style():
        figure = Figure(figsize=(10.4, 6.6))
        draw_mechanism(figure.add_axes((0.0, 0.05, 0.44, 0.9)), run, ghosts=3, names=False)
        rows = [
            figure.add_axes((0.53, bottom, 0.455, height))
            for bottom, height in ((0.82, 0.14), (0.53, 0.18), (0.075, 0.33))
        ]
        draw_lines(rows[0], run.t, [PlotLine("tool off", "m", off)])
        currents = [PlotLine(name.replace("_", " "), "A", run[f"{name}_motor.current"]) for name in motors]
        draw_lines(rows[1], run.t, currents, word="current")
        draw_strips(rows[2], find_strips(run))
        draw_legend(rows[2])
        for axes in rows[:2]:
            mark_events(axes, run)
            axes.tick_params(labelbottom=False)
        rows[2].set_xlim(*rows[0].get_xlim())
        rows[2].set_xlabel(label("time", "s"))
        path = PICTURES / "ur5_path.png"
        save(figure, path, 130)
    return path


def main() -> None:
    """Make all of them."""
    run = kn.simulate(ROOT / "examples" / "excavator.yaml")
    for path in (
        make_boom_pin(run),
        make_unique(),
        make_elastic(),
        make_ship(),
        make_causes(),
        make_pressure(),
        make_scheme(),
        make_chart(),
        make_shaking(),
        make_frames(),
        *make_circuits(),
        *make_backlash(),
        make_brake(),
        make_robot(),
        *make_gallery(),
    ):
        print(f"{path.relative_to(ROOT)}: {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
