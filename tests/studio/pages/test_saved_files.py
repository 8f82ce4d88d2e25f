"""What leaves the page: pictures, films with every picture at its time, the moving model; films of the command line."""

import json
import struct
from io import BytesIO

import numpy as np
import pytest
from page_patience import expect

import kinode as kn
from kinode.player import film as chromium
from kinode.player.film import write_video

FILM = """async ([format, rate, to, most]) => {
  const request = kinodePlayer.film({ format, width: 320, height: 180, rate, from: 0, to, speed: 1 });
  while (request.film === null && request.fault === "") await new Promise((go) => setTimeout(go, 20));
  if (request.fault) return { fault: request.fault };
  const video = document.createElement("video");
  video.muted = true;
  video.src = URL.createObjectURL(request.film);
  await new Promise((go, stop) => {
    video.onloadeddata = go;
    video.onerror = () => stop(new Error(video.error.message));
  });
  const seen = [];
  const pen = new OffscreenCanvas(320, 180).getContext("2d", { willReadFrequently: true });
  for (const t of [0.5 / rate, to - 0.5 / rate]) {
    const at = Math.floor(t * rate) / rate;
    pen.fillRect(0, 0, 320, 180);
    const painter = kinodePlayer.stage.view.painter(320, 180, false);
    painter.paint(at, pen);
    painter.end();
    const drawn = pen.getImageData(0, 0, 320, 160).data; // the caption is left out
    await new Promise((go) => { video.onseeked = go; video.currentTime = t; });
    let off;
    for (let tries = 0; tries < 1000; tries++) { // the picture may come a moment after it was announced
      await new Promise((go) => setTimeout(go, 20));
      pen.clearRect(0, 0, 320, 180);
      pen.drawImage(video, 0, 0);
      const film = pen.getImageData(0, 0, 320, 160).data;
      let sum = 0;
      for (let k = 0; k < drawn.length; k++) sum += Math.abs(drawn[k] - film[k]);
      off = sum / drawn.length;
      if (off < most) break;
    }
    seen.push(off);
  }
  const { duration, videoWidth: width, videoHeight: height } = video;
  return { duration, width, height, seen, type: request.film.type };
}"""


def read_glb(data):
    magic, version, length, json_length, kind = struct.unpack_from("<4sIII4s", data)
    assert (magic, version, length, kind) == (b"glTF", 2, len(data), b"JSON")
    content = json.loads(data[20 : 20 + json_length])
    assert data[20 + json_length + 4 :][:4] == b"BIN\0"
    return content, data[28 + json_length :]


def numbers(content, data, index):
    accessor = content["accessors"][index]
    view = content["bufferViews"][accessor["bufferView"]]
    width = {"SCALAR": 1, "VEC3": 3, "VEC4": 4}[accessor["type"]]
    return np.frombuffer(data, "<f4", accessor["count"] * width, view["byteOffset"]).reshape(-1, width)


def saved(page, words, note=""):
    """The file that an entry of the menu gives."""
    page.locator(".save-menu button").click()
    with page.expect_download() as download:
        page.get_by_role("menuitem").filter(has_text=words).filter(has_text=note).first.click()
    return download.value.suggested_filename, download.value.path().read_bytes()


def test_pictures(page, open_run):
    from matplotlib.image import imread

    open_run(page, "four_bar")
    for words, note in (("Picture", "of the 3D view"), ("Picture with plots", "")):
        name, data = saved(page, words, note)
        assert name == "four_bar.png" and data.startswith(b"\x89PNG")
        picture = imread(BytesIO(data))
        assert picture.shape[1] > (2 * page.locator(".stage").bounding_box()["width"] - 2) * (1.2 if not note else 0.99)
        assert len(np.unique(picture[..., :3] @ [1.0, 256.0, 65536.0])) > 50


def test_the_moving_model_has_the_poses_of_the_run(page, open_run, pages):
    open_run(page, "excavator")
    name, data = saved(page, "Moving model")
    assert name == "excavator.glb"
    content, numbers_of = read_glb(data)
    run = pages.run("excavator")
    nodes = {node["name"]: k for k, node in enumerate(content["nodes"]) if "name" in node}
    assert set(run.system.bodies) <= set(nodes)
    (animation,) = content["animations"]
    targets = [(channel["target"], animation["samplers"][channel["sampler"]]) for channel in animation["channels"]]
    tracks = {(target["node"], target["path"]): sampler for target, sampler in targets}
    for body in ("boom", "bucket"):
        track = tracks[nodes[body], "translation"]
        times = numbers(content, numbers_of, track["input"])[:, 0]
        assert np.all(np.diff(times) > 0)
        places = numbers(content, numbers_of, track["output"])
        expected = np.stack([np.interp(times, run.t, column) for column in run[f"{body}.position"].T], axis=1)
        assert np.abs(places - expected).max() < 5e-3  # m; straight lines between stored times of a machine of 10 m
        turns = numbers(content, numbers_of, tracks[nodes[body], "rotation"]["output"])
        assert np.allclose(np.linalg.norm(turns, axis=1), 1, atol=1e-5)
    assert content["meshes"] and all("mesh" in node or "name" in node for node in content["nodes"])


@pytest.mark.parametrize("kind", ["webm", "mp4"])
def test_a_film_shows_every_time_as_the_stage_does(kind, page, open_run):
    """Length, size, and pictures at two times: a film decoded is near to the stage drawn at that time."""
    open_run(page, "pendulum")
    most = 4.0  # of 255; another time of the swing differs by more
    film = page.evaluate(FILM, [kind, 10, 1.0, most])
    if kind == "mp4" and film.get("fault"):
        assert film["fault"] == "This browser cannot encode H.264, which MP4 needs. WebM works."
        return
    assert (film["width"], film["height"], film["type"]) == (320, 180, f"video/{kind}")
    assert film["duration"] == pytest.approx(1.1, abs=0.02)
    assert max(film["seen"]) < most, film["seen"]


def test_a_film_can_be_stopped(page, open_run):
    open_run(page, "pendulum")
    page.locator(".save-menu button").click()
    page.get_by_role("menuitem").filter(has_text="WebM").click()
    page.get_by_role("spinbutton", name="Speed").fill("0.01")  # thousands of pictures: it does not end by itself
    page.get_by_text("Make the film").click()
    page.get_by_role("button", name="Stop").click()
    page.get_by_text("Stopped: no film was written.").wait_for()


def test_a_wrong_span_is_told(page, open_run):
    open_run(page, "pendulum")
    page.locator(".save-menu button").click()
    page.get_by_role("menuitem").filter(has_text="WebM").click()
    page.get_by_role("spinbutton", name="From").fill("-3")
    page.get_by_text("The run is known from").wait_for()
    expect(page.get_by_text("Make the film")).to_be_disabled()


def test_a_model_without_bodies_says_so(page, open_run):
    open_run(page, "rlc")
    assert "no 3D" in page.evaluate("() => kinodePlayer.film({}).fault")
    page.locator(".save-menu button").click()
    assert page.get_by_role("menuitem").filter(has_text="there are no bodies").get_attribute("aria-disabled") == "true"


def test_a_film_from_python(browser, pages, tmp_path):
    """Without a window: the file holds what its ending says."""
    told = []
    order = {"size": (160, 90), "rate": 5, "speed": 1, "span": (0, 1)}
    file = write_video(pages.run("pendulum"), tmp_path / "p.webm", **order, progress=told.append)
    assert file.read_bytes().startswith(b"\x1a\x45\xdf\xa3") and told[-1] == 1.0


@pytest.mark.parametrize(
    ("file", "options", "words"),
    [
        ("a.avi", {}, "a film is written as .webm or .mp4"),
        ("a.webm", {"size": (641, 360)}, "size: two even numbers"),
        ("a.webm", {"rate": 0}, "rate: 1 to 120"),
        ("a.webm", {"speed": -1.0}, "speed: a positive number"),
        ("a.webm", {"span": (1.0, 1.0)}, "span: a start and a later end"),
        ("a.webm", {"theme": "blue"}, "theme: 'blue' is none of"),
    ],
)
def test_wrong_orders_are_named(file, options, words):
    with pytest.raises(kn.ArgumentError, match=words):
        write_video(None, file, **options)


def test_no_chromium_is_told(monkeypatch):
    monkeypatch.setenv(chromium.VARIABLE, "no_such_program")
    with pytest.raises(kn.Error, match="no_such_program is no program"):
        chromium.find_chromium()
    monkeypatch.delenv(chromium.VARIABLE)
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(chromium, "PLACES", ())
    with pytest.raises(kn.Error, match="no Chromium was found"):
        chromium.find_chromium()
