"""A model whose numbers are changed again and again: at once where they are live, by a new compilation where not.

What is compiled is kept, so that a number that goes to zero and back is compiled once for each.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kinode.dynamics.compile import compile as compile_system
from kinode.dynamics.compiled_system import Dynamics
from kinode.errors import ArgumentError
from kinode.model.base.fields import short
from kinode.model.live_numbers import LiveNumber, change_values, find_numbers
from kinode.model.system import System
from kinode.model.system_checks import check_parameters

MOST_KEPT = 8  # compiled systems


@dataclass(frozen=True, eq=False)
class Setting:
    """A model with its numbers as they are set: ``kn.simulate(dynamics, parameters=parameters)``."""

    dynamics: Dynamics
    parameters: Mapping[str, float]
    compiled: tuple[str, ...] = ()
    """What had to be compiled anew."""
    message: str = ""
    """The same in a sentence, with the reason."""
    seconds: float = 0.0


@dataclass(frozen=True, eq=False)
class _Compiled:
    """A compiled system, and what was written into it before."""

    dynamics: Dynamics
    written: Mapping[str, Any]

    def find_missing(self, wanted: Mapping[str, Any]) -> tuple[str, ...]:
        """What it would have to be compiled anew for."""
        own = self.dynamics.live
        return tuple(name for name, value in wanted.items() if not _serves(own.get(name), self.written, name, value))

    def find_parameters(self, wanted: Mapping[str, Any]) -> dict[str, float]:
        """The live numbers that differ from what is written in it."""
        own = self.dynamics.live
        return {name: value for name, value in wanted.items() if name in own and not own[name].structural}


class LiveModel:
    """A model whose numbers can be set: any parameter, number or field, by name.

    Parameters
    ----------
    system : System
    formulation : str, default "recursive"
        As in ``kn.compile``.

    Examples
    --------
    >>> from kinode.dynamics.live_model import LiveModel
    >>> model = LiveModel(kn.load("examples/four_bar.yaml"))
    >>> now = model.set({"crank.mass": "1.5 kg"})
    >>> kn.simulate(now.dynamics, 0.1, parameters=now.parameters).live["crank.mass"], now.message
    (1.5, '')
    >>> model.set({"crank.com.y": "2 cm"}).message
    'compiled anew for crank.com.y: zero, which leaves its terms out of the compiled code'
    """

    def __init__(self, system: System, formulation: str = "recursive") -> None:
        self.system, self._formulation = system.copy(), formulation
        self.numbers = find_numbers(self.system)
        self._values: dict[str, Any] = {}  # all that was set, the last set last
        self._kept = [_Compiled(self._compile(self.system), {})]  # the last used first

    def _compile(self, system: System) -> Dynamics:
        return compile_system(system, self._formulation, live=True)

    @property
    def dynamics(self) -> Dynamics:
        """The compiled system that was last used."""
        return self._kept[0].dynamics

    def set(self, values: Mapping[str, Any]) -> Setting:
        """Set numbers, by name, in SI or as text with a unit; those set before stay.  An error leaves all as it was.

        Parameters
        ----------
        values : mapping
            Name of a parameter, of a number such as ``upper.com.x``, or of a field such as ``pin.axis`` -> value.

        Returns
        -------
        Setting
        """
        if not isinstance(values, Mapping):
            raise ArgumentError(f"set: values by name are expected, such as {{'upper.mass': 2}}, not {short(values)}")
        wanted = {name: x for name, x in self._values.items() if not _is_under(name, values)}
        wanted |= {name: self._read(name, value) for name, value in values.items()}
        setting = self._use(wanted)
        self._values = wanted
        return setting

    def find(self, values: Mapping[str, Any]) -> Setting:
        """The model with these numbers, all others as they were written; what was set stays as it is."""
        return self._use({name: self._read(name, value) for name, value in values.items()})

    def _use(self, wanted: Mapping[str, Any]) -> Setting:
        setting, compiled = self._find(wanted)
        self._kept = [compiled, *(each for each in self._kept if each is not compiled)][:MOST_KEPT]
        return setting

    def reset(self) -> Setting:
        """All numbers as they were written."""
        self._values = {}
        return self.set({})

    def _read(self, name: str, value: Any) -> Any:
        """A value as a plain number where the name is that of a number or parameter."""
        number = self.numbers.get(name)
        if number is not None:
            return number.read(self.system, value)
        if name in self.system.parameters:
            return self.system.nominal(self.system.read_parameters({name: value})[name])
        return value

    def _find(self, wanted: Mapping[str, Any]) -> tuple[Setting, _Compiled]:
        """A compiled system that serves, with its parameters; a new one if none does."""
        parameters = {name: x for name, x in wanted.items() if name in self.system.parameters}
        written = {name: x for name, x in wanted.items() if name not in parameters}
        for compiled in self._kept:
            back = {name: self.numbers[name].value for name in compiled.written if name in self.numbers}
            fields = [name for name in compiled.written if name not in self.numbers and name not in written]
            if not fields and not compiled.find_missing({**back, **written}):
                live = compiled.find_parameters({**back, **written})
                self._check(compiled.dynamics, {**parameters, **live})
                return Setting(compiled.dynamics, {**parameters, **live}), compiled
        begin = time.perf_counter()
        missing = self._kept[0].find_missing(written) or tuple(self._kept[0].written)
        compiled = _Compiled(self._compile(change_values(self.system, written)), written)
        self._check(compiled.dynamics, parameters)
        message = f"compiled anew for {', '.join(map(self._explain, missing))}"
        return Setting(compiled.dynamics, parameters, missing, message, time.perf_counter() - begin), compiled

    def _check(self, dynamics: Dynamics, parameters: Mapping[str, float]) -> None:
        read = dynamics.arguments
        p = read.read_parameters(parameters)
        check_parameters(dynamics.system, read.resolver(p), read.find_changed(p))

    def _explain(self, name: str) -> str:
        number = self.dynamics.live.get(name) or self.numbers.get(name)
        reason = "" if number is None else number.reason or number._replace(value=0.0).reason
        return f"{name}: {reason}" if reason else name


def _serves(number: LiveNumber | None, written: Mapping[str, Any], name: str, value: Any) -> bool:
    """Whether a compiled system has a value, or takes it as a parameter."""
    if number is None:
        return name in written and bool(written[name] == value)
    return bool(number.value == value) or not (number.structural or number._replace(value=value).structural)


def _is_under(name: str, fields: Mapping[str, Any]) -> bool:
    """Whether a name is one of some fields, or a number in one of them."""
    return any(name == field or name.startswith(f"{field}.") for field in fields)
