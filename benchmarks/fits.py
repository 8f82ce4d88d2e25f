"""Fits through ``kn.identify`` beside the same fit by ``solve_ivp`` and ``least_squares`` of SciPy.

``python benchmarks/fits.py``.  The pendulum of docs/how-to/fitting.md: three numbers from 501 samples with noise, the
torque from the log.  Both have the same tolerances of the runs, begin at the same values and end within a hundredth
of a standard deviation of each other.  The peer is written as its users write it: a function in Python, RK45 with the
record's times, derivatives by SciPy's differences, of 1e-4: with its own step, 1.5e-8, the errors of the runs hide the
derivatives, and the search ends where it began.  Times are the least of several.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import least_squares

import kinode as kn

RTOL, ATOL, G, TURN = 1e-8, 1e-10, 9.81, 0.01
START, TRUE = {"m": 1.2, "c": 0.05, "L": 0.5}, {"m": 1.0, "c": 0.08, "L": 0.6}
T = np.linspace(0.0, 5.0, 501)
PUSH = 0.5 * np.sin(2 * T) + 0.3 * np.sin(5 * T)


def pendulum() -> kn.Dynamics:
    """The model of the page."""
    system = kn.System("pendulum", gravity=(0, -G, 0))
    for name, value in START.items():
        system.parameter(name, value)
    system.input("torque", "0 N*m")
    bob = system.body("bob", mass="m", com=(0, "-L", 0), inertia=(TURN, TURN, TURN))
    system.revolute("pin", system.world, bob, axis="z", q="30 deg", effort="torque", damping="c")
    return kn.compile(system)


def least(work: Callable[[], Any], times: int) -> tuple[float, Any]:
    """The least wall time of some work in s, and its result."""
    result, best = None, np.inf
    for _ in range(times):
        began = time.perf_counter()
        result = work()
        best = min(best, time.perf_counter() - began)
    return best, result


def peer(angle: Any) -> Any:
    """The fit by SciPy."""

    def residuals(x: Any) -> Any:
        m, c, length = x

        def rate(t: float, y: Any) -> list[float]:
            push = np.interp(t, T, PUSH)
            return [y[1], (push - c * y[1] - m * G * length * np.sin(y[0])) / (TURN + m * length**2)]

        run = solve_ivp(rate, (T[0], T[-1]), [np.pi / 6, 0.0], t_eval=T, rtol=RTOL, atol=ATOL)
        return run.y[0] - angle

    return least_squares(residuals, list(START.values()), x_scale="jac", ftol=1e-9, xtol=1e-9, diff_step=1e-4)


def main() -> None:
    dynamics = pendulum()
    run = kn.simulate(dynamics, T[-1], times=T, inputs={"torque": (T, PUSH)}, parameters=TRUE)
    angle = run["pin.q"] + np.random.default_rng(0).normal(scale=0.005, size=len(T))
    log = {"t": T, "u": PUSH, "angle": angle}

    def own() -> kn.Fit:
        options = {"rtol": RTOL, "atol": ATOL}
        return kn.identify(
            dynamics, log, measure={"pin.q": "angle"}, inputs={"torque": "u"}, free=list(START), **options
        )

    own()
    ours, fit = least(own, 7)
    theirs, other = least(lambda: peer(angle), 2)
    apart = max(abs(fit[name] - value) / fit.sigma[name] for name, value in zip(START, other.x, strict=True))
    print(f"pendulum fit: {1e3 * ours:.1f} ms ({fit.facts['runs']} runs); solve_ivp and least_squares "
          f"{1e3 * theirs:.0f} ms ({other.nfev} steps); {theirs / ours:.0f} times (asked 50); "
          f"{apart:.1e} standard deviations apart")  # fmt: skip


if __name__ == "__main__":
    main()
