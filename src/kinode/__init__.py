"""kinode: from the description of a mechanism to its motion and the loads in its joints.

    import kinode as kn

    arm = kn.System("arm", gravity=(0, -9.81, 0))
    ...
    run = kn.simulate(arm, 10.0)
    run["elbow.reaction.force"]

What is listed here is the public face; everything else is private.  Names are imported when first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from kinode.version import __version__

# name -> module, in reading order
_FACE = {
    # describe
    "System": "kinode.model.system",
    "box": "kinode.model.bodies",
    "cylinder": "kinode.model.bodies",
    "sphere": "kinode.model.bodies",
    "rod": "kinode.model.bodies",
    "coulomb": "kinode.model.friction",
    "sea_state": "kinode.model.sea",
    "axis": "kinode.model.axes",
    "load": "kinode.formats",
    "schema": "kinode.formats.schema",
    # functions for laws in Python
    **dict.fromkeys(
        ("sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "exp", "log", "sqrt",
         "sign", "minimum", "maximum", "where", "floor", "absolute"), "kinode.algebra.scalars"),
    **dict.fromkeys(
        ("air_density", "air_pressure", "air_temperature", "air_sound_speed", "air_viscosity"),
        "kinode.algebra.atmosphere"),
    # compile and solve
    "compile": "kinode.codegen.dynamics",
    "Dynamics": "kinode.codegen.dynamics",
    "State": "kinode.codegen.records",
    "Wrench": "kinode.codegen.records",
    "simulate": "kinode.results.simulate",
    "inverse": "kinode.results.inverse",
    "verify": "kinode.results.verify",
    "equations": "kinode.codegen.equations",
    "explain": "kinode.codegen.explain",
    "equilibrium": "kinode.solve.equilibrium",
    "linearize": "kinode.solve.linearize",
    "mobility": "kinode.results.mobility",
    "operating_space": "kinode.results.operating_space",
    "assemble": "kinode.solve.assemble",
    # results
    "Trajectory": "kinode.results.trajectory",
    "diagram": "kinode.views.diagram",
    # errors
    **dict.fromkeys(
        ("Error", "ArgumentError", "ModelError", "LawError", "UnitError", "AssemblyError", "SimulationError"),
        "kinode.errors"),
    # extend
    "fields": "kinode.model.fields",
    "Joint": "kinode.model.joints",
    "AxialJoint": "kinode.model.joints",
    "Element": "kinode.model.elements",
    "Load": "kinode.model.elements",
    **dict.fromkeys(("Root", "Sampler", "exact_seconds"), "kinode.model.events"),
    **dict.fromkeys(("Part", "Row", "Unknown", "Formula", "port"), "kinode.model.part"),
    **dict.fromkeys(("TwoPole", "TwoShaft", "TwoSlide"), "kinode.model.ends"),
    **dict.fromkeys(("number", "law"), "kinode.model.fields"),
    "Pose": "kinode.algebra.spatial",
    "turn_about": "kinode.algebra.spatial",
    "register": "kinode.model.registry",
}  # fmt: skip

__all__ = ["__version__", *_FACE]


def __getattr__(name: str) -> Any:
    if name not in _FACE:
        raise AttributeError(f"module 'kinode' has no attribute {name!r}")
    module = importlib.import_module(_FACE[name])
    value = getattr(module, name, module)  # fields is a module itself
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__


if TYPE_CHECKING:
    from kinode.codegen.dynamics import Dynamics as Dynamics
    from kinode.codegen.dynamics import compile as compile
    from kinode.codegen.records import State as State
    from kinode.codegen.records import Wrench as Wrench
    from kinode.model.system import System as System
    from kinode.results.simulate import simulate as simulate
    from kinode.results.trajectory import Trajectory as Trajectory
    from kinode.solve.assemble import assemble as assemble
