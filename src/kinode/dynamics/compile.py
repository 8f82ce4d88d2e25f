"""``kn.compile``: a system as functions of machine code."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable

from kinode.dynamics.compiled_system import Dynamics
from kinode.jit.tiers.waiting_words import waiting_words
from kinode.model.system import System

MOST_KEPT = 16  # systems whose machine code is kept for the next task
_COMPILED: dict[tuple[int, str], tuple[weakref.ref[System], Dynamics]] = {}  # the last used last


def compile(system: System, formulation: str = "recursive", *, live: bool | str | Iterable[str] = False) -> Dynamics:
    """Turn a system into functions of machine code.

    Parameters
    ----------
    system : System
        The description; later changes of it do not count.
    formulation : {"recursive", "circuit", "newton_euler", "lagrange", "hamilton", "quasi_base", "rotators"}
        The derivation that the code is traced from.  All give the same numbers; the others are there to check the
        recursion by another way, and take longer.  ``kn.simulate`` integrates ``newton_euler`` in absolute coordinates.
    live : bool or names, default False
        Numbers of the model that become arguments of the compiled code like parameters: True for all, or names of
        numbers (``upper.mass``, ``elbow.at.x``), of fields (``upper.com``) or of components (``upper``).
        ``dynamics.live`` lists them.  Structural ones, such as zeros and axes, stay what they are.

    Returns
    -------
    Dynamics
        Forward and inverse dynamics, reactions, poses and quantities by name.

    Examples
    --------
    >>> import kinode as kn
    >>> pendulum = kn.System("pendulum", gravity=(0, -9.81, 0))
    >>> bob = pendulum.body("bob", mass=1.0, com=(0, -0.5, 0))
    >>> _ = pendulum.revolute("pivot", pendulum.world, bob, q=0.1)
    >>> dynamics = kn.compile(pendulum)
    >>> dynamics.acceleration(0.0, [0.1], [0.0]).round(4)
    array([-1.9587])

    Any number of the model may be another one in each call, with nothing compiled anew:

    >>> dynamics = kn.compile(pendulum, live=["bob.com", "pivot.q"])
    >>> dynamics.live["bob.com.y"]
    <bob.com.y = -0.5 m>
    >>> dynamics.acceleration(0.0, [0.1], [0.0], p={"bob.com.y": "-25 cm"}).round(4)
    array([-3.9175])
    """
    if live is not False and isinstance(system, System):
        from kinode.model.live_numbers import make_live

        system = make_live(system, live)
    with waiting_words(getattr(system, "name", "")):
        return _close(Dynamics(system, formulation))


def _close(dynamics: Dynamics) -> Dynamics:
    dynamics.start.prepare()
    return dynamics


def find_compiled(
    system: System, formulation: str = "recursive", meanwhile: Callable[[Dynamics], None] = lambda dynamics: None
) -> Dynamics:
    """The system as machine code for a task: that of the task before, if nothing was changed since.

    ``meanwhile`` is called before loops are closed, to start what can be done beside that.
    """
    key = id(system), formulation
    owner, dynamics = _COMPILED.pop(key, (None, None))
    if owner is None or dynamics is None or owner() is not system or not dynamics.system.is_copy_of(system):
        with waiting_words(getattr(system, "name", "")):
            dynamics, owner = Dynamics(system, formulation), weakref.ref(system, lambda _: _COMPILED.pop(key, None))
            meanwhile(dynamics)
            _close(dynamics)
    else:
        meanwhile(dynamics)
    while len(_COMPILED) >= MOST_KEPT:
        _COMPILED.pop(next(iter(_COMPILED)), None)
    _COMPILED[key] = owner, dynamics
    return dynamics
