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
from kinode.studio.view import make_documents

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "web" / "fixtures"
RATE = 300.0  # pictures for a second: those of the stored states
STATES = (0, 7, 23, 60)


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


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / "rotor.json").write_text(json.dumps(rotor_fixture(), indent=1) + "\n", encoding="utf-8")
