"""Large systems: time to compile, an evaluation of systems with many loops, and a long closed chain, beside peers.

    python benchmarks/large.py                    all of it, in a few minutes; writes docs/reference/benchmarks.md
    python benchmarks/large.py compile chain      some of its parts (``PARTS``); writes nothing
    python benchmarks/large.py --seconds 300      more time for each program on the closed chain

Each row is printed as soon as it is measured.  Memory is limited, so that a peer cannot take all of it.  Times to
compile are processor times from an empty cache.  MuJoCo's evaluation is ``mj_forward``; of Exudyn it is a step of its
implicit solver.  Before any clock starts, all three compute the same accelerations.
"""

from __future__ import annotations

import argparse
import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # threads of dense algebra would wait for each other

import exudyn
import mujoco
import numpy as np

import kinode as kn
import loop_curves
import loop_exudyn
import loop_mujoco
import measure
from loop_models import Mechanism
from models import chain, pinocchio_model, state
from startup import fresh

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "support"))
from mechanisms import four_bars, net, ring  # noqa: E402

STEPS = 20  # of Exudyn, over which its time is an average


def seconds(work: Callable[[], Any]) -> float:
    """Processor time of one call."""
    start = time.process_time()
    work()
    return time.process_time() - start


def open_chain(n: int) -> kn.System:
    """A chain of revolute joints, from Python."""
    system = kn.System("chain")
    body: Any = system.world
    for i in range(n):
        new = system.body(f"b{i}", mass=1 + 0.1 * (i % 7), com=(0.01, 0.02, 0.05), inertia=(0.003, 0.004, 0.005))
        system.revolute(f"j{i}", body.at(0.005, 0.01, 0.1), new, axis="xyz"[i % 3])
        body = new
    return system


def first_reactions(n: int) -> float:
    """The first reactions of a chain that is compiled already, in all joints."""
    dynamics = kn.compile(kn.load(chain(n)))
    start = dynamics.initial
    return seconds(lambda: dynamics.reactions(0.0, start.q, start.u))


def closed_chain(n: int) -> float:
    """From the description of a ring to its first step: assembly, rank, rate and projection."""
    system = ring(n, "revolute")
    return seconds(lambda: kn.simulate(system, 1e-3, times=[0.0, 1e-3]))


FIRST_RUN = """
import sys
sys.path.insert(0, {support!r})
import kinode as kn
from mechanisms import four_bars, geared_chain, net
kn.simulate({system}, 1e-3, times=[0.0, 1e-3])
"""
FIRST_RUNS = (
    ("200 four-bars", "four_bars(200)", 2.5),
    ("net of 10 x 10 squares", "net(10, 10)", 2.5),
    ("net of 20 x 20 squares", "net(20, 20)", 10.0),
    ("200 links and a gear", "geared_chain(200)", 2.0),
)


def first_run(system: str) -> float:
    """From nothing to the first step: a new process with an empty cache, as it is for a user."""
    with tempfile.TemporaryDirectory() as cache:
        body = FIRST_RUN.format(support=str(ROOT / "tests" / "support"), system=system)
        return fresh(body, cache, clock="process_time")[0]


def first_acceleration(n: int) -> float:
    """From the description of a chain to its first acceleration."""

    def work() -> None:
        dynamics = kn.compile(open_chain(n))
        start = dynamics.initial
        dynamics.acceleration(0.0, start.q, start.u)

    return seconds(work)


def compiling() -> Iterator[tuple[str, float, float]]:
    """Work, seconds, and the most that is asked for; without the cache, routines that all models share apart."""
    os.environ["KINODE_CACHE"] = "0"
    closed_chain(3)
    first_reactions(45)
    for n, most in ((300, 0.6), (1000, 1.5)):
        yield f"first reactions of {n:,} links", first_reactions(n), most
    for n, most in ((40, 0.6), (200, 1.5)):
        yield f"closed chain of {n} links, description to first step", closed_chain(n), most
    yield "20,000 links, description to first acceleration", first_acceleration(20_000), 5.0
    del os.environ["KINODE_CACHE"]
    for title, system, most in FIRST_RUNS:
        yield f"{title}, first run from nothing", first_run(system), most


DERIVATIVES = ("gradient of u_dot", "second derivatives of u_dot", "J_dot u of the tip", "d(u_dot)/d(q, u, effort)")
MOST_DERIVATIVES = 1.0  # s to compile each
CLOSED = (
    ("ring of 40 links", partial(ring, 40, "revolute"), 0.5),
    ("net of 10 x 10 squares", partial(net, 10, 10), 1.5),
)
"""Closed loops whose gradients are measured, with the seconds that compiling may take."""
PEER_LINKS = 200  # Pinocchio's data grow with the third power of the links of a chain


def derivative_calls(dynamics: Any, q: Any, u: Any) -> list[Callable[[], Callable[[], Any]]]:
    """What prepares the calls of ``DERIVATIVES``."""
    w, tip = np.cos(np.arange(len(u))), list(dynamics.system.bodies)[-1]
    by = ("q", "u", "effort")
    return [
        lambda: partial(dynamics.gradient_of("u_dot", by=by, weights=w), 0.0, q, u),
        lambda: partial(dynamics.second_derivatives, 0.0, q, u, of="u_dot", along={"q": w, "u": u}),
        lambda: partial(dynamics.jacobian_rate, tip, 0.0, q, u),
        lambda: partial(dynamics.derivatives_of("u_dot", by=by), 0.0, q, u),
    ]


def peer_calls(n: int, q: Any, u: Any) -> list[Callable[[], Any] | None]:
    """What Pinocchio has for them: all of the matrix for the gradient, nothing for second derivatives."""
    if n > PEER_LINKS:
        return [None] * 4
    import pinocchio as pin

    model, data = pinocchio_model(chain(n))
    zero = np.zeros(n)

    def tip() -> Any:
        pin.forwardKinematics(model, data, q, u, zero)
        return pin.getClassicalAcceleration(model, data, n, pin.LOCAL_WORLD_ALIGNED)

    def matrix() -> Any:
        return pin.computeABADerivatives(model, data, q, u, zero)

    return [matrix, None, tip, matrix]


def derivatives_of_chains() -> Iterator[tuple[str, float, float, float | None, float]]:
    """Work; seconds of the first call, which compiles; of the next ones; of Pinocchio's; most seconds to compile."""
    os.environ["KINODE_CACHE"] = "0"
    for n in (45, 100, 300):
        dynamics = kn.compile(kn.load(chain(n)))
        q, u = state(n)
        dynamics.acceleration(0.0, q, u)
        for title, prepare, theirs in zip(
            DERIVATIVES, derivative_calls(dynamics, q, u), peer_calls(n, q, u), strict=True
        ):
            first = first_call(prepare)
            if n == 45:  # routines that all models share are compiled
                continue
            sides = [measure.call(call) for call in (prepare(), theirs) if call is not None]
            again, *others = measure.interleave(sides)
            yield f"{title}, {n} links", first, again, others[0] if others else None, MOST_DERIVATIVES
    for name, make, most in CLOSED:
        dynamics = kn.compile(make())
        q, u = dynamics.initial.q, np.cos(np.arange(dynamics.n_u))
        dynamics.acceleration(0.0, q, u)
        prepare = derivative_calls(dynamics, q, u)[0]
        first = first_call(prepare)
        yield f"{DERIVATIVES[0]}, {name}", first, measure.interleave([measure.call(prepare())])[0], None, most
    del os.environ["KINODE_CACHE"]


def first_call(prepare: Callable[[], Callable[[], Any]]) -> float:
    """Processor time of a function that is prepared and called."""
    return seconds(lambda: prepare()())


def derivative_rows() -> Iterator[str]:
    """The table of derivatives of large trees, and of gradients of large loops."""
    yield "| derivatives | first call | asked for | met | next calls | Pinocchio | ratio |"
    yield "|---|--:|--:|---|--:|--:|--:|"
    for work, first, again, theirs, most in derivatives_of_chains():
        judged = f"at most {most:g} s | {'yes' if first <= most else 'NO'}"
        peer = "- | -" if theirs is None else f"{theirs * 1e6:.3g} us | {theirs / again:.2g}"
        yield f"| {work} | {first:.2g} s | {judged} | {again * 1e6:.3g} us | {peer} |"


LEAN = 0.3  # rad
SOFT = 1e-2  # of the largest acceleration: MuJoCo's constraints are soft, and 0.9999 is its largest impedance
EXACT = 1e-6  # the same for Exudyn
SAMPLES = 10  # bodies whose accelerations are compared with Exudyn's
SMALL_STEP = 1e-6  # s, of Exudyn: accelerations change by less than the comparison sees


def leaning_four_bars(n: int) -> kn.System:
    """Four-bars at rest, aside of their upright position."""
    system = four_bars(n)
    system.change("ground0", q=LEAN, u=0.0)
    for i in range(1, n + 1):
        system.change(f"ground{i}", guess=LEAN)
    for i in range(n):
        system.change(f"left{i}", guess=-LEAN)
    return system


def leaning_net(n: int, m: int) -> kn.System:
    """A net at rest, pulled aside as a parallelogram; it swings back."""
    system, down = net(n, m), -np.pi / 2 + LEAN
    for i in range(n + 1):
        system.change(f"v{i}_1_near", guess=down)
        for j in range(1, m + 1):
            if i < n:
                system.change(f"h{i}_{j}_near", guess=-down)
    for j in range(1, m + 1):
        system.change(f"v0_{j}_near", q=down if j == 1 else 0.0, guess=None)
    return system


def check_mujoco(peer: loop_mujoco.Model) -> float:
    """The largest difference of an acceleration of a joint, over the largest acceleration."""
    dynamics, start = peer.read.dynamics, peer.read.dynamics.initial
    ours = dynamics.acceleration(0.0, start.q, start.u)
    mujoco.mj_forward(peer.model, peer.data)
    theirs = np.zeros_like(ours)
    for name, where in dynamics.topology.u_of.items():
        at = peer.model.jnt_dofadr[peer.model.joint(f"{name}/0").id]
        theirs[where] = peer.data.qacc[at : at + where.stop - where.start]
    return float(abs(theirs - ours).max() / abs(ours).max())


def check_exudyn(mechanism: Mechanism) -> float:
    """The same for the accelerations of some mass centers, from velocities after a short step."""
    model = loop_exudyn.Model(replace(mechanism, until=SMALL_STEP), None)
    model.runner(index_2=True)(1)
    kind, names = exudyn.OutputVariableType.Velocity, list(model.bodies)[:: len(model.bodies) // SAMPLES]
    found = [model.system.GetObjectOutputBody(model.bodies[x], kind, localPosition=[0, 0, 0]) for x in names]
    dynamics, start = model.read.dynamics, model.read.dynamics.initial
    ours = np.array(list(dynamics.evaluate([f"{x}.com.acceleration" for x in names], 0.0, start.q, start.u).values()))
    return float(abs(np.array(found) / SMALL_STEP - ours).max() / abs(ours).max())


def evaluations() -> Iterator[tuple[str, float, float, float, float, float]]:
    """Work; our time for the accelerations, MuJoCo's, and of a step of Exudyn's; how far they are from ours."""
    cases = (("200 four-bars", lambda: leaning_four_bars(200)), ("net of 10 x 10 squares", lambda: leaning_net(10, 10)))
    for title, make in cases:
        mechanism = Mechanism(title, make, 0.01, 1.0, plane=True)
        peer = loop_mujoco.Model(mechanism, loop_mujoco.VARIANTS["RK4"])
        peer.data.qpos, peer.data.qvel, peer.data.qfrc_applied = peer.start
        soft, stepped = check_mujoco(peer), check_exudyn(mechanism)
        if soft > SOFT or stepped > EXACT:
            raise RuntimeError(f"{title}: other accelerations; MuJoCo is {soft:.1e} off, Exudyn {stepped:.1e}")
        dynamics = peer.read.dynamics
        start = dynamics.initial
        ours, theirs = measure.interleave(
            [
                measure.call(dynamics.acceleration, 0.0, start.q, start.u),
                measure.call(mujoco.mj_forward, peer.model, peer.data, value=0.0),
            ]
        )
        others = []
        for run, _ in loop_exudyn.variants(mechanism).values():
            begin = time.process_time()
            run(STEPS)
            others.append((time.process_time() - begin) / STEPS)
        yield title, ours, theirs, float(np.min(others)), soft, stepped


CHAIN, CHAIN_SECONDS = "ring_40", 120.0
MOST_MEMORY = 8 << 30  # bytes of a process and of those that it starts
CHAIN_ERRORS = (1e-4, 1e-5, 1e-6)
CHAIN_ASKED = 100.0


def time_at(points: Sequence[loop_curves.Point], error: float) -> float:
    """Seconds for an error: between the runs of a program that nothing beats, in logarithms."""
    best: list[loop_curves.Point] = []
    for point in sorted(points, key=lambda p: (p.seconds, p.error)):
        if not best or point.error < best[-1].error:
            best.append(point)
    errors, seconds = np.log([p.error for p in best[::-1]]), np.log([p.seconds for p in best[::-1]])
    if not errors[0] <= np.log(error):
        return float("nan")  # not reached
    return float(np.exp(np.interp(np.log(error), errors, seconds)))


def closed_chain_runs(most: float) -> Iterator[tuple[float, float, float]]:
    """Error, our time for one second of motion of a closed chain of 40 links, warm, and Exudyn's."""
    curves = [loop_curves.curve(program, CHAIN, most, min(CHAIN_ERRORS)) for program in ("kinode", "exudyn")]
    for error in CHAIN_ERRORS:
        ours, theirs = (time_at(points, error) for points in curves)
        yield error, ours, theirs


def compile_rows() -> Iterator[str]:
    """The table of times to compile."""
    yield from ("| work | processor time | asked for | met |", "|---|--:|--:|---|")
    for work, found, most in compiling():
        yield f"| {work} | {found:.2g} s | at most {most:g} s | {'yes' if found <= most else 'NO'} |"


def evaluation_rows() -> Iterator[str]:
    """The table of single evaluations."""
    yield "| an evaluation | kinode | MuJoCo | ratio | off | step of Exudyn | ratio | off |"
    yield "|---|--:|--:|--:|--:|--:|--:|--:|"
    for work, ours, theirs, others, soft, stepped in evaluations():
        times = f"{ours * 1e6:.3g} us | {theirs * 1e6:.3g} us | {theirs / ours:.3g} | {soft:.0e}"
        yield f"| {work} | {times} | {others * 1e6:.3g} us | {others / ours:.3g} | {stepped:.0e} |"


def chain_rows(most: float) -> Iterator[str]:
    """The table of the closed chain, with so many seconds for each program."""
    yield "| closed chain of 40 links, 1 s, to an error of | kinode | Exudyn | ratio | asked for | met |"
    yield "|---|--:|--:|--:|--:|---|"
    for error, ours, theirs in closed_chain_runs(most):
        ratio = theirs / ours
        judged = "yes" if ratio >= CHAIN_ASKED else "not reached in the time" if np.isnan(ratio) else "NO"
        met = f"at least {CHAIN_ASKED:g} | {judged}"
        yield f"| {error:.0e} | {ours * 1e3:.3g} ms | {theirs * 1e3:.3g} ms | {ratio:.3g} | {met} |"


PARTS = ("compile", "derivatives", "evaluations", "chain")


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description="Large systems, beside peers.")
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"{', '.join(PARTS)}; all of them by default")
    parser.add_argument("--seconds", type=float, default=CHAIN_SECONDS, help="for each program on the closed chain")
    options = parser.parse_args()
    if unknown := [part for part in options.parts if part not in PARTS]:
        parser.error(f"there is no part {unknown[0]!r}; the parts are {', '.join(PARTS)}")
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))
    tables = {
        "compile": compile_rows, "derivatives": derivative_rows, "evaluations": evaluation_rows,
        "chain": lambda: chain_rows(options.seconds),
    }  # fmt: skip
    lines = [f"Measured on {measure.machine()}."]
    for part in options.parts or PARTS:
        lines.append("")
        for line in tables[part]():
            lines.append(line)
            print(line, flush=True)
    if not options.parts:
        measure.write_between_markers(ROOT / "docs" / "reference" / "benchmarks.md", "\n".join(lines), "large")


if __name__ == "__main__":
    main()
