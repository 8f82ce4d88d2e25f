"""Changes that may mend an error: the nearest name in the place of a wrong one, a reference, a joint to the world."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from kinode.errors import ModelError
from kinode.formats.editing.box_places import Box
from kinode.formats.editing.entry_places import EntryPlaces
from kinode.model.network.part import Part
from kinode.model.system import System


class Cure(NamedTuple):
    """A change that may mend a problem: what it does in words, and the gesture that does it."""

    words: str
    gesture: dict[str, Any]

    def inside(self, box: Box) -> Cure:
        """The same in a subsystem; edits of a text are those of the whole anyway."""
        if self.gesture["do"] == "text":
            return self
        return Cure(self.words, {"do": "in", "box": list(box), "gesture": self.gesture})


def find_cures(
    error: ModelError, places: EntryPlaces, system: System, span: tuple[int, int] | None
) -> tuple[Cure, ...]:  # fmt: skip
    """The cures that are known for an error."""
    cures = _nearest_names(error, places, span)
    component, field = error.component or "", error.field or ""
    part = system.declared.get(component)
    domain = part.ports().get(field) if isinstance(part, Part) else None
    if domain is not None and not any(domain.reference in cure.words.split() for cure in cures):
        gesture = {
            "do": "connect", "from": {"component": component, "port": field}, "to": {"reference": domain.reference},
        }  # fmt: skip
        cures.append(Cure(f"connect {component}.{field} to {domain.reference}", gesture))
    if component in system.bodies and not field:
        for kind, words in (("free", f"let {component} move freely"), ("fixed", f"fix {component} to the world")):
            fields = {"between": f"[world, {component}]"}
            cures.append(Cure(words, {"do": "add", "kind": kind, "fields": fields}))
    if places.section_of(component) == "joints" and component not in system.joints and not field:
        first = places.root.find(*places.field_path(component, ("a",)))
        if first is not None and first.value != "world":
            to: dict[str, Any] = {"reference": "world"}
            gesture = {"do": "connect", "from": {"component": component, "port": "1"}, "to": to}
            cures.append(Cure(f"join {component} to the world on its first side", gesture))
    if "kinode: 1" in error.message and not places.root.find("kinode") and not component:
        cures.append(Cure("write kinode: 1 at the top", {"do": "text", "edits": [[0, 0, "kinode: 1\n"]]}))
    return tuple(cures)


def _nearest_names(error: ModelError, places: EntryPlaces, span: tuple[int, int] | None) -> list[Cure]:
    """The wrong word replaced by each that may have been meant."""
    if error.suggestion is None or span is None:
        return []
    wrong, near = error.suggestion
    start, end = span
    whole = re.compile(rf"(?<![\w.]){re.escape(wrong)}(?!\w)").search(places.text, start, end)
    part = re.compile(rf"(?<=\.){re.escape(wrong)}(?!\w)").search(places.text, start, end)  # elbow.torque
    found = whole or part
    if found is None:
        entry = places.entry(places.field_path(error.component or "", (wrong,)))
        if entry is None:
            return []
        start, end = entry.start, entry.end
    else:
        start, end = found.span()
    return [Cure(f"write {word} instead of {wrong}", {"do": "text", "edits": [[start, end, word]]}) for word in near]
