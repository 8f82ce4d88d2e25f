"""What the pages ask about subsystems.

=============  ==============================  ==================================================================
kind           fields                          answer
=============  ==============================  ==================================================================
box_sketch     box                             box, version, sketch of the inside; null while the text cannot be read
=============  ==============================  ==================================================================

``box`` is the list of subsystems that lead to the open one.  A gesture inside it is ``{do: "in", box, gesture}``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinode.studio.live_pages.session import Answer, Job

if TYPE_CHECKING:
    from kinode.studio.drawing.studio_desk import StudioDesk


def add_box_answers(desk: StudioDesk) -> None:
    """Let a desk answer what pages ask about subsystems."""

    def box_sketch(job: Job) -> Answer:
        version = desk.version(job)
        found = desk.checker.now(version)
        sketch = desk.checker.sketch(version) if found.checked.readable else None
        return {"box": list(version.box), "version": version.version, "sketch": sketch}

    desk.session.handle("box_sketch", box_sketch, lane="box_sketch")
