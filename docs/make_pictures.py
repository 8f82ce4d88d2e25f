"""Make the pictures of the README and the documentation from the examples: ``python docs/make_pictures.py``."""

from pathlib import Path

from matplotlib.figure import Figure

import kinode as kn
from kinode.views.drawing import draw_mechanism
from kinode.views.plots import Line, draw_lines, draw_loads
from kinode.views.style import label, style

ROOT = Path(__file__).resolve().parent.parent
PICTURES = ROOT / "docs" / "pictures"


def make_excavator() -> Path:
    """The excavator at work, and what its boom pin carries meanwhile."""
    system = kn.load(ROOT / "examples" / "excavator.yaml")
    run = kn.simulate(system, system.run_defaults["until"])
    with style():
        figure = Figure(figsize=(10.4, 4.9))
        draw_mechanism(figure.add_axes((0.0, 0.0, 0.56, 1.0)), run, ghosts=2)
        rows = [figure.add_axes((0.635, bottom, 0.35, 0.205)) for bottom in (0.7, 0.4, 0.1)]
        draw_loads(rows[:2], run, run.reaction("boom_pin"))
        drives = [Line(name, "N*m", run[f"{name}.effort"]) for name in ("boom_pin", "stick_pin", "bucket_pin")]
        draw_lines(rows[2], run.t, drives, word="drive moment")
        for axes in rows[:2]:
            axes.set_xlabel("")
            axes.tick_params(labelbottom=False)
        rows[0].set_title("what the boom pin carries", pad=19)
        rows[2].set_xlabel(label("time", "s"))
        PICTURES.mkdir(exist_ok=True)
        path = PICTURES / "excavator.png"
        figure.savefig(path, dpi=130, metadata={"Software": None})
    return path


if __name__ == "__main__":
    written = make_excavator()
    print(f"{written.relative_to(ROOT)}: {written.stat().st_size / 1000:.0f} kB")
