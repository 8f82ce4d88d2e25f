"""Run data of earlier versions of the format, and of an earlier kinode, open in the player, widgets and pages."""

import base64
import zlib

import numpy as np
import page_readings as read
import pytest
from page_patience import look, says
from page_readings import seek, show, si
from player_pages import ROOT

from kinode.player import widget as widgets
from kinode.player.packet import read_packet
from kinode.player.player_file import page_of_packets
from kinode.player.run_document import VERSION

KNOWN = sorted((ROOT / "tests" / "known").glob("player_*/*.txt"))
STORED = ROOT / "tests" / "known" / "stored" / "pages" / "pendulum.txt"
READY = "() => globalThis.kinodePlayer !== undefined"
GRAVITY = 9.81
WIDGET = """async ([program, packed]) => {
  const { default: widget } = await import(URL.createObjectURL(new Blob([program], { type: "text/javascript" })));
  const bytes = Uint8Array.from(atob(packed), (c) => c.charCodeAt(0));
  const values = { runs: [new DataView(bytes.buffer)], height: "400px", theme: "light", table: "" };
  const el = document.body.appendChild(document.createElement("div"));
  const end = await widget.render({ model: { get: (name) => values[name], on() {}, off() {} }, el });
  const legend = [...el.querySelectorAll(".plot-legend .name")].map((each) => each.textContent);
  end();
  return legend;
}"""


@pytest.fixture(params=[*KNOWN, STORED], ids=lambda path: path.parent.name)
def known(request):
    return base64.b64decode(request.param.read_text(encoding="ascii"))


def square_of_rate(angle):
    """The squared rate of a rod of 1 m that has fallen from the level to an angle, by its energy."""
    return -3.0 * GRAVITY * np.sin(angle)


def test_there_is_a_file_of_every_version():
    assert [int(path.parent.name.removeprefix("player_")) for path in KNOWN] == list(range(1, VERSION + 1))
    assert all(path.stat().st_size < 20_000 for path in KNOWN)


def test_python_reads_it(known):
    header, arrays = read_packet(zlib.decompress(known))
    assert (header["format"], header["name"]) == ("kinode-run", "pendulum")
    rows = {info["name"]: arrays["series"][info["row"]] for info in header["series"]}
    angle, rate = rows["pivot.q"], rows["pivot.u"]
    assert np.abs(rate**2 - square_of_rate(angle)).max() < 1e-4 and angle.min() < -3


def test_the_player_shows_it(known, page, tmp_path):
    file = tmp_path / "earlier.html"
    file.write_text(page_of_packets([zlib.decompress(known)], "earlier"), encoding="utf-8")
    page.goto(file.as_uri())
    page.wait_for_function(READY)
    page.evaluate("() => kinodePlayer.plot(['pivot.u'])")
    for t in (0.2, 0.5):
        seek(page, t)
        shown = {name: si(text, unit) for name, text, unit in page.evaluate(read.LEGEND)}
        assert shown["pivot.u"] ** 2 == pytest.approx(square_of_rate(shown["pivot.q"]), rel=2e-3)
    for panel in page.evaluate("() => [...kinodePlayer.panels.keys()]"):
        show(page, panel)
    assert look(page, "() => kinodePlayer.stage.view.pictures") > 0


def test_a_widget_shows_it(known, page):
    page.goto("about:blank")
    assert page.evaluate(WIDGET, [widgets.player_module(), base64.b64encode(known).decode()]) == ["pivot.q"]


def test_data_of_a_later_version_say_so(known, page, tmp_path):
    packet = zlib.decompress(known)
    assert packet.count(b'"version":1,') == 1
    file = tmp_path / "later.html"
    file.write_text(page_of_packets([packet.replace(b'"version":1,', b'"version":9,')], "later"), encoding="utf-8")
    page.goto(file.as_uri())
    says(page.get_by_role("alert"), "a later kinode")
