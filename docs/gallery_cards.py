"""Pictures of the cards in the gallery: of each example a drawing, or a plot where that says more."""

import contextlib
import runpy
import tempfile
from pathlib import Path

from matplotlib import pyplot
from picture_files import PICTURES, ROOT, save

import kinode as kn
from kinode.results.trajectory import Trajectory
from kinode.studies.study import Study
from kinode.views.mechanism.mechanism_drawing import draw

ENDINGS = (".yaml", ".xml", ".py")
UNTIL = 1.0  # s
CARD = (4.8, 3.0)  # inches, of a drawing in the gallery
PLOT = (6.4, 4.0)  # of a plot there, whose letters are smaller then
# Examples of which a plot says more than a drawing: what is plotted, and between which times.
PLOTTED: dict[str, tuple[tuple[str, ...], tuple[float, float] | None]] = {
    "axis_fit": (("motor.current", "elbow.q"), None),
    "backlash_axis": (("off", "gear.load"), (3.85, 4.0)),
    "balanced_pole": (("rail.q", "pivot.q"), None),
    "brake_arm": (("shoulder.u", "shoulder_brake.moment"), (0.4, 0.9)),
    "fastest_move": (("shoulder_torque", "elbow_torque"), None),
    "motor_axis": (("elbow.q", "motor.current"), None),
    "warm_motor": (("winding.temperature", "motor.current"), (1.0, 600.0)),
    "quadcopter": (("frame.position.z", "frame.rpy"), None),
    "rlc": (("tank.voltage", "coil.current"), None),
    "spinning_shell": (("air.alpha", "air.beta"), None),
    "four_bar_tolerance": (("main.reaction.force", "knee.reaction.force"), None),
    "elastic_study": (("hinge.q", "hinge.reaction.force"), None),
    "six_axis": (tuple(f"{joint}_axis.motor.current" for joint in ("base", "shoulder", "elbow")), None),
}
# A frame that stands still in the drawing.
SEEN_FROM = {"asymmetric_shell": "aero", "ship_gimbal": "course", "ship_at_sea": "course"}


def run_example(example: Path) -> Trajectory | Study:
    """The run of a model as its file says; or the run, or the study, that a script makes."""
    if example.suffix == ".yaml":
        return kn.simulate(example)
    if example.suffix == ".xml":  # which says no end
        return kn.simulate(kn.load(example), UNTIL)
    with tempfile.TemporaryDirectory() as place, contextlib.chdir(place), contextlib.redirect_stdout(None):
        made = runpy.run_path(str(example))
        return made["run"] if "run" in made else made["study"]


def make_card(example: Path) -> Path:
    """The picture of an example in the gallery: the mechanism, or what is plotted of it."""
    run = run_example(example)
    path = PICTURES / "gallery" / f"{example.stem}.png"
    if isinstance(run, Study):
        figure, dpi = run.plot(run.scalars[0], size=PLOT, shown=False), 80
    elif example.stem in PLOTTED:
        names, between = PLOTTED[example.stem]
        figure, dpi = run.plot(*names, between=between, size=PLOT), 80
    else:
        seen_from = SEEN_FROM.get(example.stem)
        figure = draw(run, names=len(run.system.bodies) < 6, size=CARD, seen_from=seen_from)
        dpi = 100
    save(figure, path, dpi)
    pyplot.close(figure)
    return path


def make_gallery() -> list[Path]:
    """A picture for every example."""
    examples = ROOT / "examples"
    return [make_card(example) for ending in ENDINGS for example in sorted(examples.glob(f"*{ending}"))]
