"""A slider is dragged: milliseconds from its input event to the picture, in a real browser.

Chromium without a graphics card draws on the processor, hence these are upper bounds.  For each model
the first slider that can be dragged is moved: 40 events one after the other, each when the last has been shown, give
the time; 120 events at 60 Hz give how many pictures a drag has.  The run spans the model's run section (UR5: 10 s).
Response curves wait while a number moves.  The page itself measures: until the browser has taken the picture.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

import kinode as kn
from kinode.player.film import find_chromium
from kinode.studio.live.live_view import LiveView

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
ASKED = {"excavator": 20, "motor_axis": 20, "ur5": 20, "stewart_platform": 33}
UNTIL = {"ur5": 10.0}
SETTLE = 6000  # ms: equations and diagram come after the first picture
ROW = "{:18} {:18} {:>8} {:>8} {:>8} {:>8} {:>10}"
DRAG = """async () => {
  const slider = [...document.querySelectorAll('.kinode-player input[type=range]')]
    .find((each) => each.offsetParent && each.getAttribute('aria-label') !== 'Time');
  const { desk } = globalThis.kinodeLive;
  const [low, high] = [Number(slider.min), Number(slider.max)];
  const at = (k) => {
    slider.value = String(low + (high - low) * (0.5 + 0.15 * Math.sin(k / 9)));
    slider.dispatchEvent(new Event('input', { bubbles: true }));
  };
  const wait = (time) => new Promise((go) => setTimeout(go, time));
  const answers = [];
  for (let k = 0; k < 50; k++) {
    if (k === 10) desk.latency.reset();
    const before = desk.latency.pictures;
    at(k);
    for (let n = 0; n < 200 && desk.latency.pictures === before; n++) await wait(4);
    answers.push(desk.latency.last.answer);
    await wait(20);
  }
  const all = [...desk.latency.all].sort((a, b) => a - b);
  const answer = answers.slice(10).sort((a, b) => a - b)[20];
  const median = desk.latency.median;
  desk.latency.reset();
  for (let k = 0; k < 120; k++) { at(k); await wait(1000 / 60); }
  await wait(500);
  return { name: slider.getAttribute('aria-label'), median, answer, least: all[0], pictures: desk.latency.pictures };
}"""


def measure(browser: Any, name: str) -> dict[str, Any]:
    """The figures of one model."""
    with LiveView(kn.load(EXAMPLES / f"{name}.yaml"), UNTIL.get(name)) as view:
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.goto(view.url)
        page.locator(".kinode-player").wait_for(timeout=60_000)
        page.keyboard.press("k")  # what plays by itself would count too
        page.wait_for_timeout(SETTLE)
        found: dict[str, Any] = page.evaluate(DRAG)
        page.close()
    return found


def main() -> None:
    """A table of all models, or of those that are named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="*", default=list(ASKED))
    names = parser.parse_args().models
    print(f"load {os.getloadavg()[0]:.1f}")
    print(ROW.format("model", "slider", "answer", "shown", "least", "asked", "pictures"))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox"])
        for name in names:
            found = measure(browser, name)
            times = [f"{found[key]:.1f}" for key in ("answer", "median", "least")]
            print(ROW.format(name, found["name"][:18], *times, ASKED.get(name, ""), f"{found['pictures']} of 120"))
        browser.close()


if __name__ == "__main__":
    main()
