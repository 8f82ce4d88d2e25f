"""What all importers share when they add a body: an inertia that no body can have is kept and noted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kinode.errors import ModelError
from kinode.model.system import System


def add_body(system: System, name: str, fields: Mapping[str, Any]) -> None:
    """Add a body; what its file says of its inertia is taken as it is."""
    try:
        system.body(name, **fields)
    except ModelError as error:
        if error.field != "inertia":
            raise
        system.body(name, **fields, physical=False)
        system.notes.append(f"{name}: the inertia is kept, though {error.message}")
