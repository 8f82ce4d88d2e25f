"""Warms a process up: the first run of a process imports the solver and loads the compiled integrator loops.

That takes about a second, most of it once for all models.  A program that will simulate soon does it while it waits for
something else.
"""

from __future__ import annotations

import threading
from contextlib import suppress

from kinode.dynamics.compiled_system import Dynamics
from kinode.errors import Error
from kinode.model.system import System
from kinode.tasks.simulate import simulate

SHORT_RUN = 1e-3  # s


def warm_up(model: System | Dynamics | None = None, *, background: bool = False) -> threading.Thread | None:
    """Make the first run of this process fast.

    Parameters
    ----------
    model : System or Dynamics, optional
        A model that will be simulated; it is compiled too.  Without one, a pendulum serves.
    background : bool, default False
        Whether it is done in a thread, which is returned.

    Returns
    -------
    Thread or None
        The thread; ``thread.join()`` waits for it.

    Examples
    --------
    >>> from kinode.tasks.warm_up import warm_up
    >>> warm_up(background=True).join()
    """
    if not background:
        _run(_make_pendulum() if model is None else model)
        return None
    thread = threading.Thread(target=warm_up, args=(model,), name="kinode warm-up", daemon=True)
    thread.start()
    return thread


def _run(model: System | Dynamics) -> None:
    """A short run, with what is mostly asked of one; what fails here fails again where it is asked for."""
    system = model.system if isinstance(model, Dynamics) else model
    begin = float(system.run_defaults.get("t0", 0.0))
    with suppress(Error):
        run = simulate(model, begin + SHORT_RUN, t0=begin, samples=2, progress=False)
        names = [f"{name}.position" for name in system.bodies] + [f"{name}.reaction.force" for name in system.joints]
        run.evaluate(names) if names else None


def _make_pendulum() -> System:
    system = System("warm-up")
    bob = system.body("bob", mass=1.0, com=(0.0, 0.0, -1.0))
    system.joint("pivot", "revolute", system.world, bob, axis="x", q=0.1)
    return system
