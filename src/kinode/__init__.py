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
    "box": "kinode.model.base.bodies",
    "cylinder": "kinode.model.base.bodies",
    "sphere": "kinode.model.base.bodies",
    "rod": "kinode.model.base.bodies",
    "coulomb": "kinode.model.joints.coulomb_friction",
    "sea_state": "kinode.model.environment.sea",
    "axis": "kinode.model.servo_axis",
    "load": "kinode.formats.load",
    "schema": "kinode.formats.json_schema",
    # functions for laws in Python
    **dict.fromkeys(
        ("sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "exp", "log", "sqrt",
         "sign", "minimum", "maximum", "where", "floor", "absolute"), "kinode.algebra.scalars"),
    **dict.fromkeys(
        ("air_density", "air_pressure", "air_temperature", "air_sound_speed", "air_viscosity"),
        "kinode.model.environment.atmosphere"),
    # compile and solve
    "compile": "kinode.dynamics.compile",
    "Dynamics": "kinode.dynamics.compiled_system",
    "State": "kinode.kernels.state",
    "Wrench": "kinode.kernels.state",
    "simulate": "kinode.tasks.simulate",
    "inverse": "kinode.tasks.inverse",
    "verify": "kinode.tasks.verify",
    "equations": "kinode.symbolic.equations_of_motion",
    "explain": "kinode.symbolic.explain",
    "equilibrium": "kinode.tasks.equilibrium",
    "linearize": "kinode.tasks.linearize",
    "mobility": "kinode.tasks.mobility",
    "operating_space": "kinode.tasks.operating_space",
    "assemble": "kinode.tasks.assemble",
    # results
    "Trajectory": "kinode.results.trajectory",
    "diagram": "kinode.views.diagram.circuit_diagram",
    # errors
    **dict.fromkeys(
        ("Error", "ArgumentError", "ModelError", "LawError", "UnitError", "AssemblyError", "SimulationError"),
        "kinode.errors"),
    # extend
    "fields": "kinode.model.base.fields",
    "Joint": "kinode.model.joints.joint",
    "AxialJoint": "kinode.model.joints.joint",
    "Element": "kinode.model.base.element",
    "Load": "kinode.model.base.element",
    **dict.fromkeys(("Root", "Sampler", "exact_seconds"), "kinode.model.base.events"),
    **dict.fromkeys(("Part", "Row", "Unknown", "Formula", "port"), "kinode.model.network.part"),
    **dict.fromkeys(("TwoPole", "TwoShaft", "TwoSlide"), "kinode.model.network.two_port"),
    **dict.fromkeys(("number", "law"), "kinode.model.base.fields"),
    "Pose": "kinode.algebra.spatial",
    "turn_about": "kinode.algebra.spatial",
    "register": "kinode.model.registration",
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
    from kinode.dynamics.compile import compile as compile
    from kinode.dynamics.compiled_system import Dynamics as Dynamics
    from kinode.kernels.state import State as State
    from kinode.kernels.state import Wrench as Wrench
    from kinode.model.system import System as System
    from kinode.results.trajectory import Trajectory as Trajectory
    from kinode.tasks.assemble import assemble as assemble
    from kinode.tasks.simulate import simulate as simulate
