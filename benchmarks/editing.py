"""Editing a model's text: what a check and a gesture cost, for circuits of 30 and 300 components.

Processor time in milliseconds, the least of several.  Each check is of a text that was never seen, after a change of
one entry; each gesture is planned for a text that has been checked, as it is in the studio.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from kinode.editing.checked_text import check_text
from kinode.editing.gestures import plan_gesture
from kinode.editing.spans import apply_edits
from kinode.formats.yaml_files import loads

ROUNDS = 5
ASKED = {30: 100.0, 300: 500.0}
GESTURES: dict[str, dict[str, Any]] = {
    "set": {"do": "set", "name": "r3", "path": ["resistance"], "value": "{} Ohm"},
    "add": {"do": "add", "kind": "resistor", "name": "new_{}"},
    "connect": {
        "do": "connect",
        "from": {"component": "r5", "port": "plus"},
        "to": {"component": "c2", "port": "plus"},
    },
    "delete": {"do": "delete", "names": ["r5"]},
    "rename": {"do": "rename", "name": "r5", "to": "other_{}"},
    "duplicate": {"do": "duplicate", "names": ["r5", "c5"]},
}


def ladder(count: int) -> str:
    """A ladder of resistors, capacitors and coils."""
    lines = ["kinode: 1", "name: ladder", "elements:"]
    for k in range(count // 3):
        lines += [
            f"  r{k}: {{kind: resistor, plus: n{k}, minus: n{k + 1}, resistance: 20 Ohm}}",
            f"  c{k}: {{kind: capacitor, plus: n{k + 1}, minus: gnd, capacitance: 10 uF}}",
            f"  l{k}: {{kind: inductor, plus: n{k}, minus: gnd, inductance: 10 mH}}",
        ]
    return "\n".join(lines) + "\n"


def least(works: Iterator[Callable[[], Any]]) -> float:
    """The least processor time of several pieces of work, in milliseconds."""
    times = []
    for _ in range(ROUNDS):
        work = next(works)
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return 1e3 * min(times)


def filled(gesture: dict[str, Any], k: int) -> dict[str, Any]:
    """A gesture with a number in its texts, so that no two rounds are the same."""
    return {key: value.format(k) if isinstance(value, str) else value for key, value in gesture.items()}


def changed_texts(text: str) -> Iterator[Callable[[], Any]]:
    """Checks of texts in which one number is another each time."""
    k = 0
    while True:
        k += 1
        new = text.replace("20 Ohm", f"{20 + k} Ohm", 1)
        yield lambda new=new: check_text(new)


def planned(text: str, gesture: dict[str, Any]) -> Iterator[Callable[[], Any]]:
    """A gesture at texts that were checked before."""
    k = 0
    while True:
        k += 1
        before = text.replace("20 Ohm", f"{50 + k} Ohm", 1)
        checked = check_text(before)
        asked = filled(gesture, k)
        yield lambda asked=asked, before=before, checked=checked: apply_edits(
            before, plan_gesture(before, asked, None, checked).edits
        )


def main() -> None:
    for count, limit in ASKED.items():
        text = ladder(count)
        loads(text)
        whole = least(iter([partial(loads, text)] * ROUNDS))
        check = least(changed_texts(text))
        print(f"{count} components: kn.loads {whole:.0f} ms, check {check:.0f} ms (asked for {limit:.0f})")
        for name, gesture in GESTURES.items():
            print(f"    {name:10} {least(planned(text, gesture)):6.1f} ms")


if __name__ == "__main__":
    main()
