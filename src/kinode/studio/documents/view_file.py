"""``model.view.yaml``: where the parts of a model stand in the studio, and points through which its links run.

The file lies beside the model and is written when that is saved.  Without it parts are placed automatically.  It is
never needed to read the model, and never taken for one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from kinode.errors import Error
from kinode.formats.yaml_text import LARGEST_TEXT, Map, read_text
from kinode.formats.yaml_writer import write_scalar

ENDING = ".view.yaml"
VERSION = 1
FARTHEST = 1e6  # of a part from the origin
MOST_PLACES = 20_000
Point = tuple[float, float]


@dataclass(frozen=True)
class ModelView:
    """Positions of parts that were placed by hand, and waypoints of links; the names are those of the model."""

    places: Mapping[str, Point] = field(default_factory=dict)
    waypoints: Mapping[str, tuple[Point, ...]] = field(default_factory=dict)

    def moved(self, places: Mapping[str, Point]) -> ModelView:
        """With parts at other places."""
        return replace(self, places={**self.places, **places})

    def routed(self, link: str, points: tuple[Point, ...] | None) -> ModelView:
        """With other waypoints of a link; none: its line is found automatically."""
        others = {name: given for name, given in self.waypoints.items() if name != link}
        return replace(self, waypoints=others if not points else {**others, link: points})

    def renamed(self, names: Mapping[str, str]) -> ModelView:
        """With other names; those of what is in a subsystem begin with the name of that."""

        def new(name: str) -> str:
            head = name
            while head not in names and "." in head:
                head = head.rpartition(".")[0]
            return names[head] + name[len(head) :] if head in names else name

        return ModelView(
            {new(name): at for name, at in self.places.items()},
            {new(name): points for name, points in self.waypoints.items()},
        )

    def without(self, prefix: str) -> ModelView:
        """Without the places and waypoints of a subsystem; an empty prefix is that of the whole."""
        return ModelView(
            {name: at for name, at in self.places.items() if not name.startswith(prefix)},
            {name: points for name, points in self.waypoints.items() if not name.startswith(prefix)},
        )

    def inside(self, prefix: str) -> ModelView:
        """The places and waypoints of a subsystem, by the names in it."""
        if not prefix:
            return self
        cut = len(prefix)
        return ModelView(
            {name[cut:]: at for name, at in self.places.items() if name.startswith(prefix)},
            {name[cut:]: points for name, points in self.waypoints.items() if name.startswith(prefix)},
        )

    def __bool__(self) -> bool:
        return bool(self.places or self.waypoints)


def view_path(file: Path) -> Path:
    """The file beside a model that says where its parts stand."""
    return file.with_name(f"{file.stem}{ENDING}")


def read_view(file: Path) -> ModelView:
    """The view beside a model, empty where there is none; what cannot be read is an Error that names the file."""
    path = view_path(file)
    try:
        if not path.is_file():
            return ModelView()
        if path.stat().st_size > LARGEST_TEXT:
            raise Error(f"{path.name}: the file is too large")
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        raise Error(f"{path.name}: cannot be read: {getattr(error, 'strerror', None) or error}") from None
    return parse_view(text, path.name)


def parse_view(text: str, name: str = "view") -> ModelView:
    """The view in a text."""
    data = read_text(text, name)
    if not isinstance(data, Map) or data.get("kinode_view") != VERSION:
        raise Error(f"{name}: the positions of parts begin with kinode_view: {VERSION}")
    places = _mapping(data.get("places"), f"{name}: places")
    lines = _mapping(data.get("links"), f"{name}: links")
    if len(places) + len(lines) > MOST_PLACES:
        raise Error(f"{name}: more than {MOST_PLACES} places")
    return ModelView(
        {part: read_point(at, f"{name}: {part}") for part, at in places.items()},
        {link: read_points(points, f"{name}: {link}") for link, points in lines.items()},
    )


def write_view(view: ModelView, model: str) -> str:
    """The text of a view file."""
    lines = [
        f"# Where the parts of {model} stand in the studio; without this file they are placed automatically.",
        f"kinode_view: {VERSION}",
    ]
    if view.places:
        lines.append("places:")
        lines += [f"  {write_scalar(name)}: [{x:g}, {y:g}]" for name, (x, y) in sorted(view.places.items())]
    if view.waypoints:
        lines.append("links:")
        for name, points in sorted(view.waypoints.items()):
            shown = ", ".join(f"[{x:g}, {y:g}]" for x, y in points)
            lines.append(f"  {write_scalar(name)}: [{shown}]")
    return "\n".join([*lines, ""])


def read_point(raw: Any, where: str) -> Point:
    """A position [x, y] from a file or a page."""
    numbers = isinstance(raw, list | tuple) and len(raw) == 2
    if not numbers or not all(isinstance(x, int | float) and not isinstance(x, bool) for x in raw):
        raise Error(f"{where}: a position is [x, y], not {raw!r:.60}")
    if not all(math.isfinite(x) and abs(x) <= FARTHEST for x in raw):
        raise Error(f"{where}: [{raw[0]:g}, {raw[1]:g}] is too far away")
    return float(raw[0]), float(raw[1])


def read_points(raw: Any, where: str) -> tuple[Point, ...]:
    """Several positions."""
    if not isinstance(raw, list | tuple):
        raise Error(f"{where}: a list of positions is expected, not {raw!r:.60}")
    return tuple(read_point(point, where) for point in raw)


def _mapping(raw: Any, where: str) -> Mapping[str, Any]:
    if raw is None:
        return {}
    if not isinstance(raw, Mapping):
        raise Error(f"{where} are a mapping of names")
    return raw
