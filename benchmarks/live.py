"""Live pages: what a moved slider costs, from the request on the socket to the answer on the page's side.

Milliseconds for one "set", over the span of the model's run section (UR5: 10 s), medians of warm calls: processor time
of server and client together, and the time on the clock, which other programs on the machine lengthen.
"""

from __future__ import annotations

import argparse
import cProfile
import json
import pstats
import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.request import HTTPRedirectHandler, Request, build_opener

from websockets.sync.client import ClientConnection, connect

import kinode as kn
from kinode.player.packet import read_packet
from kinode.studio.live.live_view import LiveView

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
ASKED = {"excavator": 10.0, "motor_axis": 10.0, "ur5": 10.0, "stewart_platform": 20.0, "four_bar": None, "rlc": None}
NUMBERS = {
    "excavator": "bucket.mass",
    "ur5": "shoulder_link.mass",
    "stewart_platform": "table.mass",
    "four_bar": "crank.mass",
}
ROUNDS = 60
ROW = "{:18} {:24} {:>10} {:>10} {:>10} {:>10} {:>12}"


class _Stay(HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        return None


@contextmanager
def page(view: LiveView) -> Iterator[ClientConnection]:
    """A socket to a live page, let in as a browser is."""
    try:
        build_opener(_Stay).open(Request(view.url))
        cookie = ""
    except OSError as answer:  # 303, with the cookie
        cookie = answer.headers["Set-Cookie"].split(";")[0]  # type: ignore[attr-defined]
    port = view.server.port
    origin, headers = f"http://127.0.0.1:{port}", {"Cookie": cookie}
    with connect(
        f"ws://127.0.0.1:{port}/socket", origin=origin, additional_headers=headers, compression=None, max_size=None
    ) as socket:  # type: ignore[arg-type]
        yield socket


def ask(socket: ClientConnection, seq: int, kind: str, **fields: Any) -> dict[str, Any]:
    """The header of an answer."""
    socket.send(json.dumps({"seq": seq, "kind": kind, **fields}))
    while True:
        message = socket.recv()
        header = json.loads(message) if isinstance(message, str) else read_packet(message)[0]
        if header.get("seq") == seq:
            if "error" in header:
                raise RuntimeError(header["error"]["message"])
            return header


def measure(name: str, number: str | None, profile: bool) -> list[str]:
    """A row of the table."""
    system = kn.load(EXAMPLES / f"{name}.yaml")
    with LiveView(system, 10.0 if name == "ur5" else None, player="") as view, page(view) as socket:
        header = ask(socket, 1, "open")
        view.complete.wait()  # what follows the first picture has its own process
        free = [x for x in header["live"]["parameters"] if not x["structural"] and x["value"]]
        chosen = next(x for x in free if number in (None, x["name"]))
        profiler = cProfile.Profile()
        handler = view.desk.set
        if profile:
            view.session.handle("set", lambda job: profiler.runcall(handler, job))
        used, passed = [], []
        for k in range(ROUNDS):
            values = {chosen["name"]: chosen["value"] * (1.0 + 0.002 * (k + 1))}
            begin, clock = time.process_time(), time.perf_counter()
            ask(socket, k + 2, "set", values=values)
            used.append(1e3 * (time.process_time() - begin))
            passed.append(1e3 * (time.perf_counter() - clock))
        if profile:
            pstats.Stats(profiler).sort_stats("cumtime").print_stats(45)
    median, wall = statistics.median(used[5:]), statistics.median(passed[5:])
    asked = "" if ASKED[name] is None else f"{ASKED[name]:g} ms"
    figures = (f"{x:.2f} ms" for x in (median, min(used[5:]), wall))
    return [name, chosen["name"], *figures, f"{min(passed[5:]):.2f} ms", asked]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="*", default=list(ASKED))
    parser.add_argument("--number", help="the number that is moved")
    parser.add_argument("--profile", action="store_true")
    given = parser.parse_args()
    print(ROW.format("set", "number", "processor", "least", "clock", "least", "asked"))
    for name in given.models:
        print(ROW.format(*measure(name, given.number or NUMBERS.get(name), given.profile)), flush=True)


if __name__ == "__main__":
    main()
