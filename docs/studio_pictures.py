"""Make the pictures of the studio: ``python docs/studio_pictures.py``.

Examples are opened in a Chromium without a window, as in player_pictures.py.
"""

import io
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from picture_files import PICTURES, ROOT
from PIL import Image
from player_pictures import COLORED, DRAWN, READY, SEEK
from playwright.sync_api import Browser, Page, sync_playwright

from kinode.studio.drawing.studio_view import StudioView
from kinode.studio.films.chromium import find_chromium

SIZE = {"width": 1440, "height": 900}
CHECKED = "() => kinodeStudio.document.checkedVersion >= kinodeStudio.document.version"


def save(name: str, page: Page) -> Path:
    """Write the page as it is."""
    page.mouse.move(1, SIZE["height"] - 1)
    page.wait_for_timeout(400)
    page.evaluate(DRAWN)
    path = PICTURES / f"studio_{name}.png"
    picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    picture.quantize(COLORED, dither=Image.Dither.NONE).save(path, optimize=True)
    return path


@contextmanager
def open_studio(browser: Browser, folder: Path, example: str, theme: str, time: float) -> Iterator[Page]:
    """The studio of a copy of an example, with its run at a time."""
    file = folder / f"{example}.yaml"
    file.write_text((ROOT / "examples" / file.name).read_text(encoding="utf-8"), encoding="utf-8")
    with StudioView(file) as view:
        page = browser.new_page(viewport=SIZE, color_scheme=theme, reduced_motion="reduce")
        page.goto(view.url)
        page.wait_for_function(READY)
        page.evaluate(SEEK, time)
        yield page
        page.close()


def make_axis(browser: Browser, folder: Path) -> list[Path]:
    """A drive with its motor chosen; the same as text, with an error."""
    with open_studio(browser, folder, "motor_axis", "light", 0.8) as page:
        page.locator(".studio-canvas g.part[data-name=motor]").click()
        page.locator(".inspector [data-field=resistance]").wait_for()
        made = [save("axis", page)]
        page.locator(".pane-side [data-part=Text]").click()
        place = page.evaluate("() => kinodeStudio.document.text").index("minus: gnd, shaft")
        page.evaluate("edits => kinodeStudio.act({ do: 'text', edits })", [[place, place + 10, "minus: gdn"]])
        page.wait_for_function(CHECKED)
        page.locator(".pane-side [data-part=Problems]").click()
        return [*made, save("problem", page)]


def make_circuit(browser: Browser, folder: Path) -> list[Path]:
    """A circuit in dark colors, beside its text."""
    with open_studio(browser, folder, "rlc", "dark", 0.002) as page:
        page.locator(".pane-side [data-part=Text]").click()
        page.locator(".studio-canvas g.part[data-name=coil]").click()
        return [save("circuit", page)]


def make_compared(browser: Browser, folder: Path) -> list[Path]:
    """A drive compared with an earlier one, with the peaks of both runs."""
    text = (ROOT / "examples" / "motor_axis.yaml").read_text(encoding="utf-8")
    part = "  {}: {{kind: resistor, plus: bus, minus: gnd, resistance: {}}}\n"
    lamp, bleeder = part.format("lamp", "400 Ohm"), part.format("bleeder", "1 kOhm")
    (folder / "before.yaml").write_text(text.replace("run:", f"{lamp}run:"), encoding="utf-8")
    file = folder / "axis.yaml"
    changed = text.replace("ratio: 60", "ratio: 80").replace("  battery:", "  supply: ").replace("4000 N", "4500 N")
    file.write_text(changed.replace("run:", f"{bleeder}run:"), encoding="utf-8")
    with StudioView(file) as view:
        page = open_studio(browser, view, "light")
        page.evaluate(SEEK, 0.8)
        page.locator(".pane-side [data-part=Compare]").click()
        page.locator(".comparison option", has_text="before.yaml").wait_for(state="attached")
        page.get_by_label("Compare with", exact=True).select_option(label="before.yaml")
        page.get_by_role("button", name="Peaks side by side").click()
        page.locator(".peak-table").wait_for(timeout=120_000)
        made = [save("compare", page)]
        page.close()
    return made


def main() -> None:
    """Make all of them."""
    with tempfile.TemporaryDirectory() as place, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox"])
        made = [path for make in (make_axis, make_circuit, make_compared) for path in make(browser, Path(place))]
        browser.close()
    for path in made:
        print(f"{path.relative_to(ROOT)}: {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
