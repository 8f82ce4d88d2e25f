"""What a robot file cannot say of a system, in sentences: laws, friction by load, circuits, controllers."""

from __future__ import annotations

import warnings
from collections.abc import Iterable

from kinode.errors import ExportWarning, caller_depth
from kinode.model.joints.joint import Joint
from kinode.model.system import System


def describe_joint(joint: Joint, said: Iterable[str]) -> list[str]:
    """The fields of a joint that act and are not among those that the file says."""
    words = {
        "effort": "its effort law", "stiffness": "its spring", "damping": "its damping", "friction": "its friction",
        "stop": "its stop", "backlash": "its backlash", "motion": "its prescribed motion",
        "speed": "its prescribed speed",
    }  # fmt: skip
    freed = {"motion": ", and it moves freely", "speed": ", and it moves freely"}
    return [
        f"{joint.name}: {text} is left out{freed.get(field, '')}"
        for field, text in words.items()
        if getattr(joint, field) is not None and field not in said
    ]


def describe_rest(system: System, said: Iterable[str]) -> list[str]:
    """Constraints, elements and signals that the file does not say."""
    said = set(said)
    lines = [
        f"{component.name}: {component.kind or 'an element'} is left out"
        for section in (system.constraints, system.elements)
        for component in section.values()
        if component.name not in said
    ]
    if system.signals:
        lines.append(f"signals are left out: {', '.join(system.signals)}")
    return lines


def describe_parameters(system: System) -> list[str]:
    """What became of parameters and of the values of inputs: no loss of the mechanism, and said in a comment alone."""
    lines = [f"parameters are written as numbers: {', '.join(system.parameters)}"] if system.parameters else []
    values = {name: float(system.nominal(given.value)) for name, given in system.inputs.items()}
    set_ones = [f"{name} = {value:g}" for name, value in values.items() if value != 0.0]
    return [*lines, *([f"values of inputs are not written: {', '.join(set_ones)}"] if set_ones else [])]


def describe_start(system: System, fields: Iterable[str]) -> list[str]:
    """Joints whose values at the start (of the fields q, guess, u) the file does not have: for a comment alone."""
    wanted = tuple(fields)
    named = [
        joint.name
        for joint in system.joints.values()
        if any(value != 0.0 for field in wanted for value in _numbers(system, getattr(joint, field, None)))
    ]
    words = "speeds" if wanted == ("u",) else "coordinates and speeds"
    return [f"{words} at the start are not written: {', '.join(named)}"] if named else []


def _numbers(system: System, values: object) -> list[float]:
    """The given values of a joint in numbers; laws by their nominal values."""
    return [float(system.nominal(value)) for value in values] if isinstance(values, tuple | list) else []


def comment(lines: Iterable[str], indent: str = "  ") -> str:
    """Sentences as an XML comment, which may not hold two hyphens in a row."""
    return "".join(f"{indent}<!-- {line.replace('--', '- -')} -->\n" for line in lines)


def warn(form: str, system: System, lines: list[str]) -> None:
    """A warning that names what is left out."""
    if lines:
        more = f"; and {len(lines) - 6} more" if len(lines) > 6 else ""
        message = f"{form} cannot say all of {system.name} (comments in the file list it): {'; '.join(lines[:6])}{more}"
        warnings.warn(message, ExportWarning, stacklevel=caller_depth())
