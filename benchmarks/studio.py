"""The studio's server: what a change costs, from the gesture to the problems, the sketch and the new run.

Milliseconds; the least of several, of processor time and of the time on the clock, which other programs lengthen.
Models: a ladder of resistors, coils and capacitors and a row of driven axes, motor_axis, a UR5 with six drives.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from kinode.studio.document.document_files import new_file, open_file
from kinode.studio.editor.studio_desk import StudioDesk
from kinode.studio.server.session import Session

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
ROW = "{:44} {:>12} {:>12} {:>10}"
OPEN = "{kind: resistor, plus: nowhere, minus: gnd, resistance: 1 Ohm}"
HEAD = "kinode: 1\nname: model\n"


class Cost(NamedTuple):
    """Milliseconds of processor and clock."""

    processor: float
    clock: float


def ladder(count: int) -> str:
    """A network of so many parts."""
    lines = [f"{HEAD}elements:", "  source: {kind: voltage_source, plus: n0, minus: gnd, voltage: 12 V}"]
    for k in range((count - 1) // 3):
        lines += [
            f"  wire{k}: {{kind: resistor, plus: n{k}, minus: m{k}, resistance: 10 Ohm}}",
            f"  coil{k}: {{kind: inductor, plus: m{k}, minus: n{k + 1}, inductance: 1 mH}}",
            f"  tank{k}: {{kind: capacitor, plus: n{k + 1}, minus: gnd, capacitance: 1 uF}}",
        ]
    return "\n".join([*lines, "run: {until: 1 ms}", ""])


def axes(count: int) -> str:
    """Arms of six driven axes each, nine components an axis."""
    parts: dict[str, list[str]] = {"bodies": [], "joints": [], "signals": [], "elements": []}
    for k in range(count // 9):
        before = "world" if k % 6 == 0 else f"link{k - 1}.tip"
        solid = "mass: 1, com: [0.2, 0, 0], inertia: [0.1, 0.1, 0.1], frames: {tip: [0.4, 0, 0]}"
        parts["bodies"].append(f"link{k}: {{{solid}}}")
        parts["joints"].append(f"joint{k}: {{kind: revolute, between: [{before}, link{k}], axis: y, damping: 0.1}}")
        parts["signals"].append(f"target{k}: smoothstep(t, 0, 1)")
        parts["elements"] += [
            f"battery{k}: {{kind: battery, plus: bus{k}, minus: gnd, voltage: 24 V, resistance: 50 mOhm}}",
            f"bridge{k}: {{kind: bridge, plus: bus{k}, minus: gnd, second_plus: coil{k}, second_minus: gnd, "
            f"modulation: control{k}.output}}",
            f"control{k}: {{kind: pid, target: target{k}, measured: joint{k}.q, proportional: 2, limits: [-1, 1]}}",
            f"motor{k}: {{kind: dc_motor, plus: coil{k}, minus: gnd, shaft: rotor{k}, resistance: 1 Ohm, "
            f"constant: 50 mN*m/A, inertia: 1e-5 kg*m^2}}",
            f"gear{k}: {{kind: gearbox, input: rotor{k}, output: joint{k}, ratio: 50}}",
        ]
    body = [f"{section}:\n" + "\n".join(f"  {line}" for line in lines) for section, lines in parts.items()]
    return "\n".join([HEAD.rstrip(), *body, "run: {until: 0.1 s}", ""])


def driven_ur5() -> str:
    """The UR5 of the examples with a motor, a gear and a controller in each joint."""
    text = (EXAMPLES / "ur5.yaml").read_text(encoding="utf-8")
    lines = []
    for k, joint in enumerate(("base", "shoulder", "elbow", "wrist_1", "wrist_2", "wrist_3")):
        lines += [
            f"  drive_{k}: {{kind: dc_motor, plus: coil_{k}, minus: gnd, shaft: rotor_{k}, resistance: 1 Ohm, "
            f"constant: 50 mN*m/A, inertia: 1e-5 kg*m^2}}",
            f"  supply_{k}: {{kind: voltage_source, plus: coil_{k}, minus: gnd, voltage: -20*{joint}.q}}",
            f"  gear_{k}: {{kind: gearbox, input: rotor_{k}, output: {joint}, ratio: 100}}",
        ]
    return "\n".join([text.rstrip(), "elements:", *lines, ""])


def measure(work: Callable[[], None], rounds: int) -> Cost:
    """The least of several rounds."""
    found = []
    for _ in range(rounds):
        processor, clock = time.process_time(), time.perf_counter()
        work()
        found.append((1e3 * (time.process_time() - processor), 1e3 * (time.perf_counter() - clock)))
    return Cost(min(x for x, _ in found), min(x for _, x in found))


def show(words: str, cost: Cost, asked: float | None) -> None:
    """Print a row."""
    print(ROW.format(words, f"{cost.processor:.0f}", f"{cost.clock:.0f}", "" if asked is None else f"{asked:.0f}"))


def make_desk(folder: Path, text: str) -> StudioDesk:
    """A desk with a model, its first run awaited."""
    desk = StudioDesk(Session(), new_file(folder, text), folder)
    desk.checker.wait(600)
    return desk


class Flip:
    """A gesture, and its opposite, in turn."""

    def __init__(self, desk: StudioDesk, one: dict[str, Any], other: dict[str, Any]) -> None:
        self.desk, self.gestures = desk, (one, other)
        self.turn = 0

    def change(self) -> None:
        """Make the change; what follows from it goes on in the background."""
        self.desk.changed(self.desk.document.gesture(self.gestures[self.turn]))
        self.turn = 1 - self.turn

    def check(self) -> None:
        """Make it, and wait for problems and sketch."""
        self.change()
        self.desk.checker.wait_checked()

    def run(self) -> None:
        """Make it, and wait for the run."""
        self.change()
        if not self.desk.checker.wait(600) or not self.desk.live.is_right:
            raise SystemExit("the model does not run")


def set_number(name: str, field: str, value: str) -> dict[str, Any]:
    """The gesture that sets a field."""
    return {"do": "set", "name": name, "path": [field], "value": value}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer rounds")
    rounds = 3 if parser.parse_args().quick else 7
    print(ROW.format("", "processor", "clock", "asked"))
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for count, asked in ((30, 100.0), (300, 500.0)):
            for name, text, part in (
                ("network", ladder(count), ("wire1", "resistance")), ("axes", axes(count), ("motor1", "inertia")),
            ):  # fmt: skip
                unfinished = text.replace("elements:", f"elements:\n  open: {OPEN}", 1)  # is checked, and not run
                desk = StudioDesk(Session(read_only=True), new_file(folder, unfinished), folder)
                desk.checker.wait_checked()
                unit = "Ohm" if name == "network" else "kg*m^2"
                flip = Flip(desk, set_number(*part, f"2e-5 {unit}"), set_number(*part, f"3e-5 {unit}"))
                show(f"check of a change, {count} components, {name}", measure(flip.check, rounds), asked)
                desk.close()
                path = folder / f"{name}{count}.yaml"
                path.write_text(unfinished)
                show(f"open, {count} components, {name}", measure(lambda path=path: _open(path), 3), 2000.0)
        spring = {"kind": "shaft_damper", "name": "extra", "fields": {"a": "rotor", "b": "world", "damping": "1e-5"}}
        add, take = {"do": "add", **spring}, {"do": "delete", "names": ["extra"]}
        desk = make_desk(folder, (EXAMPLES / "motor_axis.yaml").read_text(encoding="utf-8"))
        show("structural change to new run, motor_axis", measure(Flip(desk, add, take).run, rounds), 400.0)
        desk.close()
        desk = make_desk(folder, driven_ur5())
        fields = {"a": "rotor_2", "b": "world", "damping": "1e-5"}
        flip = Flip(desk, {"do": "add", **spring, "fields": fields}, take)
        show("structural change to new run, UR5 with six axes", measure(flip.run, max(3, rounds // 2)), 1500.0)
        desk.close()


def _open(path: Path) -> None:
    """Open a model: its text, problems, sketch and catalogue, without its run."""
    desk = StudioDesk(Session(read_only=True), open_file(path), path.parent)
    desk.checker.wait_checked()
    desk.opened()
    desk.close()


if __name__ == "__main__":
    main()
