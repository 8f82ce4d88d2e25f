"""What a gesture on the studio's canvas costs: frames while a part is dragged, for 27 and 297 components.

A real Chromium draws on the processor, hence these are upper bounds.  Run from the checkout:
``python benchmarks/studio_canvas.py``; the page must be built (``python tools/build_player.py``).
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from kinode.player.film import find_chromium
from kinode.studio.editor.studio_view import StudioView

SIZES = {3: 16.0, 33: 33.0}  # circuits of nine components each, and the longest frame that is asked for, in ms
MOVES = 60
WATCH = """() => {
  globalThis.frames = [];
  globalThis.work = [];
  const request = requestAnimationFrame.bind(globalThis);
  globalThis.requestAnimationFrame = (act) => request((t) => {
    const start = performance.now();
    act(t);
    work.push(performance.now() - start);
  });
  let last = performance.now();
  const look = () => {
    const now = performance.now();
    frames.push(now - last);
    last = now;
    if (!globalThis.halt) request(look);
  };
  request(look);
}"""


def main() -> None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver, tempfile.TemporaryDirectory() as folder:
        chromium = driver.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox"])
        for count, most in SIZES.items():
            file = Path(folder) / f"circuits_{count}.yaml"
            file.write_text(circuits(count))
            with StudioView(file, verify=False) as view:
                page = chromium.new_page(viewport={"width": 1440, "height": 900})
                frames, work, spent = drag(page, view.url)
                page.close()
            print(
                f"{9 * count} components: frame {share(frames, 0.5):.1f} ms, 95 % below {share(frames, 0.95):.1f} ms; "
                f"work of the page {share(work, 0.5):.1f} ms, 95 % below {share(work, 0.95):.1f} ms; "
                f"processor time of a move {spent:.1f} ms; asked: {most:g} ms"
            )
            sys.stdout.flush()
        chromium.close()


def circuits(count: int) -> str:
    """Circuits of a battery and a chain of eight parts; the last is open, so that nothing is run meanwhile."""
    lines = ["kinode: 1", "name: circuits", "elements:"]
    for k in range(count):
        lines.append(f"  battery_{k}: {{kind: battery, plus: n{k}_0, minus: gnd, voltage: 24 V, resistance: 1 Ohm}}")
        for j in range(8):
            kind, value = ("resistor", "resistance: 1 Ohm") if j % 2 == 0 else ("inductor", "inductance: 1 mH")
            end = f"n{k}_{j + 1}" if j < 7 or k == count - 1 else "gnd"
            lines.append(f"  part_{k}_{j}: {{kind: {kind}, plus: n{k}_{j}, minus: {end}, {value}}}")
    return "\n".join([*lines, ""])


def drag(page: Any, url: str) -> tuple[list[float], list[float], float]:
    """Frames and work of the page while a part is dragged, and processor time of its thread for one move."""
    meter = page.context.new_cdp_session(page)
    meter.send("Performance.enable", {"timeDomain": "threadTicks"})
    page.goto(url)
    page.locator("g.part[data-name='part_1_4'] .room").wait_for(timeout=60_000)
    page.wait_for_timeout(3000)  # until all wires are routed
    box = page.locator("g.part[data-name='part_1_4'] .room").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.evaluate(WATCH)
    before = busy(meter)
    for k in range(MOVES):
        page.mouse.move(x + 3 * (k if k < MOVES / 2 else MOVES - k), y + 2 * k)
    spent = 1e3 * (busy(meter) - before) / MOVES
    frames = page.evaluate("() => { globalThis.halt = true; return frames; }")
    work = [each for each in page.evaluate("() => work") if each > 0.3]
    page.mouse.up()
    return sorted(frames), sorted(work), spent


def busy(meter: Any) -> float:
    """Processor seconds of the page's thread in tasks: script, styles, layout and painting."""
    metrics = {each["name"]: each["value"] for each in meter.send("Performance.getMetrics")["metrics"]}
    return float(metrics["TaskDuration"])


def share(values: list[float], part: float) -> float:
    return values[min(len(values) - 1, int(part * len(values)))]


if __name__ == "__main__":
    main()
