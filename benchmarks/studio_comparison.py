"""Comparing in the studio: what the server needs to compare its model with another one, and to show what is gone in 3D.

Milliseconds; the least of several, of processor time and of the time on the clock.  The other model has another number
and one part less.
"""

from __future__ import annotations

import argparse
import re
import tempfile
from pathlib import Path
from typing import Any

from kinode.studio.document.document_files import new_file
from kinode.studio.editor.studio_desk import StudioDesk
from kinode.studio.server.session import Job, Session
from studio import EXAMPLES, ROW, axes, ladder, measure, show


def ask(desk: StudioDesk, kind: str, **fields: Any) -> Any:
    """What the server answers."""
    page: Any = None
    return desk.session.handler_of(kind)(Job(1, kind, fields, page))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer rounds")
    rounds = 3 if parser.parse_args().quick else 7
    print(ROW.format("", "processor", "clock", ""))
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for count in (30, 300):
            for name, text in (("network", ladder(count)), ("axes", axes(count))):
                other = {
                    "text": re.sub(r"\n  (wire1|target1): .*", "", text).replace("10 Ohm", "11 Ohm", 1),
                    "label": "x",
                }
                desk = StudioDesk(Session(read_only=True), new_file(folder, text), folder)
                desk.checker.wait_checked()
                cost = measure(lambda desk=desk, other=other: ask(desk, "compare", other=other), rounds)
                show(f"comparison, {count} components, {name}", cost, None)
                desk.close()
        text = (EXAMPLES / "four_bar.yaml").read_text(encoding="utf-8")
        more = text.replace(
            "\njoints:", "\n  extra: {mass: 1}\njoints:\n  held: {kind: fixed, between: [world, extra]}", 1
        )
        desk = StudioDesk(Session(read_only=True), new_file(folder, text), folder)
        desk.checker.wait_checked()
        other = {"text": more, "label": "x"}
        show("what is gone in 3D, four_bar", measure(lambda: ask(desk, "compare_scene", other=other), rounds), None)
        desk.close()


if __name__ == "__main__":
    main()
