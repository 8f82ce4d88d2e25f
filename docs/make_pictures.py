"""Make the pictures of the README and the documentation from the examples: ``python docs/make_pictures.py``.

The picture of the report needs a browser, chromium; without one it stays as it is.
"""

import shutil
import subprocess
import tempfile
from pathlib import Path

from matplotlib.figure import Figure

import kinode as kn
from kinode.results.trajectory import Trajectory
from kinode.views.drawing import draw_mechanism
from kinode.views.plots import Line, draw_lines, draw_loads, plot_loads
from kinode.views.style import label, style

ROOT = Path(__file__).resolve().parent.parent
PICTURES = ROOT / "docs" / "pictures"


def make_excavator(run: Trajectory) -> Path:
    """The excavator at work, and what its boom pin carries meanwhile."""
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


def make_boom_pin(run: Trajectory) -> Path:
    """What plot_loads draws of one joint."""
    path = PICTURES / "boom_pin.png"
    with style():
        plot_loads(run, "boom_pin").savefig(path, dpi=110, metadata={"Software": None})
    return path


def make_report(run: Trajectory) -> Path | None:
    """The top of the report, as a browser shows it."""
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if browser is None:
        return None
    path = PICTURES / "report.png"
    with tempfile.TemporaryDirectory() as place:
        page = run.report(place)
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--window-size=1100,1000"]
        command = [browser, *options, f"--screenshot={path}", page.as_uri()]
        subprocess.run(command, check=True, capture_output=True, timeout=120)
    return path


def main() -> None:
    """Make all of them."""
    run = kn.simulate(ROOT / "examples" / "excavator.yaml")
    for path in filter(None, (make_excavator(run), make_boom_pin(run), make_report(run))):
        print(f"{path.relative_to(ROOT)}: {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
