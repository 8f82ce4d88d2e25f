"""How many files of the house run between a call and its result, and how many modules some programs load.

    python tools/count_walks.py [NAME ...] [--files]

A file counts where code of it runs, whatever thread it is in; ``__init__`` does not count, nor what runs while a module
is imported.  Each call is made once before, so that nothing is imported, compiled or traced for the first time: a sweep
and an export with the same system, a joint in another system of the same description.  Beside the sum stand the files
of each package.  With ``--files`` they are listed in the order in which they are entered.

Modules are counted in a process of their own: those of kinode, packages included.
"""

from __future__ import annotations

import argparse
import asyncio
import bisect
import importlib
import itertools
import os
import re
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "kinode"
EXAMPLES = ROOT / "examples"
PENDULUM = """
import sys
import kinode as kn
s = kn.System("p", gravity=(0, -9.81, 0))
b = s.body("b", mass=1, com=(1, 0, 0), inertia=(.1, .1, .1))
s.revolute("j", s.world, b, q=1.0)
kn.simulate(s, 1.0)
"""
VIEW = """
import sys
from kinode.cli.commands import main
sys.argv = ["kinode", "view", "examples/pendulum.yaml", "--output", "{page}"]
try: main()
except SystemExit as end: assert not end.code, end
"""
COUNT = "\nprint(sum(name.partition('.')[0] == 'kinode' for name in sys.modules))\n"


class Walk:
    """The files in which code runs while it is watched."""

    def __init__(self) -> None:
        self.files: dict[str, None] = {}
        self._watching, self._folder = False, str(SOURCE) + os.sep

    def __call__(self, frame: FrameType, event: str, argument: object) -> None:
        """Called by Python as a function begins and ends."""
        if self._watching and event == "call":
            code = frame.f_code
            if code.co_filename.startswith(self._folder) and code.co_name != "<module>":
                self.files[code.co_filename[len(self._folder) :]] = None

    @contextmanager
    def watching(self) -> Iterator[None]:
        """What runs meanwhile counts."""
        self._watching = True
        try:
            yield
        finally:
            self._watching = False

    def found(self) -> list[str]:
        """The files in the order in which they were entered."""
        return [name for name in self.files if not name.endswith("__init__.py")]


Prepare = Callable[[], Callable[[], Any]]
"""Makes ready what a call needs, and gives the call."""


@contextmanager
def drag_part(folder: Path) -> Iterator[Prepare]:
    """A part let go on the canvas: the server's half, from the page's message until all is checked, drawn and told."""
    sys.path.append(str(ROOT / "tests" / "support"))
    os.environ["XDG_STATE_HOME"] = str(folder / "state")
    pages, wires = (importlib.import_module(name) for name in ("desk_pages", "page_wire"))
    from kinode.studio.document.document_files import open_file
    from kinode.studio.editor.studio_desk import StudioDesk
    from kinode.studio.server.session import Session

    (folder / "rlc.yaml").write_text((EXAMPLES / "rlc.yaml").read_text(encoding="utf-8"), encoding="utf-8")
    desk = StudioDesk(Session(), open_file(folder / "rlc.yaml"), folder)
    with asyncio.Runner() as runner:
        wire = wires.PageWire()
        page = pages.DeskPage(wire)
        attending = runner.get_loop().create_task(desk.session.attend(wire))
        versions = itertools.count()

        async def drag(version: int) -> None:
            move = {"do": "move", "places": {"coil": [70.0 + 10.0 * version, 80.0]}}
            answer = await page.ask("gesture", version=version, gesture=move)
            assert answer["version"] == version + 1
            await asyncio.to_thread(desk.checker.wait)

        async def leave() -> None:
            wire.incoming.put_nowait(None)
            await attending

        runner.run(page.ask("studio_open"))
        runner.run(page.settled(desk))
        yield lambda: partial(runner.run, drag(next(versions)))
        runner.run(leave())
    desk.close()


@contextmanager
def ask_reaction(folder: Path) -> Iterator[Prepare]:
    """A joint with friction is added to two bodies, the system simulated, the joint's force asked for."""
    import kinode as kn

    def prepare() -> Callable[[], Any]:
        system = kn.System("arm", gravity=(0, -9.81, 0))
        upper, lower = (system.body(name, mass=1, com=(0.5, 0, 0), inertia=(0.1,) * 3) for name in ("upper", "lower"))
        system.revolute("shoulder", system.world, upper, axis="z")
        friction = kn.coulomb(0.1, radius=0.01)

        def call() -> Any:
            system.revolute("elbow", upper.at(1, 0, 0), lower, axis="z", friction=friction)
            return kn.simulate(system, 0.1)["elbow.reaction.force"]

        return call

    yield prepare


@contextmanager
def sweep(folder: Path) -> Iterator[Prepare]:
    """Two runs of a pendulum by one worker."""
    import kinode as kn

    system = kn.load(EXAMPLES / "pendulum.yaml")
    yield lambda: lambda: kn.sweep(system, {"pivot.q": [0.1, 0.2]}, 0.1, keep="pivot.u|peak", workers=1)


@contextmanager
def export_fmu(folder: Path) -> Iterator[Prepare]:
    """A pendulum is exported as an FMU for this machine."""
    import kinode as kn

    system, file = kn.load(EXAMPLES / "pendulum.yaml"), folder / "pendulum.fmu"
    yield lambda: lambda: kn.export(system, "fmu", file, platforms=["host"], optimization="-O0")


@contextmanager
def rename_part(folder: Path) -> Iterator[Prepare]:
    """A part of a model's text gets another name."""
    from kinode.editing.gestures import plan_gesture

    path = EXAMPLES / "motor_axis.yaml"
    text, gesture = path.read_text(encoding="utf-8"), {"do": "rename", "name": "elbow", "to": "other_name"}
    yield lambda: lambda: plan_gesture(text, gesture, path)


BUILD = """
import { build } from "vite";
await build({ configFile: false, logLevel: "error", build: {
  lib: { entry: "src/studio/main.ts", formats: ["es"], fileName: () => "studio.js" }, outDir: process.argv[1],
  target: "es2022", minify: false, rolldownOptions: { output: { codeSplitting: false } } } });
"""


def count_page() -> list[str]:
    """The modules of ``web/src`` that run as a part is dragged in a browser, but for the worker that leads links.

    The page is built with the names of its modules in it, and Chromium tells which functions ran.  Takes node,
    ``web/node_modules`` (``python tools/build_player.py``), Playwright and Chromium.
    """
    sys.path.append(str(ROOT / "tests" / "support"))
    from playwright.sync_api import sync_playwright

    from kinode.player.film import find_chromium

    hands, spots = (importlib.import_module(name) for name in ("studio_hands", "steady_spots"))
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        command = ["node", "--input-type=module", "-e", BUILD, folder]
        subprocess.run(command, cwd=ROOT / "web", check=True, stdout=subprocess.DEVNULL)
        program = (Path(folder) / "studio.js").read_text(encoding="utf-8")
        heads = [(match.start(), match[1]) for match in re.finditer(r"^// (\S+/\S+)$", program, re.MULTILINE)]
        os.environ["XDG_STATE_HOME"] = folder
        (Path(folder) / "rlc.yaml").write_text((EXAMPLES / "rlc.yaml").read_text(encoding="utf-8"), encoding="utf-8")
        page = driver.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox"]).new_page()
        with hands.studio(page, Path(folder) / "rlc.yaml", program=program) as person:
            profiler = page.context.new_cdp_session(page)
            profiler.send("Profiler.enable")
            profiler.send("Profiler.startPreciseCoverage", {"callCount": True, "detailed": False})
            for _ in range(2):  # the first time does not count
                person.wait_for_run()
                x, y = person.spot("coil")
                profiler.send("Profiler.takePreciseCoverage")  # from here on
                spots.drag(page, (x, y), (x + 30, y + 20))
                page.mouse.up()
                person.wait()
                taken = profiler.send("Profiler.takePreciseCoverage")["result"]
    ran = [
        function["ranges"][0]["startOffset"]
        for script in taken if len(script["functions"]) > 100
        for function in script["functions"] if function["ranges"][0]["count"]
    ]  # fmt: skip
    found = {heads[k - 1][1] for k in (bisect.bisect(heads, (start, "~")) for start in ran) if k}
    return sorted(name for name in found if name.startswith("src/") and name.endswith(".ts"))


WALKS = {
    "drag": drag_part, "reaction": ask_reaction, "sweep": sweep, "fmu": export_fmu, "rename": rename_part,
}  # fmt: skip


def count_walk(name: str) -> list[str]:
    """The files that a call walks through the second time it is made, in the order in which they are entered."""
    walk = Walk()
    threading.setprofile(walk)  # of threads that begin from now on
    sys.setprofile(walk)
    try:
        with tempfile.TemporaryDirectory() as folder, WALKS[name](Path(folder)) as prepare:
            prepare()()
            call = prepare()
            with walk.watching():
                call()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return walk.found()


def count_modules(script: str, cache: Path) -> int:
    """The modules of kinode that a script loads in a process of its own, with machine code from a folder."""
    paths = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    surroundings = os.environ | {"KINODE_CACHE_DIR": str(cache), "PYTHONPATH": paths}
    surroundings.pop("KINODE_TIERS", None)  # as users have it
    command = [sys.executable, "-c", script + COUNT]
    done = subprocess.run(command, cwd=ROOT, env=surroundings, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    return int(done.stdout.split()[-1])


def count_loaded(view: bool = True) -> Iterator[tuple[str, int]]:
    """What the first run of a pendulum loads, without and with machine code of before; then a view of the example."""
    with tempfile.TemporaryDirectory() as folder:
        cache, page = Path(folder) / "cache", Path(folder) / "page.html"
        yield "a pendulum, empty cache", count_modules(PENDULUM, cache)
        yield "a pendulum", count_modules(PENDULUM, cache)
        if view:
            yield "a view", count_modules(VIEW.format(page=page), cache)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "names", nargs="*", help=f"of {', '.join([*WALKS, 'page', 'modules'])}; default is all but page"
    )
    parser.add_argument("--files", action="store_true", help="list the files")
    given = parser.parse_args()
    names = given.names or [*WALKS, "modules"]
    for name in names:
        if name in WALKS:
            files = count_walk(name)
            rooms = Counter(file.partition("/")[0].removesuffix(".py") for file in files)
            told = ", ".join(f"{room} {count}" for room, count in rooms.most_common())
            print(f"{name:24} {len(files):4} files    {told}", flush=True)
            if given.files:
                print("".join(f"    {file}\n" for file in files), end="")
    if "page" in names:
        files = count_page()
        print(f"{'drag, on the page':24} {len(files):4} modules of web/src", *files * given.files, sep="\n    ")
    for name, count in count_loaded() if "modules" in names else ():
        print(f"{name:24} {count:4} modules", flush=True)


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT / "src"))
    main()
