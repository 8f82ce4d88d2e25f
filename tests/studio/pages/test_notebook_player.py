"""The player in a notebook: the widget's data, several at once in a real page, the WebGL context given back."""

import base64
import json
import sys
import zlib
from pathlib import Path

import pytest

import kinode as kn
from kinode.player import widget as widgets
from kinode.player.packet import read_packet
from kinode.player.run_document import make_documents

ROOT = Path(__file__).resolve().parents[3]
NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))
SHOW = """async ([program, packed, count]) => {
  const { default: widget } = await import(URL.createObjectURL(new Blob([program], { type: "text/javascript" })));
  const bytes = Uint8Array.from(atob(packed), (c) => c.charCodeAt(0));
  const table = "<table class=below><td>1</td></table>";
  const values = { runs: [new DataView(bytes.buffer)], height: "420px", theme: "dark", table };
  const model = { get: (name) => values[name], on() {}, off() {} };
  globalThis.shown = [];
  for (let k = 0; k < count; k++) {
    const el = document.body.appendChild(document.createElement("div"));
    shown.push({ el, end: await widget.render({ model, el }) });
  }
  const count_of = (el, what) => el.querySelectorAll(what).length;
  return shown.map(({ el }) => {
    const { offsetHeight, dataset } = el.querySelector(".kinode-player");
    return [count_of(el, "canvas.stage-canvas"), count_of(el, "table.below td"), offsetHeight, dataset.theme];
  });
}"""
END = """() => {
  const canvas = shown[0].el.querySelector("canvas.stage-canvas");
  const gl = canvas.getContext("webgl2");
  const before = gl.isContextLost();
  shown[0].end();
  return [before, gl.isContextLost(), ...shown.map(({ el }) => el.querySelectorAll(".kinode-player").length)];
}"""


@pytest.fixture(scope="module")
def run():
    return kn.simulate(ROOT / "examples" / "pendulum.yaml", 1.0, samples=61)


@pytest.fixture
def packet(run):
    return make_documents([run])[0].packet(encoded=True)


def test_the_widget_holds_the_run(packet):
    pytest.importorskip("anywidget")
    widget = widgets.make_widget([packet, packet], "400px", "dark")
    assert (widget.height, widget.theme, len(widget.runs)) == ("400px", "dark", 2)
    header, arrays = read_packet(zlib.decompress(widget.runs[0]))
    assert header["name"] == "pendulum" and arrays["poses"].shape[-1] == len(arrays["t"])


def test_without_anywidget_a_frame_shows_the_page(packet, monkeypatch):
    monkeypatch.setattr(widgets, "find_widget_class", lambda: None)
    html = widgets.make_widget([packet], "400px", "light")._repr_html_()
    assert html.startswith("<iframe") and "height: 400px" in html and "srcdoc=" in html
    assert html.count("<") == 2  # all of the page is escaped


def test_a_terminal_gets_no_widget(run):
    assert run._repr_mimebundle_() == {}
    assert "coordinate" in run._repr_html_()


def test_a_system_shows_its_circuit():
    shown = kn.load(ROOT / "examples" / "motor_axis.yaml")._repr_html_()
    assert "<svg" in shown and "<table" in shown
    unfinished = kn.System("s")
    unfinished.body("loose", mass=1.0)
    assert "<svg" not in unfinished._repr_html_()


def test_several_widgets_and_the_end_of_one(page, packet):
    """Each has its stage and its table; the one that is removed gives its WebGL context back."""
    page.goto("about:blank")
    packed = base64.b64encode(zlib.compress(packet)).decode()
    shown = page.evaluate(SHOW, [widgets.player_module(), packed, 3])
    assert shown == [[1, 1, 420, "dark"]] * 3
    assert page.evaluate("() => kinodePrograms.size") == 1
    assert page.evaluate(END) == [False, True, 0, 1, 1]


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_of_the_examples_runs(notebook, tmp_path):
    NotebookClient = pytest.importorskip("nbclient").NotebookClient
    import nbformat

    content = nbformat.read(notebook, as_version=4)
    assert all(not cell.get("outputs") for cell in content.cells), "outputs are to be stripped"
    place = {"metadata": {"path": str(tmp_path)}}
    NotebookClient(content, timeout=600, startup_timeout=600, kernel_name="python3", resources=place).execute()
    outputs = [output for cell in content.cells if cell.cell_type == "code" for output in cell.outputs]
    kinds = [set(output.data) for output in outputs if "data" in output]
    widget = [kind for kind in kinds if widgets.WIDGET_MIME in kind]
    assert len(widget) == 2 and any("text/html" in kind for kind in widget)
    assert (tmp_path / "arm.html").stat().st_size > 100_000
    states = content.metadata["widgets"]["application/vnd.jupyter.widget-state+json"]["state"]
    players = [state for state in states.values() if state["model_module"] == "anywidget"]
    assert len(players) == 2 and all(len(json.dumps(state)) < 2e6 for state in players)


def test_nothing_of_notebooks_is_loaded_with_kinode():
    assert "kinode.player.widget" in sys.modules  # by this test
    import subprocess

    code = "import sys, kinode; print([n for n in ('anywidget', 'IPython', 'kinode.studio') if n in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"
