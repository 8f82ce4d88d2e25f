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

from kinode.paused_collection import paused_collection
from kinode.version import __version__

# name -> module, in reading order
_FACE = {
    # describe
    "System": "kinode.model.system",
    "box": "kinode.model.base.shapes",
    "cylinder": "kinode.model.base.shapes",
    "sphere": "kinode.model.base.shapes",
    "rod": "kinode.model.base.shapes",
    "mesh": "kinode.model.base.shapes",
    "coulomb": "kinode.model.joints.coulomb_friction",
    "sea_state": "kinode.model.environment.sea",
    "axis": "kinode.model.servo_axis",
    "load": "kinode.formats.load",
    "loads": "kinode.formats.load",
    "schema": "kinode.formats.json_schema",
    # functions for laws in Python
    **dict.fromkeys(
        ("sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "exp", "log", "sqrt",
         "sign", "minimum", "maximum", "where", "floor", "mod", "absolute"), "kinode.algebra.scalars"),
    **dict.fromkeys(
        ("air_density", "air_pressure", "air_temperature", "air_sound_speed", "air_viscosity"),
        "kinode.model.environment.atmosphere"),
    # compile and solve
    "compile": "kinode.dynamics.compile",
    "Dynamics": "kinode.dynamics.compiled_system",
    "State": "kinode.kernels.state",
    "Wrench": "kinode.kernels.state",
    "simulate": "kinode.tasks.simulate",
    "sweep": "kinode.studies.sweep",
    "identify": "kinode.studies.fits.identify",
    **dict.fromkeys(("normal", "uniform", "between"), "kinode.studies.design"),
    "inverse": "kinode.tasks.inverse",
    "verify": "kinode.tasks.verify",
    "equations": "kinode.symbolic.equations",
    "explain": "kinode.symbolic.explain",
    "circuit": "kinode.symbolic.circuit.whole_circuit",
    "equilibrium": "kinode.tasks.equilibrium",
    "linearize": "kinode.tasks.linearize",
    "mobility": "kinode.tasks.mobility",
    "operating_space": "kinode.tasks.operating_space",
    "assemble": "kinode.tasks.assemble",
    "compare": "kinode.results.compare",
    "export": "kinode.exporters.export",
    # results
    "Trajectory": "kinode.results.trajectory",
    "Study": "kinode.studies.study",
    "Fit": "kinode.studies.fits.fit_result",
    "diagram": "kinode.views.diagram.circuit_diagram",
    # errors
    **dict.fromkeys(
        ("Error", "ArgumentError", "ModelError", "LawError", "UnitError", "AssemblyError", "SimulationError",
         "ExportWarning", "GuessWarning", "LongRunWarning", "RunWarning", "SensitivityWarning"),
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
    "register": "kinode.model.base.kinds",
    "register_domain": "kinode.model.network.declared_domains",
}  # fmt: skip

__all__ = ["__version__", *_FACE]


def _find(name: str) -> Any:
    """The public object of a name; found once, it is a global of this module."""
    if name not in _FACE:
        raise AttributeError(_unknown(name))
    with paused_collection():
        module = importlib.import_module(_FACE[name])
    value = getattr(module, name, module)  # fields is a module itself
    globals()[name] = value
    return value


def _unknown(name: str) -> str:
    """The message about a name that is not public, with the nearest that are."""
    from kinode.errors import find_close, suggest

    near = [] if name.startswith("_") else find_close(name, _FACE, 2, 0.7)
    return suggest(f"module 'kinode' has no attribute {name!r}", name, near)


def __dir__() -> list[str]:
    return __all__


if not TYPE_CHECKING:  # for whom every name that is not here is a mistake
    __getattr__ = _find

# for type checkers: written by tools/write_stubs.py
if TYPE_CHECKING:
    from kinode.algebra.scalars import absolute as absolute
    from kinode.algebra.scalars import acos as acos
    from kinode.algebra.scalars import asin as asin
    from kinode.algebra.scalars import atan as atan
    from kinode.algebra.scalars import atan2 as atan2
    from kinode.algebra.scalars import cos as cos
    from kinode.algebra.scalars import cosh as cosh
    from kinode.algebra.scalars import exp as exp
    from kinode.algebra.scalars import floor as floor
    from kinode.algebra.scalars import log as log
    from kinode.algebra.scalars import maximum as maximum
    from kinode.algebra.scalars import minimum as minimum
    from kinode.algebra.scalars import mod as mod
    from kinode.algebra.scalars import sign as sign
    from kinode.algebra.scalars import sin as sin
    from kinode.algebra.scalars import sinh as sinh
    from kinode.algebra.scalars import sqrt as sqrt
    from kinode.algebra.scalars import tan as tan
    from kinode.algebra.scalars import tanh as tanh
    from kinode.algebra.scalars import where as where
    from kinode.algebra.spatial import Pose as Pose
    from kinode.algebra.spatial import turn_about as turn_about
    from kinode.dynamics.compile import compile as compile
    from kinode.dynamics.compiled_system import Dynamics as Dynamics
    from kinode.errors import ArgumentError as ArgumentError
    from kinode.errors import AssemblyError as AssemblyError
    from kinode.errors import Error as Error
    from kinode.errors import ExportWarning as ExportWarning
    from kinode.errors import GuessWarning as GuessWarning
    from kinode.errors import LawError as LawError
    from kinode.errors import LongRunWarning as LongRunWarning
    from kinode.errors import ModelError as ModelError
    from kinode.errors import RunWarning as RunWarning
    from kinode.errors import SensitivityWarning as SensitivityWarning
    from kinode.errors import SimulationError as SimulationError
    from kinode.errors import UnitError as UnitError
    from kinode.exporters.export import export as export
    from kinode.formats.json_schema import schema as schema
    from kinode.formats.load import load as load
    from kinode.formats.load import loads as loads
    from kinode.kernels.state import State as State
    from kinode.kernels.state import Wrench as Wrench
    from kinode.model.base import fields as fields
    from kinode.model.base.element import Element as Element
    from kinode.model.base.element import Load as Load
    from kinode.model.base.events import Root as Root
    from kinode.model.base.events import Sampler as Sampler
    from kinode.model.base.events import exact_seconds as exact_seconds
    from kinode.model.base.fields import law as law
    from kinode.model.base.fields import number as number
    from kinode.model.base.kinds import register as register
    from kinode.model.base.shapes import box as box
    from kinode.model.base.shapes import cylinder as cylinder
    from kinode.model.base.shapes import mesh as mesh
    from kinode.model.base.shapes import rod as rod
    from kinode.model.base.shapes import sphere as sphere
    from kinode.model.environment.atmosphere import air_density as air_density
    from kinode.model.environment.atmosphere import air_pressure as air_pressure
    from kinode.model.environment.atmosphere import air_sound_speed as air_sound_speed
    from kinode.model.environment.atmosphere import air_temperature as air_temperature
    from kinode.model.environment.atmosphere import air_viscosity as air_viscosity
    from kinode.model.environment.sea import sea_state as sea_state
    from kinode.model.joints.coulomb_friction import coulomb as coulomb
    from kinode.model.joints.joint import AxialJoint as AxialJoint
    from kinode.model.joints.joint import Joint as Joint
    from kinode.model.network.declared_domains import register_domain as register_domain
    from kinode.model.network.part import Formula as Formula
    from kinode.model.network.part import Part as Part
    from kinode.model.network.part import Row as Row
    from kinode.model.network.part import Unknown as Unknown
    from kinode.model.network.part import port as port
    from kinode.model.network.two_port import TwoPole as TwoPole
    from kinode.model.network.two_port import TwoShaft as TwoShaft
    from kinode.model.network.two_port import TwoSlide as TwoSlide
    from kinode.model.servo_axis import axis as axis
    from kinode.model.system import System as System
    from kinode.results.compare import compare as compare
    from kinode.results.trajectory import Trajectory as Trajectory
    from kinode.studies.design import between as between
    from kinode.studies.design import normal as normal
    from kinode.studies.design import uniform as uniform
    from kinode.studies.fits.fit_result import Fit as Fit
    from kinode.studies.fits.identify import identify as identify
    from kinode.studies.study import Study as Study
    from kinode.studies.sweep import sweep as sweep
    from kinode.symbolic.circuit.whole_circuit import circuit as circuit
    from kinode.symbolic.equations import equations as equations
    from kinode.symbolic.explain import explain as explain
    from kinode.tasks.assemble import assemble as assemble
    from kinode.tasks.equilibrium import equilibrium as equilibrium
    from kinode.tasks.inverse import inverse as inverse
    from kinode.tasks.linearize import linearize as linearize
    from kinode.tasks.mobility import mobility as mobility
    from kinode.tasks.operating_space import operating_space as operating_space
    from kinode.tasks.simulate import simulate as simulate
    from kinode.tasks.verify import verify as verify
    from kinode.views.diagram.circuit_diagram import diagram as diagram
