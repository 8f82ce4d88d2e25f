"""What the player costs: opening a file, seeking, new runs, pictures of 100 bodies, the first picture of a model.

Chromium without a graphics card draws on the processor, hence these are upper bounds.  Each figure is the median of
several measurements, with the least beside it: whatever else the machine does only adds to it.  Run from the checkout:
``python benchmarks/player.py [part of a row's name ...]``; the player must be built (``python tools/build_player.py``).
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import kinode as kn
from kinode.player.film import find_chromium, write_video

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
TREES, LINKS, SPAN = 10, 10, 60.0
ROUNDS = 5
FIRST_PICTURE = """
globalThis.firstPicture = new Promise((done) => {
  const look = () => {
    if (globalThis.kinodePlayer?.stage.view?.pictures > 0) requestAnimationFrame(() => done(performance.now()));
    else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
});
"""
SEEK = """() => {
  const { clock } = kinodePlayer, view = kinodePlayer.stage.view, times = [];
  clock.pause();
  for (let round = 0; round < 60; round++) {
    const start = performance.now();
    for (let k = 0; k < 20; k++) {
      clock.seek(clock.from + (clock.to - clock.from) * ((37 * (20 * round + k)) % 211) / 211);
      view.placeAll();
    }
    times.push((performance.now() - start) / 20);
  }
  return times;
}"""
NEW_RUNS = """async () => {
  const copy = () => kinodePlayer.runs.map((run) => {
    const document = Object.assign(Object.create(Object.getPrototypeOf(run.document)), run.document);
    return { ...run, document: Object.assign(document, { header: structuredClone(run.document.header) }) };
  });
  const runs = [copy(), copy()], view = kinodePlayer.stage.view, times = [];
  kinodePlayer.clock.pause();
  for (let k = 0; k < 60; k++) {
    const start = performance.now();
    kinodePlayer.setRuns(runs[k % 2]);
    view.placeAll();
    times.push(performance.now() - start);
    await new Promise((next) => requestAnimationFrame(next));
  }
  return times;
}"""
FRAMES = """async () => {
  const view = kinodePlayer.stage.view, rates = [];
  kinodePlayer.clock.setSpeed(1);
  kinodePlayer.clock.play();
  for (let round = 0; round < 5; round++) {
    const start = performance.now(), before = view.pictures;
    while (performance.now() - start < 1500) await new Promise((next) => requestAnimationFrame(next));
    rates.push((1000 * (view.pictures - before)) / (performance.now() - start));
  }
  kinodePlayer.clock.pause();
  return rates;
}"""
STAGE_SIZE = "() => { const { clientWidth: w, clientHeight: h } = kinodePlayer.stage.canvas; return [w, h]; }"


@dataclass(frozen=True)
class Work:
    """A row: what is measured, the floor, its unit, and whether more is better."""

    name: str
    asked: float
    unit: str
    measure: Callable[[], list[float]]
    more: bool = False

    def line(self) -> str:
        """The row of the table."""
        values = self.measure()
        middle, best = statistics.median(values), max(values) if self.more else min(values)
        sign = "at least" if self.more else "at most"
        met = "yes" if (middle >= self.asked if self.more else middle <= self.asked) else "NO"
        return f"| {self.name} | {middle:.3g} {self.unit} | {best:.3g} {self.unit} | {sign} {self.asked:g} | {met} |"


def make_trees() -> kn.System:
    """Ten chains of ten bodies each."""
    system = kn.System("trees")
    for tree in range(TREES):
        before = system.world.at(0.6 * tree, 0, 0)
        for link in range(LINKS):
            body = system.body(f"b{tree}_{link}", mass=1.0, com=(0.15, 0, 0), inertia=(0.001, 0.008, 0.008))
            axis, q = "yz"[link % 2], 0.3 + 0.05 * tree + 0.02 * link
            system.revolute(f"j{tree}_{link}", before, body, axis=axis, q=q, damping=0.05)
            before = body.at(0.3, 0, 0)
    return system


class Bench:
    """A browser, a folder for files, and what is measured with them."""

    def __init__(self, browser: Any, folder: Path) -> None:
        self.browser, self.folder = browser, folder

    def file(self, name: str) -> Path:
        """The player file of an example, or of the trees."""
        path = self.folder / f"{name}.html"
        if not path.exists():
            if name == "trees":
                run = kn.simulate(make_trees(), SPAN, every=1 / 60, rtol=1e-4, atol=1e-5)
            else:
                run = kn.simulate(kn.load(EXAMPLES / f"{name}.yaml"), samples=601)
            run.view(path)
        return path

    @contextmanager
    def page(self, width: int = 1280, height: int = 800) -> Iterator[Any]:
        """A page of its own, which plays nothing by itself."""
        context = self.browser.new_context(viewport={"width": width, "height": height}, reduced_motion="reduce")
        try:
            page = context.new_page()
            page.add_init_script(FIRST_PICTURE)
            yield page
        finally:
            context.close()

    @contextmanager
    def opened(self, name: str, stage: tuple[int, int] | None = None) -> Iterator[Any]:
        """The page of a run; ``stage`` is the size of the 3D view."""
        with self.page() as page:
            page.goto(self.file(name).as_uri())
            page.evaluate("() => firstPicture")
            if stage is not None:
                width, height = page.evaluate(STAGE_SIZE)
                page.set_viewport_size({"width": 1280 + stage[0] - width, "height": 800 + stage[1] - height})
                page.add_style_tag(content=f".stage canvas {{ width: {stage[0]}px; height: {stage[1]}px }}")
                page.wait_for_timeout(500)
            yield page

    def opens(self) -> list[float]:
        """Seconds from the navigation to the first picture."""
        times = []
        for _ in range(ROUNDS):
            with self.page() as page:
                page.goto(self.file("excavator").as_uri(), wait_until="commit")
                times.append(page.evaluate("() => firstPicture") / 1000)
        return times

    def measured(self, name: str, script: str, stage: tuple[int, int] | None = None) -> list[float]:
        """What a script of the page measures."""
        with self.opened(name, stage) as page:
            return list(page.evaluate(script))

    def first_picture(self) -> list[float]:
        """Seconds from the command to the first picture, the browser being open."""
        command = "import sys; from kinode.cli import main; sys.argv[0] = 'kinode'; main()"
        path, times = self.folder / "view.html", []
        for _ in range(ROUNDS):
            start = time.perf_counter()
            model = str(EXAMPLES / "excavator.yaml")
            subprocess.run(
                [sys.executable, "-c", command, "view", model, "--output", str(path)], check=True, capture_output=True
            )
            with self.page() as page:
                page.goto(path.as_uri(), wait_until="commit")
                page.evaluate("() => firstPicture")
                times.append(time.perf_counter() - start)
        return times

    def film(self) -> list[float]:
        """Seconds for a film of 300 pictures at 1280 x 720."""
        run = kn.simulate(kn.load(EXAMPLES / "four_bar.yaml"), samples=301)
        start = time.perf_counter()
        write_video(run, self.folder / "film.webm", rate=30, speed=(run.t[-1] - run.t[0]) * 30 / 299)
        return [time.perf_counter() - start]


def works(bench: Bench) -> list[Work]:
    """The rows of the table."""
    stage = (800, 600)
    return [
        Work("a player file opens to its first frame", 1.0, "s", bench.opens),
        Work("seek, excavator", 0.2, "ms", lambda: bench.measured("excavator", SEEK)),
        Work("seek, 100 bodies", 0.2, "ms", lambda: bench.measured("trees", SEEK)),
        Work("new numbers of the same run, excavator", 8.0, "ms", lambda: bench.measured("excavator", NEW_RUNS)),
        Work("new numbers of the same run, 100 bodies", 8.0, "ms", lambda: bench.measured("trees", NEW_RUNS)),
        Work("100 bodies, 60 s: file", 8.0, "MB", lambda: [bench.file("trees").stat().st_size / 1e6]),
        Work("100 bodies at 800 x 600", 30.0, "frames/s", lambda: bench.measured("trees", FRAMES, stage), more=True),
        Work("first picture of kinode view examples/excavator.yaml", 2.5, "s", bench.first_picture),
        Work("film of 300 pictures, 1280 x 720", 15.0, "s", bench.film),
    ]


def main(wanted: list[str]) -> None:
    """Print the table, or those rows whose names have one of the words in them."""
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory(prefix="kinode_bench_") as folder, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox"])
        print(f"load before: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
        print("| work | median | least | asked for | met |\n|---|---|---|---|---|", flush=True)
        for work in works(Bench(browser, Path(folder))):
            if not wanted or any(word in work.name for word in wanted):
                print(work.line(), flush=True)
        print(f"load after: {os.getloadavg()[0]:.1f}")
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1:])
