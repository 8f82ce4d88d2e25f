"""Everything of a model that its machine code depends on."""

from __future__ import annotations

import os
import sys
from typing import Any

from kinode.model.base.element import Element
from kinode.model.base.parameters import Input, Parameter, TableRecord
from kinode.structure.topology import Topology


def find_fingerprint(topology: Topology) -> str:
    """Everything of a model that its machine code depends on, as text; not values of parameters and initial values."""
    system = topology.system
    parts: list[Any] = [system.gravity, system.world.frames]
    for component in system.components.values():
        if isinstance(component, Parameter | Input):
            fixed = isinstance(component, Parameter) and not isinstance(component.value, float)
            parts.append((component.name, component.section, component.value if fixed else None))
        elif component.specs():
            given = component.given(aside=False)
            parts.append((component.name, component.section, component.kind, given))
            parts += [component.foreign_code] if isinstance(component, Element) and component.foreign_code else []
            parts.append(getattr(component, "declaration", None))  # of a type that a file or a call declares
            axes = [given.get("axis"), given.get("normal"), *given.get("axes", ())]
            # The choice of the helper axis depends on the values.
            parts += [[system.nominal(x) for x in v] for v in axes if v is not None and not isinstance(v, str)]
        elif isinstance(component, TableRecord) and component.table.exchangeable_data:
            table = component.table
            parts.append((component.name, component.section, table.shape, table.method, "exchangeable"))
        else:
            parts.append(component)
    if topology.network is not None:  # the choice of states depends on which initial values are given
        parts.append(topology.network.states)
    foreign = {type(c) for c in system.components.values() if not type(c).__module__.startswith("kinode.")}
    return repr(parts) + "".join(sorted(map(_source, foreign)))


def _source(cls: type) -> str:
    """The text of a plug-in's module, so that changed code is compiled again; without text it always is."""
    import inspect

    module = sys.modules.get(cls.__module__)
    try:
        if module is not None and getattr(module, "__file__", None):
            return inspect.getsource(module)
    except OSError:
        pass
    return os.urandom(16).hex()
