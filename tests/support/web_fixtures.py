"""Fixtures of the page's tests: a run as the player gets it, with numbers that kinode gives for it.

    python tests/support/web_fixtures.py

writes ``web/fixtures``.  ``tests/studio/test_web_fixtures.py`` checks that they are what kinode gives now, and
``web/test/fixtures.test.ts`` that the page's own code finds the same numbers from the packet.
"""

import base64
import json
import zlib
from pathlib import Path

import kinode as kn
from kinode.player.run_document import make_documents
from kinode.views.diagram.box_geometry import words_at
from kinode.views.diagram.circuit_graph import CircuitGraph
from kinode.views.diagram.circuit_layout import Layout
from kinode.views.diagram.link_routing import Router, port_point

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "web" / "fixtures"
RATE = 300.0  # pictures for a second: those of the stored states
STATES = (0, 7, 23, 60)
# Circuits whose links are routed on both sides, by example and width of a page: chains, loops, networks, crossings.
ROUTED = {
    "rlc": None, "pendulum": None, "motor_axis": 720.0, "backlash_axis": None, "balanced_pole": None,
    "slider_crank": 720.0, "excavator": 720.0, "quadcopter": None, "ship_gimbal": None, "stewart_platform": 720.0,
    "walker": None, "warm_motor": None,
}  # fmt: skip
LED = "rlc, led through waypoints"
WAYPOINTS = {"supply": [(20.0, 10.0), (100.0, 0.0)], "top": [(370.0, 140.0), (500.0, 140.0)], "middle": [(180.0, 50.0)]}


def rotor_fixture():
    """An overhung rotor: loads of its shaft in the joint's axes, and around the shaft."""
    run = kn.simulate(kn.load(ROOT / "examples" / "rotor.yaml"), 0.2, samples=61)
    packet = make_documents([run], rate=RATE)[0].packet(encoded=True)
    numbers = {}
    for part in ("total", "static", "kinetic"):
        wrench, pressure = run.reaction("shaft", part=part), run.pressure("shaft", part=part)
        arrays = {"force": wrench.force, "moment": wrench.moment, "fixed": pressure.fixed, "turning": pressure.turning}
        numbers[part] = {name: array[list(STATES)].round(9).tolist() for name, array in arrays.items()}
    content = {"joint": "shaft", "t": run.t[list(STATES)].tolist(), "numbers": numbers}
    return content | {"packet": base64.b64encode(zlib.compress(packet, 9)).decode("ascii")}


def route_fixtures():
    """Laid-out circuits as the page's router takes them, with the lines that kinode routes."""
    routed = {name: routed_circuit(ROOT / "examples" / f"{name}.yaml", width) for name, width in ROUTED.items()}
    return routed | {LED: routed_circuit(ROOT / "examples" / "rlc.yaml", 600.0, WAYPOINTS)}


def routed_circuit(file, width, waypoints=None):
    circuit = CircuitGraph(kn.load(file))
    Layout(circuit, width)
    for name, points in (waypoints or {}).items():
        circuit.links[name].waypoints = points
    crossings = Router(circuit).route()
    boxes = [
        {
            "name": box.name, "role": box.role, "spine": box.spine,
            "at": [box.x, box.y], "size": [box.width, box.height],
            "rooms": [list(room) for room in words_at(box).values()],
            "ports": [
                {"name": port.name, "side": port.side, "at": list(port_point(box, port)), "reference": port.reference}
                for port in box.ports.values() if port.side
            ],
        }
        for box in circuit.boxes.values()
    ]  # fmt: skip
    links, lines = [], {}
    for link in circuit.links.values():
        ends = [{"component": box.name, "port": port.name} for box, port in link.ends]
        links.append(
            {"name": link.name, "kind": link.kind, "ends": ends, "waypoints": [list(at) for at in link.waypoints]}
        )
        lines[link.name] = {
            "path": [[list(point) for point in line] for line in link.path],
            "dots": [list(point) for point in link.dots],
        }
    return {"plan": {"boxes": boxes, "links": links}, "lines": lines, "crossings": crossings}


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / "routes.json").write_text(json.dumps(route_fixtures()) + "\n", encoding="utf-8")
    (FOLDER / "rotor.json").write_text(json.dumps(rotor_fixture(), indent=1) + "\n", encoding="utf-8")
