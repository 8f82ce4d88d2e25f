"""Make the pictures of the player and of the report: ``python docs/player_pictures.py [NAME ...]``.

Pages of examples are opened in a Chromium without a window, the one of KINODE_CHROMIUM or of the PATH, with playwright.
Still pictures have a palette of their own; moving ones are WebP, a screenshot of the page for each picture.
"""

import io
import math
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from picture_files import PICTURES, ROOT
from PIL import Image
from playwright.sync_api import Browser, Locator, Page, sync_playwright

import kinode as kn
from kinode.player.film import find_chromium
from kinode.results.trajectory import Trajectory
from kinode.studio.live.live_view import LiveView

WIDE = (1280, 720)
FILM = (960, 540)  # of moving pictures, which are made as wide as still ones
READY = "() => globalThis.kinodePlayer !== undefined"
SEEK = "t => { kinodePlayer.clock.pause(); kinodePlayer.clock.seek(t); }"
DRAWN = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))"
WAIT_FOR_RUN, WAIT_FOR_CURVE = 150, 6000  # ms
COLORED = 200  # colors of a still picture

Act = Callable[[Page], object]


def show(panel: str) -> Act:
    """Open a panel."""
    return lambda page: page.evaluate("name => kinodePlayer.show(name)", panel)


def choose(joint: str) -> Act:
    """Choose a joint, as a click on it does."""
    return lambda page: page.evaluate("name => kinodePlayer.select({ kind: 'joint', name })", joint)


def plot(*names: str) -> Act:
    """Plot quantities."""
    return lambda page: page.evaluate("names => kinodePlayer.plot(names)", list(names))


def look(**choice: object) -> Act:
    """Look from somewhere else."""
    return lambda page: page.evaluate("choice => kinodePlayer.stage.setView(choice)", choice)


def nearer(times: int) -> Act:
    """Bring the camera nearer."""

    def act(page: Page) -> None:
        for _ in range(times):
            page.get_by_role("button", name="Nearer").click()
        page.mouse.move(WIDE[0] - 1, WIDE[1] - 1)
        page.evaluate("() => document.activeElement.blur()")

    return act


def scroll(selector: str) -> Act:
    """Bring a part of a panel into view."""
    return lambda page: page.locator(selector).first.evaluate("part => part.scrollIntoView({ block: 'start' })")


@dataclass(frozen=True)
class Still:
    """A picture of the page at a time of a run."""

    example: str
    time: float
    acts: tuple[Act, ...] = ()
    theme: str = "light"
    options: dict[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Moving:
    """Pictures of the page over a stretch of a run."""

    example: str
    span: tuple[float, float]
    pictures: int
    acts: tuple[Act, ...] = ()
    rate: float = 12.0


STILLS = {
    "excavator": Still("excavator", 4.9, (plot("boom_pin.reaction.force"), nearer(2))),
    "four_bar": Still("four_bar", 0.17, (choose("right"),)),
    "motor_axis": Still("motor_axis", 0.8, (show("Circuit"),)),
    "ur5": Still("ur5", 0.72, (choose("shoulder"), scroll(".causes"), nearer(3))),
    "stewart": Still("stewart_platform", 0.11, theme="dark"),
}
FILMS = {
    "excavator_moving": Moving("excavator", (0.0, 11.0), 66, (plot("boom_pin.reaction.force"), nearer(1))),
    "motor_axis_moving": Moving("motor_axis", (0.0, 2.5), 60, (show("Circuit"),)),
}


def find_run(example: str, known: dict[str, Trajectory]) -> Trajectory:
    """The run of an example, simulated once."""
    if example not in known:
        known[example] = kn.simulate(ROOT / "examples" / f"{example}.yaml")
    return known[example]


def open_page(browser: Browser, run: Trajectory, theme: str, options: dict[str, object]) -> Page:
    """The page of a run, ready."""
    page = browser.new_page(viewport={"width": WIDE[0], "height": WIDE[1]}, color_scheme=theme, reduced_motion="reduce")
    with tempfile.TemporaryDirectory() as place:
        page.goto(run.view(Path(place) / "run.html", theme=theme, **options).as_uri())
        page.wait_for_function(READY)
    return page


def prepare(page: Page, acts: tuple[Act, ...]) -> None:
    """Set up the page."""
    for act in acts:
        act(page)
        page.evaluate(DRAWN)


def take(page: Page, time: float) -> Image.Image:
    """The page at a time of the run."""
    page.evaluate(SEEK, time)
    page.evaluate(DRAWN)
    return Image.open(io.BytesIO(page.screenshot())).convert("RGB")


def make_still(browser: Browser, name: str, still: Still, known: dict[str, Trajectory]) -> Path:
    """Write a still picture."""
    page = open_page(browser, find_run(still.example, known), still.theme, still.options)
    page.evaluate(SEEK, still.time)
    prepare(page, still.acts)
    picture = take(page, still.time)
    page.close()
    return save_still(name, picture)


def make_film(browser: Browser, name: str, film: Moving, known: dict[str, Trajectory]) -> Path:
    """Write a moving picture."""
    page = open_page(browser, find_run(film.example, known), "light", {})
    prepare(page, film.acts)
    first, last = film.span
    times = [first + (last - first) * k / film.pictures for k in range(film.pictures)]
    pictures = [scale(take(page, time)) for time in times]
    page.close()
    return save_film(name, pictures, film.rate)


def scale(picture: Image.Image) -> Image.Image:
    """A picture in the size of moving ones."""
    return picture.resize(FILM, Image.Resampling.LANCZOS)


def save_still(name: str, picture: Image.Image) -> Path:
    """Write a picture with a palette of its own colors."""
    path = PICTURES / f"player_{name}.png"
    picture.quantize(COLORED, dither=Image.Dither.NONE).save(path, optimize=True)
    return path


def save_film(name: str, pictures: list[Image.Image], rate: float) -> Path:
    """Write pictures as one that moves, over and over."""
    path = PICTURES / f"player_{name}.webp"
    options = {"duration": round(1000 / rate), "loop": 0, "quality": 55, "method": 6, "minimize_size": True}
    pictures[0].save(path, save_all=True, append_images=pictures[1:], **options)
    return path


def make_live(browser: Browser) -> list[Path]:
    """Write pictures of a live page: the length of a crank is dragged, a run is pinned."""
    file, number, time = ROOT / "examples" / "four_bar.yaml", "pin.a.at.x", 0.55
    with LiveView(kn.load(file), file=file) as live:
        page = browser.new_page(viewport={"width": WIDE[0], "height": WIDE[1]}, reduced_motion="reduce")
        page.goto(live.url)
        page.wait_for_function(READY)
        page.evaluate("name => kinodePlayer.panels.get('Numbers').reveal(name)", number)
        page.evaluate(SEEK, time)
        slider = page.locator(f'[data-number="{number}"] input[type=range]')
        page.get_by_role("button", name="Keep this run to compare with").click()
        drag(page, slider, 450)
        page.wait_for_timeout(WAIT_FOR_CURVE)
        slider.evaluate("slider => slider.closest('.number-row').scrollIntoView({ block: 'center' })")
        pictures = [scale(drag(page, slider, 500 + round(200 * math.sin(2 * math.pi * k / 48)))) for k in range(48)]
        still = drag(page, slider, 640)
        page.close()
    return [save_still("live", still), save_film("live_moving", pictures, 12.0)]


def drag(page: Page, slider: Locator, place: int) -> Image.Image:
    """Put a slider somewhere, and take the page with the run that follows."""
    slider.evaluate("(slider, place) => { slider.value = place; slider.dispatchEvent(new Event('input')); }", place)
    page.wait_for_timeout(WAIT_FOR_RUN)
    page.evaluate(DRAWN)
    return Image.open(io.BytesIO(page.screenshot())).convert("RGB")


def make_report(browser: Browser, known: dict[str, Trajectory]) -> Path:
    """Write a picture of the top of a report."""
    page = browser.new_page(viewport={"width": 1100, "height": 1000}, color_scheme="light", reduced_motion="reduce")
    with tempfile.TemporaryDirectory() as place:
        page.goto(find_run("excavator", known).report(place).as_uri())
        page.wait_for_function(READY)
    path = PICTURES / "report.png"
    take(page, STILLS["excavator"].time).quantize(COLORED, dither=Image.Dither.NONE).save(path, optimize=True)
    page.close()
    return path


def main(wanted: list[str]) -> None:
    """Make all of them, or those that are named."""
    known: dict[str, Trajectory] = {}

    def is_wanted(name: str) -> bool:
        return not wanted or name in wanted

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox"])
        made = [make_still(browser, name, s, known) for name, s in STILLS.items() if is_wanted(name)]
        made += [make_film(browser, name, f, known) for name, f in FILMS.items() if is_wanted(name)]
        made += make_live(browser) if is_wanted("live") else []
        made += [make_report(browser, known)] if is_wanted("report") else []
        browser.close()
    for path in made:
        print(f"{path.relative_to(ROOT)}: {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main(sys.argv[1:])
