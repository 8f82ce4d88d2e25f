"""Make the pictures of the studio: ``python docs/studio_pictures.py``.

Examples are opened in a Chromium without a window, as in player_pictures.py.
"""

import io
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from picture_files import PICTURES, ROOT
from PIL import Image
from player_pictures import COLORED, DRAWN, READY, SEEK
from playwright.sync_api import Browser, Locator, Page, sync_playwright

from kinode.player.film import find_chromium
from kinode.studio.editor.studio_view import StudioView

SIZE = {"width": 1440, "height": 900}
WAIT = 120_000  # ms, for derivations on a busy machine
CHECKED = "() => kinodeStudio.document.checkedVersion >= kinodeStudio.document.version"


def save(name: str, page: Page, pointed: Locator | None = None) -> Path:
    """Write the page as it is, with the pointer on something or away."""
    if pointed is None:
        page.mouse.move(1, SIZE["height"] - 1)
    else:
        pointed.hover()
    page.wait_for_timeout(400)
    page.evaluate(DRAWN)
    path = PICTURES / f"studio_{name}.png"
    picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    picture.quantize(COLORED, dither=Image.Dither.NONE).save(path, optimize=True)
    return path


def open_studio(
    browser: Browser, folder: Path, example: str, theme: str, time: float, verify: bool = False
) -> AbstractContextManager[Page]:
    """The studio of a copy of an example, with its run at a time."""
    file = folder / f"{example}.yaml"
    file.write_text((ROOT / "examples" / file.name).read_text(encoding="utf-8"), encoding="utf-8")
    return open_file(browser, file, theme, time, verify)


@contextmanager
def open_file(browser: Browser, file: Path, theme: str, time: float, verify: bool = False) -> Iterator[Page]:
    """The studio of a file, with its run at a time."""
    with StudioView(file, verify=verify) as view:
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
    with open_file(browser, file, "light", 0.8) as page:
        page.locator(".pane-side [data-part=Compare]").click()
        page.locator(".comparison option", has_text="before.yaml").wait_for(state="attached")
        page.get_by_label("Compare with", exact=True).select_option(label="before.yaml")
        page.get_by_role("button", name="Peaks side by side").click()
        page.locator(".peak-table").wait_for(timeout=120_000)
        return [save("compare", page)]


def make_equations(browser: Browser, folder: Path) -> list[Path]:
    """The equations of a drive, compared with others; the pointer is on a symbol."""
    with open_studio(browser, folder, "manipulator", "light", 1.2, verify=True) as page:
        page.locator(".verify-badge[data-state=agrees]").wait_for(timeout=WAIT)
        page.locator(".pane-side [data-part=Equations]").click()
        page.locator(".formulas math").first.wait_for(timeout=WAIT)
        page.evaluate("() => kinodeStudio.select(['KN2'], 'picture')")
        page.wait_for_timeout(400)
        return [save("equations", page, page.locator(".formulas [data-parts*=KN1]").first)]


def main() -> None:
    """Make all of them."""
    with tempfile.TemporaryDirectory() as place, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox"])
        makers = (make_axis, make_circuit, make_compared, make_equations)
        made = [path for make in makers for path in make(browser, Path(place))]
        browser.close()
    for path in made:
        print(f"{path.relative_to(ROOT)}: {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
