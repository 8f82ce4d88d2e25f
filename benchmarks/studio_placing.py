"""Building in 3D: what the studio's server needs for a scene, a handle that is dragged, and a body that is pulled.

Milliseconds; the least of several, of processor time and of the time on the clock.  Models: those of the examples.
"""

from __future__ import annotations

import argparse
import itertools
import tempfile
from pathlib import Path
from typing import Any

from kinode.studio.editor.studio_desk import StudioDesk
from kinode.studio.server.session import Job
from studio import EXAMPLES, ROW, make_desk, measure, show

MODELS = {"four_bar": ("coupler", [0.1, 0.0, 0.0]), "excavator": ("bucket", [0.1, 0.0, 0.0])}


class Page:
    """A page that asks: it has a memory of its own."""

    def __init__(self) -> None:
        self.memory: dict[str, Any] = {}


def ask(desk: StudioDesk, page: Any, kind: str, **fields: Any) -> Any:
    """What the server answers."""
    return desk.session.handler_of(kind)(Job(1, kind, fields, page))


def find_turn(desk: StudioDesk) -> dict[str, Any]:
    """A gesture that turns the axis of the first joint which can be turned."""
    places = ask(desk, Page(), "place_scene")[0]["places"]
    joint = next(place["name"] for place in places if place["kind"] == "joint" and not place["axis"]["off"])
    return {"do": "place", "what": {"joint": joint}, "axis": [0.02, 0.01, 1.0]}


def measure_model(desk: StudioDesk, name: str, rounds: int) -> None:
    """Print the rows of a model."""
    body, at = MODELS[name]
    page, steps, turn = Page(), itertools.count(1), find_turn(desk)
    show(f"scene at the start, {name}", measure(lambda: ask(desk, page, "place_scene"), rounds), None)
    cost = measure(lambda: ask(desk, page, "place_scene", gesture=turn), rounds)
    show(f"axis of a joint dragged, a picture, {name}", cost, None)

    def pull() -> None:
        goal = [0.1 + 0.002 * next(steps), 0.1, 0.0]
        ask(desk, page, "place_pull", body=body, at=at, goal=goal)

    show(f"body pulled, a picture, {name}", measure(pull, rounds), None)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer rounds")
    rounds = 3 if parser.parse_args().quick else 7
    print(ROW.format("", "processor", "clock", ""))
    with tempfile.TemporaryDirectory() as place:
        for name in MODELS:
            desk = make_desk(Path(place), (EXAMPLES / f"{name}.yaml").read_text(encoding="utf-8"))
            measure_model(desk, name, rounds)
            desk.close()


if __name__ == "__main__":
    main()
